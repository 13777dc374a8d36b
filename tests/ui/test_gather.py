"""The parts of the pages that decide something: stages, deadlines, standings, blocks of the map, words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"
pytestmark = pytest.mark.usefixtures("server")  # puts the plugins on the path
NOON = datetime(2026, 3, 31, 12, tzinfo=UTC)
STATES = ("received", "accepted", "refused", "superseded", "waiting", "kept out")


def sent(country: str, state: str, minute: int) -> dict[str, Any]:
    return {"country": country, "state": state, "received_at": NOON + timedelta(minutes=minute)}


FILES = st.lists(
    st.tuples(st.sampled_from(["AT", "BE", None]), st.sampled_from(STATES), st.integers(0, 9)),
    unique_by=lambda each: (each[0], each[2]),
)


@given(FILES)
def test_each_country_has_one_stage(files: list[tuple[str, str, int]]) -> None:
    from sdc_ui.cycles.countries import countries, tally

    found = countries(["AT", "CY"], [sent(*each) | {"lying": each[0] == "BE"} for each in files])
    assert Counter(each.code for each in found) == dict.fromkeys(
        {"AT", "CY"} | {each[0] for each in files if each[0]}, 1
    )
    assert sum(tally(found).values()) == 2, "those that the domain has"
    assert {each.code for each in found if each.awaited} == {"AT", "CY"}
    gone = [{**sent(*each), "lying": False} for each in files]
    assert {each.code for each in countries(["AT", "CY"], gone)} == {"AT", "CY"}, (
        "a file that was taken away concerns nobody"
    )
    for each in (each for each in found if each.awaited):
        mine = sorted(
            (minute, state)
            for country, state, minute in files
            if country == each.code and state not in ("superseded", "kept out")
        )
        newest = mine[-1][1] if mine else "awaited"
        second = newest != "refused" and any(state == "waiting" for _, state in mine)
        assert each.stage == ("second file waits" if second else newest)
        assert each.refused == (newest == "refused")
        assert each.counts == (each.stage != "accepted" and any(state == "accepted" for _, state in mine))
        assert each.superseded == sum(
            country == each.code and state == "superseded" for country, state, _ in files
        )


def test_what_cannot_be_read_counts_for_the_country_in_its_name() -> None:
    """Beside the file that counts, and as often as it lies there."""
    from sdc_ui.cycles.countries import Stage, countries, tally

    files = [sent("AT", "accepted", 3), sent("AT", "refused", 1) | {"lying": True}, sent("BE", "accepted", 1)]
    at, be, cy = countries(["AT", "BE", "CY"], files, ["at_2024.xlsx", "BE", "AT_and_CY.zip", "notes.pdf"])
    assert [(each.code, str(each.stage), each.refused, each.counts) for each in (at, be, cy)] == [
        ("AT", "refused", 2, True),
        ("BE", "refused", 1, True),
        ("CY", "awaited", 0, False),
    ]
    assert tally([at, be, cy])[Stage.REFUSED] == 2


def test_steps_keep_the_order_of_the_graph_and_tell_how_long_it_took() -> None:
    """Two instances at once take as long as one; what never began for somebody else's
    failure is no failure of its own.
    """
    from sdc_ui.shared.steps import of_tasks

    def ended(name: str, index: int, state: str, minute: int, seconds: float | None = None) -> dict[str, Any]:
        at = NOON + timedelta(minutes=minute)
        return {
            "task_id": name,
            "map_index": index,
            "label": "",
            "state": state,
            "tries": 1,
            "seconds": seconds,
            "said": "",
            "finished_at": at,
        }

    found = of_tasks(
        [
            ended("cta_outcome", -1, "upstream_failed", 1),
            ended("ingest", 0, "success", 5, 60.0),
            ended("ingest", 1, "failed", 5, 90.0),
            ended("approve_1", -1, "upstream_failed", 1),
            ended("assemble", -1, "failed", 3, 1.0),
            ended("discover", -1, "success", 6, 2.0),
        ]
    )
    assert [each.name for each in found] == ["discover", "ingest", "assemble", "cta_outcome", "approve_1"]
    assert [each.seconds for each in found] == [2.0, 90.0, 1.0, None, None]
    assert [each.tone for each in found] == ["good", "bad", "bad", "none", "none"]
    [again] = of_tasks(
        [
            ended("ingest", 0, "success", 1, 10.0),
            ended("ingest", 1, "success", 1, 5.0),
            ended("ingest", 2, "success", 24, 9.0),
        ]
    )
    assert again.seconds == 19.0, "one was cleared later: nothing ran in between"


def test_a_task_that_waits_for_a_person_is_not_said_to_run() -> None:
    """Airflow tells nobody when a task goes to sleep: the last that was recorded of a question is that it
    began.
    """
    from sdc_ui.shared.steps import of_tasks

    begun = {
        "map_index": -1,
        "label": "",
        "state": "running",
        "tries": 1,
        "seconds": None,
        "said": "",
        "finished_at": None,
    }
    found = of_tasks([begun | {"task_id": name} for name in ("approve_1", "agree", "bases")])
    assert {each.name: each.state for each in found} == {
        "approve_1": "waiting for a person",
        "agree": "waiting for a person",
        "bases": "running",
    }
    assert [each.counts for each in found if each.name == "approve_1"] == [{"waiting for a person": 1}]


def test_who_must_do_something_comes_first() -> None:
    from sdc_ui.cycles.countries import countries

    found = countries(
        ["AT", "BE", "CY", "DE"],
        [
            sent("AT", "accepted", 1),
            sent("BE", "received", 1),
            sent("CY", "accepted", 1),
            sent("CY", "refused", 2),
        ],
    )
    assert [(each.code, str(each.stage)) for each in found] == [
        ("CY", "refused"),
        ("DE", "awaited"),
        ("BE", "received"),
        ("AT", "accepted"),
    ]
    assert found[0].counts


@pytest.mark.parametrize(
    ("due", "done", "late", "tone"),
    [
        (0, None, True, "bad"),
        (2, None, False, "calm"),
        (0, -1, False, "good"),
        (-2, -1, True, "warn"),
        (None, None, False, "calm"),
        (None, 0, False, "good"),
    ],
)
def test_deadlines(due: int | None, done: int | None, late: bool, tone: str) -> None:
    from sdc_ui.cycles.deadlines import deadline

    def at(hours: int | None) -> datetime | None:
        return None if hours is None else NOON + timedelta(hours=hours)

    found = deadline("x", at(due), at(done), NOON + timedelta(hours=1))
    assert (found.late, found.tone) == (late, tone)


def history_row(**own: Any) -> dict[str, Any]:
    """A record of `reader.history`."""
    known = dict.fromkeys(
        (
            "release_id",
            "domain",
            "period",
            "started_at",
            "submitter",
            "version",
            "publication_digest",
            "released_at",
            "embargo",
        )
    )
    decided = {
        "decision": None,
        "decided_by": "bert",
        "decision_details": '{"note": "odd"}',
        "newer": False,
        "dropped": False,
        "second": False,
        "followed": None,
        "agreed": [],
    }
    about = {"passed": False, "approvals_asked": None, "approvals": 0, "retracted": None, "visible": False}
    return {**known, **about, **decided, **own}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"state": "running"}, "running"),
        ({"state": "running", "passed": True, "approvals_asked": 1}, "running"),
        ({"state": "running", "passed": True, "approvals_asked": 1, "approvals": 1}, "running"),
        ({"state": "waiting"}, "waiting for a country"),
        ({"state": "waiting", "passed": True, "approvals_asked": 1}, "waiting for approval"),
        ({"state": "waiting", "passed": True}, "not published yet"),
        ({"state": "waiting", "passed": True, "newer": True, "second": True}, "stopped: a second file waits"),
        ({"state": "waiting", "passed": True, "approvals_asked": 1, "second": True}, "waiting for approval"),
        ({"state": "blocked"}, "blocked by the audit"),
        ({"state": "blocked", "passed": True, "decision": "reject"}, "rejected"),
        ({"state": "blocked", "passed": True, "decision": "approve"}, "blocked by the audit"),
        ({"state": "blocked", "newer": True}, "superseded"),
        ({"state": "failed", "newer": True}, "superseded"),
        ({"state": "waiting", "passed": True, "newer": True}, "superseded"),
        ({"state": "waiting", "passed": True, "approvals_asked": 1, "newer": True}, "waiting for approval"),
        ({"state": "waiting", "passed": True, "approvals_asked": 1, "followed": "later"}, "superseded"),
        ({"state": "failed"}, "failed"),
        ({"state": "published"}, "same as the version before"),
        ({"state": "published", "version": 1}, "under embargo"),
        ({"state": "published", "version": 1, "visible": True}, "published"),
        ({"state": "published", "version": 1, "visible": True, "retracted": "why"}, "retracted"),
        ({"state": "running", "version": 1, "visible": True}, "published"),
    ],
)
def test_standings(row: dict[str, Any], expected: str) -> None:
    from sdc_ui.shared.standing import NEXT, TONES, Standing, release_line

    line = release_line(history_row(**row))
    assert line.standing == expected
    assert line.rejected == (("bert", "odd") if row.get("decision") == "reject" else None)
    assert set(TONES) == set(NEXT) == set(Standing)
    if line.newer and line.standing is Standing.APPROVAL:
        assert line.next.startswith(
            "Run the release again: it takes in the newer deliveries. Or somebody other than the submitter"
        )


def test_blocks_sum_up_their_codes() -> None:
    from sdc_ui.releases.heatmap import heat_maps
    from sdc_ui.shared.labels import labels_of

    lists = {
        "A": [["T", "", "All"], ["C", "T", "C"], ["C1", "C", "C1"], ["C11", "C1", "C11"], ["D", "T", "D"]],
        "S": [["_T", "", "All"], ["S1", "_T", "S1"]],
    }
    settings = {"codelists": lists, "hierarchies": [{"dimension": "A"}, {"dimension": "S"}]}
    kinds = ("exact", "rounded", "withheld", "visible")
    cells = [
        {"cell": f"EU.X.{a}.{s}", "area": "EU", "indicator": "X", "treatment": kinds[(i + j) % 4], "size": 3}
        for i, (a, _, _) in enumerate(lists["A"])
        for j, (s, _, _) in enumerate(lists["S"])
    ]
    (found,) = heat_maps(cells, labels_of("d", settings))
    assert [row.name.code for row in found.blocks] == ["T", "C", "D"]
    assert [row.depth for row in found.codes] == [0, 1, 2, 3, 1]
    assert sum(field.total for row in found.blocks for field in row.fields) == len(cells)
    assert all(field.total == 1 for row in found.codes for field in row.fields)
    of_c = found.blocks[1].fields[0]
    assert (of_c.exact, of_c.rounded, of_c.withheld, of_c.visible) == (0, 1, 1, 1)
    assert of_c.size == 3


def test_a_domain_of_which_nothing_is_known_has_codes_for_labels() -> None:
    from sdc_ui.releases.heatmap import heat_maps
    from sdc_ui.shared.labels import labels_of

    labels = labels_of("d", {})
    assert (labels.title, labels.area("AT").label, labels.measure("X").unit, labels.cell("EU.X.C.S")) == (
        "d",
        "AT",
        "units",
        "",
    )
    assert (
        heat_maps(
            [{"cell": "EU.X.C.S", "area": "EU", "indicator": "X", "treatment": "exact", "size": 0}], labels
        )
        == ()
    )


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (0.04, "0.0 s"),
        (59.94, "59.9 s"),
        (60, "1 min"),
        (3725, "1 h 2 min"),
        (86400 * 2 + 61, "2 d"),
        (1241 * 86400 + 47_000, "1 241 d"),
        (-90, "1 min 30 s"),
    ],
)
def test_spans(length: float, said: str) -> None:
    from sdc_ui.shared.words import span

    assert span(length).replace("\u202f", " ") == said
    assert span(timedelta(seconds=length)) == span(length)


@pytest.mark.parametrize(
    ("number", "said"),
    [(20160, "20 160"), (-1234567, "−1 234 567"), (0.00123456, "0.001235"), (461087.3, "461 100")],
)
def test_numbers(number: float, said: str) -> None:
    from sdc_ui.shared.words import grouped, significant

    told = grouped(number) if number == int(number) else significant(number)
    assert told.replace("\u202f", " ") == said


def test_shares_never_round_to_all_or_nothing() -> None:
    from sdc_ui.shared.words import share

    assert [share(each).replace("\u202f", " ") for each in (0, 0.001, 0.5, 0.999, 1)] == [
        "0 %",
        "<1 %",
        "50 %",
        ">99 %",
        "100 %",
    ]


def test_every_finding_and_check_has_a_remedy() -> None:
    from sdc_ui.cycles.remedies import FINDINGS, remedy

    from sdc_tasks.checks.registry import CHECKS

    rooms = [ROOT / "sdc_tasks" / room for room in ("intake", "steps")]
    sources = "".join(file.read_text(encoding="utf-8") for room in rooms for file in room.glob("*.py"))
    codes = set(re.findall(r'"((?:SDC/[a-z]+|150/[0-9-]+|140))"', sources))
    assert codes >= {"140", "150/904-2", "SDC/decimal", "SDC/secondary", "SDC/unprotectable"}
    assert codes - set(FINDINGS) == set()
    assert all(remedy(name) == check.remedy for name, check in CHECKS.items())


def test_pages_import_the_reader_and_nothing_else_of_the_project() -> None:
    allowed = {
        "sdc_tasks.checks.listed",
        "sdc_tasks.checks.registry",
        "sdc_tasks.errors",
        "sdc_tasks.model.claim",
        "sdc_tasks.model.findings",
        "sdc_tasks.model.keys",
        "sdc_tasks.model.public_files",
        "sdc_tasks.model.series",
        "sdc_tasks.model.time.periods",
        "sdc_tasks.warehouse.reader",
        "sdc_tasks.warehouse.database.engine",
        "sdc_tasks.warehouse.forms.people",
        "sdc_tasks.warehouse.forms.related",
    }
    found = set()
    for file in (PLUGINS / "sdc_ui").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module == "sdc_tasks.warehouse":
                found |= {f"sdc_tasks.warehouse.{each.name}" for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
    assert {each for each in found if each.split(".")[0] == "sdc_tasks"} == allowed


def test_a_task_that_loads_the_plugin_does_not_load_the_pages() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(PLUGINS)!r}); import sdc_plugin; print('sdc_ui' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_who_only_records_or_shows_loads_nothing_that_computes() -> None:
    """The api-server, the scheduler and the triggerer keep what they once imported."""
    ours = ("reader", "operations.cycles", "database.migrations")
    needed = ", ".join(["sdc_listener", "sdc_alerts", *(f"sdc_tasks.warehouse.{each}" for each in ours)])
    program = (
        f"import sys; sys.path.insert(0, {str(PLUGINS)!r}); import {needed}; "
        f"print(*sorted({COMPUTING} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


COMPUTING = {"numpy", "scipy", "pandas", "highspy", "pulp", "pyarrow", "great_expectations"}


def test_a_release_waits_for_an_approval_only_while_somebody_asks() -> None:
    """After the domain file was changed, Airflow removes the question and the run fails: nobody can answer
    any more.
    """
    from sdc_ui.shared.runs import DagRun
    from sdc_ui.shared.standing import Standing, cycle_lines

    def run(state: str) -> DagRun:
        return DagRun("eu_release_sbs", "one", "r1", state, "operator", None, None)

    waits = history_row(release_id="r1", state="waiting", passed=True, approvals_asked=1)
    assert cycle_lines([waits], [run("running")])[0].standing is Standing.APPROVAL
    assert cycle_lines([waits], [run("failed")])[0].standing is Standing.STOPPED
    assert cycle_lines([waits], [])[0].standing is Standing.APPROVAL, (
        "released without Airflow: asked at a shell"
    )
    red = replace(
        run("running"), stopped_at="approve_1", said="publication is not the one that this run asked about"
    )
    assert cycle_lines([waits], [red])[0].standing is Standing.STOPPED, "its report is still written"


def test_a_version_is_not_stale_where_the_newer_deliveries_give_its_table_once_more() -> None:
    from sdc_ui.shared.standing import cycle_lines

    out = history_row(release_id="r1", state="published", version=1, visible=True, newer=True)
    assert cycle_lines([out], [])[0].stale
    again = history_row(release_id="r2", state="published")
    assert not cycle_lines([again, out], [])[1].stale
    later = history_row(release_id="r2", state="published", newer=True)
    assert cycle_lines([later, out], [])[1].stale, "still newer ones came"


def test_nobody_is_asked_to_agree_to_files_that_do_not_count_any_more() -> None:
    from sdc_ui.shared.standing import release_line

    asked = release_line(
        history_row(state="waiting", passed=True, approvals_asked=1, newer=True, dropped=True)
    )
    assert (asked.standing, asked.next) == (
        "waiting for approval",
        "Run the release again: it is made of the files that count.",
    )
    assert (
        "second file"
        in release_line(history_row(state="waiting", passed=True, newer=True, dropped=True, second=True)).next
    )


def test_a_release_that_changed_nothing_asks_for_no_run_where_the_version_that_is_out_counts_again() -> None:
    from sdc_ui.shared.standing import cycle_lines

    again = history_row(release_id="r2", state="published", newer=True, dropped=True)
    out = history_row(release_id="r1", state="published", version=1, visible=True)
    newest, below = cycle_lines([again, out], [])
    assert (newest.newer, newest.dropped, newest.next, below.newer) == (False, False, "", False)


def test_an_answer_may_be_changed_only_while_a_file_of_the_country_counts() -> None:
    from types import SimpleNamespace
    from typing import cast

    from sdc_ui.cycles.second import Given, choice

    given = cast(Given, SimpleNamespace(answer="replace"))
    mine = {"digest": "x", "file": "AT_x.csv", "state": "refused", "lying": True}
    base = {"digest": "b", "file": "AT_2024.csv", "state": "superseded", "lying": True}
    assert choice(mine, [mine, base], {"x": given}) is None
    assert choice(mine, [mine, {**base, "state": "accepted"}], {"x": given}) is not None


def test_a_rejected_release_gives_way_where_the_version_that_is_out_is_of_what_counts_again() -> None:
    from sdc_ui.shared.standing import Standing, cycle_lines

    out = history_row(release_id="r1", state="published", version=1, visible=True)
    no = {"release_id": "r2", "state": "blocked", "decision": "reject", "newer": True}
    newest, below = cycle_lines([history_row(**no, followed="r1"), out], [])
    assert (newest.standing, newest.next, newest.takes_in) == (
        Standing.SUPERSEDED,
        "Nothing: r1 took its place.",
        False,
    )
    assert (below.standing, newest.rejected) == (Standing.PUBLISHED, ("bert", "odd"))
    assert cycle_lines([history_row(**no), out], [])[0].takes_in, "other deliveries wait"


def test_a_run_that_stopped_says_why_unless_the_state_of_the_release_does() -> None:
    from sdc_ui.shared.runs import DagRun, ended
    from sdc_ui.shared.standing import release_line

    red = DagRun(
        "eu_release_sbs",
        "two",
        "r1",
        "failed",
        "operator",
        None,
        None,
        "publish",
        "NotApproved: nobody agreed",
    )
    assert ended(None, red) is red, "before the first release"
    for row, tells in (
        ({"state": "waiting", "passed": True}, True),
        ({"state": "published", "version": 1, "retracted": "x"}, True),
        ({"state": "blocked"}, False),
        ({"state": "blocked", "decision": "reject"}, False),
        ({"state": "waiting", "passed": True, "newer": True}, False),
    ):
        assert (ended(release_line(history_row(**row)), red) is red) is tells, row
    assert ended(None, replace(red, state="running")) is None


def test_a_retraction_that_was_not_made_says_why_until_another_is_asked_for() -> None:
    from sdc_ui.shared.runs import DagRun, stayed
    from sdc_ui.shared.standing import release_line

    out = release_line(history_row(release_id="r1", state="published", version=1, visible=True))
    no = DagRun(
        "retract_release",
        "one",
        "r1",
        "failed",
        "dora",
        None,
        None,
        "agree",
        "bert keeps the release",
        "wrong unit",
    )
    assert stayed([no], out) is no
    assert stayed([replace(no, state="running"), no], out) is None, "asked again"
    assert stayed([replace(no, release_id="r0")], out) is None
    assert stayed([no], replace(out, retracted="wrong unit")) is None
    assert stayed([no], None) is None


def test_a_correction_makes_nobody_late_and_what_was_retracted_does_not_go_out() -> None:
    from sdc_ui.cycles.countries import countries
    from sdc_ui.cycles.cycle import Agreement, deadlines_of
    from sdc_ui.shared.standing import release_line

    def at(hour: int) -> datetime:
        return datetime(2026, 3, 2, hour, tzinfo=UTC)

    cycle = {"delivery_due": at(9), "protection_due": None, "approval_due": None, "embargo": at(20)}
    files = [
        {"country": "AT", "state": "superseded", "received_at": at(7), "file": "AT.csv", "lying": True},
        {"country": "BE", "state": "accepted", "received_at": at(8), "file": "BE.csv", "lying": True},
        {"country": "AT", "state": "accepted", "received_at": at(12), "file": "AT.csv", "lying": True},
    ]
    found = countries(("AT", "BE"), files, ())
    out = release_line(history_row(state="published", version=1, released_at=at(13), embargo=at(20)))
    deliveries, *_, goes_out = deadlines_of(cycle, found, files, out, (), Agreement(0, None), at(14))
    assert (deliveries.done, deliveries.late) == (at(8), False)
    assert (goes_out.name, goes_out.hint) == ("Goes out", "published")
    received = [
        files[1] | {"received_at": at(9) + timedelta(minutes=minute), "state": state}
        for minute, state in ((5, "accepted"), (5, "received"))
    ]
    (read, *_), (judged, *_) = (
        deadlines_of(
            cycle,
            countries(("BE",), [each], ()),
            [each],
            None,
            (),
            Agreement(0, None),
            at(9) + timedelta(minutes=6),
        )
        for each in received
    )
    assert (read.done, read.late) == (at(9), False), "it lay there in time, and was read when it was due"
    assert (judged.done, judged.hint) == (None, "being judged: BE")
    back = deadlines_of(
        cycle, found, files, replace(out, retracted="wrong unit"), (), Agreement(0, None), at(14)
    )
    assert "Goes out" not in {each.name for each in back}


def test_whoever_started_a_run_of_a_release_is_named_beside_its_submitter() -> None:
    from sdc_ui.shared.runs import DagRun
    from sdc_ui.shared.standing import cycle_lines

    def run(name: str, release: str, by: str) -> DagRun:
        return DagRun("eu_release_sbs", name, release, "running", by, None, None)

    runs = [run("three", "r1", "bert"), run("two", "r0", "cleo"), run("one", "r1", "scheduled")]
    [line] = cycle_lines([history_row(release_id="r1", state="waiting", submitter="pipeline")], runs)
    assert line.starters == ("pipeline", "bert")


def test_a_release_that_changed_nothing_is_retracted_with_the_version_that_it_repeats() -> None:
    from sdc_ui.shared.standing import Standing, cycle_lines, version_out

    again = history_row(release_id="r2", state="published")
    for retracted, standing in ((None, Standing.UNCHANGED), ("wrong unit", Standing.RETRACTED)):
        first = history_row(release_id="r1", state="published", version=1, visible=True, retracted=retracted)
        lines = cycle_lines([again, first], [])
        assert (lines[0].standing, lines[0].retracted) == (standing, retracted)
        assert (version_out(lines) is None) is (retracted is not None)
        assert lines[0].shown is (retracted is None), "its files are those of the version that the world sees"
