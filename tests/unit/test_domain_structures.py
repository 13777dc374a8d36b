"""Code lists of a domain out of structure messages of SDMX-ML."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.domains.codelists import read_codelist
from sdc_tasks.errors import InvalidInput
from support.deliveries import DOMAIN, small_domain

ACTIVITIES = [("TOTAL", "Total", None), ("C", "Manufacturing", "TOTAL"), ("D", "Electricity", "TOTAL")]
SIZES = [("_T", "All", None), ("S", "Small", "_T"), ("L", "Large", "_T")]
SPACE = "http://www.sdmx.org/resources/sdmxml/schemas/v2_1"


def written(version: str = "2_1") -> str:
    """Two code lists as registries write them: names in two languages; the parent is an
    element in 2.1, a text since 3.0.
    """
    lists = []
    for name, codes in (("CL_ACTIVITY", ACTIVITIES), ("CL_SIZE", SIZES)):
        items = []
        for code, label, parent in codes:
            above = (
                f'<str:Parent><Ref id="{parent}"/></str:Parent>'
                if version == "2_1"
                else f"<str:Parent>{parent}</str:Parent>"
            )
            names = (
                f'<com:Name xml:lang="de">{label} (de)</com:Name><com:Name xml:lang="en">{label}</com:Name>'
            )
            items.append(f'<str:Code id="{code}">{names}{above if parent else ""}</str:Code>')
        lists.append(
            f'<str:Codelist id="{name}" agencyID="NSI" version="1.0"><com:Name '
            f'xml:lang="en">List</com:Name>{"".join(items)}</str:Codelist>'
        )
    space = SPACE.replace("2_1", version)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<mes:Structure xmlns:mes="{space}/message" '
        f'xmlns:str="{space}/structure" '
        f'xmlns:com="{space}/common"><mes:Header><mes:ID>X</mes:ID></mes:Header><mes:Structures><str:Codelists>{"".join(lists)}'
        "</str:Codelists></mes:Structures></mes:Structure>"
    )


def with_structure(folder: Path, text: str, activity: str = ", codelist_id: CL_ACTIVITY") -> Domain:
    small_domain(folder)
    (folder / "lists.xml").write_text(text)
    changed = DOMAIN.replace("codelist: activities.csv", f"codelist: lists.xml{activity}")
    (folder / "small.yaml").write_text(
        changed.replace("codelist: sizes.csv", "codelist: lists.xml, codelist_id: CL_SIZE")
    )
    return load_domain(folder / "small.yaml")


@pytest.mark.parametrize("version", ["2_1", "3_0", "3_1"])
def test_a_structure_message_gives_the_same_cells_as_csv(tmp_path, version):
    expected = small_domain(tmp_path).space.national_keys
    found = with_structure(tmp_path, written(version))
    assert found.space.national_keys == expected
    assert ("C", "Manufacturing") in [
        (row.code, row.label) for row in read_codelist(tmp_path / "lists.xml", "ACTIVITY", "CL_ACTIVITY")
    ]


@pytest.mark.parametrize(
    ("change", "activity", "message"),
    [
        (
            lambda text: text,
            "",
            "several code lists. Remedy: say which as codelist_id: one of CL_ACTIVITY, CL_SIZE",
        ),
        (
            lambda text: text,
            ", codelist_id: CL_X",
            "no code list CL_X. Remedy: name one of CL_ACTIVITY, CL_SIZE",
        ),
        (
            lambda text: text.replace("CL_SIZE", "CL_ACTIVITY"),
            ", codelist_id: CL_ACTIVITY",
            "code list CL_ACTIVITY stands twice",
        ),
        (lambda text: text[:-40], ", codelist_id: CL_ACTIVITY", "not well-formed XML"),
        (
            lambda text: "<!DOCTYPE a>" + text.partition("?>")[2],
            ", codelist_id: CL_ACTIVITY",
            "a document type",
        ),
        (lambda text: "<a/>", ", codelist_id: CL_ACTIVITY", "no structure message of SDMX-ML"),
        (
            lambda text: f'<m:Structure xmlns:m="{SPACE}/message"/>',
            ", codelist_id: CL_ACTIVITY",
            "no code list. Remedy",
        ),
        (lambda text: text.replace(">Manufacturing<", ">=1+1<"), ", codelist_id: CL_ACTIVITY", "=1"),
        (lambda text: text.replace('"C"', '"D"'), ", codelist_id: CL_ACTIVITY", "D"),
    ],
)
def test_a_structure_message_that_leaves_a_doubt_is_refused(tmp_path, change, activity, message):
    with pytest.raises(InvalidInput) as caught:
        with_structure(tmp_path, change(written()), activity)
    assert message in str(caught.value)


def test_a_csv_file_has_no_identifier(tmp_path):
    with pytest.raises(InvalidInput, match="a CSV file holds one code list"):
        small_domain(tmp_path, "codelist: sizes.csv", "codelist: sizes.csv, codelist_id: CL_SIZE")
