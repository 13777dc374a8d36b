"""Networks: relations in which each column stands at most twice, with opposite signs ([2] §2.2, §4.2).

A table of one hierarchical and one plain dimension (1H2D) is one, after relations that follow from the others
are dropped. Then deviations split into cycles with entries of one size, and a maximum flow tells how far one
cell can go.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdc_tasks.model.table import Bools, Ints
from sdc_tasks.model.tolerances import ZERO


def network_form(M: sp.csr_array) -> sp.csr_array:
    """M without relations that follow from the others, if that makes a network of it; else M.

    In a network each class stands in at most two relations: of the relations of a class all but
    two must go. What follows from that is followed up; where nothing does, one relation is taken
    to go, the shortest or the longest.
    """
    if is_network(M):
        return M
    lengths = np.diff(M.indptr)
    for order in (np.argsort(-lengths, kind="stable"), np.argsort(lengths, kind="stable")):
        kept = _two_each(M, order)
        small = sp.csr_array(M[np.flatnonzero(kept)])
        if is_network(small) and _follow(sp.csr_array(M[np.flatnonzero(~kept)]), small):
            return small
    return M


def _two_each(M: sp.csr_array, order: Ints) -> Bools:
    """(m): relations that stay so that each class keeps two, guessed in this order where there is
    a choice; perhaps there is none.
    """
    stands = sp.csr_array((np.ones(M.nnz), M.indices, M.indptr), shape=M.shape)
    classes = sp.csr_array(stands.T)
    excess = np.maximum(np.asarray(classes.sum(axis=1)).ravel() - 2, 0)
    kept, gone = np.zeros(M.shape[0], dtype=bool), np.zeros(M.shape[0], dtype=bool)
    guesses = iter(order.tolist())
    while not (kept | gone).all():
        missing = excess - classes @ gone.astype(float)
        unknown = classes @ (~kept & ~gone).astype(float)
        stay = (stands @ (missing <= 0).astype(float) > 0) & ~kept & ~gone
        go = (stands @ ((missing > 0) & (unknown <= missing)).astype(float) > 0) & ~kept & ~gone & ~stay
        if not stay.any() and not go.any():
            go[next(row for row in guesses if not kept[row] and not gone[row])] = True
        kept, gone = kept | stay, gone | go
    return kept


def _follow(rows: sp.csr_array, network: sp.csr_array) -> bool:
    """Whether rows are sums of relations of a network: whether nodes have potentials whose differences
    along each arc are the entries.
    """
    tail, head = network_ends(network)
    wanted = rows.toarray().T  # (k, rows)
    nodes, k = network.shape[0] + 1, len(tail)
    arcs = sp.csr_array(
        (np.arange(1, k + 1), (tail, head)), shape=(nodes, nodes)
    )  # of parallel arcs some sum: replaced below
    first = {(int(t), int(h)): i for i, (t, h) in reversed(list(enumerate(zip(tail, head, strict=True))))}
    potential = np.zeros((nodes, wanted.shape[1]))
    seen = np.zeros(nodes, dtype=bool)
    for root in [nodes - 1, *range(nodes - 1)]:  # the last one, which no relation stands for, has none
        if seen[root]:
            continue
        reached, before = sp.csgraph.breadth_first_order(arcs, root, directed=False)
        seen[reached] = True
        for node in reached[1:].tolist():
            last = int(before[node])
            forward = first.get((last, node))
            potential[node] = potential[last] + (
                wanted[forward] if forward is not None else -wanted[first[node, last]]
            )
    return bool((np.abs(potential[head] - potential[tail] - wanted) < 10 * ZERO).all())


def network_ends(M: sp.csr_array) -> tuple[Ints, Ints]:
    """(k), (k): the nodes of −1 and +1 of every class of a network, after relations are signed; m stands for
    none.
    """
    m = M.shape[0]
    columns = sp.csc_array(M)
    sign = np.zeros(m)
    for first in range(m):  # relations that share a class get the signs that make its entries opposite
        if sign[first]:
            continue
        sign[first] = 1.0
        waiting = [first]
        while waiting:
            row = waiting.pop()
            for place in range(M.indptr[row], M.indptr[row + 1]):
                c = M.indices[place]
                for other in range(columns.indptr[c], columns.indptr[c + 1]):
                    r = columns.indices[other]
                    if r != row and not sign[r]:
                        sign[r] = -sign[row] * M.data[place] * columns.data[other]
                        waiting.append(int(r))
    tail, head = np.full(M.shape[1], m), np.full(M.shape[1], m)
    entries = M.tocoo()
    signed = entries.data * sign[entries.row]
    head[entries.col[signed > 0]] = entries.row[signed > 0]
    tail[entries.col[signed < 0]] = entries.row[signed < 0]
    return tail, head


def is_network(M: sp.csr_array) -> bool:
    """Whether relations can be signed so that every column has at most two entries, +1 and −1."""
    by_column = sp.csc_array(M)
    if by_column.nnz and ((np.diff(by_column.indptr) > 2).any() or (np.abs(by_column.data) != 1).any()):
        return False
    two = np.flatnonzero(np.diff(by_column.indptr) == 2)
    first = by_column.indptr[two]
    i, j = by_column.indices[first], by_column.indices[first + 1]
    flips = by_column.data[first] == by_column.data[first + 1]
    m = M.shape[0]  # rows as they are, then negated; equal entries join a row with the other's negation
    left, right = (
        np.concatenate([i, i + m]),
        np.concatenate([np.where(flips, j + m, j), np.where(flips, j, j + m)]),
    )
    graph = sp.csr_array((np.ones(len(left)), (left, right)), shape=(2 * m, 2 * m))
    _, part = sp.csgraph.connected_components(graph, directed=False)
    return bool((part[:m] != part[m:]).all())
