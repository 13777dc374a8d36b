#!/usr/bin/env bash
# OR-Tools 9.15.6755, CP-SAT by way of its linear solver interface: a table in millions of euros has an
# optimal adjusted table; the same table in euros is called infeasible. SCIP adjusts both.
# Why it matters: CP-SAT counts in whole numbers and scales what is not. Infeasible then says nothing of the
# table, but a publisher who believes it withholds cells that could have been adjusted.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "ortools==9.15.6755"
"$folder/env/bin/python" - <<'PY' | tee "$folder/seen"
import random

from ortools.linear_solver import pywraplp

NAMES = {pywraplp.Solver.OPTIMAL: "optimal", pywraplp.Solver.INFEASIBLE: "infeasible"}


def adjust(name, unit):
    """Six cells of a 6 × 6 table move by their levels or more; all others by as little as possible."""
    draw, solver = random.Random(1), pywraplp.Solver.CreateSolver(name)
    moves = [
        [solver.NumVar(0, most * unit, f"{way}{cell}") for way, most in (("up", 1e5), ("down", 1e3))]
        for cell in range(36)
    ]
    for line in range(6):
        for cells in (range(6 * line, 6 * line + 6), range(line, 36, 6)):
            solver.Add(sum(moves[cell][0] - moves[cell][1] for cell in cells) == 0)
    for cell in draw.sample(range(36), 6):
        level, upward, (up, down) = draw.randint(1, 30) * unit, solver.BoolVar(f"upward{cell}"), moves[cell]
        solver.Add(up >= level * upward)
        solver.Add(up <= 1e5 * unit * upward)
        solver.Add(down >= level - level * upward)
        solver.Add(down <= 1e3 * unit - 1e3 * unit * upward)
    solver.Minimize(sum(up + down for up, down in moves) * (1 / unit))
    return NAMES[solver.Solve()]


for name in ("SAT", "SCIP"):
    print(name, {unit: adjust(name, unit) for unit in (1.0, 1e6)})
PY
diff "$folder/seen" - <<'SEEN'
SAT {1.0: 'optimal', 1000000.0: 'infeasible'}
SCIP {1.0: 'optimal', 1000000.0: 'optimal'}
SEEN
