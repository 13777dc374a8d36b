"""Several tables of `sdc suppress` that share cells: read one by one, protected as one, each
written with its part of the pattern.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sdc_tasks.cli.searches.pattern import TableAtHand
from sdc_tasks.errors import InvalidInput

if TYPE_CHECKING:
    from sdc_tasks.methods.suppression.linked import LinkedTables
    from sdc_tasks.model.table import Bools

LINK_HELP = (
    "with several tables: a CSV file link,table,cell,coefficient that says which "
    "cells are the same and which relations hold"
)
ENDINGS = (".jj.gz", ".jj", ".csv", ".parquet")


def together(
    files: Sequence[Path],
    link: Path | None,
    folders: tuple[Path | None, Path | None],
    read: Callable[[Path], TableAtHand],
) -> TableAtHand:
    """The tables of several files as one. `folders`: where each of them is written under its own name, and
    where as the world may see it.
    """
    from sdc_tasks.intake.tables.given.links import read_links
    from sdc_tasks.methods.suppression.linked import linked

    if link is None:
        raise InvalidInput(
            f"{', '.join(map(str, files))}: several tables, and no links. Remedy: list the cells that they "
            f"share in a file, --link FILE"
        )
    names = _table_names(files)
    places, public = (dict(zip(names, _places(files, folder), strict=True)) for folder in folders)
    tables = {name: read(file) for name, file in zip(names, files, strict=True)}
    cells = {name: {key: i for i, key in enumerate(table.keys)} for name, table in tables.items()}
    both = linked({name: table.problem for name, table in tables.items()}, read_links(link, cells))
    shared = sum(len(table.keys) for table in tables.values()) - len(both.problem.a)
    named = dict(zip(names, files, strict=True))
    one = _FilesAsOne(both, named, tables, places, public)
    return TableAtHand(
        both.problem,
        (),
        one.write,
        lambda _: {"tables": len(tables), "shared": shared},
        one.patterns_in,
        sum(table.consistent for table in tables.values()),
        one.publish,
    )


@dataclass(frozen=True)
class _FilesAsOne:
    """The tables of several files, by name: where each is written, and where as the world may see it."""

    both: LinkedTables
    files: Mapping[str, Path]
    tables: Mapping[str, TableAtHand]
    places: Mapping[str, Path]
    public: Mapping[str, Path]

    def write(self, _: Path, hidden: Bools) -> None:
        """Each table with its part of the pattern."""
        for name, pattern in self.both.patterns(hidden).items():
            self.tables[name].write(self.places[name], pattern)

    def publish(self, _: Path, hidden: Bools, flow: str | None) -> None:
        """Each table without the values that its part of the pattern hides."""
        for name, pattern in self.both.patterns(hidden).items():
            one = self.tables[name].publish
            assert one is not None, "a JJ file is refused when it is read"
            one(self.public[name], pattern, flow)

    def patterns_in(self, folder: Path) -> Bools:
        """The pattern of all tables, each read from its file in the folder."""
        return self.both.together(
            {
                name: self.tables[name].pattern_in(published_as(file, folder))
                for name, file in self.files.items()
            }
        )


def published_as(file: Path, folder: Path) -> Path:
    """The file with the earlier pattern of one of several tables: under the name that `sdc
    suppress` gave it in its folder.
    """
    if not folder.is_dir():
        raise InvalidInput(
            f"{folder}: not a folder. Remedy: with several tables, name the folder that --out named then"
        )
    found = folder / _written(file)
    if not found.is_file():
        raise InvalidInput(
            f"{found}: no such file, so what was open in {file} is not known. Remedy: put its earlier "
            f"pattern there"
        )
    return found


def _written(file: Path) -> str:
    """The name under which a table is written into a folder."""
    return file.name if file.name.lower().endswith(ENDINGS[:2]) else f"{table_name(file)}.csv"


def _table_names(files: Sequence[Path]) -> list[str]:
    """The name of each table. Raises InvalidInput where two have one name."""
    names = [table_name(file) for file in files]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise InvalidInput(f"{twice[0]}: two tables of this name. Remedy: rename one of the files")
    return names


def table_name(file: Path) -> str:
    """The name of the table in a file, as links and options call it."""
    return next(
        (file.name[: -len(ending)] for ending in ENDINGS if file.name.lower().endswith(ending)), file.name
    )


def _places(files: Sequence[Path], folder: Path | None) -> list[Path]:
    """Where each table goes; refused before the work where it cannot."""
    if folder is None:
        return list(files)  # nothing is written
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InvalidInput(
            f"{folder}: not a folder that can be written to. Remedy: with several tables, --out names a "
            f"folder"
        )
    places = [folder / _written(file) for file in files]
    for place in places:
        if place.resolve() in {file.resolve() for file in files}:
            raise InvalidInput(f"{place}: this is one of the tables itself. Remedy: name another folder")
    return places
