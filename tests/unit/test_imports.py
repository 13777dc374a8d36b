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
    "rich.console",
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


def test_a_notebook_waits_for_no_decomposition():
    """`sp.linalg` and `sp.csgraph` load where they are first called, as `scipy.linalg` does."""
    late = {"scipy.linalg", "scipy.sparse.csgraph", "scipy.sparse.linalg"}
    assert (
        _printed(f"import sys, sdc_tasks; sdc_tasks.suppress\nprint(*sorted({late} & set(sys.modules)))")
        == []
    )


def test_a_worker_holds_nothing_that_few_tasks_need():
    """Every worker loads the steps and what writes their results, and keeps what they load as long as it
    runs.
    """
    few = {
        "great_expectations",
        "matplotlib",
        "pandas",
        "psycopg",
        "scipy.optimize",
        "scipy.special",
        "scipy.stats",
        "sdc_tasks.methods.rounding.release",
        "sdc_tasks.methods.suppression.engine",
    }
    assert (
        _printed(f"import sys, sdc_tasks.steps, sdc_tasks.outputs\nprint(*sorted({few} & set(sys.modules)))")
        == []
    )


def test_the_list_of_commands_does_not_look_at_packages():
    script = f"""
import atexit, sys
from sdc_tasks.cli import main
atexit.register(lambda: print(*sorted({HEAVY | {"importlib.metadata"}} & set(sys.modules)), file=sys.stderr))
sys.argv = ["sdc", "--help"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stderr.split() == []


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
