"""A published table is judged in every format in which we write it: each gives the publication that
`table.csv` gives, or is refused.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given

from sdc_tasks.api.published import told_by
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.results import Publication
from sdc_tasks.report import public_files, read_own, read_table
from sdc_tasks.report.page import metadata_page
from support.laws import law
from support.small_tables import CELLS, DOMAIN, MIXED, VISIBLE, edition, small_domain

TABLES = ("table.csv", "table.xml", "table.json", "table.parquet")
Cells = tuple[tuple[float, ...], ...]


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return small_domain(
        tmp_path_factory.mktemp("small"), DOMAIN + "dissemination: {formats: [sdmx-ml, sdmx-json, parquet]}\n"
    )


def write(domain: Domain, folder: Path, cells: Any = MIXED) -> dict[str, bytes]:
    found = public_files(edition(domain, list(cells)), metadata_page)
    for name in TABLES:
        (folder / name).write_bytes(found[name])
    return found


def read(domain: Domain, path: Path) -> Publication:
    return read_own(path, domain, domain.space, "2024", told_by(path, domain, domain.space))


@law(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CELLS)
def test_texts_give_the_publication_that_was_written(domain: Domain, tmp_path: Path, cells: Cells) -> None:
    wanted = edition(domain, list(cells)).publication.digest
    write(domain, tmp_path, cells)
    for name in ("table.csv", "table.xml", "table.json"):
        path = tmp_path / name
        assert (
            read_table(path, domain, domain.space, "2024", told_by(path, domain, domain.space)).digest
            == wanted
        ), name


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("cells", [MIXED, VISIBLE])
def test_every_format_gives_it_packed_or_not(domain: Domain, tmp_path: Path, name: str, cells: Any) -> None:
    content = write(domain, tmp_path, cells)[name]
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content))
    wanted = edition(domain, list(cells)).publication.digest
    assert [read(domain, path).digest for path in (tmp_path / name, packed)] == [wanted, wanted]


def test_a_line_is_that_of_the_file(domain: Domain, tmp_path: Path) -> None:
    content = write(domain, tmp_path)["table.xml"].decode()
    row = next(line for line in content.splitlines() if 'ROUNDING_BASE="500"' in line)
    (tmp_path / "table.xml").write_text(content.replace(row, f"{row}\n{row}"))
    again = content.splitlines().index(row) + 2
    with pytest.raises(InvalidInput, match=rf"table\.xml, line {again}: .* is already in line {again - 1}"):
        read(domain, tmp_path / "table.xml")


def test_a_column_that_nobody_would_judge_is_refused_with_its_line(domain: Domain, tmp_path: Path) -> None:
    content = write(domain, tmp_path)["table.xml"].decode()
    (tmp_path / "table.xml").write_text(
        content.replace(' ROUNDING_BASE="500"', ' ROUNDING_BASE="500" TRUE_VALUE="1234"')
    )
    with pytest.raises(
        InvalidInput, match=r"table\.xml, line \d+: concept .*An audit judges every column"
    ) as refused:
        read(domain, tmp_path / "table.xml")
    assert "1234" not in str(refused.value)


NOTE = "<com:Annotations><com:Annotation><com:AnnotationText>1234</com:AnnotationText></com:Annotation></com:Annotations>"  # noqa: E501
COUNTRY = '<Group REF_AREA="AT" INDICATOR="TURNOVER" OBS_VALUE="1234"/>'
OBSERVATION = re.compile(r'("[0-9:]*": \[[^]]*)\]')
BESIDE: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a group with a country's value": (
        "table.xml",
        lambda text: text.replace("<Obs ", f"{COUNTRY}<Obs ", 1),
        "OBS_VALUE stands above",
    ),
    "an annotation": (
        "table.xml",
        lambda text: text.replace("<Obs ", f"{NOTE}<Obs ", 1),
        "annotations and comments",
    ),
    "a comment": (
        "table.xml",
        lambda text: text.replace("<Obs ", "<!-- 1234 --><Obs ", 1),
        "annotations and comments",
    ),
    "text": ("table.xml", lambda text: text.replace("<Obs ", "1234<Obs ", 1), "text where none may be"),
    "a value behind the values": (
        "table.json",
        lambda text: OBSERVATION.sub(r"\1, null, 1234]", text, count=1),
        "more values",
    ),
    "an object": (
        "table.json",
        lambda text: text.replace('"action"', '"AT": 1234, "action"'),
        "not read here",
    ),
    "a label": ("table.csv.gz", lambda text: text.replace(",EU,", ",EU: AT = 1234,", 1), "is unknown"),
    "a part of a key": ("table.csv.gz", lambda text: text + part(text), "is a country|is unknown"),
}


def part(text: str) -> str:
    """A record of a country that has a value as its unit, and no key."""
    header, record = (line.split(",") for line in text.splitlines()[:2])
    row = dict.fromkeys(header, "") | dict(zip(header[:3], record[:3], strict=True))
    return ",".join((row | {"TIME_PERIOD": "2024", "REF_AREA": "AT", "UNIT_MEASURE": "1234"}).values()) + "\n"


@pytest.mark.parametrize("how", BESIDE)
def test_a_value_that_stands_beside_the_table_refuses_it(domain: Domain, tmp_path: Path, how: str) -> None:
    name, change, told = BESIDE[how]
    text = write(domain, tmp_path)[name.removesuffix(".gz")].decode()
    assert change(text) != text
    content = change(text).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InvalidInput, match=told):
        read(domain, tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("table.pdf", b"%PDF", "no format has this suffix. Remedy: a table as .csv"),
        ("table.xml", b"<html/>", "no data message of SDMX-ML"),
        ("table.json", b"{", "not well-formed|not JSON|no message"),
        ("table.csv.gz", b"nothing", "not whole"),
        ("table.csv.gz", gzip.compress(b"A,B\n1,2\n"), "not an SDMX-CSV header"),
    ],
)
def test_what_is_no_table_is_refused(
    domain: Domain, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=told):
        read(domain, tmp_path / name)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(domain, tmp_path / "nowhere.xml")
