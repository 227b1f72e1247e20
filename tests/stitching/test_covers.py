"""Parameters of a user become covers and charts, or a message that helps."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.neighbors.point_set import PointSet
from isofold.stitching.covers import CoverMaker, read_cover
from support.ipa_cases import grid, half_cylinder

POINTS = half_cylinder(grid(12, 20))
N = len(POINTS)
ALL = np.arange(N)


@pytest.fixture(scope="module")
def whole():
    return PointSet.whole(POINTS, build_graph(POINTS, n_neighbors=8, kind="mutual"))


def covers(cover="balls", *, n_patches="auto", chart="quadratic", seed=0):
    rng = np.random.RandomState(seed)
    return CoverMaker(cover, n_patches, chart, 2, rng=rng, n_jobs=1)


# Reading covers


def test_names_and_clusterers_pass():
    clusterer = KMeans(5)
    for cover in ("balls", "kmeans", "ldlc", clusterer):
        assert read_cover(cover, 10, np.arange(10)) is cover


@pytest.mark.parametrize("labels", [[3, 3, 7, 7, 0], ["b", "b", "c", "c", "a"]])
def test_labels_of_the_nodes(labels):
    rows = np.array([0, 2, 4])
    for given in (labels, np.array(labels), tuple(labels)):
        np.testing.assert_array_equal(read_cover(given, 5, rows), np.array(labels)[rows])


def test_memberships_of_the_nodes():
    table = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1]])
    rows = np.array([1, 2, 4])
    forms = [table, table.astype(bool), sp.csr_array(table), [[0, 1, 2], [2, 3, 4]]]
    for given in forms:
        found = read_cover(given, 5, rows)
        assert sp.issparse(found)
        np.testing.assert_array_equal(found.toarray(), table[rows])


def test_lists_of_different_lengths():
    found = read_cover([[0, 1, 2, 3], [3, 4]], 5, np.arange(5))
    np.testing.assert_array_equal(found.toarray(), [[1, 0], [1, 0], [1, 0], [1, 1], [0, 1]])


@pytest.mark.parametrize(
    ("cover", "words"),
    [
        ("boxes", "cover='boxes' is unknown.*balls, kmeans"),
        (None, "5 samples.*Pass"),
        (7, "5 samples.*Pass"),
        ([0, 1], r"shape \(2,\).*5 samples"),
        (np.zeros((4, 2)), r"shape \(4, 2\).*5 points"),
        (np.zeros((5, 2, 2)), r"shape \(5, 2, 2\)"),
    ],
)
def test_covers_that_are_none(cover, words):
    with pytest.raises(InvalidInputError, match=words):
        read_cover(cover, 5, np.arange(5))


# Making covers


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_patches": "some"}, "n_patches='some'.*'auto'"),
        ({"n_patches": 0}, "n_patches=0.*at least 1"),
        ({"n_patches": 3.0}, "n_patches=3.0.*whole number"),
        ({"chart": "cubic"}, "chart='cubic'.*quadratic, pca"),
        ({"chart": 5}, "chart=5 cannot embed.*fit_transform"),
    ],
)
def test_wrong_parameters(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        covers(**parameters)


def assert_covers_all(cover):
    assert cover.n_points == N
    np.testing.assert_array_equal(np.unique(cover.members), ALL)


def test_balls_have_a_coarse_level(whole):
    found = covers()
    fine, charts = found.charted(whole, 0)
    coarse, _ = found.charted(whole, 1)
    assert_covers_all(fine)
    assert_covers_all(coarse)
    assert charts.coordinates.shape == (len(fine.members), 2)
    assert coarse.n_patches < fine.n_patches
    assert coarse.sizes.mean() > 1.5 * fine.sizes.mean()
    assert not fine.by_overlap


def test_wanted_number_of_balls(whole):
    found = covers(n_patches=60)
    fine, _ = found.charted(whole, 0)
    coarse, _ = found.charted(whole, 1)
    assert 30 < fine.n_patches < 120
    assert 15 < coarse.n_patches < 60


@pytest.mark.parametrize("n_patches", [1, "auto"])
def test_too_small_for_balls(n_patches):
    few = grid(4, 5)
    graph = build_graph(few, n_neighbors=4, kind="mutual")
    assert covers(n_patches=n_patches).charted(PointSet.whole(few, graph), 0) is None


@pytest.mark.parametrize("cover", ["kmeans", "ldlc", KMeans(12, n_init=1, random_state=0)])
def test_clusters_have_one_level(whole, cover):
    found = covers(cover, n_patches=12)
    fine, _ = found.charted(whole, 0)
    assert_covers_all(fine)
    assert fine.by_overlap
    assert 6 <= fine.n_patches <= 24
    # Expanded: points are in more than one patch.
    assert len(fine.members) > 1.2 * N
    assert found.charted(whole, 1) is None


def test_labels_follow_the_nodes_of_a_component(whole):
    labels = np.where(POINTS[:, 0] > 0, 5, 2)
    nodes = np.flatnonzero(POINTS[:, 2] < 6)
    found = covers(read_cover(labels, N, ALL))
    cover, _ = found.charted(whole.restrict(nodes), 0)
    assert cover.n_patches == 2
    assert cover.n_points == len(nodes)
    # The first patch is that of the smaller label, and holds all of its points.
    members = nodes[cover.members_of(0)]
    assert np.isin(nodes[labels[nodes] == 2], members).all()


def test_memberships_without_nodes_in_a_component_are_left_out(whole):
    halves = np.column_stack([POINTS[:, 2] < 6, POINTS[:, 2] > 4, POINTS[:, 2] > 9]).astype(int)
    nodes = np.flatnonzero(POINTS[:, 2] < 6)
    found = covers(read_cover(halves, N, ALL))
    cover, _ = found.charted(whole.restrict(nodes), 0)
    assert cover.n_patches == 2
    np.testing.assert_array_equal(nodes[cover.members_of(0)], nodes)
    np.testing.assert_array_equal(
        nodes[cover.members_of(1)], np.flatnonzero((POINTS[:, 2] > 4) & (POINTS[:, 2] < 6))
    )


def test_charts_by_word_and_by_embedder(whole):
    cover, curved = covers().charted(whole, 0)
    flat = covers(chart="pca").charts_of(POINTS, cover)
    external = covers(chart=PCA(2)).charts_of(POINTS, cover)
    assert not np.allclose(curved.coordinates, flat.coordinates)
    assert len(external.estimators) == cover.n_patches
    assert len(curved.estimators) == len(flat.estimators) == 0
    members = cover.members_of(0)
    np.testing.assert_allclose(
        np.abs(external.coordinates[: len(members)]),
        np.abs(PCA(2).fit_transform(POINTS[members])),
        atol=1e-12,
    )


def test_same_seed_same_cover(whole):
    first, second = (covers(seed=3).charted(whole, 0)[0] for _ in range(2))
    np.testing.assert_array_equal(first.members, second.members)
    np.testing.assert_array_equal(first.seeds, second.seeds)


@pytest.mark.parametrize("cover", ["kmeans", KMeans(12, n_init=1, random_state=0)])
def test_components_keep_the_clusters_of_the_whole(whole, cover):
    found = covers(cover, n_patches=12).for_whole(whole)
    labels = found.clustering.labels
    nodes = np.flatnonzero(POINTS[:, 2] < 6)
    own = found.clustering.restrict(nodes)
    np.testing.assert_array_equal(own.nodes, nodes)
    assert own.centers is None
    # The same partition, numbered without gaps.
    pairs = np.unique(np.column_stack([labels[nodes], own.labels]), axis=0)
    assert len(pairs) == len(np.unique(labels[nodes])) == own.labels.max() + 1
    assert found.clustering.restrict(ALL) is found.clustering


def test_components_get_their_fraction_of_the_patches(whole):
    nodes = np.flatnonzero(POINTS[:, 2] < 6)
    part, found = whole.restrict(nodes), covers(n_patches=60)
    alone = found.charted(part, 0)[0].n_patches
    of_whole = found.for_whole(whole).charted(part, 0)[0].n_patches
    assert of_whole < 0.8 * alone
    # The whole that a maker knows is that of the maker it returned.
    assert found.n_whole is None
