"""A domain whose columns, codes and keys are those of a registry: messages written by
pysdmx, in one file or a folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.domains.registry.folder import SUFFIXES
from sdc_tasks.errors import InvalidInput
from support.deliveries import DOMAIN, HEALTHY, codes, deliver, sdmx_1, small_domain
from support.laws import law

pysdmx = pytest.importorskip("pysdmx.model")
LISTS: dict[str, list[tuple[str, str | None]]] = {
    "CL_FREQ": [("A", None), ("Q", None)],
    "CL_AREA": [("AT", None), ("BE", None), ("EU", None)],
    "CL_INDICATOR": [("TURNOVER", None)],
    "CL_ACTIVITY": [("TOTAL", None), ("C", "TOTAL"), ("D", "TOTAL")],
    "CL_SIZE": [("_T", None), ("S", "_T"), ("L", "_T")],
    "CL_CONF_STATUS": [(code, None) for code in "FAMOD"],
    "CL_UNIT": [("EUR", None)],
}
DIMENSIONS = {
    "FREQ": "CL_FREQ",
    "REF_AREA": "CL_AREA",
    "INDICATOR": "CL_INDICATOR",
    "ACTIVITY": "CL_ACTIVITY",
    "SIZECLASS": "CL_SIZE",
}
ATTRIBUTES = {
    "UNIT_MEASURE": "CL_UNIT",
    "UNIT_MULT": None,
    "OBS_STATUS": None,
    "CONF_STATUS": "CL_CONF_STATUS",
}
FORMATS = [
    "STRUCTURE_SDMX_ML_2_1",
    "STRUCTURE_SDMX_ML_3_0",
    "STRUCTURE_SDMX_ML_3_1",
    "STRUCTURE_SDMX_JSON_2_0_0",
]
PIECES = (
    "",
    "<",
    ">",
    "/>",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    "null",
    "true",
    "0",
    "\u0000",
    "&lt;",
    "<!DOCTYPE a>",
    'id="',
    "\n",
    "()",
)
FLOW = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=NSI:SMALL(1.0)"


def structures(
    lists: dict[str, list[tuple[str, str | None]]] = LISTS, concept_codes: bool = False
) -> list[Any]:
    """Code lists, concepts, data structure and data flow. `concept_codes`: a list stands at
    the concept, not at the component.
    """
    m = pysdmx
    found = {
        name: m.Codelist(
            name,
            name=name,
            agency="NSI",
            version="1.0",
            items=[m.Code(code, name=f"Name of {code}") for code, _ in rows],
        )
        for name, rows in lists.items()
    }
    listed = {
        name: found.get(of or "")
        for name, of in {**DIMENSIONS, **ATTRIBUTES, "TIME_PERIOD": None, "OBS_VALUE": None}.items()
    }
    concepts = m.ConceptScheme(
        "CS",
        name="CS",
        agency="NSI",
        version="1.0",
        items=[
            m.Concept(name, name=name, codes=of if concept_codes else None) for name, of in listed.items()
        ],
    )

    def component(name: str, role: Any, **more: Any) -> Any:
        at = m.ItemReference("Concept", "NSI", "CS", "1.0", name)
        return m.Component(name, True, role, at, local_codes=None if concept_codes else listed[name], **more)

    columns = [component(name, m.Role.DIMENSION) for name in (*DIMENSIONS, "TIME_PERIOD")]
    columns += [component("OBS_VALUE", m.Role.MEASURE)]
    columns += [component(name, m.Role.ATTRIBUTE, attachment_level="O") for name in ATTRIBUTES]
    dsd = m.DataStructureDefinition(
        "DSD", name="DSD", agency="NSI", version="1.0", components=m.Components(columns)
    )
    return [
        *found.values(),
        concepts,
        dsd,
        m.Dataflow("SMALL", name="SMALL", agency="NSI", version="1.0", structure=dsd),
    ]


def constraint(regions: Iterable[tuple[dict[str, list[str]], bool]]) -> Any:
    from pysdmx.model import constraint as c

    return c.DataConstraint(
        "ALLOWED",
        name="ALLOWED",
        agency="NSI",
        version="1.0",
        constraint_attachment=c.ConstraintAttachment(data_provider=None, dataflows=[FLOW]),
        cube_regions=[
            c.CubeRegion(
                [c.CubeKeyValue(name, [c.CubeValue(code) for code in codes]) for name, codes in keys.items()],
                included,
            )
            for keys, included in regions
        ],
    )


def write(path: Path, artefacts: list[Any], form: str = FORMATS[0]) -> Path:
    from pysdmx.io import write_sdmx
    from pysdmx.io.format import Format

    text = write_sdmx(artefacts, Format[form])
    for code, parent in LISTS["CL_ACTIVITY"] + LISTS["CL_SIZE"]:  # pysdmx does not write parents
        if parent and "JSON" not in form:
            above = f'<Ref id="{parent}"/>' if "2_1" in form else parent
            name = f'<com:Name xml:lang="en">Name of {code}</com:Name>'
            text = text.replace(name, f"{name}<str:Parent>{above}</str:Parent>")
        elif parent:
            text = text.replace(
                f'"name": "Name of {code}"', f'"name": "Name of {code}", "parent": "{parent}"'
            )
    if "JSON" in form:
        text = with_lists_at_components(text)
    place = path.with_suffix(".json" if "JSON" in form else ".xml")
    place.write_text(text)
    return place


def with_lists_at_components(text: str) -> str:
    """The lists of dimensions and attributes, which pysdmx leaves out of JSON unless they stand at the
    concepts.
    """
    message = json.loads(text)
    at_concepts = "coreRepresentation" in text
    for structure in message["data"].get("dataStructures", []):
        parts = structure["dataStructureComponents"]
        for each in (*parts["dimensionList"]["dimensions"], *parts["attributeList"]["attributes"]):
            if (listed := {**DIMENSIONS, **ATTRIBUTES}[each["id"]]) and not at_concepts:
                each["localRepresentation"] = {
                    "enumeration": f"urn:sdmx:org.sdmx.infomodel.codelist.Codelist=NSI:{listed}(1.0)"
                }
    return json.dumps(message)


def domain(folder: Path, structures: str, change: Callable[[str], str] = lambda text: text) -> Domain:
    """The small domain with these structures."""
    small_domain(folder)
    (folder / "small.yaml").write_text(change(DOMAIN + f"structures: {structures}\n"))
    return load_domain(folder / "small.yaml")


def without_lists(text: str) -> str:
    for name in ("areas", "activities", "sizes"):
        text = text.replace(f", codelist: {name}.csv", "")
    return text


@pytest.mark.parametrize("concept_codes", [False, True])
@pytest.mark.parametrize("form", FORMATS)
def test_a_domain_without_lists_has_those_of_its_data_structure(tmp_path, form, concept_codes):
    path = write(tmp_path / "dsd", structures(concept_codes=concept_codes), form)
    expected = small_domain(tmp_path)
    found = domain(tmp_path, path.name, without_lists)
    assert found.space.national_keys == expected.space.national_keys
    assert found.countries == expected.countries, "EU is in the list, and a composition"
    assert found.labels["ACTIVITY"]["C"] == "Name of C"
    assert [each.parent for each in found.space.hierarchies] == [
        each.parent for each in expected.space.hierarchies
    ]
    assert codes(deliver(found, tmp_path, sdmx_1())) == []


def test_a_registry_is_a_folder_whose_files_repeat_what_they_refer_to(tmp_path):
    (tmp_path / "registry" / "flows").mkdir(parents=True)
    all_of_it = structures()
    write(tmp_path / "registry" / "lists", all_of_it[:-2])
    write(tmp_path / "registry" / "flows" / "dsd", all_of_it, FORMATS[3])
    found = domain(tmp_path, "registry", without_lists)
    assert found.countries == ("AT", "BE")
    one = domain(
        tmp_path,
        "registry",
        lambda text: text.replace(
            "codelist: sizes.csv", "codelist: registry, codelist_id: 'NSI:CL_SIZE(1.0)'"
        ),
    )
    assert one.space.national_keys == found.space.national_keys
    before = found.digest
    write(tmp_path / "registry" / "limits", [constraint([({"ACTIVITY": ["TOTAL", "C", "D"]}, True)])])
    assert domain(tmp_path, "registry", without_lists).digest != before, (
        "what structures say is in the digest of the domain"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_record_that_a_constraint_does_not_allow_is_a_finding_at_its_line(tmp_path, form):
    write(tmp_path / "dsd", structures())
    small_domain(tmp_path)
    (tmp_path / "r").mkdir()
    write(tmp_path / "r" / "dsd", structures())
    write(tmp_path / "r" / "limits", [constraint([({"ACTIVITY": ["C"], "SIZECLASS": ["S"]}, False)])], form)
    found = domain(
        tmp_path,
        "r",
        lambda text: text.replace("unit_multiplier: 3}", "unit_multiplier: 3, absent: missing}"),
    )
    assert ("SDC/constraint", 6, "AT.TURNOVER.C.S") in codes(deliver(found, tmp_path, sdmx_1()))
    drawing = HEALTHY.replace("700 F      300 D", "700 F      .    ")
    assert "SDC/constraint" not in [code for code, *_ in codes(deliver(found, tmp_path, sdmx_1(drawing)))]


def test_a_constraint_says_which_areas_report(tmp_path):
    (tmp_path / "r").mkdir()
    write(
        tmp_path / "r" / "dsd",
        structures(LISTS | {"CL_AREA": [(code, None) for code in ("AT", "BE", "US", "JP", "EU")]}),
    )
    write(tmp_path / "r" / "limits", [constraint([({"REF_AREA": ["AT", "BE"], "FREQ": ["A"]}, True)])])
    assert domain(tmp_path, "r", without_lists).countries == ("AT", "BE")


@pytest.mark.parametrize(
    ("spoil", "change", "told"),
    [
        (
            None,
            lambda text: text.replace("NSI:SMALL(1.0)", "NSI:OTHER(1.0)"),
            r"no data flow .* NSI:OTHER\(1\.0\)\. Remedy: .*NSI:SMALL",
        ),
        (
            None,
            lambda text: text.replace("ACTIVITY, codelist", "NACE, codelist"),
            "NACE: no dimension of it. Remedy: its",
        ),
        (
            None,
            lambda text: text.replace("  - {dimension: SIZECLASS, codelist: sizes.csv}\n", ""),
            "lacks its dimensions SIZECLASS",
        ),
        (
            None,
            lambda text: text.replace("  M: {role", "  T: {role"),
            r"CONF_STATUS T: not in code list NSI:CL_CONF_STATUS\(1\.0\)",
        ),
        (None, lambda text: text.replace("unit: EUR", "unit: USD"), "UNIT_MEASURE USD: not in code list"),
        (None, lambda text: text + "frequency: M\n", "FREQ M: not in code list"),
        (
            None,
            lambda text: text + "attributes: {units: ENTERPRISES}\n",
            "attributes.units ENTERPRISES: no attribute of it. Remedy",
        ),
        (("CL_ACTIVITY", [("TOTAL", None), ("C", "TOTAL")]), None, "ACTIVITY D: not in code list"),
        (
            ("CL_SIZE", None),
            None,
            r"no code list NSI:CL_SIZE\(1\.0\), which SIZECLASS refers to. Remedy: export",
        ),
    ],
)
def test_a_domain_that_is_not_its_data_structure_is_refused(tmp_path, spoil, change, told):
    lists = LISTS if spoil is None else {**LISTS, spoil[0]: spoil[1] or []}
    artefacts = structures(lists)
    if spoil and spoil[1] is None:
        artefacts = [each for each in artefacts if each.id != spoil[0]]
    path = write(tmp_path / "dsd", artefacts)
    with pytest.raises(InvalidInput, match=told) as caught:
        domain(tmp_path, path.name, change or (lambda text: text))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("regions", "told"),
    [
        (
            [({"ACTIVITY": ["C"], "SIZECLASS": ["S"]}, False)],
            "allow no record of TURNOVER.C.S, and indicator TURNOVER does not say",
        ),
        ([({"REF_AREA": ["AT"]}, True)], "allow no record of BE. Remedy"),
        (
            [({"TIME_PERIOD": ["2024"]}, True)],
            "content constraint .* is on TIME_PERIOD, which is not read here",
        ),
    ],
)
def test_a_constraint_that_leaves_a_doubt_is_refused(tmp_path, regions, told):
    (tmp_path / "r").mkdir()
    write(tmp_path / "r" / "dsd", structures())
    write(tmp_path / "r" / "limits", [constraint(regions)])
    with pytest.raises(InvalidInput, match=told):
        domain(tmp_path, "r")


AGREEMENT = "urn:sdmx:org.sdmx.infomodel.registry.ProvisionAgreement=NSI:PA(1.0)"
IN_3_0, IN_2_1, IN_JSON = FORMATS[1], FORMATS[0], FORMATS[3]
CUBE = r"<str:CubeRegion.*</str:CubeRegion>"
KEY_SET = (
    '<str:DataKeySet isIncluded="{}"><str:Key><str:KeyValue '
    'id="ACTIVITY"><str:Value>C</str:Value></str:KeyValue>{}</str:Key>'
)
KEY_SET += "</str:DataKeySet>"
TO_FLOW = r"<str:Dataflow>.*?</str:Dataflow>"
TO_URN = rf'"dataflows": \["{re.escape(FLOW)}"\]'
PERIOD_OF = '<str:ReferencePeriod startTime="2019-01-01T00:00:00" endTime="2020-12-31T00:00:00"/>'
FLAG = '<str:Component id="CONF_STATUS"><str:Value>F</str:Value></str:Component>'
ONE = '<str:KeyValue id="ACTIVITY"><str:Value>D</str:Value></str:KeyValue>'
DOUBTS: list[tuple[str, str, str, str]] = [
    (IN_3_0, TO_FLOW, f"<str:ProvisionAgreement>{AGREEMENT}</str:ProvisionAgreement>", "ProvisionAgreement"),
    (
        IN_2_1,
        TO_FLOW,
        '<str:ProvisionAgreement><Ref agencyID="NSI" id="PA"/></str:ProvisionAgreement>',
        "Provision",
    ),
    (IN_JSON, TO_URN, f'"provisionAgreements": ["{AGREEMENT}"]', "attached to prov"),
    (IN_3_0, TO_FLOW, "<str:Dataflow>everything</str:Dataflow>", "attached to a reference that is none"),
    (IN_3_0, r"<str:ConstraintAttachment>.*?</str:ConstraintAttachment>", "", "attached to nothing"),
    (IN_3_0, "<str:Value>C", '<str:Value validTo="2020">C', "a code of ACTIVITY says validTo"),
    (
        IN_3_0,
        '<str:KeyValue id="ACTIVITY"',
        '<str:KeyValue id="ACTIVITY" validTo="2020"',
        "ACTIVITY says validTo",
    ),
    (IN_JSON, r'\{"value": "C"\}', '{"value": "C", "validTo": "2020"}', "a code of ACTIVITY says validTo"),
    (IN_2_1, "<str:CubeRegion", f"{PERIOD_OF}<str:CubeRegion", "ReferencePeriod"),
    (IN_3_0, CUBE, KEY_SET.format("true", FLAG), "a key of a key set says Component"),
    (IN_3_0, CUBE, KEY_SET.format("no", ""), "isIncluded is neither true nor false"),
    (IN_3_0, "<str:Value>C", "<str:Value>%", "ACTIVITY without codes, or with a wildcard"),
    (IN_JSON, r'"values": \[[^\]]*\]', '"values": []', "ACTIVITY without codes, or with a wildcard"),
    (IN_3_0, 'role="Allowed"', 'role="allowed"', "neither Allowed nor Actual"),
    (IN_2_1, ' type="Allowed"', "", "neither Allowed nor Actual"),
    (IN_JSON, '"role": "Allowed"', '"role": "ALLOWED"', "neither Allowed nor Actual"),
    (
        IN_3_0,
        '<str:KeyValue id="ACTIVITY"',
        f'{ONE}<str:KeyValue id="ACTIVITY"',
        "ACTIVITY stands twice in one region",
    ),
    (
        IN_JSON,
        '"cubeRegions": \\[\\{',
        '"cubeRegions": [{"include": "false", ',
        "include is neither true nor false",
    ),
]


@pytest.mark.parametrize(("form", "pattern", "instead", "told"), DOUBTS)
def test_what_a_constraint_says_and_nobody_understands_refuses_it(tmp_path, form, pattern, instead, told):
    """Left out, it would let a record pass that nobody may send, or take out a country that reports."""
    path = write(tmp_path / "dsd", [*structures(), constraint([({"ACTIVITY": ["TOTAL", "C"]}, True)])], form)
    text = path.read_text()
    path.write_text(re.sub(pattern, lambda _: instead, text, count=1, flags=re.DOTALL))
    assert path.read_text() != text
    with pytest.raises(InvalidInput, match=told) as caught:
        domain(tmp_path, path.name)
    assert "Remedy: " in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("version", "applied"), [("1.0", True), ("1.0+", True), ("2.0+", False), ("1.1", False), ("*", True)]
)
def test_a_constraint_on_another_version_of_the_flow_is_none_of_ours(tmp_path, version, applied):
    path = write(
        tmp_path / "dsd", [*structures(), constraint([({"ACTIVITY": ["TOTAL", "C"]}, True)])], IN_3_0
    )
    text = path.read_text()
    attached = text.index("<str:ConstraintAttachment")
    path.write_text(text[:attached] + text[attached:].replace("SMALL(1.0)", f"SMALL({version})", 1))
    found = domain(
        tmp_path,
        path.name,
        lambda text: text.replace("unit_multiplier: 3}", "unit_multiplier: 3, absent: zero}"),
    )
    assert (found.reportable is not None) == applied


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["extended", "partial"])
def test_a_list_that_does_not_hold_all_its_codes_is_refused(tmp_path, form, kind):
    """An EU of all members would lack the country whose code stands elsewhere."""
    path = write(tmp_path / "dsd", structures(), form)
    if form == IN_JSON:
        message = json.loads(path.read_text())
        area = next(each for each in message["data"]["codelists"] if each["id"] == "CL_AREA")
        area |= {"isPartial": True} if kind == "partial" else {"codelistExtensions": [{"codelist": FLOW}]}
        path.write_text(json.dumps(message))
    else:
        pattern = r'<str:Codelist [^>]*id="CL_AREA"[^>]*>'
        head = re.search(pattern, path.read_text())[0]
        ext = "<str:CodelistExtension><str:Codelist>x</str:Codelist></str:CodelistExtension>"
        new = re.sub(r'isPartial="\w+"', 'isPartial="true"', head) if kind == "partial" else head + ext
        assert new != head
        path.write_text(path.read_text().replace(head, new))
    with pytest.raises(InvalidInput, match=r"code list NSI:CL_AREA\(1.0\): it .*Remedy: get the whole list"):
        domain(tmp_path, path.name, without_lists)


def test_messages_that_are_none_are_refused_with_file_and_remedy(tmp_path):
    (tmp_path / "r").mkdir()
    with pytest.raises(
        InvalidInput, match=r"no structure message \(\.xml, \.json\) in this folder. Remedy: export"
    ):
        domain(tmp_path, "r")
    for name, told in (
        ("areas.csv", "and no folder of them"),
        ("nowhere", "and no folder of them"),
        ("nowhere.xml", "cannot read"),
    ):
        with pytest.raises(InvalidInput, match=told):
            domain(tmp_path, name)
    for content in (
        "{",
        "[]",
        '{"data": []}',
        json.dumps({"data": {"codelists": [{"codes": [{}]}]}}),
        "[" * 10**5,
    ):
        (tmp_path / "r" / "a.json").write_text(content)
        with pytest.raises(InvalidInput, match=r"a\.json: no structure message of SDMX-JSON. Remedy"):
            domain(tmp_path, "r")
    cascaded: dict[str, Any] = {"id": "C", "constraintAttachment": {"dataflows": [FLOW]}}
    cascaded["cubeRegions"] = [
        {"keyValues": [{"id": "ACTIVITY", "values": [{"value": "C", "cascadeValues": True}]}]}
    ]
    (tmp_path / "r" / "a.json").write_text(json.dumps({"data": {"dataConstraints": [cascaded]}}))
    with pytest.raises(
        InvalidInput,
        match=r"a\.json: ACTIVITY by a range of time, or with all codes below one: not read here",
    ):
        domain(tmp_path, "r")
    (tmp_path / "r" / "a.json").unlink()
    write(tmp_path / "r" / "a", structures())
    write(tmp_path / "r" / "b", structures(LISTS | {"CL_FREQ": [("A", None)]}))
    with pytest.raises(InvalidInput, match=r"b\.xml: code list CL_FREQ stands twice, differently"):
        domain(tmp_path, "r")


def test_a_dimension_without_a_list_needs_structures(tmp_path):
    with pytest.raises(
        InvalidInput,
        match=r"ACTIVITY has no codelist\. Remedy: name one, or a registry's export as structures",
    ):
        small_domain(tmp_path, ", codelist: activities.csv", "")


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("messages")
    limits = constraint([({"ACTIVITY": ["C"], "SIZECLASS": ["S"]}, False)])
    return [write(folder / form, [*structures(), limits], form) for form in FORMATS]


@law(400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 3),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(PIECES)), min_size=1, max_size=3),
)
def test_a_spoilt_message_is_read_or_refused(
    messages: list[Path], which: int, changes: list[tuple[float, int, str]]
) -> None:
    text = messages[which].read_text()
    for place, length, piece in changes:
        at = int(place * len(text))
        text = text[:at] + piece + text[at + length :]
    with suppress(InvalidInput):
        SUFFIXES[messages[which].suffix](text, "spoilt")
