"""An office that releases several tables of one statistic into one warehouse, from drawings."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.deliveries import DOMAIN, HEADER
from support.desk import Ended, sdc

LISTS = {
    "areas.csv": "code,parent\nAT,EU\nBE,EU\nDE,EU\n",
    "activities.csv": "code,parent\nT,\nX,T\nY,T\n",
    "sizes.csv": "code,parent\n_T,\nS,_T\nL,_T\n",
    "regions.csv": "code,parent\n_N,\nN1,_N\nN2,_N\n",
}
CODELIST = {"ACTIVITY": "activities.csv", "SIZECLASS": "sizes.csv", "REGION": "regions.csv"}
NOTHING = float("-inf"), float("inf")


@dataclass(frozen=True)
class Office:
    """Domain files, deliveries and a warehouse in one folder."""

    folder: Path

    @classmethod
    def new(cls, folder: Path) -> Office:
        for name, content in LISTS.items():
            (folder / name).write_text(content)
        return cls(folder)

    @property
    def warehouse(self) -> str:
        return f"sqlite:///{self.folder / 'warehouse.db'}"

    def domain(self, name: str, dimensions: str = "ACTIVITY", more: str = "", frequency: str = "A") -> Path:
        """The domain file of a table over these dimensions, with `more` at its end."""
        head, tail = DOMAIN[: DOMAIN.index("hierarchies:")], DOMAIN[DOMAIN.index("flags:") :]
        head = head.replace("id: small", f"id: {name}\nfrequency: {frequency}").replace("SMALL", name.upper())
        lists = "".join(f"  - {{dimension: {d}, codelist: {CODELIST[d]}}}\n" for d in dimensions.split())
        file = self.folder / f"{name}.yaml"
        file.write_text(f"{head}hierarchies:\n{lists}{tail}{more}\n")
        return file

    def deliver(
        self, name: str, period: str, dimensions: str = "ACTIVITY", frequency: str = "A", **drawn: str
    ) -> Path:
        """An inbox with the table of each country, drawn as `CODE [CODE] VALUE FLAG` in each line."""
        inbox = self.folder / f"{name}-{period}"
        inbox.mkdir(exist_ok=True)
        head = HEADER.replace("ACTIVITY,SIZECLASS", dimensions.replace(" ", ","))
        for country, drawing in drawn.items():
            rows = []
            for line in drawing.strip().splitlines():
                *at, value, flag = line.split()
                key = f"{frequency},{country},TURNOVER,{','.join(at)},{period}"
                rows.append(f"NSI:{name.upper()}(1.0),{key},{value},EUR,3,A,{flag},,,")
            (inbox / f"{country}_{period}.csv").write_text("\n".join([f"DATAFLOW,{head}", *rows, ""]))
        return inbox

    def release(self, name: str, period: str) -> Ended:
        where = ("--inbox", self.folder / f"{name}-{period}", "--warehouse", self.warehouse)
        domain = self.folder / f"{name}.yaml"
        return sdc("release", "--domain", domain, "--period", period, *where, "--out", self.out(name, period))

    def also(self, names: Sequence[str], period: str = "2024") -> list[str]:
        """The options that receive the deliveries of these tables too."""
        at = self.folder
        return [part for each in names for part in ("--also", f"{at / each}.yaml,{at / each}-{period}")]

    def out(self, name: str, period: str) -> Path:
        return self.folder / "out" / f"{name}-{period}"

    def certificate(self, name: str, period: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out(name, period) / "audit.json").read_text())
        return found

    def published(self, name: str, period: str) -> dict[str, tuple[float, float]]:
        """Codes joined by dots → what the table says of the total of the union: lower and upper end."""
        with (self.out(name, period) / "table.csv").open() as file:
            rows = list(csv.DictReader(file))
        found = {}
        for row in rows:
            codes = ".".join(row[each] for each in CODELIST if each in row)
            half = float(row["ROUNDING_BASE"] or 0) / 2
            value = float(row["OBS_VALUE"]) if row["OBS_VALUE"] else None
            found[codes] = NOTHING if value is None else (value - half, value + half)
        return found


AT_MAIN = "T 1000 F\nX 700 A\nY 300 D"
AT_SIZES = """
    T _T 1000 F
    T S  600  F
    T L  400  F
    X _T 700  A
    X S  500  D
    X L  200  A
    Y _T 300  D
    Y S  100  D
    Y L  200  D
"""
OTHERS = {
    "BE": ("T 900 F\nX 400 F\nY 500 F", "T _T 900 F\nT S 500 F\nT L 400 F\nX _T 400 F\nX S 300 F\n"
           "X L 100 F\nY _T 500 F\nY S 200 F\nY L 300 F"),
    "DE": ("T 1700 F\nX 900 F\nY 800 F", "T _T 1700 F\nT S 900 F\nT L 800 F\nX _T 900 F\nX S 500 F\n"
           "X L 400 F\nY _T 800 F\nY S 400 F\nY L 400 F"),
}  # fmt: skip


def two_tables(folder: Path, period: str = "2024", more: str = "") -> Office:
    """A main table and one by size class, decided together and complete, with `more` in both domain files.
    Austria hides X and Y in both tables; X is primary, and so is X of large ones.
    """
    office = Office.new(folder)
    office.domain("main", more=f"linked: {{tables: [sizes], together: true}}\n{more}")
    office.domain("sizes", "ACTIVITY SIZECLASS", more=f"linked: {{tables: [main], together: true}}\n{more}")
    office.deliver("main", period, AT=AT_MAIN, **{country: each[0] for country, each in OTHERS.items()})
    drawn = {country: each[1] for country, each in OTHERS.items()}
    office.deliver("sizes", period, "ACTIVITY SIZECLASS", AT=AT_SIZES, **drawn)
    return office
