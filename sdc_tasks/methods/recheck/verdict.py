"""The verdict that the evidence proves, profile by profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.recheck.duality import bounds, classes
from sdc_tasks.methods.recheck.knowledge import attackers
from sdc_tasks.methods.recheck.promise import promised
from sdc_tasks.methods.recheck.small import small_told
from sdc_tasks.methods.recheck.tolerance import MET, MISS, SIDES, WHOLE
from sdc_tasks.methods.recheck.witnesses import prove
from sdc_tasks.methods.recheck.world import whole_world, world_of
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import named
from sdc_tasks.model.results import Evidence, Publication
from sdc_tasks.model.table import Bools, Ints


@dataclass(frozen=True)
class Recheck:
    """`protected` (profiles, primaries): proven by witnesses; `exposed`: a successful attack is. Both false: not shown either way. `small`:
    aggregate cells that tell a small count.

    `whole` (primaries,): judged with integer knowledge; where such a cell is neither, no whole table shows it. `words`: requirements
    that are cut on the word of a MILP.
    """

    primaries: Ints = field(repr=False)
    protected: Bools = field(repr=False)
    exposed: Bools = field(repr=False)
    witnesses: int
    attacks: int
    whole: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool), repr=False)
    words: int = 0
    small: tuple[int, ...] = ()

    @property
    def unshown(self) -> Bools:
        """(profiles, primaries): no whole table shows it, and nothing shows the attack either."""
        return np.asarray(self.whole & ~self.protected & ~self.exposed)


def recheck(problem: ProtectionProblem, publication: Publication, profiles: Sequence[str], evidence: Evidence) -> Recheck:
    """The verdict that the evidence proves, profile by profile. Raises ValueError where it does not fit the problem, or where no profile
    is named, or an unknown one.
    """
    profiles, primaries = named(profiles), np.flatnonzero(problem.primary)
    protected = np.zeros((len(profiles), len(primaries)), dtype=bool)
    exposed = np.zeros_like(protected)
    for number, profile in enumerate(profiles):
        world, nothing = world_of(problem, publication, profile), world_of(problem, None, profile)
        known = attackers(problem, profile, primaries)
        witnesses = sp.csr_array(evidence.witness[evidence.profile == number])
        if witnesses.indices.max(initial=-1) >= len(world.lower):
            raise ValueError("the witnesses are not of these deliveries")
        count = len(known.cells) if known.alone else 1
        needed = promised(problem, primaries, count)
        tied = classes(nothing) if len(evidence.cut.cell) + len(evidence.broken.cell) else sp.csr_array((len(world.lower), 0))
        for i, bound, knowers in bounds(nothing, tied, evidence.cut, number, primaries, known):
            side = SIDES.index(int(evidence.cut.side[i]))
            p = int(np.searchsorted(primaries, evidence.cut.cell[i]))
            needed[side, p, knowers] = np.minimum(needed[side, p, knowers], bound)
        whole = problem.integral[primaries]
        needed[:, whole] = np.floor(needed[:, whole] + WHOLE)
        for cut in evidence.whole_cut[evidence.whole_cut[:, 0] == number].tolist():
            side, p, knowers = SIDES.index(cut[2]), int(np.searchsorted(primaries, cut[1])), slice(None) if cut[3] < 0 else cut[3]
            needed[side, p, knowers] = np.minimum(needed[side, p, knowers], cut[4])
        open_ = needed > 0
        if known.alone:
            open_ &= (known.owner[None, :] != known.victim[:, None])[None]
        if whole.any():
            shown = open_.copy()
            tables = sp.csr_array(evidence.whole[evidence.whole_profile == number]) if len(evidence.whole_profile) else evidence.whole
            narrow, knowing = whole_world(problem, publication, world, tables, known)
            prove(narrow, tables, primaries, needed, shown, knowing, np.full(needed.shape, WHOLE), 0.0)
        prove(world, witnesses, primaries, needed, open_, known, MISS * needed, MET)
        if whole.any():
            open_[:, whole] = shown[:, whole]
        protected[number] = ~open_.any(axis=(0, 2))
        for i, bound, knowers in bounds(world, tied, evidence.broken, number, primaries, known):
            side, p = SIDES.index(int(evidence.broken.side[i])), int(np.searchsorted(primaries, evidence.broken.cell[i]))
            exposed[number, p] |= bool((bound < needed[side, p, knowers] * (1 - 1e-7)).any())
    return Recheck(
        primaries,
        protected,
        exposed,
        len(evidence.profile) + len(evidence.whole_profile),
        len(evidence.broken.cell),
        problem.integral[primaries],
        len(evidence.whole_cut),
        small_told(problem, publication),
    )
