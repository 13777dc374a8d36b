"""Deliveries that are accepted while a release of older ones is on its way: it does not go out in silence."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sdc_tasks import outputs, pipeline, steps
from sdc_tasks.errors import InvalidInput, Superseded
from sdc_tasks.model.series import Answer
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.checks import run_checks
from support.deliveries import PERIOD, sdmx_1
from support.desk import FREE, PROTECTED, Desk, new_desk


def made(desk: steps.Desk, inbox: Path) -> str:
    """A release up to its verdict."""
    for each in steps.discover(desk, inbox):
        steps.ingest(desk, inbox, each.file)
    release_id = steps.assemble(desk)
    steps.baseline(desk, release_id)
    for rung in range(len(desk.domain.cta.ladder)):
        steps.adjust(desk, release_id, rung)
    steps.choose_bases(desk, release_id, 0)
    for chunk in range(desk.domain.audit.chunks):
        steps.audit_chunk(desk, release_id, chunk)
    steps.verdict(desk, release_id)
    return release_id


def test_a_release_of_older_deliveries_stops_before_it_is_published(tmp_path: Path) -> None:
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE, CY=PROTECTED)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", files.domain, PERIOD)
    old = made(desk, files.inbox)
    assert not steps.newer(desk, old)
    assert sorted(reader.made_of(desk.engine, old).values()) == [
        "AT: AT_2024.csv",
        "BE: BE_2024.csv",
        "CY: CY_2024.csv",
    ]

    files.deliver("CY", FREE, "CY_2024_v2.csv")
    new = made(desk, files.inbox)
    assert new != old
    with pytest.raises(Superseded, match=r"newer deliveries are accepted: CY_2024_v2\.csv"):
        steps.publish(desk, old)
    assert reader.releases(desk.engine) == []
    assert steps.publish(desk, new) == 1

    # what is out stays out, and the same again is the same; CY returns to the file that the old release was
    # made of
    files.deliver("CY", PROTECTED, "CY_2024_v3.csv")
    for each in steps.discover(desk, files.inbox):
        steps.ingest(desk, files.inbox, each.file)
    assert steps.publish(desk, new) == 1
    assert {each["release_id"]: each["newer"] for each in reader.history(desk.engine)} == {
        old: False,
        new: True,
    }
    desk.engine.dispose()


def test_a_second_file_stops_it_until_somebody_says_what_it_is_and_so_does_a_further_one(
    tmp_path: Path,
) -> None:
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", files.domain, PERIOD)

    def arrives(country: str, content: str, file: str) -> None:
        files.deliver(country, content, file)
        for each in steps.discover(desk, files.inbox):
            with suppress(InvalidInput):
                steps.ingest(desk, files.inbox, each.file)

    def told() -> tuple[bool, bool]:
        [line] = reader.history(desk.engine)
        return line["newer"], line["second"]

    old = made(desk, files.inbox)
    assert told() == (False, False)
    arrives("BE", PROTECTED, "BE_new.csv")
    assert told() == (False, True)
    said = "second files of countries wait for an answer: BE_new.csv"
    assert said in outputs.brief(desk, old)
    with pytest.raises(Superseded, match=said):
        steps.publish(desk, old)
    assert reader.releases(desk.engine) == []

    def agree(person: str, without: Collection[str]) -> int:
        steps.answer(desk, old, steps.awaiting(desk, old)[0], True, person, without=without)
        return steps.publish(desk, old)

    # who decides to go on without files decides about these alone
    seen = steps.newer(desk, old).files
    arrives("AT", FREE, "AT_2024.csv")
    assert told() == (True, True)
    with pytest.raises(Superseded, match=r"newer deliveries are accepted: AT_2024\.csv\."):
        agree("bert", seen)
    steps.settle(desk, ["BE_new.csv"], Answer.KEEP)
    arrives("AT", PROTECTED, "AT_2024.csv")
    assert told() == (False, False)
    arrives("AT", FREE, "AT_2024.csv")
    assert agree("cleo", steps.newer(desk, old).files) == 1
    arrives("BE", FREE.replace("300000", "300001").replace("450000 F\n", "449999 F\n", 1), "BE_other.csv")
    assert told() == (True, False), "of a published release the tile of the country tells it"
    desk.engine.dispose()


def judged(desk: steps.Desk, inbox: Path) -> None:
    for each in steps.discover(desk, inbox):
        with suppress(InvalidInput):
            steps.ingest(desk, inbox, each.file)


def in_parts(folder: Path) -> tuple[Desk, steps.Desk]:
    """A desk at which two files of BE are parts of its delivery."""
    files = new_desk(folder, AT=PROTECTED, BE=FREE)
    desk = steps.open_desk(f"sqlite:///{folder / 'warehouse.db'}", files.domain, PERIOD)
    judged(desk, files.inbox)
    files.deliver("BE", sdmx_1(FREE, "BE") + "\n", "BE_part.csv")
    judged(desk, files.inbox)
    steps.settle(desk, ["BE_part.csv"], Answer.BOTH)
    return files, desk


def test_a_file_that_does_not_count_any_more_stops_it_and_nobody_agrees_to_it(tmp_path: Path) -> None:
    files, desk = in_parts(tmp_path)
    old = made(desk, files.inbox)
    assert sorted(reader.made_of(desk.engine, old).values()) == [
        "AT: AT_2024.csv",
        "BE: BE_2024.csv",
        "BE: BE_part.csv",
    ]
    assert not steps.newer(desk, old)

    steps.settle(desk, ["BE_part.csv"], Answer.KEEP)
    [line] = reader.history(desk.engine)
    assert (line["newer"], line["dropped"]) == (True, True)
    said = r"files of it do not count any more: BE: BE_part\.csv"
    publication = steps.awaiting(desk, old)[0]
    steps.answer(
        desk,
        old,
        publication,
        True,
        "bert",
        without=[*reader.made_of(desk.engine, old), *steps.newer(desk, old).files],
    )
    with pytest.raises(Superseded, match=said):
        steps.publish(desk, old)
    assert reader.releases(desk.engine) == []

    new = made(desk, files.inbox)
    assert new != old
    assert steps.publish(desk, new) == 1
    # of what is out it is told as well
    steps.settle(desk, ["BE_part.csv"], Answer.BOTH)
    assert [(each["newer"], each["dropped"]) for each in reader.history(desk.engine) if each["version"]] == [
        (True, False)
    ]
    assert steps.outdated(desk) == new
    desk.engine.dispose()


def test_a_file_that_another_file_of_the_same_release_replaces_does_not_count_either(tmp_path: Path) -> None:
    files, desk = in_parts(tmp_path)
    old = made(desk, files.inbox)
    steps.settle(desk, ["BE_part.csv"], Answer.REPLACE)
    assert [each["dropped"] for each in reader.history(desk.engine)] == [True]
    with pytest.raises(Superseded, match=r"do not count any more: BE: BE_2024\.csv"):
        steps.publish(desk, old)
    desk.engine.dispose()


def test_what_is_answered_while_a_release_is_read_for_publication_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, desk = in_parts(tmp_path)
    old, release = made(desk, files.inbox), pipeline.release

    def meanwhile(*about: Any) -> Any:
        steps.settle(desk, ["BE_part.csv"], Answer.KEEP)
        return release(*about)

    monkeypatch.setattr(pipeline, "release", meanwhile)
    with pytest.raises(Superseded, match="do not count any more"):
        steps.publish(desk, old)
    assert reader.releases(desk.engine) == []
    desk.engine.dispose()


@pytest.mark.parametrize(
    ("given", "counts"), [(Answer.REPLACE, ["BE_y.csv"]), (Answer.BOTH, ["BE_2024.csv"])]
)
def test_of_two_answers_about_different_files_at_once_both_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Answer, counts: list[str]
) -> None:
    """While an answer about Y is judged, somebody says that X, which had replaced the first file, is no
    delivery.
    """
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", files.domain, PERIOD)
    judged(desk, files.inbox)
    for name, by in (("BE_x.csv", 1), ("BE_y.csv", 2)):
        files.deliver(
            "BE",
            sdmx_1(FREE.replace("300000", str(300000 + by)).replace("450000", str(450000 - by)), "BE"),
            name,
        )
        judged(desk, files.inbox)
        if name == "BE_x.csv":
            steps.settle(desk, [name], Answer.REPLACE)
    received, calls = store.received, list[int]()

    def meanwhile(*about: Any) -> store.Received:
        seen = received(*about)
        calls.append(len(calls))
        if len(calls) == 2:  # the answer is recorded, its files are being judged
            steps.settle(desk, ["BE_x.csv"], Answer.KEEP)
        return seen

    monkeypatch.setattr(store, "received", meanwhile)
    with suppress(InvalidInput):  # both: Y and the first file differ
        steps.settle(desk, ["BE_y.csv"], given)
    monkeypatch.undo()
    known = [each for each in store.deliveries(desk.engine, "small", PERIOD) if each.country == "BE"]
    assert [each.file for each in known if each.state == "accepted"] == counts
    judged(desk, files.inbox)
    assert [
        each.file
        for each in store.deliveries(desk.engine, "small", PERIOD)
        if (each.country, each.state) == ("BE", "accepted")
    ] == counts
    desk.engine.dispose()


def test_a_release_gives_way_to_the_version_that_is_out_where_that_is_of_what_counts_again(
    tmp_path: Path,
) -> None:
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'warehouse.db'}", files.domain, PERIOD)
    first = made(desk, files.inbox)
    assert steps.publish(desk, first) == 1
    files.deliver("BE", PROTECTED, "BE_new.csv")
    judged(desk, files.inbox)
    steps.settle(desk, ["BE_new.csv"], Answer.REPLACE)
    other = made(desk, files.inbox)
    steps.settle(desk, ["BE_new.csv"], Answer.KEEP)
    assert made(desk, files.inbox) == first
    assert steps.publish(desk, first) == 1
    assert {each["release_id"]: each["followed"] for each in reader.history(desk.engine)} == {
        first: None,
        other: first,
    }
    with pytest.raises(Superseded):
        steps.publish(desk, other)
    desk.engine.dispose()


def test_bytes_that_replaced_a_file_may_come_again_under_another_name(tmp_path: Path) -> None:
    """The checks of the warehouse, which run each night, do not take it for damage."""
    files, desk = in_parts(tmp_path)
    other = sdmx_1(FREE.replace("300000", "300001").replace("450000", "449999"), "BE")
    for content, name in (
        (other, "BE_x.csv"),
        (other + "\n", "BE_x.csv"),
        (other + "\n\n", "BE_x.csv"),
        (other + "\n", "BE_2024.csv"),
    ):
        files.deliver("BE", content, name)
        judged(desk, files.inbox)
    assert {name: rows for name, rows in run_checks(desk.engine).items() if rows} == {}
    desk.engine.dispose()
