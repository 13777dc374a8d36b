"""What a profile knows, how that narrows a polyhedron, and which attackers a point fools:
every prover asks here (METHOD §2).

The classes of the profiles (model/profiles) say who knows which cells. In a smaller coalition some
respondents stay outside (see `weaker`). A respondent does not attack his own cells: the level of a cell
already limits how closely one of two units can estimate the other. The only unit of a cell is also the only
unit of every single-unit total above it: these cells have one respondent, who is one attacker in a coalition
and one victim. Without such cells, this is exactly [2] eq. 9. All compositions are always attacked together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack.polyhedron import Polyhedron
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.model.components import components
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import profile_of
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY


@dataclass(frozen=True)
class Knowledge:
    """Cells of which respondents know more than the public does: the deviation of each is `lower ≤ z ≤
    upper`, in the unit of the data.

    `alone`: each entry belongs to an attacker of its own; otherwise one attacker knows all entries
    except those of the victim, and of whoever stays outside. `owner`: the respondent of each
    entry, by the first of his cells.
    """

    profile: str
    alone: bool
    cells: Ints = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    owner: Ints = field(repr=False)

    def owners(self, cells: Ints) -> Ints:
        """The respondent of each cell; −1 for a cell that is not among the known ones."""
        number = dict(zip(self.cells.tolist(), self.owner.tolist(), strict=True))
        return np.array([number.get(cell, -1) for cell in cells.tolist()], dtype=np.int64)

    def asked(self, needs: Requirements, rows: Ints) -> Bools:
        """(rows, attackers): the attackers against whom each of these rows of requirements holds. No row
        holds against the respondent of its own cell. If the baseline cuts a level against one attacker only,
        he has his own row, and the general row leaves him out.
        """
        if not self.alone:
            return np.ones((len(rows), 1), dtype=bool)
        about = self.owner[None, :] != self.owners(needs.primaries[rows])[:, None]
        special = (
            (needs.profile == needs.profile[rows[0]]) & (needs.insider >= 0)
            if len(rows)
            else np.zeros(0, dtype=bool)
        )
        of_cell: dict[int, list[int]] = {}
        for cell, insider in zip(
            needs.primaries[special].tolist(), needs.insider[special].tolist(), strict=True
        ):
            of_cell.setdefault(cell, []).append(insider)
        for i, row in enumerate(rows.tolist()):
            if needs.insider[row] >= 0:
                about[i] = np.arange(about.shape[1]) == needs.insider[row]
            elif (apart := of_cell.get(int(needs.primaries[row]))) is not None:
                about[i, apart] = False
        return np.asarray(about)


@dataclass(frozen=True, repr=False)
class Insiders:
    """Knowledge at its place in a polyhedron, for the targets of a prover.

    `column`, `lower`, `upper`: columns of z and the bounds that their `owner` knows, in the unit of the
    polyhedron. `core`, `core_lower`, `core_upper`: the same for columns of u; `core` is −1 if the national
    relations fix the cell anyway. `victim`: the respondent of each target, −1 if he is no insider or if
    insiders attack `alone`; `outside`: for each target that a smaller coalition attacks, the respondents who
    do not take part, with the victim. `free`: the bounds of u for an attacker who knows none of this.
    """

    alone: bool
    owner: Ints
    victim: Ints
    outside: Mapping[int, Ints]
    column: Ints
    lower: Floats
    upper: Floats
    core: Ints
    core_lower: Floats
    core_upper: Floats
    free: tuple[Floats, Floats]

    @classmethod
    def of(
        cls,
        knowledge: Knowledge,
        polyhedron: Polyhedron,
        cells: Ints,
        lacked: Mapping[int, tuple[int, ...]] | None = None,
    ) -> Insiders:
        """`cells` are those of the targets; `lacked`: for each target against a weaker
        adversary, the pieces that he lacks.
        """
        victim = np.full(len(cells), -1) if knowledge.alone else knowledge.owners(cells)
        absent = {
            target: np.array([*pieces, *victim[[target]]], dtype=np.int64)
            for target, pieces in (lacked or {}).items()
        }
        column = polyhedron.columns_of(knowledge.cells)
        lower, upper = polyhedron.own(column, knowledge.lower, knowledge.upper)
        core, sign = polyhedron.place(column)
        return cls(
            alone=knowledge.alone,
            owner=knowledge.owner,
            victim=victim,
            outside={
                target: owners for target, owners in absent.items() if np.isin(owners, knowledge.owner).any()
            },
            column=column,
            lower=lower,
            upper=upper,
            core=np.where(sign == 0, -1, core),
            core_lower=np.where(sign > 0, lower, -upper),
            core_upper=np.where(sign > 0, upper, -lower),
            free=polyhedron.core_bounds(),
        )

    def imposed(self, held: Bools) -> tuple[Floats, Floats]:
        """Bounds of u for an attacker who knows the entries `held`."""
        lower, upper = self.free[0].copy(), self.free[1].copy()
        at = np.flatnonzero(held & (self.core >= 0))
        np.maximum.at(lower, self.core[at], self.core_lower[at])
        np.minimum.at(upper, self.core[at], self.core_upper[at])
        return lower, upper

    @cached_property
    def all_held(self) -> tuple[Floats, Floats]:
        """Bounds of u for an attacker who knows every entry: a point within them fools every
        attacker, whoever the victim is.
        """
        return self.imposed(np.ones(len(self.column), dtype=bool))

    @property
    def usual(self) -> tuple[Floats, Floats]:
        """The starting bounds of u: the bounds for one target differ from them in a few columns only
        (`differing`).
        """
        return self.free if self.alone else self.all_held

    def against(self, target: int, attackers: Bools) -> tuple[Floats, Floats]:
        """Bounds of u for these attackers of a target. If they act alone: what these attackers know together.
        Otherwise: what all insiders know except the victim and those who stay outside.
        """
        if self.alone:
            return self.imposed(attackers)
        return (
            self.imposed(~np.isin(self.owner, self._absent(target))) if self.exempt[target] else self.all_held
        )

    @cached_property
    def exempt(self) -> Bools:
        """(targets,): whether some insider takes no part in the attack."""
        return np.asarray((self.victim >= 0) | self.smaller)

    @cached_property
    def smaller(self) -> Bools:
        """(targets,): whether a smaller coalition attacks. All members together mostly know such a cell,
        so no joint search can move it.
        """
        found = np.zeros(len(self.victim), dtype=bool)
        found[list(self.outside)] = True
        return found

    def _absent(self, target: int) -> Ints:
        """The insiders who take no part in the attack on a target."""
        return self.outside.get(target, self.victim[[target]])

    def differing(self, target: int) -> Ints:
        """The columns of u where the bounds against a target may differ from the `usual` ones."""
        if self.alone:
            return np.unique(self.core[self.core >= 0])
        theirs = np.isin(self.owner, self._absent(target)) & (self.core >= 0)
        return np.unique(self.core[theirs])

    def fooled(self, z: Floats) -> Bools:
        """(targets or 1, attackers): whether the point agrees with what the attacker knows; by target,
        because targets have different victims.
        """
        as_known = (z[self.column] >= self.lower - FEASIBILITY) & (z[self.column] <= self.upper + FEASIBILITY)
        if self.alone:
            return as_known[None, :]
        moved = np.unique(self.owner[~as_known])
        if not len(moved):
            return np.ones((1, 1), dtype=bool)
        found = np.asarray((self.victim == moved[0]) & (len(moved) == 1))
        for target, absent in self.outside.items():
            found[target] = np.isin(moved, absent).all()
        return found[:, None]


def knowledge_of(problem: ProtectionProblem, profile: str) -> Knowledge:
    """What the attackers of a profile know. Raises ValueError for an unknown profile, InvalidInput
    for a hidden cell without units.
    """
    definition = profile_of(profile)
    if definition.respondents:
        _require_units(problem, profile)
    cells = np.flatnonzero(definition.insider(problem))
    short = problem.known[cells] - problem.a[cells]  # 0 for a single unit
    return Knowledge(
        profile,
        definition.alone,
        cells,
        short,
        np.where(short < 0, np.inf, 0.0),
        _owner(problem.space, cells, short == 0),
    )


def _require_units(problem: ProtectionProblem, profile: str) -> None:
    """Refuses hidden cells without a number of units: without it, missing attackers would look
    like safety.
    """
    unknown = np.flatnonzero(problem.suppressed & np.isneginf(problem.known))
    if len(unknown):
        raise InvalidInput(
            f"{problem.space.key(int(unknown[0]))}: hidden, as {len(unknown) - 1} other cells, without a "
            f"number of units, so that "
            f"profile {profile} cannot be attacked. Remedy: have UNITS sent with every hidden cell, or state "
            f"units_unknown: one for its "
            "flag in the domain file, or do not ask for the profile"
        )


def _owner(space: CellSpace, cells: Ints, single: Bools) -> Ints:
    """The respondent of each cell (cells of one or two units), by the first of his cells. Single-unit cells
    that contain each other have one respondent.
    """
    column = np.full(space.size, -1)
    column[cells[single]] = np.flatnonzero(single)
    if space.beside:
        relations = space.relations[: space.relations.shape[0] - space.aggregate_relations.shape[0]]
        i, j = (column[each] for each in _containing(sp.csr_array(relations)))
    else:
        within, beyond = _containing(space.national_relations)
        first = space.national_size * np.arange(len(space.countries))[:, None]
        i, j = column[(first + within).ravel()], column[(first + beyond).ravel()]
    both = (i >= 0) & (j >= 0)
    number = components(i[both], j[both], len(cells))
    first_of = np.full(len(cells), np.iinfo(np.int64).max)
    np.minimum.at(first_of, number, cells)
    return first_of[number].astype(np.int64)


def _containing(relations: sp.csr_array) -> tuple[Ints, Ints]:
    """(parts, totals): every pair of a cell and one that contains it, by relations with −1 (or less) at the
    total.
    """
    entries, n = sp.coo_array(relations), relations.shape[1]
    total = np.zeros(relations.shape[0], dtype=np.int64)
    total[entries.row[entries.data < 0]] = entries.col[entries.data < 0]
    part = entries.data > 0
    above = sp.csr_array(
        (np.ones(int(part.sum())), (entries.col[part], total[entries.row[part]])), shape=(n, n)
    )
    contains, before = sp.csr_array(above), -1
    while contains.nnz != before:  # of a cell, all that it is a part of
        before = contains.nnz
        contains = sp.csr_array(((contains + contains @ above) > 0).astype(float))
    within, beyond = sp.coo_array(contains).coords
    return within.astype(np.int64), beyond.astype(np.int64)
