"""Two releases of one period through the warehouse: the second is attacked by somebody who kept the
first (METHOD §2, profile vintage).

AT and BE hide the same loop of cells, so their exact sum is safe: only that the two loops move against each
other is known. CY is public at first; then it is revised and hides the loop as well. The exact sum of all
three is as safe as before, to who has nothing else: but with what was known of AT and BE it gives CY away.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_tasks import intake, outputs, pipeline, steps
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.steps import publication
from sdc_tasks.warehouse import reader
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, SECRETS, Desk, new_desk, sdc, warehouse
from support.oracles.profiles import Vintage, external, reaches, vintages

# CY later: still public, or hidden
CORRECTED = """
            _T         S         L
    TOTAL   1500010 F  750000 F  750010 F
    C       750000 F   300000 F  450000 F
    D       750010 F   450000 F  300010 F
"""
HIDDEN = """
            _T         S         L
    TOTAL   1500010 F  750000 F  750010 F
    C       750000 F   251499 D  498501 D
    D       750010 F   498501 D  251509 A
"""
ONE_ACTIVITY = """
            _T        S         L
    TOTAL   750000 F  300000 F  450000 F
    C       750000 F  300000 F  450000 F
"""
VICTIM, LEVEL = "CY.TURNOVER.D.L", 25_150.9


@pytest.fixture(scope="module")
def first_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk whose first version is out, to be copied."""
    desk = new_desk(tmp_path_factory.mktemp("first"), AT=PROTECTED, BE=PROTECTED, CY=FREE)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 1 published" in ended.said
    assert (published(desk).base == 0).all()
    assert json.loads((desk.folder / "out" / "audit.json").read_text())["profiles"] == ["external"]
    return desk.folder


@pytest.fixture
def desk(first_version: Path, tmp_path: Path) -> Desk:
    """The first version is out, all exact. The domain asks for no profile but the external one."""
    shutil.copytree(first_version, tmp_path, dirs_exist_ok=True)
    return Desk(tmp_path)


def published(desk: Desk, countries: int = 3) -> Publication:
    """What stands in table.csv; its rows are in cell order."""
    with (desk.folder / "out" / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    value = np.array([float(row["OBS_VALUE"] or "nan") for row in rows])
    base = np.array([float(row["ROUNDING_BASE"] or (0 if row["OBS_VALUE"] else "inf")) for row in rows])
    return Publication(np.arange(len(rows)) + countries * len(rows), value, base)


def asked(desk: Desk) -> ProtectionProblem:
    """What the deliveries of now ask for, without any history."""
    domain = load_domain(desk.domain)
    tables = [intake.read(path, domain, PERIOD).table for path in sorted(desk.inbox.iterdir())]
    return pipeline.build_problem([table for table in tables if table is not None], domain)


def left_of_victim(problem: ProtectionProblem, ends: np.ndarray) -> float:
    """How far the attacker stays from the revised country's secret, on the side where he comes closer."""
    primaries = [problem.space.key(int(cell)) for cell in np.flatnonzero(problem.primary)]
    return float(reaches(problem, ends)[primaries.index(VICTIM)].min())


def revise(desk: Desk, drawing: str) -> tuple[ProtectionProblem, Vintage]:
    """CY delivers again. What is asked now, and what was told before."""
    before = Vintage(asked(desk), published(desk))
    desk.deliver("CY", drawing)
    return asked(desk), before


def test_a_loosened_domain_file_lowers_no_level_of_the_version_that_is_out(desk):
    """BE shows its table now, so the exact sums would give AT away. The domain file asks for a
    ten-thousandth of a percent in place of ten: the table still leaves AT.D.L its 25 140.9 on both
    sides, and who looks on is told.
    """
    before = Vintage(asked(desk), published(desk))
    desk.deliver("BE", FREE)
    desk.settle("rule: {kind: percent, percent: 10}", "rule: {kind: percent, percent: 0.0001}")
    now = asked(desk)
    victim = [now.space.key(int(cell)) for cell in np.flatnonzero(now.primary)].index("AT.TURNOVER.D.L")
    assert now.lpl[np.flatnonzero(now.primary)[victim]] < 1
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "levels lower than those of version 1: 1 cells, which keep those" in ended.said
    left = reaches(now, vintages(now, published(desk), [before]))[victim]
    assert (left >= 25_140.9 - 1e-6).all()
    mine = steps.open_desk(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}", str(desk.domain), PERIOD)
    [release_id] = [each.release_id for each in reader.releases(mine.engine) if each.version == 2]
    assert "**levels lower than those of version 1: 1 cells, which keep those**" in outputs.brief(
        mine, release_id
    )
    mine.engine.dispose()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "A: {role: primary, rule: {kind: percent, percent: 10}}",
            "A: {role: public}",
            "flag A hid cells, and is public now",
        ),
        ("unit_multiplier: 3", "unit_multiplier: 0", "indicator TURNOVER has another unit_multiplier"),
    ],
)
def test_a_domain_file_that_gives_up_what_no_level_can_keep_is_refused(desk, old, new, told):
    desk.settle(old, new)
    assert desk.release().refused(told, "Version 1 of the period is out", "Remedy")
    assert warehouse(desk.folder / "out").versions == [1]


def test_a_revision_that_hides_nothing_more_is_the_second_version(desk):
    revise(desk, CORRECTED)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 2 published" in ended.said
    assert (published(desk).base == 0).all(), "still exact: nothing is lost where nothing leaks"
    certificate = json.loads((desk.folder / "out" / "audit.json").read_text())
    assert (certificate["verdict"], certificate["profiles"]) == ("passed", ["external", "vintage"])
    assert "by these and what is out already: none" in ended.said
    assert "<b>vintage</b>" in (desk.folder / "out" / "report.html").read_text(encoding="utf-8")
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.runs, stored.unsound) == ([1, 2], ["published", "published"], [])


def hidden_everywhere(folder: Path) -> Desk:
    """The first version: the sum of three countries that hide the same loop, exact."""
    desk = new_desk(folder, AT=PROTECTED, BE=PROTECTED, CY=PROTECTED)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert (published(desk).base == 0).all()
    return desk


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("areas.csv", "CY,EU\n", ""),
        ("areas.csv", "CY,EU\n", "CY,EU,,2023\n"),
        ("activities.csv", "D,TOTAL\n", ""),
    ],
    ids=["a country that is left out", "a country that was valid before", "an activity that is left out"],
)
def test_a_cell_that_the_first_version_protects_is_not_left_out_of_the_second(tmp_path, file, old, new):
    """EU of three countries less EU of two is the third one's secret, and none of the second
    table's cells.
    """
    desk = hidden_everywhere(tmp_path)
    text = (desk.folder / file).read_text().replace(old, new)
    (desk.folder / file).write_text(
        text.replace("code,parent\n", "code,parent,from,until\n") if "2023" in new else text
    )
    (desk.inbox / "CY_2024.csv").unlink(missing_ok=True)
    if file == "activities.csv":
        for country in ("AT", "BE", "CY"):
            desk.deliver(country, ONE_ACTIVITY)
    ended = desk.release()
    assert ended.code == 2, ended.text
    assert "primary in a published version of the period" in ended.said + ended.text
    assert (warehouse(desk.folder / "out").versions) == [1]


def test_a_secret_that_gets_another_flag_stays_one(tmp_path):
    """CY calls the same hidden value secondary; a composition without CY would give it away beside the first
    version.
    """
    desk = hidden_everywhere(tmp_path)
    first = Vintage(asked(desk), published(desk))
    desk.deliver("CY", PROTECTED.replace("251409 A", "251409 D"))
    text = desk.domain.read_text()
    desk.domain.write_text(
        text.replace("indicators:", "  - {code: EA, label: Area, members: [AT, BE]}\nindicators:", 1)
    )
    ended = desk.release()
    assert ended.code == 0, ended.text
    desk.deliver("CY", PROTECTED)
    now = asked(desk)  # as it was flagged first
    table = published(desk)
    second = Publication(np.flatnonzero(now.aggregate), table.value, table.base)
    assert len(second.cells) == 18, "both compositions"
    assert left_of_victim(now, vintages(now, second, [first])) >= LEVEL - 1


def test_what_is_safe_alone_and_not_beside_the_first_version_is_repaired(desk):
    """An attacker that shares no code agrees, of both tables."""
    now, before = revise(desk, HIDDEN)
    exact = Publication(
        np.flatnonzero(now.aggregate), now.a[now.aggregate], np.zeros(int(now.aggregate.sum()))
    )
    assert left_of_victim(now, external(now, exact)) > LEVEL
    assert left_of_victim(now, vintages(now, exact, [before])) == pytest.approx(0, abs=1e-3)
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 2 published" in ended.said
    second = published(desk)
    assert (second.base > 0).any()
    assert left_of_victim(now, vintages(now, second, [before])) >= LEVEL * (1 - 1e-6)
    for each in json.loads((desk.folder / "out" / "audit.json").read_text())["primaries"]:
        assert each["profiles"] == {"external": True, "vintage": True, "revision": True}
        assert each["cut_to_national_baseline"] == (each["cell"] == VICTIM), (
            "who knows the revision knows what was printed and revised"
        )
    assert "by these and what is out already: CY 1" in ended.said
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1, 2], [])


def test_without_a_first_version_the_same_deliveries_are_published_exactly(tmp_path):
    """So it is the first version that makes the difference."""
    ended = (desk := new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED, CY=HIDDEN)).release()
    assert ended.code == 0, ended.text
    assert (published(desk).base == 0).all()


def test_where_nothing_is_assumed_of_revisions_nobody_attacks_who_does(desk):
    desk.settle("id: small", "id: small\naudit: {revision: free}")
    revise(desk, HIDDEN)
    assert desk.release().code == 0
    assert json.loads((desk.folder / "out" / "audit.json").read_text())["profiles"] == ["external", "vintage"]


def test_a_part_that_was_published_is_attacked_with_the_whole(tmp_path):
    """AT and BE first, as a part; then CY, who hides the loop as well. Beside the exact
    part, the exact whole gives CY away.
    """
    desk = new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED, CY=HIDDEN)
    next(desk.inbox.glob("CY*")).unlink()
    desk.settle("id: small", "id: small\nmissing_country: partial")
    assert desk.release().code == 0
    part = Vintage(asked(desk), published(desk, countries=2))
    assert (part.publication.base == 0).all()
    desk.deliver("CY", HIDDEN)
    ended, now = desk.release(), asked(desk)
    assert ended.code == 0, ended.text
    assert "version 2 published" in ended.said
    exact = Publication(
        np.flatnonzero(now.aggregate), now.a[now.aggregate], np.zeros(int(now.aggregate.sum()))
    )
    assert left_of_victim(now, vintages(now, exact, [part])) == pytest.approx(0, abs=1e-3)
    assert left_of_victim(now, vintages(now, published(desk), [part])) >= LEVEL * (1 - 1e-6)
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1, 2], [])


def test_what_is_not_repaired_is_refused_and_the_first_version_stands(desk, monkeypatch):
    """Somebody chooses every cell exact."""

    def exact(problem: ProtectionProblem, *_: Any) -> Publication:
        return Publication(
            np.flatnonzero(problem.aggregate),
            problem.a[problem.aggregate],
            np.zeros(int(problem.aggregate.sum())),
        )

    revise(desk, HIDDEN)
    monkeypatch.setattr(pipeline, "choose_bases", exact)
    ended = desk.release()
    assert ended.code == 3, ended.text
    assert VICTIM in ended.complained
    assert [each for each in ("AT", "BE") if f"{each}.TURNOVER" in ended.complained] == []
    certificate = json.loads((desk.folder / "out" / "audit.json").read_text())
    broken = {each["cell"]: each["profiles"] for each in certificate["primaries"] if not each["protected"]}
    assert broken == {VICTIM: {"external": True, "vintage": False, "revision": True}}
    assert (
        "1 primaries are broken only by somebody who knows the published versions of the period"
        in ended.complained
    )
    assert not (desk.folder / "out" / "table.csv").exists()
    for secret in (*SECRETS, "251509", "498501", "251499"):
        assert secret not in ended.text + (desk.folder / "out" / "audit.json").read_text()
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.runs, stored.unsound) == ([1], ["blocked", "published"], [])


def test_the_same_release_again_does_not_count_itself_as_history(desk):
    revise(desk, HIDDEN)
    assert desk.release().code == 0
    before = {name: (desk.folder / "out" / name).read_bytes() for name in ("table.csv", "audit.json")}
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 2 is already published" in ended.said
    assert {name: (desk.folder / "out" / name).read_bytes() for name in before} == before


def test_a_release_begun_before_another_was_published_is_not_published_without_knowing_it(
    tmp_path, monkeypatch
):
    """All three hide the loop, the sum is exact: version 1. CY revises, still hidden, and that run stops
    after assembly. CY delivers once more, now public: version 2, exact. Then the first run is resumed: its
    exact sum, beside version 2, gives CY away.
    """
    desk = new_desk(tmp_path, AT=PROTECTED, BE=PROTECTED, CY=PROTECTED)
    assert desk.release().code == 0
    desk.deliver("CY", HIDDEN)
    office = steps.open_desk(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}", str(desk.domain), PERIOD)
    for each in steps.discover(office, desk.inbox):
        steps.ingest(office, desk.inbox, each.file)
    begun = steps.assemble(office)
    desk.deliver("CY", FREE)
    ended = desk.release()
    assert "version 2 published" in ended.said, ended.text
    steps.baseline(office, begun)
    steps.choose_bases(office, begun, 0)
    for chunk in range(office.domain.audit.chunks):
        steps.audit_chunk(office, begun, chunk)
    monkeypatch.setattr(
        publication, "newer", lambda *_: publication.Newer({}, {}, {})
    )  # whatever people agree to
    for step in (steps.verdict, steps.publish):
        with pytest.raises(ReleaseBlocked, match="published since"):
            step(office, begun)


def test_code_lists_in_another_order_are_related_by_key(desk):
    (desk.folder / "sizes.csv").write_text("code,parent\n_T,\nL,_T\nS,_T\n")
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 2 published" in ended.said
    assert json.loads((desk.folder / "out" / "audit.json").read_text())["profiles"] == [
        "external",
        "vintage",
    ], "no value was revised"


def test_other_dimensions_within_a_period_are_bad_input(desk):
    text = desk.domain.read_text()
    desk.domain.write_text(text.replace("SIZECLASS", "SIZE_EMP"))
    for path in desk.inbox.iterdir():
        path.write_text(path.read_text().replace("SIZECLASS", "SIZE_EMP"))
    assert text != desk.domain.read_text()
    assert desk.release().refused("other dimensions", "dimensions of its first version")


def test_what_a_version_was_made_of_and_was_purged_stops_the_next(desk):
    """Nobody can say what a further one would reveal together with it."""
    office = steps.open_desk(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}", str(desk.domain), PERIOD)
    with office.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE artefact SET purged_at = '2026-01-01 00:00:00' WHERE kind = 'bases'"
        )
        connection.exec_driver_sql(
            "DELETE FROM payload WHERE digest IN (SELECT digest FROM artefact WHERE kind = 'bases')"
        )
    revise(desk, CORRECTED)
    assert desk.release().refused("cannot be read", "was purged on 2026-01-01")


def test_the_desk_comes_to_the_verdict_of_the_release_and_the_second_program_verifies_it(desk):
    """From the tables and the deliveries of then and now alone; beside nothing, or beside other
    deliveries, it is another certificate.
    """
    out = desk.folder / "out"
    (desk.folder / "first.csv").write_bytes((out / "table.csv").read_bytes())
    shutil.copytree(desk.inbox, desk.folder / "then")
    revise(desk, HIDDEN)
    assert desk.release().code == 0
    where = (
        "--domain",
        desk.domain,
        "--period",
        PERIOD,
        "--inbox",
        desk.inbox,
        "--published",
        out / "table.csv",
    )
    kept = ("--earlier", desk.folder / "first.csv", "--earlier-inbox", desk.folder / "then")
    files = ("--json", desk.folder / "own.json", "--witnesses", desk.folder / "own.zip")
    ended = sdc("audit", *where, *kept, *files)
    assert ended.code == 0, ended.text
    mine, told = (json.loads(path.read_text()) for path in (desk.folder / "own.json", out / "audit.json"))
    for name in ("beside", "profiles", "verdict", "primaries"):
        assert mine[name] == told[name]
    shown = ("--certificate", desk.folder / "own.json", "--witnesses", desk.folder / "own.zip")
    ended = sdc("verify-certificate", *where, *kept, *shown)
    assert (ended.code, "verified: passed" in ended.said) == (0, True), ended.text
    for other in ((), kept[:2]):
        ended = sdc("verify-certificate", *where, *other, *shown)
        assert (ended.code, "NOT VERIFIED" in ended.said) == (3, True), ended.text
    assert sdc("audit", *where, *kept, "--earlier-inbox", desk.inbox).refused("one for each --earlier")
    assert sdc("audit", *where, "--profile", "external", "--profile", "vintage").refused("--earlier TABLE")


def test_another_domain_over_the_same_cells_is_no_way_round_the_first_version(desk):
    """What a second domain would publish is not attacked beside what the first has
    published: it publishes nothing of it.
    """
    desk.settle("id: small", "id: small_again")
    desk.deliver("CY", HIDDEN)
    ended = desk.release("again", "--warehouse", f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}")
    assert ended.refused(
        "TURNOVER of NSI:SMALL 2024 is published by domain small",
        "Remedy: release a further version of domain small",
    )
    assert warehouse(desk.folder / "out").versions == [1]
    desk.settle("id: small_again", "id: small")
    assert "version 2 published" in desk.release().said
