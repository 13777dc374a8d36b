"""SDMX-ML: the same table as SDMX-CSV, however the message is written; and what refuses it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.domains import Domain
from sdc_tasks.intake import Delivery, read_bytes, sender
from support.deliveries import HEALTHY, PERIOD, codes, sdmx_1, small_domain
from support.laws import law
from support.sdmx_ml import DIMENSIONS, message, records_of

KINDS = [
    (version, generic, flat, levels)
    for version, generic in (("2_1", False), ("2_1", True), ("3_0", False), ("3_1", False))
    for flat in (False, True)
    for levels in (False, True)
]
WRITTEN_BY_OTHERS = Path(__file__).parent / "sdmx_ml"
WITH_UNITS = sdmx_1().replace("A,D,,,", "A,D,14,31,12").replace("EUR,3,A,A,,,", "EUR,3,A,A,2,81,19")


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("sdmx_ml"))


def reads(domain: Domain, text: str | bytes, file: str = "AT_2024.xml") -> Delivery:
    return read_bytes(text if isinstance(text, bytes) else text.encode(), file, domain, PERIOD)


@pytest.mark.parametrize(("version", "generic", "flat", "levels"), KINDS)
def test_every_message_gives_the_table_of_the_csv(domain, version, generic, flat, levels):
    expected = reads(domain, WITH_UNITS, "AT_2024.csv")
    found = reads(domain, message(WITH_UNITS, version, generic, flat, levels))
    assert codes(found) == codes(expected) == []
    for name in ("value", "flag", "units", "share_1", "share_2", "available"):
        np.testing.assert_array_equal(getattr(found.table, name), getattr(expected.table, name))


@pytest.mark.parametrize("file", sorted(path.name for path in WRITTEN_BY_OTHERS.glob("*.xml")))
def test_what_another_program_wrote_is_read(domain, file):
    """pysdmx 1.21.0, from the records of `WITH_UNITS` in another order."""
    expected, found = (
        reads(domain, WITH_UNITS, "AT_2024.csv"),
        reads(domain, (WRITTEN_BY_OTHERS / file).read_bytes()),
    )
    assert codes(found) == []
    for name in ("value", "flag", "units", "share_1", "share_2"):
        np.testing.assert_array_equal(getattr(found.table, name), getattr(expected.table, name))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "iso-8859-1", "windows-1252"])
def test_the_declared_encoding_is_read(domain, encoding):
    text = message(WITH_UNITS).replace("UTF-8", encoding.removesuffix("-sig"))
    assert codes(reads(domain, text.encode(encoding))) == []


def lower(text: str) -> str:
    """As Eurostat's services write it: dimensions in lower case."""
    for name in (*DIMENSIONS, "UNIT_MEASURE", "UNIT_MULT"):
        text = text.replace(f" {name}=", f" {name.lower()}=").replace(f'id="{name}"', f'id="{name.lower()}"')
    return text


@pytest.mark.parametrize(("version", "generic", "flat", "levels"), KINDS)
def test_concepts_may_stand_in_any_case(domain, version, generic, flat, levels):
    expected = reads(domain, WITH_UNITS, "AT_2024.csv")
    text = lower(message(WITH_UNITS, version, generic, flat, levels))
    assert "ref_area" in text
    found = reads(domain, text)
    assert codes(found) == []
    for name in ("value", "flag", "units", "share_1", "share_2"):
        np.testing.assert_array_equal(getattr(found.table, name), getattr(expected.table, name))
    assert sender(text.encode(), "sent.xml", domain) == "AT"


EUROSTAT = """<?xml version="1.0" encoding="UTF-8"?>
<m:StructureSpecificData xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common" \
xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message" \
xmlns:s="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/structurespecific" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:n="urn:sdmx:org.sdmx.infomodel.datastructure.\
DataStructure=NSI:SMALL(1.0):ObsLevelDim:TIME_PERIOD">
<m:Header><m:ID>X</m:ID><m:Test>false</m:Test><m:Prepared>2026-03-12T23:00:00</m:Prepared>
<m:Sender id="ESTAT"/><m:Receiver id="not_supplied"/>
<m:Structure structureID="S" \
namespace="urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=NSI:SMALL(1.0)" \
dimensionAtObservation="TIME_PERIOD"><c:Structure><Ref agencyID="NSI" id="SMALL" version="1.0" \
class="DataStructure"/></c:Structure></m:Structure></m:Header>
<m:DataSet s:dataScope="DataStructure" xsi:type="n:DataSetType" s:structureRef="S">
{}
</m:DataSet></m:StructureSpecificData>
"""


@pytest.mark.parametrize("status", ["OBS_STATUS", "OBS_FLAG"])
def test_a_message_of_the_dissemination_of_eurostat_is_read(domain, status):
    """A series for each cell, dimensions in lower case, letters for statuses."""
    series = []
    for record in records_of(sdmx_1()):
        key = " ".join(
            f'{name.lower()}="{record[name]}"' for name in (*DIMENSIONS, "UNIT_MEASURE", "UNIT_MULT")
        )
        value = f'OBS_VALUE="{record["OBS_VALUE"]}" {status}="bu" CONF_STATUS="{record["CONF_STATUS"]}"'
        series.append(f'<Series {key}><Obs TIME_PERIOD="2024" {value}/></Series>')
    found = reads(domain, EUROSTAT.format("\n".join(series)))
    assert codes(found) == []
    np.testing.assert_array_equal(found.table.value, reads(domain, sdmx_1(), "AT_2024.csv").table.value)


@pytest.mark.parametrize("levels", [False, True])
def test_a_concept_in_two_cases_is_said_twice(domain, levels):
    text = message(sdmx_1(), levels=levels).replace('CONF_STATUS="D"', 'CONF_STATUS="D" conf_status="F"', 1)
    assert [code for code, _, _ in codes(reads(domain, text))] == ["150/007"]
    above = message(sdmx_1(), levels=True).replace("<Group ", '<Group obs_value="1" ', 1)
    assert "stands above an observation" in reads(domain, above).findings[0].message


def test_an_action_that_is_none_is_one_finding_with_what_stands_there(domain):
    """As sdmx1 2.28 writes it."""
    found = reads(domain, message(sdmx_1(), action="ActionType.information"))
    assert codes(found) == [("SDC/action", 9, None)]
    assert "ACTION must be I, A, R or M, not ActionType.information (9 records" in found.findings[0].message
    glued = reads(domain, message(sdmx_1(), action="Append748591"))
    assert "not another one (9 records" in glued.findings[0].message
    assert len(codes(glued)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<gen:Value id="CONF_STATUS" value="D"/>', '<gen:Value id="CONF_STATUS"/>'),
        ('<gen:Value id="CONF_STATUS" value="D"/>', '<gen:Value value="D"/>'),
        ('<gen:ObsValue value="300"/>', "<gen:ObsValue/>"),
    ],
)
def test_a_value_without_its_value_is_said(domain, old, new):
    found = reads(domain, message(sdmx_1(), generic=True).replace(old, new, 1))
    assert codes(found) == [("140", 22, None)]
    assert "without its attribute value, or a Value without its id" in found.findings[0].message


def test_generic_elements_in_another_message_are_said(domain):
    """As sdmx1 2.28 writes them."""
    text = message(sdmx_1(), generic=True, flat=True).replace("GenericData", "StructureSpecificData")
    found = reads(domain, text)
    assert [code for code, _, _ in codes(found)] == ["140"]
    assert "export it as one of the two" in found.findings[0].message


def test_series_without_observations_are_said(domain):
    text = message(sdmx_1())
    first, rest = text.split("<Obs", 1)
    alone = first + rest[rest.index("</Series>") :]
    assert [code for code, _, _ in codes(reads(domain, alone))] == ["SDC/absent"]
    flagged = reads(domain, alone.replace("<Series ", '<Series CONF_STATUS="D" ', 1))
    assert codes(flagged) == [("SDC/attribute", 8, None)]
    assert "of a series reaches no observation: it has none, so send them" in flagged.findings[0].message
    none = reads(domain, re.sub("<Obs[^>]*/>", "", text))
    assert [each.message for each in none.findings] == [
        "the message has no observation: send the complete table"
    ]


def test_annotations_say_nothing_of_the_data(domain):
    """A warning says that they are not read, and never repeats them."""
    note = (
        "<com:Annotations><com:Annotation "
        'id="N"><com:AnnotationText>748591</com:AnnotationText></com:Annotation></com:Annotations>'
    )
    for generic in (False, True):
        text = message(sdmx_1(), generic=generic)
        at = text.index(">", text.index("DataSet ")) + 1
        found = reads(domain, text[:at] + note + text[at:])
        assert found.accepted
        assert codes(found) == [("140", 7, None)]


def test_what_is_wrong_is_said_with_its_line_and_cell(domain):
    """The first observation is on line 8."""
    text = message(sdmx_1(), flat=True)
    assert codes(reads(domain, text.replace('OBS_VALUE="300"', 'OBS_VALUE="many"'))) == [
        ("SDC/value", 12, "AT.TURNOVER.C.S")
    ]
    assert codes(reads(domain, text.replace('OBS_VALUE="300"', 'OBS_VALUE="NaN"'))) == [
        ("SDC/missing", 12, "AT.TURNOVER.C.S")
    ]
    assert codes(reads(domain, text.replace('ACTIVITY="C"', 'ACTIVITY="X"', 1))) == [("150/904-2", 11, None)]


def without(text: str, *pieces: str) -> str:
    for piece in pieces:
        text = text.replace(piece, "")
    return text


def series(text: str, last: bool = False) -> str:
    """The first series, or all of them."""
    return text[text.index("<Series") : (text.rindex if last else text.index)("</Series>") + len("</Series>")]


REFUSED = {
    "cut in the middle": (lambda text: text[: len(text) // 2], "not well-formed XML"),
    "another format": (lambda _: "<html><body/></html>", "no data message of SDMX-ML"),
    "an encoding that nobody knows": (lambda text: text.replace("UTF-8", "UTF-99"), "save it as UTF-8"),
    "an encoding of several bytes": (lambda text: text.replace("UTF-8", "shift_jis"), "save it as UTF-8"),
    "a document type": (
        lambda text: text.replace("?>", '?><!DOCTYPE a [<!ENTITY b "c">]>', 1),
        "document type",
    ),
    "a test": (lambda text: text.replace("<mes:Test>false", "<mes:Test>true"), "test message"),
    "no structure": (
        lambda text: text.replace("StructureUsage><Ref", "StructureUsage><Other"),
        "does not say of which structure",
    ),
    "another structure": (lambda text: text.replace('id="SMALL"', 'id="LARGE"'), "must be NSI:SMALL(1.0)"),
    "to be deleted": (lambda text: text.replace("Replace", "Delete"), "ACTION must be I, A, R or M"),
    "a missing concept": (
        lambda text: without(text, *(f'CONF_STATUS="{flag}"' for flag in "FDA")),
        "CONF_STATUS is missing",
    ),
    "said twice": (
        lambda text: text.replace("<mes:DataSet ", '<mes:DataSet CONF_STATUS="F" '),
        "CONF_STATUS is said twice",
    ),
    "several values": (
        lambda text: text.replace("/>\n</Series>", "><Comp/></Obs>\n</Series>", 1),
        "several values",
    ),
    "no observation": (lambda text: without(text, series(text, last=True)), "no observation"),
    "one cell twice": (
        lambda text: text.replace("</mes:DataSet>", series(text) + "</mes:DataSet>"),
        "send each cell once",
    ),
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_message_that_leaves_a_doubt_is_refused(domain, how):
    change, why = REFUSED[how]
    before = message(sdmx_1())
    text = change(before)
    assert text != before
    found = reads(domain, text)
    codes(found)
    assert not found.accepted
    assert why in " ".join(each.message for each in found.findings)


def test_an_attribute_that_is_at_no_level_is_not_there(domain):
    """The group of another country says nothing of this one: without a multiplier, nobody
    guesses a factor of a thousand.
    """
    text = message(sdmx_1(), levels=True)
    assert text.count('<Group REF_AREA="AT"') == 1
    found = reads(domain, text.replace('<Group REF_AREA="AT"', '<Group REF_AREA="BE"'))
    assert not found.accepted
    assert {each.code for each in found.findings} == {"SDC/attribute"}


def test_two_values_of_one_observation_refuse_the_file(domain):
    text = message(sdmx_1(), generic=True)
    assert not reads(
        domain,
        text.replace('<gen:ObsValue value="300"/>', '<gen:ObsValue value="300"/><gen:ObsValue value="301"/>'),
    ).accepted


def test_a_group_that_contradicts_its_records_refuses_the_file(domain):
    text = message(sdmx_1(), levels=True).replace('UNIT_MULT="3"', 'UNIT_MULT="3" CONF_STATUS="F"')
    assert {each.code for each in reads(domain, text).findings} == {"150/007"}


def test_a_longer_file_than_the_table_needs_is_not_read(domain):
    text = message(sdmx_1(), flat=True)
    first = text[text.index("<Obs") : text.index("/>", text.index("<Obs")) + 3]
    assert "more than" in " ".join(
        each.message for each in reads(domain, text.replace(first, 1100 * first)).findings
    )


def test_whom_to_ask_is_seen_in_a_file_that_cannot_be_read(domain):
    for generic in (False, True):
        assert (
            sender(message(sdmx_1(country="BE"), generic=generic)[:-9].encode(), "sent.xml", domain) == "BE"
        )


@law(60)
@given(st.integers(0, 40), st.text(max_size=4), st.integers(0, 10_000), st.booleans())
def test_any_bytes_are_read_or_refused(domain, cut, put, at, generic):
    text = message(sdmx_1(HEALTHY), generic=generic, levels=True)
    at %= len(text)
    found = reads(domain, (text[:at] + put + text[at + cut :]).encode("utf-8", "replace"))
    codes(found)
    assert not any(each.code == "SDC/reader" for each in found.findings)


def test_an_inbox_may_hold_both(domain, tmp_path: Path):
    from sdc_tasks.intake.inbox import look

    for name in ("AT_2024.xml", "BE_2024.csv"):
        (tmp_path / name).write_text("")
    assert look(tmp_path).files == ("AT_2024.xml", "BE_2024.csv")
