"""The release report as one HTML file: no script, no outside address, readable on a
phone, in the dark and on paper.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from sdc_tasks.model.profiles import PROFILES, named
from sdc_tasks.report.facts import (
    MINIMUM_CELLS,
    TOP_BROKEN,
    TOP_VISIBLE,
    TOP_WITHHELD,
    DeliveryFact,
    ReportFacts,
)
from sdc_tasks.report.next_steps import next_steps
from sdc_tasks.report.published.metadata import ReferenceMetadata
from sdc_tasks.report.published.words import OBS_STATUS
from sdc_tasks.report.words import WORDS

HERE = Path(__file__).parent
CLASS_NAMES = (
    "0",
    "under 0.1\u202f%",
    "0.1 to 1\u202f%",
    "1 to 5\u202f%",
    "5 to 20\u202f%",
    "20\u202f% or more",
)
ROOM_NAMES = (
    "short of the level",
    "at the level",
    "1.1 to 1.5 times",
    "1.5 to 2 times",
    "2 to 5 times",
    "5 times or more",
)
CLASS_SIGNS = ("0", "<0.1", "0.1–1", "1–5", "5–20", "≥20")


class Compiled(FileSystemBytecodeCache):
    """Compiled templates beside the compiled modules, where Python itself keeps these: compiling them takes a
    tenth of a second. One counts for the same template, Jinja and text of this module alone: options and
    filters are compiled in.
    """

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(
            f"{jinja2.__version__}\n{Path(__file__).read_text(encoding='utf-8')}\n{source}"
        )

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps it, unless the folder cannot be written, as that of an installed package often cannot."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def render(facts: ReportFacts) -> str:
    """The page. It receives the facts alone, so it cannot show more."""
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            facts=facts,
            advice=next_steps(facts),
            words=WORDS,
            room_names=ROOM_NAMES,
            by_country=_by_country(facts.deliveries),
            class_names=CLASS_NAMES,
            class_signs=CLASS_SIGNS,
            profiles=[(name, PROFILES[name].who) for name in named(facts.audit.claim.profiles)],
            not_attacked=[
                (name, each.who) for name, each in PROFILES.items() if name in facts.audit.claim.not_attacked
            ],
            states=_by_state(facts.deliveries),
            minimum_cells=MINIMUM_CELLS,
            top_visible=TOP_VISIBLE,
            top_withheld=TOP_WITHHELD,
            top_broken=TOP_BROKEN,
        )
    )


def metadata_page(metadata: ReferenceMetadata) -> str:
    """The reference metadata as a page, without a script and without an outside address."""
    return (
        _environment()
        .get_template("metadata.html.j2")
        .render(
            metadata=metadata,
            edition=metadata.edition,
            statuses=OBS_STATUS,
            class_names=CLASS_NAMES,
            class_signs=CLASS_SIGNS,
        )
    )


@cache
def _environment() -> Environment:
    """The templates, compiled once in a process."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=None if sys.dont_write_bytecode else Compiled(str(HERE / "__pycache__")),
    )
    environment.filters.update(percent=percent, grouped=grouped, seconds=seconds, share=share)
    return environment


def grouped(number: str | float) -> str:
    """A number with a narrow space between thousands: 20 160."""
    text = number if isinstance(number, str) else f"{number:.10f}".rstrip("0").rstrip(".")
    whole, point, decimals = text.removeprefix("-").partition(".")
    sign = "−" if text.startswith("-") else ""
    return sign + f"{int(whole):,}".replace(",", "\u202f") + point + decimals


def seconds(number: float) -> str:
    return f"{number:.1f}\u202fs" if number < 100 else f"{number:.0f}\u202fs"


def share(ratio: float) -> str:
    """A ratio in whole percent, which is 0 % or 100 % only where that is exact."""
    if 0 < ratio < 0.01:
        return "<1\u202f%"
    if 0.99 < ratio < 1:
        return ">99\u202f%"
    return f"{100 * ratio:.0f}\u202f%"


def percent(ratio: float) -> str:
    """A ratio in percent with two significant digits: 0.0153 is 1.5 %."""
    number = float(f"{100 * ratio:.2g}")
    return f"{number:.12f}".rstrip("0").rstrip(".") + "\u202f%"


def _by_country(deliveries: tuple[DeliveryFact, ...]) -> dict[str, list[DeliveryFact]]:
    found: dict[str, list[DeliveryFact]] = {}
    for delivery in deliveries:
        found.setdefault(delivery.country, []).append(delivery)
    return found


def _by_state(deliveries: tuple[DeliveryFact, ...]) -> list[tuple[str, int]]:
    """How many deliveries are in each state, in order of appearance."""
    counts: dict[str, int] = {}
    for delivery in deliveries:
        counts[delivery.state] = counts.get(delivery.state, 0) + 1
    return list(counts.items())
