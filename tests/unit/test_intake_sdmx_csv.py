"""SDMX-CSV as the standard allows it: labels, any order and case of the columns, keys,
actions, several values, parts of keys.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import numpy as np
import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.intake import Delivery, read_bytes, sender
from sdc_tasks.model.findings import Severity
from support.deliveries import PERIOD, codes, sdmx_1, sdmx_2, small_domain

TEXT = sdmx_2().replace("A,D,,,", "A,D,14,31,12").replace("EUR,3,A,A,,,", "EUR,3,A,A,2,81,19")
Row = dict[str, str]


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("sdmx_csv"))


def reads(domain: Domain, text: str) -> Delivery:
    return read_bytes(text.encode(), "AT_2024.csv", domain, PERIOD)


def rows(text: str = TEXT) -> list[Row]:
    return list(csv.DictReader(io.StringIO(text)))


def written(records: list[Row], separator: str = ",") -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, records[0], delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue()


def each(change: Callable[[str, str], tuple[str, str]], text: str = TEXT) -> str:
    """The file with name and content of every column changed."""
    return written([dict(change(name, value) for name, value in row.items()) for row in rows(text)])


def labelled(name: str, value: str) -> tuple[str, str]:
    """`labels=both`, as the standard writes it."""
    if name in ("STRUCTURE", "ACTION"):
        return name, value
    if name in ("STRUCTURE_ID", "DATAFLOW"):
        return name, f"{value}: A table: of three activities"
    coded = value and name not in ("OBS_VALUE", "TIME_PERIOD", "UNITS", "SHARE_1", "SHARE_2")
    return f"{name}: The name, of {name}", f"{value}: The label: of {value}" if coded else value


def labelled_throughout(name: str, value: str) -> tuple[str, str]:
    """As pysdmx 1.21 writes `labels=both`: a value is its own label."""
    return (
        (name, value)
        if name in ("STRUCTURE", "STRUCTURE_ID", "ACTION")
        else (f"{name}: {name}", f"{value}: {value}" if value else "")
    )


def with_names(named: Callable[[str], str] = lambda name: f"Name of {name}") -> str:
    """`labels=name`: a column of labels behind each column of codes."""
    found = []
    for at, row in enumerate([dict.fromkeys(rows()[0]), *rows()]):
        told: list[str] = []
        for name, value in row.items():
            told.append(name if at == 0 else value)
            if name == "STRUCTURE_ID":
                told.append("STRUCTURE_NAME" if at == 0 else "A table")
            elif name not in ("STRUCTURE", "ACTION"):
                told.append(named(name) if at == 0 else f"Label of {value}")
        found.append(",".join(told))
    return "\n".join([*found, ""])


def with_one_name(after: str, name: str, value: str) -> str:
    """STRUCTURE_NAME, and one column behind another, where no column has a label."""
    behind = {"STRUCTURE_ID": ("STRUCTURE_NAME", "A table"), after: (name, value)}
    found = []
    for row in rows():
        told: Row = {}
        for known, text in row.items():
            told[known] = text
            if known in behind:
                told[behind[known][0]] = behind[known][1]
        found.append(told)
    return written(found)


def keyed(row: Row) -> Row:
    key = ".".join(row[name] for name in ("FREQ", "REF_AREA", "INDICATOR", "ACTIVITY", "SIZECLASS"))
    return row | {"SERIES_KEY": key, "OBS_KEY": f"{key}.{row['TIME_PERIOD']}"}


def partial() -> str:
    """Attributes that are alike stand in records of a part of the key."""
    found = rows()
    shared = {"UNIT_MEASURE": found[0]["UNIT_MEASURE"], "UNIT_MULT": found[0]["UNIT_MULT"]}
    empty = dict.fromkeys(found[0], "")
    envelope = {name: found[0][name] for name in ("STRUCTURE", "STRUCTURE_ID", "ACTION")}
    one = empty | envelope | {"REF_AREA": "AT"} | {"UNIT_MEASURE": shared["UNIT_MEASURE"]}
    two = (
        empty
        | envelope
        | {"REF_AREA": "AT", "INDICATOR": "TURNOVER", "SIZECLASS": "~"}
        | {"UNIT_MULT": shared["UNIT_MULT"]}
    )
    return written([one, two, *(row | dict.fromkeys(shared, "") for row in found)])


WRITTEN = {
    "labels": each(labelled),
    "labels of 1.0": each(labelled, sdmx_1()),
    "labels of values": each(labelled_throughout),
    "labels in columns": with_names(),
    "labels in columns, named as their concepts are": with_names(lambda name: name.capitalize()),
    "labels in columns of the same names": with_names(lambda name: name),
    "labels in columns, one named as another concept is": with_names(
        lambda name: "Conf_status" if name == "OBS_STATUS" else f"Name of {name}"
    ),
    "labels in columns, and the status of Eurostat": with_names().replace(",OBS_STATUS,", ",OBS_FLAG,", 1),
    "labels in columns, named as their concepts are in lower case": with_names(str.upper).replace(
        ",FREQ,FREQ,", ",freq,FREQ,", 1
    ),
    "no labels, a name of the table and the status of Eurostat": written(
        [
            {
                name: value
                for known, text in row.items()
                for name, value in {
                    "STRUCTURE_ID": {known: text, "STRUCTURE_NAME": "A table"},
                    "OBS_VALUE": {known: text, "OBS_FLAG": row["OBS_STATUS"]},
                    "OBS_STATUS": {},
                }.get(known, {known: text}).items()
            }
            for row in rows()
        ]
    ),
    "columns in another order": written([dict(reversed(row.items())) for row in rows()]),
    "names in lower case": each(lambda name, value: (name.lower(), value)),
    "keys": written([keyed(row) for row in rows()]),
    "no action": written(
        [{name: value for name, value in row.items() if name != "ACTION"} for row in rows()]
    ),
    "merge": each(lambda name, value: (name, "M" if name == "ACTION" else value)),
    "a data structure": each(lambda name, value: (name, "DataStructure" if name == "STRUCTURE" else value)),
    "a sub-field separator": each(
        lambda name, value: (
            {"STRUCTURE": "STRUCTURE[|]", "CONF_STATUS": "CONF_STATUS[]"}.get(name, name),
            value,
        )
    ),
    "semicolons beside it": written(
        [{"STRUCTURE[|]" if n == "STRUCTURE" else n: v for n, v in row.items()} for row in rows()], ";"
    ),
    "parts of keys": partial(),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_however_it_is_written_it_is_the_same_table(domain, how):
    plain = reads(domain, sdmx_1() if how == "labels of 1.0" else TEXT).table
    found = reads(domain, WRITTEN[how])
    assert codes(found) == []
    for name in ("value", "flag", "units", "share_1", "share_2", "available"):
        np.testing.assert_array_equal(getattr(found.table, name), getattr(plain, name))


def column(name: str, old: str, new: str, text: str = TEXT) -> str:
    """The file with one content of one column replaced."""
    return each(lambda at, value: (at, new if at == name and value == old else value), text)


DOUBTS = {
    "a label without a code": (
        lambda: column("SIZECLASS", "S", ": Small"),
        "150/904-2",
        "SIZECLASS is not in the code list",
    ),
    "a label at a value": (
        lambda: column("OBS_VALUE", "300", "300: many"),
        "SDC/value",
        "not a plain number",
    ),
    "a line break within a value": (
        lambda: column("OBS_VALUE", "300", '"30\n0"'),
        "SDC/value",
        "not a plain number",
    ),
    "to be deleted": (lambda: column("ACTION", "I", "D"), "SDC/action", "deletes nothing"),
    "two columns of one concept": (
        lambda: TEXT.replace("UNITS", "obs_value"),
        "150/007",
        "repeats an earlier column",
    ),
    "two columns of one concept, neither of which is the label of the other": (
        lambda: with_names().replace("Name of UNITS", "CONF_STATUS"),
        "150/007",
        "repeats an earlier column",
    ),
    "labels in columns of the same names that nothing announces": (
        lambda: with_names(str.capitalize).replace("STRUCTURE_NAME,", "").replace("A table,", ""),
        "150/007",
        "14 columns, the first of them column 5, have the name of the column before them",
    ),
    "two dataflows": (
        lambda: TEXT + TEXT.replace("SMALL", "LARGE").split("\n", 1)[1],
        "SDC/structure",
        "each dataflow in a file of its own",
    ),
    "another structure": (lambda: TEXT.replace("SMALL", "LARGE"), "SDC/structure", "must be NSI:SMALL(1.0)"),
    "another kind of structure": (
        lambda: TEXT.replace("dataflow", "provisionagreement"),  # as tidysdmx calls it
        "SDC/structure",
        "STRUCTURE must be dataflow, datastructure or dataprovision, not provisionagreement (9 records, from "
        "this line on)",
    ),
    "several values": (
        lambda: (
            column("CONF_STATUS", "D", "D;A")
            .replace("STRUCTURE,", "STRUCTURE[;],", 1)
            .replace("CONF_STATUS", "CONF_STATUS[]")
        ),
        "150/007",
        "CONF_STATUS has several values",
    ),
    "several values without a separator": (
        lambda: TEXT.replace("CONF_STATUS", "CONF_STATUS[]"),
        "150/007",
        "such as STRUCTURE[;]",
    ),
    "a part of a key that contradicts": (
        lambda: partial().replace(",EUR,,,,,,", ",EUR,,,F,,,", 1),
        "150/007",
        "CONF_STATUS is said twice",
    ),
    "a part of a key to be deleted": (
        lambda: partial().replace(",I,", ",D,", 1),
        "SDC/action",
        "deletes nothing",
    ),
    "parts of keys alone": (
        lambda: "".join(partial().splitlines(keepends=True)[:3]),
        "140",
        "no record has a value",
    ),
    "a value without its key": (lambda: column("ACTIVITY", "C", ""), "150/904-1", "ACTIVITY is empty"),
}


@pytest.mark.parametrize("how", DOUBTS)
def test_what_leaves_a_doubt_is_refused(domain, how):
    write, code, said = DOUBTS[how]
    found = reads(domain, write())
    codes(found)
    assert not found.accepted
    errors = [finding for finding in found.findings if finding.severity is Severity.ERROR]
    assert (code, True) in [(finding.code, said in finding.message) for finding in errors]


@pytest.mark.parametrize(
    ("name", "value"),
    [("FLAG_NATIONAL", "C"), ("UNIT_COUNT", "12"), ("EMBARGO_TIME", "2030-01-01T00:00:00Z")],
)
@pytest.mark.parametrize("after", ["CONF_STATUS", "OBS_VALUE", "ACTION"])
def test_the_name_of_the_table_makes_no_column_a_label(domain, after, name, value):
    """Labels are for all columns of codes or for none, so one column that nobody knows is none."""
    found = reads(domain, with_one_name(after, name, value))
    assert [(each.code, each.severity, each.line) for each in found.findings] == [
        ("150/007", Severity.WARNING, 1)
    ]
    np.testing.assert_array_equal(found.table.value, reads(domain, TEXT).table.value)


def test_beside_labels_a_column_that_nobody_knows_is_told(domain):
    text = with_names().replace(",Name of CONF_STATUS,", ",Name of CONF_STATUS,FLAG_NATIONAL,", 1)
    head, *records = text.splitlines()
    at = head.split(",").index("FLAG_NATIONAL")
    told = [",".join([*(row := record.split(","))[:at], "C", *row[at:]]) for record in records]
    found = reads(domain, "\n".join([head, *told, ""]))
    assert [each.code for each in found.findings] == ["150/007"]


def test_a_column_of_codes_without_a_label_among_labels_leaves_none(domain):
    """Any of the others may be something else: each is told."""
    drop = with_names().splitlines()[0].split(",").index("Name of CONF_STATUS")
    told = [[*(row := line.split(","))[:drop], *row[drop + 1 :]] for line in with_names().splitlines()]
    found = reads(domain, "\n".join([*map(",".join, told), ""]))
    assert {each.code for each in found.findings} == {"150/007"}
    np.testing.assert_array_equal(found.table.value, reads(domain, TEXT).table.value)


def test_whom_to_ask_is_seen_through_labels(domain):
    assert sender(each(labelled).encode(), "sent.csv", domain) == "AT"
    assert (
        sender(TEXT.replace("REF_AREA", "ref_area").replace(",", "\t").encode(), "sent.csv", domain) == "AT"
    )


def test_what_the_standard_writes_for_nothing_is_nothing(domain):
    """NaN for a number, #N/A for another text."""
    empty = reads(domain, column("UNITS", "2", "").replace(",A,F,", ",,F,").replace(",14,31,12", ",,,"))
    told = reads(
        domain,
        column("UNITS", "2", "NaN").replace(",A,F,", ",#N/A,F,").replace(",14,31,12", ",NaN,NaN,NaN"),
    )
    assert codes(told) == codes(empty)
    for name in ("value", "flag", "units", "share_1", "share_2", "available"):
        np.testing.assert_array_equal(getattr(told.table, name), getattr(empty.table, name))


def test_a_value_that_is_not_there_is_asked_for(domain):
    found = reads(domain, column("OBS_VALUE", "300", "NaN"))
    assert [(code, line) for code, line, _ in codes(found)] == [("SDC/missing", 6)]


def test_a_value_beside_a_status_that_says_there_is_none_is_still_refused(domain):
    found = reads(domain, column("OBS_STATUS", "A", "M"))
    assert {code for code, _, _ in codes(found)} == {"SDC/status"}


def test_a_flag_that_is_not_available_is_no_empty_flag(tmp_path):
    """Excel writes #N/A where a formula found no flag."""
    empty = small_domain(tmp_path, "flags:", "flag_when_empty: F\nflags:")
    assert reads(empty, column("CONF_STATUS", "F", "")).accepted
    found = reads(empty, column("CONF_STATUS", "D", "#N/A"))
    assert [each.message for each in found.findings if each.code == "150/904-2"] == [
        "CONF_STATUS is #N/A, which may be the error of a spreadsheet: send one of F, A, M, O, D, or nothing"
    ] * 3


def dissemination(text: str = TEXT) -> str:
    """SDMX-CSV 1.0 as Eurostat's services write it."""
    found = []
    for row in rows(text):
        told = {"DATAFLOW": row["STRUCTURE_ID"], "LAST UPDATE": "12/03/26 23:00:00"}
        for name, value in row.items():
            if name not in ("STRUCTURE", "STRUCTURE_ID", "ACTION"):
                told[name.lower() if name in ("FREQ", "REF_AREA", "ACTIVITY", "SIZECLASS") else name] = value
        told["OBS_STATUS"] = told["OBS_STATUS"].replace("A", "")
        found.append(told)
    return written(found)


@pytest.mark.parametrize("status", ["OBS_STATUS", "OBS_FLAG"])
def test_a_file_of_the_dissemination_of_eurostat_is_read(domain, status):
    plain = reads(domain, TEXT).table
    for letters in ("", "p", "e", "b", "u", "n", "bu", "b u", "pd"):
        text = dissemination().replace("EUR,3,,F", f"EUR,3,{letters},F").replace("OBS_STATUS", status)
        found = reads(domain, text)
        assert codes(found) == []
        np.testing.assert_array_equal(found.table.value, plain.value)


def test_a_column_of_status_goes_before_that_of_eurostat(domain):
    """A file with both is read as one with a column that nobody knows."""
    lines = TEXT.splitlines()
    both = "\n".join([f"{lines[0]},OBS_FLAG", *(f"{line},m" for line in lines[1:]), ""])
    found = reads(domain, both)
    assert [each.code for each in found.findings] == ["150/007"]
    np.testing.assert_array_equal(found.table.value, reads(domain, TEXT).table.value)


@pytest.mark.parametrize(
    ("letters", "value", "told"),
    [
        ("z", "300", ("SDC/status", "says that the value is missing")),
        ("c", "300", ("150/904-2", "has the letter c of confidential values: say that in CONF_STATUS")),
        ("bc", "300", ("150/904-2", "has the letter c of confidential values: say that in CONF_STATUS")),
        ("r", "300", ("150/904-2", "OBS_STATUS r is not in the code list")),
        ("u", "", ("SDC/missing", "OBS_VALUE is empty")),
    ],
)
def test_letters_of_eurostat_that_leave_a_doubt_are_refused(domain, letters, value, told):
    found = reads(domain, dissemination().replace("2024,300,EUR,3,,D", f"2024,{value},EUR,3,{letters},D"))
    assert [(each.code, told[1] in each.message) for each in found.findings] == [(told[0], True)]


def test_a_letter_of_what_is_not_applicable_is_a_missing_value(domain):
    text = dissemination()
    for value in ("300", "100"):
        assert f"2024,{value},EUR,3,,D" in text
        text = text.replace(f"2024,{value},EUR,3,,D", "2024,,EUR,3,z,D")
    found = reads(domain, text)
    assert codes(found) == []
    assert int((~found.table.available).sum()) == 2


def test_an_update_that_is_no_instant_is_not_read_and_may_be_the_flags(domain, tmp_path):
    found = reads(domain, dissemination().replace("12/03/26 23:00:00", "C", 1))
    assert found.accepted
    assert codes(found) == [("150/007", 1, None)]
    empty = small_domain(tmp_path, "flags:", "flag_when_empty: F\nflags:")
    silent = dissemination().replace(",F,,,", ",,,,")
    assert reads(empty, silent).accepted
    assert not reads(empty, silent.replace("12/03/26 23:00:00", "C", 1)).accepted
