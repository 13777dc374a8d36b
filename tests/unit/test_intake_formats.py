"""Every format gives the table of SDMX-CSV; and what refuses a file of Parquet, Arrow, SDMX-JSON or
Eurostat's TSV.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sdc_tasks.domains import Domain
from sdc_tasks.intake import Delivery, read_bytes, sender
from sdc_tasks.model.findings import Severity
from support.deliveries import PERIOD, codes, sdmx_1, small_domain
from support.wire import FORMATS, columnar, json_stat, sdmx_json, tsv

TEXT = sdmx_1().replace("A,D,,,", "A,D,14,31.5,12").replace("EUR,3,A,A,,,", "EUR,3,A,A,2,81,19")


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(tmp_path_factory.mktemp("formats"))


def reads(domain: Domain, data: bytes, suffix: str) -> Delivery:
    return read_bytes(data, f"AT_2024{suffix}", domain, PERIOD, digest="D")


def errors(delivery: Delivery) -> str:
    codes(delivery)
    assert not any(each.code == "SDC/reader" for each in delivery.findings)
    return " ".join(
        f"{each.code} line {each.line}: {each.message}"
        for each in delivery.findings
        if each.severity is Severity.ERROR
    )


@pytest.mark.parametrize("how", FORMATS)
def test_every_format_gives_the_same_table(domain, how):
    suffix, write = FORMATS[how]
    expected, found = reads(domain, TEXT.encode(), ".csv"), reads(domain, write(TEXT), suffix)
    assert errors(found) == ""
    for name in ("value", "flag", "units", "share_1", "share_2", "available"):
        np.testing.assert_array_equal(getattr(found.table, name), getattr(expected.table, name))


@pytest.mark.parametrize("how", FORMATS)
def test_a_cut_file_is_refused(domain, how):
    suffix, write = FORMATS[how]
    data = write(TEXT)
    assert errors(reads(domain, data[: len(data) * 2 // 3], suffix))


APART = ("Parquet", "Arrow file", "Arrow stream")  # each in a process of its own


@pytest.mark.parametrize("how", [*APART, "SDMX-JSON flat", "Eurostat TSV", "zip"])
def test_damaged_bytes_are_read_or_refused(domain, how):
    """One to three bytes changed: no crash (of a library either), no fault of the reader, and no
    value told.
    """
    suffix, write = FORMATS[how]
    data, chance = write(TEXT), random.Random(9)
    for _ in range(3 if how in APART else 200):
        damaged = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        errors(reads(domain, bytes(damaged), suffix))


def written(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def with_column(name: str, values: object) -> bytes:
    table = columnar(TEXT)
    return written(table.set_column(table.schema.names.index(name), name, values))


VALUES = columnar(TEXT).column("OBS_VALUE")
MISSING = pa.array([None, *VALUES.to_pylist()[1:]], pa.float64())
COLUMNS: dict[str, tuple[Callable[[], bytes], str]] = {
    "float32": (
        lambda: with_column("OBS_VALUE", VALUES.cast(pa.float32())),
        "(OBS_VALUE) is of a kind that is not read here",
    ),
    "dates": (
        lambda: with_column("TIME_PERIOD", pa.array([0] * 9, pa.date32())),
        "(TIME_PERIOD) is of a kind",
    ),
    "lists": (lambda: with_column("CONF_STATUS", pa.array([["F"]] * 9)), "(CONF_STATUS) is of a kind"),
    "no value": (lambda: with_column("OBS_VALUE", MISSING), "SDC/missing line 2"),
    "infinite": (
        lambda: with_column("OBS_VALUE", pa.array([np.inf, *VALUES.to_pylist()[1:]])),
        "SDC/magnitude line 2",
    ),
    "half a unit": (lambda: with_column("UNITS", pa.array([0.5] * 9)), "SDC/units line 2"),
    "no column": (lambda: written(columnar(TEXT).drop_columns(["UNIT_MULT"])), "column UNIT_MULT is missing"),
    "no structure": (
        lambda: written(columnar(TEXT).drop_columns(["DATAFLOW"])),
        "column DATAFLOW is missing",
    ),
    "twice": (
        lambda: written(columnar(TEXT).append_column("obs_value", VALUES)),
        "repeats an earlier column",
    ),
    "no record": (lambda: written(columnar(TEXT).slice(0, 0)), "no record"),
    "too long": (lambda: written(pa.concat_tables([columnar(TEXT)] * 200)), "more than"),
    "another format": (TEXT.encode, "not a whole file of Parquet or Arrow"),
    "texts that are shown a thousand times": (
        lambda: streamed(shown_often("x" * 200_000)),
        "or columns that are too large",
    ),
    "texts that are listed a thousand times": (
        lambda: streamed(listed_often("x" * 200_000)),
        "or columns that are too large",
    ),
}


@pytest.mark.parametrize(("cents", "told"), [(0.12, []), (0.125, ["SDC/precision"])])
@pytest.mark.parametrize("how", ["Parquet", "SDMX-JSON flat"])
def test_digits_of_a_large_number_are_not_lost_without_a_word(tmp_path, how, cents, told):
    """From 2.8e14 steps of the last decimal on, the precision of a double is no less than half a step."""
    suffix, write = FORMATS[how]
    domain = small_domain(tmp_path, "unit_multiplier: 3", "unit_multiplier: 3, decimals: 2")
    found = reads(domain, write(TEXT.replace(",300,", f",{3e12 + cents},")), suffix)
    assert [code for code, _, _ in codes(found) if code != "SDC/additivity"] == told
    assert found.table.value[4] == 3e12 + cents


def listed_often(text: str) -> pa.Table:
    """The same, in the list of an enumeration."""
    table = shown_often(text)
    at = table.schema.names.index("CONF_STATUS")
    codes = pa.array(range(len(table)), pa.int8())
    listed = pa.DictionaryArray.from_arrays(codes, table.column(at).combine_chunks())
    return table.set_column(at, "CONF_STATUS", listed)


def streamed(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def shown_often(text: str) -> pa.Table:
    """A column of views of one text, which stands once in the file."""
    one = pa.array([text], pa.string_view())
    view, buffer = one.buffers()[1].to_pybytes()[:16], one.buffers()[2]
    views = pa.Array.from_buffers(pa.string_view(), 9, [None, pa.py_buffer(view * 9), buffer])
    table = columnar(TEXT)
    return table.set_column(table.schema.names.index("CONF_STATUS"), "CONF_STATUS", views)


@pytest.mark.parametrize("coded", [False, True], ids=["texts", "an enumeration"])
def test_views_of_texts_are_read_as_polars_writes_them(domain, coded):
    table = columnar(TEXT)
    for name in ("DATAFLOW", "ACTIVITY", "CONF_STATUS"):
        plain = table.column(name).cast(pa.string())
        if coded:
            codes = plain.combine_chunks().dictionary_encode()
            listed = codes.dictionary.cast(pa.string_view())
            views = pa.DictionaryArray.from_arrays(codes.indices, listed, ordered=True)
        else:
            views = plain.cast(pa.string_view())
        table = table.set_column(table.schema.names.index(name), name, views)
    found, expected = reads(domain, streamed(table), ".arrows"), reads(domain, TEXT.encode(), ".csv")
    assert errors(found) == ""
    assert list(found.table.flag) == list(expected.table.flag)


@pytest.mark.parametrize("how", ["Parquet", "Arrow file", "Arrow stream"])
@pytest.mark.parametrize("behind", ["the same table", "some bytes"])
def test_what_stands_behind_a_table_is_not_lost_in_silence(domain, how, behind):
    """The first part has no flag of its own."""
    suffix, write = FORMATS[how]
    free = write(TEXT.replace(",A,A,", ",A,F,").replace(",A,D,", ",A,F,"))
    assert free != write(TEXT)
    assert "not a whole file" in errors(
        reads(domain, free + (write(TEXT) if behind == "the same table" else b"bytes"), suffix)
    )


def test_a_stream_without_its_end_is_refused(domain):
    suffix, write = FORMATS["Arrow stream"]
    assert "not a whole file" in errors(reads(domain, write(TEXT)[:-8], suffix))


@pytest.mark.parametrize("how", COLUMNS)
def test_a_parquet_file_that_leaves_a_doubt_is_refused(domain, how):
    write, said = COLUMNS[how]
    assert said in errors(reads(domain, write(), ".parquet"))


@pytest.mark.parametrize(
    "values",
    [
        VALUES.cast(pa.int64()),
        pc.cast(VALUES, pa.decimal128(12, 2)),
        VALUES.cast(pa.string()),
        VALUES.cast(pa.int64()).dictionary_encode(),
    ],
    ids=["whole numbers", "decimals", "texts", "a dictionary"],
)
def test_a_number_may_be_of_any_exact_kind(domain, values):
    expected, found = (
        reads(domain, TEXT.encode(), ".csv"),
        reads(domain, with_column("OBS_VALUE", values), ".parquet"),
    )
    assert errors(found) == ""
    assert found.table.value.tolist() == expected.table.value.tolist()


def test_a_binary_number_with_three_decimals_is_no_thousands_separator(domain):
    values = VALUES.to_pylist()
    values[3] = 700.125
    found = reads(domain, with_column("OBS_VALUE", pa.array(values)), ".parquet")
    assert errors(found) == ""
    assert found.table.value[3] == 700.125


Change = Callable[[dict, dict], None]  # of the structure and the data set


def changed(change: Change, series: bool = False) -> bytes:
    message = json.loads(sdmx_json(TEXT, series))
    change(message["data"]["structures"][0], message["data"]["dataSets"][0])
    return json.dumps(message).encode()


def put(what: dict, name: str, content: object) -> None:
    what[name] = content


MESSAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "no JSON": (lambda: TEXT.encode(), "not well-formed JSON"),
    "another message": (lambda: b'{"data": {"dataSets": 3}}', "no data message"),
    "deep": (lambda: b"[" * 100_000, "no data message"),
    "a name twice": (
        lambda: sdmx_json(TEXT).replace(b'"0:0": [', b'"0:0": [1], "0:0": [', 1),
        "stands twice in one object",
    ),
    "no number": (lambda: sdmx_json(TEXT).replace(b"[749391", b"[NaN", 1), "NaN or Infinity"),
    "a test": (lambda: sdmx_json(TEXT).replace(b'"test": false', b'"test": true'), "it is a test"),
    "version 1.0": (
        lambda: b'{"header": {"id": "X", "test": false}, "dataSets": [], "structure": {"links": []}}',
        "SDMX-JSON 1.0 is not read here: send 2.0",
    ),
    "no urn": (lambda: changed(lambda of, _: put(of, "links", [])), "no link with its urn"),
    "another structure": (lambda: sdmx_json(TEXT).replace(b"SMALL", b"LARGE"), "must be NSI:SMALL(1.0)"),
    "to be deleted": (lambda: changed(lambda _, data: put(data, "action", "Delete")), "ACTION must be"),
    "a negative index": (
        lambda: changed(lambda _, data: put(data["observations"], "0:0", [1, -1, 0])),
        "does not have",
    ),
    "an index too far": (
        lambda: changed(lambda _, data: put(data["observations"], "9:0", [1, 0, 0])),
        "does not have",
    ),
    "a key too long": (
        lambda: changed(lambda _, data: put(data["observations"], "0:0:0", [1, 0, 0])),
        "no data message",
    ),
    "several values": (
        lambda: changed(lambda _, data: put(data["observations"], "0:0", [[1, 2], 0, 0])),
        "several values",
    ),
    "no value": (
        lambda: changed(lambda _, data: put(data["observations"], "0:0", [None, 0, 2])),
        "SDC/missing line 7",
    ),
    "no unit": (lambda: changed(lambda _, data: data.pop("dimensionGroupAttributes")), "UNIT_MULT"),
    "no observation": (lambda: changed(lambda _, data: put(data, "observations", {})), "no observation"),
    "said twice": (
        lambda: changed(
            lambda of, data: (
                of["attributes"]["dataSet"].append({"id": "CONF_STATUS"}),
                data["attributes"].append("F"),
            )
        ),
        "CONF_STATUS is said twice",
    ),
}


@pytest.mark.parametrize("how", MESSAGES)
def test_a_message_of_json_that_leaves_a_doubt_is_refused(domain, how):
    write, said = MESSAGES[how]
    data = write()
    assert data != sdmx_json(TEXT)
    assert said in errors(reads(domain, data, ".json"))


def of_sdmxlib(of: dict, data: dict) -> None:
    """Titles and the link stand at the data set, and the measure has no name."""
    data |= {"links": of.pop("links"), "name": "A table", "names": {"en": "A table"}}
    of |= {"name": "A table", "names": {"en": "A table"}}
    of.pop("measures")


def test_a_message_of_sdmxlib_is_read(domain):
    expected, found = reads(domain, TEXT.encode(), ".csv"), reads(domain, changed(of_sdmxlib), ".json")
    assert errors(found) == ""
    assert found.table.value.tolist() == expected.table.value.tolist()
    assert list(found.table.flag) == list(expected.table.flag)


@pytest.mark.parametrize("agency", ["NSI", "OTHER"])
def test_a_link_of_the_structure_goes_before_that_of_the_data_set(domain, agency):
    def link(of: dict, data: dict) -> None:
        data["links"] = json.loads(json.dumps(of["links"]).replace("NSI", "OTHER"))
        of["links"] = json.loads(json.dumps(of["links"]).replace("NSI", agency))

    found = errors(reads(domain, changed(link), ".json"))
    assert ("must be NSI:SMALL(1.0)" in found) is (agency == "OTHER")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("300 @D", ": c", "SDC/missing line 6: confidential and not sent"),
        ("300 @D", ": @D", "SDC/missing line 6: confidential and not sent"),
        ("300 @D", ": u", "SDC/missing line 6: OBS_VALUE is empty"),
        ("300 @D", "", "SDC/missing line 6"),
        ("300 @D", "300 c", "150/904-2 line 6: CONF_STATUS C is not a flag"),
        ("300 @D", "300", "150/904-2 line 6: CONF_STATUS is empty"),
        ("300 @D", "300 z @D", "SDC/status line 6: OBS_STATUS says that the value is missing"),
        ("300 @D", "300 r @D", "150/904-2 line 6: OBS_STATUS"),
        ("300 @D", "3 0 0 @D", "SDC/value line 6"),
        ("300 @D", "300 @D\t5 @F", "150/904-1 line 6"),
        (",C,", ",", "150/904-1 line 5"),
        ("\\TIME_PERIOD", "", "the first line is not that of Eurostat's TSV"),
        ("2024 ", "2023 ", "SDC/period line 2"),
        ("UNIT_MULT", "FACTOR", "column UNIT_MULT is missing"),
        ("SMALL", "LARGE", "SDC/structure line 2"),
    ],
)
def test_a_table_of_eurostat_that_leaves_a_doubt_is_refused(domain, old, new, said):
    text = tsv(TEXT).decode()
    assert old in text
    assert said in errors(reads(domain, text.replace(old, new).encode(), ".tsv"))


def test_flags_of_eurostat_become_a_status(domain):
    text = tsv(TEXT).decode()
    found = reads(
        domain, text.replace("400 @F", "400 bp @F").replace("749391 @F", "749391 e @F").encode(), ".tsv"
    )
    assert errors(found) == ""
    assert found.table.value[0] == 749391


def test_a_value_that_nobody_has_is_not_available(domain):
    text = tsv(TEXT).decode()
    for missing in (":", ": m", ": z", ": bz", ": @F", ": m @F"):
        found = reads(domain, text.replace("300 @D", missing).replace("100 @D", missing).encode(), ".tsv")
        if "@" in missing:
            assert "confidential and not sent" in errors(found)
        else:
            assert found.table is not None
            assert int((~found.table.available).sum()) == 2


def test_a_table_of_eurostat_is_read_where_status_and_flag_have_other_names(tmp_path):
    other = small_domain(
        tmp_path, "flags:", "attributes: {obs_status: OBS_FLAG, conf_status: CONF_FLAG}\nflags:"
    )
    text = tsv(TEXT).decode()
    found = reads(other, text.replace("400 @F", "400 b @F").encode(), ".tsv")
    assert errors(found) == ""
    assert list(found.table.flag) == list(reads(small_domain(tmp_path), text.encode(), ".tsv").table.flag)
    assert "OBS_FLAG says that the value is missing" in errors(
        reads(other, text.replace("400 @F", "400 m @F").encode(), ".tsv")
    )


def test_a_table_of_eurostat_without_its_structure_is_read_with_a_warning(domain):
    text = tsv(TEXT).decode().replace("DATAFLOW,", "", 1).replace("NSI:SMALL(1.0),", "")
    found = reads(domain, text.encode(), ".tsv")
    assert errors(found) == ""
    assert [each.code for each in found.findings] == ["SDC/structure"]


def test_whom_to_ask_is_seen_without_reading(domain):
    assert sender(sdmx_json(TEXT)[:-5], "sent.json", domain) == "AT"
    assert sender(tsv(TEXT)[:-5], "sent.tsv", domain) == "AT"
    assert sender(written(columnar(TEXT)), "sent.parquet", domain) is None


def estat(change: Callable[[dict], object], text: str = TEXT) -> bytes:
    """A data set of JSON-stat with something changed."""
    told = json.loads(json_stat(text))
    change(told)
    return json.dumps(told).encode()


def taken(told: dict) -> str:
    """The place of the value 300, which is taken out."""
    place = next(place for place, value in told["value"].items() if value == 300)
    del told["value"][place]
    return place


SETS: dict[str, tuple[Callable[[dict], object], str]] = {
    "a collection": (lambda told: put(told, "class", "collection"), "no data set of its version 2.0"),
    "an old version": (lambda told: put(told, "version", "1.2"), "no data set of its version 2.0"),
    "an error": (lambda told: put(told, "error", [{"status": 413}]), "not read here (JSON-stat, data set)"),
    "units of codes": (
        lambda told: put(told["dimension"]["sizeclass"]["category"], "unit", {"S": {"decimals": 1}}),
        "not read here (JSON-stat, category)",
    ),
    "a size that is not its own": (lambda told: put(told["size"], 0, 2), "the size of the data set"),
    "a dimension without a size": (lambda told: told["id"].pop(), "the size of the data set"),
    "a value beyond its size": (lambda told: put(told["value"], "99999", 1), "beyond the size"),
    "a value at no place": (lambda told: put(told["value"], "-1", 1), "at no place"),
    "too few values": (lambda told: put(told, "value", [1, 2]), "not as many"),
    "one status of all": (lambda told: put(told, "status", "e"), "one status of all values"),
    "positions that are none": (
        lambda told: put(told["dimension"]["freq"]["category"]["index"], "A", 1),
        "positions of codes",
    ),
    "codes without positions": (
        lambda told: told["dimension"]["sizeclass"]["category"].pop("index"),
        "without their positions",
    ),
    "two of time": (
        lambda told: (told["id"].append("TIME_PERIOD"), told["size"].append(1)),
        "two dimensions of one concept",
    ),
    "confidential, beside another flag": (
        lambda told: put(told, "status", {taken(told): "c"}),
        "CONF_STATUS is said twice",
    ),
    "no value, with a status": (
        lambda told: put(told, "status", {taken(told): "u"}),
        "OBS_VALUE is empty: send the true value",
    ),
    "a value that is missing": (
        lambda told: put(told, "status", {next(iter(told["value"])): ":"}),
        "beside the status :",
    ),
    "no unit": (
        lambda told: (
            told["size"].pop(told["id"].index("unit_mult")),
            told["id"].remove("unit_mult"),
            told["dimension"].pop("unit_mult"),
        ),
        "concept UNIT_MULT is missing",
    ),
    "another structure": (lambda told: put(told["extension"], "id", "LARGE"), "must be NSI:SMALL(1.0)"),
    "a list of objects": (lambda told: put(told, "dimension", []), "no data message"),
}


@pytest.mark.parametrize("how", SETS)
def test_a_data_set_of_json_stat_that_leaves_a_doubt_is_refused(domain, how):
    change, said = SETS[how]
    assert said in errors(reads(domain, estat(change), ".json"))


def test_a_confidential_value_that_json_stat_does_not_have_is_to_be_sent(tmp_path):
    empty = small_domain(tmp_path, "flags:", "flag_when_empty: F\nflags:")
    told = json.loads(json_stat(TEXT, without="CONF_STATUS"))
    assert reads(empty, json.dumps(told).encode(), ".json").accepted
    told["status"] = {taken(told): "c"}
    assert "confidential and not sent" in errors(reads(empty, json.dumps(told).encode(), ".json"))


def test_a_data_set_of_json_stat_as_lists_is_the_same(domain):
    def listed(told: dict) -> None:
        size = int(np.prod(told["size"]))
        told["value"] = [told["value"].get(str(at)) for at in range(size)]
        told["status"] = [None] * size
        category = told["dimension"]["sizeclass"]["category"]
        category["index"] = sorted(category["index"], key=category["index"].get)
        del told["dimension"]["freq"]["category"]["index"]

    found, expected = (reads(domain, data, ".json") for data in (estat(listed), json_stat(TEXT)))
    assert errors(found) == ""
    np.testing.assert_array_equal(found.table.value, expected.table.value)


def test_statuses_of_json_stat_are_those_of_the_tsv(domain):
    def missing(told: dict) -> None:
        told["status"] = {taken(told): "bz"} | {
            place: ":" for place, value in list(told["value"].items()) if value == 100
        }
        for place, said in told["status"].items():
            if said == ":":
                del told["value"][place]

    found = reads(domain, estat(missing), ".json")
    assert errors(found) == ""
    assert int((~found.table.available).sum()) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda told: put(told, "note", ["Some values are confidential"]),
        lambda told: put(told["dimension"]["sizeclass"]["category"], "note", {"S": ["hidden"]}),
        lambda told: told["extension"]["annotation"].append({"type": "FLAGS", "text": "hidden"}),
    ],
)
def test_a_note_of_json_stat_is_not_read_and_said(domain, change):
    found = reads(domain, estat(change), ".json")
    assert found.accepted
    assert [(each.code, each.severity) for each in found.findings] == [("140", Severity.WARNING)]
