"""A statistic of three tables at the desk: of 2023 one of two tables is out, decided together with the other;
of 2024 two are complete, and one country has sent the third.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdc_tasks import steps
from support.statistic import AT_MAIN, Office, two_tables

SECRETS = (700.0, 200.0)  # the primaries of Austria
CALENDAR = """
calendar:
  cycles:
    "2023": {opens: 2024-01-01T00:00, deliveries: 2024-03-31T16:00, embargo: 2024-06-30T11:00}
    "2024": {opens: 2025-01-01T00:00, deliveries: 2025-03-31T16:00, embargo: 2099-06-30T11:00}
"""


@dataclass(frozen=True)
class StatisticOffice:
    """The office, and the address of its warehouse."""

    tables: Office

    @property
    def url(self) -> str:
        return self.tables.warehouse

    def receive(self, name: str, period: str) -> None:
        """Takes in the deliveries of a table, and releases nothing."""
        at = self.tables.folder
        desk = steps.open_desk(self.url, at / f"{name}.yaml", period, actor="operator")
        inbox = at / f"{name}-{period}"
        for each in steps.discover(desk, inbox):
            steps.ingest(desk, inbox, each.file)


def open_statistic(folder: Path) -> StatisticOffice:
    """Makes it all in `folder`."""
    for period in ("2023", "2024"):
        office = two_tables(folder, period)
    linked = {"main": "sizes, regions", "sizes": "main, regions", "regions": "main, sizes"}
    dimensions = {"main": "ACTIVITY", "sizes": "ACTIVITY SIZECLASS", "regions": "ACTIVITY REGION"}
    for name, others in linked.items():
        more = f"linked: {{tables: [{others}], together: true}}\n{CALENDAR}"
        office.domain(name, dimensions[name], more=more)
    drawn = [line.split() for line in AT_MAIN.splitlines()]
    regions = "\n".join(f"{code} _N {value} {flag}" for code, value, flag in drawn)
    regions += "\n" + "\n".join(
        f"{code} {part} {int(value) // 2} {'D' if flag == 'A' else flag}"
        for code, value, flag in drawn
        for part in ("N1", "N2")
    )
    office.deliver("regions", "2024", "ACTIVITY REGION", AT=regions)
    made = StatisticOffice(office)
    made.receive("sizes", "2023")
    assert office.release("main", "2023").code == 0
    for name in dimensions:
        made.receive(name, "2024")
    return made
