"""The command line starts at once: what takes a second to load is loaded by who needs it.
Modules are counted, not seconds.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = {"airflow", "great_expectations", "matplotlib", "pandas", "sqlalchemy"}
HEAVY = SLOW | {
    "alembic",
    "cryptography",
    "cylp",
    "highspy",
    "jinja2",
    "numpy",
    "psutil",
    "pulp",
    "pyarrow",
    "scipy",
    "yaml",
}


@pytest.mark.parametrize(
    "module", ["sdc_tasks.cli.app", "sdc_tasks.intake.tables.jj", "sdc_tasks.methods.cta.engine"]
)
def test_neither_pandas_nor_what_draws_is_loaded(module):
    script = f"import sys, {module}\nprint(*sorted({SLOW} & set(sys.modules)))"
    assert _printed(script) == []


def test_a_worker_holds_nothing_that_few_tasks_need():
    """Every worker loads the steps and what writes their results, and keeps what they load as long as it
    runs.
    """
    few = {"great_expectations", "matplotlib", "pandas", "scipy.optimize", "scipy.stats"}
    assert (
        _printed(f"import sys, sdc_tasks.steps, sdc_tasks.outputs\nprint(*sorted({few} & set(sys.modules)))")
        == []
    )


def test_no_help_text_loads_what_a_command_works_with():
    script = f"""
import contextlib, io, sys
from typer.main import get_command
from sdc_tasks.cli.app import app
command = get_command(app)
told = io.StringIO()
with contextlib.redirect_stdout(told):
    for arguments in [["--help"], *([name, "--help"] for name in command.commands)]:
        try:
            command(arguments, prog_name="sdc")
        except SystemExit as end:
            assert end.code == 0, arguments
assert told.getvalue().count("Usage: sdc") == 1 + len(command.commands)
print(*sorted({HEAVY} & set(sys.modules)))
"""
    assert _printed(script) == []


def _printed(script: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
