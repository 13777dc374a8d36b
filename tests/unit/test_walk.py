"""The walk of the national tables, from the problem to the certificate: read off a run, not off
the imports.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from sdc_tasks import pipeline
from sdc_tasks.cli.shared import problem_of_inbox
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.model.results import Adjustment

MOST_RETURNS = 2
WALK = ["releases", "methods.attack", "methods.cta", "methods.bases", "methods.attack", "releases"]
# What several rooms hand to each other or stand on; no room that a table is sent into.
BELOW = {
    "model",
    "errors",
    "solver",
    "domains",
    "untrusted",
    "methods.assemble",
    "methods.indicator_blocks",
    "methods.primary",
}

# Questions about the options, answered at the door: no table is sent in unless somebody asked for it.
ASKED = {"uses_witness_guided_search", "require_fitting", "against_program"}
IMPORTED = {"<module>"}  # the first who needs a module runs it


def room_of(frame: FrameType | None) -> str | None:
    """The room whose code a frame runs, None for others' code and for what lies below all rooms."""
    top, _, rest = str(frame.f_globals.get("__name__", "")).partition(".") if frame else ("", "", "")
    parts = rest.split(".")
    room = ".".join(parts[:2]) if parts[0] == "methods" else parts[0]
    return None if top != "sdc_tasks" or room in BELOW else room


@contextmanager
def walked(rooms: list[str]) -> Iterator[None]:
    """Notes each room that the pipeline, or this test in its place, sends its data into; what a
    room asks of another is its own.
    """
    inside: list[FrameType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not inside and (room := room_of(frame)) not in (None, "pipeline"):
            inside.append(frame)
            if frame.f_code.co_name not in ASKED | IMPORTED and rooms[-1:] != [room]:
                rooms.append(str(room))
        elif event == "return" and inside and frame is inside[0]:
            inside.clear()

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_the_walk_returns_to_no_room_more_than_twice(tmp_path: Path):
    domain = load_domain(write_demo(tmp_path, countries=3, activities=5, sizes=2)).of("2024")
    problem = problem_of_inbox(domain, tmp_path / "inbox", "2024")
    rooms = ["releases"]  # where `build_problem` stands: the command that reads the inbox has called it
    with walked(rooms):
        requirements, _ = pipeline.baseline(problem, domain)
        adjustment = Adjustment()
        for rung in range(len(domain.cta.ladder)):
            adjustment = pipeline.climb(problem, requirements, domain, rung, adjustment)
        publication = pipeline.choose_bases(problem, requirements, adjustment, domain)
        chunks = [
            pipeline.audit(problem, publication, requirements, domain, chunk)
            for chunk in range(domain.audit.chunks)
        ]
        pipeline.certificate(problem, publication, pipeline.merge(chunks), domain, "2024")
    assert max(Counter(rooms).values()) <= 1 + MOST_RETURNS
    assert rooms == WALK
