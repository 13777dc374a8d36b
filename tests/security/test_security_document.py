"""SECURITY.md says which test shows which guarantee: each of them is there, and each guarantee has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sdc_tasks.warehouse.database.checks import known_checks
from sdc_tasks.warehouse.database.schema import metadata

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
MARKED = sorted(
    set(re.findall(r"`([^`\n]+)`", re.sub(r"<!-- transcript -->.*?<!-- end -->", "", TEXT, flags=re.DOTALL)))
)
GUARANTEES = TEXT.split("\n## Guarantees\n")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in GUARANTEES.splitlines()
    if line.startswith("|")
]


def test_every_guarantee_says_against_whom_by_which_test_and_up_to_where() -> None:
    head, line, *rows = ROWS
    assert head == ["against", "what", "guarantee", "how", "test", "limit"]
    assert set("".join(line)) == {"-"}
    assert len(rows) > 30
    for row in rows:
        assert len(row) == len(head), row[2]
        assert all(row[:-1]), row[2]
        assert re.search(r"`[a-z_/]*test_[a-z_0-9]+\.py`", row[4]), f"no test: {row[2]}"


@pytest.mark.parametrize("name", [each for each in MARKED if re.fullmatch(r"[\w/.]*\w\.py", each)])
def test_a_test_or_module_that_is_named_is_there(name: str) -> None:
    found = [
        path
        for path in ROOT.rglob(Path(name).name)
        if ".venv" not in path.parts and path.as_posix().endswith(f"/{name}")
    ]
    assert len(found) == 1, found
    if Path(name).name.startswith("test_"):
        assert re.search(r"^def test_", found[0].read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_what_is_named_of_the_program_is_there() -> None:
    """Files, targets of make, commands, tables and checks."""
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    tables = {f"{table.schema}.{table.name}" for table in metadata.sorted_tables}
    for each in MARKED:
        if match := re.match(r"make ([a-z-]+)", each):
            assert match[1] in targets, each
        elif match := re.fullmatch(r"(?:operations|confidential|dissemination)\.[a-z_]+", each):
            functions = "".join(
                path.read_text(encoding="utf-8")
                for path in (ROOT / "sql/migrations").glob("*.postgresql.sql")
            )
            assert each in tables or f"FUNCTION {each}(" in functions or f"VIEW {each} " in functions, each
        elif match := re.match(r"(?:sql|docs|methods|requirements)[\w/.-]*[/.][\w/.-]*", each):
            assert (ROOT / each).exists() or (ROOT / "sdc_tasks" / each).exists(), each


@pytest.mark.parametrize(
    "name", ["account_too_mighty", "payload_overdue", "payload_plain", "release_of_other_cells"]
)
def test_a_check_that_is_named_is_there(name: str) -> None:
    assert f"`{name}`" in TEXT
    assert name in {*known_checks("postgresql"), *known_checks("sqlite")}
