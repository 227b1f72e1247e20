"""Nearest samples by any metric, and what a method sees of many rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from isofold import LocalMDS, NeighborMap
from isofold.exceptions import InvalidInputError
from isofold.neighbors import kneighbors
from isofold.similarity import EditDistance
from isofold.similarity.comparison import PairComparison
from isofold.similarity.intake import read_first

X = np.random.RandomState(0).rand(80, 4) + 0.1


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "chebyshev"])
def test_neighbors_by_name_are_those_of_all_distances(metric):
    D = cdist(X, X, "cityblock" if metric == "manhattan" else metric)
    found = kneighbors(X, 5, metric=metric)
    order = np.argsort(np.where(np.eye(80) > 0, np.inf, D), axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(found.indices, order)
    # Half of a square of length one, against one minus a product.
    expected = np.take_along_axis(D, order, axis=1)
    np.testing.assert_allclose(found.distances, expected, rtol=0, atol=1e-14)


def test_neighbors_of_objects():
    words = ["cat", "cats", "dog", "dogs"]
    found = kneighbors(words, 1, metric=EditDistance())
    np.testing.assert_array_equal(found.indices.ravel(), [1, 0, 3, 2])
    found = kneighbors(words, 1, metric=lambda a, b: abs(len(a) - len(b)))
    np.testing.assert_array_equal(found.indices.ravel(), [2, 3, 0, 1])


@pytest.mark.filterwarnings("ignore")
def test_many_rows_are_seen_as_the_graph_of_their_nearest():
    how = PairComparison.read("cosine", None)
    copies = np.vstack([X, 3.0 * X[:4]])
    _, graph = read_first(
        LocalMDS(), copies, how, takes_distances=True, min_samples=2, most_paired=50
    )
    assert sp.issparse(graph)
    assert np.diff(graph.indptr).tolist() == [64] * 84
    D = how.among(copies)
    rows, columns = graph.tocoo().coords
    np.testing.assert_allclose(graph.data, D[rows, columns], rtol=0, atol=1e-14)
    # Rows in one direction are copies, which a stored zero says.
    assert (graph.data[(rows >= 80) & (columns == rows - 80)] == 0.0).sum() == 4
    model = NeighborMap(metric="precomputed", random_state=0).fit(graph)
    np.testing.assert_array_equal(model.embedding_[80:], model.embedding_[:4])


def test_rows_without_a_direction_are_refused():
    with pytest.raises(InvalidInputError, match="no direction"):
        kneighbors(np.vstack([X, np.zeros((1, 4))]), 3, metric="cosine")
