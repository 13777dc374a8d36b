"""The secondaries that the receiver sets in the table of one country, so that its
primaries keep their protection levels.

1. Attack the table as it came, with the profiles of the domain, nothing else published. If every
   requirement is met, set nothing.
2. Attack it with every cell hidden that may be hidden. What fails even so cannot be repaired here: an
   earlier version of the period showed
   cells beside it as public, or respondents know too much of their own cells. The NSI is told. A primary that
   outsiders can compute for any other reason raises Unprotectable.
3. Find the cheapest pattern ([2] §4) for the levels that can be reached, and attack the table again. Cell
   suppression knows neither whole
   numbers nor all that respondents know, so where a requirement still fails, hide the open cells around it,
   and the cells around those; then reopen, dearest first, those of them that no requirement needs.

Never hidden are: empty cells, unless they are totals over a primary; counts that small count rounding would
have to protect themselves; cells that an earlier version showed; and, where the domain asks for profiles of
respondents, cells with one or two units or with an unknown number of them.

The result depends on no clock. Every cell set here is confidential from then on, as if its NSI had flagged
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sdc_tasks.errors import NAMED_CELLS, Unprotectable
from sdc_tasks.methods.attack import Requirements, baseline, knowledge_of
from sdc_tasks.methods.receiver.country import as_suppression, hidden_too, of_country, totals_over
from sdc_tasks.methods.receiver.options import SuppressionOptions
from sdc_tasks.methods.suppression.costs import Priced, cell_costs
from sdc_tasks.methods.suppression.engine import PatternOptions, execute
from sdc_tasks.methods.suppression.pattern.run import SuppressionRun
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL, KEEPERS, profile_of
from sdc_tasks.model.results import ReceiverSuppression
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY
from sdc_tasks.solver.clock import Abort

REOPENINGS = 100  # attacks on the table that look for cells which need not be hidden


def secondaries(
    problem: ProtectionProblem,
    country: str,
    own: bool,
    options: SuppressionOptions,
    profiles: tuple[str, ...],
    before: Sequence[ProtectionProblem],
) -> ReceiverSuppression:
    """What the receiver sets in the table of a country. `own`: the country has set secondaries itself.
    `before`: the problems of the versions of the period that are out.

    Raises Unprotectable, naming cells and remedy, where hiding more cells cannot protect a primary from
    outsiders; earlier versions are left out.
    """
    table, nobody = of_country(problem, country), np.zeros(0, dtype=np.int64)
    profiles = tuple(name for name in profiles if name not in KEEPERS)
    if options.receiver == "never" or not table.primary.any() or (own and options.receiver == "when_missing"):
        return ReceiverSuppression(country, nobody, nobody, nobody, nobody, own)
    delivered = _baseline(table, profiles)
    if not delivered.cut.any():
        return ReceiverSuppression(country, nobody, nobody, nobody, nobody, own)
    all_of_them, shown = may_hide(table, profiles), _shown(problem, country, before)
    may = all_of_them & ~shown
    most = _baseline(hidden_too(table, may), profiles)
    lost = _cut(most)
    known = _known_anyway(hidden_too(table, all_of_them), profiles) if len(lost) else nobody
    pattern = _pattern(table, may, most, options, profiles)
    hidden = _completed(table, pattern, may, most, profiles)
    hidden = _pruned(
        table,
        pattern,
        hidden,
        most,
        profiles,
        cell_costs(Priced(table.space.national_relations, table.a, table.primary), options.costs),
    )
    return ReceiverSuppression(
        country,
        np.flatnonzero(hidden),
        _cut(delivered),
        np.setdiff1d(lost, known),
        np.intersect1d(lost, known),
        own,
    )


def _baseline(table: ProtectionProblem, profiles: tuple[str, ...]) -> Requirements:
    """What the table protects against the strongest attacker of each profile. The release judges the
    weaker ones too (attack/weaker).
    """
    return baseline(table, profiles, every=False)[0]


def _cut(found: Requirements) -> Ints:
    """The primaries that the table does not protect to their levels."""
    return np.unique(found.primaries[found.cut])


def may_hide(table: ProtectionProblem, profiles: tuple[str, ...]) -> Bools:
    """(cells,): the open cells that the receiver may hide."""
    empty = (table.a == 0) & ~totals_over(table, table.primary)
    small = (table.a > 0) & (table.a < table.least)
    may = table.public & ~empty & ~small
    if any(profile_of(name).respondents for name in profiles):
        may &= np.isnan(table.known)
    return np.asarray(may)


def _shown(problem: ProtectionProblem, country: str, before: Sequence[ProtectionProblem]) -> Bools:
    """(cells,): the cells of the country that an earlier version showed as public."""
    n, found = problem.space.national_size, np.zeros(problem.space.first_aggregate, dtype=bool)
    for then in before:
        now = then.space.national_cells_in(problem.space)
        public = then.public[: len(now)] & (now >= 0)
        found[now[public]] = True
    start = problem.space.countries.index(country) * n
    return found[start : start + n]


def _known_anyway(table: ProtectionProblem, profiles: tuple[str, ...]) -> Ints:
    """The primaries that respondents can compute too closely although every cell is hidden that may
    be; earlier versions are left out.

    Raises Unprotectable if outsiders do.
    """
    cells = _cut(_baseline(table, (EXTERNAL,)))
    if len(cells):
        keys = ", ".join(table.space.key(int(cell)) for cell in cells[:NAMED_CELLS])
        more = f" and {len(cells) - NAMED_CELLS} more" if len(cells) > NAMED_CELLS else ""
        raise Unprotectable(
            f"{keys}{more}: not protected to the level, even with every cell of the national table hidden "
            f"that the receiver may hide. "
            "Remedy: the NSI hides more of its table, and sends UNITS of each cell if respondents are among "
            "the attackers; or lower the "
            "level of the flag; or receiver: never, which releases with what the national table protects"
        )
    return _cut(_baseline(table, profiles))


def _pattern(
    table: ProtectionProblem,
    may: Bools,
    needs: Requirements,
    options: SuppressionOptions,
    profiles: tuple[str, ...],
) -> Bools:
    """(cells,): the open cells that a method of cell suppression hides; all that may be
    hidden where it has no pattern.
    """
    asked = np.concatenate([needs.down, needs.up, needs.slide])
    if not may.any() or not asked.any():  # nothing can be hidden, or nothing helps
        return np.zeros(table.space.size, dtype=bool)
    problem = as_suppression(table, may, needs, _lone(table, profiles), options.costs)
    run = SuppressionRun(
        problem, Abort(f"secondaries of {table.space.countries[0]}", options.seconds), options.gap
    )
    try:
        execute(run, PatternOptions(method=options.method, gap=options.gap))
    except Unprotectable:  # to its attackers, who may be stronger than those of the profiles
        return may
    return may if run.incumbent is None else run.incumbent.hidden & table.public


def _lone(table: ProtectionProblem, profiles: tuple[str, ...]) -> Bools:
    """(cells,): the primaries whose only respondent is an attacker, and has no other cell of its own."""
    found = np.zeros(table.space.size, dtype=bool)
    for name in profiles:
        if profile_of(name).respondents:
            known = knowledge_of(table, name)
            single = (known.lower == 0) & (known.upper == 0)
            owners, times = np.unique(known.owner[single], return_counts=True)
            found[known.cells[single & np.isin(known.owner, owners[times == 1])]] = True
    return found & table.primary


def _completed(
    table: ProtectionProblem, hidden: Bools, may: Bools, needs: Requirements, profiles: tuple[str, ...]
) -> Bools:
    """(cells,): the pattern, with all that may be hidden around each primary of which the
    attacker still learns too much.
    """
    M = abs(table.space.national_relations)
    around = np.zeros(len(hidden), dtype=bool)
    while not (hidden == may).all():
        failing = _failing(_baseline(hidden_too(table, hidden), profiles), needs)
        if not len(failing):
            break
        around[failing] = True
        around |= M.T @ (M @ around.astype(float)) > 0
        hidden = hidden | (may & around)
    return hidden


def _pruned(
    table: ProtectionProblem,
    pattern: Bools,
    hidden: Bools,
    needs: Requirements,
    profiles: tuple[str, ...],
    cost: Floats,
) -> Bools:
    """(cells,): the hidden cells without those outside the pattern that no requirement needs, as far
    as REOPENINGS attacks find them.

    A group of them is reopened, or else its dearer half and then the other. Hiding fewer cells
    never protects more, so a cell that was needed once stays needed: without the limit, each of
    the cells that remain is needed.
    """
    added = np.flatnonzero(hidden & ~pattern)
    groups = [added[np.argsort(-cost[added], kind="stable")]] if len(added) else []
    for _ in range(REOPENINGS):
        if not groups:
            break
        group = groups.pop()
        fewer = hidden.copy()
        fewer[group] = False
        if not len(_failing(_baseline(hidden_too(table, fewer), profiles), needs)):
            hidden = fewer
        elif len(group) > 1:
            dearer, cheaper = np.array_split(group, 2)
            groups += [cheaper, dearer]
    return hidden


def _failing(found: Requirements, needs: Requirements) -> Ints:
    """The primaries of which the attacker learns more than `needs` allow: their levels, as far as they can be
    reached.
    """
    least = {(profile, primary, insider): levels for profile, primary, insider, levels in _rows(needs)}
    wrong = []
    for profile, primary, insider, levels in _rows(found):
        asked = least.get((profile, primary, insider), least[profile, primary, -1])
        if any(got < level * (1 - FEASIBILITY) for got, level in zip(levels, asked, strict=True)):
            wrong.append(primary)
    return np.unique(np.array(wrong, dtype=np.int64))


def _rows(of: Requirements) -> Iterator[tuple[int, int, int, tuple[float, float, float]]]:
    """(profile, primary, attacker, levels) of each row."""
    levels = zip(of.down.tolist(), of.up.tolist(), of.slide.tolist(), strict=True)
    return zip(of.profile.tolist(), of.primaries.tolist(), of.insider.tolist(), levels, strict=True)
