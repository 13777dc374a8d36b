"""The names of the solvers of mixed-integer models, for whoever offers a choice without loading them. What each does: `milp.py`."""

from typing import Literal

SolverName = Literal["cbc", "highs"]
