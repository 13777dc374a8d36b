"""A mutant: one change to one file of the program, which some test should notice."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """The characters `start` to `end` of a file give way to `new`; `what` says in a line what that does."""

    file: str
    start: int
    end: int
    new: str
    what: str

    def line(self, text: str) -> int:
        """Where it begins, counted from 1."""
        return text.count("\n", 0, self.start) + 1

    def applied(self, text: str) -> str:
        """The file with the change."""
        return text[: self.start] + self.new + text[self.end :]

    def diff(self, text: str) -> str:
        """What it changes, line by line."""
        lines = difflib.unified_diff(text.splitlines(), self.applied(text).splitlines(), lineterm="", n=0)
        return "\n".join(each for each in list(lines)[2:] if not each.startswith("@@"))


def read(file: str, root: Path = ROOT) -> str:
    """The text of a file, named from the root of the repository."""
    return (root / file).read_text(encoding="utf-8")
