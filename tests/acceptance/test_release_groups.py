"""Groups of linked indicators are decided one by one, in any order, and a failure of one costs no other."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml
from sqlalchemy import create_engine, text

from sdc_tasks import outputs, pipeline, steps
from sdc_tasks.cli import side_by_side
from sdc_tasks.demo import write_demo
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment
from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse.database.schema import payload
from sdc_tasks.warehouse.operations import journal
from support.desk import sdc

PERIOD = "2024"


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[tuple[steps.Desk, str]]:
    """A desk, and a release of three groups whose bases are not chosen yet."""
    file = write_demo(tmp_path, countries=3, activities=4, sizes=2, indicators=5)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", str(file), PERIOD)
    for each in steps.discover(desk, tmp_path / "inbox"):
        steps.ingest(desk, tmp_path / "inbox", each.file)
    release_id = steps.assemble(desk)
    steps.baseline(desk, release_id)
    yield desk, release_id
    desk.engine.dispose()


def finished(desk: steps.Desk, release_id: str) -> str:
    for chunk in range(desk.domain.audit.chunks):
        steps.audit_chunk(desk, release_id, chunk)
    steps.verdict(desk, release_id)
    return steps.decided(desk, release_id)[1].digest


def test_groups_that_are_decided_in_any_order_give_the_bytes_of_the_whole(begun, monkeypatch):
    desk, release_id = begun
    assert desk.domain.groups == (
        ("TURNOVER",),
        ("VALUE_ADDED", "PERSONNEL_COSTS", "SURPLUS"),
        ("PURCHASES",),
    )
    assert desk.domain.largest_first == [1, 0, 2]
    problem = load(desk, release_id, "assemble", ProtectionProblem)
    requirements = load(desk, release_id, "baseline", Requirements)
    whole = pipeline.choose_bases(problem, requirements, Adjustment(), desk.domain)
    steps.choose_bases(desk, release_id, 2)
    with monkeypatch.context() as broken:
        broken.setattr(pipeline, "choose_bases", raises)
        with pytest.raises(MemoryError):
            steps.choose_bases(desk, release_id, 1)
    steps.choose_bases(desk, release_id, 0)
    with pytest.raises(InvalidInput, match="bases  has no result yet"):
        steps.audit_chunk(desk, release_id, 0)
    done = journal.step_outputs(desk.engine, release_id, "bases")
    steps.choose_bases(desk, release_id, 1)
    stored = journal.step_outputs(desk.engine, release_id, "bases")
    assert {name: stored[name] for name in done} == done, "what the others stored stays"
    assert finished(desk, release_id) == whole.digest
    page = outputs.write_out(desk, release_id, Path(str(desk.engine.url.database)).parent / "out").read_text(
        encoding="utf-8"
    )
    assert "How the bases were chosen" in page
    assert "minimum uncertainty" in page
    assert re.findall(r">(bases[^<:]*)<", page) == ["bases 2", "bases 0", "bases 1", "bases"]


@pytest.mark.parametrize("damaged", [("", "1"), ("", "1", "2 rules"), ("2",)])
def test_a_group_that_was_damaged_is_decided_again_and_the_rest_stays(begun, damaged):
    desk, release_id = begun
    for group in range(3):
        steps.choose_bases(desk, release_id, group)
    before = journal.step_outputs(desk.engine, release_id, "bases")
    with desk.engine.begin() as connection:
        for key in damaged:
            connection.execute(
                payload.update().where(payload.c.digest == before[key]).values(content=b"damaged")
            )
    for group in range(3):
        steps.choose_bases(desk, release_id, group)
    assert journal.step_outputs(desk.engine, release_id, "bases") == before
    finished(desk, release_id)


def test_indicators_that_an_earlier_version_linked_are_decided_together(tmp_path):
    """The domain of the first version says that value added has two parts, that of the second one does
    not: who kept the first knows it.
    """
    with_relation = write_demo(tmp_path, countries=4, activities=5, sizes=2, indicators=5, euro_area=True)
    content = yaml.safe_load(with_relation.read_text(encoding="utf-8")) | {"cta": {"ladder": []}}
    with_relation.write_text(yaml.safe_dump(content), encoding="utf-8")
    content.pop("indicator_relations")
    without = with_relation.with_name("without.yaml")
    without.write_text(yaml.safe_dump(content), encoding="utf-8")
    where = ["--period", PERIOD, "--inbox", str(tmp_path / "inbox"), "--out", str(tmp_path / "out")]
    rounding = with_relation.with_name("rounding.yaml")
    indicators = [
        each | ({"rounding": {"method": "controlled", "base": 5}} if each["code"] == "SURPLUS" else {})
        for each in content["indicators"]
    ]
    rounding.write_text(yaml.safe_dump(content | {"indicators": indicators}), encoding="utf-8")
    first, refused, second = (
        sdc("release", "--domain", str(file), *where) for file in (with_relation, rounding, without)
    )
    assert (first.code, second.code) == (0, 0), second.text
    assert refused.refused(
        "indicator SURPLUS: rounding, but an earlier version of the period links it to other indicators",
        "Remedy",
    )
    assert "an earlier version of the period links these indicators to others" in second.text
    assert "version 2 published" in second.text


def test_a_release_in_three_processes_is_the_release_in_one(tmp_path, monkeypatch):
    file = write_demo(tmp_path, countries=3, activities=4, sizes=2, indicators=5)

    def released(name: str, processes: int) -> tuple[int, str]:
        where = [
            "--period",
            PERIOD,
            "--inbox",
            str(tmp_path / "inbox"),
            "--out",
            str(tmp_path / name),
            "--processes",
            str(processes),
        ]
        ended = sdc("release", "--domain", str(file), *where)
        return ended.code, ended.text

    alone = released("alone", 1)
    assert alone[0] == 0, alone[1]
    with monkeypatch.context() as killed:
        killed.setattr(side_by_side, "begin", partial(os._exit, 9))
        code, said = released("together", 3)
    assert code == 4
    assert "one of 3 processes was killed, perhaps for its memory. Remedy: --processes 1" in said
    together = released("together", 3)
    assert together[0] == 0, together[1]
    assert published(tmp_path / "together") == published(tmp_path / "alone")


@pytest.mark.parametrize(
    ("who", "at"), [(os.kill, "baseline:"), (os.killpg, "2 of 3: "), (os.kill, "1 of 2: ")]
)
def test_whoever_interrupts_a_release_ends_all_its_processes(tmp_path, who, at):
    """Ctrl-C goes to all, a supervisor's signal to the first one. None leaves a traceback, and the
    same command completes the release.
    """
    file = write_demo(tmp_path, countries=3, activities=4, sizes=2, indicators=5)
    command = [
        str(Path(sys.executable).with_name("sdc")),
        "release",
        "--domain",
        str(file),
        "--period",
        PERIOD,
    ]
    command += ["--inbox", str(tmp_path / "inbox"), "--out", str(tmp_path / "out"), "--processes", "3"]
    heeds = [
        "env",
        "--default-signal=INT",
        *command,
    ]  # a test that runs in the background of a script would ignore Ctrl-C
    with subprocess.Popen(
        heeds, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as release:
        assert release.stdout is not None
        assert release.stderr is not None
        assert any(at in line for line in release.stdout), "it never came so far"
        who(release.pid, signal.SIGINT)
        said = release.stderr.read()  # until the last process has closed it
    assert (release.returncode, said) == (130, "")
    done = sdc(*command[1:])
    assert done.code == 0, done.text
    assert len(published(tmp_path / "out")[0]) == 1


def published(folder: Path) -> tuple[list[str], bytes]:
    """The digests of the publications in the warehouse of a folder, and the table that was written there."""
    engine = create_engine(f"sqlite:///{folder / 'warehouse.db'}")
    with engine.connect() as connection:
        digests = (
            connection.execute(text("SELECT publication_digest FROM release ORDER BY version"))
            .scalars()
            .all()
        )
    engine.dispose()
    assert len(digests) == 1
    return list(digests), (folder / "table.csv").read_bytes()


def raises(*_: object) -> None:
    raise MemoryError
