"""Parquet and Arrow (file or stream, also called Feather), from bytes to records: columns of
texts, codes or binary numbers.

A column has the name of its concept, in any case, as in SDMX-CSV. Binary numbers are taken as they are, so
no sign is guessed. The file is opened in a process of its own (`columnar_apart.py`), so that a damaged one
ends that process and not this one.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.columnar_apart import TOO_LARGE
from sdc_tasks.intake.formats.header import fitting_names, known_columns
from sdc_tasks.intake.formats.records import Concepts, Records
from sdc_tasks.tested import require_tested

_APART = Path(__file__).with_name("columnar_apart.py")
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of the file; None where it cannot be read (the findings say why)."""
    if find_spec("pyarrow") is None:
        found.add(
            "140",
            "Parquet and Arrow are not read here: have pip install sdc-release[parquet] run, or send "
            "SDMX-CSV",
        )
        return None
    try:
        require_tested("parquet")
    except InvalidInput as error:
        found.add("140", f"Parquet and Arrow are not read here: {error}; or send SDMX-CSV")
        return None
    known, numbers = (
        [name.upper() for name in names] for names in (known_columns(concepts), concepts.numbers)
    )
    asked = json.dumps({"most": most, "known": known, "numbers": numbers})
    apart = subprocess.run(
        [sys.executable, "-I", str(_APART), asked],
        input=data,
        capture_output=True,
        check=False,
        env=_ENVIRONMENT,
    )
    if apart.returncode == TOO_LARGE:
        found.add(
            "140",
            f"the file has more than {most} records, or columns that are too large: send the table and "
            f"nothing else",
        )
        return None
    if apart.returncode:
        found.add("140", "not a whole file of Parquet or Arrow: send it again")
        return None
    return _records(apart.stdout, concepts, found)


def first(data: bytes, concept: str) -> str:
    """Nothing is seen without reading."""
    return ""


def _records(told: bytes, concepts: Concepts, found: Findings) -> Records | None:
    with np.load(io.BytesIO(told), allow_pickle=False) as arrays:
        said = json.loads(arrays["said"].tobytes())
        fitting = fitting_names("Parquet or Arrow", said["names"], concepts, found)
        if fitting is None:
            return None
        if not said["rows"]:
            found.add("140", "the file has no record: send the complete table")
            return None
        wire, names = fitting
        columns, numbers = {}, {}
        for at, name in enumerate(names):
            if name is None:
                continue
            if at not in said["read"]:
                message = (
                    f"column {at + 1} ({name}) is of a kind that is not read here: send text, whole "
                    f"numbers, decimals or float64"
                )
                found.add("140", message)
                continue
            texts = arrays[f"texts{at}"].tobytes().decode().split("\0")
            columns[name] = texts, arrays[f"which{at}"].astype(np.int64)
            if f"numbers{at}" in arrays:
                numbers[name] = arrays[f"numbers{at}"]
    return None if found.refused else Records(wire, np.arange(2, said["rows"] + 2), columns, numbers)
