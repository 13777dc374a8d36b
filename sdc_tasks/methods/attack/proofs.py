"""Proofs of attacks as evidence: multipliers by profile, cell, side and attacker (`Multipliers`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sdc_tasks.methods.attack.lp.prover import Attack
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.model.results import Multipliers
from sdc_tasks.model.table import Ints


def proofs_of(attacks: Sequence[Attack], requirements: Requirements) -> Multipliers:
    """The proofs of successful attacks, by adversary, cell, side and attacker."""
    r = requirements
    attacks = sorted(
        attacks,
        key=lambda each: (
            r.profile[each.requirement],
            r.primaries[each.requirement],
            each.side,
            each.insider,
        ),
    )
    at = np.array([each.requirement for each in attacks], dtype=np.int64)
    special = r.insider[at]

    def ints(values: Iterable[int]) -> Ints:
        return np.array(list(values), dtype=np.int64)

    return Multipliers(
        profile=r.profile[at],
        cell=r.primaries[at],
        side=ints(each.side for each in attacks),
        knower=np.where(special >= 0, special, ints(each.insider for each in attacks)),
        split=ints(each.split for each in attacks),
        reach=np.array([each.reach for each in attacks], dtype=float),
        start=ints(np.cumsum([0, *(len(each.rows) for each in attacks)])),
        row=np.concatenate([ints([]), *(each.rows for each in attacks)]),
        value=np.concatenate([np.zeros(0), *(each.multiplier for each in attacks)]),
    )


def joined(parts: Sequence[Multipliers]) -> Multipliers:
    """The proofs of several searches, in the same order."""
    entries = [
        (a.profile[i], a.cell[i], a.side[i], a.knower[i], n, i)
        for n, a in enumerate(parts)
        for i in range(len(a.cell))
    ]
    picked = [(parts[n], i) for *_, n, i in sorted(entries)]

    def column(name: str) -> Ints:
        return np.array([getattr(a, name)[i] for a, i in picked], dtype=getattr(parts[0], name).dtype)

    spans = [slice(a.start[i], a.start[i + 1]) for a, i in picked]
    return Multipliers(
        **{name: column(name) for name in ("profile", "cell", "side", "knower", "split")},
        reach=np.array([a.reach[i] for a, i in picked], dtype=float),
        start=np.cumsum([0, *(span.stop - span.start for span in spans)]).astype(np.int64),
        row=np.concatenate(
            [np.zeros(0, dtype=np.int64), *(a.row[span] for (a, _), span in zip(picked, spans, strict=True))]
        ),
        value=np.concatenate(
            [np.zeros(0), *(a.value[span] for (a, _), span in zip(picked, spans, strict=True))]
        ),
    )
