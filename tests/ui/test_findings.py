"""Findings for a national statistical institute: by cause, with what is expected, and as things to send."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks.intake.findings import KEPT_PER_CODE, Findings
from sdc_tasks.model.findings import Severity, number_unlisted, unlisted
from support.ui.office import DOMAIN, MARKUP, Office

pytestmark = pytest.mark.usefixtures("server")


def records(found: Findings) -> list[dict[str, Any]]:
    """As the reader gives them."""
    return [vars(each) | {"digest": "d"} for each in found.all()]


def test_nine_hundred_findings_of_one_cause_are_one_line() -> None:
    from sdc_ui.cycles.causes import causes

    found = Findings()
    for line in range(2, 911):
        found.add("SDC/period", "TIME_PERIOD must be 2024, the reference period of this release", line)
    found.add("SDC/precision", "more decimals than its indicator", 7, "AT.T.C.S", Severity.WARNING)
    first, second = causes(records(found), {"indicators": []}, "2024")
    assert (first.code, first.number, first.unlisted) == ("SDC/period", 909, 909 - KEPT_PER_CODE)
    assert [(each.number, each.lines) for each in first.said] == [(KEPT_PER_CODE, (2, 3, 4, 5, 6))]
    assert first.expected == "TIME_PERIOD 2024 in every record"
    assert (second.severity, second.said[0].cells) == ("warning", ("AT.T.C.S",)), "errors come first"


def test_different_messages_of_one_code_are_told_apart() -> None:
    from sdc_ui.cycles.causes import FIRST, causes

    found = Findings()
    for number in range(FIRST + 2):
        found.add("150/904-2", f"ACTIVITY A{number} is not in the code list", number + 2)
    [cause] = causes(records(found), {}, "2024")
    assert (cause.number, len(cause.said), cause.others, cause.expected) == (FIRST + 2, FIRST, 2, "")


def test_a_summary_is_told_from_a_finding() -> None:
    assert number_unlisted(unlisted(809)) == 809
    assert number_unlisted("the file has 809 further lines") == 0


def test_what_is_expected_comes_from_the_domain_file(at_office: Office) -> None:
    from sdc_ui.cycles.expected import EXPECTED, expected
    from sdc_ui.cycles.remedies import FINDINGS
    from sdc_ui.source import warehouse

    from sdc_tasks.warehouse import reader

    settings = reader.settings_of(warehouse(), DOMAIN)
    told = {code: expected(code, settings, "2024") for code in EXPECTED}
    assert all(told.values())
    assert set(told) <= set(FINDINGS)
    assert told["SDC/unit"] == "TURNOVER in thousand EUR (multiplier 3, decimals 0)"
    assert "SIZECLASS" in told["150/904-2"]
    assert "codes)" in told["150/904-2"], "long lists are cut"
    assert told["SDC/area"].startswith("the table of one country: REF_AREA one of AT, ")


def test_the_findings_of_a_country_are_a_file_and_a_page_to_print(
    at_office: Office, client: Any, page: Callable[[str], str]
) -> None:
    here = f"/cycle/{DOMAIN}/2024/findings/CY"
    answer = client("viewer").get(f"/sdc{here}/findings.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="findings_{DOMAIN}_2024_CY.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["COUNTRY"], row["FILE"], row["CODE"]) for row in rows] == [("CY", "CY_2024.csv", "140")]
    html = page(f"{here}/letter")
    assert "Findings on the delivery of Cyprus" in html
    assert "Please send a corrected file under the same name" in html
    assert "clear" not in html
    assert MARKUP not in html
    assert f'href="/sdc{here}/findings.csv"' in page(here)
    assert client("viewer").get(f"/sdc/cycle/{DOMAIN}/2024/findings/XX/findings.csv").status_code == 404


@pytest.mark.parametrize(("dag", "task", "said"), [
    (f"eu_release_{DOMAIN}", "ingest", "Then press the button above"),
    (f"national_delivery_{DOMAIN}", "judge", "It is read by itself"),
])  # fmt: skip
def test_the_remedy_fits_how_the_file_came(
    at_office: Office,
    page: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    dag: str,
    task: str,
    said: str,
) -> None:
    from sdc_tasks.warehouse import reader

    read = {
        "dag_id": dag,
        "run_id": "r",
        "task_id": task,
        "map_index": 0,
        "label": "CY_2024",
        "state": "failed",
        "tries": 1,
        "seconds": 1.0,
    }
    monkeypatch.setattr(reader, "intakes", lambda *_: [{**read, "said": "refused"}])
    html = page(f"/cycle/{DOMAIN}/2024/findings/CY")
    assert said in html
    assert ("Clear CY_2024" in html) == (task == "ingest"), "what arrives by itself is not cleared"


def test_another_name_of_the_same_bytes_is_told(
    at_office: Office, page: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_ui.source import warehouse

    from sdc_tasks.warehouse import reader

    lying = reader.lying(warehouse(), DOMAIN, "2024")
    [of_at] = [each["digest"] for each in lying if each["file"] == "AT_2024.csv"]
    assert "count once" not in page(f"/cycle/{DOMAIN}/2024/findings/AT")
    monkeypatch.setattr(reader, "lying", lambda *_: [*lying, {"file": "AT_2024_final.csv", "digest": of_at}])
    assert "The same bytes lie in the inbox as AT_2024_final.csv too. They count once." in page(
        f"/cycle/{DOMAIN}/2024/findings/AT"
    )
    assert "count once" not in page(f"/cycle/{DOMAIN}/2024/findings/CY")


def test_no_line_ends_within_an_instant_and_markup_stays_text() -> None:
    from sdc_ui.shared.words import unbroken

    assert (
        unbroken("<b> of 2026-11-23 16:01 UTC.")
        == '&lt;b&gt; of <span class="instant">2026-11-23 16:01 UTC</span>.'
    )


def test_the_history_says_what_a_new_file_corrected(at_office: Office, page: Callable[[str], str]) -> None:
    html = page(f"/cycle/{DOMAIN}/2018/findings/AT")
    assert "What was sent" in html
    assert "first file" in html


def test_what_is_not_read_stands_on_the_page_of_the_country_in_its_name(tmp_path: Path) -> None:
    from sdc_ui.cycles.findings import findings_facts

    from sdc_tasks.steps import open_office
    from sdc_tasks.warehouse.confidential import store

    engine = open_office(f"sqlite:///{tmp_path / 'warehouse.db'}", "operator")
    why = {name: f"{name}: not read, because no format has this suffix" for name in ("AT_2024.pdf", "notes")}
    store.note_unread(engine, "sbs", "2024", why)
    of_at, nameless = (findings_facts(engine, "sbs", "2024", code) for code in ("AT", "_"))
    assert of_at is not None
    assert of_at.unread == (why["AT_2024.pdf"],)
    assert nameless is not None
    assert why["notes"] in nameless.unread
    assert findings_facts(engine, "sbs", "2024", "BE") is None
    engine.dispose()
