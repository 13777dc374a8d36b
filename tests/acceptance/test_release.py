"""`sdc release`, inbox to table: what is published, what is refused and by what name, and that nothing else
is lost.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_tasks.model.secret import name_of_delivery
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential.secret import salt_of, secret_of
from sdc_tasks.warehouse.database.engine import open_warehouse
from support.deliveries import PERIOD, sdmx_1
from support.demo import quick
from support.desk import FREE, PROTECTED, SECRETS, Desk, Ended, new_desk, sdc, sdc_process, warehouse

HEADER = (
    "STRUCTURE,STRUCTURE_ID,ACTION,FREQ,REF_AREA,INDICATOR,ACTIVITY,SIZECLASS,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS,ROUNDING_BASE"
    ",UNIT_MEASURE,UNIT_MULT,DECIMALS"
)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


# --- a demonstration, from the shell ------------------------------------------------------------------------


@dataclass(frozen=True)
class Demo:
    """A small demonstration, released by `sdc` in a process of its own."""

    folder: Path
    ended: Ended

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def where(self) -> tuple[object, ...]:
        return ("--domain", self.folder / "domain.yaml", "--period", PERIOD, "--inbox", self.folder / "inbox")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    made = sdc("demo", folder, "--countries", 4, "--activities", 15, "--sizes", 3)
    assert made.code == 0, made.text
    assert "4 deliveries" in made.said
    quick(folder / "domain.yaml")
    where = ("--domain", folder / "domain.yaml", "--period", PERIOD, "--inbox", folder / "inbox")
    return Demo(folder, sdc_process("release", *where, "--out", folder / "out"))


def national(folder: Path) -> Iterator[dict[str, str]]:
    """Every record of an inbox, in whatever format it came."""
    for path in sorted(folder.iterdir()):
        text = path.read_bytes().decode("utf-8-sig")
        separator = ";" if ";" in text.splitlines()[0] else ","
        for record in csv.DictReader(io.StringIO(text), delimiter=separator):
            yield {**record, "OBS_VALUE": record["OBS_VALUE"].removesuffix(",0")}


def test_a_release_says_what_it_did(demo):
    assert (demo.ended.code, demo.ended.complained) == (0, "")
    paths = (f"warehouse: sqlite:///{demo.out}/warehouse.db\n", f"report: {demo.out}/report.html\n")
    for said in (
        "4 accepted, 0 refused",
        "exact",
        "rounded",
        "withheld",
        "median",
        "LPs",
        "seconds",
        "version",
        *paths,
    ):
        assert said in demo.ended.said
    assert re.search(r"audit\s*│ passed: (\d+) of \1 primaries protected", demo.ended.said)


def test_the_table_has_every_aggregate_cell_once(demo):
    published = rows(demo.out / "table.csv")
    assert (demo.out / "table.csv").read_text(encoding="utf-8").splitlines()[0] == HEADER
    keys = Counter((row["ACTIVITY"], row["SIZECLASS"]) for row in published)
    assert (len(keys), set(keys.values())) == (60, {1})
    assert {(row["REF_AREA"], row["TIME_PERIOD"]) for row in published} == {("EU27_2020", PERIOD)}


def test_a_rounded_cell_is_a_multiple_of_its_base_and_holds_the_truth(demo):
    """The truth is added up here, from the files."""
    truth: Counter[tuple[str, str]] = Counter()
    for record in national(demo.folder / "inbox"):
        truth[record["ACTIVITY"], record["SIZECLASS"]] += int(record["OBS_VALUE"])
    kinds = Counter()
    for row in rows(demo.out / "table.csv"):
        kind = (row["OBS_STATUS"], row["CONF_STATUS"], bool(row["OBS_VALUE"]), bool(row["ROUNDING_BASE"]))
        kinds[kind] += 1
        true = truth[row["ACTIVITY"], row["SIZECLASS"]]
        if row["ROUNDING_BASE"]:
            value, base = int(row["OBS_VALUE"]), int(row["ROUNDING_BASE"])
            assert value % base == 0
            assert 2 * abs(value - true) <= base
        elif row["OBS_VALUE"]:
            assert int(row["OBS_VALUE"]) == true
    exact, rounded, withheld = ("A", "F", True, False), ("E", "F", True, True), ("Q", "S", False, False)
    assert set(kinds) <= {exact, rounded, withheld}
    assert kinds[exact] > 0
    assert kinds[rounded] > 0


def test_the_certificate_names_what_it_is_of_and_holds_no_value(demo):
    text = (demo.out / "audit.json").read_text(encoding="utf-8")
    certificate = json.loads(text)
    assert certificate["verdict"] == "passed"
    assert certificate["counts"]["broken_requirements"] == 0
    assert (
        certificate["counts"]["primaries"]
        == certificate["counts"]["protected"]
        == len(certificate["primaries"])
        > 0
    )
    engine = open_warehouse(f"sqlite:///{demo.out / 'warehouse.db'}")
    salt = salt_of(engine, "sbs_4x15x3", PERIOD)
    engine.dispose()
    delivered = [
        name_of_delivery(path.read_bytes(), salt) for path in sorted((demo.folder / "inbox").iterdir())
    ]
    assert certificate["digests"]["deliveries"] == delivered
    assert all(
        re.fullmatch("[0-9a-f]{64}", certificate["digests"][name])
        for name in ("domain", "problem", "publication")
    )
    words = set(re.findall(r"\d+", re.sub(r'"[0-9a-f]{64}"', "", text)))
    hidden = {
        record["OBS_VALUE"] for record in national(demo.folder / "inbox") if record["CONF_STATUS"] != "F"
    }
    assert {value for value in hidden if len(value) > 3} & words == set()


def test_there_is_a_page_to_look_at(demo):
    page = (demo.out / "report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "EU27_2020" in page


def test_the_same_release_again_is_the_same_version_and_the_same_bytes(demo):
    before = {name: (demo.out / name).read_bytes() for name in ("table.csv", "audit.json")}
    again = sdc("release", *demo.where, "--out", demo.out)
    assert again.code == 0, again.text
    assert "version 1 is already published" in again.said
    assert {name: (demo.out / name).read_bytes() for name in before} == before
    stored = warehouse(demo.out, "sbs_4x15x3")
    assert (stored.versions, stored.runs, stored.unsound) == ([1], ["published"], [])


@pytest.mark.slow
def test_another_machine_would_make_the_same_bytes(demo, tmp_path, monkeypatch):
    """A fresh warehouse of the same secret, a fresh out folder, another process."""
    engine = open_warehouse(f"sqlite:///{demo.out / 'warehouse.db'}")
    monkeypatch.setenv("SDC_WAREHOUSE_SECRET", secret_of(engine).hex)
    engine.dispose()
    fresh = sdc("release", *demo.where, "--out", tmp_path / "fresh")
    assert fresh.code == 0, fresh.text
    for name in ("table.csv", "audit.json"):
        assert (tmp_path / "fresh" / name).read_bytes() == (demo.out / name).read_bytes(), name


def test_what_is_published_is_safe_and_the_exact_table_is_not(demo, tmp_path):
    judged = sdc(
        "audit", *demo.where, "--published", demo.out / "table.csv", "--json", tmp_path / "again.json"
    )
    assert judged.code == 0, judged.text
    assert judged.said.startswith("safe: 0 one-sided requirements of 0 cells broken")
    ours, theirs = (
        json.loads(path.read_text()) for path in (tmp_path / "again.json", demo.out / "audit.json")
    )
    for digests in (ours["digests"], theirs["digests"]):
        for keyed in ("deliveries", "problem", "requirements", "evidence"):  # each by its own key
            del digests[keyed]
    assert ours["digests"] == theirs["digests"]

    truth: Counter[tuple[str, str]] = Counter()
    for record in national(demo.folder / "inbox"):
        truth[record["ACTIVITY"], record["SIZECLASS"]] += int(record["OBS_VALUE"])
    everything = tmp_path / "exact.csv"
    kept = HEADER.split(",")[:9]
    with everything.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines)
        writer.writerow([*kept, "OBS_VALUE"])
        for row in rows(demo.out / "table.csv"):
            writer.writerow([*(row[name] for name in kept), truth[row["ACTIVITY"], row["SIZECLASS"]]])
    judged = sdc("audit", *demo.where, "--published", everything)
    assert judged.code == 3
    broken = re.search(r"NOT SAFE: (\d+) one-sided requirements of (\d+) cells broken", judged.said)
    assert broken
    named = set(re.findall(r"[A-Z]{2}\.TURNOVER\.\S+", judged.said))
    assert len(named) == int(broken[2]) > 0
    primary = {
        f"{each['REF_AREA']}.TURNOVER.{each['ACTIVITY']}.{each['SIZECLASS']}"
        for each in national(demo.folder / "inbox")
        if each["CONF_STATUS"] in "AM"
    }
    assert named <= primary
    hidden = {
        record["OBS_VALUE"] for record in national(demo.folder / "inbox") if record["CONF_STATUS"] != "F"
    }
    assert {value for value in hidden if len(value) > 3} & set(re.findall(r"\d+", judged.said)) == set()


@pytest.mark.slow
def test_a_release_of_the_size_of_the_paper(tmp_path):
    """27 countries, 20 160 cells: two processes, as a user would."""
    assert sdc_process("demo", tmp_path).code == 0
    where = ("--domain", tmp_path / "domain.yaml", "--period", PERIOD, "--inbox", tmp_path / "inbox")
    ended = sdc_process("release", *where, "--out", tmp_path / "out")
    assert ended.code == 0, ended.text
    assert "27 accepted, 0 refused" in ended.said
    assert len(rows(tmp_path / "out" / "table.csv")) == 720
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["verdict"] == "passed"


# --- inboxes with something wrong ---------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED)


SOUND = sdmx_1(PROTECTED, "BE")
LAST = SOUND.splitlines()[-1]
WRONG = {
    "empty": ("", "140"),
    "a header and nothing else": (SOUND.splitlines()[0] + "\n", "140"),
    "cut in the middle of a line": (SOUND[: -len(LAST) // 2], "140 line 10"),
    "cut after a whole record": ("\n".join(SOUND.splitlines()[:-2]) + "\n", "SDC/absent no record of"),
    "wrong separator": (SOUND.replace(",", "|"), "140"),
    "unknown flag": (SOUND.replace(",D,", ",Z,"), "150/904-2 line 6: CONF_STATUS"),
    "unknown activity": (SOUND.replace(",C,", ",K,"), "150/904-2 line 5: ACTIVITY K"),
    "unknown country": (SOUND.replace(",BE,", ",ZZ,"), "150/904-2 line 2: REF_AREA ZZ"),
    "another period": (SOUND.replace(",2024,", ",2023,"), "SDC/period line 2"),
    "duplicate keys": (SOUND + LAST + "\n", "SDC/duplicate line 11"),
    "a total that does not add up": (SOUND.replace(",1500000,", ",1600000,"), "additivity fails for"),
    "a missing total": (
        SOUND.replace(SOUND.splitlines()[1] + "\n", ""),
        "SDC/absent no record of BE.TURNOVER.TOTAL._T",
    ),
    "negative value": (SOUND.replace(",251409,", ",-251409,"), "SDC/negative line 6"),
    "text in OBS_VALUE": (SOUND.replace(",251409,", ",251409 or so,"), "OBS_VALUE"),
    "decimal comma and point": (
        SOUND.replace(",", ";").replace(";251409;", ";251409,0;").replace(";498591;", ";498591.0;"),
        "SDC/decimal line 7",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_delivery_stops_the_release_until_it_is_corrected(desk, wrong):
    """The domain blocks: nothing is published, the other delivery is kept. The corrected file then makes
    version 1.
    """
    content, named = WRONG[wrong]
    desk.deliver("BE", content)
    ended = desk.release()
    said = " ".join(ended.complained.split())
    assert re.search(r"BE_2024\.csv was refused, \d+ errors?, see findings\.csv\. Remedy: correct it", said)
    assert ended.refused("was refused", "Remedy")
    assert "no accepted delivery from BE" not in ended.text, "it came, and was refused"
    assert "missing_country" not in ended.text, "a partial release is no remedy for a wrong file"
    refusal = next(line for line in ended.said.splitlines() if "BE_2024.csv refused" in line)
    assert re.search(named, refusal), refusal
    assert [secret for secret in SECRETS if secret in ended.text] == []
    assert not (desk.folder / "out" / "table.csv").exists()
    stored = warehouse(desk.folder / "out")
    assert stored.versions == []
    assert sorted(state for _, state in stored.deliveries) == ["accepted", "refused"]
    assert ("AT", "accepted") in stored.deliveries

    desk.deliver("BE", PROTECTED)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "2 accepted, 1 refused" in ended.said
    assert len(rows(desk.folder / "out" / "table.csv")) == 9
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1], [])
    assert {("AT", "accepted"), ("BE", "accepted")} <= set(stored.deliveries)
    assert sorted(state for _, state in stored.deliveries) == ["accepted", "accepted", "refused"], (
        "the wrong file is kept"
    )


def test_another_period_does_not_overwrite_what_is_in_the_folder(desk):
    """The certificate in the folder says whose files these are."""
    assert desk.release().code == 0
    table = (desk.folder / "out" / "table.csv").read_bytes()
    before = sorted(each.name for each in (desk.folder / "out").iterdir())
    where = ("--domain", desk.domain, "--inbox", desk.inbox, "--out", desk.folder / "out")
    ended = sdc("release", *where, "--period", "2025")
    assert ended.refused(
        "holds the release of small 2024, which this one would overwrite", "--warehouse sqlite:"
    )
    assert (desk.folder / "out" / "table.csv").read_bytes() == table
    assert sorted(each.name for each in (desk.folder / "out").iterdir()) == before


def test_a_country_without_a_file_is_named(desk):
    (desk.inbox / "BE_2024.csv").unlink()
    assert desk.release().refused(
        "no accepted delivery from BE, and small blocks a release", "missing_country: partial"
    )
    assert warehouse(desk.folder / "out").versions == []


@pytest.mark.parametrize("absent", [True, False])
def test_a_domain_may_publish_the_sum_of_those_who_delivered(tmp_path, absent):
    """Under a code of its own; the whole sum follows as the next version under its own code."""
    desk = new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED, CY=PROTECTED)
    desk.settle("flags:", "missing_country: partial\nflags:")
    desk.deliver("BE", "")
    if absent:
        (desk.inbox / "BE_2024.csv").unlink()
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert {row["REF_AREA"] for row in rows(desk.folder / "out" / "table.csv")} == {"EU_PARTIAL"}
    left = "no file" if absent else r"BE_2024\.csv was refused, 1 error"
    assert re.search(rf"left out\W+BE: {left}", " ".join(ended.said.split()))

    desk.deliver("BE", PROTECTED)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert {row["REF_AREA"] for row in rows(desk.folder / "out" / "table.csv")} == {"EU"}
    assert "left out" not in ended.said
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1, 2], [])


def test_the_sum_of_a_single_country_gives_nothing_of_it_away(desk):
    """The partial aggregate of AT alone would be AT itself."""
    desk.settle("flags:", "missing_country: partial\nflags:")
    (desk.inbox / "BE_2024.csv").unlink()
    ended = desk.release()
    assert ended.code == 0, ended.text
    text = (desk.folder / "out" / "table.csv").read_text()
    assert [secret for secret in SECRETS if secret in text] == []
    assert desk.audit(desk.folder / "out" / "table.csv").code == 0


def test_no_country_at_all_is_no_partial_release(desk):
    desk.settle("flags:", "missing_country: partial\nflags:")
    for country in ("AT", "BE"):
        desk.deliver(country, f"{country}\n")
    assert desk.release().refused("AT_2024.csv was refused, 1 error", "BE_2024.csv was refused, 1 error")
    assert not (desk.folder / "out" / "table.csv").exists()


def test_a_domain_may_wait(desk):
    desk.settle("flags:", "missing_country: wait\nflags:")
    (desk.folder / "inbox" / "BE_2024.csv").unlink()
    assert "CountryAwaited: waiting for the delivery of BE" in desk.release().complained
    desk.deliver("BE", "")
    ended = desk.release()
    assert ended.code == 4
    assert "CountryAwaited: BE_2024.csv was refused, 1 error, see findings.csv" in ended.complained
    assert "Traceback" not in ended.text
    assert warehouse(desk.folder / "out").versions == []
    desk.deliver("BE", PROTECTED)
    assert desk.release().code == 0


def test_a_corrected_delivery_supersedes_the_one_before_and_both_are_kept(desk):
    assert desk.release().code == 0
    desk.deliver("BE", FREE)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 2 published" in ended.said
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1, 2], [])
    assert stored.deliveries == [("AT", "accepted"), ("BE", "superseded"), ("BE", "accepted")]


def test_a_wrong_correction_leaves_the_accepted_delivery_in_force(desk):
    assert desk.release().code == 0
    made = (desk.folder / "out" / "table.csv").read_bytes()
    desk.deliver("BE", SOUND.replace(",1500000,", ",1600000,"))
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "additivity fails for" in ended.said
    assert (desk.folder / "out" / "table.csv").read_bytes() == made
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1], [])
    assert stored.deliveries == [("AT", "accepted"), ("BE", "accepted"), ("BE", "refused")]


def test_the_same_file_under_two_names_is_one_delivery(desk):
    desk.deliver("BE", PROTECTED, file="copy of BE.csv")
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "2 accepted, 0 refused" in ended.said


# --- unusual, but right -------------------------------------------------------------------------------------


def flagged(drawing: str, flag: str) -> str:
    """The drawing with every cell under one flag."""
    return re.sub(r"(\d+) [FDA]\b", rf"\1 {flag}", drawing)


@pytest.mark.parametrize(
    ("drawing", "warning"),
    [
        pytest.param(FREE, "all_free", id="no primary"),
        pytest.param(flagged(PROTECTED, "A"), "all_suppressed", id="every cell suppressed"),
        pytest.param(
            flagged(PROTECTED, "D"), "all_suppressed", id="every cell suppressed, none of them primary"
        ),
    ],
)
def test_odd_flags_are_a_warning_and_the_release_goes_on(desk, drawing, warning):
    desk.deliver("BE", drawing)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "2 accepted, 0 refused" in ended.said
    engine = open_warehouse(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}")
    failed = {each["check"] for each in reader.check_results(engine, "small", PERIOD) if not each["passed"]}
    engine.dispose()
    assert warning in failed
    assert warning in (desk.folder / "out" / "report.html").read_text()
    assert desk.audit(desk.folder / "out" / "table.csv").code == 0


def test_nothing_to_protect_is_published_exactly(desk):
    for country in ("AT", "BE"):
        desk.deliver(country, FREE)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "9 exact, 0 rounded, 0 withheld" in ended.said
    assert "0 of 0 primaries" in ended.said


def test_everything_hidden_everywhere(desk):
    for country in ("AT", "BE"):
        desk.deliver(country, flagged(PROTECTED, "A"))
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert desk.audit(desk.folder / "out" / "table.csv").code == 0


def test_a_million_millions_and_a_hundredth_in_one_table(desk):
    """Nothing is lost to the size of the other: exact cells keep their hundredths, and the
    hundredth keeps its protection.
    """
    desk.settle("unit_multiplier: 3", "unit_multiplier: 3, decimals: 2")
    desk.settle(
        "flags:", "bases: {smallest: 0.01}\nchecks: {proportion_confirmed: [AT, BE]}\nflags:"
    )  # one is a million times the other
    desk.deliver(
        "AT",
        """
                _T                  S                  L
        TOTAL   1000000000000.04 F  500000000000.03 F  500000000000.01 F
        C       1000000000000.00 F  500000000000.01 D  499999999999.99 D
        D       0.04 F              0.02 D             0.02 A
        """,
    )
    desk.deliver("BE", FREE)
    ended = desk.release()
    assert ended.code == 0, ended.text
    published = {(row["ACTIVITY"], row["SIZECLASS"]): row for row in rows(desk.folder / "out" / "table.csv")}
    assert published["TOTAL", "_T"]["OBS_VALUE"] == "1000001500000.04"
    assert published["D", "_T"]["OBS_VALUE"] == "750000.04"
    assert (published["D", "L"]["OBS_VALUE"], published["D", "L"]["ROUNDING_BASE"]) != ("300000.02", "")
    assert desk.audit(desk.folder / "out" / "table.csv").code == 0


# --- blocked ------------------------------------------------------------------------------------------------


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody chooses every cell exact."""
    from sdc_tasks import pipeline
    from sdc_tasks.model.results import Publication

    def all_exact(problem: Any, *_: Any) -> Publication:
        chosen = np.flatnonzero(problem.aggregate)
        return Publication(chosen, problem.a[chosen], np.zeros(len(chosen)))

    monkeypatch.setattr(pipeline, "choose_bases", all_exact)


@pytest.mark.usefixtures("careless")
def test_a_release_that_fails_its_audit_is_reported_and_not_published(desk):
    """The first table is safe all exact; with BE free it is not, and no earlier table may pass for the new
    one.
    """
    out = desk.folder / "out"
    assert desk.release().code == 0
    assert (out / "table.csv").is_file()
    desk.deliver("BE", FREE)
    ended = desk.release()
    assert ended.code == 3
    assert "ReleaseBlocked" in ended.complained
    assert "AT.TURNOVER.D.L" in ended.complained
    assert "Nothing was published. Remedy: see audit.json" in ended.complained
    assert "Traceback" not in ended.text
    assert "FAILED" in ended.said
    assert "none: blocked" in ended.said
    certificate = json.loads((out / "audit.json").read_text())
    assert certificate["verdict"] == "failed"
    assert not (out / "table.csv").exists()
    assert (out / "report.html").is_file()
    for secret in SECRETS:
        assert secret not in ended.text + (out / "audit.json").read_text() + (out / "report.html").read_text()
    stored = warehouse(out)
    assert (stored.versions, stored.runs, stored.unsound) == ([1], ["blocked", "published"], [])


@pytest.mark.usefixtures("careless")
def test_a_blocked_release_stays_blocked_when_it_is_run_again(desk):
    desk.deliver("BE", FREE)
    assert [desk.release().code, desk.release().code] == [3, 3]
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.runs, stored.unsound) == ([], ["blocked"], [])


def test_whatever_blocks_a_release_leaves_no_table(desk, monkeypatch):
    """The audit passed, but the gate refuses: a table in the out folder would pass for a published one."""
    from sdc_tasks import pipeline
    from sdc_tasks.errors import ReleaseBlocked

    def refuse(*_: Any) -> None:
        raise ReleaseBlocked("the gate is shut. Remedy: none")

    monkeypatch.setattr(pipeline, "release", refuse)
    ended = desk.release()
    assert ended.code == 3
    assert "the gate is shut" in ended.complained
    assert warehouse(desk.folder / "out").versions == []
    assert not (desk.folder / "out" / "table.csv").exists()


def test_a_witness_that_misses_a_level_by_a_rounding_error_blocks_nothing(desk, monkeypatch):
    """The national tables protect to the last bit but one: neither a cut requirement nor less than was
    promised.
    """
    from sdc_tasks.methods.attack import Attacker

    real = Attacker.reached

    def a_bit_less(attacker: Any) -> Any:
        return {
            side: np.minimum(reached, np.nextafter(getattr(attacker.needs, side), 0))
            for side, reached in real(attacker).items()
        }

    monkeypatch.setattr(Attacker, "reached", a_bit_less)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "2 of 2 primaries protected" in ended.said
