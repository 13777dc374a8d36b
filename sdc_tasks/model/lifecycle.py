"""What becomes of a file that a country sends: its states, what can happen to it, and a table of both.

`TRANSITIONS` is the whole machine: a state and an event give the next state and what is done. The warehouse
moves files by it (`warehouse/confidential/store.py`, `warehouse/operations/answers.py`), and a judgement
chooses by it what to do about second files (`steps/second_files.py`). docs/deliveries.md draws it from
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class FileState(StrEnum):
    """The state of a file. The warehouse stores `received`, `accepted`, `refused` and `superseded`; a file
    that is `waiting` is stored as received, and one that is `new` is not stored.
    """

    NEW = "new"
    RECEIVED = "received"
    WAITING = "waiting"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    SUPERSEDED = "superseded"


class Event(StrEnum):
    """What happens to a file. `EVENTS` says each in a sentence."""

    ARRIVED = "arrived"
    SENT_AGAIN = "sent again"
    PASSED = "passed"
    FAILED = "failed"
    OVERTAKEN = "overtaken"
    FOUND_SECOND = "found second"
    ANSWERED = "answered"
    KEPT_OUT = "kept out"
    RESTORED = "restored"


class Action(StrEnum):
    """What is done when a file moves. `ACTIONS` says each in a sentence."""

    LEAVE = "leave"
    RECEIVE = "receive"
    ACCEPT = "accept"
    REFUSE = "refuse"
    SUPERSEDE = "supersede"
    ASK = "ask"
    REMIND = "remind"
    KEEP_OUT = "keep out"
    REOPEN = "reopen"
    RESTORE = "restore"


class Transition(NamedTuple):
    """The state after an event, and what is done."""

    to: FileState
    action: Action


STATES: Mapping[FileState, str] = MappingProxyType(
    {
        FileState.NEW: "not in the warehouse",
        FileState.RECEIVED: "stored; to be judged with the other files of its country",
        FileState.WAITING: "a second file of its country, about which nobody has answered",
        FileState.ACCEPTED: "counts: a release is made of it",
        FileState.REFUSED: "does not count; its findings say why",
        FileState.SUPERSEDED: "another file counts in its place",
    }
)

EVENTS: Mapping[Event, str] = MappingProxyType(
    {
        Event.ARRIVED: "its bytes come for the first time",
        Event.SENT_AGAIN: "it had left the inbox and is back",
        Event.PASSED: "it is read, and no check refuses the delivery",
        Event.FAILED: "it cannot be read, or a check refuses the delivery",
        Event.OVERTAKEN: "another file counts: a higher version, a later one, or one answered *replace*",
        Event.FOUND_SECOND: "its country has accepted files under other names",
        Event.ANSWERED: "somebody answers what it is, or answers otherwise",
        Event.KEPT_OUT: "the answer is *keep*: the files before it stay",
        Event.RESTORED: "the answer by which another file replaced it is taken back",
    }
)

ACTIONS: Mapping[Action, str] = MappingProxyType(
    {
        Action.LEAVE: "nothing",
        Action.RECEIVE: "store it with the time, and write the log",
        Action.ACCEPT: "accept it together with the other files of its country, and write the log",
        Action.REFUSE: "save its findings, and write the log",
        Action.SUPERSEDE: "note which file counts in its place, and write the log",
        Action.ASK: "save a warning, and ask what it is",
        Action.REMIND: "say that it is refused and still in the inbox",
        Action.KEEP_OUT: "save a warning, and write the log",
        Action.REOPEN: "write the answer into the log; then it is judged as if it had just come",
        Action.RESTORE: "let it count again, and write the log",
    }
)


TRANSITIONS: Mapping[tuple[FileState, Event], Transition] = MappingProxyType(
    {
        (FileState.NEW, Event.ARRIVED): Transition(FileState.RECEIVED, Action.RECEIVE),
        (FileState.RECEIVED, Event.SENT_AGAIN): Transition(FileState.RECEIVED, Action.LEAVE),
        (FileState.RECEIVED, Event.PASSED): Transition(FileState.ACCEPTED, Action.ACCEPT),
        (FileState.RECEIVED, Event.FAILED): Transition(FileState.REFUSED, Action.REFUSE),
        (FileState.RECEIVED, Event.OVERTAKEN): Transition(FileState.SUPERSEDED, Action.SUPERSEDE),
        (FileState.RECEIVED, Event.FOUND_SECOND): Transition(FileState.WAITING, Action.ASK),
        (FileState.RECEIVED, Event.KEPT_OUT): Transition(FileState.REFUSED, Action.KEEP_OUT),
        (FileState.WAITING, Event.SENT_AGAIN): Transition(FileState.WAITING, Action.LEAVE),
        (FileState.WAITING, Event.FAILED): Transition(FileState.REFUSED, Action.REFUSE),
        (FileState.WAITING, Event.OVERTAKEN): Transition(FileState.SUPERSEDED, Action.SUPERSEDE),
        (FileState.WAITING, Event.FOUND_SECOND): Transition(FileState.WAITING, Action.ASK),
        (FileState.WAITING, Event.ANSWERED): Transition(FileState.RECEIVED, Action.REOPEN),
        (FileState.ACCEPTED, Event.SENT_AGAIN): Transition(FileState.ACCEPTED, Action.LEAVE),
        (FileState.ACCEPTED, Event.PASSED): Transition(FileState.ACCEPTED, Action.ACCEPT),
        (FileState.ACCEPTED, Event.FAILED): Transition(FileState.REFUSED, Action.REFUSE),
        (FileState.ACCEPTED, Event.OVERTAKEN): Transition(FileState.SUPERSEDED, Action.SUPERSEDE),
        (FileState.ACCEPTED, Event.ANSWERED): Transition(FileState.RECEIVED, Action.REOPEN),
        (FileState.ACCEPTED, Event.KEPT_OUT): Transition(FileState.REFUSED, Action.KEEP_OUT),
        (FileState.REFUSED, Event.SENT_AGAIN): Transition(FileState.RECEIVED, Action.RECEIVE),
        (FileState.REFUSED, Event.PASSED): Transition(FileState.ACCEPTED, Action.ACCEPT),
        (FileState.REFUSED, Event.FAILED): Transition(FileState.REFUSED, Action.REFUSE),
        (FileState.REFUSED, Event.OVERTAKEN): Transition(FileState.SUPERSEDED, Action.SUPERSEDE),
        (FileState.REFUSED, Event.FOUND_SECOND): Transition(FileState.REFUSED, Action.REMIND),
        (FileState.REFUSED, Event.ANSWERED): Transition(FileState.RECEIVED, Action.REOPEN),
        (FileState.REFUSED, Event.KEPT_OUT): Transition(FileState.REFUSED, Action.KEEP_OUT),
        # A judgement of the same inbox, or one that began earlier, does not bring a superseded file back.
        (FileState.SUPERSEDED, Event.SENT_AGAIN): Transition(FileState.RECEIVED, Action.RECEIVE),
        (FileState.SUPERSEDED, Event.PASSED): Transition(FileState.SUPERSEDED, Action.LEAVE),
        (FileState.SUPERSEDED, Event.FAILED): Transition(FileState.SUPERSEDED, Action.LEAVE),
        (FileState.SUPERSEDED, Event.OVERTAKEN): Transition(FileState.SUPERSEDED, Action.SUPERSEDE),
        (FileState.SUPERSEDED, Event.KEPT_OUT): Transition(FileState.SUPERSEDED, Action.LEAVE),
        (FileState.SUPERSEDED, Event.RESTORED): Transition(FileState.ACCEPTED, Action.RESTORE),
    }
)

# Pairs that cannot come, each for the reason beside it: `after` raises for them.
IMPOSSIBLE: Mapping[tuple[FileState, Event], str] = MappingProxyType(
    {
        **{
            (FileState.NEW, event): "nothing happens to a file before it arrives"
            for event in Event
            if event is not Event.ARRIVED
        },
        **{
            (state, Event.ARRIVED): "bytes that are known do not come for the first time"
            for state in FileState
            if state is not FileState.NEW
        },
        **{
            (state, Event.RESTORED): "only what an answer superseded is restored"
            for state in FileState
            if state not in (FileState.NEW, FileState.SUPERSEDED)
        },
        (FileState.RECEIVED, Event.ANSWERED): "nobody is asked about it",
        (FileState.SUPERSEDED, Event.ANSWERED): "nobody is asked about it",
        (FileState.WAITING, Event.PASSED): "it is not judged before somebody answers",
        (FileState.WAITING, Event.KEPT_OUT): "the answer makes it received first",
        (FileState.ACCEPTED, Event.FOUND_SECOND): "a file that counts is not beside those that count",
        (FileState.SUPERSEDED, Event.FOUND_SECOND): "it does not count, and is not asked about",
    }
)


class ImpossibleEvent(Exception):
    """A defect of the program: the table of states has no such event in this state."""


def after(state: FileState, event: Event) -> Transition:
    """The transition of a file. Raises ImpossibleEvent where the event cannot come in this state."""
    found = TRANSITIONS.get((state, event))
    if found is None:
        raise ImpossibleEvent(f"a file that is {state} cannot be {event}: {IMPOSSIBLE[state, event]}")
    return found
