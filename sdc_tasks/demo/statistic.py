"""A statistic of three linked tables on disk: a deep table by activity, one by size class and one by region,
of the same enterprises, each protected beside the others; and quarters of the first indicator, if wanted.

    main       every activity
    sizes      activities down to a coarser level × size classes
    regions    activities down to a still coarser level × regions of the country
    quarters   the activities of regions alone, in each quarter of the year

A country that publishes several tables of the same enterprises hides the same cells in each of them, and in
each quarter: it looks for its secondaries in all tables at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sdc_tasks.demo.delivery import FlaggedTable, protect_linked, serialise, wire_of
from sdc_tasks.demo.enterprises import Economy, Enterprises, Microtable, enterprises, quarters_of, table_of
from sdc_tasks.demo.shape import (
    Rows,
    activities_of,
    add_euro_area,
    areas_of,
    complete_cut,
    csv_of,
    settings_of,
    sizes_of,
)
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.table import Ints
from sdc_tasks.model.time.periods import canonical, months_of

MAIN, SIZES, REGIONS = OF_THE_YEAR = ("main", "sizes", "regions")
QUARTERS = "quarters"
NATION = "_T"


@dataclass(frozen=True)
class StatisticShape:
    """How large a statistic is. `sizes`, `regions`: without their total. `by_size`, `by_region`: at most so
    many activities by size class (of all at most half), by region and by quarter (a quarter of all).
    `quarters`: also a table for each quarter. Raises ValueError where there is no room for three tables.
    """

    countries: int = 27
    activities: int = 120
    sizes: int = 5
    regions: int = 8
    indicators: int = 1
    euro_area: bool = False
    quarters: bool = False
    by_size: int = 120
    by_region: int = 60

    def __post_init__(self) -> None:
        if self.countries < 2 or self.activities < 12 or self.sizes < 2 or self.regions < 2:
            raise ValueError(
                "a statistic needs at least 2 countries, 12 activities, 2 size classes and 2 regions"
            )

    @property
    def tables(self) -> tuple[str, ...]:
        return (*OF_THE_YEAR, QUARTERS) if self.quarters else OF_THE_YEAR

    def finest(self, table: str) -> int:
        """How many activities a table has at most."""
        most = {SIZES: min(self.activities // 2, self.by_size)}
        return most.get(table, min(self.activities // 4, self.by_region))


def write_statistic(
    folder: Path,
    shape: StatisticShape,
    seed: int = 1,
    period: str = "2024",
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Path]:
    """Writes `<folder>/sbs_<table>.yaml`, `codelists/` and `inbox/<table>/<COUNTRY>_<PERIOD>.csv` of each
    table (quarters: a folder for each); returns the domain files by the name of the table.
    `progress(country, done, total)` is called after the deliveries of each country. Raises ValueError for
    quarters of what is no year.
    """
    canonical(period)  # refused before anything is written
    if shape.quarters and months_of(period) != 12:
        raise ValueError(f"quarters are of a year, and {period} is none")
    files = _write_domains(folder, shape)
    domains = {name: load_domain(path).of(period) for name, path in files.items()}
    economy = Economy(seed)
    places = _places(folder / "inbox", shape, period)
    for number, country in enumerate(domains[MAIN].countries):
        flagged = protect_linked(_tables_of(economy, number, domains, shape))
        for (name, of, inbox), table in zip(places, flagged, strict=True):
            _deliver(inbox, table, domains[name], country, of, number)
        if progress is not None:
            progress(country, number + 1, shape.countries)
    return files


def _places(inbox: Path, shape: StatisticShape, period: str) -> list[tuple[str, str, Path]]:
    """(table, period, folder) of each delivery of a country: of the year, then of its quarters."""
    quarters = [f"{period}-Q{number}" for number in range(1, 5)] if shape.quarters else []
    year = [(name, period, inbox / name) for name in OF_THE_YEAR]
    return year + [(QUARTERS, part, inbox / QUARTERS / part) for part in quarters]


def _tables_of(
    economy: Economy, number: int, domains: Mapping[str, Domain], shape: StatisticShape
) -> list[list[tuple[Mapping[str, Microtable], Domain]]]:
    """The tables of a country: those of the year, then that of each quarter."""
    finest = domains[MAIN].space.hierarchies[0], domains[SIZES].space.hierarchies[1]
    found = enterprises(economy, number, domains[MAIN].countries[number], finest)
    region = _regions_of(economy, number, found, shape.regions)
    year = [(_tables(domains[name], found, region), domains[name]) for name in OF_THE_YEAR]
    quarters = quarters_of(economy, number, found) if shape.quarters else ()
    return [year, *([(_tables(domains[QUARTERS], each, region), domains[QUARTERS])] for each in quarters)]


def _deliver(
    inbox: Path, table: FlaggedTable, domain: Domain, country: str, period: str, number: int
) -> None:
    inbox.mkdir(parents=True, exist_ok=True)
    data = serialise(table, domain, country, period, wire_of(number))
    (inbox / f"{country}_{period}.csv").write_bytes(data)


def _write_domains(folder: Path, shape: StatisticShape) -> dict[str, Path]:
    every = activities_of(shape.activities)
    lists: dict[str, Rows] = {
        "areas": areas_of(shape.countries),
        MAIN: every,
        **{name: complete_cut(every, shape.finest(name)) for name in shape.tables if name != MAIN},
        "size": sizes_of(shape.sizes),
        "region": [(NATION, "", "Whole country")]
        + [(f"R{i}", NATION, f"Region {i} of {shape.regions}") for i in range(1, shape.regions + 1)],
    }
    written = {name: _settings(name, shape, lists) for name in shape.tables}
    (folder / "codelists").mkdir(parents=True, exist_ok=True)
    for name, rows in lists.items():
        (folder / "codelists" / f"{name}.csv").write_bytes(csv_of(rows))
    files = {name: folder / f"sbs_{name}.yaml" for name in shape.tables}
    for name, settings in written.items():
        text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=140)
        files[name].write_text(text, encoding="utf-8")
    return files


def _settings(name: str, shape: StatisticShape, lists: Mapping[str, Rows]) -> dict[str, Any]:
    """The keys of the domain file of a table."""
    indicators = 1 if name == QUARTERS else shape.indicators
    settings = settings_of(shape.countries, shape.activities, shape.sizes, indicators)
    if shape.euro_area:
        add_euro_area(settings, [code for code, *_ in lists["areas"]])
    settings["id"] = f"sbs_{name}"
    settings["title"] = f"A statistic of {len(shape.tables)} tables (demonstration): {name}"
    settings["structure_id"] = f"ESTAT:SBS_{name.upper()}(1.0)"
    settings["areas"]["codelist"] = "codelists/areas.csv"
    of = {"ACTIVITY": name} | ({"SIZECLASS": "size"} if name == SIZES else {})
    of |= {"REGION": "region"} if name == REGIONS else {}
    settings["hierarchies"] = [
        {"dimension": dimension, "codelist": f"codelists/{code}.csv", "label": dimension.lower()}
        for dimension, code in of.items()
    ]
    if name == QUARTERS:
        settings["frequency"] = "Q"
    others = [f"sbs_{other}" for other in shape.tables if other != name]
    settings["linked"] = {"tables": others, "periods": "sum", "together": name != QUARTERS}
    return settings


def _regions_of(economy: Economy, number: int, found: Enterprises, regions: int) -> Ints:
    """(enterprises,): the region of each. The first one, of the capital, is the largest."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(economy.seed, spawn_key=(4, number))))
    share = rng.dirichlet(np.linspace(6, 2, regions))
    return np.asarray(rng.choice(regions, size=len(found.activity), p=share), dtype=np.int64)


def _tables(domain: Domain, found: Enterprises, region: Ints) -> Mapping[str, Microtable]:
    """The table of each indicator of a domain."""
    by = {"ACTIVITY": found.activity, "SIZECLASS": found.size}
    axes = [
        np.array([f"R{i + 1}" for i in range(int(region.max(initial=0)) + 1)])[region]
        if hierarchy.dimension == "REGION"
        else np.array(found.names[hierarchy.dimension])[by[hierarchy.dimension]]
        for hierarchy in domain.space.hierarchies
    ]
    return {
        name: table_of(found.amounts[name], axes, domain.space.hierarchies, found.above)
        for name in domain.space.indicators
    }
