"""What a national institute sends: its complete table, the flags of cells it protects, and its own wire
format.

Primary cells are those of fewer than three units (flag A) and those the p% rule finds (flag M); the institute
protects them within its own table by `lp_cover` (flag D), to the levels that the receiver will read from the
*rounded* shares. Everything else is free (F). Where there are several indicators, the turnover decides what
is primary, and the same cells are hidden in each. An empty cell has no record, unless it is a total. Units
come with every record, the shares of the two largest only with primary cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sdc_tasks.demo.enterprises import Microtable
from sdc_tasks.domains.schema import Domain
from sdc_tasks.methods.linked import merged
from sdc_tasks.methods.primary import LevelRule, PPercentRule, protection_levels, sensitive
from sdc_tasks.methods.suppression.covering.lp_cover import lp_cover
from sdc_tasks.model.table import Bools, Floats, Ints, inside, read_only

Texts = npt.NDArray[np.str_]
Sent = tuple[Ints, Ints, Ints, Ints]  # of an indicator: values, units, and both shares


class Wire(StrEnum):
    """The format of a delivery."""

    SDMX_2 = "SDMX-CSV 2.0"
    SDMX_1 = "SDMX-CSV 1.0"
    NATIONAL = "semicolons, decimal comma, byte order mark, CRLF"


def wire_of(number: int) -> Wire:
    """Of nine countries seven send SDMX-CSV 2.0, one 1.0, one its national format."""
    return {1: Wire.SDMX_1, 3: Wire.NATIONAL}.get(number % 9, Wire.SDMX_2)


@dataclass(frozen=True)
class FlaggedTable:
    """A protected national table in the order of its cell space: values, units, shares in whole percent,
    CONF_STATUS.
    """

    value: Ints = field(repr=False)
    units: Ints = field(repr=False)
    share_1: Ints = field(repr=False)
    share_2: Ints = field(repr=False)
    flag: Texts = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("value", "units", "share_1", "share_2", "flag"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


def protect(tables: Mapping[str, Microtable], domain: Domain) -> FlaggedTable:
    """Flags the primaries by the rules of the domain's flags A and M, and finds secondaries that
    protect the table of each indicator.

    A sum of linked indicators is as uncertain as its parts together: what moves one part moves the sum.
    """
    [found] = protect_linked([[(tables, domain)]])
    return found


def protect_linked(times: Sequence[Sequence[tuple[Mapping[str, Microtable], Domain]]]) -> list[FlaggedTable]:
    """The same for several tables of one country, which name some cells alike: their secondaries are found in
    all tables at once, so that a cell is hidden in each of them or in none. `times`: the tables of each
    reference period; those of the first name every cell of the others.
    """
    given = [each for tables in times for each in tables]
    places, _ = _merged([domain for _, domain in given])
    marked = [_primaries(tables, domain) for tables, domain in given]
    suppressed = np.zeros(1 + int(np.concatenate(places).max()), dtype=bool)
    for at, (primary, _) in zip(places, marked, strict=True):
        suppressed[at] |= primary
    sent = list[list[Sent]]()
    for tables in times:
        own = slice(len(sent), len(sent) + len(tables))
        here, relations = _merged([domain for _, domain in tables])
        cells = np.zeros(relations.shape[1], dtype=np.int64)  # of these tables, among all
        for at, everywhere in zip(here, places[own], strict=True):
            cells[at] = everywhere
        suppressed[cells], told = _covered(tables, here, relations, marked[own], suppressed[cells])
        sent += told
    return [
        _flagged(np.where(suppressed[at] & ~primary, "D", flag), kept)
        for at, (primary, flag), kept in zip(places, marked, sent, strict=True)
    ]


def _covered(
    tables: Sequence[tuple[Mapping[str, Microtable], Domain]],
    places: Sequence[Ints],
    relations: sp.csr_array,
    marked: Sequence[tuple[Bools, Texts]],
    suppressed: Bools,
) -> tuple[Bools, list[list[Sent]]]:
    """(cells of the tables of one period,): what is hidden, with secondaries for each indicator; and, of each
    table, what is sent of each indicator.
    """
    sent: list[list[Sent]] = [[] for _ in tables]
    for name in tables[0][1].space.indicators:
        a, level = np.zeros(len(suppressed)), np.zeros(len(suppressed))
        for (each, domain), at, (_, flag), kept in zip(tables, places, marked, sent, strict=True):
            found = _levels(each[name], flag, domain)
            a[at], level[at] = found[0], np.maximum(level[at], found[1])
            kept.append(found[2])
        # secondaries of other indicators and periods have a level of 0
        suppressed = lp_cover(relations, a, suppressed, level, level, _loss(a))
    return suppressed, sent


def _flagged(flag: Texts, sent: Sequence[Sent]) -> FlaggedTable:
    """A table with the same flags for each indicator."""
    value, units, share_1, share_2 = (np.concatenate(arrays) for arrays in zip(*sent, strict=True))
    return FlaggedTable(value, units, share_1, share_2, np.tile(flag, len(sent)))


def _merged(domains: Sequence[Domain]) -> tuple[tuple[Ints, ...], sp.csr_array]:
    """Of the first indicator: the place of the cells of each table among all of them, and their relations."""
    spaces = [
        replace(domain.space, indicators=domain.space.indicators[:1], indicator_relations=())
        for domain in domains
    ]
    return merged(spaces, [domain.id for domain in domains])


def _primaries(tables: Mapping[str, Microtable], domain: Domain) -> tuple[Bools, Texts]:
    """(cells,): what is primary by the first indicator, and its flag."""
    few, dominance = _rule(domain, "A"), _rule(domain, "M")
    if not isinstance(dominance, PPercentRule):
        raise ValueError("flag M must have the p% rule")
    X, units, x1, x2 = _flat(tables[domain.space.indicators[0]])
    primary = sensitive(x1, x2, X, units, dominance.p, few.few_units + 1)
    return primary, np.where(primary, np.where(units <= few.few_units, "A", "M"), "F")


def _levels(table: Microtable, flag: Texts, domain: Domain) -> tuple[Floats, Floats, Sent]:
    """Values, levels, and what is sent of one indicator: values, units and both shares."""
    X, units, x1, x2 = _flat(table)
    a = X.astype(float)
    share_1, share_2 = _percent(x1, X, tie=0), _percent(x2, X, tie=1)
    level = np.zeros(len(a))
    for code in ("A", "M"):
        cells = flag == code
        shares = share_1[cells].astype(float), share_2[cells].astype(float)
        _, level[cells], _ = protection_levels(a[cells], units[cells], *shares, _rule(domain, code))
    return a, level, (X, units, share_1, share_2)


def _flat(table: Microtable) -> tuple[Ints, Ints, Ints, Ints]:
    """(value, units, x1, x2) in the order of the cells."""
    return table.value.ravel(), table.units.ravel(), table.x1.ravel(), table.x2.ravel()


def _rule(domain: Domain, code: str) -> LevelRule:
    rule = domain.flags[code].rule
    if rule is None:
        raise ValueError(f"flag {code} must be a primary flag of the domain")
    return rule


def _percent(part: Ints, whole: Ints, tie: int) -> Ints:
    """Whole percent in whole numbers throughout; a half goes up (tie 0) or down (tie 1), so
    that two shares never exceed 100.
    """
    return (200 * part + whole - tie) // np.maximum(2 * whole, 1)


def _loss(a: Floats) -> Floats:
    """The loss of suppressing a cell: between counting cells (1) and counting turnover (a)."""
    return np.sqrt(a)


def serialise(table: FlaggedTable, domain: Domain, country: str, period: str, wire: Wire) -> bytes:
    """The delivery file: one record for each total, and for each other cell that is not empty; in a table of
    one hierarchy for every cell.
    """
    names = domain.attributes
    indicator = domain.indicators[0]
    dimensions = [domain.indicator_dimension, *(source.dimension for source in domain.hierarchies)]
    attributes = [
        names.unit,
        names.unit_multiplier,
        names.obs_status,
        names.conf_status,
        names.units,
        names.share_1,
        names.share_2,
    ]
    head = [
        "DATAFLOW",
        "FREQ",
        domain.areas.dimension,
        *dimensions,
        "TIME_PERIOD",
        "OBS_VALUE",
        *(name or "" for name in attributes),
    ]
    lines = [head]
    decimals = ",0" if wire is Wire.NATIONAL else ""
    total = np.tile(~inside(domain.space.hierarchies).ravel(), len(domain.indicators))
    alone = len(domain.hierarchies) == 1  # then no other total shows that a cell without a record is empty
    for cell in np.flatnonzero((table.value > 0) | total | alone):
        key = [domain.frequency, country, *domain.space.national_keys[cell], period]
        unit = [
            indicator.unit,
            str(indicator.unit_multiplier),
            "A",
            str(table.flag[cell]),
            str(table.units[cell]),
        ]
        shares = (
            [str(table.share_1[cell]), str(table.share_2[cell])]
            if table.flag[cell] in {"A", "M"}
            else ["", ""]
        )
        lines.append([domain.structure_id, *key, f"{table.value[cell]}{decimals}", *unit, *shares])
    if wire is Wire.SDMX_2:
        lines = [
            ["STRUCTURE", "STRUCTURE_ID", "ACTION", *head[1:]],
            *(["dataflow", line[0], "I", *line[1:]] for line in lines[1:]),
        ]
    separator, end, encoding = (";", "\r\n", "utf-8-sig") if wire is Wire.NATIONAL else (",", "\n", "utf-8")
    return "".join(separator.join(line) + end for line in lines).encode(encoding)
