"""What a workbook of Excel may hold, and what refuses it, with its place: openpyxl
writes, by hand where it does not.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.intake import Delivery, read_bytes
from sdc_tasks.model.findings import Severity
from support.deliveries import PERIOD, SECRET, codes, sdmx_1, small_domain
from support.wire import book, saved

TEXT = sdmx_1()
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ORDER = "not in their order"
SHEET = "xl/worksheets/sheet1.xml"
VALUE = "H"  # the column of OBS_VALUE


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("workbook"))


def reads(domain: Domain, data: bytes) -> Delivery:
    return read_bytes(data, "AT_2024.xlsx", domain, PERIOD, digest="D")


def errors(delivery: Delivery) -> str:
    codes(delivery)  # and no finding repeats the secret
    assert not any(each.code == "SDC/reader" for each in delivery.findings)
    return " ".join(
        f"{each.code} line {each.line}: {each.message}"
        for each in delivery.findings
        if each.severity is Severity.ERROR
    )


def rewritten(change: Callable[[str], str], part: str = SHEET, data: bytes | None = None) -> bytes:
    """The workbook with another text of one part."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data or saved(book(TEXT)))) as before,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            content = before.read(name).decode()
            if name == part:
                assert change(content) != content
                content = change(content)
            after.writestr(name, content)
    return stream.getvalue()


def changed(change: Callable[[Any], object]) -> bytes:
    """The workbook after a change of its sheet."""
    made = book(TEXT)
    change(made.active)
    return saved(made)


def test_a_workbook_is_read_with_a_warning(domain):
    expected, found = (
        read_bytes(TEXT.encode(), "AT_2024.csv", domain, PERIOD),
        reads(domain, saved(book(TEXT))),
    )
    assert found.table is not None
    assert found.table.value.tolist() == expected.table.value.tolist()
    assert [(each.code, str(each.severity)) for each in found.findings] == [("SDC/workbook", "warning")]
    assert "what is stored counts, not what is shown" in found.findings[0].message


def _put(place: str, content: object, style: str | None = None) -> Callable[[Any], None]:
    def put(sheet: Any) -> None:
        sheet[place] = content
        if style:
            sheet[place].number_format = style

    return put


def _hide_row(sheet: Any) -> None:
    sheet.row_dimensions[5].hidden = True


def _hide_column(sheet: Any) -> None:
    sheet.column_dimensions[VALUE].hidden = True


def _no_width(sheet: Any) -> None:
    sheet.column_dimensions[VALUE].width = 0.01  # of zero, openpyxl writes nothing


def _no_height(sheet: Any) -> None:
    sheet.row_dimensions[5].height = 0.01


def _second_sheet(sheet: Any) -> None:
    sheet.parent.create_sheet("Notes 2024")["B2"] = "see me"


def _hidden_second(sheet: Any) -> None:
    other = sheet.parent.create_sheet("Old")
    other["A1"], other.sheet_state = 1, "veryHidden"


def _hidden_only(sheet: Any) -> None:
    sheet.parent.create_sheet("Empty")
    sheet.sheet_state = "hidden"


def _title(sheet: Any) -> None:
    sheet.insert_rows(1)


DOUBTS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a formula": (_put("H5", f"={SECRET}+0"), "line 5: Delivery!H5 holds a formula"),
    "a formula of a code": (_put("B5", '="A"&"T"'), "line 5: Delivery!B5 holds a formula"),
    "an error": (_put("H6", "#N/A"), "line 6: Delivery!H6 holds an error"),
    "a date": (_put("G3", datetime.date(2024, 1, 1)), "line 3: Delivery!G3 is a date"),
    "a date in own words": (_put("G3", 45292, 'yyyy"-A1"'), "line 3: Delivery!G3 is a date"),
    "a percentage": (_put("N3", 0.45, "0.0%"), "line 3: Delivery!N3 is shown as a percentage"),
    "yes or no": (_put("K4", True), "line 4: Delivery!K4 holds a date or a yes/no"),
    "merged cells": (lambda sheet: sheet.merge_cells("E3:F4"), "line 3: Delivery!E3 is merged"),
    "a hidden row": (_hide_row, "line 5: Delivery!A5 stands in a hidden row"),
    "a hidden column": (_hide_column, "Delivery!H1 stands in a hidden column"),
    "a column without width": (_no_width, "Delivery!H1 stands in a hidden column"),
    "a row without height": (_no_height, "line 5: Delivery!A5 stands in a hidden row"),
    "a stray cell": (_put("Z4", "checked by me"), "line 4: Delivery!Z4 stands beside the table"),
    "a code that was a number": (_put("E4", 1), "line 4: Delivery!E4 holds a code as a number"),
    "half a power of ten": (_put("J4", 2.5), "line 4: Delivery!J4 holds a number where a code belongs"),
    "two sheets": (_second_sheet, "2 sheets hold something: Delivery, Notes 2024"),
    "a very hidden sheet": (_hidden_second, "2 sheets hold something: Delivery, Old"),
    "only a hidden sheet": (_hidden_only, "the only sheet that holds something is hidden"),
    "a title above": (_title, "line 2: the sheet does not begin with a row of the names"),
    "no record": (lambda sheet: sheet.delete_rows(2, 20), "a header but no record"),
    "nothing": (lambda sheet: sheet.delete_rows(1, 20), "0 sheets hold something"),
    "an unknown code": (_put("E4", "X9"), "150/904-2 line 4"),
    "no value": (_put("H4", None), "SDC/missing line 4"),
    "text for a value": (_put("H4", f"{SECRET} EUR"), "SDC/value line 4"),
    "no column": (lambda sheet: sheet.delete_cols(10), "column UNIT_MULT is missing"),
}


@pytest.mark.parametrize("how", DOUBTS)
def test_a_workbook_that_leaves_a_doubt_is_refused_with_its_place(domain, how):
    change, said = DOUBTS[how]
    assert said in errors(reads(domain, changed(change)))


def _cell(instead: str) -> bytes:
    """The workbook with another cell H5, which holds 100 otherwise."""
    return rewritten(lambda text: re.sub(r'<c r="H5".*?</c>', instead, text))


DAMAGE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a value and a text": (
        lambda: _cell('<c r="H5" t="n"><v>700</v><is><t>9</t></is></c>'),
        "line 5: a cell of the sheet has two values",
    ),
    "a text and a value": (
        lambda: _cell('<c r="H5" t="inlineStr"><is><t>9</t></is><v>700</v></c>'),
        "has two values",
    ),
    "a text of a number": (
        lambda: _cell('<c r="H5" t="n"><is><t>700</t></is></c>'),
        "of another kind than it says",
    ),
    "two texts": (
        lambda: _cell('<c r="H5" t="inlineStr"><is><t>7</t></is><is><t>00</t></is></c>'),
        "has two values",
    ),
    "a text beside the value": (
        lambda: _cell('<c r="H5" t="n"><v>700</v><t>9</t></c>'),
        "a text that is not its value",
    ),
    "rows without height": (
        lambda: rewritten(
            lambda text: re.sub(r"<sheetFormatPr[^>]*>", '<sheetFormatPr defaultRowHeight="0"/>', text)
        ),
        "the sheet hides its rows",
    ),
    "a document type": (
        lambda: rewritten(
            lambda text: (
                f'<!DOCTYPE worksheet [<!ENTITY e SYSTEM "file:///etc/passwd">]>{text.partition("?>")[2]}'
            )
        ),
        "a document type (DOCTYPE)",
    ),
    "rows in disorder": (lambda: rewritten(lambda text: text.replace('<row r="3"', '<row r="9"')), ORDER),
    "a cell twice": (lambda: rewritten(lambda text: text.replace('r="B4"', 'r="A4"')), ORDER),
    "a cell of another row": (lambda: rewritten(lambda text: text.replace('r="B4"', 'r="B5"')), ORDER),
    "a row in a row": (
        lambda: rewritten(
            lambda text: text.replace("</c></row>", "</c>", 1).replace("</sheetData>", "</row></sheetData>")
        ),
        ORDER,
    ),
    "a cell in a cell": (
        lambda: rewritten(lambda text: text.replace("</c>", "", 1).replace("</row>", "</c></row>", 1)),
        ORDER,
    ),
    "two values in a cell": (
        lambda: rewritten(lambda text: text.replace("</v></c>", "</v><v>1</v></c>", 1)),
        "has two values",
    ),
    "rows that are hidden by default": (
        lambda: rewritten(lambda text: text.replace("<sheetFormatPr ", '<sheetFormatPr zeroHeight="1" ')),
        "the sheet hides its rows",
    ),
    "no number": (
        lambda: rewritten(lambda text: text.replace(f"<v>{SECRET}</v>", "<v>1e999</v>")),
        "holds a number that is none",
    ),
    "a bomb": (
        lambda: rewritten(lambda text: text.replace("</sheetData>", f"</sheetData>{' ' * 5_000_000}")),
        "unpacks to more than",
    ),
    "no book": (
        lambda: rewritten(lambda text: text.replace("worksheet", "chartsheet"), "xl/_rels/workbook.xml.rels"),
        "0 sheets hold something",
    ),
    "broken XML": (lambda: rewritten(lambda text: text.replace("</row>", "</r>", 1)), "no XML"),
    "an old workbook": (lambda: b"\xd0\xcf\x11\xe0" + b"\0" * 600, "of the old kind"),
    "no zip": (TEXT.encode, "not a whole workbook"),
    "a cut file": (lambda: saved(book(TEXT))[:-30], "not a whole workbook"),
    "a zip of another thing": (lambda: _zip({"AT.csv": TEXT}), "no workbook of Excel"),
    "parts without end": (lambda: _zip({f"{number}": "" for number in range(1100)}), "not a whole workbook"),
}


def _zip(files: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_workbook_is_refused(domain, how):
    write, said = DAMAGE[how]
    assert said in errors(reads(domain, write()))


def test_a_hidden_column_beside_the_table_and_an_empty_sheet_do_no_harm(domain):
    def change(sheet: Any) -> None:
        sheet.column_dimensions["AB"].hidden = True
        sheet.row_dimensions[99].hidden = True
        sheet.parent.create_sheet("Sheet2")

    assert errors(reads(domain, changed(change))) == ""


def test_numbers_that_are_stored_as_texts_are_read_as_texts(domain):
    found = reads(domain, changed(_put("H5", "700.0")))
    assert errors(found) == ""
    assert found.table is not None


def with_shared_texts() -> bytes:
    """The workbook as Excel writes it: a text stands once, in a part of its own, in runs, with a
    reading aid.
    """
    texts: dict[str, int] = {}
    inline = re.compile(r't="inlineStr"><is><t>([^<]*)</t></is>')

    def number(match: re.Match[str]) -> str:
        return f't="s"><v>{texts.setdefault(match[1], len(texts))}</v>'

    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved(book(TEXT)))) as before,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for name in before.namelist():
            content = before.read(name).decode()
            if name == SHEET:
                content = inline.sub(number, content)
            if name == "xl/_rels/workbook.xml.rels":
                related = (
                    f'<Relationship Id="own" Type="{OFFICE}/sharedStrings" Target="/xl/sharedStrings.xml"/>'
                )
                content = content.replace("</Relationships>", f"{related}</Relationships>")
            after.writestr(name, content)
        runs = "".join(
            f"<si><r><t>{text[:1]}</t></r><r><t>{text[1:]}</t></r><rPh><t>aid</t></rPh></si>"
            for text in texts
        )
        after.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{runs}</sst>')
    return stream.getvalue()


def test_shared_texts_are_read_without_their_reading_aids(domain):
    data = with_shared_texts()
    found = reads(domain, data)
    assert errors(found) == ""
    assert (
        found.table.value.tolist() == read_bytes(TEXT.encode(), "AT.csv", domain, PERIOD).table.value.tolist()
    )
    missing = rewritten(lambda text: text.replace('t="s"><v>3</v>', 't="s"><v>999</v>'), data=data)
    assert "a text of the workbook is missing" in errors(reads(domain, missing))


def test_cells_may_leave_out_their_places(domain):
    """As other programs write them."""
    head, *records = [line.split(",") for line in TEXT.splitlines()]
    body = "".join(
        "<row>"
        + "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' if text else "<c/>" for text in line)
        + "</row>"
        for line in (head, *records)
    )
    own = rewritten(
        lambda text: f"{text.partition('<sheetData>')[0]}<sheetData>{body}</sheetData></worksheet>"
    )
    found = reads(domain, own)
    assert errors(found) == ""
    assert (
        found.table.value.tolist() == read_bytes(TEXT.encode(), "AT.csv", domain, PERIOD).table.value.tolist()
    )


def test_the_name_of_a_sheet_with_digits_is_not_told(domain):
    made = book(TEXT, title=f"x {SECRET}")
    made.active["H5"] = "=1"
    assert "Sheet!H5 holds a formula" in errors(reads(domain, saved(made)))
