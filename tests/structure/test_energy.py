import numpy as np
import pytest

from isofold.linalg import procrustes
from isofold.structure import RigidGroup
from isofold.structure.energy import Intervals, Shapes, Stretch, Volumes, descend


def _points(rng, n=9, p=3):
    return np.ascontiguousarray(rng.normal(size=(n, p)))


def _intervals(rng):
    pairs = np.array([[0, 1], [1, 2], [3, 4], [0, 5], [2, 5]])
    lower = rng.uniform(0.2, 4.0, size=5)
    return Intervals(pairs, lower, lower + 0.3, rng.uniform(0.5, 2.0, size=5))


def _terms(rng, d):
    corners = np.array([[0, 1, 2, 3], [2, 4, 5, 6]])[:, : d + 1].copy()
    groups = [
        RigidGroup.of([0, 1, 2, 3, 4], rng.normal(size=(5, d))),
        RigidGroup.of([4, 5, 6], rng.normal(size=(3, d)), has_hand=False),
    ]
    return [
        _intervals(rng),
        Stretch(np.array([[0, 7], [3, 8]]), np.array([0.4, 0.9]), 1.5),
        Volumes(corners, rng.normal(size=2), 0.7),
        Shapes.of(groups, d, weight=1.3),
    ]


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("which", range(4))
def test_gradients_are_those_of_the_energy(d, which):
    rng = np.random.default_rng(10 * d + which)
    term, Y, step = _terms(rng, d)[which], _points(rng, p=d), 1e-6
    gradient = np.zeros_like(Y)
    term.add(Y, gradient)
    for i, k in np.ndindex(Y.shape):
        ahead, behind = Y.copy(), Y.copy()
        ahead[i, k] += step
        behind[i, k] -= step
        slope = (term.add(ahead, np.zeros_like(Y)) - term.add(behind, np.zeros_like(Y))) / step / 2
        # Second-order differences of terms of order 10: the error is about step² + eps/step.
        assert gradient[i, k] == pytest.approx(slope, abs=2e-7)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("has_hand", [True, False])
def test_shapes_are_moved_as_procrustes_does(d, has_hand):
    rng = np.random.default_rng(3)
    for _ in range(20):
        shape, Y = rng.normal(size=(5, d)), _points(rng, 5, d)
        term = Shapes.of([RigidGroup.of(range(5), shape, has_hand=has_hand)], d)
        fit = procrustes(shape, Y, reflection=not has_hand)
        assert term.add(Y, np.zeros_like(Y)) == pytest.approx(5 * fit.residual**2, abs=1e-12)
        assert term.posed(Y) == pytest.approx(fit.transform.apply(shape), abs=1e-7)


def test_a_mirrored_group_costs_nothing_only_without_a_hand():
    rng = np.random.default_rng(0)
    shape = rng.normal(size=(4, 3))
    mirrored = np.ascontiguousarray(shape * [1.0, 1.0, -1.0])
    for has_hand in (True, False):
        term = Shapes.of([RigidGroup.of(range(4), shape, has_hand=has_hand)], 3)
        assert (term.add(mirrored, np.zeros((4, 3))) > 1e-3) == has_hand


@pytest.mark.parametrize("flat", [1, 2])
def test_flat_groups_are_their_own_mirror_images(flat):
    rng = np.random.default_rng(1)
    shape = np.pad(rng.normal(size=(4, flat)), ((0, 0), (0, 3 - flat)))
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for sign in (1.0, -1.0):
        term = Shapes.of([RigidGroup.of(range(4), shape)], 3)
        moved = np.ascontiguousarray(shape @ (rotation * [1.0, 1.0, sign]) + 3.0)
        assert term.add(moved, np.zeros((4, 3))) == pytest.approx(0.0, abs=1e-28)


def test_intervals_are_convex_in_the_squared_distance_with_their_conjugate():
    rng = np.random.default_rng(5)
    term = _intervals(rng)
    squares = np.linspace(1e-4, 60.0, 60_001)
    for e in range(5):
        apart = np.sqrt(squares)
        energy = term.weights[e] * (apart - np.clip(apart, term.lower[e], term.upper[e])) ** 2
        for s in (-1.5, -0.2, 0.0, 0.3 * term.weights[e]):
            expected = (s * squares - energy).max()
            found = term.conjugate(np.full(5, s))[e]
            # A grid of step 1e-3 misses a smooth maximum by less than its square.
            assert found == pytest.approx(expected, abs=1e-4)
        assert np.isinf(term.conjugate(term.weights)[e])


def test_fenchel_holds_with_equality_at_the_slopes():
    rng = np.random.default_rng(6)
    Y = _points(rng, p=4)
    stretch = Stretch(np.array([[0, 7], [3, 8]]), np.array([0.4, 0.9]), 1.5)
    for term in (_intervals(rng), stretch):
        slopes = term.slopes(Y)
        squares = np.sum((Y[term.pairs[:, 0]] - Y[term.pairs[:, 1]]) ** 2, axis=1)
        value = term.add(Y, np.zeros_like(Y))
        assert slopes @ squares - term.conjugate(slopes).sum() == pytest.approx(value, rel=1e-12)


def test_a_descent_finds_a_triangle_and_leaves_fixed_points():
    term = Intervals(
        np.array([[0, 1], [1, 2], [0, 2]]),
        np.array([3.0, 4.0, 5.0]),
        np.array([3.0, 4.0, 5.0]),
        np.ones(3),
    )
    start = np.array([[0.0, 0.0], [1.0, 0.1], [0.3, 2.0]])
    found, energy = descend([term], start, 200, fixed=np.array([0]), tol=1e-14)
    assert energy == pytest.approx(0.0, abs=1e-12)
    assert term.lengths(found) == pytest.approx([3.0, 4.0, 5.0], abs=1e-6)
    assert (found[0] == 0.0).all()
