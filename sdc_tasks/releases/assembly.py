"""National tables as one protection problem: its arrays, and the promises of earlier versions of
the period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdc_tasks.domains.schema import Domain, MissingCountry, Role
from sdc_tasks.errors import CountryAwaited, CountryMissing, InvalidInput, and_more
from sdc_tasks.methods.primary import level_lines, protection_levels
from sdc_tasks.model.problem import Levels, NationalTable, ProtectionProblem
from sdc_tasks.model.results import Publication, ReceiverSuppression
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools, CellSpace, Floats, Ints, places


def build_problem(
    tables: Sequence[NationalTable], domain: Domain, salt: Secret | None = None
) -> ProtectionProblem:
    """All countries, hierarchies and compositions as one system of relations, with
    protection levels from flags and shares.

    `salt` keys the digests of confidential things. Without one it is random, and the digests differ each
    time, also for the same tables. Raises CountryMissing or CountryAwaited where a country is missing and the
    domain does not publish partial aggregates.
    """
    ordered = _delivered(tables, domain)
    space = domain.space_of(tuple(table.country for table in ordered))
    value = np.concatenate([table.value for table in ordered])
    national = _national_protection(space, ordered, domain)
    totals, bound = _totals(space, value), _external_bound(space, domain)
    decided = np.zeros(len(totals))
    known = _known(ordered, domain, bound[: len(value)] >= 0)
    return ProtectionProblem(
        space=space,
        a=_within(np.concatenate([value, totals]), bound, space),
        lb=bound,
        ub=np.full(space.size, np.inf),
        lpl=np.concatenate([national.lpl, decided]),
        upl=np.concatenate([national.upl, decided]),
        spl=np.concatenate([national.spl, decided]),
        public=np.concatenate([national.public, decided.astype(bool)]),
        primary=np.concatenate([national.primary, decided.astype(bool)]),
        deliveries=tuple(digest for table in ordered for digest in table.deliveries),
        known=np.concatenate([known, np.full(len(totals), np.nan)]),
        integral=_integral(space, domain, value),
        least=np.tile(_least(space, domain), len(space.areas)),
        withheld=_withheld(space, national.available),
        levels=_lines(ordered, domain, len(totals)) if domain.bases.rule_aware else None,
        salt=salt or Secret.fresh(),
    )


def _delivered(tables: Sequence[NationalTable], domain: Domain) -> list[NationalTable]:
    """The tables in the order of the domain's countries. Raises as `build_problem` where one is missing."""
    if not tables:
        raise CountryMissing(
            f"no accepted delivery from {', '.join(domain.countries)}. Remedy: read findings.csv, and "
            f"correct the files or the domain file"
        )
    by_country = {table.country: table for table in tables}
    missing = [country for country in domain.countries if country not in by_country]
    if missing and domain.missing_country is MissingCountry.BLOCK:
        raise CountryMissing(
            f"no accepted delivery from {', '.join(missing)}, and {domain.id} blocks a release with missing "
            f"countries. "
            "Remedy: deliver them, or set missing_country: partial in the domain file"
        )
    if missing and domain.missing_country is MissingCountry.WAIT:
        raise CountryAwaited(f"waiting for the delivery of {', '.join(missing)}")
    return [by_country[country] for country in domain.countries if country in by_country]


def _least(space: CellSpace, domain: Domain) -> Ints:
    """(cells of a country,): the least published count of each cell; 0 where no small count is rounded."""
    return space.spread(indicator.least for indicator in domain.indicators)


@dataclass(frozen=True)
class NationalProtection:
    """What is hidden and what must be protected, (national cells,) each. lpl, upl, spl: the levels, in the
    unit of the data; 0 where a cell is not primary.
    """

    available: Bools
    public: Bools
    primary: Bools
    lpl: Floats
    upl: Floats
    spl: Floats


def _national_protection(
    space: CellSpace, tables: Sequence[NationalTable], domain: Domain
) -> NationalProtection:
    """The protection by flags, and by small count rounding where an indicator is rounded so. Raises
    InvalidInput for a flag that small count rounding cannot serve.
    """
    value, flag, available = (
        np.concatenate([getattr(table, name) for table in tables]) for name in ("value", "flag", "available")
    )
    public = available & np.isin(flag, _flags_of(domain, Role.PUBLIC))
    primary = available & np.isin(flag, _flags_of(domain, Role.PRIMARY))
    lpl, upl, spl = _levels(tables, domain)
    least = np.tile(_least(space, domain), len(space.countries))
    small = _small_counts(space, np.where(available, least, 0), value, public, primary)
    aware = space.spread(each.counts_aware for each in domain.indicators)
    _refuse_telling_flags(space, primary & np.tile(aware, len(space.countries)))
    counted = least > 0
    return NationalProtection(
        available=available,
        public=public,
        primary=np.where(counted, small, primary),
        lpl=np.where(counted, 0.0, lpl),
        upl=np.where(counted, 0.0, upl),
        spl=np.where(counted, np.where(small, least - 1.0, 0.0), spl),
    )


def _flags_of(domain: Domain, role: Role) -> list[str]:
    return [code for code, spec in domain.flags.items() if spec.role is role]


def still_promised(
    problem: ProtectionProblem, before: Sequence[ProtectionProblem]
) -> tuple[ProtectionProblem, tuple[int, ...]]:
    """The problem, in which a cell that a published version of the period protected and that is still
    suppressed keeps its levels: it stays primary, with the larger of its levels then and now, whatever
    its flag, the rule of the flag or the rounding of its indicator is now. A small count that grew
    beyond the base needs nothing, as in a first version. And for each version, the number of such cells
    that are given a lower level now.

    Raises InvalidInput where such a cell is not a cell of this release, so that nobody could judge what the
    new table reveals of it; and where small count rounding cannot keep its level.
    """
    level = {name: getattr(problem, name).copy() for name in ("lpl", "upl", "spl")}
    primary, lost, lowered = problem.primary.copy(), list[str](), list[int]()
    for number, then in enumerate(before, start=1):
        cells = np.flatnonzero(then.primary)
        now = then.space.national_cells_in(problem.space)[cells]
        lost += [then.space.key(int(cell)) for cell in cells[now < 0]]
        kept = (now >= 0) & problem.suppressed[now]
        cells, now = cells[kept], now[kept]
        counts = (
            (problem.least[now] > 0) & (then.least[cells] > 0) & ~problem.primary[now]
        )  # a count that is not small any more
        cells, now = cells[~counts], now[~counts]
        less = np.any([getattr(problem, name)[now] < getattr(then, name)[cells] for name in level], axis=0)
        _refuse_what_counts_cannot_keep(problem, now[less], number)
        lowered.append(int(less.sum()))
        primary[now] = True
        for name, array in level.items():
            np.maximum.at(array, now, getattr(then, name)[cells])
    if lost:
        raise InvalidInput(
            f"{', '.join(lost[:5])} ({len(lost)} in all): primary in a published version of the period, but "
            f"not in this release. "
            "Remedy: release the period with the countries, indicators and codes of its first version, and "
            "with their deliveries"
        )
    return replace(problem, primary=primary, **level), tuple(lowered)


def _refuse_what_counts_cannot_keep(problem: ProtectionProblem, cells: Ints, version: int) -> None:
    """Raises InvalidInput where small count rounding would leave less than a published version promised."""
    counts = cells[problem.least[cells] > 0]
    if len(counts):
        raise InvalidInput(
            f"{problem.space.key(int(counts[0]))}{and_more(len(counts) - 1)}: small count rounding leaves "
            f"less than version {version} of "
            "the period promised. Remedy: protect the indicator as that version did, by bases or with the "
            "larger rounding base"
        )


def sets_secondaries(table: NationalTable, domain: Domain) -> bool:
    """Whether the country has set secondaries itself, wherever it has primaries: for those of an indicator,
    in the indicator or in one that relations link to it. A suppressed count that small count rounding
    protects is a primary, whatever its flag.
    """
    space = domain.space
    least = _least(space, domain)
    flagged = {role: table.available & np.isin(table.flag, _flags_of(domain, role)) for role in Role}
    small = table.available & ~flagged[Role.PUBLIC] & (table.value > 0) & (table.value < least)
    groups = space.spread(space.linked)
    primary, secondary = (
        np.unique(groups[cells])
        for cells in (flagged[Role.PRIMARY] | small, flagged[Role.SECONDARY] & ~small)
    )
    return bool(len(primary)) and bool(np.isin(primary, secondary).all())


def with_secondaries(problem: ProtectionProblem, found: Sequence[ReceiverSuppression]) -> ProtectionProblem:
    """The problem with the secondaries that the receiver has set: these cells are suppressed."""
    public = problem.public.copy()
    for each in found:
        public[problem.space.countries.index(each.country) * problem.space.national_size + each.cells] = False
    return replace(problem, public=public, known=np.where(public, np.nan, problem.known))


def as_delivered(
    delivered: ProtectionProblem, problem: ProtectionProblem, domain: Domain
) -> list[tuple[ProtectionProblem, Publication]]:
    """What somebody reads who has the national tables as they came (`delivered`), as something that
    was published before; nothing where the receiver has hidden no cell in the `problem`, or the domain
    says that nobody has these tables.
    """
    if domain.suppression.delivered == "not_public" or np.array_equal(delivered.public, problem.public):
        return []
    return [(delivered, Publication.nothing(np.flatnonzero(delivered.aggregate)))]


Told = tuple[ProtectionProblem, Publication]


def read_before(told: Sequence[Told], as_they_came: Sequence[Told]) -> list[Told]:
    """What a reader of this release has already: earlier publications (`told`), or national tables as they
    came.

    Raises InvalidInput where there is both. A reader of the tables as they came knows primaries from them, so
    a release need not protect these from him. Somebody else has the earlier publications and not these
    tables, and the release must protect the same primaries from him. One attacker cannot stand for both.
    """
    if told and as_they_came:
        raise InvalidInput(
            "the period has an earlier version, and national tables in which the receiver has set "
            "secondaries may be read elsewhere as "
            "they came: the attack of a further version does not cover who has one and not the other. "
            "Remedy: once the NSIs hide the "
            "listed cells, say `suppression: {delivered: not_public}` in the domain file"
        )
    return [*told, *as_they_came]


def _small_counts(space: CellSpace, least: Ints, value: Floats, public: Bools, primary: Bools) -> Bools:
    """The national cells that small count rounding protects: suppressed counts of 1 … least − 1. Raises
    InvalidInput for other primaries.

    The requirement: nobody can narrow such a count to fewer than `least` whole numbers
    (methods/rounding/counts.py).
    """
    small = ~public & (value > 0) & (value < least)
    other = np.flatnonzero((least > 0) & primary & ~small)
    if len(other):
        raise InvalidInput(
            f"{space.key(int(other[0]))}{and_more(len(other) - 1)}: flagged as primary, but small count "
            f"rounding protects only counts of "
            f"1 to {int(least[other[0]]) - 1}. Remedy: flag them as secondary, or protect the indicator by "
            f"bases"
        )
    return small


def _refuse_telling_flags(space: CellSpace, primary: Bools) -> None:
    """Raises InvalidInput where the rounding of counts is rule_aware, and a flag tells that a count
    is small (METHOD §9, Theorem 5).
    """
    if (cells := np.flatnonzero(primary)).size:
        raise InvalidInput(
            f"{space.key(int(cells[0]))}{and_more(len(cells) - 1)}: flagged as primary, which tells that the "
            f"count is small, so that "
            "rounding.rule_aware cannot leave it as many candidates as the base. Remedy: flag them as "
            "secondary, which protects them too"
        )


def _withheld(space: CellSpace, available: Bools) -> Bools:
    """The aggregate cells with a member whose value is not available."""
    nothing = np.zeros(space.size - space.first_aggregate)
    needs = space.aggregate_relations @ np.concatenate([~available, nothing]) > 0
    return np.concatenate([np.zeros(len(available), dtype=bool), needs])


def _known(tables: Sequence[NationalTable], domain: Domain, countable: Bools) -> Floats:
    """(national cells,): what the largest unit of a cell with one or two units knows of the cell; NaN for
    other cells.

    A single unit knows its cell. The larger of two knows its share, rounded to the safe side; half of the
    cell where no share was sent. Where an indicator may be negative (not `countable`), a part says
    nothing about the whole. A suppressed cell without its number of units has −∞, unless the domain file
    states that its flag then means one unit. Where the receiver may set secondaries, public cells without
    their number of units have −∞ too.
    """
    value, units, share_1, flag = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("value", "units", "share_1", "flag")
    )
    error = np.zeros(len(value))
    hidden = ~np.isin(flag, [code for code, spec in domain.flags.items() if spec.role is Role.PUBLIC])
    stated = np.isin(flag, [code for code, spec in domain.flags.items() if spec.units_unknown == "one"])
    unknown = (hidden | domain.suppression.active) & (units < 0)
    for code, spec in sorted(domain.flags.items()):
        if spec.rule is not None:
            error[flag == code] = spec.rule.share_error[0]
    share = np.where(np.isnan(share_1), 50.0, np.clip(share_1 + error, 50.0, 100.0))
    part = np.minimum(
        share / 100 * value, np.nextafter(value, -np.inf)
    )  # below the whole: otherwise the unit would be the only one
    return np.select(
        [(units == 1) | (unknown & stated), unknown, (units == 2) & countable], [value, -np.inf, part], np.nan
    )


def _within(a: Floats, bound: Floats, space: CellSpace) -> Floats:
    """The values. Raises InvalidInput where one lies below its external bound."""
    below = np.flatnonzero(a < bound)
    if len(below):
        raise InvalidInput(
            f"{space.key(int(below[0]))}{and_more(len(below) - 1)}: negative values of an indicator that is "
            f"not signed. "
            "Remedy: correct the delivery, or set signed: true in the domain file"
        )
    return a


def _levels(tables: Sequence[NationalTable], domain: Domain) -> tuple[Floats, Floats, Floats]:
    """lpl, upl, spl of every national cell by the rule of its flag; 0 where it is not primary."""
    levels = [np.zeros(sum(len(table.value) for table in tables)) for _ in range(3)]
    value, flag, units, share_1, share_2 = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("value", "flag", "units", "share_1", "share_2")
    )
    for code, spec in sorted(domain.flags.items()):
        if spec.rule is not None and (at := np.flatnonzero(flag == code)).size:
            for level, part in zip(
                levels,
                protection_levels(value[at], units[at], share_1[at], share_2[at], spec.rule),
                strict=True,
            ):
                level[at] = part
    return levels[0], levels[1], levels[2]


def _lines(tables: Sequence[NationalTable], domain: Domain, decided: int) -> Levels:
    """The levels as functions of the values; 0 where a cell is not primary, and in the `decided`
    aggregates.
    """
    slope, least = (np.zeros(sum(len(table.value) for table in tables) + decided) for _ in range(2))
    flag, units, share_1, share_2 = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("flag", "units", "share_1", "share_2")
    )
    for code, spec in sorted(domain.flags.items()):
        if spec.rule is not None and (at := np.flatnonzero(flag == code)).size:
            slope[at], least[at] = level_lines(units[at], share_1[at], share_2[at], spec.rule)
    return Levels(slope, least)


def _totals(space: CellSpace, value: Floats) -> Floats:
    """The aggregates, cell by cell, rounded to the decimal places of the national values. The error of adding
    binary fractions depends on the parts, and would reveal them.
    """
    by_country = value.reshape(len(space.countries), len(space.indicators), -1)
    told = [places(by_country[:, k]) for k in range(len(space.indicators))]
    number = {country: i for i, country in enumerate(space.countries)}
    sums = [
        by_country[[number[member] for member in aggregate.members]].sum(axis=0)
        for aggregate in space.aggregates
    ]
    return np.concatenate(
        [np.round(row, most) for total in sums for row, most in zip(total, told, strict=True)]
    )


def _integral(space: CellSpace, domain: Domain, value: Floats) -> Bools:
    """The cells of indicators that are counted. Raises InvalidInput where one of their
    national values is not a whole number.
    """
    integral = np.tile(space.spread(indicator.whole for indicator in domain.indicators), len(space.areas))
    broken = np.flatnonzero(integral[: len(value)] & (value != np.rint(value)))
    if len(broken):
        raise InvalidInput(
            f"{space.key(int(broken[0]))}{and_more(len(broken) - 1)}: not whole numbers, but the indicator "
            f"is counted. "
            "Remedy: correct the delivery, or remove integer: true (kind: count) from the domain file"
        )
    return integral


def _external_bound(space: CellSpace, domain: Domain) -> Floats:
    """The external lower bound of every cell: 0, or −∞ where the indicator is signed."""
    lowest = space.spread(-np.inf if indicator.signed else 0.0 for indicator in domain.indicators)
    return np.tile(lowest, len(space.areas))
