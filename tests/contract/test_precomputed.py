"""Distances instead of points: dense matrices and sparse graphs, what passes and what does not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import get_tags

from isofold.exceptions import InvalidInputError
from support.embedders import DistanceEmbedder, ResultEmbedder, points
from support.helpers import assert_equal_up_to_rigid_motion

# Distances of size up to ten, computed in float32: a hundred eps of their size.
SINGLE_ATOL = 1000 * np.finfo(np.float32).eps


def test_precomputed_distances():
    X = points(20, d=1)
    distances = squareform(pdist(X))
    direct = DistanceEmbedder().fit(X)
    precomputed = DistanceEmbedder(metric="precomputed").fit(distances)
    assert get_tags(precomputed).input_tags.pairwise
    assert not get_tags(direct).input_tags.pairwise
    np.testing.assert_array_equal(precomputed.embedding_, direct.embedding_)
    np.testing.assert_array_equal(precomputed.transform(distances[:4]), direct.transform(X[:4]))
    with pytest.raises(InvalidInputError, match="not distances"):
        precomputed.transform(-distances[:4])
    with pytest.raises(InvalidInputError, match=r"18 features.*expecting 20"):
        precomputed.transform(distances[:4, :18])


class PlainPrecomputed(ResultEmbedder):
    """Uses nothing of the distances, so that what is refused is refused by the base class."""

    metric = "precomputed"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda D: D[:5], r"shape \(5, 20\).*square"),
        (lambda D: -D, "not distances"),
        (lambda D: D + np.eye(20), "1 on its diagonal"),
        (lambda D: D + np.triu(D), "not symmetric"),
        (lambda D: np.where(D.mean() < D, np.inf, D), "infinite.*sparse matrix"),
        (lambda D: np.where(D.mean() < D, np.nan, D), "NaN.*sparse matrix"),
        (lambda D: sp.csr_array(-D), "not distances"),
        (lambda D: sp.csr_array(D[:5]), "square"),
        (lambda D: sp.csr_array(np.where(D.mean() < D, np.inf, D)), "infinite"),
        (lambda D: sp.csr_array(D * 1j), "real"),
        (lambda D: sp.csr_array((0, 0)), "shape"),
        (lambda D: sp.csr_array((1, 1)), "1 sample"),
    ],
)
def test_what_are_no_distances_is_refused_by_the_base_class(change, words):
    distances = squareform(pdist(points(20)))
    with pytest.raises(InvalidInputError, match=words):
        PlainPrecomputed(fitted=np.zeros((20, 1))).fit(change(distances))


def line_graph(gap, dtype=np.float64):
    """Ten points in a row, joined one to the next, with the link after the fifth if no `gap`."""
    links = np.ones(9, dtype=dtype)
    links[4] = 0.0 if gap else 1.0
    graph = sp.diags_array(links, offsets=1, shape=(10, 10)).tocsr()
    graph.eliminate_zeros()
    return graph


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_precomputed_graphs(form, dtype):
    graph = form(line_graph(gap=False, dtype=dtype))
    embedder = DistanceEmbedder(metric="precomputed").fit(graph)
    assert get_tags(embedder).input_tags.sparse
    assert not get_tags(DistanceEmbedder()).input_tags.sparse
    assert embedder.embedding_.dtype == dtype
    assert_equal_up_to_rigid_motion(embedder.embedding_, np.arange(10.0)[:, None], atol=SINGLE_ATOL)
    new = form(np.array([[0, 0, 3, 2, 0, 0, 0, 0, 0, 0]], dtype=dtype))
    np.testing.assert_array_equal(embedder.transform(new), embedder.embedding_[3:4])
    with pytest.raises(InvalidInputError, match="not distances"):
        embedder.transform(-new)


def test_a_stored_zero_is_a_distance_and_what_is_missing_is_not():
    graph = sp.csr_array((np.array([0.0, 2.0]), ([0, 1], [1, 2])), shape=(3, 3))
    seen = []

    class Looking(ResultEmbedder):
        metric = "precomputed"

        def _fit(self, X, y):
            seen.append(X)
            return super()._fit(X, y)

    Looking(fitted=np.zeros((3, 1))).fit(graph)
    assert isinstance(seen[0], sp.csr_array)
    assert seen[0].nnz == 2


@pytest.mark.parametrize(
    "graph", [line_graph(gap=True), sp.csr_array((10, 10))], ids=["disconnected", "empty"]
)
def test_graphs_in_pieces(graph):
    embedder = DistanceEmbedder(metric="precomputed").fit(graph)
    assert embedder.embedding_.shape == (10, 1)
    assert embedder.distortion_.shape == (10,)
