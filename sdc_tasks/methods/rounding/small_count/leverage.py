"""Inner cells that follow exactly from sums and differences of the published cells: those of leverage 1.

An inner cell follows from z = Xᵀ y if and only if every v with Xᵀ v = 0 is 0 there. One random such v is
enough, because it is 0 elsewhere with probability 0: v = g − X w, with the w for which X w is nearest to a
random g. A peeling step comes first: a published cell with a single inner cell reveals it, and a revealed
cell can be subtracted from all others. Two random vectors must agree.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.errors import SdcError
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.model.table import Bools
from sdc_tasks.model.tolerances import FEASIBILITY, ROUNDING

ITERATIONS = 20_000


def told_by_the_publication(dummy: Dummy, seed: int) -> Bools:
    """(n,): the inner cells that follow exactly from the published cells, whatever their counts.
    Raises SdcError if this is undecided.
    """
    X = _sources(dummy)
    told = _peeled(X)
    rest = np.flatnonzero(~told)
    left = X[rest]
    size = np.asarray(left.sum(axis=0)).ravel()
    left = left[:, size > 0] @ sp.diags_array(
        1 / np.sqrt(size[size > 0])
    )  # the same column space, fewer iterations
    if not left.nnz:
        return told
    rng = np.random.default_rng(seed)
    zero = np.ones(len(rest), dtype=bool)
    for _ in range(2):
        g = rng.choice([-1.0, 1.0], len(rest)) * rng.uniform(0.5, 1.5, len(rest))
        found = sp.linalg.lsmr(left, g, atol=ROUNDING, btol=ROUNDING, conlim=0.0, maxiter=ITERATIONS)
        if found[1] == 7:
            raise SdcError(
                "leverage: the least squares did not converge. Remedy: publish fewer crossings, or leave out "
                "the leverage check"
            )
        zero &= np.abs(g - left @ found[0]) < FEASIBILITY
    told[rest] = zero
    return told


def _sources(dummy: Dummy) -> sp.csr_array:
    """The columns of X of the source crossings. All others are sums of these, and reveal nothing more."""
    numbers = np.stack(dummy.ids, axis=1)
    there = numbers >= 0
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return sp.csr_array(
        (np.ones(int(indptr[-1])), numbers[there], indptr), shape=(len(dummy.cells), dummy.published)
    )


def _peeled(X: sp.csr_array) -> Bools:
    """The inner cells that follow by repeatedly subtracting the single inner cell of a published cell."""
    told = np.zeros(X.shape[0], dtype=bool)
    size = np.asarray(X.sum(axis=0)).ravel()
    while True:
        single = (size == 1).astype(np.float64)
        new = (X @ single > 0) & ~told
        if not new.any():
            return told
        told |= new
        size -= X.T @ new.astype(np.float64)
