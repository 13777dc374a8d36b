"""Two versions of one period: the cells whose treatment, base or value changed.

Treatments are always compared; bases and values only if the public may see both versions now.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Engine

from sdc_tasks.model.keys import codes_in
from sdc_tasks.warehouse import reader
from sdc_ui.releases.heatmap import TREATMENTS
from sdc_ui.shared.labels import Measure, labels_of
from sdc_ui.shared.standing import ReleaseLine, release_line

MOST_LISTED = 500  # cells that are listed


@dataclass(frozen=True)
class Side:
    """A cell in one version. `value` and `base` are None where they are not shown, or where there is none."""

    treatment: str | None
    value: float | None
    base: float | None


ABSENT = Side(None, None, None)  # in a version without the cell


@dataclass(frozen=True)
class Change:
    """A cell that differs in `what`: treatment, base or value."""

    cell: str
    label: str
    measure: Measure
    old: Side
    new: Side
    what: tuple[str, ...]


@dataclass(frozen=True)
class ComparisonFacts:
    """The versions `old` and `new`. `moves[old][new]` counts cells by treatment; `values`:
    bases and values were compared.
    """

    title: str
    old: ReleaseLine
    new: ReleaseLine
    values: bool
    cells: int
    moves: dict[str, dict[str, int]]
    changes: tuple[Change, ...]
    unlisted: int


def comparison_facts(engine: Engine, release_id: str, other: str) -> ComparisonFacts | None:
    """The comparison of two releases; None unless both are versions of one period of a domain."""
    versions = _versions(engine, release_id, other)
    if versions is None:
        return None
    old, new = versions
    labels = labels_of(new.domain, reader.settings_of(engine, new.domain))
    values = old.shown and new.shown
    before, after = _sides(engine, old, values), _sides(engine, new, values)
    changes, moves = [], Counter[tuple[str, str]]()
    for cell in sorted({*before, *after}):
        one, two = before.get(cell, ABSENT), after.get(cell, ABSENT)
        moves[one.treatment or "absent", two.treatment or "absent"] += 1
        if what := _different(one, two):
            changes.append(Change(cell, labels.cell(cell), labels.measure(codes_in(cell)[1]), one, two, what))
    return ComparisonFacts(
        title=labels.title,
        old=old,
        new=new,
        values=values,
        cells=len(after),
        moves=_crossed(moves),
        changes=tuple(changes[:MOST_LISTED]),
        unlisted=max(len(changes) - MOST_LISTED, 0),
    )


def _crossed(moves: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """[old][new]: the cells that went from one treatment to another one, of those that occur."""
    seen = {kind for pair in moves for kind in pair}
    kinds = [kind for kind in (*TREATMENTS, "absent") if kind in seen]
    return {old: {new: moves[old, new] for new in kinds} for old in kinds}


def _versions(engine: Engine, release_id: str, other: str) -> tuple[ReleaseLine, ReleaseLine] | None:
    """The two releases, the earlier version first; None unless both are versions of one cycle."""
    known = map(release_line, reader.history(engine))
    lines = {each.release_id: each for each in known if each.version is not None}
    pair = [lines[each] for each in (release_id, other) if each in lines]
    if len(pair) < 2 or len({(each.domain, each.period) for each in pair}) > 1:
        return None
    old, new = sorted(pair, key=lambda each: each.version or 0)
    return old, new


def _different(one: Side, two: Side) -> tuple[str, ...]:
    """In what two sides differ."""
    return tuple(name for name in ("treatment", "base", "value") if getattr(one, name) != getattr(two, name))


def _sides(engine: Engine, line: ReleaseLine, values: bool) -> dict[str, Side]:
    treated = {each["cell"]: str(each["treatment"]) for each in reader.treatments(engine, line.release_id)}
    seen = reader.released_cells(engine, line.domain, line.period, line.version) if values else []
    shown = {each.cell: (each.value, each.rounding_base) for each in seen}
    return {cell: Side(treatment, *shown.get(cell, (None, None))) for cell, treatment in treated.items()}
