"""The tolerances stand in one module, are few, and keep the order that proofs rest on."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import sdc_tasks
from sdc_tasks.model import tolerances
from sdc_tasks.model.tolerances import ORDER, Order

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 1e-4  # larger numbers are options of a search
VALUES = {name: value for name, value in vars(tolerances).items() if isinstance(value, float)}


def broken(values: Mapping[str, float]) -> list[Order]:
    """The pairs that these values break."""
    return [each for each in ORDER if not each.times * values[each.smaller] < values[each.larger]]


def literals(text: str) -> Iterator[tuple[int, float]]:
    """(line, value) of every float up to `LARGEST`, or as near to 1, that is written in a program."""
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, float) and 0 < min(value, abs(value - 1)) <= LARGEST:
            yield node.lineno, value


def test_there_are_few() -> None:
    assert len(VALUES) <= 20


def test_the_order_holds() -> None:
    assert broken(VALUES) == []


@pytest.mark.parametrize("pair", ORDER, ids=lambda pair: f"{pair.smaller}<{pair.larger}")
def test_a_pair_that_is_exchanged_is_noticed(pair: Order) -> None:
    exchanged = VALUES | {pair.smaller: VALUES[pair.larger], pair.larger: VALUES[pair.smaller]}
    assert pair in broken(exchanged)
    assert pair.why


def test_every_tolerance_has_its_place_in_the_order() -> None:
    assert {name for each in ORDER for name in each[:2]} == set(VALUES)


def test_every_tolerance_says_what_it_is_relative_to_and_is_used() -> None:
    lines = Path(tolerances.__file__).read_text().splitlines()
    assert {line.split(" = ")[0] for line in lines if " = " in line and "  # " in line} == set(VALUES)
    used = {
        alias.name
        for path in (ROOT / "sdc_tasks").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == tolerances.__name__
        for alias in node.names
    }
    assert used == set(VALUES)


def test_no_tolerance_is_written_elsewhere() -> None:
    """Not as a literal, and not within 1 - 1e-6."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {value}"
        for room in ("sdc_tasks", "dags", "plugins")
        for path in sorted((ROOT / room).rglob("*.py"))
        if path != Path(tolerances.__file__)
        for line, value in literals(path.read_text())
    ]
    assert found == []


def test_no_module_gives_a_tolerance_another_name() -> None:
    """A product of tolerances stands where it is used: as a constant it would be one more to know."""
    found = [
        f"{module.__name__}.{name}"
        for info in pkgutil.walk_packages(sdc_tasks.__path__, "sdc_tasks.")
        if not info.name.endswith("__main__")
        for module in [importlib.import_module(info.name)]
        for name, value in vars(module).items()
        if isinstance(value, float) and 0 < abs(value) <= LARGEST and VALUES.get(name) != value
    ]
    assert found == []


@pytest.mark.parametrize(("text", "seen"), [("x = 1e-9", 1), ("def f(a=0.999999): ...", 1), ("x = 1e-3", 0)])
def test_a_literal_is_seen(text: str, seen: int) -> None:
    assert len(list(literals(text))) == seen
