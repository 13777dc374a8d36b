"""A small office in the middle of its work, made by the steps of the pipeline: a cycle in each
state that a page has to tell of.

2018 rejected · 2019 blocked by the audit · 2020 two versions out · 2021 retracted · 2022 under embargo · 2023
waiting for approval · 2024 without the file of CY, which is cut off, nor that of BG, which has not come.

Planted: AT is scaled by a large prime, so that its figures and all totals cannot be mistaken for anything
else, and people and tasks say markup. Not planted: as it is of a morning, for pictures.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import yaml

from sdc_tasks import pipeline, steps
from sdc_tasks.demo import write_demo
from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.model.results import Publication
from sdc_tasks.warehouse.dissemination.publisher import NotApproved
from sdc_tasks.warehouse.operations import cycles, decisions
from support.deliveries import scaled

DOMAIN = "sbs_4x15x3"
DAG = f"eu_release_{DOMAIN}"
RUN = "manual__2026-03-31T16:00:00+00:00"
PRIME = 104_729
PRIMARY = set("AMOTGCN")
SPOILT = "918273645"  # stands where a confidential value of CY stood
FUTURE = "2099-01-01T10:00+00:00"
MARKUP = " <script>alert(1)</script>"  # said by a task and by people: no page may let it through as markup


@dataclass(frozen=True)
class Office:
    """Where the warehouse is, the releases by what became of them, and values that no page may show:
    confidential ones, and published ones that nobody may see yet, or any more.
    """

    url: str
    releases: dict[str, str]
    secrets: tuple[int, ...]
    hidden: tuple[float, ...]


def open_office(folder: Path, planted: bool = True) -> Office:
    """Makes it all in `folder`, in some twenty seconds."""
    url = f"sqlite:///{folder / 'warehouse.db'}"
    made = {}
    made["rejected"] = _release(folder, url, planted, "2018", approved=False)
    _reject(folder, url, planted, made["rejected"])
    made["blocked"] = _release(folder, url, planted, "2019", blocked=True)
    made["first"] = _release(folder, url, planted, "2020")
    made["second"] = _release(folder, url, planted, "2020", seed=77)
    made["retracted"] = _release(folder, url, planted, "2021")
    reason = f"AT sent thousands for millions{MARKUP if planted else ''}"
    decisions.withdraw(_engine(url, "approver"), made["retracted"], reason)
    decisions.retract(_engine(url, "boss"), made["retracted"], reason)
    made["embargoed"] = _release(folder, url, planted, "2022")
    made["waiting"] = _release(folder, url, planted, "2023", approved=False)
    made["failed"] = _broken(folder, url, planted)
    secrets = tuple(sorted({value for file in folder.glob("*/inbox/AT_*.csv") for value in _primaries(file)}))
    hidden = tuple(
        sorted(
            {value for name in ("retracted", "embargoed", "blocked") for value in _published(url, made[name])}
        )
    )
    return Office(url, made, secrets, hidden)


def _engine(url: str, actor: str) -> Any:
    return steps.open_office(url, actor)


def _calendar(planted: bool) -> dict[str, Any]:
    """Planted, in years that tests can name; else around today."""
    today = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)

    def at(days: int, year: int) -> str:
        named = (
            datetime(year, 3, 31, 16, tzinfo=UTC) + timedelta(days=days)
            if days <= 15
            else datetime.fromisoformat(FUTURE)
        )
        return (named if planted else today + timedelta(days=days)).isoformat()

    cycles = {
        str(period): {
            "opens": at(-30, period + 1),
            "deliveries": at(0, period + 1),
            "protection": at(15, period + 1),
            "embargo": at(30, period + 1),
        }
        for period in (2022, 2023, 2024)
    }
    cycles["2023"]["approval"] = at(15, 2024) if planted else at(20, 2024)
    return {"time_zone": "Europe/Luxembourg", "cycles": cycles}


def _desk(folder: Path, url: str, planted: bool, period: str, seed: int) -> tuple[steps.Desk, Path]:
    """A desk at the deliveries of a period."""
    home = folder / f"{period}-{seed}"
    file = write_demo(home, countries=4, activities=15, sizes=3, seed=seed, period=period)
    content = yaml.safe_load(file.read_text(encoding="utf-8")) | {
        "governance": {"approvals": 1},
        "calendar": _calendar(planted),
    }
    content["cta"]["ladder"] = [content["cta"]["ladder"][0] | {"rounds": 1}]
    content["bases"] |= {"rule": "cta", "sharpen": False}
    if planted:
        content["checks"]["proportion"] = None  # its figures are those of no country
    else:
        content["title"] = "Structural business statistics"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    if planted:
        scaled(home / "inbox" / f"AT_{period}.csv", PRIME)
    return steps.open_desk(url, file, period, actor="operator"), home / "inbox"


def _release(
    folder: Path,
    url: str,
    planted: bool,
    period: str,
    seed: int | None = None,
    blocked: bool = False,
    approved: bool = True,
) -> str:
    desk, inbox = _desk(folder, url, planted, period, seed or int(period))
    for each in steps.discover(desk, inbox):
        steps.ingest(desk, inbox, each.file)
    release_id = steps.assemble(desk)
    steps.baseline(desk, release_id)
    steps.adjust(desk, release_id, 0)
    with patch.object(pipeline, "choose_bases", _everything if blocked else pipeline.choose_bases):
        steps.choose_bases(desk, release_id, 0)
    for chunk in range(desk.domain.audit.chunks):
        steps.audit_chunk(desk, release_id, chunk)
    steps.verdict(desk, release_id)
    if approved and not blocked:
        publication = steps.decided(desk, release_id)[1].digest
        decisions.approve(_engine(url, "approver"), release_id, publication, "seen")
    try:
        steps.publish(desk, release_id)
    except (ReleaseBlocked, NotApproved):
        assert blocked or not approved
    return release_id


def _reject(folder: Path, url: str, planted: bool, release_id: str) -> None:
    """Somebody rejects it; then AT sends a correction."""
    desk, inbox = _desk(folder, url, planted, "2018", 2018)
    publication = steps.decided(desk, release_id)[1].digest
    steps.answer(
        desk, release_id, publication, False, "approver", f"size class S looks odd{MARKUP if planted else ''}"
    )
    file = inbox / "AT_2018.csv"
    file.write_text(file.read_text(encoding="utf-8").rstrip("\n") + "\n\n", encoding="utf-8")
    for each in steps.news(desk, inbox):
        steps.ingest(desk, inbox, each.file)


def _broken(folder: Path, url: str, planted: bool) -> str:
    """2024: CY is spoilt and cut in the middle of a line, BG is not there; the run of the DAG
    as the listener writes it down.
    """
    desk, inbox = _desk(folder, url, planted, "2024", 2024)
    (inbox / "BG_2024.csv").unlink()
    cut = inbox / "CY_2024.csv"
    lines = cut.read_text(encoding="utf-8-sig").splitlines()
    separator = ";" if ";" in lines[0] else ","
    cut.write_text("\n".join([*lines[:-1], separator.join([SPOILT] * 3)]), encoding="utf-8")
    engine = desk.engine
    cycles.note_dag_run(
        engine,
        DAG,
        RUN,
        domain=DOMAIN,
        period="2024",
        triggered_by="operator",
        started_at=_at("2026-03-31T16:00"),
    )
    for index, each in enumerate(steps.discover(desk, inbox)):
        said = ""
        try:
            steps.ingest(desk, inbox, each.file)
        except InvalidInput as error:
            said = f"{error}{MARKUP}" if planted else str(error)
        state = "failed" if said else "success"
        cycles.note_task_run(
            engine,
            DAG,
            RUN,
            "ingest",
            index,
            cycles.TaskState(state, label=each.label, tries=1, seconds=1.5, said=said),
        )
    try:
        steps.assemble(desk)
    except InvalidInput as error:
        cycles.note_task_run(
            engine,
            DAG,
            RUN,
            "assemble",
            -1,
            cycles.TaskState("failed", tries=1, seconds=0.4, said=str(error)),
        )
    failed = next(each["release_id"] for each in _runs(engine) if each["period"] == "2024")
    cycles.note_dag_run(
        engine, DAG, RUN, state="failed", release_id=failed, finished_at=_at("2026-03-31T16:02")
    )
    cycles.raise_alert(engine, DOMAIN, "2024", "delivery", "BG", "BG has no accepted delivery")
    return failed


def _runs(engine: Any) -> list[dict[str, Any]]:
    from sdc_tasks.warehouse import reader

    return reader.runs(engine)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def _everything(problem: Any, *_: Any) -> Publication:
    """Every aggregate exactly: what no audit lets pass."""
    cells = np.arange(len(problem.space.countries) * problem.space.national_size, problem.space.size)
    return Publication(cells, problem.a[cells], np.zeros(len(cells)))


def _primaries(file: Path) -> list[int]:
    rows = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))
    return [
        int(row["OBS_VALUE"]) for row in rows if row["CONF_STATUS"] in PRIMARY and row["OBS_VALUE"] != "0"
    ]


def _published(url: str, release_id: str) -> list[float]:
    """The values of a publication, also of one that was never let out; those of at least six digits before
    the zeros at their end, for others may stand anywhere.
    """
    from sdc_tasks.warehouse.confidential import artefacts, store
    from sdc_tasks.warehouse.operations import journal

    engine = _engine(url, "tester")
    digest = journal.step_output(engine, release_id, "bases")
    found = artefacts.from_bytes(store.load_artefact(engine, str(digest)))
    assert isinstance(found, Publication)
    return [
        float(value) for value in found.value if np.isfinite(value) and len(f"{value:.0f}".rstrip("0")) > 5
    ]
