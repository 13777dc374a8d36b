"""A warehouse with many releases, written straight into its tables: as large as one
wants, without computing anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Table, func, insert, select

from sdc_tasks.domains.schema import Domain
from sdc_tasks.warehouse.database.engine import writing
from sdc_tasks.warehouse.database.schema import (
    alert,
    approval,
    artefact,
    audit,
    check_result,
    cycle,
    dag_run,
    delivery,
    eu_cell,
    finding,
    publication,
    release,
    run,
    rung,
    step,
    submission,
    task_run,
    terms,
)

BEGAN = datetime(2000, 1, 3, 8, tzinfo=UTC)
Rows = dict[Table, list[dict[str, Any]]]


def fill(engine: Engine, domain: Domain, cycles: int, primaries: int = 0) -> list[str]:
    """`cycles` cycles of one release each, all countries of the domain accepted, in a migrated
    warehouse. Returns the releases.

    `primaries` are named in each certificate, as long as those of a real audit.
    """
    asks = {"audit": {"profiles": ["external"]}, "governance": {"approvals": 1}}
    settings = json.dumps({**domain.settings, **asks}, sort_keys=True)
    mine = {"domain": domain.id, "terms_digest": domain.digest}
    with writing(engine) as connection:
        asked = {
            "domain": domain.id,
            "digest": domain.digest,
            "profiles": "external",
            "approvals": 1,
            "settings": settings,
        }
        connection.execute(insert(terms).values(**asked, registered_at=BEGAN))
    return [
        _one(engine, domain, mine, str(1900 + each), primaries, BEGAN + timedelta(days=7 * each))
        for each in range(cycles)
    ]


def _one(
    engine: Engine, domain: Domain, mine: dict[str, str], period: str, primaries: int, began: datetime
) -> str:
    key = {"domain": domain.id, "period": period}
    release_id = f"{domain.id}-{period}-{_digest(period)[:12]}"
    decided = _digest(f"{period} publication")
    told = _certificate(domain, period, decided, primaries)
    certificate = _digest(told)
    by_run = {"dag_id": f"eu_release_{domain.id}", "run_id": f"scheduled__{period}"}
    rows: Rows = {
        cycle: [
            {
                **key,
                **mine,
                "areas": json.dumps(domain.countries),
                "opened_at": began,
                "delivery_due": began,
                "embargo": began,
            }
        ],
        **_deliveries(domain, key, began),
        run: [
            {**key, "release_id": release_id, "state": "published", "started_at": began, "finished_at": began}
        ],
        submission: [
            {
                **key,
                **mine,
                "release_id": release_id,
                "submitter": "operator",
                "embargo": began,
                "environment": "{}",
                "submitted_at": began,
            }
        ],
        step: [
            {
                "release_id": release_id,
                "step": name,
                "key": "",
                "seconds": 1.5,
                "note": "",
                "finished_at": began,
            }
            for name in ("assemble", "baseline", "adjust", "bases", "audit", "verdict", "publish")
        ],
        rung: [
            {
                "release_id": release_id,
                "position": i,
                "method": "auto",
                "outcome": "feasible",
                "objective": 5.0,
                "bound": 4.0,
                "gap": 0.2,
                "seconds": 3.0,
                "reason": "proven within 20 %",
                "unprotected": 0,
                "accepted": i == 1,
                "chosen": i == 1,
            }
            for i in range(2)
        ],
        publication: [{**key, "digest": decided, "cells": len(_cells(domain))}],
        eu_cell: [
            {
                **key,
                "publication_digest": decided,
                "cell": cell,
                "position": i,
                "area": cell.split(".")[0],
                "indicator": cell.split(".")[1],
                "value": None if i % 9 == 8 else 1000.0 * (i + 1),
                "obs_status": "A",
                "conf_status": "F",
                "rounding_base": 100.0 if i % 9 in (3, 5) else None,
                "visible_share": None,
            }
            for i, cell in enumerate(_cells(domain))
        ],
        audit: [
            {
                "release_id": release_id,
                "digest": certificate,
                "problem_digest": _digest(f"{period} problem"),
                "publication_digest": decided,
                "profiles": "external",
                "passed": True,
                "primaries": primaries,
                "broken": 0,
                "lps": 120,
                "certificate": told,
                "audited_at": began,
            }
        ],
        approval: [
            {
                "release_id": release_id,
                "audit_digest": certificate,
                "approver": "approver",
                "publication_digest": decided,
                "audit_passed": True,
                "submitter": "operator",
                "note": "",
                "approved_at": began,
                "account": "file",
            }
        ],
        release: [
            {
                **key,
                "release_id": release_id,
                "version": 1,
                "publication_digest": decided,
                "audit_digest": certificate,
                "audit_passed": True,
                "released_at": began,
                "embargo": began,
            }
        ],
        dag_run: [
            {
                **key,
                **by_run,
                "release_id": release_id,
                "state": "success",
                "triggered_by": "operator",
                "started_at": began,
            }
        ],
        task_run: [
            {
                **by_run,
                "task_id": "ingest",
                "map_index": i,
                "label": f"{code}_{period}",
                "state": "success",
                "tries": 1,
                "seconds": 2.0,
                "said": "",
                "finished_at": began,
            }
            for i, code in enumerate(domain.countries)
        ],
        alert: [
            {
                **key,
                "kind": "delivery",
                "subject": domain.countries[0],
                "raised_at": began,
                "said": "it was late",
            }
        ],
    }
    with writing(engine) as connection:
        for table, content in rows.items():
            if table is audit:  # of the cells as they are stored
                content[0]["printed_digest"] = connection.scalar(
                    select(func.printed_digest(key["domain"], key["period"], decided))
                )
            connection.execute(insert(table), content)
    return release_id


def _deliveries(domain: Domain, key: dict[str, str], began: datetime) -> Rows:
    """A file of each country, with a warning and the content checks."""
    digests = {code: _digest(f"{key} {code}") for code in domain.countries}
    checks = (
        "additivity",
        "complete_keys",
        "non_negative",
        "shares",
        "lone_suppressed",
        "all_free",
        "all_suppressed",
    )
    return {
        artefact: [
            {"digest": each, "kind": "delivery", "size": 1, "stored_at": began} for each in digests.values()
        ],
        delivery: [
            {
                **key,
                "digest": each,
                "country": code,
                "file": f"{code}_{key['period']}.csv",
                "received_at": began,
                "state": "accepted",
            }
            for code, each in digests.items()
        ],
        finding: [
            {
                **key,
                "digest": each,
                "position": 0,
                "code": "SDC/precision",
                "severity": "warning",
                "line": 2,
                "cell": None,
                "message": "decimals",
            }
            for each in digests.values()
        ],
        check_result: [
            {
                **key,
                "digest": each,
                "check": name,
                "severity": "error",
                "passed": True,
                "checked": 720,
                "failed": 0,
                "cells": "[]",
            }
            for each in digests.values()
            for name in checks
        ],
    }


def _cells(domain: Domain) -> Sequence[str]:
    space = domain.space
    return [space.key(cell) for cell in range(len(space.countries) * space.national_size, space.size)]


def _certificate(domain: Domain, period: str, decided: str, primaries: int) -> str:
    """As long and as deep as a real one."""
    space = domain.space
    cells = [
        {
            "cell": space.key(each),
            "protected": True,
            "down": "met",
            "up": "met",
            "sliding": "met",
            "proof": "witness",
            "cut_to_national_baseline": False,
            "profiles": {"external": True},
        }
        for each in range(primaries)
    ]
    total = len(_cells(domain))
    counts = {
        "exact": total,
        "rounded": 0,
        "withheld": 0,
        "protected": primaries,
        "cut_to_national_baseline": 0,
    }
    body = {
        "domain": domain.id,
        "period": period,
        "verdict": "passed",
        "profiles": ["external"],
        "digests": {"domain": domain.digest, "problem": _digest(f"{period} problem"), "publication": decided},
        "counts": {**counts, "primaries": primaries, "broken_requirements": 0},
        "primaries": cells,
    }
    return json.dumps(body, indent=1)


def _digest(text: object) -> str:
    return hashlib.sha256(str(text).encode()).hexdigest()
