"""The names of the solvers of mixed-integer models. Importing this loads no solver;
`milp.py` says what each one does.
"""

from typing import Literal

from sdc_tasks.tested import require_tested

SolverName = Literal["cbc", "highs"]


def require_solver(solver: SolverName) -> None:
    """Raises InvalidInput where the packages of this solver are missing: before a search, not in it."""
    if solver == "cbc":
        require_tested("cbc")
