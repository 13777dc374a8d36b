"""Data messages of SDMX-ML, written from the records of SDMX-CSV 1.0: by series or flat, attributes at every
level.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from xml.sax.saxutils import quoteattr

NS = "http://www.sdmx.org/resources/sdmxml/schemas/v{version}"
DIMENSIONS = ("FREQ", "REF_AREA", "INDICATOR", "ACTIVITY", "SIZECLASS")
AT_THE_SET = ("UNIT_MEASURE",)
IN_GROUPS = ("UNIT_MULT",)  # of a country and an indicator


def records_of(text: str) -> list[dict[str, str]]:
    return [
        {name: value for name, value in row.items() if value} for row in csv.DictReader(io.StringIO(text))
    ]


def message(
    text: str,
    version: str = "2_1",
    generic: bool = False,
    flat: bool = False,
    levels: bool = False,
    action: str = "Replace",
    header: str = "<mes:Test>false</mes:Test>",
) -> str:
    """The message of these records. `levels`: attributes that are alike stand at the
    data set, a group or the series.
    """
    records = records_of(text)
    structure = records[0].pop("DATAFLOW")
    for record in records[1:]:
        del record["DATAFLOW"]
    high: dict[str, str] = {}
    groups: list[dict[str, str]] = []
    if levels:
        high = {name: records[0][name] for name in AT_THE_SET}
        key = {name: records[0][name] for name in ("REF_AREA", "INDICATOR")}
        groups = [key | {name: records[0][name] for name in IN_GROUPS}]
        for record in records:
            for name in (*AT_THE_SET, *IN_GROUPS):
                del record[name]
    write = _generic if generic else _specific
    kind = "GenericData" if generic else "StructureSpecificData"
    namespaces = (
        f'xmlns:mes="{NS}/message" xmlns:com="{NS}/common" xmlns:gen="{NS}/data/generic" '
        f'xmlns:ss="{NS}/data/structurespecific"'
    )
    at = "AllDimensions" if flat else "TIME_PERIOD"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<mes:{kind} {namespaces.format(version=version)}>
<mes:Header><mes:ID>X</mes:ID>{header}
<mes:Structure structureID="S" dimensionAtObservation="{at}">
<com:StructureUsage>{_named(structure, version)}</com:StructureUsage></mes:Structure>
</mes:Header>
{write(records, high, groups, flat, action)}
</mes:{kind}>
"""


def _named(structure: str, version: str) -> str:
    agency, _, rest = structure.partition(":")
    if version != "2_1":
        return f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={structure}"
    return (
        f'<Ref agencyID="{agency}" id="{rest[: rest.index("(")]}" '
        f'version="{rest[rest.index("(") + 1 : -1]}"/>'
    )


def _series(records: Sequence[dict[str, str]]) -> Iterable[tuple[dict[str, str], list[dict[str, str]]]]:
    """The key of each series with its observations."""
    for _, mine in groupby(records, key=lambda record: [record[name] for name in DIMENSIONS]):
        together = list(mine)
        key = {name: together[0][name] for name in DIMENSIONS}
        yield (
            key,
            [
                {name: value for name, value in record.items() if name not in DIMENSIONS}
                for record in together
            ],
        )


def _written(what: Mapping[str, str]) -> str:
    return " ".join(f"{name}={quoteattr(value)}" for name, value in what.items())


def _specific(
    records: Sequence[dict[str, str]],
    high: Mapping[str, str],
    groups: Sequence[dict[str, str]],
    flat: bool,
    action: str,
) -> str:
    lines = [f'<mes:DataSet ss:structureRef="S" ss:action="{action}" {_written(high)}>']
    lines += [f"<Group {_written(group)}/>" for group in groups]
    if flat:
        lines += [f"<Obs {_written(record)}/>" for record in records]
    else:
        for key, observations in _series(records):
            lines += [
                f"<Series {_written(key)}>",
                *(f"<Obs {_written(each)}/>" for each in observations),
                "</Series>",
            ]
    return "\n".join([*lines, "</mes:DataSet>"])


def _values(element: str, what: Mapping[str, str]) -> str:
    inside = "".join(f'<gen:Value id="{name}" value={quoteattr(value)}/>' for name, value in what.items())
    return f"<gen:{element}>{inside}</gen:{element}>" if what else ""


def _generic(
    records: Sequence[dict[str, str]],
    high: Mapping[str, str],
    groups: Sequence[dict[str, str]],
    flat: bool,
    action: str,
) -> str:
    lines = [f'<mes:DataSet structureRef="S" action="{action}">', _values("Attributes", high)]
    for group in groups:
        key = {name: value for name, value in group.items() if name in DIMENSIONS}
        rest = {name: value for name, value in group.items() if name not in DIMENSIONS}
        lines.append(
            f'<gen:Group type="G">{_values("GroupKey", key)}{_values("Attributes", rest)}</gen:Group>'
        )
    if flat:
        for record in records:
            key = {name: record[name] for name in (*DIMENSIONS, "TIME_PERIOD")}
            lines.append(f"<gen:Obs>{_values('ObsKey', key)}{_observation(record, key)}</gen:Obs>")
    else:
        for key, observations in _series(records):
            lines.append(f"<gen:Series>{_values('SeriesKey', key)}")
            for each in observations:
                at = f'<gen:ObsDimension value="{each["TIME_PERIOD"]}"/>'
                lines.append(f"<gen:Obs>{at}{_observation(each, {'TIME_PERIOD': ''})}</gen:Obs>")
            lines.append("</gen:Series>")
    return "\n".join([*lines, "</mes:DataSet>"])


def _observation(record: Mapping[str, str], key: Mapping[str, str]) -> str:
    value = f"<gen:ObsValue value={quoteattr(record['OBS_VALUE'])}/>" if "OBS_VALUE" in record else ""
    return value + _values(
        "Attributes", {name: text for name, text in record.items() if name not in (*key, "OBS_VALUE")}
    )
