"""`sdc cta` starts at once: what takes a second to load is loaded by who needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = {"airflow", "great_expectations", "matplotlib", "pandas", "sqlalchemy"}


@pytest.mark.parametrize("module", ["sdc_tasks.cli.app", "sdc_tasks.intake.tables.jj", "sdc_tasks.methods.cta.engine"])
def test_neither_pandas_nor_what_draws_is_loaded(module):
    script = f"import sys, {module}\nprint(*sorted({SLOW} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
