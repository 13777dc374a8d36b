"""What an office does around a release, at the shell: agree, wait for the embargo, take back,
explain, verify, replace keys, purge.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import pwd
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sdc_tasks import report, steps
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.database.engine import acting, open_warehouse, writing
from sdc_tasks.warehouse.dissemination import publisher
from sdc_tasks.warehouse.log import entries, record
from sdc_tasks.warehouse.operations.decisions import retract
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, SECRETS, Desk, Ended, new_desk, sdc, warehouse


def free(more: int) -> str:
    """The table of BE with so much more in one cell, public as a whole."""
    return f"""
            _T                 S         L
    TOTAL   {1500000 + more} F  750000 F  {750000 + more} F
    C       750000 F           300000 F  450000 F
    D       {750000 + more} F  450000 F  {300000 + more} F
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("SDC_ACTOR", "Anna")
    return new_desk(tmp_path, AT=PROTECTED, BE=FREE)


def url(desk: Desk) -> str:
    return f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}"


def office(desk: Desk, command: str, *arguments: object) -> Ended:
    return sdc(command, *arguments, "--warehouse", url(desk))


def log_of(desk: Desk) -> list[str]:
    engine = open_warehouse(url(desk))
    told = [each.details for each in entries(engine) if each.action == "approve"]
    engine.dispose()
    return told


def digests(desk: Desk) -> tuple[str, str]:
    """The id of the newest run, and the digest of its publication."""
    engine = open_warehouse(url(desk))
    release_id = reader.runs(engine)[0]["release_id"]
    engine.dispose()
    return release_id, json.loads((desk.folder / "out" / "audit.json").read_text())["digests"]["publication"]


def govern(desk: Desk, **rules: object) -> None:
    """Adds these rules to the domain file."""
    desk.settle("id: small", f"id: small\ngovernance: {json.dumps(rules)}")


def schedule(desk: Desk, embargo: str, **rules: object) -> None:
    """Adds a calendar of one cycle to the domain file."""
    calendar = {"cycles": {PERIOD: {"opens": "2026-01-01T00:00:00Z", "embargo": embargo}}, **rules}
    desk.settle("id: small", f"id: small\ncalendar: {json.dumps(calendar)}")


def test_four_eyes_at_the_shell(desk):
    govern(desk, approvals=1)
    ended = desk.release()
    assert ended.code == 4, ended.text
    assert "0 of 1 approvals" in ended.complained
    assert not (desk.folder / "out" / "table.csv").exists()
    release_id, publication = digests(desk)
    assert publication[:12] in ended.complained
    assert warehouse(desk.folder / "out").runs == ["waiting"]
    assert office(desk, "approve", release_id, "--publication", publication).refused("anna submitted it")
    assert office(desk, "approve", release_id, "--publication", "0" * 64, "--as", "Bert").refused(
        "no passed audit"
    )
    ended = office(
        desk, "approve", release_id, "--publication", publication[:12], "--as", "Bert", "--note", "read"
    )
    account = pwd.getpwuid(os.getuid()).pw_name
    assert (ended.code, f"by bert (account {account} on this machine)" in ended.said.replace("\n", " ")) == (
        0,
        True,
    ), ended.text
    assert f"account {account}" in log_of(desk)[0]
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 1 published" in ended.said
    assert (desk.folder / "out" / "table.csv").exists()
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.runs, stored.unsound) == ([1], ["published"], [])


def test_two_people_take_a_release_back_at_the_shell(desk):
    govern(desk, approvals=1)
    desk.release()
    release_id, publication = digests(desk)
    office(desk, "approve", release_id, "--publication", publication, "--as", "Bert")
    assert desk.release().code == 0
    because = (release_id, "--reason", "AT sent another year")
    assert office(desk, "retract", *because).refused("nobody but anna agreed", "sdc retract --agree")
    assert office(desk, "retract", *because, "--agree").code == 0
    assert office(desk, "retract", *because).refused("nobody but anna agreed")
    assert office(desk, "retract", release_id, "--reason", "BE", "--agree", "--as", "Bert").code == 0
    assert office(desk, "retract", *because).refused("nobody but anna agreed")
    ended = office(desk, "retract", *because, "--agree", "--as", "Bert")
    account = pwd.getpwuid(os.getuid()).pw_name
    assert f"by bert (account {account} on this machine)" in " ".join(ended.said.split()), ended.text
    assert office(desk, "retract", *because).code == 0
    assert office(desk, "verify-log").code == 0
    stored = warehouse(desk.folder / "out")
    assert stored.unsound == []


def test_nothing_is_written_for_the_world_before_the_embargo(desk):
    later = datetime.now(UTC) + timedelta(days=1)
    schedule(desk, later.isoformat())
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert f"under embargo until {later:%Y-%m-%d %H:%M} UTC" in ended.said
    written = sorted(path.name for path in (desk.folder / "out").iterdir() if "warehouse" not in path.name)
    assert written == ["audit.json", "findings.csv", "report.html"], "for the office alone"
    engine = open_warehouse(url(desk))
    assert reader.released_cells(engine, "small", PERIOD) == []
    assert [each.version for each in reader.releases(engine)] == [1]
    engine.dispose()


def test_no_public_file_is_exported_before_the_embargo_or_after_a_retraction(desk, tmp_path):
    schedule(desk, (datetime.now(UTC) + timedelta(days=1)).isoformat())
    assert desk.release().code == 0
    exported = (
        "export",
        "--domain",
        desk.domain,
        "--period",
        PERIOD,
        "--warehouse",
        url(desk),
        "--out",
        tmp_path / "public",
    )
    ended = sdc(*exported)
    assert ended.refused("the world may see no version")
    assert not (tmp_path / "public").exists()


def test_the_public_files_are_exported_again_in_other_formats_and_go_with_the_table(desk, tmp_path):
    assert desk.release().code == 0
    out, public = desk.folder / "out", tmp_path / "public"
    exported = (
        "export",
        "--domain",
        desk.domain,
        "--period",
        PERIOD,
        "--warehouse",
        url(desk),
        "--out",
        public,
    )
    ended = sdc(*exported)
    assert ended.code == 0, ended.text
    names = {"table.csv", "table.xml", "table.json", "metadata.html", "metadata.json", "datapackage.json"}
    assert {path.name: path.read_bytes() for path in public.iterdir()} == {
        name: (out / name).read_bytes() for name in names
    }
    ended = sdc(*exported, "--format", "parquet")
    assert ended.code == 0, ended.text
    assert {path.name for path in public.iterdir()} == names - {"table.xml", "table.json"} | {"table.parquet"}
    assert (public / "table.csv").read_bytes() == (out / "table.csv").read_bytes()
    assert sdc(*exported, "--format", "excel").refused("not each once of sdmx-ml, sdmx-json and parquet")
    release_id, _ = digests(desk)
    because = ("retract", release_id, "--reason", "wrong units")
    assert "still lie where they were written" in " ".join(office(desk, *because).said.split())
    assert (out / "table.csv").exists()
    assert office(desk, *because, "--out", out).code == 0, "the same once more"
    assert not {path.name for path in out.iterdir()} & {"report.html", *names}
    assert sdc(*exported).refused("retracted")


def test_a_run_that_dies_among_the_public_files_leaves_no_table_and_the_next_leaves_all(desk, monkeypatch):
    write, out = report.write_whole, desk.folder / "out"

    def dies(path: Path, content: str | bytes) -> None:
        if path.name == "metadata.json":
            raise OSError("no space left")
        write(path, content)

    monkeypatch.setattr(report, "write_whole", dies)
    with pytest.raises(OSError, match="no space left"):
        desk.release()
    assert not (out / "table.csv").exists(), "who sees the table sees the others"
    monkeypatch.setattr(report, "write_whole", write)
    assert desk.release().code == 0
    described = {
        each["path"]: each["hash"] for each in json.loads((out / "datapackage.json").read_text())["resources"]
    }
    assert described == {
        name: f"sha256:{hashlib.sha256((out / name).read_bytes()).hexdigest()}" for name in described
    }
    assert {"table.csv", "table.xml", "table.json", "metadata.html", "metadata.json"} == set(described)


def test_after_the_embargo_the_same_command_writes_the_table(desk):
    schedule(desk, (datetime.now(UTC) - timedelta(seconds=1)).isoformat())
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "under embargo" not in ended.said
    assert (desk.folder / "out" / "table.csv").exists()


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"approvals": -1}, "approvals"),
        ({"aprovals": 1}, "aprovals"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(desk, rules, named):
    govern(desk, **rules)
    assert desk.release().refused(named)


def test_an_embargo_that_moves_makes_a_release_of_its_own_until_it_is_out(desk):
    """What was submitted under the earlier instant cannot be published under it once the calendar says
    another.
    """
    govern(desk, approvals=1)
    now = datetime.now(UTC)
    schedule(desk, (now + timedelta(days=1)).isoformat())
    assert desk.release().code == 4
    first, publication = digests(desk)
    desk.settle((now + timedelta(days=1)).isoformat(), (now + timedelta(days=2)).isoformat())
    assert desk.release().code == 4
    second, again = digests(desk)
    assert first != second
    assert publication == again
    assert office(desk, "approve", second, "--publication", publication, "--as", "Bert").code == 0
    assert desk.release().code == 0
    engine = open_warehouse(url(desk))
    assert [each.embargo for each in reader.releases(engine)] == [now + timedelta(days=2)]
    engine.dispose()


def test_a_retracted_table_leaves_the_out_folder(desk):
    assert desk.release().code == 0
    release_id, publication = digests(desk)
    assert office(desk, "retract", release_id, "--reason", " ").refused("needs a reason")
    assert office(desk, "retract", release_id, "--reason", "AT sent another year").code == 0
    said = office(desk, "approve", release_id, "--publication", publication, "--as", "Bert")
    assert said.refused("was retracted: AT sent another year", "Remedy")
    ended = desk.release()
    assert ended.code == 3, ended.text
    assert "was retracted (AT sent another year)" in ended.complained
    assert not (desk.folder / "out" / "table.csv").exists()
    told = office(desk, "explain", release_id, "EU.TURNOVER.TOTAL._T")
    assert "AT sent another year" in told.said


def test_files_of_a_later_version_stay_where_an_earlier_one_is_retracted(desk):
    assert desk.release().code == 0
    first, _ = digests(desk)
    desk.deliver("BE", PROTECTED)
    assert desk.release().code == 0
    table = (desk.folder / "out" / "table.csv").read_bytes()
    for more in ((), ("--out", desk.folder / "out")):
        ended = office(desk, "retract", first, "--reason", "AT sent another year", *more)
        assert ended.code == 0
        assert (
            "Version 2 is out: table.csv, and the files beside it, are of that version and stay"
            in " ".join(ended.said.split())
        )
    assert (desk.folder / "out" / "table.csv").read_bytes() == table


def test_a_published_cell_is_explained_without_a_secret(desk, tmp_path):
    assert desk.release().code == 0
    release_id, publication = digests(desk)
    told = office(desk, "explain", release_id, "EU.TURNOVER.TOTAL._T", "--json", tmp_path / "told.json")
    assert told.code == 0, told.text
    everything = json.loads((tmp_path / "told.json").read_text())
    engine = open_warehouse(url(desk))
    received = {each["country"]: each["digest"] for each in reader.deliveries(engine, "small", PERIOD)}
    [audit] = reader.audits(engine, release_id)
    engine.dispose()
    assert {each["country"]: each["digest"] for each in everything["deliveries"]} == received
    assert everything["digests"]["publication"] == publication
    assert everything["audit"]["digest"] == audit["digest"]
    assert everything["settings"]["audit"]["seed"] == 1
    assert everything["submitted"]["submitter"] == "anna"
    assert set(everything["program"]) > {"python", "source", "highspy", "pulp", "sdc-release"}
    with (desk.folder / "out" / "table.csv").open(newline="", encoding="utf-8") as lines:
        total = next(
            row for row in csv.DictReader(lines) if (row["ACTIVITY"], row["SIZECLASS"]) == ("TOTAL", "_T")
        )
    assert everything["cell"]["value"] == float(total["OBS_VALUE"])
    for text in ("AT", "anna", received["AT"], publication, "highspy"):
        assert text in told.said
    for secret in SECRETS:
        assert secret not in told.text + (tmp_path / "told.json").read_text()
    assert office(desk, "explain", release_id, "EU.TURNOVER.X._T").refused("has no cell")
    assert office(desk, "explain", "small-2024-none", "EU.TURNOVER.TOTAL._T").refused("not published")


def test_the_log_is_verified_and_a_change_to_it_is_found(desk):
    assert desk.release().code == 0
    told = office(desk, "verify-log", "--show")
    assert told.code == 0, told.text
    head = told.said.split()[-1]
    assert "anna" in told.said
    assert office(desk, "verify-log", "--head", head).code == 0
    assert office(desk, "verify-log", "--head", "0" * 64).code == 3
    with sqlite3.connect(desk.folder / "out" / "warehouse.db") as prompt:
        prompt.execute("DROP TRIGGER log_update")
        prompt.execute("UPDATE log SET actor = 'somebody' WHERE number = 2")
    found = office(desk, "verify-log")
    assert found.code == 3
    assert "entry 2 was changed" in found.said


def test_what_others_wrote_changes_nothing_on_the_screen(desk):
    assert desk.release().code == 0
    engine = open_warehouse(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}")
    with writing(engine) as connection:
        record(connection, "note", "\x1b[2Jgone [red]soon\x07")
    for told in (office(desk, "verify-log", "--show"), office(desk, "explain", "\x1b[2Jgone", "EU.TURNOVER")):
        assert "\x1b" not in told.text
        assert "\\x1b[2Jgone" in told.text
    assert "[red]soon\\x07" in office(desk, "verify-log", "--show").said
    [release] = [each.release_id for each in reader.releases(engine)]
    retract(acting(engine, "bert"), release, "see [/annex] [link=https://evil.example/x]there[/link]")
    told = office(desk, "explain", release, "EU.TURNOVER.TOTAL._T")
    assert told.code == 0, told.text
    assert "see [/annex] [link=https://evil.example/x]there[/link]" in " ".join(told.said.split())


def test_maintenance_reads_the_chain_and_the_secret(desk):
    assert desk.release().code == 0
    with sqlite3.connect(desk.folder / "out" / "warehouse.db") as prompt:
        prompt.execute("DROP TRIGGER log_update")
        prompt.execute("UPDATE log SET actor = 'somebody' WHERE number = 2")
    found = office(desk, "maintenance")
    assert (found.code, "entry 2 was changed" in found.said) == (3, True), found.text
    with sqlite3.connect(desk.folder / "out" / "warehouse.db") as prompt:
        prompt.execute("UPDATE secret SET content = zeroblob(length(content))")
    assert office(desk, "maintenance").refused(
        "the secret of this warehouse was changed since it was stored", "Remedy: restore"
    )


def test_keys_are_replaced_and_what_is_overdue_is_purged(desk):
    govern(desk, retention_days=0)
    assert desk.release().code == 0
    before = (desk.folder / "out" / "table.csv").read_bytes()
    key = (desk.folder / "out" / "warehouse.db.key").read_text()
    told = office(desk, "rotate-keys")
    assert told.code == 0, told.text
    fresh = (desk.folder / "out" / "warehouse.db.key").read_text()
    assert fresh.splitlines()[1:] == key.splitlines(), "the old key stays for one generation"
    assert not [each for each in fresh.split() if each in told.text]
    assert desk.release().code == 0
    purged = office(desk, "maintenance")
    assert purged.code == 0, purged.text
    assert "the log is one chain, and every check passes" in purged.said
    assert int(purged.said.split()[0]) > 5
    with sqlite3.connect(desk.folder / "out" / "warehouse.db") as prompt:
        assert prompt.execute("SELECT count(*) FROM payload").fetchone() == (0,)
    # the files lie in the inbox still: the same release again computes anew, and ends with the same bytes
    ended = desk.release()
    assert ended.code == 0, ended.text
    assert "version 1 is already published" in ended.said
    assert (desk.folder / "out" / "table.csv").read_bytes() == before


def test_a_country_returns_to_its_first_file(desk):
    """A, B, A: version 3 is that of A again, and not silently that of B."""
    tables = []
    for version, drawing in enumerate((FREE, free(1000), FREE), start=1):
        desk.deliver("BE", drawing)
        ended = desk.release()
        assert ended.code == 0, ended.text
        assert f"version {version} published" in ended.said
        tables.append((desk.folder / "out" / "table.csv").read_bytes())
        assert "is already published" in desk.release().said, "run again, nothing is sent again"
    assert tables[0] == tables[2] != tables[1]
    stored = warehouse(desk.folder / "out")
    assert (stored.versions, stored.unsound) == ([1, 2, 3], [])


def test_a_version_that_comes_out_while_another_is_being_published_stops_it(desk, monkeypatch):
    """Profile vintage: between the look at what is out and the publishing transaction, somebody else
    publishes.
    """
    desk.settle("id: small", "id: small\naudit: {profiles: [external, vintage]}")
    assert desk.release().code == 0
    desk.deliver("BE", free(1000))
    mine = steps.open_desk(url(desk), str(desk.domain), PERIOD)
    for each in steps.discover(mine, desk.inbox):
        steps.ingest(mine, desk.inbox, each.file)
    begun = steps.assemble(mine)
    steps.baseline(mine, begun)
    steps.choose_bases(mine, begun, 0)
    for chunk in range(mine.domain.audit.chunks):
        steps.audit_chunk(mine, begun, chunk)
    steps.verdict(mine, begun)
    publish = publisher.publish

    def meanwhile(*arguments, **options):
        monkeypatch.setattr(publisher, "publish", publish)
        desk.deliver("BE", free(2000))
        assert "version 2 published" in desk.release().said
        return publish(*arguments, **options)

    monkeypatch.setattr(publisher, "publish", meanwhile)
    with pytest.raises(ReleaseBlocked, match="another version was published since"):
        steps.publish(mine, begun)
    assert warehouse(desk.folder / "out").versions == [1, 2]


def test_why_a_cell_is_not_exact_is_told_by_keys_alone(desk, tmp_path):
    assert desk.release().code == 0
    release_id, _ = digests(desk)
    with (desk.folder / "out" / "table.csv").open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    key = list(rows[0])[4:8]  # after STRUCTURE, STRUCTURE_ID, ACTION, FREQ
    keys = {
        bool(row["ROUNDING_BASE"] or not row["OBS_VALUE"]): ".".join(row[name] for name in key)
        for row in rows
    }
    told = office(desk, "explain", release_id, keys[True], "--why")
    assert told.code == 0, told.text
    assert "exact, it would put " in told.said
    assert "at risk" in told.said
    assert "what may free it: more hidden cells of " in told.said
    for secret in SECRETS:
        assert secret not in told.text
    if False in keys:
        assert (
            "it is published exactly: no attack succeeds"
            in office(desk, "explain", release_id, keys[False], "--why").said
        )
    assert office(desk, "explain", release_id, "EU.TURNOVER.X._T", "--why").refused("has no cell")
    assert office(desk, "explain", release_id, keys[True], "--why", "--json", tmp_path / "x.json").refused(
        "--json is for the lineage"
    )
