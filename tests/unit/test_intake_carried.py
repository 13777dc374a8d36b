"""What stands above an observation, or beside it, reaches one or refuses the file: no flag is lost without a
word.

The last cell is primary. Its flag is taken from its record and put where it must not be lost: the
domain reads an empty flag as free.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.intake import Delivery, read_bytes
from sdc_tasks.model.findings import Severity
from support.deliveries import PERIOD, codes, sdmx_1, sdmx_2, small_domain
from support.sdmx_ml import message
from support.wire import FORMATS, sdmx_csv_2, sdmx_json, zipped

TEXT = sdmx_1().replace("A,D,,,", "A,D,14,31.5,12").replace("EUR,3,A,A,,,", "EUR,3,A,A,2,81,19")
SILENT = TEXT.replace("EUR,3,A,A,2,", "EUR,3,A,,2,")
SERIES = (("FREQ", "A"), ("REF_AREA", "AT"), ("INDICATOR", "TURNOVER"), ("ACTIVITY", "D"), ("SIZECLASS", "L"))
KEY = " ".join(f'{name}="{code}"' for name, code in SERIES)
VALUES = "".join(f'<gen:Value id="{name}" value="{code}"/>' for name, code in SERIES)
FLAG = '<gen:Attributes><gen:Value id="CONF_STATUS" value="A"/></gen:Attributes>'


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("carried"), "flags:\n", "flag_when_empty: F\nflags:\n")


def reads(domain: Domain, data: str | bytes, file: str) -> Delivery:
    return read_bytes(data if isinstance(data, bytes) else data.encode(), file, domain, PERIOD, digest="D")


def errors(delivery: Delivery) -> str:
    codes(delivery)
    assert not any(each.code == "SDC/reader" for each in delivery.findings)
    return " ".join(
        f"{each.code} line {each.line}: {each.message}"
        for each in delivery.findings
        if each.severity is Severity.ERROR
    )


def group(activity: str, generic: bool = False, more: str = "") -> str:
    if generic:
        key = f'<gen:Value id="ACTIVITY" value="{activity}"/><gen:Value id="SIZECLASS" value="L"/>'
        return f'<gen:Group type="G"><gen:GroupKey>{key}</gen:GroupKey>{FLAG}</gen:Group>'
    return f'<Group ACTIVITY="{activity}" SIZECLASS="L" CONF_STATUS="A"{more}/>'


def first(text: str, what: str, more: str) -> str:
    assert what in text
    return text.replace(what, more + what, 1)


def last(text: str, what: str, instead: str) -> str:
    before, found, after = text.rpartition(what)
    assert found
    return before + instead + after


FLAT = message(SILENT, flat=True)
SETS = "</mes:DataSet>"
SPECIFIC: dict[str, tuple[str, str]] = {
    "a series without observations": (
        first(message(SILENT), "<Series ", f'<Series {KEY} CONF_STATUS="A"></Series>'),
        "CONF_STATUS of a series",
    ),
    "a series that deletes": (
        first(message(TEXT), "<Series ", f'<Series {KEY} ss:action="Delete"/>'),
        "ACTION of a series",
    ),
    "a group of no record": (first(message(SILENT), "<Series ", group("d")), "CONF_STATUS of a group"),
    "a group of another data set": (
        FLAT.replace(
            SETS, f'{SETS}<mes:DataSet ss:structureRef="S" ss:action="Replace">{group("D")}</mes:DataSet>'
        ),
        "data set without an observation",
    ),
    "a group of a record of another data set": (
        last(FLAT, "<Obs ", f'{SETS}<mes:DataSet ss:structureRef="S" ss:action="Replace">{group("C")}<Obs '),
        "CONF_STATUS of a group",
    ),
    "a group with a value": (
        first(message(TEXT), "<Series ", group("D", more=' OBS_VALUE="1"')),
        "OBS_VALUE stands above",
    ),
    "a group with an unknown concept": (
        first(message(SILENT), "<Series ", group("D", more=' ACTIVTY="C"')),
        "of which records it speaks",
    ),
    "attributes with a value": (
        first(message(TEXT), "<Series ", "<Atts OBS_VALUE='1'/>"),
        "OBS_VALUE stands above",
    ),
    "a series with a value": (
        first(message(TEXT), "<Series ", "").replace("<Series ", '<Series OBS_VALUE="5" ', 1),
        "OBS_VALUE",
    ),
    "a namespace at an observation": (
        last(message(SILENT), "<Obs ", '<Obs ss:CONF_STATUS="A" '),
        "not read here",
    ),
    "a namespace at a series": (
        last(message(SILENT), "<Series ", '<Series ss:CONF_STATUS="A" '),
        "not read here",
    ),
    "a namespace at a data set": (
        message(SILENT).replace("<mes:DataSet ", '<mes:DataSet ss:CONF_STATUS="A" '),
        "not read here",
    ),
    "text in an observation": (last(FLAT, "/>", ">A</Obs>"), "text where none may be"),
    "text in a series": (last(message(SILENT), "</Series>", "A</Series>"), "text where none may be"),
    "an element in an observation": (
        last(FLAT, "/>", "><CONF_STATUS>A</CONF_STATUS></Obs>"),
        "an element of a data set that is not read",
    ),
    "a group in an observation": (
        last(FLAT, "/>", f">{group('D')}</Obs>"),
        "an element of a data set that is not read",
    ),
    "an observation in an annotation": (
        last(FLAT, "/>", "><com:Annotations><Obs CONF_STATUS='A'/></com:Annotations></Obs>"),
        "an element of a data set that is not read",
    ),
    "an element beside the data": (
        FLAT.replace("</mes:Header>", "</mes:Header><mes:Flags A='D.L'/>"),
        "not read here",
    ),
    "a footer": (FLAT.replace(SETS, f"{SETS}<mes:Footer><mes:Message code='510'/></mes:Footer>"), "footer"),
}
_G = message(SILENT, generic=True)
AS_TEXT = '<gen:Attributes><gen:Value id="CONF_STATUS">A</gen:Value></gen:Attributes>'
GENERIC: dict[str, tuple[str, str]] = {
    "a series without observations": (
        first(_G, "<gen:Series>", f"<gen:Series><gen:SeriesKey>{VALUES}</gen:SeriesKey>{FLAG}</gen:Series>"),
        "CONF_STATUS of a series",
    ),
    "a group of no record": (first(_G, "<gen:Series>", group("d", generic=True)), "CONF_STATUS of a group"),
    "attributes of a series behind its observations": (
        last(_G, "</gen:Series>", f"{FLAG}</gen:Series>"),
        "behind its observations",
    ),
    "attributes of the data set behind its series": (
        _G.replace(SETS, f"{FLAG}{SETS}"),
        "behind its observations",
    ),
    "an attribute of the format": (last(_G, "<gen:Obs>", '<gen:Obs CONF_STATUS="A">'), "not read here"),
    "an attribute as text": (
        last(_G, "<gen:ObsValue", f"{AS_TEXT}<gen:ObsValue"),
        "without its attribute value",
    ),
    "an attribute as another": (
        last(_G, 'id="SHARE_2" value=', 'id="SHARE_2" ss:flag="A" value='),
        "not read here",
    ),
    "an attribute in a group's key": (
        first(_G, "<gen:Series>", group("D", generic=True).replace("ACTIVITY", "ACTIVTY")),
        "which records",
    ),
    "text in a value": (
        last(_G, 'id="SHARE_2" value="19"/>', 'id="SHARE_2" value="19">A</gen:Value>'),
        "text where none may be",
    ),
}


@pytest.mark.parametrize("how", SPECIFIC)
def test_nothing_of_a_specific_message_is_lost(domain: Domain, how: str) -> None:
    text, told = SPECIFIC[how]
    assert told in errors(reads(domain, text, "AT_2024.xml"))


@pytest.mark.parametrize("how", GENERIC)
def test_nothing_of_a_generic_message_is_lost(domain: Domain, how: str) -> None:
    text, told = GENERIC[how]
    assert told in errors(reads(domain, text, "AT_2024.xml"))


@pytest.mark.parametrize(("version", "generic"), [("2_1", False), ("2_1", True), ("3_0", False)])
def test_a_group_finds_its_records_with_blanks_around_its_codes(
    domain: Domain, version: str, generic: bool
) -> None:
    text = message(SILENT, version, generic)
    found = reads(
        domain, first(text, "<gen:Series>" if generic else "<Series ", group(" D ", generic)), "AT_2024.xml"
    )
    assert errors(found) == ""
    assert found.table is not None
    assert found.table.flag.tolist()[-1] == "A"


def test_an_observation_behind_a_series_has_nothing_of_it(domain: Domain) -> None:
    text = message(TEXT)
    assert "150/904-2" not in errors(reads(domain, text, "AT_2024.xml"))
    assert errors(
        reads(
            domain, last(text, "<Series ", "<Obs TIME_PERIOD='2024' OBS_VALUE='1'/><Series "), "AT_2024.xml"
        )
    )


def test_an_annotation_is_read_with_a_warning(domain: Domain) -> None:
    note = "<com:Annotations><com:Annotation><com:AnnotationText>A</com:AnnotationText></com:Annotation></com:Annotations>"  # noqa: E501
    for text in (
        last(message(TEXT, flat=True), "/>", f">{note}</Obs>"),
        first(message(TEXT, flat=True), "<Obs ", "<!-- A -->"),
    ):
        found = reads(domain, text, "AT_2024.xml")
        assert errors(found) == ""
        assert "not read" in found.findings[0].message


Change = Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], object]


def changed(change: Change, text: str = SILENT, series: bool = False) -> bytes:
    said = json.loads(sdmx_json(text, series))
    change(said["data"]["structures"][0], said["data"]["dataSets"][0], said)
    return json.dumps(said).encode()


def in_second_set(structure: dict[str, Any], data: dict[str, Any], said: dict[str, Any]) -> None:
    structure["attributes"]["series"] = [{"id": "CONF_STATUS", "values": [{"id": "A"}]}]
    said["data"]["dataSets"].append(
        {"structure": 0, "series": {list(data["series"])[-1]: {"attributes": [0]}}}
    )


def empty_series(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
    structure["attributes"]["series"] = [{"id": "CONF_STATUS", "values": [{"id": "A"}]}]
    data["series"][list(data["series"])[-1]] = {"attributes": [0]}


def lost_group(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
    structure["attributes"]["dimensionGroup"].append({"id": "CONF_STATUS", "values": [{"id": "A"}]})
    structure["dimensions"]["observation"][0]["values"].append({"id": "d"})
    key = next(iter(data["dimensionGroupAttributes"]))
    parts = ["" for _ in key.split(":")]
    parts[3] = str(len(structure["dimensions"]["observation"][0]["values"]) - 1)
    data["dimensionGroupAttributes"][":".join(parts)] = [None, 0]


def group_level(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
    structure["attributes"]["group"] = [{"id": "CONF_STATUS", "values": [{"id": "A"}]}]


def beyond(_: object, data: dict[str, Any], __: object) -> None:
    key = list(data["observations"])[-1]
    data["observations"][key] = [*data["observations"][key], None, None, None, None, "A"]


JSON: dict[str, tuple[bytes, str]] = {
    "a series without observations": (changed(empty_series, series=True), "CONF_STATUS of a series"),
    "a second data set": (changed(in_second_set, series=True), "data set without an observation"),
    "a group of no record": (changed(lost_group), "CONF_STATUS of a group"),
    "a level": (changed(group_level), "a level that is not read here (attributes)"),
    "values beyond the components": (changed(beyond), "more values than its structure has components"),
    "an object of the data set": (
        changed(lambda s, data, m: data.update(groupAttributes={"0": [0]})),
        "not read here (data set)",
    ),
    "an object of the message": (
        changed(lambda s, d, m: m["data"].update(flags={"0": [0]})),
        "not read here (data)",
    ),
    "an object of a series": (
        changed(lambda s, data, m: data["series"][list(data["series"])[-1]].update(flags=[0]), series=True),
        "not read here (series)",
    ),
    "errors": (changed(lambda s, d, m: m.update(errors=[{"code": 510}]), TEXT), "errors"),
    "a test": (changed(lambda s, d, m: m["meta"].update(test="true"), TEXT), "it is a test"),
    "a long number": (
        sdmx_json(TEXT).replace(b"748591", b"9" * 5000),
        "line 1: a whole number of more digits",
    ),
}


@pytest.mark.parametrize("how", JSON)
def test_nothing_of_a_message_of_json_is_lost(domain: Domain, how: str) -> None:
    data, told = JSON[how]
    assert told in errors(reads(domain, data, "AT_2024.json"))


def test_annotations_of_json_are_read_with_a_warning(domain: Domain) -> None:
    def annotated(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        structure["annotations"] = [{"text": "A"}]
        data["annotations"] = [0]

    found = reads(domain, changed(annotated, TEXT), "AT_2024.json")
    assert errors(found) == ""
    assert any("annotation" in each.message for each in found.findings)


_2 = sdmx_2().replace(",A,D,,,", ",A,D,14,31,12").replace("EUR,3,A,A,,,", "EUR,3,A,,2,81,19")


@pytest.mark.parametrize("key", [",,,DD,,", ",,,*,L,", ",,,D,L,2023", ",,,d,L,"])
def test_a_part_of_a_key_that_no_record_has_is_refused_with_its_line(domain: Domain, key: str) -> None:
    told = errors(reads(domain, f"{_2}dataflow,NSI:SMALL(1.0),I,{key},,,,,A,,,\n", "AT_2024.csv"))
    assert told == (
        "SDC/attribute line 11: CONF_STATUS of a part of a key reaches no observation: "
        "correct the key, or take it away"
    )


def test_a_part_of_a_key_that_says_nothing_is_harmless(domain: Domain) -> None:
    assert errors(reads(domain, f"{_2}dataflow,NSI:SMALL(1.0),I,,,,DD,,,,,,,,,,\n", "AT_2024.csv")) == ""


@pytest.mark.parametrize("end", ["A", "", "D", "AB"])
def test_a_file_that_ends_in_its_last_flag_is_refused(domain: Domain, end: str) -> None:
    at = TEXT.splitlines()[0].split(",").index("CONF_STATUS")
    moved = [[*(row := line.split(","))[:at], *row[at + 1 :], row[at]] for line in TEXT.splitlines()]
    whole = "\n".join(",".join(row) for row in moved)
    assert errors(reads(domain, whole + "\n", "AT_2024.csv")) == ""
    assert "140 line 10" in errors(reads(domain, whole[:-1] + end, "AT_2024.csv"))


def test_a_number_of_units_has_no_label(domain: Domain) -> None:
    assert "SDC/units" in errors(reads(domain, TEXT.replace(",14,31.5,", ",14: 3,31.5,"), "AT_2024.csv"))


@pytest.mark.parametrize("flags", ["bo", "em", "pl"])
def test_of_several_flags_of_eurostat_one_that_says_missing_is_not_lost(domain: Domain, flags: str) -> None:
    data = FORMATS["Eurostat TSV"][1](TEXT).replace(b"748591", f"748591 {flags}".encode())
    assert "SDC/status" in errors(reads(domain, data, "AT_2024.tsv"))


def test_the_name_in_a_zip_says_no_other_country(domain: Domain) -> None:
    assert errors(reads(domain, zipped("AT_2024.csv", TEXT.encode()), "AT_2024.zip")) == ""
    assert "SDC/file-name" in errors(reads(domain, zipped("BE_2024.csv", TEXT.encode()), "AT_2024.zip"))


MISSPELT = "".join(
    f"{line},{'CONF_STATU' if not number else ''}\n" for number, line in enumerate(SILENT.splitlines())
)


@pytest.mark.parametrize(
    ("data", "file"),
    [(MISSPELT, "AT_2024.csv"), (last(message(TEXT), 'CONF_STATUS="A"', 'CONF_STATU="A"'), "AT_2024.xml")],
)
def test_what_is_not_read_may_be_the_flags_where_an_empty_flag_is_free(domain, data, file):
    assert "something is not read that may be the flags under another name" in errors(
        reads(domain, data, file)
    )


@pytest.mark.parametrize(
    "value", [{"name": "A"}, {"ids": ["A"]}, {"id": "", "name": "A"}, {"id": "A", "value": "F"}, {}]
)
def test_a_listed_value_without_a_code_is_no_empty_flag(domain, value):
    assert "a listed value has no id and no value, or two that differ" in errors(
        reads(domain, listed(value), "AT_2024.json")
    )


def test_a_flag_is_never_not_a_number(domain):
    assert "is not a flag of this domain" in errors(reads(domain, listed({"id": "NaN"}), "AT_2024.json"))


def listed(value: dict[str, Any]) -> str:
    told = json.loads(sdmx_json(TEXT))
    flags = next(
        each
        for each in told["data"]["structures"][0]["attributes"]["observation"]
        if each["id"] == "CONF_STATUS"
    )
    flags["values"] = [value if each["id"] == "A" else each for each in flags["values"]]
    return json.dumps(told)


def test_a_default_of_series_needs_series(domain):
    told = json.loads(sdmx_json(SILENT))
    told["data"]["structures"][0]["attributes"]["series"] = [
        {"id": "CONF_STATUS", "default": "A", "values": [{"id": "A"}]}
    ]
    assert "a default for series" in errors(reads(domain, json.dumps(told), "AT_2024.json"))


def test_a_label_without_a_code_is_no_empty_flag(domain):
    assert "is not a flag of this domain" in errors(
        reads(domain, TEXT.replace("EUR,3,A,A,2,", "EUR,3,A,: A,2,"), "AT_2024.csv")
    )


def test_columns_of_labels_are_not_read_and_may_be_the_flags(domain):
    rows = sdmx_csv_2(SILENT).splitlines()
    at = rows[0].split(",").index("CONF_STATUS")
    told = [
        [*row.split(",")[:at], "A" if number else "CONFIDENTIALITY", *row.split(",")[at:]]
        for number, row in enumerate(rows)
    ]
    text = "".join(
        f"{','.join(row)},{'' if number else 'STRUCTURE_NAME'}\n" for number, row in enumerate(told)
    )
    assert "something is not read that may be the flags" in errors(reads(domain, text, "AT_2024.csv"))


def test_a_flag_in_the_namespace_of_schemas_is_no_concept(domain):
    text = message(SILENT, flat=True)
    instance = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:CONF_STATUS="A"'
    assert "is not read here" in errors(
        reads(domain, last(text, "<Obs ", f"<Obs {instance} "), "AT_2024.xml")
    )


def test_a_title_may_speak_of_a_group(domain):
    """It says nothing of the records that the domain knows, so it need not be known of which."""
    titled = first(message(TEXT), "<Series ", '<Group ACTIVITY="D" TITLE="x"/>')
    assert errors(reads(domain, titled, "AT_2024.xml")) == ""


def test_levels_without_components_are_none(domain):
    told = json.loads(sdmx_json(TEXT))
    told["data"]["structures"][0]["attributes"]["group"] = []
    assert errors(reads(domain, json.dumps(told), "AT_2024.json")) == ""


def placed(position: object) -> Change:
    """The size class at this position of the key of a group, in the structure only."""

    def change(structure: dict[str, Any], _: dict[str, Any], __: object) -> None:
        size_class = structure["dimensions"]["observation"][1]
        assert size_class.pop("keyPosition") == 4
        if position is not None:
            size_class["keyPosition"] = position

    return change


@pytest.mark.parametrize("position", [None, 0, 3, 6, -1, True, 4.0, "4"])
def test_a_group_needs_the_position_of_each_dimension(domain: Domain, position: object) -> None:
    told = errors(reads(domain, changed(placed(position), TEXT), "AT_2024.json"))
    assert "140 line None: the keyPosition of dimension SIZECLASS is not" in told


def test_a_group_needs_the_position_of_time_too(domain: Domain) -> None:
    """Guides leave that of the time out, and a flag read one place off is that of another cell."""

    def timeless(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        (time,) = structure["dimensions"]["observation"]
        del time["keyPosition"]

    told = errors(reads(domain, changed(timeless, TEXT, series=True), "AT_2024.json"))
    assert "keyPosition of dimension TIME_PERIOD" in told


def ungrouped(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
    """Nothing is read by position."""
    structure["attributes"]["dataSet"] += structure["attributes"].pop("dimensionGroup")
    data["attributes"].append(0)
    del data["dimensionGroupAttributes"]
    for dimension in (each for level in structure["dimensions"].values() for each in level):
        del dimension["keyPosition"]


def test_a_message_without_a_group_needs_no_position(domain: Domain) -> None:
    for series in (False, True):
        found = reads(domain, changed(ungrouped, TEXT, series), "AT_2024.json")
        assert errors(found) == ""
        assert found.table.flag.tolist() == reads(domain, TEXT, "AT_2024.csv").table.flag.tolist()


@pytest.mark.parametrize("index", ["0_1", "+1", " 1", "-1", "١", "", "1.0"])
@pytest.mark.parametrize("of", ["observations", "series", "dimensionGroupAttributes"])
def test_an_index_of_a_key_has_plain_digits(domain: Domain, of: str, index: str) -> None:
    def written(_: object, data: dict[str, Any], __: object) -> None:
        if of == "dimensionGroupAttributes":
            data[of] = {f":0:::{index or 'x'}:": [0]}
        else:
            key = next(each for each in data[of] if each.endswith(":1"))
            data[of] = {f"{each[:-1]}{index}" if each == key else each: data[of][each] for each in data[of]}

    data = changed(written, TEXT, series=of == "series")
    assert "a key has no index of a value where one must be" in errors(reads(domain, data, "AT_2024.json"))


@pytest.mark.parametrize("areas", [["AT", "BE"], [], None])
def test_a_dimension_of_the_data_set_has_one_code(domain: Domain, areas: list[str] | None) -> None:
    def several(structure: dict[str, Any], _: object, __: object) -> None:
        area = next(each for each in structure["dimensions"]["dataSet"] if each["id"] == "REF_AREA")
        area["values"] = areas and [{"id": code} for code in areas]

    told = errors(reads(domain, changed(several, TEXT), "AT_2024.json"))
    assert "dimension REF_AREA of the data set has not one value" in told


def test_a_dimension_in_a_key_has_its_codes(domain: Domain) -> None:
    def unlisted(structure: dict[str, Any], _: object, __: object) -> None:
        del structure["dimensions"]["observation"][1]["values"]

    told = errors(reads(domain, changed(unlisted, TEXT), "AT_2024.json"))
    assert "dimension SIZECLASS has no list of its values" in told


def test_a_default_of_a_group_may_be_lost(domain: Domain) -> None:
    """The last cell has no group, so that its flag A, which is the default, would be read as free."""

    def silent(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        own = structure["attributes"]["observation"]
        at = [each["id"] for each in own].index("CONF_STATUS")
        structure["attributes"]["dimensionGroup"].append(own.pop(at) | {"default": "A"})
        for row in data["observations"].values():
            del row[1 + at]

    assert "a default for groups" in errors(reads(domain, changed(silent, TEXT), "AT_2024.json"))


def test_a_measure_has_no_default(domain: Domain) -> None:
    """Only attributes have: it would be a value that nobody sent."""

    def missing(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        structure["measures"]["observation"][0]["default"] = 1
        next(iter(data["observations"].values()))[0] = None

    assert "a default for a measure" in errors(reads(domain, changed(missing, TEXT), "AT_2024.json"))


def test_a_default_of_series_does_not_reach_observations_beside_them(domain: Domain) -> None:
    def beside(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        structure["attributes"]["series"] = [{"id": "CONF_STATUS", "default": "A"}]
        data["observations"] = {"0": [1]}

    data = changed(beside, series=True)
    assert "a default for series" in errors(reads(domain, data, "AT_2024.json"))


@pytest.mark.parametrize("empty", [{"id": ""}, None])
def test_an_empty_flag_beside_one_of_the_data_set_is_said_twice(domain: Domain, empty: object) -> None:
    """As in SDMX-ML. One that is left out takes that of the data set."""

    def above(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        (flag,) = (each for each in structure["attributes"]["observation"] if each["id"] == "CONF_STATUS")
        at = 1 + structure["attributes"]["observation"].index(flag)
        flag["values"] = empty and [empty]
        structure["attributes"]["dataSet"].append({"id": "CONF_STATUS"})
        data["attributes"].append("F")
        for row in data["observations"].values():
            row[at] = 0 if empty else ""

    def left_out(structure: dict[str, Any], data: dict[str, Any], said: object) -> None:
        above(structure, data, said)
        at = 1 + [each["id"] for each in structure["attributes"]["observation"]].index("CONF_STATUS")
        for row in data["observations"].values():
            row[at] = None

    assert "CONF_STATUS is said twice" in errors(reads(domain, changed(above, TEXT), "AT_2024.json"))
    found = reads(domain, changed(left_out, TEXT), "AT_2024.json")
    assert errors(found) == ""
    assert set(found.table.flag[found.table.available].tolist()) == {"F"}


def test_an_attribute_of_a_group_does_not_move_it_to_another_cell(domain: Domain) -> None:
    def moved(structure: dict[str, Any], data: dict[str, Any], _: object) -> None:
        structure["attributes"]["dimensionGroup"] += [{"id": "TITLE"}, {"id": "SIZECLASS"}]
        data["dimensionGroupAttributes"][":::1:0:"] = [None, None, "S"]

    told = errors(reads(domain, changed(moved), "AT_2024.json"))
    assert "concept SIZECLASS is said twice" in told
