"""Cells of about one size by any clustering, and clusters along a spanning tree."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from scipy.spatial.distance import pdist

from isofold.merging.cells import CLUSTERINGS, compressed, cut_cells, tree_clusters
from isofold.merging.rules import RULES
from isofold.neighbors import euclidean_spanning_tree


def tree_of(n, d=2, seed=0):
    return euclidean_spanning_tree(np.random.RandomState(seed).normal(size=(n, d)))


def naive_tree_clusters(tree, least):
    """Return clusters as sets: edges by length, each joins unless both sides are large enough."""
    clusters = [{node} for node in range(tree.n_nodes)]
    for edge in np.argsort(tree.lengths):
        first, second = tree.edges[edge]
        one = next(cluster for cluster in clusters if first in cluster)
        other = next(cluster for cluster in clusters if second in cluster)
        if len(one) < least or len(other) < least:
            clusters = [c for c in clusters if c is not one and c is not other] + [one | other]
    return {frozenset(int(node) for node in cluster) for cluster in clusters}


@given(n=st.integers(2, 60), least=st.integers(1, 70), seed=st.integers(0, 100))
def test_tree_clusters_are_those_of_the_naive_loop(n, least, seed):
    tree = tree_of(n, seed=seed)
    labels = tree_clusters(tree, least=least)
    found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}
    assert found == naive_tree_clusters(tree, least)
    # Numbered by their first points, none missing, none too small.
    firsts = np.unique(labels, return_index=True)[1]
    assert (np.diff(firsts) > 0).all()
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))
    assert np.bincount(labels).min() >= min(least, n)


def test_tree_clusters_hang_together():
    tree = tree_of(200)
    labels = tree_clusters(tree, least=7)
    inside = tree.edges[labels[tree.edges[:, 0]] == labels[tree.edges[:, 1]]]
    links = sp.csr_array((np.ones(len(inside)), inside.T), shape=(200, 200))
    assert csgraph.connected_components(links, directed=False)[0] == labels.max() + 1


def test_a_line_is_cut_into_chains():
    gaps = np.array([1.0, 1.1, 5.0, 1.2, 1.3, 6.0, 1.4, 1.5])
    points = np.concatenate([[0.0], gaps.cumsum()])[:, None]
    labels = tree_clusters(euclidean_spanning_tree(points), least=3)
    np.testing.assert_array_equal(labels, [0, 0, 0, 1, 1, 1, 2, 2, 2])


@pytest.mark.parametrize("clustering", CLUSTERINGS)
@pytest.mark.parametrize(("n", "size"), [(90, 9), (90, 3), (50, 4), (7, 3), (5, 9), (2, 1)])
def test_pieces_have_half_their_size_and_what_a_plane_needs(clustering, n, size):
    points = np.random.RandomState(n).normal(size=(n, 2))
    labels = cut_cells(points, size, clustering=clustering, least=3, seed=0)
    assert labels.shape == (n,)
    sizes = np.bincount(labels)
    assert sizes.min() >= min(n, max(3, (size + 1) // 2))
    assert len(sizes) <= max(1, n // max(3, (size + 1) // 2))


@given(n=st.integers(1, 80), size=st.integers(1, 90), least=st.integers(1, 10))
def test_balanced_pieces_of_any_size(n, size, least):
    points = np.random.RandomState(n).normal(size=(n, 3))
    labels = cut_cells(points, size, clustering="balanced", least=least, seed=1)
    sizes = np.bincount(labels)
    assert sizes.min() >= min(n, max(least, (size + 1) // 2))
    assert len(sizes) <= max(1, n // max(size, min(n, least)))


def test_balanced_pieces_are_about_as_many_as_wanted():
    points = np.random.RandomState(0).uniform(size=(900, 2))
    labels = cut_cells(points, 9, clustering="balanced", least=3, seed=0)
    assert labels.max() + 1 == 100


def test_gaussians_are_limited():
    points = np.random.RandomState(0).uniform(size=(120, 2))
    labels = cut_cells(points, 3, clustering="gmm", least=3, seed=0)
    assert labels.max() + 1 <= RULES.most_gaussians


@pytest.mark.parametrize("clustering", CLUSTERINGS)
def test_same_seed_same_pieces(clustering):
    points = np.random.RandomState(0).uniform(size=(60, 2))
    one, two = (
        cut_cells(points, 10, clustering=clustering, least=3, seed=5, n_jobs=n) for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("is_quick", [False, True])
def test_quick_pieces_are_no_smaller(is_quick):
    points = np.random.RandomState(0).normal(size=(300, 2)) ** 3
    labels = cut_cells(points, 9, clustering="balanced", least=3, seed=0, is_quick=is_quick)
    assert np.bincount(labels).min() >= 5


def test_many_columns_are_compressed_and_few_are_not():
    few = np.random.RandomState(0).normal(size=(50, 10))
    assert compressed(few) is few
    # Of so many columns all that matters is in ten directions.
    wide = few @ np.linalg.qr(np.random.RandomState(1).normal(size=(90, 10)))[0].T
    narrow = compressed(wide)
    assert narrow.shape[1] < 90
    np.testing.assert_allclose(pdist(narrow), pdist(few), rtol=1e-9)
    assert compressed(wide[:4]).shape == (4, 4)
