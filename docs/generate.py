"""Writes the pages that are made from the program: domain-file.md, cli.md, file-states.md with its picture,
api.md; into method.md and protection.md which tests hold the rules of each section (tested.yaml); and into
argus.md what becomes of rules, commands and arguments of τ-ARGUS (argus.yaml). With --check: says which are
out of date.

python docs/generate.py [--check]
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import importlib
import inspect
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import typer
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import sdc_tasks
from sdc_tasks.argus.methods import ALWAYS, METHODS
from sdc_tasks.cli.app import app
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.lifecycle import (
    ACTIONS,
    EVENTS,
    IMPOSSIBLE,
    STATES,
    TRANSITIONS,
    Action,
    Event,
    FileState,
)

HERE = Path(__file__).parent
TESTS = Path(sdc_tasks.__file__).parents[1] / "tests"
MADE = "<!-- Made by docs/generate.py from the program (`make docs-pages`). Change it there. -->\n\n"


# --- the domain file ----------------------------------------------------------------------------------------


def domain_file() -> str:
    """Every key of a domain file: a section for each model, in the order in which the file refers to them."""
    parts = [
        "# Domain file: every key",
        "A domain file is YAML. It holds everything about one statistical domain that is not code. A key "
        "that is not listed here is "
        "refused by name. `sdc_tasks/domains/sbs.yaml` is an example; the [tutorial](tutorial.md) explains "
        "another one.",
    ]
    for model in reachable(Domain):
        parts += [f"(key-{model.__name__.lower()})=\n## {title(model)}", prose(model.__doc__), keys(model)]
    return MADE + "\n\n".join(parts) + "\n"


def reachable(first: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that a domain file is made of, breadth first."""
    found = [first]
    for model in found:
        for field in model.model_fields.values():
            found += [inner for inner in models_in(field.annotation) if inner not in found]
    return found


def models_in(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for inner in get_args(kind):
        yield from models_in(inner)


def title(model: type[BaseModel]) -> str:
    """Where a domain file has it: `cta.ladder`, `flags.rule`."""
    return (
        "The file"
        if model is Domain
        else ", ".join(f"`{place}`" for place in places(model)) + told_apart(model)
    )


def places(model: type[BaseModel]) -> list[str]:
    found: list[str] = []

    def walk(outer: type[BaseModel], path: tuple[str, ...]) -> None:
        for name, field in outer.model_fields.items():
            for inner in models_in(field.annotation):
                here = (*path, field.alias or name)
                if inner is model and ".".join(here) not in found:
                    found.append(".".join(here))
                walk(inner, here)

    walk(Domain, ())
    return found


def told_apart(model: type[BaseModel]) -> str:
    """` with kind: p_percent`, where one of several models stands in one place."""
    for name in ("kind", "method"):
        field = model.model_fields.get(name)
        if (
            field is not None
            and get_origin(field.annotation) is Literal
            and len(get_args(field.annotation)) == 1
        ):
            return f" with `{name}: {get_args(field.annotation)[0]}`"
    return ""


def keys(model: type[BaseModel]) -> str:
    rows = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        rows.append(
            f"| `{field.alias or name}` | {cell(type_of(field))} | {cell(default_of(field))} | "
            f"{cell(field.description or '')} |"
        )
    return "\n".join(rows)


def type_of(field: FieldInfo) -> str:
    limits = [f"{sign} {value:g}" for item in field.metadata for sign, value in limits_of(item)]
    return ", ".join([words(field.annotation), *limits])


def limits_of(item: Any) -> Iterator[tuple[str, float]]:
    for name, sign in (("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤")):
        value = getattr(item, name, None)
        if isinstance(value, (int, float)):
            yield sign, value


def words(kind: Any) -> str:
    """A type as somebody who writes YAML knows it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return words(inner[0])
    if origin is Literal:
        return " · ".join(f"`{value}`" for value in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(words(each) for each in inner if each is not type(None)))
    if origin in (tuple, list):
        return f"list of {words(inner[0])}"
    if origin is dict:
        return f"map from {words(inner[0])} to {words(inner[1])}"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"[{told_apart(kind).removeprefix(' with ') or 'keys'}](#key-{kind.__name__.lower()})"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return " · ".join(f"`{each.value}`" for each in kind)
    return {
        "str": "text",
        "int": "whole number",
        "float": "number",
        "bool": "true or false",
        "datetime": "instant",
    }.get(kind.__name__, kind.__name__)


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "*required*"
    value = field.default if field.default is not PydanticUndefined else None
    if value is None:
        return "–"
    if isinstance(value, BaseModel):
        return "its defaults"
    if isinstance(value, enum.Enum):
        return f"`{value.value}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`" if value else "empty"
    return f"`{value}`" if value != "" else "empty"


# --- the command line ---------------------------------------------------------------------------------------


OPTION_TYPES = {
    "int": "whole number",
    "int range": "whole number",
    "float": "number",
    "float range": "number",
    "str": "text",
    "boolean": "flag",
}


def command_line() -> str:
    """Every command and option."""
    group = typer.main.get_command(app)
    parts = [
        "# Command line: every command and option",
        "How they belong together, with examples: [at a shell](shell.md).",
    ]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        rows = ["| | type | default | meaning |", "|---|---|---|---|"]
        for parameter in command.params:
            if parameter.name == "help":
                continue
            many = parameter.multiple or parameter.nargs == -1
            shown = (
                parameter.name.upper()
                if parameter.param_type_name == "argument"
                else ", ".join(parameter.opts)
            )
            default = "*required*" if parameter.required else given(parameter.default)
            told = (
                (parameter.type.get_metavar(parameter, typer.Context(command)) or parameter.type.name)
                .strip("<>")
                .removeprefix("list[")
                .removesuffix("]")
                .lower()
            )
            kind = OPTION_TYPES.get(told, told) + (", repeatable" if many else "")
            rows.append(f"| `{shown}` | {cell(kind)} | {cell(default)} | {cell(parameter.help or '')} |")
        parts += [
            f"## sdc {name}",
            prose("\n\n".join(" ".join(each.split("\n")) for each in command.help.split("\n\n"))),
            "\n".join(rows) if len(rows) > 2 else "It has no options.",
        ]
    return MADE + "\n\n".join(parts) + "\n"


def given(value: Any) -> str:
    if value is None or callable(value) or value == ():
        return "–"
    if isinstance(value, enum.Enum):
        value = value.value
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


# --- the API ------------------------------------------------------------------------------------------------

# What somebody calls who writes a program of his own, in the order of a release.
PUBLIC = (
    "sdc_tasks.api",
    "sdc_tasks.pipeline",
    "sdc_tasks.releases.assembly",
    "sdc_tasks.releases.gate",
    "sdc_tasks.releases.certificate",
    "sdc_tasks.steps",
    "sdc_tasks.domains",
    "sdc_tasks.intake",
    "sdc_tasks.checks",
    "sdc_tasks.methods.attack",
    "sdc_tasks.methods.bases.policy",
    "sdc_tasks.methods.bases.rules",
    "sdc_tasks.methods.cta.model",
    "sdc_tasks.methods.cta.engine",
    "sdc_tasks.methods.cta.run",
    "sdc_tasks.methods.rounding.release",
    "sdc_tasks.methods.suppression.engine",
    "sdc_tasks.model.sensitive",
    "sdc_tasks.methods.suppression.pattern.result",
    "sdc_tasks.methods.suppression.pattern.run",
    "sdc_tasks.methods.rounding.small_count",
    "sdc_tasks.judge.adjusted",
    "sdc_tasks.judge.pattern",
    "sdc_tasks.judge.release",
    "sdc_tasks.report",
    "sdc_tasks.warehouse.reader",
    "sdc_tasks.warehouse.dissemination.publisher",
    "sdc_tasks.model.table",
    "sdc_tasks.model.problem",
    "sdc_tasks.model.results",
    "sdc_tasks.errors",
)


def api() -> str:
    """The docstrings of what the public modules offer."""
    parts = [
        "# API",
        "What a program of your own may call. Begin with `sdc_tasks.pipeline`: it is a release as pure "
        "functions. Everything is typed; "
        "arrays are NumPy arrays, and shapes stand in the docstrings.",
    ]
    for name in PUBLIC:
        module = importlib.import_module(name)
        parts += [f"## {name}", prose(module.__doc__)]
        for each, item in offered(module):
            parts += [
                f"### {name.removeprefix('sdc_tasks.')}.{each}",
                f"```python\n{signature(each, item)}\n```",
                prose(inspect.getdoc(item)),
            ]
    return MADE + "\n\n".join(part for part in parts if part) + "\n"


def offered(module: types.ModuleType) -> list[tuple[str, Any]]:
    """Classes and functions: of a package what `__all__` names, of a module its own public
    ones, in the order of the source.
    """
    if names := getattr(module, "__all__", None):
        found = [(each, getattr(module, each)) for each in names]
    else:
        found = [
            (each, item)
            for each, item in vars(module).items()
            if not each.startswith("_") and getattr(item, "__module__", "") == module.__name__
        ]
    return [(each, item) for each, item in found if inspect.isclass(item) or inspect.isfunction(item)]


def signature(name: str, item: Any) -> str:
    """As the source has it, with the types as they are written."""
    if inspect.isclass(item):
        fields = dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()
        bases = [base.__name__ for base in item.__bases__ if base is not object]
        head = f"class {name}({', '.join(bases)})" if bases else f"class {name}"
        return "\n".join(
            [
                head,
                *(
                    f"    {field.name}: {written(field.type)}"
                    for field in fields
                    if not field.name.startswith("_")
                ),
            ]
        )
    told = inspect.signature(item)
    shown = [
        str(each.replace(default=inspect.Parameter.empty, annotation=inspect.Parameter.empty))
        + annotation(each)
        for each in told.parameters.values()
    ]
    line = f"def {name}({', '.join(shown)}) -> {written(told.return_annotation)}"
    if len(line) <= 90:  # as wide as a page
        return line
    return "\n".join(
        [f"def {name}(", *(f"    {each}," for each in shown), f") -> {written(told.return_annotation)}"]
    )


def annotation(parameter: inspect.Parameter) -> str:
    kind = "" if parameter.annotation is inspect.Parameter.empty else f": {written(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return kind
    default = parameter.default
    short = repr(default) if len(repr(default)) < 30 and " at 0x" not in repr(default) else "…"
    return f"{kind} = {default.__name__ if callable(default) else short}"


def written(kind: Any) -> str:
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


# --- what they share ----------------------------------------------------------------------------------------


def prose(text: str | None) -> str:
    """A docstring as Markdown: its indented blocks become literal ones, and nothing of it becomes a heading
    or HTML.
    """
    lines = inspect.cleandoc(text or "").splitlines()
    out: list[str] = []
    literal = False
    for line in lines:
        begins = line.startswith("    ") and not literal and (not out or not out[-1].strip())
        if begins:
            out.append("```text")
            literal = True
        elif literal and line.strip() and not line.startswith("    "):
            while out and not out[-1].strip():
                out.pop()
            out += ["```", ""]
            literal = False
        out.append(line[4:] if literal else safe(line))
    if literal:
        out.append("```")
    return "\n".join(out)


def safe(line: str) -> str:
    """Signs of the papers that Markdown would take for its own, outside of code."""
    pieces = line.split("`")
    return "`".join(
        re.sub(r"([*_<>\[\]#|])", r"\\\1", piece) if i % 2 == 0 else piece for i, piece in enumerate(pieces)
    )


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# --- the states of a file -----------------------------------------------------------------------------------

# The centre of each state in the picture, and the size of a box, in pixels.
PLACES = {
    FileState.NEW: (70, 230),
    FileState.RECEIVED: (280, 230),
    FileState.WAITING: (280, 450),
    FileState.ACCEPTED: (720, 50),
    FileState.REFUSED: (740, 400),
    FileState.SUPERSEDED: (960, 230),
}
WIDTH, HEIGHT = 120, 40
BEND = 26  # how far an arrow bends to its left, so that two of opposite directions lie apart


def file_states() -> str:
    """The states of a file, what happens in each, and what is done."""
    shown = [state for state in FileState if state is not FileState.NEW]
    parts = [
        "# States of a file",
        "A file that a country sends is in one of these states. [Deliveries](deliveries.md) says how names, "
        "versions and answers decide. A picture of the table below, without the events that change no state:",
        "![States of a file and the events between them](img/file-states.svg)",
        rows(["state", "meaning"], [[f"**{state}**", meaning] for state, meaning in STATES.items()]),
        "A new file is received when it *arrived*. Then each event leads to a state, and something is done. "
        "– : cannot come.",
        rows(
            ["event", "what happens", *(str(state) for state in shown)],
            [
                [f"*{event}*", EVENTS[event], *(then(state, event) for state in shown)]
                for event in Event
                if event is not Event.ARRIVED
            ],
        ),
        rows(["action", "what is done"], [[str(action), ACTIONS[action]] for action in Action]),
        "What cannot come, and why:",
        rows(
            ["state", "event", "why"],
            [
                [str(state), str(event), why]
                for (state, event), why in IMPOSSIBLE.items()
                if state in shown and event is not Event.ARRIVED
            ],
        ),
    ]
    return MADE + "\n\n".join(parts) + "\n"


def rows(head: list[str], body: list[list[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def then(state: FileState, event: Event) -> str:
    """The next state and the action, as a cell of the table."""
    found = TRANSITIONS.get((state, event))
    if found is None:
        return "–"
    return "stays" if found.action is Action.LEAVE else f"**{found.to}**: {found.action}"


def file_states_picture() -> str:
    """The states as boxes, and an arrow for each pair of states with the events that lead from one to the
    other, as SVG.
    """
    arrows: dict[tuple[FileState, FileState], list[str]] = {}
    for (state, event), found in TRANSITIONS.items():
        if state is not found.to:
            arrows.setdefault((state, found.to), []).append(str(event))
    boxes = "\n".join(
        f'<rect x="{x - WIDTH // 2}" y="{y - HEIGHT // 2}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text class="state" x="{x}" y="{y + 5}">{state}</text>'
        for state, (x, y) in PLACES.items()
    )
    lines = "\n".join(arrow(*pair, ", ".join(events)) for pair, events in arrows.items())
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1040 480" role="img" '
        'font-family="sans-serif" font-size="13">\n'
        "<title>States of a file and the events between them</title>\n"
        "<style>rect{fill:#eef3f8;stroke:#345}.state{font-weight:bold;text-anchor:middle}"
        "path{fill:none;stroke:#678}.event{stroke:#fff;stroke-width:4;paint-order:stroke}"
        "</style>\n"
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#678;stroke:none"/></marker></defs>\n'
        '<rect width="1040" height="480" style="fill:#fff;stroke:none"/>\n'
        f"{lines}\n{boxes}\n</svg>\n"
    )


def arrow(start: FileState, end: FileState, label: str) -> str:
    """A curve from box to box, with the label at its middle."""
    (x0, y0), (x1, y1) = PLACES[start], PLACES[end]
    length = math.hypot(x1 - x0, y1 - y0)
    across = (y1 - y0) / length * BEND, (x0 - x1) / length * BEND
    bend = (x0 + x1) / 2 + 2 * across[0], (y0 + y1) / 2 + 2 * across[1]
    (ax, ay), (bx, by) = edge((x0, y0), bend), edge((x1, y1), bend)
    middle = (ax + 2 * bend[0] + bx) / 4, (ay + 2 * bend[1] + by) / 4
    steep = abs(y1 - y0) > 2 * abs(x1 - x0)  # then the label stands beside the curve, not across it
    anchor = ("start" if across[0] > 0 else "end") if steep else "middle"
    return (
        f'<path d="M{ax:.0f} {ay:.0f}Q{bend[0]:.0f} {bend[1]:.0f} {bx:.0f} {by:.0f}" marker-end="url(#end)"/>'
        f'<text class="event" text-anchor="{anchor}" x="{middle[0]:.0f}" y="{middle[1] + 4:.0f}">'
        f"{label}</text>"
    )


def edge(centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Where the line from the centre of a box towards a point leaves the box."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    reach = min(WIDTH / 2 / abs(dx) if dx else math.inf, HEIGHT / 2 / abs(dy) if dy else math.inf)
    return centre[0] + dx * reach, centre[1] + dy * reach


# --- which tests hold a rule --------------------------------------------------------------------------------

BEGIN, END = "<!-- Tests of this section, from docs/tested.yaml -->", "<!-- End of the tests -->"


def with_tests(page: str) -> str:
    """A page with a table of its tests at the end of each section. Raises ValueError for a section without
    tests, a section that the page does not have, and a test that does not exist.
    """
    told: dict[str, dict[str, list[str]]] = yaml.safe_load((HERE / "tested.yaml").read_text("utf-8"))[page]
    text = (HERE / page).read_text(encoding="utf-8")
    plain = re.sub(rf"\n{re.escape(BEGIN)}\n.*?{re.escape(END)}\n", "", text, flags=re.DOTALL)
    head, *sections = re.split(r"^(?=## )", plain, flags=re.MULTILINE)
    titles = [section.partition("\n")[0].removeprefix("## ") for section in sections]
    if titles != list(told):
        raise ValueError(f"{page}: tested.yaml has other sections: {sorted({*titles} ^ {*told})}")
    made = [
        f"{section.rstrip()}\n\n{tests_of(told[title])}\n"
        for title, section in zip(titles, sections, strict=True)
    ]
    return head + "\n".join(made)


def tests_of(rules: dict[str, list[str]]) -> str:
    """The table of a section, between two comments."""
    if not rules or not all(rules.values()):
        raise ValueError(f"a section or a rule without tests: {rules}")
    for each in [each for tests in rules.values() for each in tests]:
        refuse_no_test(each, "tested.yaml")
    table = rows(
        ["rule", "where this is tested: `pytest tests/` …"],
        [[cell(rule), ", ".join(f"`{each}`" for each in tests)] for rule, tests in rules.items()],
    )
    return f"{BEGIN}\n\n{table}\n\n{END}"


def refuse_no_test(named: str, by: str) -> None:
    """Raises ValueError where a file names a test that does not exist."""
    name, _, word = named.partition(" -k ")
    path = TESTS / name
    if not path.is_file() or not re.search(rf"^def test_\w*{word}", path.read_text("utf-8"), re.MULTILINE):
        raise ValueError(f"{by}: there is no test {named}")


# --- what becomes of a batch of τ-ARGUS ---------------------------------------------------------------------

RULES_BEGIN, RULES_END = "<!-- From docs/argus.yaml and the program -->", "<!-- End of the rules -->"
OF_ARGUMENTS = "unit/test_argus_options.py -k argument_of_a_method"


def batch_rules() -> str:
    """argus.md with its table of rules, commands, and the arguments of methods."""
    told = yaml.safe_load((HERE / "argus.yaml").read_text("utf-8"))
    body = []
    for row in told:
        for test in row["tests"]:
            refuse_no_test(test, "argus.yaml")
        line = row["line"].replace("|", "\\|")
        body.append(
            [f"`{line}`", row["verdict"], row["how"], ", ".join(f"`{each}`" for each in row["tests"])]
        )
    refuse_no_test(OF_ARGUMENTS, "argus.yaml")
    for name, method in METHODS.items():
        for argument in method.arguments:
            verdict = (
                "honoured" if not argument.ours else "stricter" if argument.ours == ALWAYS else "otherwise"
            )
            body.append([f"{name}: {argument.name}", verdict, argument.ours, f"`{OF_ARGUMENTS}`"])
    table = rows(["rule, command or argument", "is", "how", "where this is tested: `pytest tests/` …"], body)
    text = (HERE / "argus.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(RULES_BEGIN)
    if not rest:
        raise ValueError(f"argus.md: the line {RULES_BEGIN} is missing, where the table of rules stands")
    return f"{before}{RULES_BEGIN}\n\n{table}\n\n{RULES_END}{rest.partition(RULES_END)[2]}"


PAGES: dict[str, Callable[[], str]] = {
    "argus.md": batch_rules,
    "domain-file.md": domain_file,
    "cli.md": command_line,
    "file-states.md": file_states,
    "img/file-states.svg": file_states_picture,
    "method.md": lambda: with_tests("method.md"),
    "protection.md": lambda: with_tests("protection.md"),
    "api.md": api,
}


# In the repository; the API changes with every docstring, and is made for the site alone.
KEPT = tuple(name for name in PAGES if name != "api.md")


def stale() -> list[str]:
    """The pages that are kept and say something else than the program."""
    return [
        name
        for name in KEPT
        if not (HERE / name).is_file() or (HERE / name).read_text(encoding="utf-8") != PAGES[name]()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        if old := stale():
            sys.exit(f"out of date: {', '.join(old)}. Remedy: make docs-pages")
        return
    for name, made in PAGES.items():
        (HERE / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
