"""Merging planes along a tree, against walks written out in the ambient space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import polar, subspace_angles
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from isofold.merging.walk import HINGES, CellTree, lift_tree, merge
from isofold.neighbors import SpanningTree, euclidean_spanning_tree
from isofold.patches.planes import Planes, fit_planes
from isofold.quality import procrustes_error
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples

# Some dozen rotations one after the other, of numbers of size ten.
ROUNDING = 1e-11


def arc(n=150, seed=0, bend=0.4):
    """Return points of a bent sheet in four dimensions and the rectangle that they come from."""
    rng = np.random.RandomState(seed)
    flat = rng.uniform(size=(n, 2)) * [6.0, 2.0]
    u, v = flat.T
    X = np.column_stack([np.sin(bend * u) / bend, np.cos(bend * u) / bend, v, np.zeros(n)])
    return X @ np.linalg.qr(rng.normal(size=(4, 4)))[0], flat


def pieces_of(X, n_cells, q=2, seed=0):
    labels = KMeans(n_cells, n_init=1, random_state=seed).fit_predict(X)
    return fit_planes(X, labels, q)


def placed(X, planes, motions):
    return motions.apply(planes.coordinates(X, planes.labels), planes.labels)


def merged(X, planes, tree, root=0, hinge="parallel"):
    motions, _ = merge(X, planes, tree, roots=np.array([root]), hinge=hinge)
    return placed(X, planes, motions)


def plml_merge(X, planes, tree, root=0):
    """Return the map of the digest's loop: rotations in q dimensions along the tree."""
    q = planes.axes.shape[2]
    hinge, branches = {}, {cell: [] for cell in range(planes.n_cells)}
    for (i, j), (a, b) in zip(tree.edges, tree.crossings, strict=True):
        hinge[frozenset((i, j))] = (X[a] + X[b]) / 2
        branches[i].append(j)
        branches[j].append(i)
    Y, R, t, todo = np.empty((len(X), q)), {root: np.eye(q)}, {root: np.zeros(q)}, [root]
    while todo:
        i = todo.pop()
        mi, Ui, own = planes.means[i], planes.axes[i], planes.labels == i
        Y[own] = (X[own] - mi) @ Ui @ R[i] + t[i]
        for j in branches[i]:
            if j in R:
                continue
            mj, Uj = planes.means[j], planes.axes[j]
            A, _, Bt = np.linalg.svd(Ui.T @ Uj)
            h = hinge[frozenset((i, j))]
            R[j] = (A @ Bt).T @ R[i]
            t[j] = (h - mi) @ Ui @ R[i] + t[i] - (h - mj) @ Uj @ R[j]
            todo.append(j)
    return Y


def path_to(tree, cell, root):
    """Return the cells from one to the root of a tree."""
    todo = [[root]]
    while todo:
        way = todo.pop()
        if way[-1] == cell:
            return way[::-1]
        for i, j in tree.edges:
            for here, there in ((i, j), (j, i)):
                if way[-1] == here and there not in way:
                    todo.append([*way, there])
    raise AssertionError


def line_of(planes):
    """Return the tree that joins cells in their order, with crossings that are not used."""
    numbers = np.arange(planes.n_cells)
    edges = np.column_stack([numbers[:-1], numbers[1:]])
    firsts = np.unique(planes.labels, return_index=True)[1]
    return CellTree(edges, firsts[edges])


# The tree of cells


@pytest.mark.parametrize("seed", range(3))
def test_tree_of_pieces_is_the_least_that_edges_of_points_allow(seed):
    X, _ = arc(seed=seed)
    planes = pieces_of(X, 18, seed=seed)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    distances = cdist(X, X)
    crossing = {}
    for a, b in zip(*minimum_spanning_tree(distances).nonzero(), strict=True):
        i, j = sorted(planes.labels[[a, b]])
        if i != j:
            crossing.setdefault((i, j), []).append(distances[a, b])
    between = np.zeros((18, 18))
    for i, j in crossing:
        between[i, j] = np.linalg.norm(planes.means[i] - planes.means[j])
    expected = np.argwhere(minimum_spanning_tree(between).toarray())
    np.testing.assert_array_equal(tree.edges, expected)
    np.testing.assert_array_equal(planes.labels[tree.crossings], tree.edges)
    for (i, j), (a, b) in zip(tree.edges, tree.crossings, strict=True):
        assert distances[a, b] == pytest.approx(min(crossing[i, j]))


def test_tree_does_not_leap_between_layers():
    # Means of two facing sheets are nearer to each other than to their neighbors along the sheet.
    along = np.linspace(0, 20, 201)
    bottom, top = along * [[1.0], [0.0]], along[::-1] * [[1.0], [0.0]] + [[0.0], [1.0]]
    end = np.array([[20.2] * 9, np.linspace(0.1, 0.9, 9)])
    X = np.concatenate([bottom.T, end.T, top.T])
    planes = fit_planes(X, np.arange(len(X)) // 42, 1)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    np.testing.assert_array_equal(tree.edges, line_of(planes).edges)


def test_one_piece_has_no_tree():
    X, _ = arc(20)
    planes = fit_planes(X, np.zeros(20, dtype=int), 2)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    assert tree.edges.shape == tree.crossings.shape == (0, 2)
    motions, angles = merge(X, planes, tree, roots=np.array([0]))
    np.testing.assert_array_equal(motions.rotations, [np.eye(2)])
    assert angles.shape == (0,)


# The walk against naive ones


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("root", [0, 7])
def test_smooth_data_are_merged_as_by_the_naive_loop(seed, root):
    X, flat = arc(seed=seed)
    planes = pieces_of(X, 15, seed=seed)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    found = merged(X, planes, tree, root)
    np.testing.assert_allclose(found, plml_merge(X, planes, tree, root), rtol=0, atol=ROUNDING)
    # And that is the sheet, but for tilts of planes of ten points.
    assert procrustes_error(found, flat) < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_orthogonal_merging_projects_from_plane_to_plane(seed):
    X, _ = arc(seed=seed)
    planes = pieces_of(X, 12, seed=seed)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    root = 3
    expected = np.empty((len(X), 2))
    for cell in range(12):
        own = planes.labels == cell
        points = X[own]
        for plane in path_to(tree, cell, root):
            mean, axes = planes.means[plane], planes.axes[plane]
            points = mean + (points - mean) @ axes @ axes.T
        expected[own] = (points - planes.means[root]) @ planes.axes[root]
    found = merged(X, planes, tree, root, "orthogonal")
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)
    # Each projection shortens.
    assert np.linalg.norm(np.ptp(found, axis=0)) < np.linalg.norm(
        np.ptp(merged(X, planes, tree, root), axis=0)
    )


@pytest.mark.parametrize("seed", range(3))
def test_parallel_projections_rotate_the_model_about_means_and_project_it(seed):
    # The paper's walk over a chain of cells: the model so far, in the ambient space, is turned
    # about the mean of the last plane until parallel to the next, projected onto it, and grows.
    X, flat = arc(seed=seed)
    planes = fit_planes(X, np.floor(flat[:, 0]).astype(int), 2)
    model, members = X[:0], np.empty(0, dtype=int)
    for cell in range(planes.n_cells):
        mean, axes = planes.means[cell], planes.axes[cell]
        if cell:
            previous, before = planes.means[cell - 1], planes.axes[cell - 1]
            turn = before @ polar(before.T @ axes)[0] @ axes.T
            model = previous + (model - previous) @ turn
            model = mean + (model - mean) @ axes @ axes.T
        own = np.flatnonzero(planes.labels == cell)
        members = np.concatenate([members, own])
        model = np.concatenate([model, mean + (X[own] - mean) @ axes @ axes.T])
    expected = np.empty_like(X)
    expected[members] = model
    found = merged(X, planes, line_of(planes), 0, "parallel_projections")
    assert_equal_up_to_rigid_motion(found, expected, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_angles_are_the_largest_between_planes(seed):
    X = np.random.RandomState(seed).normal(size=(80, 5))
    planes = pieces_of(X, 9, seed=seed)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    angles = merge(X, planes, tree, roots=np.array([0]))[1]
    for (i, j), angle in zip(tree.edges, angles, strict=True):
        assert angle == pytest.approx(subspace_angles(planes.axes[i], planes.axes[j]).max())


# What does not matter


@examples(30)
@given(seed=st.integers(0, 10_000), q=st.integers(1, 3), n_cells=st.integers(2, 12))
def test_any_start_gives_the_same_map(seed, q, n_cells):
    # Also on noise, where planes stand at any angle to each other.
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(60, 4))
    planes = fit_planes(X, np.arange(60) % n_cells, q)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    maps = [merged(X, planes, tree, root) for root in rng.permutation(n_cells)[:3]]
    for other in maps[1:]:
        assert_equal_up_to_rigid_motion(other, maps[0], atol=1e-10)


@pytest.mark.parametrize("hinge", HINGES)
def test_choice_of_axes_within_planes_does_not_matter(hinge):
    X, _ = arc()
    planes = pieces_of(X, 10)
    tree = lift_tree(euclidean_spanning_tree(X), planes)
    spins = np.linalg.qr(np.random.RandomState(0).normal(size=(10, 2, 2)))[0]
    spun = Planes(
        planes.labels,
        planes.means,
        planes.axes @ spins,
        planes.ranks,
        planes.off,
        planes.extents,
    )
    assert_equal_up_to_rigid_motion(
        merged(X, spun, tree, hinge=hinge), merged(X, planes, tree, hinge=hinge), atol=ROUNDING
    )


@pytest.mark.parametrize("hinge", HINGES)
def test_trees_of_a_forest_are_merged_by_themselves(hinge):
    X, _ = arc()
    both = np.concatenate([X, X + 100.0])
    planes = pieces_of(X, 6)
    labels = np.concatenate([planes.labels, planes.labels + 6])
    two = fit_planes(both, labels, 2)
    points = euclidean_spanning_tree(X)
    forest = SpanningTree(
        2 * len(X),
        np.concatenate([points.edges, points.edges + len(X)]),
        np.tile(points.lengths, 2),
    )
    motions, angles = merge(both, two, lift_tree(forest, two), roots=np.array([2, 9]), hinge=hinge)
    assert len(angles) == 10
    images = placed(both, two, motions)
    for root, part in ((2, slice(None, len(X))), (3, slice(len(X), None))):
        alone = merged(X, planes, lift_tree(points, planes), root, hinge)
        assert_equal_up_to_rigid_motion(images[part], alone, atol=ROUNDING)
    for root in (2, 9):
        np.testing.assert_array_equal(motions.rotations[root], np.eye(2))
        np.testing.assert_array_equal(motions.translations[root], np.zeros(2))


# Folds


@pytest.mark.parametrize("degrees", [0, 20, 60, 85, 95, 120, 140])
def test_sheets_folded_along_a_line_are_laid_flat(degrees):
    # The turn of the way over the fold. The hinge lies on it: the crossing edge is next to nothing.
    rng = np.random.RandomState(0)
    flat = rng.uniform(-1, 1, size=(60, 2))
    flat[0], flat[1] = [-1e-12, 0.2], [1e-12, 0.2]
    flat[flat[:, 0] < 0, 0] -= 1e-12
    angle = np.deg2rad(degrees) * (flat[:, 0] > 0)
    X = np.column_stack([flat[:, 0] * np.cos(angle), flat[:, 0] * np.sin(angle), flat[:, 1]])
    planes = fit_planes(X, (flat[:, 0] > 0).astype(int), 2)
    tree = CellTree(np.array([[0, 1]]), np.array([[0, 1]]))
    motions, angles = merge(X, planes, tree, roots=np.array([1]))
    assert_equal_up_to_rigid_motion(placed(X, planes, motions), flat, atol=1e-11)
    assert np.rad2deg(angles[0]) == pytest.approx(min(degrees, 180 - degrees), abs=1e-6)
