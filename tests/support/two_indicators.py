"""A seeded demonstration with a magnitude and a count: turnover, flagged as ever, and enterprises, of
which nobody publishes anything.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sdc_tasks.demo import write_demo

SMALL_COUNT: Mapping[str, Any] = {"method": "small-count", "base": 3}


def write_two_indicators(
    folder: Path,
    countries: int = 4,
    activities: int = 10,
    sizes: int = 3,
    rounding: Mapping[str, Any] = SMALL_COUNT,
) -> Path:
    """Writes a domain with two compositions, all countries and all but the last, and its inbox;
    returns the path of the domain file.
    """
    path = write_demo(folder, countries, activities, sizes)
    domain = yaml.safe_load(path.read_text(encoding="utf-8"))
    with (folder / domain["areas"]["codelist"]).open(newline="", encoding="utf-8") as lines:
        codes = [row["code"] for row in csv.DictReader(lines)]
    members = [code for code in codes if code not in {each["code"] for each in domain["aggregates"]}]
    domain["aggregates"].append({"code": "EU_LESS", "label": "All but the last", "members": members[:-1]})
    domain["indicators"].append(
        {
            "code": "ENTERPRISES",
            "label": "Enterprises",
            "unit": "PURE_NUMB",
            "kind": "count",
            "rounding": rounding,
        }
    )
    domain["flags"]["U"] = {"role": "secondary"}
    path.write_text(yaml.safe_dump(domain, sort_keys=False), encoding="utf-8")
    for file in sorted((folder / "inbox").glob("*.csv")):
        head, *lines_of_file = file.read_text(encoding="utf-8-sig").splitlines()
        separator = ";" if ";" in head else ","
        names = head.split(separator)
        counted = {
            "INDICATOR": "ENTERPRISES",
            "UNIT_MEASURE": "PURE_NUMB",
            "UNIT_MULT": "0",
            "CONF_STATUS": "U",
        }
        more = []
        for line in lines_of_file:
            row = dict(zip(names, line.split(separator), strict=True))
            more.append(
                separator.join(
                    (row | counted | {"OBS_VALUE": row["UNITS"], "SHARE_1": "", "SHARE_2": ""}).values()
                )
            )
        file.write_text("\n".join([head, *lines_of_file, *more, ""]), encoding="utf-8")
    return path
