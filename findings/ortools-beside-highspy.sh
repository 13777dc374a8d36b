#!/usr/bin/env bash
# OR-Tools 9.15.6755 and highspy 1.15.1 do not load into one process: whichever is imported second raises
# ImportError (undefined symbol). PuLP imports highspy where it is installed.
# Why it matters: a second solver as a check on the first one has to be a process of its own. PuLP swallows
# the error and says that HiGHS is not available.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "ortools==9.15.6755" "highspy==1.15.1" "pulp==3.3.2"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import subprocess
import sys

ORTOOLS = "from ortools.linear_solver import pywraplp"
for first, second in (
    ("import highspy", ORTOOLS),
    (ORTOOLS, "import highspy"),
    ("import pulp", ORTOOLS),
    (ORTOOLS, "import pulp; print(pulp.HiGHS().available())"),
):
    done = subprocess.run([sys.executable, "-c", f"{first}; {second}"], capture_output=True, text=True)
    told = done.stderr.strip().splitlines()[-1].split(":")[0] if done.returncode else done.stdout.strip()
    print(f"{first}; {second}: {told}")
PY
diff "$folder/seen" - <<'SEEN'
import highspy; from ortools.linear_solver import pywraplp: ImportError
from ortools.linear_solver import pywraplp; import highspy: ImportError
import pulp; from ortools.linear_solver import pywraplp: ImportError
from ortools.linear_solver import pywraplp; import pulp; print(pulp.HiGHS().available()): False
SEEN
