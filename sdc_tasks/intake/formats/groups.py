"""What a file says once of all records with one part of a key: in an SDMX group, or in a record of SDMX-CSV without the whole key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping

import numpy as np

from sdc_tasks.intake.formats.records import Numbers
from sdc_tasks.model.table import Ints

UNSAID = -1
Group = tuple[Mapping[str, str], Mapping[str, str]]  # the part of a key, and what is said of it


def spread(groups: Iterable[Group], texts: Mapping[str, MutableMapping[str, int]], which: Mapping[str, Numbers]) -> set[str]:
    """Gives the records of each group what it says, in place. Returns the concepts of which a record or another group says something else.

    `texts`: the number of each text of a concept. `which`: (records,) for each concept, UNSAID where a record does not say it.
    """
    differently: set[str] = set()
    alike: dict[tuple[str, ...], list[Group]] = defaultdict(list)
    for group in groups:
        alike[tuple(sorted(group[0]))].append(group)
    for names, mine in alike.items():
        rows = _rows_by_part(names, which)
        for key, said in mine:
            here = rows.get(tuple(texts[name].get(key[name], UNSAID - 1) for name in names))
            if here is None:
                continue
            for name, text in said.items():
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
