"""Connected components by labels are those of scipy, under the same numbers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.model import components as graphs


@st.composite
def graph(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    nodes = draw(st.integers(1, 30))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=40))
    i, j = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return i, j, nodes


@given(graph())
def test_components_are_those_of_scipy(drawn):
    i, j, nodes = drawn
    both = sp.csr_array((np.ones(len(i)), (i, j)), shape=(nodes, nodes))
    expected = sp.csgraph.connected_components(both, directed=False)[1]
    assert graphs.components(i, j, nodes).tolist() == expected.tolist()


def test_a_long_path_is_one_component_and_a_large_graph_is_numbered_alike(monkeypatch):
    rng = np.random.default_rng(1)
    path = rng.permutation(3000)
    assert graphs.components(path[:-1], path[1:], 3001).tolist() == [0] * 3000 + [1]
    i, j = rng.integers(0, 5000, size=(2, 4000))
    small = graphs.components(i, j, 5000)
    monkeypatch.setattr(graphs, "SMALL", 0)
    assert graphs.components(i, j, 5000).tolist() == small.tolist()
