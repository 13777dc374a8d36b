"""The commands of a batch (.arb), one on a line: <KEYWORD> arguments. // and \\\\ begin a comment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sdc_tasks.argus.places import BatchLine, lines_of, split_outside
from sdc_tasks.errors import InvalidInput

COMMAND = re.compile(r"<\s*([A-Za-z]+)\s*>\s*(.*)")
CALL = re.compile(r"\s*([A-Za-z]+)\s*\(([^()]*)\)\s*")
ARGUMENT = re.compile(r'\s*(?:("[^"]*")\s*|([^,]*))(?:,|$)')
QUOTED = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Command:
    """A command. `rest`: what stands behind its keyword."""

    line: BatchLine
    word: str
    rest: str

    def refused(self, why: str) -> InvalidInput:
        return self.line.refused(f"<{self.word}>: {why}")

    @property
    def name(self) -> str:
        """Its first argument, a file."""
        quoted = QUOTED.fullmatch(self.rest)
        found = quoted[1] if quoted else self.rest
        if not found.strip() or '"' in found:
            raise self.refused("the name of a file is expected, and nothing behind it. Remedy: name it alone")
        return found.strip()

    @property
    def arguments(self) -> list[str]:
        """What stands between commas: one in quotation marks is none, and blanks there are kept."""
        found = [(quoted, plain.strip()) for quoted, plain in ARGUMENT.findall(self.rest)]
        return [quoted[1:-1] if quoted else plain for quoted, plain in found]

    @property
    def calls(self) -> list[tuple[str, list[str]]]:
        """NAME(arguments), separated by |, as rules and methods are written."""
        found = []
        for part in self.rest.split("|"):
            if not part.strip():
                continue
            call = CALL.fullmatch(part)
            if call is None:
                raise self.refused("NAME(number,number…) is expected, separated by |. Remedy: correct it")
            found.append((call[1].upper(), [each.strip() for each in call[2].split(",")]))
        return found


@dataclass(frozen=True)
class Specified:
    """<SPECIFYTABLE> "dim""dim"|"response"|"shadow"|"cost",lambda. `cost`: a column, −1
    frequency, −2 one, −3 distance, or empty.
    """

    command: Command
    dimensions: tuple[str, ...]
    response: str
    shadow: str
    cost: str
    power: str


def read_batch(path: Path) -> list[Command]:
    """The commands of a file. Raises InvalidInput for a line that is none."""
    found = []
    for line in lines_of(path):
        text = line.text.strip()
        if text.startswith(("//", "\\\\")):
            continue
        command = COMMAND.fullmatch(text)
        if command is None:
            raise line.refused(
                "a command is expected, as <KEYWORD> arguments. Remedy: correct it, or make it a comment "
                "with //"
            )
        found.append(Command(line, command[1].upper(), command[2].strip()))
    if not found:
        raise InvalidInput(f"{path}: no command. Remedy: give a batch of τ-ARGUS")
    return found


def specified(command: Command) -> Specified:
    """The table that <SPECIFYTABLE> describes."""
    parts = split_outside(command.rest, "|")
    dimensions = QUOTED.findall(parts[0])
    shape = QUOTED.sub("", parts[0]).strip() or any(parts[4:])
    if (
        not dimensions
        or len(parts) < 2
        or shape
        or len({name.lower() for name in dimensions}) < len(dimensions)
    ):
        raise command.refused(
            '"dimension""dimension"|"response"|"shadow"|"cost" is expected, each dimension once. Remedy: '
            "correct it"
        )
    response, shadow = _unquoted(parts[1]), _unquoted(parts[2]) if len(parts) > 2 else ""
    cost, *powers = split_outside(parts[3] if len(parts) > 3 else "", ",")
    power = ",".join(powers) or "1"  # a number may have a decimal comma
    return Specified(command, tuple(dimensions), response, shadow, _unquoted(cost), power)


def _unquoted(text: str) -> str:
    return text.strip().strip('"').strip()
