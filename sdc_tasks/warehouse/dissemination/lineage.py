"""The lineage of a published cell: deliveries, settings, program and solvers, seeds, the
rungs, the audit, the approvals.

Everything comes from the operations and dissemination schemas: no confidential byte is read or returned.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, select

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.claim import claim_of
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import reading
from sdc_tasks.warehouse.database.schema import eu_cell, terms
from sdc_tasks.warehouse.database.sqlfiles import SQL

SOURCES = Path(__file__).parents[2]
# The packages that compute: the program, its solvers (CBC comes with PuLP, HiGHS with highspy, Clp
# with cylp), and their libraries.
PACKAGES = (
    "sdc-release",
    "cylp",
    "highspy",
    "pulp",
    "numpy",
    "scipy",
    "pandas",
    "great-expectations",
    "sqlalchemy",
    "apache-airflow",
)


@cache
def environment() -> str:
    """The running program as JSON: versions, and a digest of its source files."""
    h = hashlib.sha256()
    here = (
        path
        for path in SOURCES.rglob("*")
        if path.suffix in {".py", ".yaml", ".csv", ".j2"} and not path.is_relative_to(SQL)
    )
    for path in sorted(
        here
    ):  # `sql/` stores, and computes nothing; it lies in the package only where that was installed
        h.update(str(path.relative_to(SOURCES)).encode() + b"\0" + path.read_bytes() + b"\0")
    found = {"python": platform.python_version(), "source": h.hexdigest()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return json.dumps(found, sort_keys=True)


def explain(engine: Engine, release_id: str, cell: str) -> dict[str, Any]:
    """The lineage of a released cell. Raises InvalidInput where there is no such
    release, or no such cell in it.
    """
    release = _released(engine, release_id)
    submitted = next(iter(reader.submissions(engine, release_id)), None)
    [audit] = [each for each in reader.audits(engine, release_id) if each["digest"] == release.audit_digest]
    with reading(engine) as connection:
        found = _stored_cell(connection, release, cell)
        asked = submitted and {"domain": release.domain, "digest": submitted["terms_digest"]}
        settings = connection.execute(select(terms).filter_by(**asked)).mappings().one() if asked else None
    certificate = json.loads(audit["certificate"])
    claim = claim_of(certificate)
    return {
        "release": vars(release),
        "cell": _some(found, "cell", "value", "obs_status", "conf_status", "rounding_base", "visible_share"),
        "deliveries": _deliveries(
            engine, release, certificate["digests"].get("deliveries", ()), found["area"], settings
        ),
        "terms": settings and _some(settings, "digest", "profiles", "approvals", "retention_days"),
        "settings": settings and json.loads(settings["settings"]),
        "program": submitted and json.loads(submitted["environment"]),
        "submitted": submitted and _some(submitted, "submitter", "submitted_at"),
        "approvals": [
            _some(each, "approver", "approved_at", "note") for each in reader.approvals(engine, release_id)
        ],
        "rungs": reader.rungs(engine, release_id),
        "audit": {
            **_some(audit, "digest", "profiles", "passed", "primaries", "broken", "lps", "audited_at"),
            "verdict": claim.verdict,
            "claim": claim.sentence,
            "attackers": claim.attackers,
        },
        "digests": certificate["digests"],
    }


def _released(engine: Engine, release_id: str) -> reader.ReleaseInfo:
    """The release by its id. Raises InvalidInput where it is not out."""
    found = next((each for each in reader.releases(engine) if each.release_id == release_id), None)
    if found is None:
        raise InvalidInput(
            f"release {release_id} was not published. Remedy: give an id as the page Releases shows it"
        )
    return found


def _stored_cell(connection: Connection, release: reader.ReleaseInfo, cell: str) -> Mapping[Any, Any]:
    """The row of a published cell. Raises InvalidInput where the release has none of this key."""
    key = {name: getattr(release, name) for name in ("domain", "period", "publication_digest")}
    found = connection.execute(select(eu_cell).filter_by(**key, cell=cell)).mappings().one_or_none()
    if found is None:
        raise InvalidInput(
            f"release {release.release_id} has no cell {cell}; a cell is written as in audit.json, such as "
            f"EU.TURNOVER.TOTAL._T"
        )
    return found


def _some(row: Mapping[Any, Any], *columns: str) -> dict[str, Any]:
    """These columns of a row."""
    return {name: row[name] for name in columns}


def _deliveries(
    engine: Engine, release: reader.ReleaseInfo, digests: list[str], area: str, settings: Any
) -> list[dict[str, Any]]:
    """The deliveries of the release. `adds`: the cell is a sum of their values; otherwise it was
    only decided together with them.
    """
    known = {each["digest"]: each for each in reader.deliveries(engine, release.domain, release.period)}
    asked = json.loads(settings["settings"])["aggregates"] if settings else []
    members = next(
        (each["members"] for each in asked if area in (each["code"], each.get("partial_code"))), "all"
    )
    return [
        {
            "country": known[digest]["country"],
            "file": known[digest]["file"],
            "digest": digest,
            "received_at": known[digest]["received_at"],
            "adds": members == "all" or known[digest]["country"] in members,
        }
        for digest in digests
    ]
