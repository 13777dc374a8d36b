"""A whole demonstration on disk: a domain file, its code lists, and an inbox with one delivery per country.

Everything follows from the arguments: the same arguments give the same bytes, and a country's delivery does
not depend on how many others are written. No real enterprise or statistic is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sdc_tasks.demo.delivery import protect, serialise, wire_of
from sdc_tasks.demo.enterprises import Economy, microtables
from sdc_tasks.demo.shape import write_domain
from sdc_tasks.domains import load_domain


def write_demo(
    folder: Path,
    countries: int = 27,
    activities: int = 120,
    sizes: int = 5,
    seed: int = 1,
    period: str = "2024",
    indicators: int = 1,
    euro_area: bool = False,
) -> Path:
    """Writes `<folder>/domain.yaml`, `codelists/` and `inbox/<COUNTRY>_<PERIOD>.csv`;
    returns the path of the domain file.

    `period` is a label: the figures follow from `seed`.
    """
    path = write_domain(folder, countries, activities, sizes, indicators, euro_area)
    write_deliveries(path, seed, period)
    return path


def write_deliveries(
    path: Path, seed: int = 1, period: str = "2024", progress: Callable[[str, int, int], None] | None = None
) -> None:
    """Writes an inbox beside a domain file: two hierarchies, the first indicators of a
    demonstration. `progress(country, done, total)` is called after each delivery.
    """
    domain = load_domain(path)
    inbox = path.parent / "inbox"
    inbox.mkdir(exist_ok=True)
    economy = Economy(seed)
    activity, size = domain.space.hierarchies
    for number, country in enumerate(domain.countries):
        table = protect(
            microtables(economy, number, country, (activity, size), len(domain.indicators)), domain
        )
        (inbox / f"{country}_{period}.csv").write_bytes(
            serialise(table, domain, country, period, wire_of(number))
        )
        if progress is not None:
            progress(country, number + 1, len(domain.countries))
