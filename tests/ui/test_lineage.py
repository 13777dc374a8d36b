"""A release and what it comes from: deliveries, certificate, run, version of the DAG,
files; and whether it is out of date.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks.model.public_files import PUBLIC_FILES
from support.ui.office import DOMAIN, Office

Page = Callable[[str], str]


def said(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).replace("\u202f", " ")


def test_a_release_names_its_deliveries_and_what_became_of_them(page: Page, at_office: Office) -> None:
    made = said(page(f"/release/{at_office.releases['second']}")).split("Made of", 1)[1]
    assert re.search(r"AT Austria AT_2020\.csv \w{12} still counts BE Belgium", made)
    before = said(page(f"/release/{at_office.releases['first']}")).split("Made of", 1)[1]
    assert "AT Austria AT_2020.csv" in before
    assert "replaced by AT_2020.csv" in before
    assert "program 0." in made


def test_a_published_release_whose_deliveries_were_corrected_is_stale_and_stays_in_work(
    page: Page, at_office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks.warehouse import reader

    release, history = at_office.releases["second"], reader.history
    assert "stale" not in page(f"/release/{release}")

    def corrected(*asked: Any) -> list[Any]:
        return [{**each, "newer": each["newer"] or each["release_id"] == release} for each in history(*asked)]

    monkeypatch.setattr(reader, "history", corrected)
    assert "published stale" in said(page(f"/release/{release}"))
    assert "published stale" in said(page(f"/history/{DOMAIN}"))
    assert re.search(rf"{DOMAIN} 2020 published stale .*Newer deliveries wait.*Run release", said(page("/")))


def at_engine(office: Office) -> Any:
    from sdc_tasks import steps

    return steps.open_office(office.url, "tester")


def test_a_cycle_is_over_where_its_newest_release_gave_way_to_the_version_that_is_out(
    at_office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_ui.board import board

    from sdc_tasks.warehouse import reader

    known, now = reader.history(at_engine(at_office)), datetime.now(UTC)
    asked = next(each for each in known if each["release_id"] == at_office.releases["waiting"])
    for out, over in ((at_office.releases["second"], True), (None, False)):
        later = {**asked, "release_id": "later", "period": "2020", "newer": True, "followed": out}
        monkeypatch.setattr(reader, "history", lambda *_, later=later: [later, *known])
        found = board(at_engine(at_office), now, lambda _: True)
        assert ("2020" in {each.period for each in found.over}) is over


def test_a_second_file_that_came_while_an_approval_waits_stands_where_somebody_decides(
    page: Page, at_office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks.warehouse import reader

    release, history = at_office.releases["waiting"], reader.history

    def second(*asked: Any) -> list[Any]:
        return [
            {**each, "second": each["second"] or each["release_id"] == release} for each in history(*asked)
        ]

    addresses = ("/", f"/cycle/{DOMAIN}/2023", f"/release/{release}")
    assert not any("A second file of a country waits" in page(address) for address in addresses)
    assert "1 approval is missing" in said(page(f"/cycle/{DOMAIN}/2023"))
    followed = [
        {**each, "followed": "later" if each["release_id"] == release else None}
        for each in history(at_engine(at_office))
    ]
    monkeypatch.setattr(reader, "history", lambda *_: followed)
    superseded = said(page(f"/cycle/{DOMAIN}/2023"))
    assert "later took the place of this release" in superseded
    assert "approval is missing" not in superseded, "nobody is asked about it"
    monkeypatch.setattr(reader, "history", second)
    assert all("A second file of a country waits" in said(page(address)) for address in addresses)


@pytest.fixture
def folder(at_office: Office, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An output folder in which `second` was written last."""
    import sdc_places

    from sdc_tasks import steps
    from sdc_tasks.warehouse import reader

    release = at_office.releases["second"]
    audits = reader.audits(steps.open_office(at_office.url, "tester"), release)
    (tmp_path / "audit.json").write_text(audits[-1]["certificate"], encoding="utf-8")
    for name in PUBLIC_FILES:
        (tmp_path / name).write_bytes(b"PAR1\xff" if name == "table.parquet" else b"the table")
    (tmp_path / "report.html").write_text(f"<p>{release}</p>", encoding="utf-8")
    monkeypatch.setattr(sdc_places, "OUT", str(tmp_path))
    return tmp_path


def test_table_report_and_certificate_are_opened_from_the_page(
    folder: Path, page: Page, at_office: Office, client: Any
) -> None:
    release = at_office.releases["second"]
    html, viewer = page(f"/release/{release}"), client("viewer")
    for address in (
        *(f"/sdc/release/{release}/file/{name}" for name in PUBLIC_FILES),
        f"/sdc/release/{release}/file/report.html",
        f"/sdc/release/{release}/audit.json",
    ):
        assert f'href="{address}"' in html
        answer = viewer.get(address)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert client(None).get(address).status_code == 401
        assert client("stranger").get(address).status_code == 403
    assert viewer.get(f"/sdc/release/{release}/file/table.csv").text == "the table"
    binary = viewer.get(f"/sdc/release/{release}/file/table.parquet")
    assert (binary.content, binary.headers["content-type"]) == (b"PAR1\xff", "application/vnd.apache.parquet")
    assert viewer.get(f"/sdc/release/{release}/file/audit.json").status_code == 404, (
        "only what the pages offer"
    )


@pytest.mark.parametrize("state", ["first", "retracted", "embargoed", "waiting", "blocked"])
def test_a_file_is_not_opened_for_another_release_nor_before_or_after_its_time(
    folder: Path, page: Page, at_office: Office, client: Any, state: str
) -> None:
    release = at_office.releases[state]
    if state != "first":  # its own certificate lies there: what counts is whether the world may see the table
        from sdc_tasks import steps
        from sdc_tasks.warehouse import reader

        audits = reader.audits(steps.open_office(at_office.url, "tester"), release)
        (folder / "audit.json").write_text(audits[-1]["certificate"], encoding="utf-8")
        for name in ("report.html", *PUBLIC_FILES):
            (folder / name).write_text(f"<p>{release}</p>", encoding="utf-8")
    assert "/file/" not in page(f"/release/{release}")
    for name in ("report.html", *PUBLIC_FILES):
        assert client("admin").get(f"/sdc/release/{release}/file/{name}").status_code == 404


def test_a_file_that_is_older_than_the_certificate_is_of_an_earlier_release(
    folder: Path, page: Page, at_office: Office
) -> None:
    for name in ("report.html", *PUBLIC_FILES):
        os.utime(folder / name, (1, 1))
    assert "/file/" not in page(f"/release/{at_office.releases['second']}")


def test_the_version_of_the_dag_is_shown(page: Page, at_office: Office) -> None:
    from airflow.models.dag import DagModel
    from airflow.models.dag_version import DagVersion
    from airflow.models.dagbundle import DagBundleModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from airflow.utils.types import DagRunType

    from sdc_tasks import steps
    from sdc_tasks.warehouse.operations import cycles

    release, dag = at_office.releases["retracted"], f"eu_release_{DOMAIN}"
    with create_session(scoped=False) as session:
        session.add(DagBundleModel(name="office"))
        session.flush()
        session.add(DagModel(dag_id=dag, bundle_name="office", is_stale=False))
        session.flush()
        version = DagVersion(dag_id=dag, version_number=3, bundle_name="office", bundle_version="c0ffee")
        session.add(version)
        session.flush()
        run = DagRun(dag_id=dag, run_id="versioned", run_type=DagRunType.MANUAL, bundle_version="c0ffee")
        run.created_dag_version_id = version.id
        session.add(run)
    engine = steps.open_office(at_office.url, "tester")
    cycles.note_dag_run(
        engine, dag, "versioned", domain=DOMAIN, period="2021", release_id=release, state="success"
    )
    cycles.note_dag_run(
        engine, dag, "later", domain=DOMAIN, period="2021", release_id=release, state="failed"
    )
    made = said(page(f"/release/{release}")).split("Made of", 1)[1]
    assert "DAG bundle office, version c0ffee, DAG version 3" in made
    assert re.search("opened by run versioned .* again by run later ", made)
    assert f'href="/dags/{dag}/runs/versioned"' in page(f"/release/{release}")
