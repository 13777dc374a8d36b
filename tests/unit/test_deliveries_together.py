"""Several files of a country are one delivery; nothing replaces anything in silence, and
nothing in an inbox is passed over.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from sdc_tasks import outputs, steps
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.series import Answer, Series, series_of
from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse import log, reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database import checks
from support.deliveries import HEALTHY, PERIOD, SECRET, sdmx_1, small_domain


@pytest.fixture
def desk(tmp_path: Path) -> steps.Desk:
    small_domain(tmp_path)
    (tmp_path / "inbox").mkdir()
    put(tmp_path, "BE.csv", sdmx_1(HEALTHY, "BE"))
    return steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", tmp_path / "small.yaml", PERIOD)


def put(folder: Path, name: str, text: str) -> None:
    (folder / "inbox" / name).write_text(text)


def halves(text: str) -> tuple[str, str]:
    """The file as two with the same header, activity by activity."""
    head, *records = text.splitlines()
    first = [record for record in records if ",TOTAL," in record]
    return "\n".join([head, *first, ""]), "\n".join(
        [head, *(record for record in records if record not in first), ""]
    )


def judge(desk: steps.Desk, folder: Path) -> dict[str, str]:
    """name of each group of files → why it is refused, empty where it is accepted."""
    said = {}
    for each in steps.discover(desk, folder / "inbox"):
        try:
            steps.ingest(desk, folder / "inbox", each.file)
            said[" ".join(each.files)] = ""
        except InvalidInput as error:
            said[" ".join(each.files)] = str(error)
    assert SECRET not in str(said)
    return said


def states(desk: steps.Desk) -> dict[str, str]:
    return {each.file: str(each.state) for each in store.deliveries(desk.engine, "small", PERIOD)}


def told(desk: steps.Desk) -> list[dict[str, str]]:
    text = outputs.findings(desk)
    assert SECRET not in text
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("AT_2024.csv", ("AT_2024.csv", 0)),
        ("AT_v2.csv", ("AT.csv", 2)), ("AT_v10.csv", ("AT.csv", 10)), ("AT_v2", ("AT", 2)),
        ("AT_V2.csv", ("AT_V2.csv", 0)), ("AT_v02.csv", ("AT_v02.csv", 0)), ("_v2.csv", ("_v2.csv", 0)),
        ("AT_v2.b.csv", ("AT_v2.b.csv", 0)),
    ],
)  # fmt: skip
def test_the_series_of_a_name(name, series):
    assert series_of(name) == Series(*series)


def test_complementary_files_are_one_delivery(desk, tmp_path):
    for name, text in zip(("AT_totals.csv", "AT_rest.csv"), halves(sdmx_1()), strict=True):
        put(tmp_path, name, text)
    assert judge(desk, tmp_path) == {"AT_rest.csv AT_totals.csv": "", "BE.csv": ""}
    assert states(desk) == {"AT_rest.csv": "accepted", "AT_totals.csv": "accepted", "BE.csv": "accepted"}
    release_id = steps.assemble(desk)
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    assert problem.a[0] == 749391
    assert len(problem.deliveries) == 3
    assert not checks.failures(desk.engine)


def test_a_part_alone_is_refused_until_the_other_comes(desk, tmp_path):
    first, second = halves(sdmx_1())
    put(tmp_path, "AT_a.csv", first)
    said = judge(desk, tmp_path)
    assert "no record of TURNOVER, ACTIVITY C" in said["AT_a.csv"]
    put(tmp_path, "AT_b.csv", second)
    assert steps.ingest(desk, tmp_path / "inbox", "AT_a.csv")[0] == "AT", (
        "the task of the country finds what came since"
    )
    assert states(desk) == {"AT_a.csv": "accepted", "AT_b.csv": "accepted", "BE.csv": "accepted"}


def test_overlapping_files_that_differ_are_refused_and_both_are_named(desk, tmp_path):
    put(tmp_path, "AT_a.csv", sdmx_1())
    put(
        tmp_path,
        "AT_b.csv",
        sdmx_1(
            HEALTHY.replace("300 D", "301 D")
            .replace("700 F", "701 F")
            .replace("749391", "749392")
            .replace("400 F", "401 F")
        ),
    )
    said = judge(desk, tmp_path)
    assert (
        "AT_a.csv and AT_b.csv differ in AT.TURNOVER.TOTAL._T, AT.TURNOVER.TOTAL.S, AT.TURNOVER.C._T and 1 "
        "more"
    ) in said["AT_a.csv AT_b.csv"]
    assert states(desk) == {"AT_a.csv": "refused", "AT_b.csv": "refused", "BE.csv": "accepted"}
    with pytest.raises(InvalidInput, match="no accepted delivery from AT"):
        steps.assemble(desk)


def test_overlapping_files_that_say_the_same_are_a_warning(desk, tmp_path):
    first, _ = halves(sdmx_1())
    put(tmp_path, "AT_a.csv", sdmx_1())
    put(tmp_path, "AT_b.csv", first)
    assert judge(desk, tmp_path) == {"AT_a.csv AT_b.csv": "", "BE.csv": ""}
    assert [(each["CODE"], each["SEVERITY"], each["COUNTRY"]) for each in told(desk)] == [
        ("SDC/overlap", "warning", "AT")
    ]


@pytest.mark.parametrize("guess", ["300", "301"])
def test_a_file_under_another_name_tells_nothing_of_a_country_and_stops_it_not(desk, tmp_path, guess):
    """BE's file guesses a cell of AT: right or wrong, what is said is the same, and AT's delivery counts."""
    head, *records = sdmx_1(HEALTHY.replace("300 D", f"{guess} D")).splitlines()
    put(tmp_path, "AT.csv", sdmx_1())
    put(tmp_path, "BE_guess.csv", "\n".join([head, next(each for each in records if ",C,S," in each), ""]))
    said = judge(desk, tmp_path)
    assert said.pop("AT.csv") == ""
    [(files, why)] = said.items()
    assert files == "BE.csv BE_guess.csv"
    assert "the name of the file says BE, but its records say AT" in why
    assert {name: state for name, state in states(desk).items() if name != "BE.csv"} == {
        "AT.csv": "accepted",
        "BE_guess.csv": "refused",
    }
    assert [(each["FILE"], each["CODE"]) for each in told(desk)] == [("BE_guess.csv", "SDC/file-name")]


@pytest.mark.parametrize("guess", ["300", "301"])
def test_a_file_that_names_no_country_is_not_compared_with_one_that_does(desk, tmp_path, guess):
    put(tmp_path, "AT.csv", sdmx_1())
    head, *records = sdmx_1(HEALTHY.replace("300 D", f"{guess} D")).splitlines()
    put(tmp_path, "guess.csv", "\n".join([head, next(each for each in records if ",C,S," in each), ""]))
    said = judge(desk, tmp_path)
    assert (
        "guess.csv has no country in its name, so it is not combined with AT.csv" in said["AT.csv guess.csv"]
    )
    assert {each["CODE"] for each in told(desk)} == {"SDC/file-name"}
    (tmp_path / "inbox" / "guess.csv").unlink()
    assert judge(desk, tmp_path)["AT.csv"] == ""


def test_the_word_for_a_country_may_stand_anywhere_in_the_name(desk, tmp_path):
    for name in ("SBS_A_AT_2024.csv", "BE-AT.csv"):
        put(tmp_path, name, sdmx_1())
        assert judge(desk, tmp_path)[name] == ""
        (tmp_path / "inbox" / name).unlink()


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", ["AT.csv", "AT_v2.csv"])
def test_a_file_replaces_one_of_its_series_and_says_so(desk, tmp_path, name, together):
    before, after = sdmx_1(), sdmx_1(HEALTHY.replace("300 D", "300 A"))
    put(tmp_path, "AT.csv", before)
    if not (together and name != "AT.csv"):
        judge(desk, tmp_path)
    put(tmp_path, name, after)
    assert set(judge(desk, tmp_path).values()) == {""}
    judge(desk, tmp_path)  # again, which changes nothing and says it still
    counted = {
        (each.file, str(each.state))
        for each in store.deliveries(desk.engine, "small", PERIOD)
        if each.country == "AT"
    }
    assert counted == {("AT.csv", "superseded"), (name, "accepted")}
    [row] = [each for each in told(desk) if each["CODE"] == "SDC/superseded"]
    assert f"{name} replaces AT.csv" in row["MESSAGE"]
    assert not checks.failures(desk.engine)


def test_a_lower_version_that_comes_late_does_not_count(desk, tmp_path):
    put(tmp_path, "AT_v2.csv", sdmx_1(HEALTHY.replace("300 D", "300 A")))
    judge(desk, tmp_path)
    put(tmp_path, "AT.csv", sdmx_1())
    assert set(judge(desk, tmp_path).values()) == {""}
    assert states(desk) == {"AT_v2.csv": "accepted", "AT.csv": "superseded", "BE.csv": "accepted"}
    assert not checks.failures(desk.engine)


def test_one_part_is_replaced_and_the_other_stays(desk, tmp_path):
    first, second = halves(sdmx_1())
    put(tmp_path, "AT_a.csv", first)
    put(tmp_path, "AT_b.csv", second)
    judge(desk, tmp_path)
    put(tmp_path, "AT_b.csv", second.replace(",300,EUR,3,A,D", ",300,EUR,3,A,A"))
    assert set(judge(desk, tmp_path).values()) == {""}
    found = [
        (each.file, str(each.state))
        for each in store.deliveries(desk.engine, "small", PERIOD)
        if each.country == "AT"
    ]
    assert sorted(found) == [("AT_a.csv", "accepted"), ("AT_b.csv", "accepted"), ("AT_b.csv", "superseded")]


# --- what is not read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AT_2024.ods", "AT.tar.gz", "notes", "older"])
def test_whatever_is_not_read_stops_the_release_and_is_told(desk, tmp_path, name):
    put(tmp_path, "AT.csv", sdmx_1())
    (tmp_path / "inbox" / name).mkdir() if name == "older" else put(tmp_path, name, "PK\x03\x04")
    said = judge(desk, tmp_path)
    assert "Remedy" in said[name]
    with pytest.raises(InvalidInput, match=f"holds something unread that may be a delivery: {name}"):
        steps.assemble(desk)
    assert steps.ready(desk) is None
    assert [(each["FILE"], each["CODE"], each["SEVERITY"]) for each in told(desk)] == [
        (name, "SDC/unread", "error")
    ]
    path = tmp_path / "inbox" / name
    path.rmdir() if path.is_dir() else path.unlink()
    judge(desk, tmp_path)
    steps.assemble(desk)


def test_a_name_with_a_dot_or_one_that_the_domain_ignores_is_passed_over(tmp_path):
    small_domain(tmp_path, "flags:", "inbox: {ignore: ['README*', '*.pdf']}\nflags:")
    (tmp_path / "inbox").mkdir()
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", tmp_path / "small.yaml", PERIOD)
    for country in ("AT", "BE"):
        put(tmp_path, f"{country}.csv", sdmx_1(HEALTHY, country))
    for name in (".DS_Store", "README.md", "letter.pdf"):
        put(tmp_path, name, "x")
    assert judge(desk, tmp_path) == {"AT.csv": "", "BE.csv": ""}
    steps.assemble(desk)


def test_the_name_of_a_file_is_no_formula(desk, tmp_path):
    put(tmp_path, "=1+1.ods", "x")
    judge(desk, tmp_path)
    assert [each["FILE"] for each in told(desk)] == ["'=1+1.ods"]


def test_findings_of_a_refused_delivery_are_a_file_and_a_command(desk, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from sdc_tasks.cli.app import app

    put(tmp_path, "AT.csv", sdmx_1(HEALTHY.replace("700 F", "701 F")))
    out = tmp_path / "out"
    place = ["--domain", str(tmp_path / "small.yaml"), "--period", PERIOD]
    done = CliRunner().invoke(app, ["release", *place, "--inbox", str(tmp_path / "inbox"), "--out", str(out)])
    assert isinstance(done.exception, InvalidInput), "AT is missing"
    text = (out / "findings.csv").read_text()
    [row] = list(csv.DictReader(io.StringIO(text)))
    assert (row["COUNTRY"], row["FILE"], row["CODE"]) == ("AT", "AT.csv", "additivity")
    assert row["CELL"] == "AT.TURNOVER.C._T AT.TURNOVER.TOTAL._T"
    assert SECRET not in text
    shown = CliRunner().invoke(app, ["findings", *place, "--warehouse", f"sqlite:///{out / 'warehouse.db'}"])
    assert shown.stdout == text
    assert len(reader.deliveries(desk.engine, "small", PERIOD)) == 0, "another warehouse"


# --- a second file of a country -----------------------------------------------------------------------------


OTHER = (
    HEALTHY.replace("749391", "749392")
    .replace("700 ", "701 ")
    .replace("300 D", "301 D")
    .replace("400 F", "401 F")
)


@pytest.fixture
def second(desk, tmp_path):
    """AT's delivery counts, and another complete table of AT came under another name."""
    put(tmp_path, "AT_2024.csv", sdmx_1())
    judge(desk, tmp_path)
    put(tmp_path, "AT_new.csv", sdmx_1(OTHER))
    return desk


def of_at(desk: steps.Desk) -> dict[str, str]:
    return {name: state for name, state in states(desk).items() if name != "BE.csv"}


def test_a_second_file_of_a_country_waits_for_a_person_and_nothing_is_released_meanwhile(second, tmp_path):
    for _ in range(2):
        said = judge(second, tmp_path)["AT_2024.csv AT_new.csv"]
        assert "AT_new.csv waits: AT has AT_2024.csv already" in said
        assert "sdc files keep|replace|both" in said
        assert of_at(second) == {"AT_2024.csv": "accepted", "AT_new.csv": "received"}
    with pytest.raises(InvalidInput, match=r"second files of countries wait for an answer: AT_new\.csv"):
        steps.assemble(second)
    assert steps.ready(second) is None
    assert [(each["FILE"], each["CODE"]) for each in told(second)] == [("AT_new.csv", "SDC/second")]
    put(tmp_path, "AT_2024.csv", sdmx_1(HEALTHY.replace("300 D", "300 A")))
    judge(second, tmp_path)
    found = [
        (each.file, str(each.state))
        for each in store.deliveries(second.engine, "small", PERIOD)
        if each.country == "AT"
    ]
    assert sorted(found) == [
        ("AT_2024.csv", "accepted"),
        ("AT_2024.csv", "superseded"),
        ("AT_new.csv", "received"),
    ], "corrections go on"
    assert not checks.failures(second.engine)


@pytest.mark.parametrize(
    ("answer", "then"),
    [
        ("keep", {"AT_2024.csv": "accepted", "AT_new.csv": "refused"}),
        ("replace", {"AT_2024.csv": "superseded", "AT_new.csv": "accepted"}),
        ("both", {"AT_2024.csv": "accepted", "AT_new.csv": "refused"}),
    ],
)
def test_the_answer_decides_and_the_log_says_whose_it_was(second, tmp_path, answer, then):
    judge(second, tmp_path)
    anna = steps.open_desk(str(second.engine.url), tmp_path / "small.yaml", PERIOD, actor="anna")
    given = Answer(answer)
    if given is Answer.BOTH:
        with pytest.raises(InvalidInput, match=r"AT_2024\.csv and AT_new\.csv differ in"):
            steps.settle(anna, ["AT_new.csv"], given)
    else:
        steps.settle(anna, ["AT_new.csv"], given, "the ministry called")
    assert of_at(second) == then
    [entry] = [each for each in log.entries(second.engine) if each.action == answer]
    assert entry.actor == "anna"
    assert not checks.failures(second.engine)
    judge(second, tmp_path)
    assert of_at(second) == then, "judged again, it is the same"
    if given is not Answer.BOTH:
        with pytest.raises(InvalidInput, match=rf"AT_new\.csv: the answer was {answer} already"):
            steps.settle(anna, ["AT_new.csv"], given)
    steps.assemble(second)

    # under the name that does not count any more, a file waits again
    put(tmp_path, "AT_2024.csv", sdmx_1(HEALTHY.replace("300 D", "300 A")))
    said = judge(second, tmp_path)["AT_2024.csv AT_new.csv"]
    assert ("AT_2024.csv waits: AT has AT_new.csv already" in said) == (given is Answer.REPLACE)


def findings_of(desk: steps.Desk, name: str) -> list[str]:
    return [each["code"] for each in reader.findings(desk.engine, "small", PERIOD) if each["file"] == name]


def shown(desk: steps.Desk) -> dict[str, str]:
    return {
        each["file"]: each["state"]
        for each in reader.deliveries(desk.engine, "small", PERIOD)
        if each["country"] == "AT"
    }


def test_what_two_files_say_together_is_a_fault_of_the_one_that_does_not_count(second, tmp_path):
    judge(second, tmp_path)
    with pytest.raises(InvalidInput):
        steps.settle(second, ["AT_new.csv"], Answer.BOTH)
    assert findings_of(second, "AT_2024.csv") == []
    assert set(findings_of(second, "AT_new.csv")) == {"SDC/overlap"}


@pytest.mark.parametrize("first", list(Answer))
@pytest.mark.parametrize("then", list(Answer))
def test_who_changes_his_mind_answers_otherwise_and_the_newest_answer_counts(second, tmp_path, first, then):
    """Whatever the first answer did, after the second one all is as if it had been the only one."""
    counts = {
        Answer.KEEP: {"AT_2024.csv": "accepted", "AT_new.csv": "kept out"},
        Answer.REPLACE: {"AT_2024.csv": "superseded", "AT_new.csv": "accepted"},
        Answer.BOTH: {"AT_2024.csv": "accepted", "AT_new.csv": "refused"},
    }
    judge(second, tmp_path)
    for given in (first, then):
        if given is Answer.BOTH:
            with pytest.raises(InvalidInput, match="differ in"):
                steps.settle(second, ["AT_new.csv"], given)
        elif (given, first) == (then, then) and shown(second)["AT_new.csv"] != "waiting":
            with pytest.raises(InvalidInput, match="already"):
                steps.settle(second, ["AT_new.csv"], given)
        else:
            steps.settle(second, ["AT_new.csv"], given, "the ministry called")
        assert shown(second) == counts[given]
        assert not checks.failures(second.engine)
        judge(second, tmp_path)
        assert shown(second) == counts[given], "a later run changes nothing"
        assert not checks.failures(second.engine)
    given = [each.action for each in log.entries(second.engine) if each.action in list(Answer)]
    assert given == [first, then] or (given == [first] and first is then)
    steps.assemble(second)


def test_an_answer_is_changed_only_while_the_file_lies_in_the_inbox(second, tmp_path):
    judge(second, tmp_path)
    steps.settle(second, ["AT_new.csv"], Answer.KEEP)
    (tmp_path / "inbox" / "AT_new.csv").unlink()
    judge(second, tmp_path)
    with pytest.raises(InvalidInput, match=r"AT_new\.csv: waits for no answer"):
        steps.settle(second, ["AT_new.csv"], Answer.REPLACE)


def test_parts_that_count_together_are_taken_back_where_what_is_left_is_whole(desk, tmp_path):
    first, rest = halves(sdmx_1())
    put(tmp_path, "AT_2024.csv", sdmx_1())
    judge(desk, tmp_path)
    put(tmp_path, "AT_a.csv", first)
    put(tmp_path, "AT_b.csv", rest)
    judge(desk, tmp_path)
    steps.settle(desk, ["AT_a.csv", "AT_b.csv"], Answer.BOTH)
    assert set(shown(desk).values()) == {"accepted"}
    steps.settle(desk, ["AT_a.csv"], Answer.KEEP)
    assert shown(desk) == {"AT_2024.csv": "accepted", "AT_a.csv": "kept out", "AT_b.csv": "accepted"}
    steps.settle(desk, ["AT_a.csv", "AT_b.csv"], Answer.REPLACE)
    assert shown(desk) == {"AT_2024.csv": "superseded", "AT_a.csv": "accepted", "AT_b.csv": "accepted"}
    for name in ("AT_a.csv", "AT_b.csv"):
        with pytest.raises(InvalidInput, match="answer about all of them together"):
            steps.settle(desk, [name], Answer.KEEP)
    steps.settle(desk, ["AT_b.csv", "AT_a.csv"], Answer.KEEP)
    assert shown(desk) == {"AT_2024.csv": "accepted", "AT_a.csv": "kept out", "AT_b.csv": "kept out"}
    assert not checks.failures(desk.engine)


@pytest.mark.parametrize("order", [("AT_a.csv", "AT_b.csv"), ("AT_b.csv", "AT_a.csv")])
def test_of_two_second_files_one_counts_and_the_other_is_kept_out_in_either_order(second, tmp_path, order):
    (tmp_path / "inbox" / "AT_new.csv").unlink()
    put(tmp_path, "AT_a.csv", sdmx_1(OTHER))
    put(tmp_path, "AT_b.csv", sdmx_1(HEALTHY.replace("300 D", "300 A")))
    judge(second, tmp_path)
    for name in order:
        steps.settle(second, [name], Answer.REPLACE if name == "AT_a.csv" else Answer.KEEP)
    assert shown(second) == {"AT_2024.csv": "superseded", "AT_a.csv": "accepted", "AT_b.csv": "kept out"}
    steps.assemble(second)


def test_two_halves_replace_a_whole_table_together(second, tmp_path):
    (tmp_path / "inbox" / "AT_new.csv").unlink()
    for name, text in zip(("AT_totals.csv", "AT_rest.csv"), halves(sdmx_1(OTHER)), strict=True):
        put(tmp_path, name, text)
    judge(second, tmp_path)
    assert [each.file for each in steps.second(second)] == ["AT_rest.csv", "AT_totals.csv"]
    steps.settle(second, ["AT_totals.csv", "AT_rest.csv"], Answer.REPLACE)
    assert of_at(second) == {
        "AT_2024.csv": "superseded",
        "AT_rest.csv": "accepted",
        "AT_totals.csv": "accepted",
    }
    assert not checks.failures(second.engine)


def test_nobody_is_asked_about_a_second_file_that_cannot_be_read(second, tmp_path):
    put(tmp_path, "AT_new.csv", sdmx_1().replace(",F,", ",Z,"))
    assert (
        "AT_new.csv refused; first: CONF_STATUS Z is not a flag"
        in judge(second, tmp_path)["AT_2024.csv AT_new.csv"]
    )
    assert of_at(second) == {"AT_2024.csv": "accepted", "AT_new.csv": "refused"}
    steps.assemble(second)


def test_the_very_file_of_a_country_under_the_name_of_another_is_told_there(desk, tmp_path):
    put(tmp_path, "AT_2024.csv", sdmx_1())
    own = (tmp_path / "inbox" / "BE.csv").read_text()
    put(tmp_path, "BE.csv", sdmx_1())
    for _ in range(2):
        said = judge(desk, tmp_path)
        assert said["AT_2024.csv"] == ""
        assert "BE.csv: the same bytes as AT_2024.csv, which is the delivery of AT" in said["BE.csv"]
        assert set(store.not_read(desk.engine, "small", PERIOD)) == {"BE.csv"}, "it stands on the tile of BE"
        with pytest.raises(InvalidInput, match=r"something unread that may be a delivery: BE\.csv"):
            steps.assemble(desk)
    put(tmp_path, "BE.csv", own)
    assert set(judge(desk, tmp_path).values()) == {""}
    steps.assemble(desk)


@pytest.mark.parametrize("name", ["be_2026.csv", "BE_2026.csv", "sbs-a-be.csv"])
def test_figures_of_a_country_under_the_name_of_another_never_count(second, tmp_path, name):
    put(tmp_path, name, sdmx_1(OTHER))
    (tmp_path / "inbox" / "AT_new.csv").unlink()
    said = " ".join(judge(second, tmp_path).values())
    assert "the name of the file says BE, but its records say AT" in said
    assert states(second) == {"AT_2024.csv": "accepted", "BE.csv": "accepted", name: "refused"}
