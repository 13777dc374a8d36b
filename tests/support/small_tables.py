"""A small domain of two indicators, three cells each, and publications of it: exact, rounded, sums
of visible countries, withheld.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.results import Publication
from sdc_tasks.model.table import CellSpace
from sdc_tasks.report import Edition, table_text, write_whole

DOMAIN = """
id: small
title: A small domain
structure_id: "TEST:SMALL(1.0)"
areas: {dimension: REF_AREA, codelist: area.csv}
aggregates: [{code: EU, label: The union, members: all}]
indicators:
  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}
  - {code: WAGES, label: Wages, unit: EUR, decimals: 2, signed: true}
hierarchies: [{dimension: ACTIVITY, codelist: activity.csv}, {dimension: SIZECLASS, codelist: size.csv}]
flags: {F: {role: public}}
"""
INSTANT = datetime(2025, 3, 1, 11, 0, 0, 123456, tzinfo=UTC)


def small_domain(folder: Path, text: str = DOMAIN, areas: str = "AT,EU\nBE,EU\n") -> Domain:
    """The domain, written to this folder."""
    (folder / "area.csv").write_text(f"code,parent\n{areas}")
    (folder / "activity.csv").write_text("code,parent\nA,\n")
    (folder / "size.csv").write_text("code,parent\n_T,\nS,_T\nL,_T\n")
    (folder / "small.yaml").write_text(text)
    return load_domain(folder / "small.yaml")


def publication(domain: Domain, cells: list[tuple[float, ...]]) -> Publication:
    """(value, base) of each cell, with a third number for the share that a sum of visible
    countries covers.
    """
    first = domain.space.size - domain.space.national_size
    value, base, covers = np.array([(*cell, 0.0)[:3] for cell in cells]).T
    return Publication(np.arange(first, domain.space.size), value, base, covers)


def edition(domain: Domain, cells: Any) -> Edition:
    """A first version with these cells, released at INSTANT."""
    return Edition(
        domain,
        domain.space,
        "2024",
        publication(domain, list(cells)),
        1,
        INSTANT,
        ("The whole table was attacked.",),
    )


def write_table(path: Path, domain: Domain, space: CellSpace, period: str, publication: Publication) -> None:
    """Writes `table.csv` of any publication, small or not."""
    write_whole(path, table_text(domain, space, period, publication))


WITHHELD = (np.nan, np.inf)
MIXED = [(1e12, 0.0), (1500.0, 500.0), WITHHELD, (0.01, 0.0), (-12.5, 0.5), WITHHELD]


VISIBLE = [*MIXED[:2], (950.0, np.inf, 0.95), *MIXED[3:]]
BASES = st.sampled_from([mantissa * 10.0**k for k in range(-1, 9) for mantissa in (1, 2, 5)])
ROUNDED = st.tuples(st.integers(-(10**6), 10**6).filter(bool), BASES).map(
    lambda cell: (cell[0] * cell[1], cell[1])
)


def cell(decimals: int) -> st.SearchStrategy[tuple[float, ...]]:
    exact = st.integers(-(10**14), 10**14).map(lambda units: (units / 10**decimals, 0.0))
    visible = st.tuples(
        st.integers(0, 10**14).map(lambda units: units / 10**decimals), st.just(np.inf), st.floats(1e-6, 1)
    )
    return st.one_of(exact, ROUNDED, visible, st.just(WITHHELD))


CELLS = st.tuples(*(cell(0) for _ in range(3)), *(cell(2) for _ in range(3)))
