"""Progress of long work: counts, at most every five seconds, and never a value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sdc_tasks import pipeline
from sdc_tasks.cli.shared import problem_of_inbox
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.model import progress
from sdc_tasks.model.progress import Progress
from sdc_tasks.model.results import Adjustment

LINE = re.compile(
    r"(?P<name>[a-z, -]+|audit, part \d of \d): (?P<done>\d+) of (?P<of>\d+) (?P<what>[a-z ]+(\d+ answered)?)"
)


def test_quick_work_is_silent_and_long_work_tells_every_five_seconds(monkeypatch):
    clock, told = [100.0], list[str]()
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    long = Progress(told.append, "audit")
    for second in range(13):
        clock[0] = 100.0 + second
        long.tell(second, 40, "requirements settled")
    assert told == ["audit: 5 of 40 requirements settled", "audit: 10 of 40 requirements settled"]
    clock[0] += 5
    long.tell(3, None, "rounds")
    assert told[-1] == "audit: 3 rounds"


def test_every_long_step_of_a_release_says_how_much_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "TELL_SECONDS", -1.0)  # each count is told
    domain = load_domain(write_demo(tmp_path, countries=3, activities=9, sizes=3)).of("2024")
    problem = problem_of_inbox(domain, tmp_path / "inbox", "2024")
    told = {step: list[str]() for step in ("baseline", "cta", "bases", "audit")}
    requirements, _ = pipeline.baseline(problem, domain, told["baseline"].append)
    adjustment = pipeline.climb(problem, requirements, domain, 0, Adjustment(), told["cta"].append)
    pipeline.climb(problem, requirements, domain, 1, Adjustment(), told["cta"].append)
    publication = pipeline.choose_bases(
        problem, requirements, adjustment, domain, told["bases"].append, note=lambda _: None
    )
    nothing = pipeline.to_try(problem, Adjustment(), None)
    joint = pipeline.audit_jointly(problem, publication, requirements, domain, nothing, told["audit"].append)
    for chunk in range(2):
        pipeline.audit(
            problem, publication, requirements, domain, chunk, joint=joint, progress=told["audit"].append
        )
    counts = {
        step: [each for line in lines if (each := LINE.fullmatch(line))] for step, lines in told.items()
    }
    assert {each["name"] for each in counts["baseline"]} == {"baseline"}
    assert {each["what"] for each in counts["cta"]} == {"rounds of the relaxation at most", "rounds"}
    assert {each["name"] for each in counts["bases"]} >= {"attack", "repair"}
    assert {each["name"] for each in counts["audit"]} == {
        "audit, all parts",
        "audit, part 1 of 2",
        "audit, part 2 of 2",
    }
    assert all(int(each["done"]) <= int(each["of"]) for found in counts.values() for each in found)
    for step in ("baseline", "cta", "audit"):
        assert len(counts[step]) == len(told[step]), "nothing but counts"
    last = counts["audit"][-1]
    assert last["done"] == last["of"]
