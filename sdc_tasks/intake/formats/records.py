"""The result of a reader of any format: the records of one file as texts. This module does
not know the meaning of a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdc_tasks.intake.formats.texts import in_parts
from sdc_tasks.model.table import Bools, Floats, Ints

Numbers = npt.NDArray[np.signedinteger[Any]]  # of texts: some columns have few, and their numbers need a byte
A_NUMBER = "0"
_OF_EUROSTAT = "OBS_FLAG"  # what its services call the status
_NO_NUMBER = "NaN"  # of the SDMX standard, for a number that is not there
NOTHING = frozenset(("", "#N/A"))  # of an attribute that is not there; the second is of the standard, too
_PLAIN = re.compile(r"[+-]?[0-9]++(?:\.[0-9]*+)?+")  # most numbers, with a point if any
_ALL_PLAIN = re.compile(rf"(?:{_PLAIN.pattern}\n)*+")  # seen at once, as a million texts are slow one by one


def _are_plain(texts: list[str]) -> bool:
    joined = "".join([f"{text}\n" for text in texts])
    return joined.count("\n") == len(texts) and _ALL_PLAIN.fullmatch(joined) is not None  # a text may break


@dataclass(frozen=True)
class WireFormat:
    """One way to write the same records. `decimal` is the sign that the format prescribes;
    another sign is accepted with a warning. `structure_columns` are those that every file has,
    to say of which structure it is.
    """

    name: str
    decimal: str
    structure_columns: tuple[str, ...]


def concept_of(name: str, known: Set[str]) -> str:
    """The concept with this name, in any case; the name itself where there is none, or several."""
    if name in known:
        return name
    alike = [each for each in known if each.upper() == name.upper()]
    return alike[0] if len(alike) == 1 else name


@dataclass(frozen=True)
class Concepts:
    """The columns of a domain: those that every file must have, those that it may have, which of them are the
    key of a record, and which hold numbers; and those of the status and the flag, which some formats have
    beside the value.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...]
    dimensions: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    obs_status: str = "OBS_STATUS"
    conf_status: str = "CONF_STATUS"

    def own(self, name: str) -> str:
        """The concept with this name in any case, as Eurostat writes `geo`; or the name itself."""
        known = {*self.required, *self.optional}
        found = concept_of(name, known)
        return self.obs_status if found not in known and found.upper() == _OF_EUROSTAT else found

    def plain(self, name: str, text: str) -> str:
        """The text of a concept without surrounding blanks, empty for a number that is not there."""
        return self.all_plain(name, (text,))[0]

    def all_plain(self, name: str, texts: Iterable[str]) -> list[str]:
        """The same of many texts."""
        found = list(map(str.strip, texts))
        if name in self.numbers and _NO_NUMBER in found:
            return ["" if text == _NO_NUMBER else text for text in found]
        return found


@dataclass(frozen=True)
class Records:
    """The records of one file: for each known concept its texts, without surrounding blanks, and the text of
    each record; and the line on which each record starts. The texts are distinct, but for concepts with very
    many. Where a format has no lines, a line is a row of the table below a header.

    `numbers`: for a column that the file holds as binary numbers, (records,), NaN where it has none; its text
    is then `A_NUMBER`, which only says that there is one.
    """

    format: WireFormat
    line: Ints = field(repr=False)
    columns: Mapping[str, tuple[Sequence[str], Numbers]] = field(repr=False)
    numbers: Mapping[str, Floats] = field(repr=False, default_factory=dict)
    _plain: dict[str, bool] = field(repr=False, compare=False, default_factory=dict)

    def __len__(self) -> int:
        return len(self.line)

    def has(self, column: str | None) -> bool:
        return column is not None and column in self.columns

    def texts(self, column: str) -> Sequence[str]:
        """The texts of a column."""
        return self.columns[column][0]

    def which(self, column: str) -> Numbers:
        """(records,): the position of each record's text in `texts`."""
        return self.columns[column][1]

    def plain(self, column: str) -> bool:
        """Whether every text of a column is a plain number, so that nobody looks through a
        million of them for something else.
        """
        if column not in self._plain:
            self._plain[column] = all(map(_are_plain, in_parts(self.texts(column))))
        return self._plain[column]

    def mention(self, column: str, sign: str) -> bool:
        """Whether any text of a column holds the sign."""
        return any(sign in "\n".join(part) for part in in_parts(self.texts(column)))

    def among(self, column: str, texts: Set[str]) -> Bools:
        """(records,): the records whose text is one of these."""
        if self.plain(column) and not any(_PLAIN.fullmatch(text) for text in texts):
            return np.zeros(len(self), dtype=bool)
        return self.where(column, texts.__contains__)

    def where(self, column: str, test: Callable[[str], bool]) -> Bools:
        """(records,): the records whose text passes the test. The test runs once for each text."""
        texts = self.texts(column)
        return np.fromiter(map(test, texts), dtype=bool, count=len(texts))[self.which(column)]

    def positions(self, column: str, index: Mapping[str, int]) -> Numbers:
        """(records,): the index of each record's code, −1 where it has none."""
        texts = self.texts(column)
        found = np.fromiter((index.get(text, -1) for text in texts), dtype=np.int32, count=len(texts))
        return found[self.which(column)]

    def text(self, column: str, row: int) -> str:
        texts, which = self.columns[column]
        return texts[int(which[row])]
