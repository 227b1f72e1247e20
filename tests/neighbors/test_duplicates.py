import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.neighbors import duplicates
from isofold.neighbors.duplicates import find_distinct


def naive_nodes(X):
    seen = {}
    return [seen.setdefault(tuple(row), len(seen)) for row in X.tolist()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    rows=st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-30]), min_size=2, max_size=2),
        min_size=1,
        max_size=40,
    )
)
def test_agrees_with_a_dictionary(dtype, rows):
    X = np.array(rows, dtype=dtype)
    distinct = find_distinct(X)
    nodes = naive_nodes(X)
    assert distinct.node_of_sample.tolist() == nodes
    assert distinct.sample_of_node.tolist() == [nodes.index(i) for i in range(max(nodes) + 1)]
    assert distinct.has_copies == (len(set(nodes)) < len(rows))


def test_samples_of_every_node():
    distinct = find_distinct(np.array([[1.0], [0.0], [1.0], [1.0]]))
    indptr, samples = distinct.samples_by_node()
    assert indptr.tolist() == [0, 3, 4]
    assert samples.tolist() == [0, 2, 3, 1]


def test_rows_that_share_a_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(duplicates, "_hash_rows", lambda X: np.zeros(len(X), dtype=np.uint64))
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [0.0, 0.0]])
    assert find_distinct(X).node_of_sample.tolist() == [0, 1, 0, 2]


def test_a_grid_has_no_copies():
    # Whole numbers leave most bits of a floating-point number zero; a poor hash would collide.
    axes = np.meshgrid(*[np.arange(30.0)] * 3)
    grid = np.stack(axes, axis=-1).reshape(-1, 3)
    assert len(np.unique(duplicates._hash_rows(grid))) == 27_000
