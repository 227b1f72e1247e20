"""Planes of components: cells of full rank, laid out by themselves, then in one frame."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist

from isofold.exceptions import InvalidInputError
from isofold.linalg.motions import RigidMotions
from isofold.merging.layout import CoreNodes, components_of, find_core, lay_out, sound_planes
from isofold.merging.walk import HINGES
from isofold.neighbors import euclidean_spanning_tree, kneighbors
from isofold.patches.planes import fit_planes
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples

# Some dozen rotations of numbers of size ten.
ROUNDING = 1e-10

AHEAD, ASIDE, UP = np.diag([3.0, 50.0, 30.0])


def flat_sheet(n=80, seed=0, d=3):
    """Return points of a tilted plane and their coordinates within it."""
    rng = np.random.RandomState(seed)
    flat = rng.uniform(size=(n, 2)) * [4.0, 1.5]
    return flat @ np.linalg.qr(rng.normal(size=(d, d)))[0][:2], flat


def laid_out(X, labels, *, components=None, hinge="parallel", q=2, **options):
    numbers = np.arange(len(X))
    core = CoreNodes(
        points=X,
        samples=numbers,
        node_of=numbers,
        is_core=np.ones(len(X), dtype=bool),
        near=kneighbors(X, 5),
        tree=euclidean_spanning_tree(X),
        components=np.zeros(len(X), dtype=int) if components is None else components,
    )
    return lay_out(core, fit_planes(X, labels, q), hinge=hinge, **options)


def quarters(flat):
    """Return labels of two by four boxes."""
    return np.unique(np.floor(flat).astype(int) @ [2, 1], return_inverse=True)[1]


# Components


def flooded(n, edges):
    """Return the sets of nodes that edges join."""
    groups = [{node} for node in range(n)]
    for i, j in edges:
        one = next(group for group in groups if i in group)
        other = next(group for group in groups if j in group)
        if one is not other:
            groups = [g for g in groups if g is not one and g is not other] + [one | other]
    return {frozenset(int(node) for node in group) for group in groups}


def as_sets(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@examples(30)
@given(seed=st.integers(0, 1000), k=st.integers(1, 4))
def test_components_are_those_of_the_graph_as_far_as_the_tree_spans_them(seed, k):
    X = np.random.RandomState(seed).normal(size=(40, 2))
    near, tree = kneighbors(X, k), euclidean_spanning_tree(X)
    linked = flooded(40, [(i, j) for i in range(40) for j in near.indices[i]])
    owner = {node: group for group in linked for node in group}
    expected = flooded(40, [(i, j) for i, j in tree.edges if owner[i] == owner[j]])
    found = components_of(near, tree)
    assert (np.diff(np.bincount(found)) <= 0).all()
    assert as_sets(found) == expected


def test_copies_and_strays_make_no_places():
    X, _ = flat_sheet()
    strays = np.array([[90.0, 0.0, 0.0], [91.0, 0.0, 0.0], [0.0, 90.0, 0.0], [0.0, 91.0, 0.0]])
    samples = np.concatenate([X, X[:10], strays]).astype(np.float32)
    core = find_core(samples, n_neighbors=1, least=3)
    assert core.points.dtype == np.float64
    np.testing.assert_array_equal(core.points, samples[core.samples].astype(np.float64))
    np.testing.assert_array_equal(np.sort(core.samples), np.unique(core.samples))
    assert core.samples.max() < 80
    np.testing.assert_array_equal(core.is_core, cdist(samples, core.points).min(axis=1) == 0)
    assert not core.is_core[90:].any()
    # Samples of places are at them, copies at those of the first, all others at the nearest.
    np.testing.assert_array_equal(core.samples[core.node_of[core.samples]], core.samples)
    np.testing.assert_array_equal(core.node_of[80:90], core.node_of[:10])
    nearest = cdist(samples, core.points).argmin(axis=1)
    np.testing.assert_array_equal(core.node_of, nearest)
    assert core.bridges.n_edges == core.components.max()
    assert core.bridges.n_edges + core.forest.n_edges == len(core.points) - 1


def test_groups_that_are_all_small_are_kept():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    core = find_core(X, n_neighbors=1, least=3)
    np.testing.assert_array_equal(np.sort(core.samples), np.arange(4))
    assert core.components.max() == 1


def test_samples_at_one_place_have_no_core():
    assert find_core(np.ones((4, 2)), n_neighbors=3, least=3) is None


# Cells that span too little


def test_sound_pieces_stay_as_they_are():
    X, flat = flat_sheet()
    labels = quarters(flat)
    planes = sound_planes(X, labels, euclidean_spanning_tree(X), 2)
    np.testing.assert_array_equal(planes.labels, labels)


def test_a_piece_of_two_points_joins_the_nearest():
    X, flat = flat_sheet()
    labels = quarters(flat)
    pair = np.argsort(flat[:, 0])[:2]
    apart = labels.copy()
    apart[pair] = labels.max() + 1
    planes = sound_planes(X, apart, euclidean_spanning_tree(X), 2)
    assert (planes.ranks == 2).all()
    assert planes.n_cells == labels.max() + 1
    joined = planes.labels == planes.labels[pair[0]]
    assert joined.sum() > 2
    assert joined[pair].all()
    # All else as before.
    rest = np.setdiff1d(np.arange(80), np.flatnonzero(joined))
    assert len(np.unique(np.column_stack([planes.labels, apart])[rest], axis=0)) == labels.max()


@pytest.mark.parametrize(("at", "host"), [(2.4, 2), (1.6, 0)])
def test_of_two_pieces_the_nearer_is_joined(at, host):
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.9, 0.0], [1.0, 0.9, 0.0]])
    pair = np.array([[at, 0.1, 0.0], [at, 0.2, 0.0]])
    X = np.concatenate([square, pair, square + AHEAD])
    labels = np.repeat([0, 1, 2], [4, 2, 4])
    planes = sound_planes(X, labels, euclidean_spanning_tree(X), 2)
    assert planes.n_cells == 2
    np.testing.assert_array_equal(planes.labels[[4, 5]], planes.labels[labels == host][:2])


def test_every_point_a_piece_of_its_own_becomes_planes():
    X, _ = flat_sheet()
    planes = sound_planes(X, np.arange(80), euclidean_spanning_tree(X), 2)
    assert (planes.ranks == 2).all()
    assert planes.n_cells > 1
    assert planes.sizes.min() >= 3


def test_points_of_a_line_become_one_piece():
    X = np.linspace(0, 1, 30)[:, None] * [[1.0, 2.0, 2.0]]
    planes = sound_planes(X, np.arange(30) // 5, euclidean_spanning_tree(X), 2)
    np.testing.assert_array_equal(planes.ranks, [1])
    # Of one dimension nothing is missing.
    planes = sound_planes(X, np.arange(30) // 5, euclidean_spanning_tree(X), 1)
    assert planes.n_cells == 6


# One frame


@pytest.mark.parametrize("hinge", HINGES)
def test_flat_data_come_back_in_principal_axes(hinge):
    X, flat = flat_sheet()
    found = laid_out(X, quarters(flat), hinge=hinge)
    assert_equal_up_to_rigid_motion(found.images, flat, atol=ROUNDING)
    np.testing.assert_allclose(found.images.mean(axis=0), 0, atol=ROUNDING)
    scatter = found.images.T @ found.images
    assert scatter[0, 0] > scatter[1, 1]
    assert abs(scatter[0, 1]) < ROUNDING
    labels = found.planes.labels
    np.testing.assert_array_equal(
        found.motions.apply(found.planes.coordinates(X, labels), labels), found.images
    )
    assert len(found.tree.edges) == len(found.angles) == found.planes.n_cells - 1


def test_components_keep_their_shapes_and_distance():
    X, flat = flat_sheet()
    both = np.concatenate([X, X[:50] + UP])
    labels = np.concatenate([quarters(flat), quarters(flat[:50]) + 20])
    labels = np.unique(labels, return_inverse=True)[1]
    components = np.repeat([0, 1], [80, 50])
    found = laid_out(both, labels, components=components, start=100)
    first, second = found.images[:80], found.images[80:]
    assert_equal_up_to_rigid_motion(first, flat, atol=ROUNDING)
    assert_equal_up_to_rigid_motion(second, flat[:50], atol=ROUNDING)
    # Each by itself: a tree less than cells, twice.
    assert len(found.tree.edges) == found.planes.n_cells - 2
    gap = cdist(both[:80], both[80:]).min()
    assert cdist(first, second).min() >= gap * (1 - 1e-3)
    assert cdist(first, second).min() < 2 * gap


def test_start_does_not_matter():
    X, flat = flat_sheet()
    X = X + 0.1 * np.random.RandomState(1).normal(size=X.shape)
    maps = [laid_out(X, quarters(flat), start=start).images for start in (0, 17, 60)]
    for other in maps[1:]:
        assert_equal_up_to_rigid_motion(other, maps[0], atol=ROUNDING)


def test_improvement_is_asked_for_every_component_of_several_cells():
    X, flat = flat_sheet()
    single = X[:6] + ASIDE
    both = np.concatenate([X, X[:50] + UP, single])
    labels = np.concatenate([quarters(flat), quarters(flat[:50]) + 20, np.full(6, 40)])
    labels = np.unique(labels, return_inverse=True)[1]
    components = np.repeat([0, 1, 2], [80, 50, 6])
    asked = []

    def improve(members, planes, images):
        asked.append(members)
        assert len(members) == len(images) == len(planes.labels)
        assert_equal_up_to_rigid_motion(images, both[members], atol=ROUNDING)
        coordinates = planes.coordinates(both[members], planes.labels)
        # Everything onto its own mean: a map that is easily known.
        nothing = np.zeros((planes.n_cells, 2, 2))
        assert coordinates.shape == images.shape
        places = np.arange(2.0 * planes.n_cells).reshape(-1, 2)
        return planes, RigidMotions(nothing, places), None

    found = laid_out(both, labels, components=components, improve=improve)
    assert [len(members) for members in asked] == [80, 50]
    np.testing.assert_array_equal(np.concatenate(asked), np.arange(130))
    # All points of a cell at one place, and the single cell as it was.
    for cell in np.unique(labels[:130]):
        np.testing.assert_allclose(np.ptp(found.images[labels == cell], axis=0), 0, atol=ROUNDING)
    np.testing.assert_allclose(pdist(found.images[130:]), pdist(single), atol=ROUNDING)


def test_isomap_places_cells_as_they_are():
    X, flat = flat_sheet()
    labels = quarters(flat)
    found = laid_out(X, labels, hinge="isomap")
    for cell in np.unique(labels):
        own = labels == cell
        np.testing.assert_allclose(pdist(found.images[own]), pdist(flat[own]), atol=ROUNDING)
    # Means are at their places, up to the paths over six neighbors among eight.
    means = np.stack([found.images[labels == cell].mean(axis=0) for cell in np.unique(labels)])
    true = np.stack([flat[labels == cell].mean(axis=0) for cell in np.unique(labels)])
    assert_equal_up_to_rigid_motion(means, true, atol=0.1)


def test_isomap_needs_hyperplanes():
    X, flat = flat_sheet(d=4)
    with pytest.raises(InvalidInputError, match="hyperplanes"):
        laid_out(X, quarters(flat), hinge="isomap")
