"""The table of states of a file is complete, and the warehouse moves files by it.

`move` below does to a stored file what each event stands for; `put` brings a file into a state.
"""

from __future__ import annotations

from itertools import product

import pytest
from sqlalchemy import Engine, update

from sdc_tasks.model.lifecycle import (
    ACTIONS,
    EVENTS,
    IMPOSSIBLE,
    STATES,
    TRANSITIONS,
    Action,
    Event,
    FileState,
    ImpossibleEvent,
    after,
)
from sdc_tasks.model.series import Answer
from sdc_tasks.steps.second_files import EXECUTORS
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.database.engine import open_warehouse, writing
from sdc_tasks.warehouse.database.schema import DeliveryState, delivery
from sdc_tasks.warehouse.keyring import Keyring
from sdc_tasks.warehouse.operations import answers
from support.accepting import accept
from support.payload_key import PAYLOAD_KEY

HERE = ("small", "2024")
EVERY = list(product(FileState, Event))
OF_SECOND_FILES = (Event.FOUND_SECOND, Event.FAILED, Event.KEPT_OUT)


@pytest.mark.parametrize(("state", "event"), EVERY)
def test_every_event_in_every_state_is_in_the_table_or_refused_with_a_reason(state, event):
    assert ((state, event) in TRANSITIONS) is not ((state, event) in IMPOSSIBLE)
    if (state, event) in TRANSITIONS:
        assert after(state, event) == TRANSITIONS[state, event]
    else:
        with pytest.raises(ImpossibleEvent, match=IMPOSSIBLE[state, event]):
            after(state, event)


def test_the_table_holds_nothing_else_and_every_word_has_a_meaning():
    assert {*TRANSITIONS, *IMPOSSIBLE} == set(EVERY)
    assert (set(STATES), set(EVENTS), set(ACTIONS)) == (set(FileState), set(Event), set(Action))
    assert {then.action for then in TRANSITIONS.values()} == set(Action)


def test_every_state_is_reached_from_a_new_file_and_none_is_the_end():
    reached = {FileState.NEW}
    for _ in FileState:
        reached |= {then.to for (state, _), then in TRANSITIONS.items() if state in reached}
    assert reached == set(FileState)
    ends = [
        state
        for state in FileState
        if all(then.to is state for (start, _), then in TRANSITIONS.items() if start is state)
    ]
    assert ends == []


def test_what_is_left_as_it_is_stays_in_its_state():
    assert all(then.to is state for (state, _), then in TRANSITIONS.items() if then.action is Action.LEAVE)


def test_the_states_that_the_warehouse_stores_are_states_of_the_table():
    assert {str(state) for state in DeliveryState} == set(FileState) - {FileState.NEW, FileState.WAITING}


def test_a_judgement_can_do_all_that_the_table_asks_about_second_files():
    second = (FileState.RECEIVED, FileState.WAITING, FileState.REFUSED)
    asked = {
        then.action
        for (state, event), then in TRANSITIONS.items()
        if state in second and event in OF_SECOND_FILES
    }
    assert asked == set(EXECUTORS)


@pytest.fixture
def engine(migrated_file, tmp_path) -> Engine:
    path = tmp_path / "warehouse.db"
    path.write_bytes(migrated_file.read_bytes())
    return open_warehouse(f"sqlite:///{path}", Keyring.of([PAYLOAD_KEY]), "somebody")


def put(engine: Engine, state: FileState) -> store.DeliveryKey:
    """A file AT_other.csv in this state, beside the accepted AT.csv; BE.csv is a file of another country."""
    first = store.receive(engine, *HERE, "AT.csv", b"first", country="AT").key
    accept(engine, first, "AT")
    key = store.receive(engine, *HERE, "AT_other.csv", b"other", country="AT").key
    if state not in (FileState.RECEIVED, FileState.WAITING):
        by = first.digest if state is FileState.SUPERSEDED else None
        with writing(engine) as connection:
            connection.execute(
                update(delivery)
                .filter_by(**key._asdict())
                .values(state=DeliveryState(state), superseded_by=by)
            )
    return key


def move(engine: Engine, key: store.DeliveryKey, event: Event) -> None:
    first = next(each.key for each in store.deliveries(engine, *HERE) if each.key != key)
    if event is Event.SENT_AGAIN:
        store.receive(engine, *HERE, "AT_other.csv", b"other", again=True, country="AT")
    elif event is Event.PASSED:
        accept(engine, key, "AT")
    elif event is Event.FAILED:
        store.refuse(engine, key, "AT")
    elif event is Event.KEPT_OUT:
        store.refuse(engine, key, "AT", Event.KEPT_OUT)
    elif event is Event.OVERTAKEN:
        store.supersede(engine, key, "AT", first.digest)
    elif event in (Event.ANSWERED, Event.RESTORED):
        back = [key] if event is Event.RESTORED else []
        about = first if event is Event.RESTORED else key
        known = store.deliveries(engine, *HERE)
        answers.answer(engine, [about], Answer.REPLACE, known=known, seen={}, back=back)


@pytest.mark.parametrize(
    ("state", "event"),
    [pair for pair in TRANSITIONS if pair[0] is not FileState.NEW and pair[1] is not Event.FOUND_SECOND],
)
def test_the_warehouse_moves_a_file_as_the_table_says(engine, state, event):
    key = put(engine, state)
    move(engine, key, event)
    (found,) = (each for each in store.deliveries(engine, *HERE) if each.key == key)
    then = after(state, event)
    assert found.state == (FileState.RECEIVED if then.to is FileState.WAITING else then.to)
    assert (found.superseded_by is None) is (found.state is not DeliveryState.SUPERSEDED)
    assert found.times == (2 if then.action is Action.RECEIVE else 1)


def test_the_warehouse_takes_no_answer_about_a_file_that_nobody_is_asked_about(engine):
    key = put(engine, FileState.SUPERSEDED)
    with pytest.raises(ImpossibleEvent):
        move(engine, key, Event.ANSWERED)
    (found,) = (each for each in store.deliveries(engine, *HERE) if each.key == key)
    assert found.state is DeliveryState.SUPERSEDED
