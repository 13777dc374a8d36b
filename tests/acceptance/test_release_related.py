"""Two domains of one office whose figures may be computed from each other, from the
domain file to the certificate.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from support.deliveries import PERIOD, small_domain
from support.desk import HIDES, SHOWS, Desk, new_desk, sdc

REASON = "the other one asks households"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Desk, Path]:
    """A desk that has published, and the domain file of another statistic of the same agency and
    indicator, with the same deliveries.
    """
    desk = new_desk(tmp_path, AT=HIDES, BE=SHOWS)
    ended = desk.release()
    assert ended.code == 0, ended.text
    other = tmp_path / "other.yaml"
    other.write_text(
        desk.domain.read_text().replace("id: small", "id: other").replace("NSI:SMALL(1.0)", "NSI:OTHER(1.0)")
    )
    (tmp_path / "inbox2").mkdir()
    for file in desk.inbox.iterdir():
        (tmp_path / "inbox2" / file.name).write_bytes(
            file.read_bytes().replace(b"NSI:SMALL(1.0)", b"NSI:OTHER(1.0)")
        )
    return desk, other


def release(desk: Desk, other: Path):
    where = (
        "--inbox",
        desk.folder / "inbox2",
        "--warehouse",
        f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}",
    )
    return sdc("release", "--domain", other, "--period", PERIOD, *where, "--out", desk.folder / "out2")


def test_a_related_domain_is_refused_before_anything_is_computed(two):
    desk, other = two
    named = ("TURNOVER of NSI", f"small has published {PERIOD}", "Remedy", "unrelated: {small: REASON}")
    assert release(desk, other).refused(*named)
    assert not (desk.folder / "out2" / "table.csv").exists()
    other.write_text(other.read_text() + f"unrelated: {{small: {REASON}}}\n")
    ended = release(desk, other)
    assert ended.code == 0, ended.text
    assert json.loads((desk.folder / "out2" / "audit.json").read_text())["unrelated"] == {"small": REASON}
    checked = sdc("verify-log", "--warehouse", f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}")
    assert checked.code == 0, checked.text


def test_a_certificate_names_the_reasons_of_the_domain_file_and_no_others(two):
    desk, other = two
    other.write_text(other.read_text() + f"unrelated: {{small: {REASON}}}\n")
    assert release(desk, other).code == 0
    where = (
        "--domain",
        other,
        "--period",
        PERIOD,
        "--inbox",
        desk.folder / "inbox2",
        "--published",
        desk.folder / "out2" / "table.csv",
    )
    files = [desk.folder / name for name in ("again.json", "again.npz", "forged.json")]
    assert sdc("audit", *where, "--json", files[0], "--witnesses", files[1]).code == 0
    told = json.loads(files[0].read_text())
    for unrelated, code in (
        ({"small": REASON}, 0),
        ({"small": "another reason"}, 3),
        ({"small": REASON, "more": "x"}, 3),
        (None, 3),
    ):
        forged = {key: each for key, each in told.items() if key != "unrelated"} | (
            {"unrelated": unrelated} if unrelated else {}
        )
        files[2].write_text(json.dumps(forged))
        assert (
            sdc("verify-certificate", *where, "--certificate", files[2], "--witnesses", files[1]).code == code
        ), unrelated


def test_a_file_that_says_nothing_of_it_has_the_digest_that_it_had(tmp_path):
    """It is pinned: terms of releases that are out hold it."""
    domain = small_domain(tmp_path)
    assert "unrelated" not in domain.settings
    said = load_domain(_with(tmp_path, "unrelated: {other: why}"))
    assert said.settings["unrelated"] == {"other": "why"}
    assert said.digest != domain.digest
    assert load_domain(_with(tmp_path, "unrelated: {}")).digest == domain.digest
    assert load_domain("sbs").digest == "d75a0843a09a2a92337e1b9bf96aee279675b0cc97cc302e44f94e8a40fd0587"


def _with(folder: Path, line: str) -> Path:
    file = folder / "said.yaml"
    file.write_text((folder / "small.yaml").read_text() + line + "\n")
    return file


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("unrelated: {small: because}", "unrelated: small is this domain"),
        ("unrelated: {other: '  '}", "unrelated: other: no reason"),
        ("unrelated: {other: }", "unrelated"),
        ("unrelated: {Other one: because}", "unrelated"),
        (f"unrelated: {{other: {'x' * 401}}}", "unrelated"),
        ("unrelated: [other]", "unrelated"),
    ],
)
def test_a_statement_that_says_nothing_is_refused(tmp_path, line, named):
    small_domain(tmp_path)
    with pytest.raises(InvalidInput, match=named):
        load_domain(_with(tmp_path, line))
