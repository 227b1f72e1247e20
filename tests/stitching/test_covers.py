"""Words of a user become covers, charts and a solver, or a message that helps."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph, subgraph
from isofold.sdp import LowRankSDP
from isofold.stitching.covers import make_recipe, read_cover
from support.ipa_cases import grid, half_cylinder

POINTS = half_cylinder(grid(12, 20))
N = len(POINTS)
ALL = np.arange(N)


@pytest.fixture(scope="module")
def graph():
    return build_graph(POINTS, n_neighbors=8, kind="mutual")


def recipe(cover="balls", *, n_patches="auto", chart="quadratic", seed=0):
    return make_recipe(
        cover=cover,
        n_patches=n_patches,
        chart=chart,
        n_components=2,
        terms=None,
        solver=LowRankSDP(),
        rng=np.random.RandomState(seed),
        n_jobs=1,
    )


# Reading covers


def test_words_and_clusterers_pass():
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
def test_wrong_words(parameters, words):
    with pytest.raises(InvalidInputError, match=words):
        recipe(**parameters)


def assert_covers_all(cover):
    assert cover.n_points == N
    np.testing.assert_array_equal(np.unique(cover.members), ALL)


def test_balls_have_a_coarse_level(graph):
    found = recipe()
    fine, charts = found.charted(POINTS, graph, ALL, 0)
    coarse, _ = found.charted(POINTS, graph, ALL, 1)
    assert_covers_all(fine)
    assert_covers_all(coarse)
    assert charts.coordinates.shape == (len(fine.members), 2)
    assert coarse.n_patches < fine.n_patches
    assert coarse.sizes.mean() > 1.5 * fine.sizes.mean()
    assert not fine.by_overlap


def test_wanted_number_of_balls(graph):
    found = recipe(n_patches=60)
    fine, _ = found.charted(POINTS, graph, ALL, 0)
    coarse, _ = found.charted(POINTS, graph, ALL, 1)
    assert 30 < fine.n_patches < 120
    assert 15 < coarse.n_patches < 60


@pytest.mark.parametrize("n_patches", [1, "auto"])
def test_too_small_for_balls(n_patches):
    few = grid(4, 5)
    graph = build_graph(few, n_neighbors=4, kind="mutual")
    assert recipe(n_patches=n_patches).charted(few, graph, np.arange(20), 0) is None


@pytest.mark.parametrize("cover", ["kmeans", "ldlc", KMeans(12, n_init=1, random_state=0)])
def test_clusters_have_one_level(graph, cover):
    found = recipe(cover, n_patches=12)
    fine, _ = found.charted(POINTS, graph, ALL, 0)
    assert_covers_all(fine)
    assert fine.by_overlap
    assert 6 <= fine.n_patches <= 24
    # Expanded: points are in more than one patch.
    assert len(fine.members) > 1.2 * N
    assert found.charted(POINTS, graph, ALL, 1) is None


def test_labels_follow_the_nodes_of_a_piece(graph):
    labels = np.where(POINTS[:, 0] > 0, 5, 2)
    nodes = np.flatnonzero(POINTS[:, 2] < 6)
    found = recipe(read_cover(labels, N, ALL))
    cover, _ = found.charted(POINTS[nodes], subgraph(graph, nodes), nodes, 0)
    assert cover.n_patches == 2
    assert cover.n_points == len(nodes)
    # The first patch is that of the smaller label, and holds all of its points.
    members = nodes[cover.members_of(0)]
    assert np.isin(nodes[labels[nodes] == 2], members).all()


def test_memberships_without_nodes_in_a_piece_are_left_out(graph):
    halves = np.column_stack([POINTS[:, 2] < 6, POINTS[:, 2] > 4, POINTS[:, 2] > 9]).astype(int)
    nodes = np.flatnonzero(POINTS[:, 2] < 6)
    found = recipe(read_cover(halves, N, ALL))
    cover, _ = found.charted(POINTS[nodes], subgraph(graph, nodes), nodes, 0)
    assert cover.n_patches == 2
    np.testing.assert_array_equal(nodes[cover.members_of(0)], nodes)
    np.testing.assert_array_equal(
        nodes[cover.members_of(1)], np.flatnonzero((POINTS[:, 2] > 4) & (POINTS[:, 2] < 6))
    )


def test_charts_by_word_and_by_embedder(graph):
    cover, curved = recipe().charted(POINTS, graph, ALL, 0)
    flat = recipe(chart="pca").chart(POINTS, cover)
    foreign = recipe(chart=PCA(2)).chart(POINTS, cover)
    assert not np.allclose(curved.coordinates, flat.coordinates)
    assert len(foreign.estimators) == cover.n_patches
    assert len(curved.estimators) == len(flat.estimators) == 0
    members = cover.members_of(0)
    np.testing.assert_allclose(
        np.abs(foreign.coordinates[: len(members)]),
        np.abs(PCA(2).fit_transform(POINTS[members])),
        atol=1e-12,
    )


def test_same_seed_same_cover(graph):
    first, second = (recipe(seed=3).charted(POINTS, graph, ALL, 0)[0] for _ in range(2))
    np.testing.assert_array_equal(first.members, second.members)
    np.testing.assert_array_equal(first.seeds, second.seeds)
