"""The table as SDMX-JSON 2.0, flat: an observation for each cell, its key the positions of its codes,
values and codes with their labels.

A value stands as in `table.csv`, so a reader who keeps the text loses nothing; that of a withheld cell is
null.
Every attribute is a position in a list of its values: a number that stood for itself would be taken for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sdc_tasks.report.published.edition import NUMBERS, Flat
from sdc_tasks.report.published.words import CONF_STATUS, OBS_STATUS
from sdc_tasks.report.table_csv import OBSERVATION

_SCHEMA = (
    "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/data-message/tools/schemas/2.0.0/"
    "sdmx-json-data-schema.json"
)
_TIME, _VALUE = OBSERVATION[:2]


def sdmx_json(edition: Flat) -> bytes:
    """The message, in UTF-8."""
    codes = {name: edition.codes(name) for name in (*edition.dimensions, *edition.attributes)}
    at = {name: {code: i for i, code in enumerate(listed)} for name, listed in codes.items()}
    links = [{"urn": edition.urn, "rel": "dataflow"}]
    structure = {
        "dataSets": [0],
        "links": links,
        "dimensions": {
            "observation": [
                {"id": name, "name": name, "keyPosition": i, "values": _values(edition, name, codes[name])}
                for i, name in enumerate(edition.dimensions)
            ]
        },
        "measures": {"observation": [{"id": _VALUE, "name": _VALUE}]},
        "attributes": {
            "observation": [
                {
                    "id": name,
                    "name": name,
                    "relationship": {"observation": {}},
                    **({"values": _values(edition, name, codes[name])} if codes[name] else {}),
                }
                for name in edition.attributes
            ]
        },
    }
    rows = ",\n".join(
        (
            f'"{":".join(str(at[name][each[name]]) for name in edition.dimensions)}": '
            f"[{', '.join(_contents(edition, each, at))}]"
        )
        for each in edition.observations
    )
    return f"""{{
"meta": {_written(edition.header(_SCHEMA))},
"data": {{
"structures": [{_written(structure)}],
"dataSets": [{{"structure": 0, "action": "Information", "links": {json.dumps(links)}, "observations": {{
{rows}
}}}}]
}}
}}
""".encode()


def _contents(
    edition: Flat, observation: Mapping[str, str], at: Mapping[str, Mapping[str, int]]
) -> Iterable[str]:
    """Value and attributes of an observation as JSON. A value is the text of the table, which is a number of
    JSON too.
    """
    yield observation.get(_VALUE, "null")
    for name in edition.attributes:
        text = observation.get(name)
        yield "null" if text is None else str(at[name][text])


def _values(edition: Flat, name: str, codes: Iterable[str]) -> list[dict[str, str]]:
    labels = {**edition.labels, "OBS_STATUS": OBS_STATUS, "CONF_STATUS": CONF_STATUS}.get(name, {})
    if name in (_TIME, *NUMBERS, *edition.whole):  # what has no list of codes
        return [{"value": code} for code in codes]
    return [{"id": code, "name": labels.get(code) or code} for code in codes]


def _written(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1)
