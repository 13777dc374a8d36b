"""From Eurostat's figures to national deliveries: `python docs/tutorial/deliveries.py 2017 FOLDER`; with
`sizes` after it, a second table: turnover by size class.

An office has the deliveries already. Here the country's own table must be made of what everybody can read.
What Luxembourg hides in 2017 nobody outside knows; its public figures of 2016 stand in for it. The size
classes are invented: nobody publishes them.
"""

import csv
import sys
from pathlib import Path

FIGURES = Path(__file__).with_name("figures.csv")
AGGREGATES = {"EU27_2020", "EU28"}
OUTSIDE = {"AL", "BA", "CH", "IS", "LI", "ME", "MK", "NO", "RS", "TR", "XK"}
UNITS = {
    "V11110": ("NR", 0, 0),
    "V12110": ("EUR", 6, 1),
    "V12150": ("EUR", 6, 1),
    "V15110": ("EUR", 6, 1),
    "V16110": ("NR", 0, 0),
}
HEADER = (
    "DATAFLOW,FREQ,GEO,INDIC_SB,NACE_R2,TIME_PERIOD,OBS_VALUE,UNIT_MEASURE,UNIT_MULT,OBS_STATUS,CONF_STATUS"
)
SIZES = HEADER.replace("NACE_R2,", "NACE_R2,SIZE_EMP,")


def main(year: str, folder: Path, by_size: bool = False) -> None:
    files: dict[str, list[str]] = {}
    with FIGURES.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            country, indicator = row["geo\\TIME_PERIOD"], row["indic_sb"]
            if country in AGGREGATES | OUTSIDE:
                continue
            value, marks = row[f"{year}_value"], row[f"{year}_flag"].split()
            confidential = not value and bool({"@C", "c"} & set(marks))
            if confidential:
                value, marks = row["2016_value"], []
            if not value:  # `:` not available: this country sends nothing
                continue
            unit, power, places = UNITS[indicator]
            status = marks[0][0].upper() if marks else "A"
            flag, key = "C" if confidential else "F", ("A", country, indicator, "C2229")
            records = files.setdefault(country, [SIZES if by_size else HEADER])
            if not by_size:
                record = ("TEST:C2229(1.0)", *key, year, f"{float(value):.{places}f}", unit, str(power))
                records.append(",".join((*record, status, flag)))
            elif indicator == "V12110":
                small = round(float(value) * (0.2 + len(files) % 5 / 20), 1)
                for size, part in (("_T", float(value)), ("S", small), ("L", float(value) - small)):
                    record = ("TEST:C2229_SIZES(1.0)", *key, size, year, f"{part:.1f}", unit, str(power))
                    records.append(",".join((*record, status, flag)))
    folder.mkdir(parents=True, exist_ok=True)
    files = {country: records for country, records in files.items() if len(records) > 1}
    for country, records in files.items():
        (folder / f"{country}_{year}.csv").write_text("\n".join([*records, ""]), encoding="utf-8")
    print(f"{len(files)} deliveries in {folder}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), by_size=sys.argv[3:] == ["sizes"])
