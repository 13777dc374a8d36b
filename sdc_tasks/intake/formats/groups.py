"""What a file says once of all records with one part of a key: in an SDMX group, or in a record of
SDMX-CSV without the whole key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass

import numpy as np

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.records import Numbers
from sdc_tasks.model.table import Ints

UNSAID = -1
MEASURE = "OBS_VALUE"  # a value stands at its observation


@dataclass(frozen=True)
class Group:
    """A part of a `key`, what is `said` of it, and where: its `kind`, as a finding names it, and its line."""

    key: Mapping[str, str]
    said: Mapping[str, str]
    kind: str = "a group"
    line: int | None = None


_REMEDY = "correct the key, or take it away"


def unreached(
    kind: str,
    said: Mapping[str, str],
    known: Collection[str],
    line: int | None,
    found: Findings,
    remedy: str = _REMEDY,
) -> None:
    """Refuses what is said of observations that the file does not have: a flag may have lost its
    record. Empty attributes say nothing.
    """
    if names := sorted(name for name, text in said.items() if text.strip()):
        told = ", ".join(name for name in names if name in known) or "an attribute"
        found.add(
            "SDC/attribute",
            f"{told} of {kind} reaches no observation: {remedy}",
            line,
        )


def spread(
    groups: Iterable[Group],
    texts: Mapping[str, MutableMapping[str, int]],
    which: Mapping[str, Numbers],
    found: Findings,
) -> set[str]:
    """Gives the records of each group what it says, in place. Returns the concepts of which a record or
    another group says something else; a group without a record is a finding.

    `texts`: the number of each text of a concept. `which`: (records,) for each concept, UNSAID
    where a record does not say it.
    """
    differently: set[str] = set()
    alike: dict[tuple[str, ...], list[Group]] = defaultdict(list)
    for group in groups:
        alike[tuple(sorted(group.key))].append(group)
    for names, mine in alike.items():
        rows = _rows_by_part(names, which)
        for group in mine:
            here = rows.get(tuple(texts[name].get(group.key[name], UNSAID - 1) for name in names))
            if here is None:
                unreached(group.kind, group.said, texts, group.line, found)
                continue
            for name, text in group.said.items():
                number = texts[name].setdefault(text, len(texts[name]))
                if not np.isin(which[name][here], [UNSAID, number]).all():
                    differently.add(name)
                which[name][here] = number
    return differently


def _rows_by_part(names: tuple[str, ...], which: Mapping[str, Numbers]) -> dict[tuple[int, ...], Ints]:
    """The records of each part of a key, as the numbers of its texts."""
    records = len(next(iter(which.values())))
    if not records:
        return {}
    at = np.zeros(records, dtype=np.int64)
    for name in names:  # compressed at each step, so that no product of long lists overflows
        _, at = np.unique(at * (int(which[name].max()) + 2) + which[name] + 1, return_inverse=True)
    order = np.argsort(at, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(at))[:-1])
    return {tuple(int(which[name][row[0]]) for name in names): row for row in rows}
