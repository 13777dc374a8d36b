"""What is drawn by a secret goes out where the office keeps that secret: given before,
or written by `sdc keep-secret`.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from sdc_tasks.model.secret import Secret
from sdc_tasks.warehouse.confidential.secret import VARIABLE
from support.desk import HIDES, SHOWS, Desk, new_desk, sdc
from support.payload_key import WAREHOUSE_SECRET

DRAWN = {
    "bases": ("unit_multiplier: 3", "unit_multiplier: 3", "bases: {rule_aware: true}\n"),
    "a whole table": (
        "unit_multiplier: 3",
        "unit_multiplier: 3, rounding: {method: controlled, base: 50}",
        "",
    ),
}


@pytest.fixture(params=DRAWN)
def desk(request, tmp_path: Path, monkeypatch) -> Desk:
    """A desk whose tables are drawn, and whose warehouses make secrets of their own."""
    monkeypatch.delenv(VARIABLE)
    made = new_desk(tmp_path, AT=HIDES, BE=SHOWS)
    old, new, more = DRAWN[request.param]
    made.settle(old, new)
    made.domain.write_text(made.domain.read_text() + more)
    return made


def release(desk: Desk, out: str):
    """Into a new folder, whose warehouse is made by the command."""
    return sdc("release", *desk.where, "--out", desk.folder / out)


def test_what_is_drawn_by_a_secret_that_nobody_keeps_stays_in(desk, monkeypatch):
    said = (
        "its tables are drawn by the secret of the warehouse",
        "whoever sees two of them",
        f"set {VARIABLE}",
        "sdc keep-secret FILE",
    )
    assert release(desk, "one").refused(*said)
    assert not (desk.folder / "one" / "table.csv").exists()
    where = ("--warehouse", f"sqlite:///{desk.folder / 'one' / 'warehouse.db'}")
    file = desk.folder / "kept"
    kept = sdc("keep-secret", file, *where)
    assert kept.code == 0, kept.text
    secret = Secret.of_hex(file.read_text().strip())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret.fingerprint in "".join(kept.said.split())
    assert secret.hex not in kept.text
    first = release(desk, "one")
    assert first.code == 0, first.text
    # a second folder is another warehouse: refused, or the same bytes by the same secret
    assert release(desk, "two").refused(*said)
    monkeypatch.setenv(VARIABLE, secret.hex)
    third = release(desk, "three")
    assert third.code == 0, third.text
    assert (desk.folder / "three" / "table.csv").read_bytes() == (
        desk.folder / "one" / "table.csv"
    ).read_bytes()
    certificate = json.loads((desk.folder / "three" / "audit.json").read_text())
    assert certificate["secret"] == secret.fingerprint
    assert sdc("keep-secret", file, *where).refused("File exists", "Nothing was kept", "Remedy")
    assert sdc("maintenance", *where).code == 0


def test_a_certificate_of_what_was_drawn_is_verified_with_the_name_of_its_secret(desk, monkeypatch):
    monkeypatch.setenv(VARIABLE, WAREHOUSE_SECRET)
    out, witnesses = desk.folder / "out", desk.folder / "out.npz"
    ended = sdc("release", *desk.where, "--out", out, "--witnesses", witnesses)
    assert ended.code == 0, ended.text
    published = ("--published", out / "table.csv", "--witnesses", witnesses)
    assert sdc("verify-certificate", *desk.where, *published, "--certificate", out / "audit.json").code == 0
    told = json.loads((out / "audit.json").read_text())
    for forged in (told | {"secret": "0" * 64}, {key: each for key, each in told.items() if key != "secret"}):
        (desk.folder / "forged.json").write_text(json.dumps(forged))
        ended = sdc(
            "verify-certificate", *desk.where, *published, "--certificate", desk.folder / "forged.json"
        )
        assert (ended.code, "secret" in ended.said) == (3, True), ended.text


def test_the_world_reads_by_which_secret_a_table_was_drawn(desk, monkeypatch):
    monkeypatch.setenv(VARIABLE, WAREHOUSE_SECRET)
    desk.domain.write_text(desk.domain.read_text() + "dissemination: {formats: [sdmx-json]}\n")
    ended = release(desk, "out")
    assert ended.code == 0, ended.text
    told = "".join(path.read_text() for path in (desk.folder / "out").glob("*metadata*"))
    assert Secret.of_hex(WAREHOUSE_SECRET).fingerprint in told
    assert WAREHOUSE_SECRET not in told


def test_where_nothing_is_drawn_no_secret_is_asked_for_and_none_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    desk = new_desk(tmp_path, AT=HIDES, BE=SHOWS)
    ended = release(desk, "out")
    assert ended.code == 0, ended.text
    assert "secret" not in json.loads((tmp_path / "out" / "audit.json").read_text())
