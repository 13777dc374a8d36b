#!/usr/bin/env bash
# HiGHS 1.15.1, CBC of PuLP 3.3.2 and SCIP of PySCIPOpt 6.3.0: an adjusted table whose weights are all 1e-8
# in place of 1 is called optimal, and costs more than the optimum: with HiGHS a hundred times as much.
# Why it matters: weights are often 1 / value, which is that small for values in euros. Tolerances and the
# absolute gap are in units of the objective, so the table is distorted for nothing. Scale the costs, and
# judge a result by a bound of your own.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "highspy==1.15.1" "pyscipopt==6.3.0"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import math
import random

import pulp


def adjust(solver, unit, weight):
    """The cost, in units of the first table, of moving six cells of a 6 × 6 table by their levels or more."""
    draw = random.Random(2)
    values = [round(math.exp(draw.gauss(5, 1.5))) + 1 for _ in range(36)]
    model, moves = pulp.LpProblem("table", pulp.LpMinimize), []
    for cell, value in enumerate(values):
        up = pulp.LpVariable(f"up{cell}", 0, 1e5 * unit)
        moves.append((up, pulp.LpVariable(f"down{cell}", 0, min(1e5, value) * unit)))
    model += pulp.lpSum(weight * (up + down) for value, (up, down) in zip(values, moves))
    for line in range(6):
        for cells in (range(6 * line, 6 * line + 6), range(line, 36, 6)):
            model += pulp.lpSum(moves[cell][0] - moves[cell][1] for cell in cells) == 0
    for cell in draw.sample(range(36), 6):
        level, (up, down) = max(1, round(values[cell] / 10)) * unit, moves[cell]
        upward = pulp.LpVariable(f"upward{cell}", cat="Binary")
        model += up >= level * upward
        model += up <= 1e5 * unit * upward
        model += down >= level - level * upward
        model += down <= 1e5 * unit - 1e5 * unit * upward
    model.solve(solver)
    if model.sol_status != pulp.LpSolutionOptimal:
        return pulp.LpStatus[model.status], math.nan
    cost = sum((up.value() + down.value()) / unit for value, (up, down) in zip(values, moves))
    return pulp.LpStatus[model.status], cost


SOLVERS = {"CBC": pulp.PULP_CBC_CMD(msg=False), "HiGHS": pulp.HiGHS(msg=False), "SCIP": pulp.SCIP_PY(msg=False)}

for name, solver in SOLVERS.items():
    told, least = adjust(solver, 1, 1.0)
    again, cost = adjust(solver, 1, 1e-8)
    print(f"{name}: {told}; weights of 1e-8: {again}, {cost / least:.1f} times the cost")
PY
diff "$folder/seen" - <<'SEEN'
CBC: Optimal; weights of 1e-8: Optimal, 1.3 times the cost
HiGHS: Optimal; weights of 1e-8: Optimal, 135.7 times the cost
SCIP: Optimal; weights of 1e-8: Optimal, 1.3 times the cost
SEEN
