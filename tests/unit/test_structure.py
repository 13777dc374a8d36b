"""The house keeps its shape: no class with two meanings, arrows that point one way.

Arrows inside `sdc_tasks` are import contracts (pyproject.toml); here is what these do not see.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sdc_tasks.warehouse.dissemination.lineage import PACKAGES

ROOT = Path(__file__).parents[2]
ROOMS = ("sdc_tasks", "dags", "plugins", "docker")
TOOLS = ("benchmarks", "mutants")
OF_TOOLS = tuple(f"tests/{room}/" for room in TOOLS)
CHOICES = (
    {"cbc", "highs"},
    {"auto", "milp", "bcd", "benders"},
    {"exact", "paths", "cover"},
    {"frequency", "distance"},
    {"paper", "fast", "best"},
    {"external", "internal", "coalition"},
)
NAMED_IN = {
    "sdc_tasks/solver/names.py",
    "sdc_tasks/methods/cta/names.py",
    "sdc_tasks/methods/suppression/names.py",
    "sdc_tasks/methods/rounding/names.py",
}


@cache
def modules(room: str = "") -> tuple[tuple[str, ast.Module], ...]:
    """(path, syntax) of every module of a room, or of the product."""
    if not room:
        return tuple(each for top in ROOMS for each in modules(top))
    found = sorted((ROOT / room).rglob("*.py"))
    return tuple(
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in found
    )


@cache
def nodes(syntax: ast.Module) -> tuple[ast.AST, ...]:
    """All of a module: the tests of this file ask for it many times over."""
    return tuple(ast.walk(syntax))


def imported(syntax: ast.Module) -> set[str]:
    """The top-level packages that a module imports, wherever it does."""
    found = set()
    for node in nodes(syntax):
        if isinstance(node, ast.Import):
            found |= {each.name.split(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_a_public_class_has_a_name_of_its_own():
    where: dict[str, list[str]] = defaultdict(list)
    for path, syntax in modules("sdc_tasks"):
        for node in syntax.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(path)
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


@pytest.mark.parametrize("room", ["sdc_tasks", "plugins", "dags"])
def test_no_package_hides_a_module_behind_a_name(room):
    """`from package import name` must not mean a function for one reader and the module of that name for
    another.
    """
    hidden = []
    for path, syntax in modules(room):
        if not path.endswith("__init__.py"):
            continue
        folder = (ROOT / path).parent
        inside = {
            each.stem for each in folder.iterdir() if each.suffix == ".py" or (each / "__init__.py").is_file()
        }
        for node in syntax.body:
            if isinstance(node, ast.ImportFrom):
                hidden += [
                    f"{path}: {each.asname or each.name}"
                    for each in node.names
                    if (each.asname or each.name) in inside
                ]
    assert hidden == []


def test_choices_are_named_once():
    """A literal that lists the solvers, the methods or the profiles again would miss the next one."""
    twice = []
    for path, syntax in modules():
        for node in nodes(syntax):
            if isinstance(node, ast.Tuple | ast.List | ast.Set):
                words = {each.value for each in node.elts if isinstance(each, ast.Constant)}
                if any(choice <= words for choice in CHOICES) and path not in NAMED_IN:
                    twice.append(f"{path}:{node.lineno}")
    assert twice == []


def test_airflow_is_known_to_dags_and_plugins_alone():
    assert [path for path, syntax in modules("sdc_tasks") if "airflow" in imported(syntax)] == []


def test_only_the_package_imports_solvers():
    """Inside it an import contract says which modules may: the room of solvers, and the judge of patterns."""
    solvers = {"cylp", "highspy", "pulp"}
    outside = [each for room in ROOMS[1:] for each in modules(room)]
    assert [path for path, syntax in outside if imported(syntax) & solvers] == []


def test_ids_cover_the_version_of_every_solver():
    """A release computed by another version of a solver is another release."""
    used = set().union(
        *(imported(syntax) for path, syntax in modules("sdc_tasks") if path.startswith("sdc_tasks/solver/"))
    )
    libraries = {
        name for name in used if importlib.util.find_spec(name) and name not in sys.stdlib_module_names
    } - {"sdc_tasks"}
    assert {"cylp", "highspy", "pulp"} <= libraries
    assert libraries - {"psutil"} <= set(PACKAGES)  # psutil stops a process, and computes nothing


def test_arrows_between_the_rooms_point_one_way():
    """DAGs stand on plugins, plugins on the package; what runs the servers stands beside them."""
    mine = {
        room: {path.stem for path in (ROOT / room).iterdir() if path.suffix == ".py" or path.is_dir()}
        for room in ROOMS[1:]
    }
    forbidden = {
        "sdc_tasks": mine["dags"] | mine["plugins"] | mine["docker"],
        "plugins": mine["dags"] | mine["docker"],
        "dags": mine["docker"],
        "docker": mine["plugins"],
    }
    back = [
        (path, found)
        for room, others in forbidden.items()
        for path, syntax in modules(room)
        if (found := imported(syntax) & others)
    ]
    assert back == []


def test_the_plugins_are_what_airflow_loads():
    """The plugin itself, what it registers or these need, and the triggers. What the
    DAGs alone need lies with the DAGs.
    """
    own = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "plugins").glob("*.py")}
    needed = {name for syntax in own.values() for name in imported(syntax)}
    triggers = {
        name
        for name, syntax in own.items()
        for node in syntax.body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id.endswith("EventTrigger") for base in node.bases)
    }
    assert set(own) - needed - triggers == {"sdc_plugin"}


def test_tests_import_no_other_test_but_what_lies_in_support():
    """A helper is a module of `tests/support`, by its full name; benchmarks and mutants are
    tools, and packages of their own.
    """
    rooms = {path for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name not in TOOLS}
    tests = (
        {path.stem for room in rooms for path in room.rglob("*.py")}
        | {room.name for room in rooms}
        | {"conftest", "tests"}
    )
    others = tests - {"support"} - {path.stem for path in (ROOT / "docker").glob("*.py")}
    found = [
        (path, inside)
        for path, syntax in modules("tests")
        if not path.startswith(OF_TOOLS) and (inside := imported(syntax) & others)
    ]
    assert found == []


def test_a_room_of_tests_holds_tests_alone():
    """What is no test is found by nobody there, and is imported by a name that another room may have too."""
    kept = ("test_", "conftest.py", "__init__.py")
    rooms = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - {"support", *TOOLS}
    assert [
        path
        for path, _ in modules("tests")
        if path.split("/")[1] in rooms and not path.rsplit("/", 1)[1].startswith(kept)
    ] == []


def of_the_product() -> set[str]:
    """The top-level names by which a test imports the product."""
    return {"sdc_tasks"} | {
        path.stem
        for room in ROOMS[1:]
        for path in (ROOT / room).iterdir()
        if path.suffix == ".py" or path.is_dir()
    }


def private_names(syntax: ast.Module, product: set[str]) -> Iterator[str]:
    """Names with an underscore that a test takes from a module of the product: imported, looked up, or
    replaced.
    """
    known = set()
    for node in nodes(syntax):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in product:
            known |= {each.asname or each.name for each in node.names}
            yield from (each.name for each in node.names if each.name.startswith("_"))
        elif isinstance(node, ast.Import):
            known |= {
                each.asname or each.name.split(".")[0]
                for each in node.names
                if each.name.split(".")[0] in product
            }
    for node in nodes(syntax):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            whose: ast.expr = node.value
            while isinstance(whose, ast.Attribute):
                whose = whose.value
            if isinstance(whose, ast.Name) and whose.id in known:
                yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in {
            "setattr",
            "getattr",
            "delattr",
            "object",
        }:
            yield from (
                each.value
                for each in node.args[1:2]
                if isinstance(each, ast.Constant) and is_private(str(each.value))
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"sdc_\w+(\.\w+)*\._[a-z]\w*", node.value)
        ):
            yield node.value


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_tests_reach_into_no_private_names():
    """What a test needs of the product is public; else it holds the product to its inside."""
    product = of_the_product()
    assert {
        path: found for path, syntax in modules("tests") if (found := sorted(private_names(syntax, product)))
    } == {}


@pytest.mark.parametrize(
    "text",
    [
        "from sdc_tasks.warehouse.dissemination.publisher import _cells",
        "from sdc_tasks.warehouse.dissemination import publisher\npublisher._cells()",
        "import sdc_tasks\nsdc_tasks.warehouse.dissemination.publisher._cells",
        "from sdc_tasks import steps\npatch.setattr(steps, '_x', 1)",
        "patch('sdc_tasks.steps._x')",
    ],
)
def test_a_private_name_is_seen(text):
    assert len(list(private_names(ast.parse(text), {"sdc_tasks"}))) == 1


def test_a_law_says_how_many_examples_it_has_by_law():
    """`settings` of Hypothesis would take as many in `make test` as in `make test-all`, and
    others each time.
    """
    found = [
        path
        for path, syntax in modules("tests")
        for node in ast.walk(syntax)
        if isinstance(node, ast.ImportFrom)
        if node.module == "hypothesis" and "settings" in {each.name for each in node.names}
    ]
    assert set(found) == {"tests/conftest.py", "tests/support/laws.py"}


def test_tests_do_not_sleep():
    """They wait for what they need: `until` of `support/waiting.py`."""
    asleep = set()
    for path, syntax in modules("tests"):
        if not path.startswith(("tests/support/", *OF_TOOLS)):
            for node in nodes(syntax):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr == "sleep"
                ):
                    asleep.add(path)
    assert asleep == set()


def test_nobody_in_support_imports_a_test():
    assert [
        path
        for path, syntax in modules("tests/support")
        if any(name.startswith("test_") for name in imported(syntax))
    ] == []


def test_sql_is_as_narrow_as_the_code():
    """Ruff does not read it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    limit = settings["tool"]["ruff"]["line-length"]
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "sql").rglob("*.sql"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > limit
    ] == []
