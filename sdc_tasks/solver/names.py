"""The names of the solvers of mixed-integer models. Importing this loads no solver;
`milp.py` says what each one does.
"""

from typing import Literal

SolverName = Literal["cbc", "highs"]
