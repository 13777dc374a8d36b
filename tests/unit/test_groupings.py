"""Groupings and correspondences in a domain file: what they add, what is refused with its line, and what a
delivery must add up to.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.checks.suite import check
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.problem import NationalTable
from support.deliveries import codes, deliver, sdmx_1, small_domain

LIST = """code,parent,label
TOTAL,,All
B,TOTAL,B
C,TOTAL,C
C26,C,C26
C27,C,C27
J,TOTAL,J
J61,J,J61
J62,J,J62
"""
LINE = "  - {dimension: ACTIVITY, codelist: activities.csv}\n"


@pytest.fixture
def grouped(tmp_path: Path) -> Callable[..., Domain]:
    """The small domain with that code list, and keys of its activities; `files` by name."""

    def load(
        keys: str = "", files: dict[str, str] | None = None, listed: str = LIST, more: str = ""
    ) -> Domain:
        small_domain(tmp_path)
        (tmp_path / "activities.csv").write_text(listed)
        for name, text in (files or {}).items():
            (tmp_path / name).write_text(text)
        told = f"  - {{dimension: ACTIVITY, codelist: activities.csv{keys}}}\n"
        path = tmp_path / "small.yaml"
        path.write_text(path.read_text().replace(LINE, told) + more)
        return load_domain(path)

    return load


def sums(domain: Domain) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return domain.space.hierarchies[0].sums


def test_silent_keys_change_nothing(grouped):
    plain = grouped()
    assert sums(plain) == ()
    assert "groupings" not in str(plain.settings)
    assert grouped(", groupings: [], correspondences: []").digest == plain.digest
    assert grouped(", groupings: [{ICT: [C26, J]}]").digest != plain.digest


def test_inline_sums_make_totals_that_the_list_lacks(grouped):
    domain = grouped(", groupings: [{ICT: [C26, J61, J62], HT: [C26, B]}, {ICT_C: [ICT, C27]}]")
    assert sums(domain) == (("ICT", ("C26", "J61", "J62")), ("HT", ("C26", "B")), ("ICT_C", ("ICT", "C27")))
    assert domain.space.hierarchies[0].codes[-3:] == ("ICT", "HT", "ICT_C")
    assert domain.labels["ACTIVITY"]["ICT"] == "ICT"
    assert domain.settings["sums"]["ACTIVITY"][1] == ["HT", ["C26", "B"]]
    assert len(domain.units) == domain.space.national_size


def test_a_file_of_parts_has_labels_and_a_second_tree_too(grouped):
    parts = "code,part,label\nICT,C26,Information\nICT,J61,\nICT,J62,\n"
    tree = "code,parent,label\nTOTAL,,\nNEW,TOTAL,The new\nOLD,TOTAL,\nB,OLD,\nC,OLD,\nJ,NEW,\n"
    domain = grouped(", groupings: [ict.csv, tree.csv]", {"ict.csv": parts, "tree.csv": tree})
    assert sums(domain) == (
        ("ICT", ("C26", "J61", "J62")),
        ("TOTAL", ("NEW", "OLD")),
        ("OLD", ("B", "C")),
        ("NEW", ("J",)),
    )
    assert domain.labels["ACTIVITY"]["ICT"] == "Information"
    assert domain.labels["ACTIVITY"]["NEW"] == "The new"
    assert domain.space.hierarchies[0].rivals == ()


def test_what_the_tree_says_already_is_no_second_sum(grouped):
    assert sums(grouped(", groupings: [{C: [C27, C26]}, {X: [B, J]}, {X: [J, B]}]")) == (("X", ("B", "J")),)


def test_a_changed_grouping_makes_another_domain(grouped, tmp_path):
    domain = grouped(", groupings: [ict.csv]", {"ict.csv": "code,part\nICT,C26\nICT,J\n"})
    assert load_domain(tmp_path / "small.yaml") is domain
    (tmp_path / "ict.csv").write_text("code,part\nICT,C26\nICT,J61\n")
    other = load_domain(tmp_path / "small.yaml")
    assert sums(other) == (("ICT", ("C26", "J61")),)
    assert other.digest != domain.digest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("code,part\nICT,C26\nICT,K9\n", r"g\.csv, line 3: K9, a part of ICT, is no code of activities\.csv"),
        ("code,part\nICT,C26\nICT,C26\n", r"g\.csv, line 3: ICT with C26 stands in line 2 already"),
        ("code,part\nICT,C26\nICT,C\n", r"the sum ICT counts C26 twice"),
        ("code,part\nICT,C26\nICT\n", r"g\.csv, line 3: code and part are expected"),
        ("code,part\nICT,\n", r"g\.csv, line 2: code and part are expected"),
        ("code,part\n", r"g\.csv: no code has a part"),
        ("code,of\nICT,C26\n", r"g\.csv, line 1: the header is code,part\[,label\] or code,parent"),
        ("code,parent\nC26,A1\nC26,A2\n", r"g\.csv, line 3: C26 stands in line 2 already"),
        ("code,part\nC26,TOTAL\n", r"form a cycle"),
        ("code,part\nX,Y\nY,X\n", r"form a cycle"),
        ("code,part\n=1,C26\n", r"=1"),
        ('code,part\n"ICT,C26\n', r"g\.csv, line \d: not CSV"),
        ("from,to\nC26,ICT\n", r"g\.csv, line 1: the header"),
    ],
)
def test_a_file_that_is_no_grouping(grouped, text, words):
    with pytest.raises(InvalidInput, match=words):
        grouped(", groupings: [g.csv]", {"g.csv": text})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("{ICT: []}", "ICT has no parts"),
        ("{ICT: [C26, C26]}", "ICT counts C26 twice"),
        ("{ICT: [C26, '']}", "ICT with an empty code"),
        ("{'': [C26]}", "with an empty code"),
        ("{TOTAL: [B, J]}", "TOTAL is a sum with C27, and of the rest alone"),
        ("{ICT: [C26, K9]}", "K9, a part of ICT, is no code"),
        ("gone.csv", "cannot read"),
    ],
)
def test_inline_sums_that_are_none(grouped, keys, words):
    with pytest.raises(InvalidInput, match=words):
        grouped(f", groupings: [{keys}]")


@pytest.mark.parametrize(
    "keys",
    ["{ICT: []}", "{ICT: [C26, C26]}", "{ICT: [C26, K9]}", "{'=1': [C26, J]}", "{ict: [J, B], ICT: [C26, J]}",
     "{TOTAL: [B, J]}"],
)  # fmt: skip
def test_an_inline_sum_is_found_in_the_domain_file(grouped, keys):
    """And not in the code list, which is right."""
    with pytest.raises(InvalidInput, match=r"small\.yaml: hierarchies\.ACTIVITY\.groupings"):
        grouped(f", groupings: [{keys}]")


def test_areas_have_compositions_and_no_groupings(tmp_path):
    with pytest.raises(InvalidInput, match="groupings"):
        small_domain(tmp_path, "codelist: areas.csv}", "codelist: areas.csv, groupings: [{X: [AT]}]}")


# --- correspondences ----------------------------------------------------------------------------------------

NEW_LIST = LIST + "K1,,K1\nK2,,K2\n"


def test_codes_that_were_joined_divided_or_renamed_are_sums(grouped):
    text = "from,to,label\nB,B,\nC26,N1,Joined\nC27,N1,\nJ61,K1,\nJ61,K2,\nJ62,N2,\n"
    domain = grouped(", correspondences: [c.csv]", {"c.csv": text}, NEW_LIST)
    assert sums(domain) == (("N1", ("C26", "C27")), ("N2", ("J62",)), ("J61", ("K1", "K2")))
    assert domain.labels["ACTIVITY"]["N1"] == "Joined"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "from,to\nC26,K1\nC26,K2\nC27,K2\n",
            r"c\.csv, line 3: C26 is split between K2 and K1, and K2 has a part of C27 too.*Remedy: leave",
        ),
        ("from,to\nC26,C27\nC27,K1\n", r"c\.csv, line 2: C27 is a code of both"),
        ("from,to\nC26,C26\nC27,C26\n", r"c\.csv, line 2: C26 is a code of both"),
        ("from,to\nC26,K1\nC26,K9\n", r"c\.csv, line 3: K9, a part of C26, is no code"),
        ("from,to\nC26,K1\nC26,K1\n", r"c\.csv, line 3: C26 with K1 stands in line 2"),
        ("from,to\nC26,\n", r"c\.csv, line 2: from and to are expected"),
    ],
)
def test_a_correspondence_that_is_no_sum(grouped, text, words):
    with pytest.raises(InvalidInput, match=words):
        grouped(", correspondences: [c.csv]", {"c.csv": text}, NEW_LIST)


ML = """<?xml version="1.0" encoding="UTF-8"?>
<mes:Structure xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v3_0/message"
  xmlns:str="http://www.sdmx.org/resources/sdmxml/schemas/v3_0/structure">
<mes:Structures><str:RepresentationMaps><str:RepresentationMap id="REV" agencyID="NSI" version="1.0">
<str:SourceCodelist>urn:a</str:SourceCodelist><str:TargetCodelist>urn:b</str:TargetCodelist>
{pairs}
</str:RepresentationMap></str:RepresentationMaps></mes:Structures></mes:Structure>
"""
ML_21 = """<mes:Structure xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"
  xmlns:str="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure">
<mes:Structures><str:StructureSets><str:StructureSet id="S"><str:CodelistMap id="REV">
{pairs}
</str:CodelistMap></str:StructureSet></str:StructureSets></mes:Structures></mes:Structure>
"""


def ml(*pairs: tuple[str, str], attributes: str = "") -> str:
    mapping = "<str:RepresentationMapping{2}><str:SourceValue>{0}</str:SourceValue><str:TargetValue>{1}"
    mapping += "</str:TargetValue></str:RepresentationMapping>"
    return ML.format(pairs="\n".join(mapping.format(*pair, attributes) for pair in pairs))


def ml_21(*pairs: tuple[str, str]) -> str:
    code = '<str:CodeMap><str:Source><Ref id="{0}"/></str:Source><str:Target><Ref id="{1}"/></str:Target>'
    return ML_21.format(pairs="\n".join(f"{code}</str:CodeMap>".format(*pair) for pair in pairs))


def sdmx_json(*pairs: tuple[str, str], **more: object) -> str:
    mappings = [{"sourceValues": [{"value": one}], "targetValues": [two], **more} for one, two in pairs]
    return json.dumps({"data": {"representationMaps": [{"id": "REV", "representationMappings": mappings}]}})


PAIRS = (("B", "B"), ("C26", "N1"), ("C27", "N1"), ("J61", "K1"), ("J61", "K2"), ("J62", "N2"))


@pytest.mark.parametrize(
    ("name", "text"), [("c.xml", ml(*PAIRS)), ("c.xml", ml_21(*PAIRS)), ("c.json", sdmx_json(*PAIRS))]
)
def test_a_map_of_sdmx_is_a_correspondence(grouped, name, text):
    domain = grouped(f", correspondences: [{name}]", {name: text}, NEW_LIST)
    assert sums(domain) == (("N1", ("C26", "C27")), ("N2", ("J62",)), ("J61", ("K1", "K2")))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.xml", ml(("C26", "K1"), ("C26", "K9")), r"c\.xml, line 7: K9, a part of C26, is no code"),
        ("c.xml", ml(("C26", "")), r"c\.xml, line 6: an empty code"),
        ("c.xml", ml(("C26", "N1"), attributes=' validTo="2020"'), r"line 6: validTo: a condition.*Remedy"),
        ("c.xml", ml(), r"c\.xml: no map of codes.*Remedy"),
        ("c.xml", ml(("C26", "N1")).replace("<str:TargetValue>", "<str:TargetValue/><str:TargetValue>"),
         r"line 6: not one code on each side.*Remedy"),
        ("c.xml", "from,to\nC26,N1\n", r"c\.xml, line 1: not well-formed XML"),
        ("c.json", sdmx_json(("C26", "N1"), isRegEx=True), r"mapping 1: isRegEx: a condition.*Remedy"),
        ("c.json", "{}", r"c\.json: no structure message of SDMX-JSON with a map.*Remedy"),
    ],
)  # fmt: skip
def test_a_map_that_is_not_understood_is_refused(grouped, name, text, words):
    with pytest.raises(InvalidInput, match=words):
        grouped(f", correspondences: [{name}]", {name: text}, NEW_LIST)


def test_small_counts_need_the_same_inner_codes(grouped):
    listed = LIST + "URB,,u\nRUR,,r\n"
    rivals = ", groupings: [{TOTAL: [URB, RUR]}]"
    assert grouped(rivals, listed=listed).space.hierarchies[0].rivals == (0,)
    path = grouped(rivals, listed=listed).folder / "small.yaml"
    small = "label: Turnover, rounding: {method: small-count, base: 5}, kind: count, "
    path.write_text(path.read_text().replace("label: Turnover, ", small))
    with pytest.raises(
        InvalidInput, match="small counts are rounded in the inner codes of ACTIVITY, and TOTAL"
    ):
        load_domain(path)


# --- deliveries -----------------------------------------------------------------------------------


def table(domain: Domain, **values: float) -> NationalTable:
    """A table of one size class `_T`, by activity; the others have nothing."""
    value = np.zeros(domain.space.national_size)
    keys = list(domain.space.national_keys)
    for code, number in values.items():
        for size in ("_T", "S"):
            value[keys.index(("TURNOVER", code, size))] = number
    none = np.full(len(value), np.nan)
    flag = np.full(len(value), "F")
    return NationalTable("AT", ("d",), value, flag, np.where(value > 0, 9, 0), none, none)


RIGHT = {"TOTAL": 31, "B": 1, "C": 6, "C26": 2, "C27": 4, "J": 24, "J61": 8, "J62": 16}


def additivity(domain: Domain, **values: float) -> tuple[str, ...]:
    found = {each.check: each for each in check(table(domain, **RIGHT | values), domain)}
    return found["additivity"].cells


def test_a_delivery_adds_up_to_its_groupings(grouped):
    domain = grouped(", groupings: [{ICT: [C26, J]}, {TOTAL: [B, ICT, C27]}]")
    assert additivity(domain, ICT=26) == ()
    first, *_ = additivity(domain, ICT=27)
    assert first.startswith("AT.TURNOVER.")
    assert "AT.TURNOVER.ICT._T" in additivity(domain, ICT=27)
    assert "AT.TURNOVER.TOTAL._T=B+…+ICT" in additivity(domain, ICT=27), "the sum that does not hold is named"


def test_a_special_aggregate_without_records_is_found(grouped):
    domain = grouped(", groupings: [{ICT: [C26, J]}]")
    found = {each.check: each for each in check(table(domain, **RIGHT), domain)}
    assert "AT.TURNOVER.ICT._T" in found["complete_keys"].cells


def test_a_special_aggregate_of_zeros_needs_no_record_where_absent_is_zero(grouped, tmp_path):
    """It is no grand total, which a table never lacks."""
    domain = grouped(", groupings: [{ICT: [C26, J]}]")
    file = tmp_path / "small.yaml"
    file.write_text(file.read_text().replace("label: Turnover, ", "label: Turnover, absent: zero, "))
    domain = load_domain(file)
    head, total, *rest = ["_T S L", "TOTAL 7 F 7 F .", "C27 7 F 7 F .", "C 7 F 7 F ."]
    accepted = deliver(domain, tmp_path, sdmx_1("\n".join([head, total, *rest])))
    assert codes(accepted) == []
    refused = deliver(domain, tmp_path, sdmx_1("\n".join([head, *rest])))
    assert "SDC/absent" in {code for code, *_ in codes(refused)}
