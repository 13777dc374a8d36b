"""The one sheet of a workbook, from its cells to columns of texts and numbers. What leaves a doubt is a
finding with the place of the cell.

A number is what is stored, whatever is shown. A formula, an error, a date, a percentage, a merged, hidden or
stray cell is refused: what one sees and what is stored may differ, or somebody hid it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable

import numpy as np

from sdc_tasks.intake.findings import Findings, shown
from sdc_tasks.intake.formats.header import fitting_names
from sdc_tasks.intake.formats.records import A_NUMBER, Concepts, Records, WireFormat
from sdc_tasks.intake.formats.workbook.parts import (
    Attributes,
    Package,
    ShownAs,
    UnfitWorkbook,
    Worksheet,
    natural,
)
from sdc_tasks.model.table import Floats, Ints

CODE = "SDC/workbook"
_LAST_COLUMN = 16_384  # of a sheet of Excel
_MOST_ROWS = 1 << 20
_PERIOD = "TIME_PERIOD"
_REF = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_A_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_SEEN_FROM = 1.0  # of the size of a row or a column
_LONGEST_NAME = "A" * 26 + "_2024"  # a sheet has 31 characters; a longer run of digits may be a value


def tell(sheet: str) -> str:
    """The name of a sheet, where a finding may repeat it."""
    return shown(sheet, [_LONGEST_NAME]) or "Sheet"


class SheetCells:
    """Reads a sheet: `records()` after `read(package)`."""

    def __init__(self, sheet: Worksheet, concepts: Concepts, found: Findings, most: int) -> None:
        self._sheet, self._concepts, self._found, self._most = sheet, concepts, found, most
        self._header: dict[int, str] = {}
        self._wire: WireFormat | None = None
        self._names: tuple[str | None, ...] = ()
        self._texts: dict[int, dict[str, int]] = {}
        self._which: dict[int, array[int]] = {}
        self._numbers: dict[int, array[float]] = {}
        self._line = array("q")
        self._row = self._column = 0
        self._hidden_row = self._in_row = self._inside = self._valued = False
        self._hidden: list[tuple[int, int]] = []
        self._letters: dict[str, int] = {}
        self._cells: dict[int, str | float] = {}
        self._kind, self._style, self._formula, self._aside = "n", "", False, False
        self._said: list[str] = []
        self._heard = self._in_text = False

    def read(self, package: Package) -> Records | None:
        """The records of the sheet; None with findings."""
        self._strings, self._styles = package.shared_texts(), package.number_formats()
        starts: dict[str, Callable[[Attributes], None]] = {
            "row": self._start_row,
            "c": self._start_cell,
            "v": self._start_value,
            "t": self._start_text,
            "f": self._start_formula,
            "is": self._start_inline,
            "rPh": self._start_aside,
            "col": self._start_column,
            "mergeCell": self._start_merged,
            "sheetFormatPr": self._start_format,
        }
        ends = {
            "row": self._end_row,
            "c": self._end_cell,
            "v": self._end_text,
            "t": self._end_text,
            "rPh": self._end_aside,
        }
        package.parse(self._sheet.path, starts, ends, self._text)
        return self._records()

    def _place(self, column: int | None = None, row: int | None = None) -> str:
        return f"{tell(self._sheet.name)}!{_letters(column or self._column)}{row or self._row}"

    def _refuse(self, why: str, column: int | None = None) -> None:
        self._found.add(CODE, f"{self._place(column)} {why}", self._row)

    def _start_format(self, attributes: Attributes) -> None:
        if attributes.get("zeroHeight") in ("1", "true") or _flat(attributes.get("defaultRowHeight")):
            raise UnfitWorkbook("the sheet hides its rows: show all rows, and check what was hidden")
        if _flat(attributes.get("defaultColWidth")):
            raise UnfitWorkbook("the sheet hides its columns: show all columns, and check what was hidden")

    def _start_column(self, attributes: Attributes) -> None:
        if attributes.get("hidden") in ("1", "true") or _flat(attributes.get("width")):
            first, last = attributes.get("min", ""), attributes.get("max", "")
            if first.isascii() and last.isascii() and first.isdigit() and last.isdigit():
                self._hidden.append((int(first[:6]), int(last[:6])))
            else:
                raise UnfitWorkbook("a hidden column: show all columns, and check what was hidden")

    def _start_merged(self, attributes: Attributes) -> None:
        first = _REF.match(attributes.get("ref", ""))
        where = f"{tell(self._sheet.name)}!{first[0]}" if first else "a cell"
        line = int(first[2]) if first else None
        self._found.add(CODE, f"{where} is merged with its neighbours: unmerge, and fill in every cell", line)

    def _start_row(self, attributes: Attributes) -> None:
        row = natural(attributes["r"]) if "r" in attributes else self._row + 1
        if self._in_row or not self._row < row <= _MOST_ROWS:
            raise UnfitWorkbook(
                "the rows of the sheet are not in their order: save it again", self._row or None
            )
        self._row, self._column, self._cells, self._in_row = row, 0, {}, True
        self._hidden_row = attributes.get("hidden") in ("1", "true") or _flat(attributes.get("ht"))

    def _start_cell(self, attributes: Attributes) -> None:
        column = self._column + 1
        if ref := attributes.get("r"):
            letters = ref.rstrip("0123456789")
            column = self._letters.get(letters, 0) or self._numbered(letters)
            if ref[len(letters) :] != str(self._row):
                column = 0
        if self._inside or not self._in_row or column <= self._column:
            raise UnfitWorkbook("the cells of the sheet are not in their order: save it again", self._row)
        self._column = column
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
        self._said, self._formula, self._inside, self._valued, self._in_text = [], False, True, False, False

    def _numbered(self, letters: str) -> int:
        if not re.fullmatch("[A-Z]{1,3}", letters):
            raise UnfitWorkbook("a cell of the sheet has no place: save it again", self._row)
        number = 0
        for letter in letters:
            number = 26 * number + ord(letter) - 64
        if number > _LAST_COLUMN:
            raise UnfitWorkbook("a cell of the sheet has no place: save it again", self._row)
        self._letters[letters] = number
        return number

    def _start_formula(self, _: Attributes) -> None:
        self._formula = self._inside

    def _start_value(self, attributes: Attributes) -> None:
        if self._valued:
            raise UnfitWorkbook("a cell of the sheet has two values: save it again", self._row)
        if self._kind == "inlineStr":
            raise UnfitWorkbook(
                "a cell of the sheet has a value of another kind than it says: save it again", self._row
            )
        self._valued = True
        self._heard = self._inside and not self._aside

    def _start_inline(self, _: Attributes) -> None:
        if self._valued or (self._inside and self._kind != "inlineStr"):
            raise UnfitWorkbook(
                "a cell of the sheet has two values, or one of another kind than it says: save it again",
                self._row,
            )
        self._valued = self._in_text = True

    def _start_text(self, _: Attributes) -> None:
        if self._inside and not self._in_text:
            raise UnfitWorkbook(
                "a cell of the sheet has a text that is not its value: save it again", self._row
            )
        self._heard = self._inside and not self._aside

    def _start_aside(self, _: Attributes) -> None:
        self._aside = True

    def _end_aside(self) -> None:
        self._aside = False

    def _end_text(self) -> None:
        self._heard = False

    def _text(self, text: str) -> None:
        if self._heard:
            self._said.append(text)

    def _end_cell(self) -> None:
        self._inside = self._heard = False
        said = self._said[0] if len(self._said) == 1 else "".join(self._said)
        if self._formula:
            self._refuse("holds a formula, whose result may be out of date: copy, and paste as values")
        elif self._kind in ("s", "str", "inlineStr"):
            if text := self._shared(said) if self._kind == "s" else said.strip():
                self._cells[self._column] = text
        elif self._kind == "n":
            if said:
                self._cells[self._column] = self._number(said)
        elif self._kind == "e":
            self._refuse("holds an error such as #N/A: correct it, and paste as values")
        else:
            self._refuse("holds a date or a yes/no: format the column as text, and type the code again")

    def _shared(self, said: str) -> str:
        if not said.isascii() or not said.isdigit() or len(said) > 9 or int(said) >= len(self._strings):
            raise UnfitWorkbook("a text of the workbook is missing: save it again", self._row)
        return self._strings[int(said)]

    def _number(self, said: str) -> float:
        number = float(said) if _A_NUMBER.fullmatch(said) else np.nan
        if not np.isfinite(number):
            self._refuse("holds a number that is none: type it again")
            return 0.0
        if self._style:
            at = natural(self._style)
            how = self._styles[at] if at < len(self._styles) else ShownAs.PLAIN
            if how is ShownAs.DATE:
                self._refuse(
                    "is a date, and stored as a number of days: format the column as text, and type the code "
                    "again"
                )
            elif how is ShownAs.PERCENT:
                self._refuse(
                    "is shown as a percentage, and stored as a hundredth of it: format the column as a "
                    "number, in percent"
                )
        return number

    def _end_row(self) -> None:
        self._in_row = False
        if not self._cells:
            return
        if self._hidden_row:
            self._refuse(
                "stands in a hidden row: show all rows, take filters away, and check what was hidden",
                min(self._cells),
            )
        if not self._header:
            self._start_table()
            return
        if len(self._line) == self._most:
            raise UnfitWorkbook(
                f"the sheet has more than {self._most} rows: send the table and nothing else", self._row
            )
        self._line.append(self._row)
        for column in self._cells.keys() - self._header.keys():
            self._refuse("stands beside the table, in a column without a name: take it away", column)
        for column, texts in self._texts.items():
            content = self._cells.get(column, "")
            if not isinstance(content, str):
                if column in self._numbers:
                    self._numbers[column].append(content)
                    self._which[column].append(texts.setdefault(A_NUMBER, len(texts)))
                    continue
                content = self._code(content, column)
            elif column in self._numbers:
                self._numbers[column].append(np.nan)
            self._which[column].append(texts.setdefault(content, len(texts)))

    def _start_table(self) -> None:
        if self._row != 1:
            raise UnfitWorkbook(
                "the sheet does not begin with a row of the names of its columns: begin with it, in row 1",
                self._row,
            )
        self._header = {
            column: text if isinstance(text, str) else f"{text:.0f}" for column, text in self._cells.items()
        }
        names = [self._header.get(column, "") for column in range(1, max(self._header) + 1)]
        fitting = fitting_names("an Excel workbook", names, self._concepts, self._found)
        if fitting is None:
            raise UnfitWorkbook("the columns are not those of a delivery: see the other findings", 1)
        self._wire, self._names = fitting
        for column, name in enumerate(self._names, start=1):
            if name is not None:
                self._texts[column], self._which[column] = {}, array("q")
                if name in self._concepts.numbers:
                    self._numbers[column] = array("d")

    def _code(self, number: float, column: int) -> str:
        """The text of a number in a column of texts: a year, or an attribute such as a power of ten."""
        name = self._names[column - 1]
        if not number.is_integer() or abs(number) >= 1e15:
            self._refuse(
                "holds a number where a code belongs: format the column as text, and type the code again",
                column,
            )
        elif name in self._concepts.dimensions and not (name == _PERIOD and 1000 <= number <= 9999):
            message = (
                "holds a code as a number, which has lost zeros before it: format the column as "
                "text, and type the code again"
            )
            self._refuse(message, column)
        return f"{number:.0f}"

    def _records(self) -> Records | None:
        if not self._header:
            raise UnfitWorkbook("the sheet is empty: send the complete table")
        if not self._line:
            raise UnfitWorkbook("the sheet has a header but no record: send the complete table")
        width = max(self._header)
        for first, last in self._hidden:
            if first <= width and last >= first:
                message = (
                    f"{self._place(first, 1)} stands in a hidden column: show all columns, and check "
                    f"what was hidden"
                )
                self._found.add(CODE, message, 1)
        if self._found.refused or self._wire is None:
            return None
        columns: dict[str, tuple[list[str], Ints]] = {}
        numbers: dict[str, Floats] = {}
        for column, texts in self._texts.items():
            name = self._names[column - 1] or ""
            columns[name] = list(texts), np.array(self._which.pop(column), dtype=np.int64)
            if column in self._numbers:
                numbers[name] = np.array(self._numbers.pop(column))
        return Records(self._wire, np.array(self._line, dtype=np.int64), columns, numbers)


def is_filled(package: Package, sheet: Worksheet) -> bool:
    """Whether the sheet holds any value."""
    try:
        package.parse(sheet.path, dict.fromkeys(("v", "is", "f"), _seen))
    except _Seen:
        return True
    return False


class _Seen(Exception):
    """Enough of the sheet was read."""


def _flat(size: str | None) -> bool:
    """Whether a row (in points) or a column (in characters) is too low or too narrow for
    anybody to see what stands in it.
    """
    return size is not None and not (_A_NUMBER.fullmatch(size) and float(size) >= _SEEN_FROM)


def _seen(_: Attributes) -> None:
    raise _Seen


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
