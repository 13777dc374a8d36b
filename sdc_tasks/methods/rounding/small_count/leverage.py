"""Inner cells that the published cells tell exactly, by sums and differences: those of leverage 1.

An inner cell follows from z = Xᵀ y iff every v with Xᵀ v = 0 is 0 there. One random such v is enough, as it is 0 elsewhere with
probability 0: v = g − X w with the w that brings X w nearest to a random g. What is told by itself is peeled off first: a published cell
that holds a single inner cell tells it, and what is told can be taken out of all others. Two random vectors must agree.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsmr

from sdc_tasks.errors import SdcError
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.model.table import Bools

LEAST_SQUARES_NOISE = 1e-12  # of the least squares
ZERO = 1e-6  # of an entry of v, where the random vector is of size 1
ITERATIONS = 20_000


def told_by_the_publication(dummy: Dummy, seed: int) -> Bools:
    """Which inner cells (n) follow exactly from the published cells, whatever their counts. Raises SdcError where that stays open."""
    X = _sources(dummy)
    told = _peeled(X)
    rest = np.flatnonzero(~told)
    left = X[rest]
    size = np.asarray(left.sum(axis=0)).ravel()
    left = left[:, size > 0] @ sp.diags_array(1 / np.sqrt(size[size > 0]))  # the same combinations, told in fewer iterations
    if not left.nnz:
        return told
    rng = np.random.default_rng(seed)
    zero = np.ones(len(rest), dtype=bool)
    for _ in range(2):
        g = rng.choice([-1.0, 1.0], len(rest)) * rng.uniform(0.5, 1.5, len(rest))
        found = lsmr(left, g, atol=LEAST_SQUARES_NOISE, btol=LEAST_SQUARES_NOISE, conlim=0.0, maxiter=ITERATIONS)
        if found[1] == 7:
            raise SdcError("leverage: the least squares did not settle. Remedy: publish fewer crossings, or leave the leverage check out")
        zero &= np.abs(g - left @ found[0]) < ZERO
    told[rest] = zero
    return told


def _sources(dummy: Dummy) -> sp.csr_array:
    """The columns of X of the source crossings: all others are sums of these, and tell nothing more."""
    numbers = np.stack(dummy.ids, axis=1)
    there = numbers >= 0
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return sp.csr_array((np.ones(int(indptr[-1])), numbers[there], indptr), shape=(len(dummy.cells), dummy.published))


def _peeled(X: sp.csr_array) -> Bools:
    """What follows by taking out, again and again, the single inner cells of published cells."""
    told = np.zeros(X.shape[0], dtype=bool)
    size = np.asarray(X.sum(axis=0)).ravel()
    while True:
        single = (size == 1).astype(np.float64)
        new = (X @ single > 0) & ~told
        if not new.any():
            return told
        told |= new
        size -= X.T @ new.astype(np.float64)
