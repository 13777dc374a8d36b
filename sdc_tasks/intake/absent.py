"""The meaning of a cell without a record: a zero, or a missing figure.

A cell without a record counts as zero only where the delivery itself shows it. The option
`absent` of the indicator changes this:

    not set       A zero where the cell is inside a breakdown, has no parts, and every
                  relation of the cell holds without it.
                  With values of at least 0, a part is zero by arithmetic if the other parts add up to
                  their total. For totals, signed
                  indicators and tables with one dimension there is no such proof: the cell is missing.
    zero          A zero, except at the top of the table, and for totals of parts that do not add up to zero.
    missing       Missing everywhere.

An indicator without any record, and a table without its grand total, are missing under every option.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdc_tasks.domains.schema import Domain, Indicator
from sdc_tasks.intake.findings import NAMED_IN_FINDING, Findings
from sdc_tasks.model.keys import printed_key
from sdc_tasks.model.table import Bools, Floats, Hierarchy, Ints, inside
from sdc_tasks.model.tolerances import INTEGRALITY

MOST_DECIMALS = 9  # as the domain file allows


def judge_absent(
    country: str, value: Floats, present: Bools, available: Bools, domain: Domain, found: Findings
) -> None:
    """Adds a finding for each missing indicator, code or group of cells. All arrays have shape
    (national_size,).

    `value` is 0 where there is no record (not `present`), and has no meaning where it is not `available`.
    """
    cells = np.arange(len(value)).reshape(len(domain.indicators), -1)
    proven, needed = _proven(value, present, available, domain), _needed(value, available, domain)
    for indicator, mine in zip(domain.indicators, cells, strict=True):
        if not present[mine].any():
            column = domain.indicator_dimension
            found.add(
                "SDC/absent",
                f"no record of {column} {indicator.code}: send it; where it was not collected, as not "
                f"available (M)",
            )
            continue
        missing = np.zeros(len(value), dtype=bool)
        missing[mine] = _missing(indicator, present[mine], proven[mine], needed[mine], domain)
        _tell(country, indicator, missing, domain, found)


def _missing(indicator: Indicator, present: Bools, proven: Bools, needed: Bools, domain: Domain) -> Bools:
    """The cells of one indicator that have no record and are not zero."""
    if indicator.absent == "missing":
        return ~present
    if indicator.absent == "zero":
        return ~present & (needed | _top(present, domain.space.hierarchies))
    return ~present & ~proven


def _proven(value: Floats, present: Bools, available: Bools, domain: Domain) -> Bools:
    """The cells without a record that the delivery itself shows to be zero.

    The tolerance is that of the additivity check, but below half of the last decimal sent, so that it
    cannot hide a figure of one unit.
    """
    M = domain.space.national_relations
    known = np.where(available, value, 0.0)
    sent = np.split(known, len(domain.indicators))
    decimals = [
        _decimals(mine, indicator.decimals) for mine, indicator in zip(sent, domain.indicators, strict=True)
    ]
    step = domain.space.spread(0.49 * 10.0 ** -np.array(decimals, dtype=float))
    signed = domain.space.spread(indicator.signed for indicator in domain.indicators)
    parts, total = (M > 0).astype(float), (M < 0).astype(float)
    allowed = np.minimum(
        step, domain.checks.additivity_absolute + domain.checks.additivity_relative * np.abs(known)
    )
    whole = abs(M) @ (~available).astype(float) == 0
    holds = whole & (total @ present.astype(float) > 0) & (np.abs(M @ known) <= total @ allowed)
    is_part = parts.T @ holds.astype(float) > 0
    is_total = np.tile(~inside(domain.space.hierarchies).ravel(), len(domain.indicators))
    broken = abs(M).T @ (whole & ~holds).astype(float) > 0
    one_dimension = sum(bool(hierarchy.families) for hierarchy in domain.space.hierarchies) < 2
    return np.asarray(is_part & ~is_total & ~broken & ~signed & (not one_dimension))


def _decimals(value: Floats, declared: int) -> int:
    """The number of decimals of the values, at least the declared number."""
    for decimals in range(declared, MOST_DECIMALS):
        units = value * 10.0**decimals
        if (np.abs(units - np.rint(units)) < INTEGRALITY).all():
            return decimals
    return MOST_DECIMALS


def _needed(value: Floats, available: Bools, domain: Domain) -> Bools:
    """The totals that would contradict their parts if they were zero."""
    M = domain.space.national_relations
    parts = (M > 0).astype(float) @ np.where(available, value, 0.0)
    return np.asarray(
        (M < 0).astype(float).T @ (np.abs(parts) > domain.checks.additivity_absolute).astype(float) > 0
    )


def _top(present: Bools, hierarchies: tuple[Hierarchy, ...]) -> Bools:
    """The grand totals: cells in which every code is a root with parts, and no special aggregate. A list
    without totals has one for each code with a record.
    """
    shape = tuple(len(hierarchy.codes) for hierarchy in hierarchies)
    top = np.ones(shape, dtype=bool)
    flat = []
    for axis, hierarchy in enumerate(hierarchies):
        if not hierarchy.families:
            flat.append(axis)
            continue
        heads = set(hierarchy.roots) & set(hierarchy.parts_of)
        root = np.array([i in heads for i in range(len(hierarchy.codes))])
        top &= root.reshape([-1 if k == axis else 1 for k in range(len(shape))])
    others = tuple(axis for axis in range(len(shape)) if axis not in flat)
    if not others:
        return np.zeros(present.shape, dtype=bool)  # no totals at all
    return np.asarray(top & present.reshape(shape).any(axis=others, keepdims=True)).ravel()


def _tell(country: str, indicator: Indicator, missing: Bools, domain: Domain, found: Findings) -> None:
    """Adds one finding for each code whose cells are all missing (only the highest code of its
    branch), and one for all other cells.
    """
    if not missing.any():
        return
    space = domain.space
    here = space.indicators.index(indicator.code)
    left = missing.reshape(space.national_shape)[here].copy()
    for axis, hierarchy in enumerate(space.hierarchies):
        lines = np.moveaxis(missing.reshape(space.national_shape)[here], axis, 0).reshape(
            len(hierarchy.codes), -1
        )
        gone = {i for i, line in enumerate(lines) if line.all()}
        for i in sorted(gone):
            parent = hierarchy.parent[i]
            if parent is None or hierarchy.index[parent] not in gone:
                name = f"{indicator.code}, {hierarchy.dimension} {hierarchy.codes[i]}"
                found.add(
                    "SDC/absent",
                    f"no record of {name}: {_REMEDY}",
                    cell=f"{country}.{indicator.code}.{hierarchy.codes[i]}",
                )
        np.moveaxis(left, axis, 0)[sorted(gone)] = False
    if left.any():
        number = int(left.sum())
        first = ", ".join(printed_key((country, *space.national_keys[cell])) for cell in _first(here, left))
        rest = f" and {number - NAMED_IN_FINDING} more" if number > NAMED_IN_FINDING else ""
        found.add(
            "SDC/absent", f"no record of {first}{rest}, and nothing shows that they are zero: {_REMEDY}"
        )


_REMEDY = "send it, with 0 where it is zero and as not available (M) where it was not collected"


def _first(indicator: int, left: Bools) -> Iterator[int]:
    cells: Ints = np.flatnonzero(left)[:NAMED_IN_FINDING] + indicator * left.size
    return iter(cells.tolist())
