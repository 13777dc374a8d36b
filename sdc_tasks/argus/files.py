"""The files of a batch. What it writes is written when all its commands are done, all or nothing: each file
once, and none over a file that the batch reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.jj import write_all_private

Refused = Callable[[str], InvalidInput]  # the error of a command, from why it is refused


@dataclass
class BatchFiles:
    """`kept`: the texts that wait, by their places; `promised`: places that get theirs at the end."""

    read: set[Path] = field(default_factory=set)
    kept: dict[Path, str] = field(default_factory=dict)
    promised: set[Path] = field(default_factory=set)

    def reads(self, place: Path, refused: Refused) -> None:
        """Raises the error of a command that reads what this batch writes."""
        if place.resolve() in self.taken:
            raise refused(
                f"{place.name} is a file that this batch writes. Remedy: give the output another name, or "
                f"read it in a batch of its own"
            )
        self.read.add(place.resolve())

    def promise(self, place: Path, refused: Refused) -> None:
        """Keeps a place for what is written last."""
        self.refuse(place, refused)
        self.promised.add(place.resolve())

    def keep(self, place: Path, text: str, refused: Refused) -> None:
        """A file that is written with all others."""
        self.refuse(place, refused)
        self.kept[place.resolve()] = text

    def fulfil(self, place: Path, text: str) -> None:
        """What was promised, written with all others."""
        self.kept[place.resolve()] = text

    def write(self) -> None:
        """Raises OSError where a file cannot be written; then none is."""
        write_all_private(self.kept)

    @property
    def taken(self) -> set[Path]:
        return self.promised | set(self.kept)

    def refuse(self, place: Path, refused: Refused) -> None:
        """Raises the error of a command that writes where it may not."""
        if place.is_dir():
            raise refused(f"{place.name} is a folder. Remedy: give the output another name")
        if place.resolve() in self.read:
            raise refused(
                f"{place.name} is a file that this batch reads. Remedy: give the output another name"
            )
        if place.resolve() in self.taken:
            raise refused(f"{place.name} would be written twice. Remedy: give each output a name of its own")
