#!/usr/bin/env bash
# OR-Tools 9.15.6755, PDLP: a total and its three parts, each at least a given value, are called infeasible.
# GLOP, Clp and SCIP find the optimum.
# Why it matters: a first-order method is tempting for large tables. Its infeasible is no proof: a relation
# that any table can meet was called impossible with values near 1e8.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "ortools==9.15.6755"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
from ortools.linear_solver import pywraplp

NAMES = {pywraplp.Solver.OPTIMAL: "optimal", pywraplp.Solver.INFEASIBLE: "infeasible"}
for name in ("PDLP", "GLOP", "CLP", "SCIP"):
    solver = pywraplp.Solver.CreateSolver(name)
    total, *parts = (solver.NumVar(0, solver.infinity(), str(i)) for i in range(4))
    solver.Add(total == sum(parts))
    for part, least in zip(parts, (123456789.25, 87654321.5, 1e9 / 3)):
        solver.Add(part >= least)
    solver.Minimize(total)
    print(name, NAMES[solver.Solve()], round(total.solution_value(), 2))
PY
diff "$folder/seen" - <<'SEEN'
PDLP infeasible 0.0
GLOP optimal 544444444.08
CLP optimal 544444444.08
SCIP optimal 544444444.08
SEEN
