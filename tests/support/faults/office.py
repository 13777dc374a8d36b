"""A small release to be disturbed, and what must be true of it afterwards, whatever happened.

Three countries; the file of one is refused, the others are published. A MILP solved by CBC, cells that
are rounded, an audit in chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import select

from sdc_tasks.model.results import Adjustment
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import artefacts
from sdc_tasks.warehouse.confidential.store import load_artefact
from sdc_tasks.warehouse.database.checks import run_checks
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import current_revision
from sdc_tasks.warehouse.database.schema import delivery, step
from sdc_tasks.warehouse.forms.canonical import digest_of
from sdc_tasks.warehouse.keyring import Keyring
from sdc_tasks.warehouse.log import broken, entries
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, Desk, new_desk

CELLS = 9
REFUSED = PROTECTED.replace("750000 F   251409 D", "750000 F   many D", 1)
SETTINGS = (
    "missing_country: partial\ncta: {ladder: [{method: milp, solver: cbc, nodes: "
    "10000, gap: 0}]}\naudit: {chunks: 2}\nflags:"
)


@dataclass(frozen=True)
class Office:
    """A desk, and the command that works on it."""

    desk: Desk

    def release(self, out: Path, warehouse: str) -> list[object]:
        where = ["--domain", self.desk.domain, "--period", PERIOD, "--inbox", self.desk.inbox]
        return ["release", *where, "--out", out, "--warehouse", warehouse]


def new_office(folder: Path) -> Office:
    folder.mkdir(parents=True)
    desk = new_desk(folder, AT=PROTECTED, BE=FREE, CY=REFUSED)
    desk.settle("flags:", SETTINGS)
    return Office(desk)


@dataclass(frozen=True)
class Left:
    """What a finished release left: the files for the operator, and the digest of what each step handed on.
    That of the rungs of CTA is taken without the seconds that they needed, which no two runs share.
    """

    files: Mapping[str, bytes]
    handed_on: frozenset[tuple[str, str, str]]


def look(out: Path, warehouse: str, keys: Keyring | None = None) -> Left:
    """What is there, after making sure that it is sound: each check of the warehouse, the chain of the log,
    the content of every delivery and of what each step left, and that what is released is there as a whole.
    """
    engine = open_warehouse(warehouse, keys)
    try:
        if current_revision(engine) is None:
            assert not any((out / name).exists() for name in ("table.csv", "audit.json")), (
                "no output before there are tables"
            )
            return Left({}, frozenset())
        assert {name: rows for name, rows in run_checks(engine).items() if rows} == {}
        assert broken(entries(engine)) == []
        with engine.connect() as connection:
            received = connection.execute(select(delivery.c.digest)).scalars().all()
            by_step = connection.execute(select(step.c.step, step.c.key, step.c.artefact_digest)).all()
        wanted = {*received, *(each.artefact_digest for each in by_step if each.artefact_digest)}
        contents = {digest: load_artefact(engine, digest) for digest in sorted(wanted)}
        versions = [each.version for each in reader.releases(engine)]
        assert versions in ([], [1]), "no second version of the same"
        assert len(reader.released_cells(engine, "small", PERIOD)) == CELLS * len(versions), "all or nothing"
    finally:
        engine.dispose()
    files = {name: path.read_bytes() for name in ("table.csv", "audit.json") if (path := out / name).exists()}
    assert versions or "table.csv" not in files, "no table of what is not released"
    return Left(
        files, frozenset((each.step, each.key, _timeless(contents, each.artefact_digest)) for each in by_step)
    )


def _timeless(contents: Mapping[str, bytes], digest: str | None) -> str:
    if digest is None:
        return ""
    item = artefacts.from_bytes(contents[digest])
    if not isinstance(item, Adjustment):
        return digest
    return digest_of(
        artefacts.to_bytes(Adjustment(item.x, tuple(replace(rung, seconds=0.0) for rung in item.rungs)))
    )
