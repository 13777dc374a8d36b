"""The table as SDMX-JSON 2.0, flat: an observation for each cell, its key the positions of its codes,
values and codes with their labels.

Numbers stand with the decimals of `table.csv`, so a reader who keeps the text loses nothing. The
value of a withheld cell is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sdc_tasks.report.published.edition import NUMBERS, Edition
from sdc_tasks.report.published.words import CONF_STATUS, OBS_STATUS
from sdc_tasks.report.table_csv import OBSERVATION

_SCHEMA = (
    "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/data-message/tools/schemas/2.0.0/"
    "sdmx-json-data-schema.json"
)
_TIME, _VALUE = OBSERVATION[:2]


def sdmx_json(edition: Edition) -> bytes:
    """The message, in UTF-8."""
    plain = (*NUMBERS, *edition.whole)
    codes = {
        name: edition.codes(name) for name in (*edition.dimensions, *edition.attributes) if name not in plain
    }
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
                    **({"values": _values(edition, name, codes[name])} if name in codes else {}),
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
    edition: Edition, observation: Mapping[str, str], at: Mapping[str, Mapping[str, int]]
) -> Iterable[str]:
    """Value and attributes of an observation as JSON. Numbers are the texts of the
    table, which are numbers of JSON too.
    """
    for name in (_VALUE, *edition.attributes):
        text = observation.get(name)
        yield "null" if text is None else str(at[name][text]) if name in at else text


def _values(edition: Edition, name: str, codes: Iterable[str]) -> list[dict[str, str]]:
    labels = {**edition.domain.labels, "OBS_STATUS": OBS_STATUS, "CONF_STATUS": CONF_STATUS}.get(name, {})
    if name == _TIME:
        return [{"value": code} for code in codes]
    return [{"id": code, "name": labels.get(code) or code} for code in codes]


def _written(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1)
