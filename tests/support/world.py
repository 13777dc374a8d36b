"""A small world in a warehouse: two countries and their EU total, one indicator, three cells each.

        TOTAL  C10  C11
AT        30    10*  20*        * suppressed, primary
BE        12     7    5
EU        42    17   25
"""

from __future__ import annotations

import json
import multiprocessing
import traceback
from collections.abc import Sequence
from itertools import takewhile

import numpy as np
from sqlalchemy import insert, text

from sdc_tasks.model.results import AuditReport, Publication, Release
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Aggregate, CellSpace, Hierarchy
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.bulk import insert_many
from sdc_tasks.warehouse.database.engine import open_warehouse, reading, writing
from sdc_tasks.warehouse.database.schema import eu_cell, publication
from sdc_tasks.warehouse.database.sqlfiles import without_schemas
from sdc_tasks.warehouse.dissemination.publisher import Published, cells_of, printed, publish
from sdc_tasks.warehouse.forms.canonical import PRINTED
from sdc_tasks.warehouse.keyring import Keyring
from sdc_tasks.warehouse.operations.journal import (
    Terms,
    save_audit,
    start_run,
    submit,
)
from support.payload_key import PAYLOAD_KEY, WAREHOUSE_SECRET

KEYS = Keyring.of([PAYLOAD_KEY])
FINGERPRINT = Secret.of_hex(
    WAREHOUSE_SECRET
).fingerprint  # of every warehouse that is made by a test's template
TERMS = Terms("sbs", "t" * 64, ("external",))
ACTIVITY = Hierarchy("ACTIVITY", ("TOTAL", "C10", "C11"), (None, "TOTAL", "TOTAL"))
SPACE = CellSpace(("AT", "BE"), (Aggregate("EU", ("AT", "BE")),), ("TURNOVER",), (ACTIVITY,))
WITHHELD = (np.nan, np.inf)
SENTINEL = 987654321.125


def published(*cells: tuple[float, float]) -> Publication:
    """The EU row as (value, base) of TOTAL, C10, C11."""
    value, base = (np.array(part, dtype=float) for part in zip(*cells, strict=True))
    return Publication(np.array([6, 7, 8]), value, base)


FIRST = published((42, 0), (20, 10), WITHHELD)
SECOND = published((42, 0), (20, 20), WITHHELD)


def audited(
    decided: Publication,
    down: float = 1.0,
    contradictions: tuple[int, ...] = (),
    profiles: tuple[str, ...] = ("external", "vintage"),
) -> AuditReport:
    """The audit of a publication; AT.C10 reaches this share of its lower requirement."""
    ones = np.ones(2)
    return AuditReport(
        problem="p" * 64,
        publication=decided.digest,
        profiles=profiles,
        primaries=np.array([1, 2]),
        down=np.array([down, 1.0]),
        up=ones,
        slide=ones,
        by_lp=np.array([True, False]),
        baseline=np.array([False, False]),
        lps=4,
        requirements="r" * 64,
        contradictions=contradictions,
    )


def certificate(
    report: AuditReport,
    period: str = "2024",
    terms: Terms = TERMS,
    of: str = "",
    beside: Sequence[str] = (),
    linked: Sequence[tuple[str, str, str]] = (),
) -> str:
    """What the database compares a stored audit with; `of` tells one from another, `beside`
    are the publications that it knew, and `linked` the related ones (domain, period, digest).
    """
    return json.dumps(
        {
            "domain": terms.domain,
            "period": period,
            "verdict": "passed" if report.passed else "failed",
            "profiles": list(report.profiles),
            "digests": {"domain": terms.digest, "problem": report.problem, "publication": report.publication},
            "counts": {"primaries": len(report.primaries), "broken_requirements": report.broken},
            "of": of,
            **({"beside": list(beside)} if beside else {}),
            **(
                {
                    "linked": [
                        dict(zip(("domain", "period", "publication"), each, strict=True)) for each in linked
                    ]
                }
                if linked
                else {}
            ),
            **({"unrelated": said} if (said := json.loads(terms.settings).get("unrelated")) else {}),
            **({"secret": FINGERPRINT} if '"rule_aware": true' in terms.settings else {}),
        }
    )


def prepared(
    warehouse, release_id="r1", decided=FIRST, period="2024", space=SPACE, terms=TERMS, linked=()
) -> Release:
    """A release whose run and audit are in the warehouse, ready to be published."""
    report = audited(decided)
    start_run(warehouse, release_id, terms.domain, period)
    submit(warehouse, release_id, terms)
    told = certificate(
        report,
        period,
        terms,
        beside=published_of(warehouse, period, terms.domain, release_id),
        linked=linked,
    )
    save_audit(warehouse, release_id, report, told, printed(decided, space))
    return Release(release_id, report.problem, decided, report)


def publish_it(warehouse, release: Release, period="2024", terms=TERMS) -> Published:
    """After all that is out."""
    return publish(
        warehouse,
        release,
        space=SPACE,
        terms=terms,
        period=period,
        after=out_of(warehouse, period, terms.domain),
    )


def out_of(warehouse, period="2024", domain="sbs") -> list[str]:
    """The releases of the period by version."""
    return [each.release_id for each in reversed(reader.releases(warehouse, domain)) if each.period == period]


def published_of(warehouse, period="2024", domain="sbs", before="") -> list[str]:
    """The publications of these releases, which an audit of now knows; those `before` a
    release, which an audit of it knew.
    """
    out = (each for each in reversed(reader.releases(warehouse, domain)) if each.period == period)
    return [each.publication_digest for each in takewhile(lambda each: each.release_id != before, out)]


def raw(warehouse, sql: str, **parameters) -> None:
    """Plain SQL, as somebody at a prompt would write it."""
    with writing(warehouse) as connection:
        connection.execute(
            text(without_schemas(sql) if warehouse.dialect.name == "sqlite" else sql), parameters
        )


def count(warehouse, table: str) -> int:
    name = without_schemas(table) if warehouse.dialect.name == "sqlite" else table
    with reading(warehouse) as connection:
        return connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()


def in_parallel(url: str, function, *arguments) -> list:
    """function(engine, argument) in one real process per argument, all at once; what each returned."""
    processes = multiprocessing.get_context(
        "fork"
    )  # each opens the warehouse anew; forked, so that they start together
    barrier, answers = processes.Barrier(len(arguments)), processes.Queue()
    started = [
        processes.Process(target=_process, args=(barrier, answers, url, function, each)) for each in arguments
    ]
    for process in started:
        process.start()
    found = [answers.get(timeout=120) for _ in started]
    for process in started:
        process.join()
    assert not [told for told, _ in found if told]
    return [answer for _, answer in found]


def _process(barrier, answers, url, function, argument) -> None:
    engine = open_warehouse(url, KEYS, "somebody")
    try:
        with reading(engine):
            barrier.wait(timeout=60)
        answers.put(("", function(engine, argument)))
    except BaseException:
        answers.put((traceback.format_exc(), None))
    finally:
        engine.dispose()


RELEASE = """
    INSERT INTO dissemination.release
        (release_id, domain, period, version, publication_digest, audit_digest, audit_passed, released_at)
    VALUES (:release_id, :domain, :period, :version, :publication, :audit, :passed, :now)
"""


def staged(warehouse, decided: Publication, period: str = "2024", domain: str = "sbs") -> None:
    """Its cells as the publisher would store them, without a release."""
    key = (domain, period, decided.digest)
    with writing(warehouse) as connection:
        connection.execute(
            insert(publication).values(
                domain=domain, period=period, digest=decided.digest, cells=len(decided.cells)
            )
        )
        rows = (row + key for row in cells_of(decided, SPACE))
        insert_many(connection, eu_cell, (*PRINTED, "domain", "period", "publication_digest"), rows)


CELL = """
    INSERT INTO dissemination.eu_cell
        (domain, period, publication_digest, cell, position, area, indicator, value, obs_status, conf_status)
    VALUES ('sbs', '2024', :digest, :cell, 0, 'EU', 'TURNOVER', 42, 'A', 'F')
"""
APPROVED_BY_NOBODY = (
    "INSERT INTO operations.approval SELECT release_id, digest, 'nobody', publication_digest, passed, "
    "'tester', '', audited_at, 'file',"
    " NULL FROM operations.audit"
)
RETRACTED_BY_NOBODY = (
    "INSERT INTO dissemination.retraction SELECT release_id, 'x', 'nobody', "
    "released_at FROM dissemination.release"
)
AGREED_BY_NOBODY = (
    "INSERT INTO operations.withdrawal SELECT release_id, 'x', 'nobody', "
    "released_at, 'file' FROM dissemination.release"
)
