#!/usr/bin/env bash
# pyaxis 0.4.3: of the symbols of a PC-Axis file, two points (confidential) become NaN, one point an empty
# text, and a dash (nothing, exactly 0) stays a dash in quotes; all values are text.
# Why it matters: what must not be told, what does not exist and what is zero are three things. The sum of
# the column fails or joins texts, and one that forces numbers makes zeros and hidden cells alike.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check "pyaxis==0.4.3"
"$folder/env/bin/python" -W ignore - <<'PY' | tee "$folder/seen"
import os
import tempfile

from pyaxis import pyaxis

path = os.path.join(tempfile.mkdtemp(), "table.px")
with open(path, "w") as file:
    file.write('CHARSET="ANSI";\nAXIS-VERSION="2000";\nCODEPAGE="utf-8";\nMATRIX="T";\nUNITS="EUR";\n')
    file.write('CONTENTS="Turnover";\nSTUB="geo";\nHEADING="nace";\nVALUES("geo")="AT";\n')
    file.write('VALUES("nace")="01","02","03","04";\nDATA=\n1.5 "-" ".." ".";\n')
print(pyaxis.parse(path, encoding="utf-8")["DATA"]["DATA"].tolist())
PY
diff "$folder/seen" - <<'SEEN'
['1.5', '"-"', nan, '']
SEEN
