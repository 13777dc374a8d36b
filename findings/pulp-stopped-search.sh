#!/usr/bin/env bash
# PuLP 3.3.2: a search that a limit of nodes stopped has the status Optimal with CBC; with HiGHS 1.15.1 it
# raises KeyError, and its point is lost. Only sol_status tells the first from an optimum.
# Why it matters: a rounded table is found within a budget. Whoever looks at status publishes a table as the
# best one, and whoever changes the solver gets none, though it found one.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "highspy==1.15.1"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import random

import pulp

draw = random.Random(4)
problem = pulp.LpProblem("stopped", pulp.LpMinimize)
chosen = [pulp.LpVariable(f"x{i}", cat="Binary") for i in range(60)]
problem += -pulp.lpSum(draw.randint(10, 99) * x for x in chosen)
for _ in range(12):
    problem += pulp.lpSum(draw.randint(10, 99) * x for x in chosen) <= 1000
for name, solver in (
    ("CBC, 5 nodes", pulp.PULP_CBC_CMD(msg=False, options=["maxNodes 5"])),
    ("HiGHS, 1 node", pulp.HiGHS(msg=False, mip_max_nodes=1)),
):
    try:
        problem.solve(solver)
        print(f"{name}: {pulp.LpStatus[problem.status]}; sol_status: {pulp.LpSolution[problem.sol_status]}")
    except KeyError as error:
        print(f"{name}: KeyError", str(error).split(":")[0])
PY
diff "$folder/seen" - <<'SEEN'
CBC, 5 nodes: Optimal; sol_status: Solution Found
HiGHS, 1 node: KeyError <HighsModelStatus.kSolutionLimit
SEEN
