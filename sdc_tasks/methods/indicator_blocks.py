"""Blocks of indicators: indicators that no relation links are protected separately, and their results are
assembled again for the audit, which looks at all of them at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Requirements, knowledge_of
from sdc_tasks.model.problem import (
    CELL_ARRAYS,
    COLUMNS,
    MARKS,
    ROWS,
    Levels,
    PriorReleases,
    ProtectionProblem,
)
from sdc_tasks.model.profiles import KEEPERS, Adversary
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Publication
from sdc_tasks.model.table import Beside, Bools, CellSpace, Ints, linked


@dataclass(frozen=True)
class IndicatorBlock:
    """The protection problem of some indicators. `cells` (cells of the part,) are their flat
    indices in the whole, ascending.
    """

    whole: ProtectionProblem = field(repr=False)
    problem: ProtectionProblem
    cells: Ints = field(repr=False)

    @property
    def decided(self) -> Ints:
        """(aggregate cells of the part,): their positions in a publication of the whole."""
        first = self.whole.space.first_aggregate
        own = (self.cells >= first) & (self.cells < self.whole.space.own_size)
        return np.asarray(self.cells[own] - first)

    def requirements(self, whole: Requirements) -> Requirements:
        """The requirements of the primaries of the part. Requirements against a respondent of another
        indicator only are left out: he knows nothing here.
        """
        if self.problem is self.whole:
            return whole
        at = np.searchsorted(self.cells, whole.primaries)
        mine = self.cells[np.minimum(at, len(self.cells) - 1)] == whole.primaries
        insider = whole.insider.copy()
        for number, profile in enumerate(whole.profiles):  # only they have attackers who act alone
            alone = (whole.profile == number) & (insider >= 0)
            if alone.any():
                theirs = knowledge_of(self.whole, profile).cells[insider[alone]]
                ours = self.cells[knowledge_of(self.problem, profile).cells]
                place = np.minimum(np.searchsorted(ours, theirs), max(len(ours) - 1, 0))
                known = ours[place] == theirs if len(ours) else np.zeros(len(theirs), dtype=bool)
                insider[alone] = np.where(known, place, -1)
                mine[alone] &= known
        return replace(
            whole, primaries=at, insider=insider, weaker=tuple(map(self._weaker, whole.weaker))
        ).rows(np.flatnonzero(mine))

    def _weaker(self, whole: Adversary) -> Adversary:
        """The same adversary of the part: pieces of earlier releases keep their numbers,
        respondents are known by their cells.
        """
        if whole.profile in KEEPERS:
            return whole
        theirs = np.array(whole.lacks, dtype=np.int64)
        return Adversary(
            whole.profile, tuple(np.searchsorted(self.cells, theirs[np.isin(theirs, self.cells)]).tolist())
        )

    def publication(self, whole: Publication) -> Publication:
        """The part of a publication of the whole."""
        own = self.decided
        return Publication(
            np.flatnonzero(self.problem.aggregate), whole.value[own], whole.base[own], whole.covers[own]
        )

    def into(self, whole: Publication, part: Publication) -> Publication:
        """The publication of the whole with these decisions for the cells of the part."""
        value, base, covers = whole.value.copy(), whole.base.copy(), whole.covers.copy()
        own = self.decided
        value[own], base[own], covers[own] = part.value, part.base, part.covers
        return Publication(whole.cells, value, base, covers)

    def tables(self, part: CandidateWitnesses) -> CandidateWitnesses:
        """Tables of the part as tables of the whole. All other cells keep their values."""
        mine = self.cells[np.flatnonzero(self.problem.suppressed)]
        return replace(part, column=np.searchsorted(np.flatnonzero(self.whole.suppressed), mine[part.column]))

    def witnesses(self, part: sp.csr_array) -> sp.csr_array:
        """The same for tables as rows (tables, hidden cells of the part)."""
        mine = self.cells[np.flatnonzero(self.problem.suppressed)]
        column = np.searchsorted(np.flatnonzero(self.whole.suppressed), mine[part.indices])
        shape = part.shape[0], int(column.max(initial=-1)) + 1
        return sp.csr_array((part.data, column.astype(np.int32), part.indptr), shape=shape)

    def adjustment(self, whole: Adjustment) -> Adjustment:
        """The part of an adjusted table of the whole."""
        return whole if whole.x is None else Adjustment(whole.x[self.cells], whole.rungs)

    def adjusted(self, part: Adjustment) -> Adjustment:
        """The adjusted table of the part as one of the whole. All other cells keep their values."""
        if part.x is None:
            return part
        x = self.whole.a.copy()
        x[self.cells] = part.x
        return Adjustment(x, part.rungs)


def groups_of(
    problem: ProtectionProblem, given: Iterable[tuple[str, ...]], alone: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """The `given` groups of indicators, joined where a relation links them, of this release or of an earlier
    version of the period: its relations may have been others. Raises InvalidInput where an earlier version
    links one that is `alone`: it cannot be joined.
    """
    space, before = problem.space, problem.earlier
    links = [
        (each[0], each[1:])
        for each in (tuple(code for code in group if code in space.indicators) for group in given)
        if each
    ]
    links += list(space.indicator_relations)
    if before.rows.nnz:
        links += _linked_before(problem, alone)
    if space.beside:
        links += _linked_beside(space, alone)
    return linked(space.indicators, links)


def _linked_before(problem: ProtectionProblem, alone: Collection[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The indicators that rows of earlier versions link. Raises InvalidInput for one that is `alone`."""
    space, before = problem.space, problem.earlier
    of = np.concatenate([space.indicator_of(np.arange(space.size)), space.indicator_of(before.code)])
    named = _linked_by(before.rows, of, space)
    linked_alone = sorted({code for pair in named for code in pair if code in alone})
    if linked_alone:
        raise InvalidInput(
            f"indicator {linked_alone[0]}: rounding, but an earlier version of the period links it to "
            f"other indicators, and what both "
            "versions tell together is decided for all of them at once. Remedy: leave out its rounding "
            "for this period"
        )
    return [(one, (other,)) for one, other in named]


def _linked_beside(space: CellSpace, alone: Collection[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The indicators that tables beside the release link. Raises InvalidInput for one that is `alone`."""
    of = space.indicator_of(np.arange(space.size))
    tied = np.zeros(0, dtype=np.int64) if space.links is None else np.unique(of[space.links.indices])
    if each := sorted(set(alone) & {space.indicators[number] for number in tied.tolist()}):
        raise InvalidInput(
            f"indicator {each[0]}: rounding, but {space.beside[0].name} is out, and its figures are the "
            f"same, or sums or parts of these: what they tell together is decided for all cells at once. "
            f"Remedy: leave out its rounding"
        )
    return [(one, (other,)) for one, other in _linked_by(space.relations, of, space)]


def _linked_by(rows: sp.csr_array, of: Ints, space: CellSpace) -> list[tuple[str, str]]:
    """The pairs of indicators that a row links. `of` (columns,): the number of the indicator of each."""
    indicator = of[rows.indices]
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    both = (row[1:] == row[:-1]) & (indicator[1:] != indicator[:-1])
    pairs = np.unique(np.column_stack([indicator[:-1][both], indicator[1:][both]]), axis=0)
    return [(space.indicators[one], space.indicators[other]) for one, other in pairs.tolist()]


def restrict(problem: ProtectionProblem, indicators: Collection[str]) -> IndicatorBlock:
    """The part of these indicators (at least one). Raises ValueError where a relation links one
    of them to an indicator outside.
    """
    space = problem.space
    if set(space.indicators) <= set(indicators):
        return IndicatorBlock(problem, problem, np.arange(space.size))
    linked = [{total, *parts} for total, parts in space.indicator_relations]
    if any(each & set(indicators) and each - set(indicators) for each in linked):
        raise ValueError("indicators that a relation links are protected together")
    mine = space.spread(indicator in indicators for indicator in space.indicators)
    cells = np.flatnonzero(mine[space.stands[1]])
    own = _space_of(space, indicators, cells)
    arrays = {name: getattr(problem, name)[cells] for name in CELL_ARRAYS}
    prior = _earlier(problem.earlier, cells, mine)
    levels = (
        None if problem.levels is None else Levels(problem.levels.slope[cells], problem.levels.least[cells])
    )
    part = ProtectionProblem(
        own, **arrays, deliveries=problem.deliveries, earlier=prior, levels=levels, salt=problem.salt
    )
    return IndicatorBlock(problem, part, cells)


def _space_of(space: CellSpace, indicators: Collection[str], cells: Ints) -> CellSpace:
    """The space of these indicators. `cells`: theirs, of all tables."""
    return replace(
        space,
        beside=_beside_of(space, indicators),
        links=_among(space.links, cells),
        indicators=tuple(indicator for indicator in space.indicators if indicator in indicators),
        indicator_relations=tuple(
            (total, parts) for total, parts in space.indicator_relations if {total, *parts} <= set(indicators)
        ),
    )


def _beside_of(space: CellSpace, indicators: Collection[str]) -> tuple[Beside, ...]:
    """The tables beside a release, with those indicators alone for which these indicators stand. A table
    without any stays, so that links name it by its number.
    """
    found = []
    for each in space.beside:
        kept = tuple(name for name in each.space.indicators if space.standing_for(name) in indicators)
        relations = tuple(one for one in each.space.indicator_relations if one[0] in kept)
        part = replace(each.space, indicators=kept, indicator_relations=relations)
        found.append(replace(each, space=part))
    return tuple(found)


def _among(links: sp.csr_array | None, cells: Ints) -> sp.csr_array | None:
    """The relations between tables over these cells, which no relation links to others."""
    if links is None:
        return None
    part = sp.csr_array(sp.csc_array(links)[:, cells])
    return sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)])


def _earlier(before: PriorReleases, cells: Ints, mine: Bools) -> PriorReleases:
    """The rows over these cells. `mine` (national_size,): the cells of one area that belong to the part."""
    if before.rows.shape == (0, 0):
        return PriorReleases()
    n = before.rows.shape[1] - len(before.lower)
    later = np.flatnonzero(mine[before.code])
    columns = np.concatenate([cells, n + later])
    kept = np.flatnonzero(np.diff(sp.csr_array(sp.csc_array(before.rows)[:, columns]).indptr) > 0)
    code = np.cumsum(mine) - 1
    return PriorReleases(
        rows=sp.csr_array(sp.csc_array(before.rows[kept])[:, columns]),
        **{name: getattr(before, name)[kept] for name in (*ROWS, *MARKS)},
        pieces=before.pieces,
        told_by=before.told_by[kept] if before.pieces else before.told_by,
        **{name: getattr(before, name)[later] for name in (*COLUMNS, "beside") if name != "code"},
        code=code[before.code[later]],
    )
