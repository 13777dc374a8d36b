"""A statistic of three linked tables on disk: a deep table by activity, one by size class and one by region,
of the same enterprises, each protected beside the others.

    main       every activity
    sizes      activities down to a coarser level × size classes
    regions    activities down to a still coarser level × regions of the country

A country that publishes three tables of the same enterprises hides the same cells in each of them: it looks
for its secondaries in all tables at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sdc_tasks.demo.delivery import FlaggedTable, protect_linked, serialise, wire_of
from sdc_tasks.demo.enterprises import Economy, Enterprises, Microtable, enterprises, table_of
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
from sdc_tasks.model.table import CellSpace, Ints
from sdc_tasks.model.time.periods import canonical

MAIN, SIZES, REGIONS = TABLES = ("main", "sizes", "regions")
FINEST = {SIZES: (2, 120), REGIONS: (4, 60)}  # of so many activities each one, and at most so many
NATION = "_T"


def write_statistic(
    folder: Path,
    countries: int = 27,
    activities: int = 120,
    sizes: int = 5,
    regions: int = 8,
    seed: int = 1,
    period: str = "2024",
    indicators: int = 1,
    euro_area: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Path]:
    """Writes `<folder>/<table>.yaml`, `codelists/` and `inbox/<table>/<COUNTRY>_<PERIOD>.csv` of the three
    tables; returns the domain files by the name of the table. `progress(country, done, total)` is called
    after the deliveries of each country. Raises ValueError for a shape without room for three tables.
    """
    canonical(period)  # refused before anything is written
    files = _write_domains(folder, (countries, activities, sizes, regions), indicators, euro_area)
    domains = {name: load_domain(path).of(period) for name, path in files.items()}
    economy = Economy(seed)
    finest = domains[MAIN].space.hierarchies[0], domains[SIZES].space.hierarchies[1]
    for number, country in enumerate(domains[MAIN].countries):
        found = enterprises(economy, number, country, finest)
        region = _regions_of(economy, number, found, regions)
        tables = {name: _tables(domain.space, found, region, indicators) for name, domain in domains.items()}
        flagged = protect_linked([(tables[name], domains[name]) for name in TABLES])
        for name, table in zip(TABLES, flagged, strict=True):
            _deliver(folder / "inbox" / name, table, domains[name], country, period, number)
        if progress is not None:
            progress(country, number + 1, countries)
    return files


def _deliver(
    inbox: Path, table: FlaggedTable, domain: Domain, country: str, period: str, number: int
) -> None:
    inbox.mkdir(parents=True, exist_ok=True)
    data = serialise(table, domain, country, period, wire_of(number))
    (inbox / f"{country}_{period}.csv").write_bytes(data)


def _write_domains(
    folder: Path, shape: tuple[int, int, int, int], indicators: int, euro_area: bool
) -> dict[str, Path]:
    countries, activities, sizes, regions = shape
    if countries < 2 or activities < 12 or sizes < 2 or regions < 2:
        raise ValueError(
            "a statistic needs at least 2 countries, 12 activities, 2 size classes and 2 regions"
        )
    every = activities_of(activities)
    lists: dict[str, Rows] = {
        "areas": areas_of(countries),
        MAIN: every,
        **{name: complete_cut(every, min(activities // part, most)) for name, (part, most) in FINEST.items()},
        "size": sizes_of(sizes),
        "region": [(NATION, "", "Whole country")]
        + [(f"R{i}", NATION, f"Region {i} of {regions}") for i in range(1, regions + 1)],
    }
    written = {name: _settings(name, shape, lists, indicators, euro_area) for name in TABLES}
    (folder / "codelists").mkdir(parents=True, exist_ok=True)
    for name, rows in lists.items():
        (folder / "codelists" / f"{name}.csv").write_bytes(csv_of(rows))
    files = {name: folder / f"sbs_{name}.yaml" for name in TABLES}
    for name, settings in written.items():
        text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=140)
        files[name].write_text(text, encoding="utf-8")
    return files


def _settings(
    name: str,
    shape: tuple[int, int, int, int],
    lists: Mapping[str, Rows],
    indicators: int,
    euro_area: bool,
) -> dict[str, Any]:
    """The keys of the domain file of a table."""
    settings = settings_of(*shape[:3], indicators)
    if euro_area:
        add_euro_area(settings, [code for code, *_ in lists["areas"]])
    settings["id"] = f"sbs_{name}"
    settings["title"] = f"A statistic of three tables (demonstration): {name}"
    settings["structure_id"] = f"ESTAT:SBS_{name.upper()}(1.0)"
    settings["areas"]["codelist"] = "codelists/areas.csv"
    of = {"ACTIVITY": name} | ({"SIZECLASS": "size"} if name == SIZES else {})
    of |= {"REGION": "region"} if name == REGIONS else {}
    settings["hierarchies"] = [
        {"dimension": dimension, "codelist": f"codelists/{code}.csv", "label": dimension.lower()}
        for dimension, code in of.items()
    ]
    others = [f"sbs_{other}" for other in TABLES if other != name]
    settings["linked"] = {"tables": others, "periods": "sum", "together": True}
    return settings


def _regions_of(economy: Economy, number: int, found: Enterprises, regions: int) -> Ints:
    """(enterprises,): the region of each. The first one, of the capital, is the largest."""
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(economy.seed, spawn_key=(4, number))))
    share = rng.dirichlet(np.linspace(6, 2, regions))
    return np.asarray(rng.choice(regions, size=len(found.activity), p=share), dtype=np.int64)


def _tables(space: CellSpace, found: Enterprises, region: Ints, indicators: int) -> Mapping[str, Microtable]:
    """The table of each indicator over the hierarchies of a space."""
    by = {"ACTIVITY": found.activity, "SIZECLASS": found.size}
    axes = [
        np.array([f"R{i + 1}" for i in range(int(region.max(initial=0)) + 1)])[region]
        if hierarchy.dimension == "REGION"
        else np.array(found.names[hierarchy.dimension])[by[hierarchy.dimension]]
        for hierarchy in space.hierarchies
    ]
    return {
        name: table_of(amounts, axes, space.hierarchies, found.above)
        for name, amounts in list(found.amounts.items())[:indicators]
    }
