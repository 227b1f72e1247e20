"""Sensor networks: exact ranges, flaps, parts without anchors, and what is refused."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold.linalg import procrustes
from isofold.structure import StructureFromBounds, free_motions
from isofold.structure.network import NetworkLocalizer, SensorNetwork, make_network
from isofold.structure.network.motions import network_motions


def located(network, n_components=2, **parameters):
    """Fit without the warnings that a test does not look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return NetworkLocalizer(n_components, random_state=0, **parameters).fit(network)


def network_of(X, radius, anchors, *, with_radius=True):
    """Return the network of exact ranges of all pairs within a radius."""
    X = np.asarray(X, dtype=float)
    pairs = np.array([(i, j) for i in range(len(X)) for j in range(i) if apart(X, i, j) <= radius])
    ranges = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    return SensorNetwork.of(
        len(X),
        pairs,
        ranges,
        anchors=anchors,
        anchor_positions=X[anchors],
        radius=radius if with_radius else None,
    )


def apart(X, i, j):
    return np.linalg.norm(X[i] - X[j])


@pytest.mark.parametrize("shape", ["uniform", "grid", "C", "holes"])
def test_exact_ranges_of_rigid_networks_give_exact_positions(shape):
    network = make_network(80, degree=24, noise=0.0, n_anchors=5, shape=shape, random_state=3)
    model = located(network)
    assert model.free_motions_.is_rigid
    np.testing.assert_allclose(model.coordinates_, network.positions, atol=1e-6)
    assert not model.is_ambiguous_.any()


def test_exact_ranges_in_space():
    network = make_network(90, 3, degree=35, noise=0.0, n_anchors=6, random_state=0)
    model = located(network, 3)
    np.testing.assert_allclose(model.coordinates_, network.positions, atol=1e-6)


def two_blobs():
    """Return two dense blobs that share two nodes, 0 and 1; anchors are in the left one."""
    rng = np.random.default_rng(0)
    left = np.column_stack([rng.uniform(-1.4, -0.3, 14), rng.uniform(-0.6, 0.6, 14)])
    right = np.column_stack([rng.uniform(0.3, 1.2, 10), rng.uniform(-0.6, 0.6, 10)])
    X = np.concatenate([[[0.0, -0.5], [0.0, 0.5]], left, right])
    right = np.arange(16, 26)
    pairs = [
        (i, j)
        for i in range(len(X))
        for j in range(i)
        if not (i in right and 2 <= j < 16) and apart(X, i, j) < 1.5
    ]
    return X, np.array(pairs), right


def test_a_flap_that_may_be_mirrored_is_told():
    X, pairs, right = two_blobs()
    ranges = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    anchors = np.arange(2, 8)
    network = SensorNetwork.of(len(X), pairs, ranges, anchors=anchors, anchor_positions=X[anchors])
    with pytest.warns(DoubtfulMapWarning, match="mirror image"):
        model = NetworkLocalizer(random_state=0).fit(network)
    np.testing.assert_array_equal(np.flatnonzero(model.is_ambiguous_), right)
    flap = max(model.flaps_, key=lambda each: len(each.nodes))
    assert set(flap.hinge) == {0, 1}
    # One of the two positions is the true one.
    either = [model.coordinates_[flap.nodes], flap.mirrored]
    assert min(np.abs(Y - X[flap.nodes]).max() for Y in either) < 1e-3
    assert np.abs(either[0] - either[1]).max() > 0.5


def test_a_mirrored_flap_is_turned_over_where_radios_would_have_met():
    X, pairs, right = two_blobs()
    folded = X.copy()
    folded[right, 0] *= -1.0
    ranges = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    anchors = np.arange(2, 8)
    # Mirrored, both blobs would be within each other's reach.
    radius = 0.55
    kept = ranges <= radius
    kept |= (pairs < 2).any(axis=1)
    network = SensorNetwork.of(
        len(X), pairs[kept], ranges[kept], anchors=anchors, anchor_positions=X[anchors]
    )
    model = located(replace(network, radius=radius))
    np.testing.assert_allclose(model.coordinates_[right], X[right], atol=1e-3)


def test_a_node_with_two_ranges_is_reported():
    corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    X = np.array([*corners, [0.5, 0.4], [1.5, 0.5]])
    pairs = [[0, 4], [1, 4], [2, 4], [1, 5], [3, 5]]
    ranges = [apart(X, i, j) for i, j in pairs]
    network = SensorNetwork.of(6, pairs, ranges, anchors=[0, 1, 2, 3], anchor_positions=corners)
    model = located(network)
    few = model.diagnosis_["few_ranges"]
    np.testing.assert_array_equal(few.samples, [5])
    # Its mirror image at the line through nodes 1 and 3 is (0.5, 0.5).
    assert model.is_ambiguous_[5]
    assert not model.is_ambiguous_[4]
    np.testing.assert_allclose(model.coordinates_[4], X[4], atol=1e-6)


def test_parts_without_enough_anchors_are_reported_and_finite():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.uniform(0, 1, (20, 2)), rng.uniform(0, 1, (12, 2)) + 9, [[50, 50]]])
    network = network_of(X, 0.9, [0, 1, 2, 3, 20])
    with pytest.warns(DisconnectedGraphWarning, match="13 nodes in 2 parts are not located"):
        model = NetworkLocalizer(random_state=0).fit(network)
    assert np.isfinite(model.coordinates_).all()
    np.testing.assert_array_equal(model.diagnosis_["not_located"].samples, np.arange(20, 33))
    np.testing.assert_allclose(model.coordinates_[:20], X[:20], atol=1e-6)
    assert model.is_ambiguous_[21:].all()
    np.testing.assert_array_equal(model.structure_.component[[0, 20, 32]], [0, 1, 2])
    # The second part has its shape, around its anchor.
    motion = procrustes(model.coordinates_[20:32], X[20:32])
    assert motion.residual < 1e-6
    np.testing.assert_allclose(model.coordinates_[20], X[20])


def test_without_anchors_the_shape_is_found():
    network = make_network(60, degree=24, noise=0.0, n_anchors=0, random_state=2)
    model = located(network)
    assert procrustes(model.coordinates_, network.positions).residual < 1e-6
    assert "no_anchors" in model.diagnosis_


def test_rotated_scaled_and_shifted_anchors_move_the_result():
    network = make_network(60, degree=14, noise=0.03, n_anchors=8, random_state=4)
    angle, scale, shift = 0.7, 25.0, np.array([3.0, -8.0])
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    X = network.anchors.positions
    other = replace(
        network,
        ranges=scale * network.ranges,
        radius=scale * network.radius,
        anchors=replace(network.anchors, positions=scale * X @ rotation + shift),
    )
    one, two = located(network), located(other)
    # The extra dimensions start from the same noise; the rest moves along. Descents end within
    # their tolerance of the same minimum.
    moved = scale * one.coordinates_ @ rotation + shift
    sure = ~(one.is_ambiguous_ | two.is_ambiguous_)
    assert sure.mean() > 0.9
    np.testing.assert_allclose(two.coordinates_[sure], moved[sure], atol=1e-2 * other.radius)


def test_same_seed_same_bytes():
    network = make_network(60, noise=0.05, random_state=0)
    again = make_network(60, noise=0.05, random_state=0)
    assert network.ranges.tobytes() == again.ranges.tobytes()
    one, two = located(network), located(again)
    assert one.coordinates_.tobytes() == two.coordinates_.tobytes()
    assert one.standard_errors_.tobytes() == two.standard_errors_.tobytes()


def test_standard_errors_are_about_as_large_as_errors():
    network = make_network(250, degree=18, noise=0.05, n_anchors=20, random_state=1)
    model = located(network)
    free = ~model.is_ambiguous_
    free[network.anchors.points] = False
    errors = np.linalg.norm(model.coordinates_ - network.positions, axis=1)[free]
    ratio = np.sqrt(np.mean((errors / model.standard_errors_[free]) ** 2))
    # A few hundred correlated nodes, and standard errors known to some 15 %.
    assert 0.7 < ratio < 1.4
    assert abs(model.noise_ - 0.05) < 0.01


def test_flaps_tried_both_ways_lower_the_error():
    network = make_network(120, degree=10, noise=0.05, n_anchors=8, random_state=6)
    plain, repaired = located(network, repair=False), located(network)
    assert repaired.structure_.energy <= plain.structure_.energy * (1.0 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_motions_are_those_of_the_whole_network(seed):
    network = make_network(90, degree=9, noise=0.0, n_anchors=9, random_state=seed)
    quick = network_motions(network, network.positions)
    whole = free_motions(network.problem(), network.positions)
    assert quick.n_motions == whole.n_motions
    np.testing.assert_array_equal(quick.bodies == 0, whole.bodies == 0)


def test_a_network_is_a_structure_problem():
    network = make_network(40, degree=20, noise=0.0, n_anchors=5, random_state=1)
    problem = network.problem(network.positions)
    assert len(problem.bounds) == len(network.pairs)
    assert len(network.problem(0.5 * network.positions).bounds) > len(network.pairs)
    solved = StructureFromBounds(2, random_state=0).fit(problem)
    np.testing.assert_allclose(solved.coordinates_, network.positions, atol=1e-6)


def test_doubtful_data_are_told():
    network = make_network(80, degree=20, noise=0.01, n_anchors=8, random_state=0)
    a = network.anchors.points
    wrong = network.ranges.copy()
    free = np.flatnonzero(~np.isin(network.pairs, a).any(axis=1))[3]
    wrong[free] *= 2.0
    model = located(replace(network, ranges=wrong))
    told = model.diagnosis_["ranges_misfit"]
    assert set(network.pairs[free]) <= set(told.samples.tolist())
    assert "radius_too_short" in located(replace(network, radius=0.7 * network.radius)).diagnosis_
    assert "ranges_missing" in located(replace(network, radius=2.0 * network.radius)).diagnosis_


def test_anchors_that_contradict_ranges_or_lie_in_line_are_told():
    network = make_network(60, degree=24, noise=0.0, n_anchors=8, random_state=0)
    between = np.isin(network.pairs, network.anchors.points).all(axis=1)
    node = network.pairs[between][0, 0]
    moved = network.anchors.positions.copy()
    moved[network.anchors.points == node] += 0.4 * network.radius
    other = replace(network, anchors=replace(network.anchors, positions=moved))
    assert "anchors_misfit" in located(other).diagnosis_
    X = np.array([[0, 0], [1, 0], [2, 0], [0.5, 0.7], [1.5, 0.8], [1.0, 1.5]], dtype=float)
    flat = located(network_of(X, 3.0, [0, 1, 2]))
    np.testing.assert_array_equal(flat.diagnosis_["flat_anchors"].samples, np.arange(6))
    assert flat.is_ambiguous_[3:].all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ranges": [1.0, -1.0]}, "negative"),
        ({"ranges": [1.0, np.nan]}, "NaN"),
        ({"ranges": [1.0, np.inf]}, "infinite"),
        ({"pairs": [[0, 1], [1, 1]]}, "twice"),
        ({"pairs": [[0, 1], [1, 7]]}, "point 7"),
        ({"pairs": [[0, 1], [1, 0]], "ranges": [1.0, 9.0]}, "contradict"),
        ({"radius": -1.0}, "radius"),
        ({"anchors": [0], "anchor_positions": [[np.nan, 0.0]]}, "finite"),
    ],
)
def test_what_is_no_network_is_refused(change, message):
    given = {"pairs": [[0, 1], [1, 2]], "ranges": [1.0, 2.0], **change}
    with pytest.raises(InvalidInputError, match=message):
        SensorNetwork.of(3, **given)


def test_ranges_both_ways_are_averaged():
    network = SensorNetwork.of(3, [[0, 1], [1, 0], [2, 1]], [1.0, 1.2, 2.0])
    np.testing.assert_array_equal(network.pairs, [[0, 1], [1, 2]])
    np.testing.assert_allclose(network.ranges, [1.1, 2.0])


def test_what_the_localizer_does_not_take_is_refused():
    network = make_network(20, random_state=0)
    with pytest.raises(TypeError, match="SensorNetwork"):
        NetworkLocalizer().fit(network.positions)
    with pytest.raises(InvalidInputError, match="coordinates"):
        NetworkLocalizer(3).fit(network)
    with pytest.raises(InvalidInputError, match="weights"):
        NetworkLocalizer(weights="none").fit(network)
    with pytest.raises(InvalidInputError, match="shape"):
        make_network(shape="star")


def test_degenerate_networks_have_finite_positions():
    lonely = located(SensorNetwork.of(4, np.empty((0, 2), dtype=int), []))
    assert np.isfinite(lonely.coordinates_).all()
    on_top = located(SensorNetwork.of(4, [[0, 1], [1, 2], [2, 3]], [0.0, 0.0, 0.0]))
    assert np.isfinite(on_top.coordinates_).all()
    known = SensorNetwork.of(2, [[0, 1]], [1.0], anchors=[0, 1], anchor_positions=[[0, 0], [1, 0]])
    np.testing.assert_allclose(located(known).coordinates_, [[0, 0], [1, 0]])
