"""The pattern of an earlier publication: a JJ table with statuses, or a CSV file with a column of
codes for each dimension and STATUS.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import InvalidInput
from sdc_tasks.intake.tables.given.lines import below_header
from sdc_tasks.intake.tables.jj import STATUSES, read_jj
from sdc_tasks.methods.suppression.prior_patterns.earlier import EarlierPattern
from sdc_tasks.model.keys import printed_key

BLANK = ("u", "m")  # statuses of cells without a value for the public
REMEDY = "give what `sdc suppress --out` wrote then"


def read_earlier_jj(path: Path, A: sp.csr_array) -> EarlierPattern:
    """The pattern in a JJ file whose cells are those of a table with the relations `A`.

    Raises InvalidInput where the relations are others: the numbers of its cells then mean other cells.
    """
    table = read_jj(path)
    if table.A.shape != A.shape or sorted(_rows(table.A)) != sorted(_rows(A)):
        raise InvalidInput(
            f"{path}: its cells and relations are not those of the table. Remedy: {REMEDY}, for the same "
            f"cells"
        )
    hidden = np.isin(table.status, BLANK)
    return EarlierPattern(str(path), hidden, ~hidden, np.where(hidden, np.nan, table.a))


def read_earlier_csv(
    path: Path, dimensions: Sequence[str], value: str, keys: Sequence[tuple[str, ...]]
) -> EarlierPattern:
    """The pattern in a CSV file, at the cells with these keys (n). Codes that the table does not have are
    passed over.

    Raises InvalidInput, with line, key and remedy, where it is no such file or a cell stands there twice.
    """
    column, lines = below_header(path, [*dimensions, "STATUS"], REMEDY)
    place = {key: cell for cell, key in enumerate(keys)}
    status, a = np.full(len(keys), ""), np.full(len(keys), np.nan)
    for line in lines:
        key, letter = (
            tuple(line.fields[column[name]] for name in dimensions),
            line.fields[column["STATUS"]] or "s",
        )
        if letter not in STATUSES:
            raise line.refused(
                f"{printed_key(key)}: its STATUS is none of {' '.join(STATUSES)}. Remedy: {REMEDY}"
            )
        cell = place.get(key)
        if cell is None:
            continue
        if status[cell]:
            raise line.refused(f"{printed_key(key)} stands there twice. Remedy: keep one of the lines")
        status[cell] = letter
        if letter not in BLANK and value in column:
            a[cell] = line.number_of(column[value], f"{printed_key(key)}: its {value}")
    hidden = np.isin(status, BLANK)
    return EarlierPattern(str(path), hidden, (status != "") & ~hidden, a)


def _rows(A: sp.csr_array) -> list[tuple[bytes, bytes]]:
    """The relations as they can be compared; each is sorted by cell."""
    bounds = zip(A.indptr[:-1], A.indptr[1:], strict=True)
    return [
        (A.indices[start:end].astype(np.int64).tobytes(), A.data[start:end].tobytes())
        for start, end in bounds
    ]
