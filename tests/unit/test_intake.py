"""Each way a delivery can be wrong, and the finding that tells its sender: code, line, cell,
never a value.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake import read, read_bytes
from sdc_tasks.intake.formats.registry import Format
from sdc_tasks.model.findings import Severity
from support.deliveries import HEALTHY, PERIOD, SECRET, codes, deliver, national, sdmx_1, sdmx_2, small_domain
from support.laws import law


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("intake")


@pytest.fixture(scope="module")
def domain(folder: Path) -> Domain:
    return small_domain(folder)


def replaced(line: int, old: str, new: str, text: str | None = None) -> str:
    """The healthy file with one piece of one line replaced; `line` counts from 1."""
    lines = (text or sdmx_1()).splitlines(keepends=True)
    assert lines[line - 1].count(old) == 1
    lines[line - 1] = lines[line - 1].replace(old, new)
    return "".join(lines)


# A healthy delivery


@pytest.mark.parametrize(
    "content",
    [sdmx_1(), sdmx_2(), national(), sdmx_1().replace(",", "\t")],
    ids=["SDMX-CSV 1.0", "SDMX-CSV 2.0", "national", "tabs"],
)
def test_every_wire_format_gives_the_same_table(domain, folder, content):
    delivery = deliver(domain, folder, content)
    assert codes(delivery) == []
    assert delivery.accepted
    assert (delivery.country, delivery.file) == ("AT", "AT_2024.csv")
    assert delivery.table.deliveries == tuple(sheet.digest for sheet in delivery.sheets)
    assert delivery.table.value.tolist() == [749391, 400, 748991, 700, 300, 400, 748691, 100, 748591]
    assert "".join(delivery.table.flag) == "FFFFDDFDA"


def test_a_cell_without_a_record_is_a_public_zero_where_its_totals_show_it(domain, folder):
    drawing = """
                _T      S       L
        TOTAL   700 F   300 F   400 F
        C       600 F   300 F   300 F
        D       100 F   .       100 F
    """
    delivery = deliver(domain, folder, sdmx_1(drawing))
    empty = domain.space.national_keys.index(("TURNOVER", "D", "S"))
    table = delivery.table
    assert (table.value[empty], table.flag[empty], table.units[empty]) == (0, "F", -1)
    assert np.isnan([table.share_1[empty], table.share_2[empty]]).all()


def test_a_finding_names_the_cell_of_every_record(domain, folder):
    delivery = deliver(domain, folder, re.sub(r",2024,[0-9]+,", ",2024,many,", sdmx_1()))
    told = [each.cell for each in delivery.findings if each.code == "SDC/value"]
    assert told == [".".join(("AT", *key)) for key in domain.space.national_keys]


def test_a_unit_for_each_code(tmp_path):
    """Tonnes are converted to the kilograms of their code, pieces stay pieces, and one for the other is
    refused.
    """
    small_domain(tmp_path)
    path = tmp_path / "small.yaml"
    path.write_text(path.read_text().replace("unit: EUR, unit_multiplier: 3", "unit_of: ACTIVITY"))
    text = sdmx_1()
    assert text.count(",EUR,3,") == 9
    (tmp_path / "activities.csv").write_text(
        "code,parent,unit,unit_multiplier\nTOTAL,,KG,0\nC,TOTAL,KG,0\nD,TOTAL,KG,0\n"
    )
    delivery = deliver(load_domain(path), tmp_path, text.replace(",EUR,3,", ",KG,3,"))
    assert delivery.table.value.tolist()[:2] == [749391000, 400000]
    (tmp_path / "activities.csv").write_text(
        "code,parent,unit,unit_multiplier\nTOTAL,,KG,0\nC,TOTAL,KG,0\nD,,NR,0\n"
    )
    delivery = deliver(load_domain(path), tmp_path, text.replace(",EUR,3,", ",KG,0,"))
    assert [
        (each.code, each.line, each.cell) for each in delivery.findings if each.severity is Severity.ERROR
    ] == [("SDC/unit", line, f"AT.TURNOVER.D.{size}") for line, size in ((8, "_T"), (9, "S"), (10, "L"))]
    assert delivery.findings[0].message == "UNIT_MEASURE must be NR"


def test_units_and_shares_are_read_where_they_are_sent(domain, folder):
    text = replaced(10, "A,A,,,", "A,A,2,97.5,2.5")
    table = deliver(domain, folder, text).table
    assert (table.units[-1], table.share_1[-1], table.share_2[-1]) == (2, 97.5, 2.5)
    assert table.units[0] == -1


def test_units_and_shares_may_be_left_out_altogether(domain, folder):
    text = sdmx_1().replace(",UNITS,SHARE_1,SHARE_2", "").replace(",,,\n", "\n")
    assert deliver(domain, folder, text).accepted


def test_decimals_of_the_indicator_are_read_exactly(folder, tmp_path):
    domain = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, decimals: 2")
    for content in (
        sdmx_1(HEALTHY.replace("300 D", "300.07 D")),
        national(HEALTHY.replace("300 D", "300.07 D")),
    ):
        assert deliver(domain, folder, content).table.value[4] == 300.07


@pytest.mark.parametrize(
    ("sent", "value"), [("3e2", 300), ("+300", 300), ("0300", 300), ("300.", 300), ("3.0E+2", 300)]
)
def test_plain_and_scientific_notation(domain, folder, sent, value):
    assert deliver(domain, folder, replaced(6, ",300,", f",{sent},")).table.value[4] == value


def test_a_number_too_small_to_be_held_is_no_zero(domain, folder):
    assert codes(deliver(domain, folder, replaced(6, ",300,", ",3e-400,"))) == [
        ("SDC/value", 6, "AT.TURNOVER.C.S")
    ]


@pytest.mark.parametrize(
    ("sent", "records"),
    [
        ("1.23457e+11", 1),
        ("-1.23457E11", 1),
        ("123457e3", 1),
        ("1.23457e+05", 0),
        ("1.5e+07", 0),
        ("1e12", 0),
    ],
)
def test_a_power_of_ten_without_its_last_whole_digits_is_told(domain, folder, sent, records):
    """As `%g` writes 123456789012. R writes 15000000 as 1.5e+07, where nothing is cut off."""
    text = replaced(5, "700", sent)
    told = [each for each in deliver(domain, folder, text).findings if "last whole digits" in each.message]
    assert [(each.code, each.line) for each in told] == [("SDC/precision", 5)] * records
    assert all("in 1 records" in each.message for each in told)
    codes(deliver(domain, folder, text))


def test_quoted_fields_line_breaks_in_comments_and_blank_lines_keep_the_line_numbers(domain, folder):
    lines = sdmx_1().splitlines()
    lines = [lines[0] + ",COMMENT", *(line + ',"first\nsecond ""quoted"""' for line in lines[1:])]
    text = "\n".join(lines).replace("AT,", '"AT",') + "\n\n"
    delivery = deliver(domain, folder, text)
    assert (codes(delivery), delivery.accepted) == ([("150/007", 1, None)], True)
    wrong = deliver(domain, folder, text.replace(",D,", ",Z,", 1))
    assert ("150/904-2", 8 + 2, None) in codes(
        wrong
    )  # the fifth record, each of those before it two lines long


def test_a_file_that_is_not_there(domain, folder):
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(folder / "nowhere.csv", domain, PERIOD)


# Not well-formed


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", None),
        (b"\xef\xbb\xbf\r\n", None),
        (sdmx_1().splitlines()[0].encode() + b"\n", None),
        (b"PK\x03\x04" + bytes(200), None),
        (b"<?xml version='1.0'?><a/>", None),
        (sdmx_1().encode().replace(b"AT,", b"\x81T,", 1), 2),
        (sdmx_1().encode().replace(b"300", b"3\x0000"), 6),
        (sdmx_1().replace("\n", "\r").encode(), 1),
        (sdmx_1().replace(",300,", ',"300,').encode(), 6),
        (sdmx_1().replace(",300,", ',3"00,').encode(), 6),
        (sdmx_1().replace(",300,", f",{'3' * 70_000},").encode(), 6),
        (sdmx_1().replace(",", "|").encode(), 1),
        ("\n".join(sdmx_1().splitlines()[1:]).encode(), 1),
    ],
    ids=[
        "empty",
        "empty but for a mark",
        "header only",
        "archive",
        "XML",
        "no encoding",
        "NUL",
        "CR only",
        "open quote",
        "quote inside",
        "giant field",
        "bars",
        "no header",
    ],
)
def test_not_well_formed(domain, folder, content, line):
    delivery = deliver(domain, folder, content)
    assert codes(delivery) == [("140", line, None)]
    assert not delivery.accepted


def test_a_file_beyond_the_limit_is_not_parsed(domain, folder, monkeypatch):
    monkeypatch.setattr("sdc_tasks.intake.sheet.SPARE_BYTES", 50 - 512 * domain.space.national_size)
    delivery = deliver(domain, folder, sdmx_1())
    assert codes(delivery) == [("140", None, None)]


@pytest.mark.parametrize("kept", [0.3, 0.62, 0.97])
def test_a_file_cut_in_the_middle_of_a_line(domain, folder, kept):
    text = sdmx_1()
    text = text[: int(len(text) * kept)]
    delivery = deliver(domain, folder, text)
    assert codes(delivery) == [("140", text.count("\n") + 1, None)]
    assert "middle of a line" in delivery.findings[0].message


def test_a_last_number_that_may_be_cut_short(domain, folder):
    whole = replaced(10, "A,A,,,", "A,A,2,90,10")
    assert deliver(domain, folder, whole).accepted
    for cut in (whole[:-1], whole[:-2]):
        assert codes(deliver(domain, folder, cut)) == [("140", 10, None)]


def test_a_missing_last_line_break_is_no_matter_where_nothing_can_be_cut(domain, folder):
    """An empty last field may have been a flag; a quoted one is whole."""
    assert codes(deliver(domain, folder, sdmx_1().rstrip("\n"))) == [("140", 10, None)]
    assert deliver(domain, folder, replaced(10, "A,A,,,", 'A,A,2,90,"10"').rstrip("\n")).accepted


def test_header_and_records_with_different_separators(domain, folder):
    head, *records = sdmx_1().splitlines(keepends=True)
    delivery = deliver(domain, folder, head + "".join(records).replace(",", ";"))
    assert ("150/904-1", 2, None) in codes(delivery)
    assert not delivery.accepted


def test_a_decimal_comma_that_is_taken_for_a_separator(domain, folder):
    assert codes(deliver(domain, folder, replaced(6, ",300,", ",300,5,"))) == [("150/904-1", 6, None)]


# Columns


def test_a_missing_column(domain, folder):
    delivery = deliver(domain, folder, sdmx_1().replace("CONF_STATUS", "CONFIDENTIALITY"))
    assert codes(delivery) == [("150/003", 1, None), ("150/007", 1, None)]
    assert "CONF_STATUS" in delivery.findings[0].message


def test_an_extra_column_is_not_read_and_a_repeated_one_refuses(domain, folder):
    extra = (
        "\n".join(
            line + (",LAST UPDATE" if i == 0 else ",2024-05-01")
            for i, line in enumerate(sdmx_1().splitlines())
        )
        + "\n"
    )
    delivery = deliver(domain, folder, extra)
    assert (codes(delivery), delivery.accepted) == ([("150/007", 1, None)], True)
    assert delivery.findings[0].severity is Severity.WARNING
    repeated = deliver(domain, folder, extra.replace("LAST UPDATE", "CONF_STATUS"))
    assert (codes(repeated), repeated.accepted) == ([("150/007", 1, None)], False)


def test_a_value_where_a_column_name_should_be_is_not_repeated(domain, folder):
    extra = (
        "\n".join(line + (f",X{SECRET}" if i == 0 else ",") for i, line in enumerate(sdmx_1().splitlines()))
        + "\n"
    )
    assert codes(deliver(domain, folder, extra)) == [("150/007", 1, None)]


# Codes


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("AT,", "XY,", "150/904-2", "REF_AREA XY"),
        ("AT,", "EU,", "SDC/area", "aggregate"),
        ("AT,", "EU_PARTIAL,", "SDC/area", "aggregate"),
        ("AT,", ",", "150/904-1", "REF_AREA is empty"),
        (",C,", ",Q,", "150/904-2", "ACTIVITY Q"),
        (",S,", ",XL,", "150/904-2", "SIZECLASS XL"),
        ("TURNOVER", "PROFIT", "150/904-2", "INDICATOR PROFIT"),
        ("NSI:SMALL(1.0)", "NSI:OTHER(1.0)", "SDC/structure", "NSI:SMALL(1.0)"),
        (",A,AT", ",Q,AT", "150/904-2", "FREQ must be A"),
        ("2024", "2023", "SDC/period", "2024"),
    ],
)
def test_a_code_that_is_not_expected(domain, folder, old, new, code, said):
    delivery = deliver(domain, folder, replaced(6, old, new))
    assert codes(delivery) == [(code, 6, None)]
    assert said in delivery.findings[0].message
    assert not delivery.accepted


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (",2024,", ",2023,", "TIME_PERIOD must be 2024, the reference period of this release"),
        ("NSI:SMALL(1.0)", "NSI:OTHER(1.0)", "must be NSI:SMALL(1.0)"),
        (",A,AT", ",Q,AT", "FREQ must be A"),
    ],
)
def test_what_is_wrong_in_every_record_is_one_finding(domain, folder, old, new, said):
    text = sdmx_1().replace(old, new)
    records = len(text.splitlines()) - 1
    (finding,) = deliver(domain, folder, text).findings
    assert (finding.line, finding.message.endswith(f"{said} (in all {records} records)")) == (2, True)


@pytest.mark.parametrize(
    ("flag", "said"),
    [("Z", "CONF_STATUS Z is"), ("", "is empty"), ("AA", "CONF_STATUS is not"), ("f", "f is not")],
)
def test_an_unknown_flag_is_never_taken_as_free(domain, folder, flag, said):
    delivery = deliver(domain, folder, replaced(6, "3,A,D,", f"3,A,{flag},"))
    assert codes(delivery) == [("150/904-2", 6, None)]
    assert said in delivery.findings[0].message
    assert "F, A, M, O, D" in delivery.findings[0].message


def test_an_unknown_observation_status(domain, folder):
    assert codes(deliver(domain, folder, replaced(6, "3,A,D", "3,Z,D"))) == [
        ("150/904-2", 6, "AT.TURNOVER.C.S")
    ]
    assert deliver(domain, folder, replaced(6, "3,A,D", "3,,D")).accepted


def test_two_countries_in_one_file(domain, folder):
    delivery = deliver(domain, folder, sdmx_1() + sdmx_1(country="BE").split("\n", 1)[1])
    assert codes(delivery) == [("SDC/area", 11, None)]
    assert "BE beside AT" in delivery.findings[0].message
    assert delivery.country is None


def test_duplicate_keys_name_both_lines(domain, folder):
    delivery = deliver(domain, folder, sdmx_1() + sdmx_1().splitlines(keepends=True)[9])
    assert codes(delivery) == [("SDC/duplicate", 11, "AT.TURNOVER.D.L")]
    assert "line 10" in delivery.findings[0].message


@pytest.mark.parametrize(
    ("action", "accepted"), [("I", True), ("A", True), ("R", True), ("M", True), ("D", False), ("", False)]
)
def test_actions_of_sdmx_csv_2(domain, folder, action, accepted):
    delivery = deliver(domain, folder, sdmx_2().replace(",I,A,", f",{action},A,"))
    assert delivery.accepted is accepted
    assert {finding.code for finding in delivery.findings} == (set() if accepted else {"SDC/action"})


def test_columns_of_a_record_in_the_wrong_order(domain, folder):
    """The value stands where the size class should: it is not repeated."""
    delivery = deliver(domain, folder, replaced(10, f",L,2024,{SECRET},", f",{SECRET},L,2024,"))
    assert {(code, line) for code, line, _ in codes(delivery)} == {("150/904-2", 10), ("SDC/period", 10)}


@pytest.mark.parametrize("glued", [f"{SECRET}", f"S{SECRET}", f"{SECRET}S", f"{SECRET}E0", f"_{SECRET}"])
def test_a_value_glued_to_a_code_is_not_repeated(domain, folder, glued):
    for old in (",AT,", ",C,", ",S,", ",TURNOVER,", ",2024,", ",EUR,", ",A,D,"):
        delivery = deliver(domain, folder, replaced(6, old, f",{glued}" * (old.count(",") - 1) + ","))
        assert codes(delivery)


# Numbers


NOT_NUMBERS = [
    "abc",
    "nan",
    "inf",
    "-inf",
    "c",
    ":",
    "1 234",
    "1'234",
    "12,34,56",
    "0x10",
    "--5",
    "1_000",
    "٣",
    "5 EUR",
    "(5)",
]


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_text_where_a_number_should_be(domain, folder, text):
    delivery = deliver(domain, folder, replaced(6, ",300,", f',"{text}",'))
    assert codes(delivery) == [("SDC/value", 6, "AT.TURNOVER.C.S")]
    assert not delivery.accepted


@pytest.mark.parametrize(
    ("sent", "status"), [("", "A"), ("", ""), ("", "Q"), (":", "Q"), ("x", "A"), ("x", "")]
)
def test_a_missing_value(domain, folder, sent, status):
    delivery = deliver(domain, folder, replaced(6, ",300,EUR,3,A", f",{sent},EUR,3,{status}"))
    assert codes(delivery) == [("SDC/missing", 6, "AT.TURNOVER.C.S")]
    assert not delivery.accepted


def test_a_value_that_its_status_calls_missing(domain, folder):
    """Nobody has it, and here it is: refused. Somebody has it and does not tell the public: told to us."""
    for status, accepted in (("M", False), ("L", False), ("O", False), ("H", False), ("Q", True)):
        delivery = deliver(domain, folder, replaced(10, "3,A,A", f"3,{status},A"))
        assert (codes(delivery), delivery.accepted) == ([("SDC/status", 10, "AT.TURNOVER.D.L")], accepted), (
            status
        )


def test_decimal_comma_and_point_in_one_file(domain, folder):
    mixed = national(HEALTHY.replace("300 D", "300.5 D")).replace(b";400;", b";400.25;", 1)
    delivery = deliver(domain, folder, mixed)
    assert ("SDC/decimal", 6, None) in codes(delivery)
    assert "point in line 3 and comma in line 6" in delivery.findings[1].message
    assert not delivery.accepted


@pytest.mark.parametrize(
    "content", [sdmx_1(HEALTHY.replace("700", "1.234")), national(HEALTHY.replace("700", "1.234"))]
)
def test_thousands_separator_or_decimal_sign(domain, folder, content):
    """1.234 where the indicator has no decimals: nobody knows, so nobody guesses."""
    assert ("SDC/decimal", 5, None) in codes(deliver(domain, folder, content))
    assert not deliver(domain, folder, content).accepted


def test_three_decimals_that_the_indicator_has(folder, tmp_path):
    domain = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, decimals: 3")
    assert deliver(domain, folder, sdmx_1(HEALTHY.replace("700", "1.234"))).table.value[3] == 1.234


def test_a_decimal_sign_that_is_not_the_one_of_the_format(folder, tmp_path):
    domain = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, decimals: 1")
    delivery = deliver(
        domain, folder, national(HEALTHY.replace("300 D", "300.5 D")).replace(b"300,5", b"300.5")
    )
    assert codes(delivery) == [("SDC/decimal", 6, None)]
    assert delivery.table.value[4] == 300.5


def test_a_huge_and_a_tiny_value_in_one_table(domain, folder):
    """Both are kept as sent: what the indicator has no decimals for is a warning."""
    delivery = deliver(domain, folder, sdmx_1(HEALTHY.replace("700", "1e12").replace("300", "0.01")))
    assert (codes(delivery), delivery.accepted) == ([("SDC/precision", 6, "AT.TURNOVER.C.S")], True)
    assert delivery.table.value[[3, 4]].tolist() == [1e12, 0.01]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("3000000000000.12", []),
        ("3000000000000,12", []),
        ("45000000000000.01", []),
        ("3e12", []),
        ("3000000000000.125", ["SDC/precision"]),
        ("8000000000000.1200001", ["SDC/precision"]),
        ("80000000000000.01", ["SDC/magnitude"]),  # a double is 0.0156 from the next
    ],
)
def test_digits_of_a_large_value_are_not_lost_without_a_word(tmp_path, folder, sent, told):
    """From 2.8e14 steps of the last decimal on, the precision of a double is no less than half a step."""
    domain = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, decimals: 2")
    delivery = deliver(domain, folder, replaced(6, ",300,", f',"{sent}",'))
    assert [code for code, _, _ in codes(delivery) if code != "SDC/decimal"] == told
    if "SDC/magnitude" not in told:
        assert delivery.table.value[4] == float(sent.replace(",", "."))


def test_a_large_value_of_another_power_of_ten_is_exact(tmp_path, folder):
    domain = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, decimals: 2")
    delivery = deliver(domain, folder, replaced(6, ",300,EUR,3,", ",30000000000.12345,EUR,6,"))
    assert [code for code, _, _ in codes(delivery)] == ["SDC/unit"]
    assert delivery.table.value[4] == 30000000000123.45


@pytest.mark.parametrize("text", ["9e15", "-9e15", "1e300", "1e999"])
def test_a_value_that_is_too_large_to_be_exact(domain, folder, text):
    assert codes(deliver(domain, folder, replaced(6, ",300,", f",{text},"))) == [
        ("SDC/magnitude", 6, "AT.TURNOVER.C.S")
    ]


@pytest.mark.parametrize(
    ("multiplier", "sent", "value"), [("6", "4.35", 4350), ("0", "4350", 4.35), ("6", "1e999", None)]
)
def test_another_unit_multiplier_is_converted(domain, folder, multiplier, sent, value):
    delivery = deliver(domain, folder, replaced(6, ",300,EUR,3,", f",{sent},EUR,{multiplier},"))
    assert codes(delivery)[0] == ("SDC/unit", 6, None)
    assert delivery.findings[0].severity is Severity.WARNING
    assert (delivery.table and delivery.table.value[4]) == value


@pytest.mark.parametrize(
    ("old", "new"),
    [("EUR", "USD"), ("EUR,3", "EUR,"), ("EUR,3", "EUR,K"), ("EUR,3", "EUR,99"), ("EUR,3", "EUR,3.5")],
)
def test_a_wrong_unit(domain, folder, old, new):
    assert codes(deliver(domain, folder, replaced(6, old, new))) == [("SDC/unit", 6, "AT.TURNOVER.C.S")]


@pytest.mark.parametrize("sent", ["3.0", "3", '"3,0"'])
def test_a_whole_number_of_units_may_have_a_zero_behind_its_point(domain, folder, sent):
    """As a data frame writes 3 where another number of units is not there."""
    delivery = deliver(domain, folder, replaced(10, "A,A,,,", f"A,A,{sent},,"))
    assert codes(delivery) == []
    assert delivery.table.units.tolist() == [-1] * 8 + [3]


def test_a_power_of_ten_may_have_a_zero_behind_its_point(domain, folder):
    delivery = deliver(domain, folder, replaced(6, ",300,EUR,3,", ",300,EUR,3.0,"))
    assert (codes(delivery), delivery.table.value[4]) == ([], 300)


@pytest.mark.parametrize("sent", ["-1,,", "2.5,,", "3.000,,", ".0,,", "two,,", "2,x,", "2,9,nan"])
def test_wrong_units_and_shares(domain, folder, sent):
    code = "SDC/share" if sent.startswith("2,") else "SDC/units"
    assert codes(deliver(domain, folder, replaced(10, "A,A,,,", f"A,A,{sent}"))) == [
        (code, 10, "AT.TURNOVER.D.L")
    ]


@pytest.mark.parametrize(
    ("sign", "program"), [(".", "SAS"), (".B", "SAS"), ("NA", "R"), ("null", "a program")]
)
def test_a_sign_of_another_program_for_no_value_is_named(domain, folder, sign, program):
    delivery = deliver(domain, folder, sdmx_1().replace(",300,", f",{sign},"))
    assert codes(delivery) == [("SDC/value", 6, "AT.TURNOVER.C.S")]
    assert delivery.findings[0].message == (
        f"OBS_VALUE is {sign}, with which {program} says that there is no value: leave it empty, with a "
        f"status such as M"
    )


def test_a_file_full_of_the_same_mistake(domain, folder):
    head, *records = sdmx_1().splitlines(keepends=True)
    delivery = deliver(domain, folder, head + "".join(records).replace("TURNOVER", "PROFIT") * 30)
    assert len(delivery.findings) == 101
    assert delivery.findings[-1].message == "170 further findings of this kind are not listed"


def test_warnings_do_not_crowd_out_an_error_of_the_same_code(domain, folder):
    extra = ",".join(f"X{'x' * i}" for i in range(150))
    text = (
        "\n".join(
            line + (f",{extra},FREQ" if i == 0 else "," * 151) for i, line in enumerate(sdmx_1().splitlines())
        )
        + "\n"
    )
    assert not deliver(domain, folder, text).accepted


# Whatever the bytes are

WHOLE = [sdmx_1().encode(), sdmx_2().encode(), national(HEALTHY.replace("300 D", "300.5 D"))]
PIECES = st.binary(max_size=4) | st.sampled_from(
    [*b', ; " . - e9 1 \x00 \xff'.split(), b"\n", b"\r\n", b" ", SECRET.encode()]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A valid file with a few stretches cut, moved or replaced."""
    data = draw(st.sampled_from(WHOLE))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = start + draw(st.integers(0, 60))
        moved = data[start:end] if draw(st.booleans()) else draw(PIECES)
        data = data[:start] + data[end:] if draw(st.booleans()) else data
        at = draw(st.integers(0, len(data)))
        data = data[:at] + moved + data[at:]
    return data


@law(300)
@given(st.binary(max_size=300) | mutated())
def test_whatever_the_bytes_reading_never_fails_and_never_tells(domain, folder, data):
    delivery = deliver(domain, folder, data)
    assert SECRET not in str(delivery.findings)
    assert "SDC/reader" not in {finding.code for finding in delivery.findings}
    assert delivery.accepted == (not any(finding.severity is Severity.ERROR for finding in delivery.findings))


def test_a_fault_of_the_reader_itself_is_a_finding_without_content(domain, folder, monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError(f"could not convert {SECRET}")

    monkeypatch.setattr(
        "sdc_tasks.intake.sheet.discover",
        lambda _: Format("broken", frozenset({".csv"}), broken, lambda *_: "AT", 512),
    )
    assert codes(deliver(domain, folder, sdmx_1())) == [("SDC/reader", None, None)]


def test_a_file_whose_name_no_format_has_is_refused(domain):
    """Whoever asks: the inbox does not take it in at all."""
    found = read_bytes(sdmx_1().encode(), "AT_2024.ods", domain, PERIOD)
    assert [(each.code, "no format" in each.message) for each in found.findings] == [("140", True)]
    assert found.table is None


# An independent reader


@pytest.mark.parametrize("content", [sdmx_1(), sdmx_2()], ids=["SDMX-CSV 1.0", "SDMX-CSV 2.0"])
def test_pysdmx_reads_the_same(domain, folder, content):
    from pysdmx.io import read_sdmx

    table = deliver(domain, folder, content).table
    theirs = read_sdmx(folder / "AT_2024.csv", validate=False).data[0].data
    position = [
        domain.space.national_keys.index(key)
        for key in zip(theirs.INDICATOR, theirs.ACTIVITY, theirs.SIZECLASS, strict=True)
    ]
    assert table.value[position].tolist() == theirs.OBS_VALUE.astype(float).tolist()
    assert table.flag[position].tolist() == theirs.CONF_STATUS.tolist()
