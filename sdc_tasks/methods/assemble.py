"""One decision of those for groups of indicators, and what the report compares it with. No
relation links two groups (METHOD §4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.methods.bases.comparison import RULES, TABLES, Kept
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Outcome, Publication, Rung
from sdc_tasks.model.table import CellSpace

BY_GROUP = "the best rule for each group of linked indicators"


def forget(name: str, item: Kept) -> None:
    """Keeps nothing."""


@dataclass(frozen=True)
class Decision:
    """The decision for a group of indicators. `publication` (all aggregate cells,): nothing counts but the
    cells of the group. `kept`: what `keep` of `choose_bases` received.
    """

    indicators: tuple[str, ...]
    publication: Publication = field(repr=False)
    kept: Mapping[str, Kept] = field(repr=False)

    @property
    def rules(self) -> tuple[Rung, ...]:
        """A rung for each rule; none where the group is rounded as a whole table."""
        found = self.kept.get(RULES)
        return found.rungs if isinstance(found, Adjustment) else ()

    @property
    def taken(self) -> Rung:
        """The rung of the rule that was taken."""
        return next(each for each in self.rules if each.chosen)

    def rung(self, rule: str) -> Rung:
        """The rung of a rule; that of the rule that was taken, where the group was not decided by it."""
        return next((each for each in self.rules if each.method == rule), self.taken)

    def by(self, rule: str) -> Publication:
        """The publication by a rule; the one that was taken, where there is none."""
        found = self.kept.get(rule)
        return found if isinstance(found, Publication) else self.publication


def assemble(space: CellSpace, groups: Sequence[tuple[tuple[str, ...], Publication]]) -> Publication:
    """The publication with the cells of each group from its own one; cells of no group are withheld."""
    whole = Publication.nothing(np.arange(space.first_aggregate, space.own_size))
    value, base, covers = whole.value.copy(), whole.base.copy(), whole.covers.copy()
    for indicators, own in groups:
        mine = space.aggregate_cells_of(indicators)
        value[mine], base[mine], covers[mine] = own.value[mine], own.base[mine], own.covers[mine]
    return Publication(whole.cells, value, base, covers)


def assemble_kept(space: CellSpace, decisions: Sequence[Decision]) -> dict[str, Kept]:
    """What is kept of the decisions: all tables; the publication by each rule that was not taken
    everywhere; and, as RULES, a rung for each rule. A group that no rule of this name decided
    stands there as it was decided.
    """
    ruled = [each for each in decisions if each.rules]
    rules = tuple(dict.fromkeys(rung.method for each in ruled for rung in each.rules))
    found = _all_tables(decisions)
    for rule in rules:
        if not _is_everywhere(rule, ruled):
            found[rule] = assemble(space, [(each.indicators, each.by(rule)) for each in decisions])
    rungs = _rungs(rules, ruled)
    return {**found, RULES: Adjustment(rungs=tuple(rungs))} if rungs else found


def _is_everywhere(rule: str, ruled: Sequence[Decision]) -> bool:
    """Whether no group took another rule."""
    return all(each.rung(rule).chosen for each in ruled)


def _rungs(rules: Sequence[str], ruled: Sequence[Decision]) -> list[Rung]:
    """A rung for each rule; where groups took different ones, one more for all that was taken."""
    found = list[Rung]()
    for rule in rules:
        tried = [each.rung(rule) for each in ruled]
        everywhere = _is_everywhere(rule, ruled)
        if not everywhere or all(rung.method == rule for rung in tried):
            found.append(_together(rule, tried, everywhere))
    if ruled and not any(rung.chosen for rung in found):
        found.append(_together(BY_GROUP, [each.taken for each in ruled], True))
    return found


def _all_tables(decisions: Sequence[Decision]) -> dict[str, Kept]:
    """The tables of all groups as TABLES; nothing where no group kept any."""
    kept = [each.kept.get(TABLES) for each in decisions]
    tables = [each for each in kept if isinstance(each, CandidateWitnesses)]
    if not tables:
        return {}
    rows = [row for each in tables for row in each.sparse]
    return {TABLES: CandidateWitnesses(**CandidateWitnesses.rows(rows))}


def _together(rule: str, rungs: Sequence[Rung], chosen: bool) -> Rung:
    """The rung of a rule over all groups."""
    reason = next((rung.reason for rung in rungs if rung.method == rule), rungs[0].reason)
    worst = Outcome.RELAXED if any(rung.outcome is Outcome.RELAXED for rung in rungs) else rungs[0].outcome
    bounds = [rung.bound for rung in rungs if rung.bound is not None]
    return Rung(
        rule,
        worst,
        sum(rung.objective or 0.0 for rung in rungs),
        sum(bounds) if len(bounds) == len(rungs) else None,
        None,
        0.0,
        reason,
        unprotected=sum(rung.unprotected for rung in rungs),
        chosen=chosen,
    )
