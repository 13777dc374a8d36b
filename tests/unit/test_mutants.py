"""The tool behind `make mutants`: what it changes, that it changes code alone, and that its list follows the
program.
"""

from __future__ import annotations

import ast

import pytest

from mutants import python, run, statements
from mutants.change import ROOT, Mutant, read
from mutants.listed import LISTED
from mutants.modules import MODULES

SAMPLE = '''"""Not < this."""


def judge(ä: int, b: int = 3) -> bool:
    """Nor == this."""
    if ä < b and not ä:
        raise ValueError(f"{ä == b}")
    told = max(ä, b)
    note(told, b)
    note(np.maximum(ä, b), 1e30)
    return told in (1, b)
'''


def test_every_listed_mutant_is_of_the_program_as_it_is() -> None:
    """Where the code moves on, the list is mended: none of them may fall away unseen."""
    for each in LISTED:
        mutant, text = each.mutant(), read(each.file)
        changed = mutant.applied(text)
        assert changed != text
        if each.file.endswith(".py"):
            ast.parse(changed)
        for test in each.tests:
            file, _, name = test.partition("::")
            assert f"def {name}" in read(file), test
    told = [(each.file, each.old, each.new, each.of) for each in LISTED]
    assert len(told) == len(set(told)) >= 40
    assert f"| {len(told)} changes to triggers" in read("SECURITY.md")


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_what_is_listed_of_a_migration_still_holds(engine: str) -> None:
    """A statement that a later migration replaces guards nothing: whoever changes it changes nothing."""
    alive = statements.live(engine)
    for each in LISTED:
        if f"_{engine}.sql" in each.file:
            mutant = each.mutant()
            assert any(
                file == each.file and start <= mutant.start and mutant.end <= end + 2
                for file, start, end in alive
            ), each


def test_python_is_changed_where_it_is_code() -> None:
    found = python.mutants("sample.py", SAMPLE)
    changed = {(SAMPLE[each.start : each.end], each.new) for each in found}
    assert {
        ("ä < b", "ä <= b"),
        ("ä < b and not ä", "((ä < b) or (not ä))"),
        ("ä < b and not ä", "((not ä))"),
        ("not ä", "(ä)"),
        ('raise ValueError(f"{ä == b}")', "pass"),
        ("max", "min"),
        ("note(told, b)", "pass"),
        ("told, b", "b, told"),
        ("told in (1, b)", "told not in (1, b)"),
        ("return told in (1, b)", "return None"),
        ("3", "4"),
        ("np.maximum", "np.minimum"),
        ("1e30", "2e+30"),
    } <= changed
    assert ("ä, b", "b, ä") not in changed, "that changes nothing"
    for each in found:
        ast.parse(each.applied(SAMPLE))
        assert "this" not in SAMPLE[each.start : each.end]
    assert found == python.mutants("sample.py", SAMPLE)


def test_sql_is_changed_in_statements_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "-- a < b\nCREATE TRIGGER t BEFORE INSERT ON x WHEN NEW.a < 1 AND NEW.b <> 'a < "
        "b' BEGIN\n    SELECT raise(ABORT, 'no');\nEND;"
    )
    monkeypatch.setattr(statements, "read", lambda file: text)
    found = statements.mutants([("t.sql", 0, len(text))])
    changed = {(text[each.start : each.end], each.new) for each in found}
    assert {
        ("<", "<="),
        ("1", "2"),
        ("<>", "="),
        (" AND NEW.b <> 'a < b'", ""),
        ("SELECT raise(ABORT, 'no')", "SELECT 1"),
    } <= changed
    assert [text[each.start : each.end] for each in found].count("<") == 1, "neither the comment nor the text"
    assert any(each.what == "a removed statement" for each in found)


def test_a_function_that_is_replaced_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newer of two migrations holds."""
    gate = "CREATE FUNCTION operations.log_gate() RETURNS trigger LANGUAGE plpgsql AS $$ {} $$;"
    trigger = "CREATE TRIGGER log_gate BEFORE INSERT ON operations.log;"
    texts = {
        "0001.sql": f"{gate.format('first')}\n\n{trigger}",
        "0002.sql": gate.replace("CREATE", "CREATE OR REPLACE").format("second"),
    }
    monkeypatch.setattr(statements, "read", texts.__getitem__)
    made = [texts[file][start:end] for file, start, end in statements.lasting(list(texts))]
    assert made == [trigger, texts["0002.sql"]]


@pytest.mark.parametrize("module", MODULES)
def test_a_sample_is_the_same_for_a_seed_and_of_the_module(module: str) -> None:
    one, same, other = (run.chosen(module, seed, 5) for seed in (1, 1, 2))
    assert one == same != other
    assert len(one) == 5
    for each in one:
        assert all((ROOT / test).exists() for test in each.tests)
        assert each.mutant.applied(read(each.mutant.file)) != read(each.mutant.file)


def test_the_table_has_the_newest_run_of_a_command(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "RESULTS", tmp_path / "RESULTS.md")
    run.note("", 40, 1, 0, "2026-01-01")
    run.note("--module attack", 20, 0, 2, "2026-01-02")
    run.note("", 41, 0, 1, "2026-01-03")
    rows = [line for line in run.RESULTS.read_text().splitlines() if line.startswith("| 2")]
    assert rows == [
        "| 2026-01-03 | `make mutants` | 41 | 41 | 1 | 0 |",
        "| 2026-01-02 | `make mutants ARGS='--module attack'` | 20 | 20 | 2 | 0 |",
    ]


def test_a_diff_names_the_line() -> None:
    mutant = Mutant("sample.py", SAMPLE.index("max"), SAMPLE.index("max") + 3, "min", "another function")
    assert mutant.line(SAMPLE) == 8
    assert mutant.diff(SAMPLE) == "-    told = max(ä, b)\n+    told = min(ä, b)"
