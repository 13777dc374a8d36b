"""The help of every command: options in four panels, and an example that works.

The examples are those of the docstrings, run as they stand, on the files below. Of commands around a
release, which need one, the options of the example are read, and nothing is done.
"""

from __future__ import annotations

import inspect
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

import sdc_tasks as sdc_api
from sdc_tasks.api import options as keywords
from sdc_tasks.cli.app import app
from sdc_tasks.cli.options import PANELS
from sdc_tasks.model.layout import DEFAULTS, MEANINGS, TableLayout
from support.desk import sdc

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
AROUND_RELEASES = {name for name, command in COMMANDS.items() if command.rich_help_panel == "Around releases"}
TOWNS, JOBS = ("M1", "M2", "M3"), ("P1", "P2", "P3")
VALUES = (20, 24, 28, 38, 38, 40, 40, 39, 42)
KEYS = [(town, job) for town in TOWNS for job in JOBS]
FIRMS = ((90, 9, 4, 2), (60, 30, 20, 10))
FILES = {
    "table.csv": "TOWN,JOB,VALUE,SECRET,LEVEL\n"
    + "".join(
        f"{town},{job},{value},{int((town, job) == ('M2', 'P3'))},10\n"
        for (town, job), value in zip(KEYS, VALUES, strict=True)
    ),
    "primaries.csv": "TOWN,JOB,VALUE,STATUS,LPL,UPL\n"
    + "".join(
        f"{town},{job},{value},{'u,10,10' if (town, job) == ('M2', 'P3') else 's,,'}\n"
        for (town, job), value in zip(KEYS, VALUES, strict=True)
    ),
    "firms.csv": "REGION,BRANCH,VALUE\n"
    + "".join(f"{r},{b},{v}\n" for r in "NS" for b in "CDE" for v in FIRMS[r == "S" or b == "C"]),
    "counted.csv": "REGION,BRANCH,VALUE,COUNT\n"
    + "".join(f"{r},{b},{10 + i},{2 + i}\n" for i, (r, b) in enumerate((r, b) for r in "NS" for b in "CDE")),
    "people.csv": "AGE,SEX,N,ID\n"
    + "".join(f"{i},{s},{(5 * i + len(s)) % 7},{s}{i}\n" for i in range(4) for s in "fm"),
    "table.jj": "\n".join(
        [
            "0",
            "3",
            *(
                f"{i} {value} 1 {status} 0 100 {level} {level} 0"
                for i, (value, status, level) in enumerate([(30, "s", 0), (10, "u", 2), (20, "s", 0)])
            ),
            "1",
            "0 3 : 0 (-1) 1 (1) 2 (1)",
            "",
        ]
    ),
    "m.asc": "x,1,9\nx,1,4\nx,1,3\nx,2,8\nx,2,7\nx,2,9\ny,1,7\ny,1,6\ny,1,9\ny,2,90\n",
    "m.rda": '<SEPARATOR> ","\nA\n <RECODEABLE>\nB\n <RECODEABLE>\nV\n <NUMERIC>\n',
    "secret.hex": "5" * 63 + "6\n",
    "BATCH.arb": '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "A""B"|"V"||\n'
    '<SAFETYRULE> P(10,1)\n<READMICRODATA>\n<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"o.txt")\n',
}


def example_of(name: str) -> list[str]:
    """The words of the example in the help of a command, without `sdc`."""
    found = re.findall(r"^Example: (sdc .*?)$", " ".join(COMMANDS[name].help.split("\n\n")[-1].split()), re.M)
    assert len(found) == 1, name
    return shlex.split(found[0])[1:]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_stands_in_a_panel_in_their_order(name):
    panels = [each.rich_help_panel for each in COMMANDS[name].params if each.param_type_name == "option"]
    assert panels == sorted(panels, key=PANELS.index)


def test_the_help_shows_the_panels_in_their_order():
    told = sdc("audit", "--help").text
    headings = re.findall(r"^([A-Z][a-z]+):$", told, re.M)
    assert headings == [*PANELS, "Options"]
    assert "--domain" in told[told.index("Input:") : told.index("Rules:")]
    assert told.index("--help") > told.index("\nOptions:")


def test_the_help_of_all_shows_each_command_in_its_panel_with_its_first_paragraph():
    told = sdc("--help").text
    ordinary, around = told.partition("Around releases:")[::2]
    for name, command in COMMANDS.items():
        first = command.help.split("\n\n")[0].split()
        shown = (around if name in AROUND_RELEASES else ordinary).partition(f"\n  {name} ")[2].split()
        assert shown[: len(first)] == first, name


def test_the_examples_work_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("recoded", "results", "again"):
        (tmp_path / folder).mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for name in COMMANDS:
        if name not in AROUND_RELEASES:
            example = example_of(name)
            assert example[0] == name
            ended = sdc(*example)
            assert ended.code == 0, (name, ended.text)


@pytest.mark.parametrize("name", sorted(AROUND_RELEASES))
def test_the_options_of_an_example_around_releases_are_those_of_the_command(name):
    command, *given = example_of(name)
    assert command == name
    assert COMMANDS[name].make_context(name, given)


# --- where is what in a table: one declaration ----------------------------------------------------------

WITH_TABLES = ("suppress", "protect", "intervals", "recode", "round-table")
FUNCTIONS = (sdc_api.primary, sdc_api.suppress, sdc_api.audit, sdc_api.adjust, sdc_api.round_table)
OTHERWISE = {"total", "hierarchy"}  # a caller gives other types than the layout keeps
OF_ITS_OWN = {"cost"}  # a measure or a column


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_a_function_takes_the_fields_of_a_table_with_their_defaults(function):
    own = {"round_table": {"missing": "zero"}, "audit": {"status": "STATUS"}}.get(function.__name__, {})
    taken, told = inspect.signature(function).parameters, " ".join(function.__doc__.split())
    for name in set(taken) & set(DEFAULTS) - OF_ITS_OWN:
        assert taken[name].default == {**DEFAULTS, **own}[name], name
        if name not in ("value", "count"):
            assert MEANINGS[name] in told, name


def test_the_types_of_keywords_are_those_of_the_fields():
    types = {each.name: each.type for each in fields(TableLayout)}
    groups = [
        each for each in vars(keywords).values() if str(getattr(each, "__name__", "")).endswith("Keywords")
    ]
    assert len(groups) > 6
    for group in groups:
        for name, kind in group.__annotations__.items():
            if name in set(types) - OTHERWISE - OF_ITS_OWN and (group, name) != (
                keywords.AuditKeywords,
                "status",
            ):
                assert kind.__forward_arg__ == types[name], (group, name)
        assert get_type_hints(group)


@pytest.mark.parametrize("name", WITH_TABLES)
def test_a_command_takes_the_fields_of_a_table_by_their_names(name):
    own = {"round-table": {"missing": "zero"}}.get(name, {})
    options = {each.name: each for each in COMMANDS[name].params}
    assert {"dims", "value", "total", "hierarchy"} <= set(options)
    for field in set(options) & set(DEFAULTS) - OF_ITS_OWN:
        assert options[field].opts == [f"--{field.replace('_', '-')}"]
        assert (options[field].default or None) == ({**DEFAULTS, **own}[field] or None), field


@pytest.mark.parametrize(("wrong", "meant"), [("mising", "missing"), ("hierarchies", "hierarchy")])
def test_a_keyword_that_is_none_is_named_with_the_nearest(wrong, meant):
    with pytest.raises(TypeError, match=rf"suppress\(\) .*'{wrong}'; did you mean '{meant}'\?"):
        sdc_api.suppress([], ["R"], **{wrong: None})
