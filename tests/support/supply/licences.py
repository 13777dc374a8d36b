"""Under which licences a release may use a package, and under which its packages are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

from packaging.utils import canonicalize_name

ALLOWED = re.compile(
    r"(The )?(MIT|MIT-0|MIT-CMU|ISC|ISCL|0BSD|Zlib|CC0-1\.0|Unlicense|HPND|PSF-2\.0|Python-2\.0|Apache-2\.0|MPL-2\.0|BSD-[23]-Clause)"  # noqa: E501
    r"|MIT License|ISC License \(ISCL\)|(3-Clause )?BSD License|Apache Software License|Python Software "
    r"Foundation License"
    r"|Mozilla Public License 2\.0 \(MPL 2\.0\)|The Unlicense \(Unlicense\)"
)
# Others, each with the reason why it may be used. LGPL: unmodified, loaded at run time, and
# replaceable by whoever runs the program.
NAMED = {
    "cylp": (
        "EPL-2.0: Clp's own package, unmodified, imported at run time; its files may be "
        "combined with any others"
    ),
    "psycopg": "LGPL-3.0-only: the PostgreSQL driver, unmodified, imported at run time",
    "psycopg-binary": "LGPL-3.0-only: the compiled part of the same",
    "jwcrypto": "LGPL-3.0-or-later: needed by Airflow's Keycloak login, unmodified, imported at run time",
    "text-unidecode": "Artistic or GPL, as one chooses: taken under the Artistic License; needed by Airflow",
}
INSTALLERS = {"pip", "setuptools"}  # not everywhere installed under their own name; MIT


def licences(names: Sequence[str]) -> dict[str, str]:
    """name → licence, as the packages state it."""
    command = [
        sys.executable,
        "-m",
        "piplicenses",
        "--from=mixed",
        "--format=json",
        "--with-system",
        "--packages",
        *names,
    ]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {str(canonicalize_name(each["Name"])): each["License"] for each in told}


def is_allowed(licence: str) -> bool:
    """Every part of it is: somebody who may choose between parts has nothing to choose then."""
    parts = (
        re.split(r"\s+(?:AND|OR|and|or)\s+|;\s*", licence.replace("(", " ( ").replace(")", " ) "))
        if " AND " in licence
        else licence.split("; ")
    )
    words = [part.strip() for each in parts for part in re.split(r"\s+(?:AND|OR)\s+", each)]
    return all(
        ALLOWED.fullmatch(re.sub(r"\s*([()])\s*", lambda sign: {"(": " (", ")": ")"}[sign[1]], word).strip())
        for word in words
    )


def faults(found: Mapping[str, str]) -> list[str]:
    """A line for each package (name → licence, empty where none is known) that a release may not use,
    or whose reason is out of date.
    """
    wrong = []
    for name, licence in sorted(found.items()):
        if is_allowed(licence):
            if name in NAMED:
                wrong.append(
                    f"{name}: {licence}. Remedy: it needs no reason any more; take it from the list of "
                    f"reasons"
                )
        elif name not in NAMED:
            wrong.append(
                f"{name}: {licence or 'no licence known'}. Remedy: another package, or a reason in "
                f"tests/support/supply/licences.py"
            )
        elif "AGPL" in licence or (
            "GPL" in licence.replace("LGPL", "") and not NAMED[name].startswith("Artistic or GPL")
        ):
            wrong.append(
                f"{name}: {licence}, which is no longer what its reason says. Remedy: another package"
            )
    return wrong
