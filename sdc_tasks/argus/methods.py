"""<SUPPRESS> NAME(table, number, …): the methods of τ-ARGUS with their arguments, and what becomes of each
here.

An argument is honoured, or it is said that it is not; one that τ-ARGUS does not have is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sdc_tasks.argus.batch import Command
from sdc_tasks.argus.places import number_in
from sdc_tasks.methods.suppression.names import PatternMethod

SWITCH = (0, 1)


@dataclass(frozen=True)
class Argument:
    """A number behind the table. `choices`: what it may be, else any whole number from `least`. `ours`:
    what is done here instead, empty where it is honoured; `unless`: the number that needs no word,
    because it asks for what is done.
    """

    name: str
    choices: tuple[int, ...] = ()
    least: int = 0
    ours: str = ""
    unless: int | None = None


@dataclass(frozen=True)
class TauMethod:
    """A method. `ours`: that of patterns which takes its place, None where it makes none; `said`: how it
    differs.
    """

    arguments: tuple[Argument, ...]
    said: str
    ours: PatternMethod | None = None


SINGLES, SINGLES_AND_OTHERS, SINGLETONS, SMALLEST = (
    "singletons",
    "singletons and others",
    "singleton option",
    "minimum frequency",
)
ALWAYS = "cells with a single contributor count always"
METHODS: Mapping[str, TauMethod] = {
    "GH": TauMethod(
        (
            Argument("a-priori bounds", ours="the attacker knows no bounds but zero"),
            Argument("model size", SWITCH, ours="every size is one"),
            Argument(SINGLETONS, SWITCH, ours=ALWAYS, unless=1),
        ),
        "GH: our hypercubes, completed until the pattern is safe, and verified",
        "hypercube",
    ),
    "MOD": TauMethod(
        (
            Argument("minutes", ours="counted work ends it, not minutes per sub-table"),
            Argument(SINGLES, SWITCH, ours=ALWAYS, unless=1),
            Argument(SINGLES_AND_OTHERS, SWITCH, ours=ALWAYS, unless=1),
            Argument(SMALLEST, SWITCH),
            Argument("scale of costs", ours="costs are scaled otherwise"),
        ),
        "MOD: our sub-tables, completed until the pattern is safe, and verified",
        "hitas",
    ),
    "OPT": TauMethod(
        (Argument("minutes"),),
        "OPT: our exact method, verified; it ends at a proven gap, or at the time limit",
        "auto",
    ),
    "NET": TauMethod((), "NET: our minimum-cost flows, verified", "network"),
    "RND": TauMethod(
        (
            Argument("base", least=1),
            Argument("steps"),
            Argument("minutes", least=1),
            Argument("partitions", SWITCH, ours="the table is rounded whole"),
            Argument("stopping rule", (0, 1, 2), ours="a rounding whose levels hold ends it"),
            Argument("unit costs", SWITCH),
        ),
        "RND: our controlled rounding, attacked until the levels hold",
    ),
    "CTA": TauMethod((), "CTA: our engine, weights 1/a; empty cells stay empty"),
}


@dataclass(frozen=True)
class AskedMethod:
    """A method with its numbers. `table` 0: all tables together."""

    name: str
    method: TauMethod
    table: int
    numbers: Mapping[str, int] = field(default_factory=dict)

    def number(self, name: str, otherwise: int) -> int:
        return self.numbers.get(name, otherwise)

    @property
    def differences(self) -> list[str]:
        """What is done otherwise than τ-ARGUS does it."""
        said = {each.name: each for each in self.method.arguments if each.ours}
        told = [
            f"{self.name}: {name} {number}: {said[name].ours}"
            for name, number in self.numbers.items()
            if name in said and number != said[name].unless
        ]
        return [self.method.said, *told]

    @property
    def of_singletons(self) -> list[str]:
        """The arguments that ask for what only a count of contributors can give."""
        return [name for name in (SINGLETONS, SINGLES, SINGLES_AND_OTHERS) if self.number(name, 0)]


def asked_method(command: Command) -> AskedMethod:
    """The method of a command. Raises InvalidInput for one that is not ours, and for
    arguments that it does not take.
    """
    calls = command.calls
    if len(calls) != 1:
        raise command.refused(f"one method is expected. Remedy: one of {', '.join(METHODS)}")
    name, (table, *texts) = calls[0]
    if name not in METHODS:
        raise command.refused(f"{name} is not one of our methods. Remedy: one of {', '.join(METHODS)}")
    method = METHODS[name]
    if len(texts) > len(method.arguments):
        known = ", ".join(["table", *(each.name for each in method.arguments)])
        raise command.refused(
            f"{name} takes {1 + len(method.arguments)} arguments at most: {known}. Remedy: leave the others "
            f"out"
        )
    given = {
        each.name: _whole(command, name, each, text)
        for each, text in zip(method.arguments, texts, strict=False)
        if text
    }
    return AskedMethod(name, method, _whole(command, name, Argument("table"), table or "1"), given)


def _whole(command: Command, method: str, argument: Argument, text: str) -> int:
    found = number_in(command.line, text, f"{method}: {argument.name}")
    if found != int(found):
        raise command.refused(f"{method}: {argument.name} is no whole number. Remedy: correct it")
    if argument.choices and found not in argument.choices:
        raise command.refused(
            f"{method}: {argument.name} is none of {', '.join(map(str, argument.choices))}. Remedy: correct "
            f"it"
        )
    if found < argument.least:
        raise command.refused(
            f"{method} takes a {argument.name} of {argument.least} or more. Remedy: give it"
        )
    return int(found)
