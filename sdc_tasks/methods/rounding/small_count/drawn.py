"""Where a secret key sends small counts, so that somebody who has the program learns less (METHOD §9, Theorem
5).

For each cell by itself the key decides that a count of 1 … b − 1 in it becomes b, that it becomes 0, or that
the algorithm of [4] may choose. A draw depends on the key and the codes of the cell alone: not on counts, nor
on which other cells there are. So the same key draws the same in a corrected table.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from sdc_tasks.methods.rounding.small_count.cells import InnerCells
from sdc_tasks.model.table import Bools, Ints

UNDRAWN = -1
BITS = 63  # of a draw
DRAW_KEY_BYTES = 64  # of BLAKE2b, whose keyed mode is a message authentication code (RFC 7693)


def directions(cells: InnerCells, small: Bools, base: int, drawn: float, seed: int) -> Ints:
    """(n,): 0 or `base` where the key sends a `small` (n,) count there, each with the chance
    `drawn` / 2; UNDRAWN elsewhere.
    """
    key = blake2b(f"small counts {seed}".encode(), digest_size=DRAW_KEY_BYTES).digest()
    found = np.full(len(cells), UNDRAWN, dtype=np.int64)
    at = np.flatnonzero(small)
    codes = cells.hashes()[at].astype("<u8").tobytes()
    for k, i in enumerate(at.tolist()):
        draw = (
            int.from_bytes(blake2b(codes[8 * k : 8 * k + 8], key=key, digest_size=8).digest(), "little") >> 1
        )
        share = draw / 2**BITS
        if share < drawn:
            found[i] = 0 if share < drawn / 2 else base
    return found
