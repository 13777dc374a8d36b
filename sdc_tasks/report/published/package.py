"""The descriptor of the Data Package (version 2) of a release: every public file with its size and
digest, and the schema of the table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from sdc_tasks.report.published.edition import NUMBERS, Edition
from sdc_tasks.report.published.words import COLUMNS

_PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
_TABLE = "table"
_KINDS = {".csv": _TABLE, ".parquet": _TABLE, ".json": "json"}  # frictionless takes another .json for a table


def descriptor(edition: Edition, files: Mapping[str, bytes], about: Mapping[str, tuple[str, str]]) -> bytes:
    """`files` are those that it describes; `about` gives the title and the media type of each."""
    resources = []
    for name, content in files.items():
        title, media_type = about[name]
        kind = _KINDS.get(PurePath(name).suffix)
        resources.append(
            {
                "name": name.replace(".", "-"),
                "path": name,
                "title": title,
                "format": PurePath(name).suffix[1:],
                "mediatype": media_type,
                "bytes": len(content),
                "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
                **({"type": kind} if kind else {}),
                **({"schema": _schema(edition)} if kind == _TABLE else {}),
                **({"encoding": "utf-8"} if not name.endswith(".parquet") else {}),
            }
        )
    package = {
        "$schema": _PROFILE,
        "name": edition.name.lower(),
        "title": f"{edition.domain.title}, {edition.period}",
        "version": f"{edition.version}.0.0",
        "created": edition.instant,
        "publication": edition.publication.digest,
        "resources": resources,
    }
    return (json.dumps(package, ensure_ascii=False, indent=1) + "\n").encode()


def _schema(edition: Edition) -> dict[str, Any]:
    """Of the columns of the table. What a column holds is told by its label, or by `COLUMNS`."""
    domain = edition.domain
    told = {
        **COLUMNS,
        **{source.dimension: source.name for source in (domain.areas, *domain.hierarchies)},
        domain.indicator_dimension: "Indicator",
        str(domain.attributes.unit): "Unit of OBS_VALUE and ROUNDING_BASE",
        str(domain.attributes.unit_multiplier): "Power of ten of the unit",
    }
    fields: list[dict[str, Any]] = []
    for name in edition.columns:
        kind = "number" if name in NUMBERS else "integer" if name in edition.whole else "string"
        required = {"constraints": {"required": True}} if name in edition.dimensions else {}
        fields.append({"name": name, "type": kind, "title": told.get(name, name), **required})
    return {"fields": fields, "primaryKey": list(edition.dimensions), "missingValues": [""]}
