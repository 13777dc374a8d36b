"""The domain of a demonstration: `sbs` itself, or a smaller or larger relative of it.

- default shape (27 countries, 120 activities, 5 size classes): a copy of `sbs.yaml` and its
  code lists, so that the ids agree;
- fewer countries or activities: the first ones of the list. The activities stand parents
  first, so a first part of them is a
  tree; where it would end in an only child, the next code that has a sibling takes its place;
- more countries: invented ones (X01, X02 …); more activities: leaves of the list are split
  into two to four parts, in order;
- other numbers of size classes: S1 … Sn from small to large;
- more indicators: the first ones of `INDICATORS`. Value added is the sum of personnel costs and surplus;
- the euro area as a second composition.
"""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import yaml

from sdc_tasks.demo.enterprises import INDICATORS
from sdc_tasks.domains import load_domain, schema

SHIPPED = schema.HERE
Rows = list[tuple[str, str, str]]
LABELS = (
    "Turnover",
    "Value added",
    "Personnel costs",
    "Gross operating surplus",
    "Purchases of goods and services",
)
SUM, *PARTS = INDICATORS[1:4]
EURO_AREA = "AT BE CY DE EE EL ES FI FR HR IE IT LT LU LV MT NL PT SI SK"  # from 2023 to 2025


def write_domain(
    folder: Path, countries: int, activities: int, sizes: int, indicators: int = 1, euro_area: bool = False
) -> Path:
    """Writes `domain.yaml` and `codelists/` and returns the path of the former."""
    if countries < 1 or activities < 3 or sizes < 2:
        raise ValueError("a demonstration needs at least 1 country, 3 activities and 2 size classes")
    if not 1 <= indicators <= len(INDICATORS):
        raise ValueError(f"a demonstration has 1 to {len(INDICATORS)} indicators")
    (folder / "codelists").mkdir(parents=True, exist_ok=True)
    path = folder / "domain.yaml"
    if (countries, activities, sizes, indicators, euro_area) == (*_shipped_shape(), 1, False):
        shutil.copyfile(SHIPPED / "sbs.yaml", path)
        for codelist in _codelists().values():
            shutil.copyfile(SHIPPED / codelist, folder / codelist)
        return path
    lists = {"areas": areas_of(countries), "activities": activities_of(activities), "sizes": sizes_of(sizes)}
    settings = settings_of(countries, activities, sizes, indicators)
    if euro_area:
        add_euro_area(settings, [code for code, *_ in lists["areas"]])
    for source, (name, rows) in zip(
        (settings["areas"], *settings["hierarchies"]), lists.items(), strict=True
    ):
        source["codelist"] = f"codelists/{name}.csv"
        (folder / source["codelist"]).write_bytes(csv_of(rows))
    path.write_text(
        yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=140), encoding="utf-8"
    )
    return path


def settings_of(countries: int, activities: int, sizes: int, indicators: int) -> dict[str, Any]:
    """The keys of `sbs.yaml` under another id, so that nobody takes one shape's releases for another's."""
    settings: dict[str, Any] = yaml.safe_load((SHIPPED / "sbs.yaml").read_text(encoding="utf-8"))
    settings["id"] = f"sbs_{countries}x{activities}x{sizes}" + (f"x{indicators}" if indicators > 1 else "")
    settings["title"] = (
        f"{settings['title']} (demonstration: {countries} countries, {activities} activities, {sizes} size "
        f"classes)"
    )
    settings["aggregates"][0]["label"] = f"All {countries} countries of the demonstration"
    (turnover,) = settings["indicators"]
    named = zip(INDICATORS[:indicators], LABELS, strict=False)
    settings["indicators"] = [turnover | {"code": code, "label": label} for code, label in named]
    if {SUM, *PARTS} <= set(INDICATORS[:indicators]):
        settings["indicator_relations"] = [{"total": SUM, "parts": PARTS}]
        for each in settings["indicators"]:
            if each["code"] in {SUM, *PARTS}:
                each["absent"] = "zero"  # sums over activities do not show it: all three may be missing
    return settings


def add_euro_area(settings: dict[str, Any], areas: list[str]) -> None:
    """Adds the euro area to the compositions. Raises ValueError for too few members among `areas`."""
    members = [code for code in EURO_AREA.split() if code in areas]
    if not 2 <= len(members) < len(areas):
        raise ValueError(
            "the euro area needs two members, and a country outside, among the countries of the demonstration"
        )
    settings["id"] += "_ea"
    settings["aggregates"].append(
        {"code": "EA20", "label": "Euro area of the demonstration", "members": members}
    )


def _shipped_shape() -> tuple[int, int, int]:
    countries, activities, sizes = (len(_read(codelist)) for codelist in _codelists().values())
    return countries, activities, sizes - 1  # the total is not a size class


def _codelists() -> dict[str, str]:
    """dimension → file of `sbs`: areas, activities, size classes."""
    domain = load_domain("sbs")
    return {source.dimension: str(source.codelist) for source in (domain.areas, *domain.hierarchies)}


def _read(codelist: str) -> Rows:
    with (SHIPPED / codelist).open(newline="", encoding="utf-8") as lines:
        return [(row["code"], row["parent"], row["label"]) for row in csv.DictReader(lines)]


def csv_of(rows: Rows) -> bytes:
    """A code list as a file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("code", "parent", "label"), *rows])
    return text.getvalue().encode()


def areas_of(count: int) -> Rows:
    """The first countries, and invented ones beyond them, as rows of a code list."""
    known = _read(_codelists()["REF_AREA"])
    more = [(f"X{i:02d}", known[0][1], f"Invented country {i}") for i in range(1, count - len(known) + 1)]
    return known[:count] + more


def sizes_of(count: int) -> Rows:
    """So many size classes and their total."""
    known = _read(_codelists()["SIZECLASS"])
    if count == len(known) - 1:
        return known
    total = known[0]
    return [total] + [
        (f"S{i}", total[0], f"Size class {i} of {count}, from small to large") for i in range(1, count + 1)
    ]


def activities_of(count: int) -> Rows:
    """A tree of so many activities: a first part of the list, or one with split leaves."""
    known = _read(_codelists()["ACTIVITY"])
    return _cut(known, count) if count <= len(known) else _grown(known, count)


def _cut(rows: Rows, count: int) -> Rows:
    """The first `count` codes of a tree listed parents first, without an only child at the end."""
    chosen, last = rows[: count - 1], rows[count - 1]
    with_children = {parent for _, parent, _ in chosen}
    if last[1] not in with_children:
        last = next(row for row in rows[count - 1 :] if row[1] in with_children)
    return [*chosen, last]


def complete_cut(rows: Rows, most: int) -> Rows:
    """The upper part of a tree, with at most so many codes: of each total either all parts or none."""
    chosen, parts = [rows[0]], dict[str, Rows]()
    for row in rows[1:]:
        parts.setdefault(row[1], []).append(row)
    for code, *_ in chosen:  # the list grows by what is below
        below = parts.get(code, [])
        if len(chosen) + len(below) <= most:
            chosen += below
    return chosen


def _grown(rows: Rows, count: int) -> Rows:
    """Splits leaves, first come first, until there are `count` codes; a single code too
    many becomes a part of the root.
    """
    grown, position = list(rows), 0
    if count - len(grown) == 1:
        return [*grown, ("X", rows[0][0], "Invented activity")]
    parents = {parent for _, parent, _ in rows}
    while missing := count - len(grown):
        code, _, label = grown[position]
        position += 1
        if code in parents:
            continue
        parts = missing if missing <= 4 else 3
        grown += [(f"{code}{i}", code, f"{label}: invented part {i}") for i in range(1, parts + 1)]
    return grown
