"""What the pages say of each state in which a release can be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from sdc_tasks.model.series import NO_FORMAT
from support.ui.office import DAG, DOMAIN, MARKUP, RUN, Office

Page = Callable[[str], str]


def text(html: str) -> str:
    """What a reader sees, blanks drawn together."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).replace("\u202f", " ")


def test_the_board_shows_every_cycle_and_what_is_due(page: Page) -> None:
    said = text(page("/"))
    for period in ("2018", "2019", "2020", "2021", "2022", "2023", "2024"):
        assert period in said
    for state in (
        "rejected",
        "Newer deliveries wait",
        "blocked by the audit",
        "retracted",
        "under embargo",
        "waiting for approval",
        "waiting for a country",
    ):
        assert state in said
    assert "1 refused 1 awaited 2 accepted" in said
    assert "Deliveries late by" in said
    assert "1 person other than operator" in said
    assert "1 alert" in said
    assert "1 cycle out" in said


def test_the_most_urgent_cycle_stands_first_and_what_goes_on_by_itself_last(page: Page) -> None:
    html = page("/").split("In work", 1)[1].split("Out</h2>", 1)[0]
    periods = re.findall(rf">{DOMAIN} (\d{{4}})</a></h3>", html)
    assert periods[:2] == ["2023", "2024"], "late, what was due first before"
    assert periods[-1] == "2022", "under embargo: nobody needs to do anything"
    assert set(periods[2:-1]) == {"2018", "2019", "2021"}


def test_a_cycle_is_found_by_its_domain_period_state_and_countries(page: Page) -> None:
    html = page("/")
    [words] = [
        each for each in re.findall(r'<li class="card" data-find="([^"]*)"', html) if f"{DOMAIN} 2024" in each
    ]
    for asked in ("2024", "refused", "CY Cyprus", "waiting for a country", "Structural"):
        assert asked in words


def test_a_country_over_all_domains_and_periods(page: Page) -> None:
    html = page("/country/CY")
    said = text(html)
    assert re.search(rf"Cyprus 1 refused 6 accepted .* {DOMAIN} 2024 .* refused", said)
    assert said.index("2024") < said.index("2023") < said.index("2018"), (
        "what needs somebody, then the newest"
    )
    assert f'href="/sdc/cycle/{DOMAIN}/2024/findings/CY"' in html
    assert 'href="/sdc/country/CY"' in page("/")


def test_a_cycle_shows_the_country_that_failed_and_where_to_look(page: Page) -> None:
    html = page(f"/cycle/{DOMAIN}/2024")
    said = text(html)
    assert re.search(
        r"CY Cyprus refused .* 1 finding Task ingest in Airflow BG Bulgaria awaited AT Austria accepted", said
    )
    assert "missing: CY, BG" in said
    assert "Delivery: BG has no accepted delivery" in said
    assert "ingest × 3 1 failed 2 success" in said
    assert f'href="/dags/{DAG}/runs/{quote(RUN)}/tasks/ingest/mapped/2"' in html
    assert f'href="/sdc/cycle/{DOMAIN}/2024/findings/CY"' in html


@pytest.mark.parametrize(
    ("warned", "counted"),
    [((), ""), (("AT",), "1 delivery with warnings"), (("AT", "CY"), "1 delivery with warnings")],
)
def test_a_cycle_counts_the_deliveries_with_warnings(
    page: Page, monkeypatch: pytest.MonkeyPatch, warned: tuple[str, ...], counted: str
) -> None:
    """Those that are accepted: what was found in the file of CY refuses it."""
    from sdc_tasks.warehouse import reader

    known = reader.deliveries

    def found(*where: Any) -> list[reader.Record]:
        return [
            each | {"findings": 0, "failed_checks": int(each["country"] in warned)} for each in known(*where)
        ]

    monkeypatch.setattr(reader, "deliveries", found)
    said = text(page(f"/cycle/{DOMAIN}/2024"))
    assert re.findall(r"\d+ deliver\w+ with warnings", said) == ([counted] if counted else [])


def test_before_there_is_a_release_the_domain_file_says_how_many_must_agree(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_tasks.warehouse import reader

    monkeypatch.setattr(reader, "history", lambda *_: [])
    said = text(page(f"/cycle/{DOMAIN}/2024"))
    assert re.search(r"2024 stopped", said), "its run failed before it made a release"
    assert re.search(r"Approval .{,80} 0 of 1 given", said), said


def test_a_second_file_is_asked_about_and_not_cleared(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task that read it failed, and would fail again; the file before counts, so nobody misses the
    country.
    """
    from sdc_tasks.warehouse import reader

    known = reader.deliveries

    def with_second(*asked: Any) -> list[dict[str, Any]]:
        found = known(*asked)
        broken = next(each for each in found if each["country"] == "CY")
        return [
            *(each for each in found if each["country"] != "CY"),
            {**broken, "state": "accepted"},
            {**broken, "state": "waiting"},
        ]

    assert "Clear CY_2024" in page(f"/cycle/{DOMAIN}/2024")
    monkeypatch.setattr(reader, "deliveries", with_second)
    html = page(f"/cycle/{DOMAIN}/2024")
    said = text(html)
    assert "A second file of Cyprus waits. No release is made meanwhile. Say what it is" in said
    assert "Clear CY_2024" not in html
    assert "missing: BG" in said


@pytest.mark.parametrize("lies", [True, False])
def test_a_file_that_was_taken_away_is_not_asked_for_any_more(
    page: Page, monkeypatch: pytest.MonkeyPatch, lies: bool
) -> None:
    """Without a readable country, too."""
    from sdc_tasks.warehouse import reader

    known, states, lying = reader.deliveries, reader.delivery_states, reader.lying

    def nameless(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**each, "country": None, "lying": lies} if each["state"] == "refused" else each for each in found
        ]

    monkeypatch.setattr(reader, "deliveries", lambda *asked: nameless(known(*asked)))
    monkeypatch.setattr(reader, "delivery_states", lambda engine: nameless(states(engine)))
    monkeypatch.setattr(reader, "lying", lambda *asked: lying(*asked) if lies else [])
    assert ("No country could be read from CY_2024.csv" in page(f"/cycle/{DOMAIN}/2024")) is lies
    assert ("1 refused file" in text(page("/")).split(f"{DOMAIN} 2024")[1].split(DOMAIN)[0]) is lies
    assert ("Clear CY_2024" in page(f"/cycle/{DOMAIN}/2024/findings/_")) is lies


@pytest.mark.parametrize(
    ("name", "why", "cleared"),
    [
        ("CY_2024.csv", "CY_2024.csv: the same bytes as AT_2024.csv, which is the delivery of AT", True),
        ("CY_2024.xlsm", f"CY_2024.xlsm: not read, because {NO_FORMAT}", False),
    ],
)
def test_what_is_not_read_is_cleared_where_a_file_of_this_name_would_be_read(
    page: Page, monkeypatch: pytest.MonkeyPatch, name: str, why: str, cleared: bool
) -> None:
    from sdc_tasks.warehouse import reader

    unread = [{"domain": DOMAIN, "period": "2024", "file": name, "why": why}]
    monkeypatch.setattr(reader, "unread", lambda _: unread)
    assert ("Clear CY_2024" in page(f"/cycle/{DOMAIN}/2024")) is cleared


def test_what_started_a_run_is_said_in_words(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_tasks.warehouse import reader

    known = reader.dag_runs
    monkeypatch.setattr(
        reader, "dag_runs", lambda *asked: [{**each, "triggered_by": "scheduled"} for each in known(*asked)]
    )
    assert "by the calendar, failed" in text(page(f"/cycle/{DOMAIN}/2024"))


def test_findings_say_what_to_do(page: Page) -> None:
    said = text(page(f"/cycle/{DOMAIN}/2024/findings/CY"))
    assert "CY_2024.csv refused" in said
    assert "Ask the country for a corrected file" in said
    assert "140 error" in said
    assert "is not well-formed" in said
    assert "No file was received yet. BG is awaited" in text(page(f"/cycle/{DOMAIN}/2024/findings/BG"))


def test_a_release_that_is_out(page: Page, at_office: Office) -> None:
    html = page(f"/release/{at_office.releases['second']}")
    said = text(html)
    assert "published version 2" in said
    assert re.search(r"Aggregate cells \d+ exact of 60 cells", said)
    assert re.search(
        r"(\d+) protected of (?!\1)\d+ primary cells \d+ only as far as their national table and what is out "
        r"already allow",
        said,
    )
    assert "0 requirements broken" in said
    assert "1 of 1 approval approver" in said
    assert re.search(r"Treatments in blocks.*_T S1 S2 S3", said)
    assert "thousand EUR" in said
    assert "information lost" in said
    assert re.search(r"operator submit .* operator audit .* approver approve .* operator release", said)
    assert f"/sdc/compare/{at_office.releases['first']}/{at_office.releases['second']}" in html


def test_every_cell_is_on_the_map_once(page: Page, at_office: Office) -> None:
    html = page(f"/release/{at_office.releases['second']}")
    found = re.search(r"(\d+) exact.*?(\d+) rounded.*?(\d+) withheld", text(html))
    assert found
    exact, rounded, withheld = map(int, found.groups())
    detail = html.split("Treatments code by code", 1)[1].split("</table>", 1)[0]
    assert detail.count('<span class="sr">exact</span>') == exact
    assert detail.count('<span class="sr">rounded, base') == rounded
    assert detail.count('<span class="sr">withheld</span>') == withheld


def test_under_embargo_there_are_treatments_and_no_values(page: Page, at_office: Office) -> None:
    said = text(page(f"/release/{at_office.releases['embargoed']}"))
    assert "Nobody outside sees this table before 2099-01-01 10:00 UTC" in said
    assert "Treatments in blocks" in said
    assert "The rounded cells with the largest losses" not in said


def test_a_release_that_waits_for_approval(page: Page, at_office: Office) -> None:
    said = text(page(f"/release/{at_office.releases['waiting']}"))
    assert "waiting for approval" in said
    assert "0 of 1 approval Anybody other than operator may agree." in said
    assert "The map is drawn when the table is published" in said
    cycle = text(page(f"/cycle/{DOMAIN}/2023"))
    assert "1 approval is missing. Somebody other than operator" in cycle
    assert re.search(r"Approval 2024-04-15 16:00 UTC late by .* 0 of 1 given", cycle)


def test_whoever_agrees_is_told_that_the_same_table_was_retracted(
    page: Page, at_office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_ui.source import warehouse

    from sdc_tasks.warehouse import reader

    known, waits = reader.history, at_office.releases["waiting"]
    [digest] = {each["publication_digest"] for each in reader.audits(warehouse(), waits)}

    def with_twin(*asked: Any) -> list[dict[str, Any]]:
        found = known(*asked)
        twin = next(each for each in found if each["retracted"])
        return [
            *found,
            {
                **twin,
                "release_id": "twin",
                "period": "2023",
                "publication_digest": digest,
                "retracted": "wrong unit",
            },
        ]

    assert "The same table was retracted" not in page(f"/release/{waits}")
    monkeypatch.setattr(reader, "history", with_twin)
    assert "The same table was retracted as version 1 : wrong unit" in text(page(f"/release/{waits}"))


def test_a_rejected_release_says_by_whom_and_what_to_do(page: Page, at_office: Office) -> None:
    for said in (
        text(page(f"/release/{at_office.releases['rejected']}")),
        text(page(f"/cycle/{DOMAIN}/2018")),
    ):
        assert "Rejected by approver: size class S looks odd" in said
        assert "Newer deliveries wait. This release was made without them. Run the release again" in said
        assert "The audit found cells" not in said
    assert "Newer deliveries" not in text(page(f"/release/{at_office.releases['first']}")), (
        "version 2 took them in"
    )


def test_a_release_that_was_blocked_names_cells(page: Page, at_office: Office) -> None:
    said = text(page(f"/release/{at_office.releases['blocked']}"))
    assert "Nothing was published." in said
    assert re.search(r"\d+ not protected \([A-Z]{2} \d+, .*\)\. The first: [A-Z]{2}\.TURNOVER\.", said)
    assert "What is published" not in said


def test_a_retracted_release_says_why(page: Page, at_office: Office) -> None:
    html = page(f"/release/{at_office.releases['retracted']}")
    assert "AT sent thousands for millions" in html
    assert "The rounded cells with the largest losses" not in html


def test_two_versions_are_compared_either_way_round(page: Page, at_office: Office) -> None:
    first, second = at_office.releases["first"], at_office.releases["second"]
    html = page(f"/compare/{first}/{second}")
    assert html == page(f"/compare/{second}/{first}")
    said = text(html)
    assert "Version 1 to version 2" in said
    assert re.search(r"\d+ cells changed of 60", said)
    assert "thousand EUR" in said


def test_a_version_beside_itself_is_the_same(page: Page, at_office: Office) -> None:
    one = at_office.releases["first"]
    assert "The two versions are the same." in text(page(f"/compare/{one}/{one}"))


def test_versions_that_the_world_may_not_see_are_compared_without_values(
    page: Page, at_office: Office
) -> None:
    hidden = at_office.releases["embargoed"]
    said = text(page(f"/compare/{hidden}/{hidden}"))
    assert "only treatments are compared" in said
    assert "thousand EUR" not in said


def test_the_history_has_all_releases(page: Page, at_office: Office) -> None:
    said = text(page(f"/history/{DOMAIN}"))
    for release_id in at_office.releases.values():
        assert release_id in said
    assert "with version 1" in said


def test_the_tab_of_a_run_forwards_to_what_it_works_on(at_office: Office, client: Any) -> None:
    viewer = client("viewer")
    answer = viewer.get(f"/sdc/run/{DAG}/{quote(RUN)}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/sdc/cycle/{DOMAIN}/2024", (
        "no audit yet: the cycle says more than the release"
    )
    unknown = viewer.get(f"/sdc/run/{DAG}/manual__never")
    assert unknown.status_code == 200
    assert "The warehouse has no record of this run" in unknown.text


def test_the_tab_of_a_run_with_an_audit_forwards_to_the_release(at_office: Office, client: Any) -> None:
    from sdc_tasks import steps
    from sdc_tasks.warehouse.operations import cycles

    release = at_office.releases["waiting"]
    cycles.note_dag_run(
        steps.open_office(at_office.url, "tester"),
        DAG,
        "audited",
        domain=DOMAIN,
        period="2023",
        release_id=release,
        state="running",
    )
    answer = client("viewer").get(f"/sdc/run/{DAG}/audited", follow_redirects=False)
    assert answer.headers["location"] == f"/sdc/release/{release}"


@pytest.mark.parametrize(
    "path",
    [
        "/cycle/none/2024",
        f"/cycle/{DOMAIN}/1900",
        f"/cycle/{DOMAIN}/2024/findings/XX",
        "/country/XX",
        "/release/none",
        "/compare/a/b",
        "/history/none",
        "/assets/other.css",
        "/nowhere",
    ],
)
def test_what_is_not_there_is_not_found(at_office: Office, client: Any, path: str) -> None:
    assert client("viewer").get(f"/sdc{path}").status_code == 404


def test_text_from_elsewhere_is_no_markup(page: Page, at_office: Office) -> None:
    for path in (
        f"/cycle/{DOMAIN}/2024",
        f"/release/{at_office.releases['retracted']}",
        f"/history/{DOMAIN}",
    ):
        html = page(path)
        assert MARKUP not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_no_page_needs_a_style_that_the_policy_refuses(page: Page, at_office: Office) -> None:
    for path in ("/", f"/cycle/{DOMAIN}/2024", f"/release/{at_office.releases['second']}"):
        html = page(path)
        assert not re.search(r"\sstyle=|<style|\son[a-z]+=|https?://(?!www\.w3\.org)", html)


def test_an_empty_warehouse_is_said_so(client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.delenv("SDC_UI_URL", raising=False)
    monkeypatch.setenv("SDC_WAREHOUSE_URL", f"sqlite:///{tmp_path / 'empty.db'}")
    answer = client("viewer").get("/sdc/")
    assert answer.status_code == 503
    assert "empty before the first release" in answer.text
    assert "no such table" not in answer.text


def test_the_account_of_the_pages_goes_before_that_of_the_pipeline(
    at_office: Office, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, server: Any
) -> None:
    from sdc_ui.source import warehouse

    assert str(warehouse().url) == at_office.url
    monkeypatch.setenv("SDC_UI_URL", f"sqlite:///{tmp_path / 'other.db'}")
    assert str(warehouse().url) == f"sqlite:///{tmp_path / 'other.db'}"
