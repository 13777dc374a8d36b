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
    """`read`: places; `kept`: the texts that wait, by their places; `promised`: places that get theirs at the
    end. Names that differ in case alone are one: a batch finds its files in any case.
    """

    read: set[str] = field(default_factory=set)
    kept: dict[Path, str] = field(default_factory=dict)
    promised: set[str] = field(default_factory=set)

    def reads(self, place: Path, refused: Refused) -> None:
        """Raises the error of a command that reads what this batch writes."""
        self.read.add(_name(place))
        if _name(place) in self.taken:
            raise refused(
                f"{place.name} is a file that this batch writes. Remedy: give the output another name, or "
                f"read it in a batch of its own"
            )

    def is_read(self, place: Path) -> bool:
        return _name(place) in self.read

    def promise(self, place: Path, refused: Refused) -> None:
        """Keeps a place for what is written last."""
        self.refuse(place, refused)
        self.promised.add(_name(place))

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
    def taken(self) -> set[str]:
        return self.promised | {_name(place) for place in self.kept}

    def refuse(self, place: Path, refused: Refused) -> None:
        """Raises the error of a command that writes where it may not."""
        if place.is_dir():
            raise refused(f"{place.name} is a folder. Remedy: give the output another name")
        if self.is_read(place):
            raise refused(
                f"{place.name} is a file that this batch reads. Remedy: give the output another name"
            )
        if _name(place) in self.taken:
            raise refused(f"{place.name} would be written twice. Remedy: give each output a name of its own")


def _name(place: Path) -> str:
    return str(place.resolve()).casefold()
