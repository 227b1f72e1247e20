import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from isofold.clustering import connected_clusters, kmeans
from isofold.datasets import holed_swiss_roll, swiss_roll
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.patches.from_clusters import (
    GROWTH,
    OVERLAP,
    cover_from_labels,
    cover_from_memberships,
    shared_counts,
)
from support.hypothesis_profiles import examples


def assert_is_cover(cover, points, labels):
    """Assert what every cover made of clusters promises."""
    assert cover.n_points == len(points)
    assert cover.n_patches == labels.max() + 1
    assert cover.by_overlap
    assert len(cover.members) == cover.indptr[-1] == len(cover.offsets)
    assert (cover.offsets == 0.0).all()
    assert (cover.radii > 0.0).all()
    for patch in range(cover.n_patches):
        members = cover.members_of(patch)
        assert (np.diff(members) > 0).all()
        assert np.isin(np.flatnonzero(labels == patch), members).all()
        assert cover.seeds[patch] in members
        reach = np.linalg.norm(points[members] - points[cover.seeds[patch]], axis=1).max()
        assert cover.radii[patch] == pytest.approx(reach if reach > 0 else 1.0)


def smallest_overlaps(cover):
    pairs, counts = shared_counts(cover.members, cover.patches, cover.n_patches)
    return np.column_stack(np.divmod(pairs, cover.n_patches)), counts


@examples(40)
@given(seed=st.integers(0, 2**31 - 1), n_clusters=st.integers(1, 12), d=st.integers(1, 4))
def test_the_rule_of_nearly_equal_distances(seed, n_clusters, d):
    rng = np.random.RandomState(seed)
    points, centers = rng.rand(80, d), rng.rand(n_clusters, d)
    squares = ((points[:, None] - centers) ** 2).sum(axis=2)
    used, labels = np.unique(squares.argmin(axis=1), return_inverse=True)
    centers, squares = centers[used], squares[:, used]
    cover = cover_from_labels(points, labels, n_components=1, centers=centers)
    assert_is_cover(cover, points, labels)
    for patch in range(len(centers)):
        own = squares[np.arange(len(points)), labels]
        spacing = ((centers[labels] - centers[patch]) ** 2).sum(axis=1)
        expected = np.flatnonzero(squares[:, patch] - own <= 2 * OVERLAP * spacing)
        np.testing.assert_array_equal(cover.members_of(patch), expected)


def test_layers_near_each_other_only_in_space_share_nothing():
    rng = np.random.RandomState(0)
    flat = rng.rand(4000, 2) * [4.0, 4.0]
    height = np.repeat([0.0, 0.5], 2000)
    points = np.column_stack([flat, height])
    # The cells of the upper layer are shifted: their centers are beside those of the lower one.
    column = np.floor(flat[:, 0] + height).clip(0, 3).astype(int)
    labels = np.where(height > 0, 4, 0) + column
    centers = np.array([points[labels == label].mean(axis=0) for label in range(8)])
    layer = np.repeat([0, 1], 4)
    in_space = cover_from_labels(points, labels, n_components=2, centers=centers)
    pairs, _ = smallest_overlaps(in_space)
    assert (layer[pairs[:, 0]] != layer[pairs[:, 1]]).any()
    along = cover_from_labels(
        points,
        labels,
        n_components=2,
        centers=centers,
        graph=build_graph(points, n_neighbors=8),
    )
    assert_is_cover(along, points, labels)
    pairs, counts = smallest_overlaps(along)
    assert pairs.tolist() == [[0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [6, 7]]
    assert counts.min() >= 3
    # What the graph allows is what the rule says: within a layer nothing is lost.
    for patch in range(8):
        expected = in_space.members_of(patch)
        own = (height[expected] > 0) == (patch >= 4)
        np.testing.assert_array_equal(along.members_of(patch), expected[own])


@pytest.mark.parametrize("has_centers", [True, False])
@pytest.mark.parametrize("r", [1, 2, 4])
def test_neighbors_of_a_roll_share_enough_and_no_layers(has_centers, r):
    data = holed_swiss_roll(3000, hole=(0.2, 0.4), random_state=0)
    graph = build_graph(data.X, n_neighbors=8)
    clusters = kmeans(data.X, 60, random_state=0)
    labels, centers = connected_clusters(
        data.X, clusters.labels, graph, n_components=r, centers=clusters.centers
    )
    cover = cover_from_labels(
        data.X, labels, n_components=r, graph=graph, centers=centers if has_centers else None
    )
    assert_is_cover(cover, data.X, labels)
    pairs, counts = smallest_overlaps(cover)
    assert counts.min() >= r + 1
    links = sp.coo_array((counts, pairs.T), shape=(cover.n_patches, cover.n_patches))
    assert sp.csgraph.connected_components(links, directed=False)[0] == 1
    # Neighbors touch: their seeds are no farther apart on the sheet than both their widths.
    width = np.array(
        [
            np.linalg.norm(data.truth[labels == i] - data.truth[s], axis=1).max()
            for i, s in enumerate(cover.seeds)
        ]
    )
    ends = data.truth[cover.seeds[pairs]]
    gaps = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    assert (gaps < 2.0 * (width[pairs[:, 0]] + width[pairs[:, 1]])).all()


def test_growth_along_the_graph_is_by_whole_rings():
    grid = np.stack(np.meshgrid(np.arange(46.0), np.arange(10.0)), axis=2).reshape(-1, 2)
    column = grid[:, 0]
    labels = np.select([column < 20, column >= 26], [0, 1], 2)
    cover = cover_from_labels(grid, labels, n_components=2, graph=build_graph(grid, radius=1.0))
    # A ring is a column of 10 points, or two of them around the narrow strip in the middle.
    n_rings = int(np.ceil(GROWTH * 200 / 10))
    np.testing.assert_array_equal(cover.members_of(0), np.flatnonzero(column < 20 + n_rings))
    np.testing.assert_array_equal(cover.members_of(1), np.flatnonzero(column >= 26 - n_rings))
    n_rings = int(np.ceil(GROWTH * 60 / 20))
    expected = (column >= 20 - n_rings) & (column < 26 + n_rings)
    np.testing.assert_array_equal(cover.members_of(2), np.flatnonzero(expected))


def test_small_overlaps_are_filled_from_the_graph():
    line = np.arange(12.0)[:, None]
    labels, centers = np.repeat([0, 1], 6), np.array([[2.5], [8.5]])
    graph = build_graph(line, n_neighbors=2)
    sizes = [
        smallest_overlaps(
            cover_from_labels(line, labels, n_components=r, graph=graph, centers=centers)
        )[1].tolist()
        for r in (1, 2, 4, 6, 20)
    ]
    # Points 5 and 6 are shared by the rule; then rings of two more, up to all there are.
    assert sizes == [[2], [4], [6], [8], [12]]


def test_sparse_clusters_that_only_edges_connect():
    points = np.array([[0.0], [1.0], [5.0], [6.0]])
    labels, centers = np.array([0, 0, 1, 1]), np.array([[0.5], [5.5]])
    graph = build_graph(points, n_neighbors=2)
    cover = cover_from_labels(points, labels, n_components=1, graph=graph, centers=centers)
    _, counts = smallest_overlaps(cover)
    assert counts.tolist() == [4]
    alone = cover_from_labels(points, labels, n_components=1, centers=centers)
    assert len(alone.members) == 4


def test_clusters_in_different_components_stay_apart():
    points = np.concatenate([np.arange(10.0), 100.0 + np.arange(10.0)])[:, None]
    graph = build_graph(points, n_neighbors=2)
    cover = cover_from_labels(points, np.repeat([0, 1], 10), n_components=1, graph=graph)
    assert len(cover.members) == 20


def test_one_cluster_and_points_at_one_place():
    points = np.zeros((5, 2))
    cover = cover_from_labels(
        points, np.zeros(5, dtype=int), n_components=2, centers=np.zeros((1, 2))
    )
    assert_is_cover(cover, points, np.zeros(5, dtype=int))
    assert cover.radii.tolist() == [1.0]


def test_centers_at_one_place_do_not_make_clusters_the_same():
    points = np.array([[1.0], [-1.0], [3.0], [-3.0]])
    cover = cover_from_labels(
        points, np.array([0, 0, 1, 1]), n_components=1, centers=np.zeros((2, 1))
    )
    assert cover.sizes.tolist() == [2, 2]


def test_seeds_are_nearest_the_centers():
    points = swiss_roll(800, random_state=0).X.astype(np.float32)
    clusters = kmeans(points, 10, random_state=0)
    cover = cover_from_labels(points, clusters.labels, n_components=2, centers=clusters.centers)
    for patch, center in enumerate(clusters.centers.astype(np.float64)):
        members = cover.members_of(patch)
        squares = ((points[members] - center) ** 2).sum(axis=1)
        assert cover.seeds[patch] == members[squares.argmin()]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": np.array([0, 0, 2, 2])}, "not every one of 0"),
        ({"labels": np.array([0, 0, -1, 1])}, "run from -1 to 1"),
        ({"labels": np.array([0, 0, 1])}, "4 rows and labels has 3"),
        ({"centers": np.zeros((3, 1))}, "shape \\(3, 1\\)"),
        ({"centers": None}, "neither is given"),
        ({"n_components": 0}, "n_components=0"),
        ({"graph": build_graph(np.arange(3.0)[:, None], n_neighbors=1)}, "3 nodes"),
    ],
)
def test_what_does_not_belong_together(changes, message):
    arguments = {
        "labels": np.array([0, 0, 1, 1]),
        "n_components": 1,
        "centers": np.array([[0.5], [2.5]]),
    } | changes
    with pytest.raises(InvalidInputError, match=message):
        cover_from_labels(np.arange(4.0)[:, None], **arguments)


TABLE = np.array([[1, 0], [1, 1], [1, 1], [0, 1]])


@pytest.mark.parametrize(
    "memberships",
    [
        TABLE,
        TABLE.astype(bool),
        TABLE.astype(float),
        sp.csr_array(TABLE),
        sp.coo_matrix(TABLE.astype(bool)),
        [[2, 0, 1], (3, 1, 2)],
        (np.array([0, 1, 2]), range(1, 4)),
    ],
    ids=["integers", "booleans", "floats", "csr", "coo", "lists", "arrays"],
)
def test_all_forms_of_memberships_mean_the_same(memberships):
    points = np.array([[0.0], [1.0], [2.0], [4.0]])
    cover = cover_from_memberships(4, memberships, points)
    assert_is_cover(cover, points, np.array([0, 0, 0, 1]))
    assert cover.members.tolist() == [0, 1, 2, 1, 2, 3]
    assert cover.indptr.tolist() == [0, 3, 6]
    assert cover.seeds.tolist() == [1, 2]
    assert cover.radii.tolist() == [1.0, 2.0]


def test_stored_zeros_are_no_members_and_the_matrix_is_left_alone():
    rows, columns, stored = [0, 1, 2, 0, 2, 3], [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 1, 1]
    table = sp.csc_array((stored, (rows, columns)), shape=(4, 2))
    cover = cover_from_memberships(4, table, np.eye(4))
    assert cover.members_of(1).tolist() == [2, 3]
    assert table.data.tolist() == stored


@pytest.mark.parametrize(
    ("memberships", "message"),
    [
        ([[0, 1]], "2 of 4 points are in no patch, the first of them point 2"),
        ([[0, 1, 2, 3], []], "Patch 1 of memberships holds no points"),
        (np.array([[1, 0]] * 4), "Patch 1 of memberships holds no points"),
        ([[0, 1, 2, 4]], "Patch 0 holds the point 4, but points are 0 to 3"),
        ([[0, 1, 2, -1]], "Patch 0 holds the point -1"),
        ([[0, 1, 2, 3], [2, 1, 2]], "Patch 1 holds the point 2 2 times"),
        (2 * TABLE, "6 entries that are neither 0 nor 1"),
        (TABLE * np.nan, "neither 0 nor 1"),
        (TABLE[:3], "shape \\(3, 2\\), but there are 4 points"),
        (TABLE.astype(str), "not zeros and ones"),
        ([[0.0, 1.0]], "float64"),
        ([0, 1, 2, 3], "not as a list of points"),
        ([], "holds no patches"),
        (None, "holds no patches"),
    ],
)
def test_memberships_that_are_none(memberships, message):
    with pytest.raises(InvalidInputError, match=message):
        cover_from_memberships(4, memberships, np.eye(4))


def test_clusters_without_centers_grow_along_their_shortest_edges():
    line, labels = np.arange(16.0)[:, None], np.repeat([0, 1], 8)
    # Edges lead to the next three on either side, and the four shortest to the next two.
    graph = build_graph(line, n_neighbors=6)
    cover = cover_from_labels(line, labels, n_components=1, graph=graph)
    np.testing.assert_array_equal(cover.members_of(0), np.arange(10))
    np.testing.assert_array_equal(cover.members_of(1), np.arange(6, 16))
