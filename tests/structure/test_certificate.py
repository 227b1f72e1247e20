"""Bounds that hold in every dimension, beside an independent solver."""

import numpy as np
import pytest

from isofold.exceptions import DoubtfulMapWarning
from isofold.structure import RigidGroup, StructureFromBounds, StructureProblem
from isofold.structure.certificate import broken_triangles, relaxation_bound
from isofold.structure.energy import Intervals, Stretch, descend
from support.frameworks import near_pairs, scattered
from support.quick import quick_first


def intervals(seed, n=7, noise=0.3):
    rng = np.random.default_rng(seed)
    X = scattered(n, 3, seed)
    pairs = np.array(near_pairs(X, 4))
    apart = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    noisy = apart * (1 + noise * rng.standard_normal(len(pairs)))
    width = rng.choice([0.0, 0.1], size=len(pairs))
    return Intervals(pairs, noisy, noisy + width, rng.uniform(0.5, 2.0, size=len(pairs)))


def optimum(term, pull=None, n=7):
    """Minimize the relaxation over Gram matrices with an interior-point solver."""
    cp = pytest.importorskip("cvxpy", reason="the extra `conic` is not installed")
    G = cp.Variable((n, n), PSD=True)

    def squares(pairs):
        i, j = pairs.T
        return cp.hstack([G[a, a] + G[b, b] - 2 * G[a, b] for a, b in zip(i, j, strict=True)])

    # dist(√g, [l, u])² is the least of (√g - √v)² = g + v - 2√(gv) over v in [l², u²].
    g, v = squares(term.pairs), cp.Variable(len(term.pairs))
    means = cp.hstack([cp.geo_mean(cp.hstack([g[e], v[e]])) for e in range(len(term.pairs))])
    value = term.weights @ (g + v - 2 * means)
    if pull is not None:
        value -= (pull.scale * pull.pulls) @ cp.sqrt(squares(pull.pairs))
    problem = cp.Problem(cp.Minimize(value), [v >= term.lower**2, v <= term.upper**2])
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("with_pull", quick_first([True, False]))
def test_value_and_bound_meet_at_the_optimum_of_another_solver(with_pull):
    term = intervals(1)
    pull = (
        Stretch(np.array([[0, 6], [2, 5], [1, 4]]), np.array([0.3, 0.2, 0.4]))
        if with_pull
        else None
    )
    terms = [term, pull] if with_pull else [term]
    start = np.random.default_rng(0).standard_normal((7, 7))
    found, _ = descend(terms, start, 5000, tol=1e-16)
    value, bound, _ = relaxation_bound([term], found, pull)
    expected = optimum(term, pull)
    # An interior point ends within about 1e-7 of the optimum of order 1; so does L-BFGS.
    assert value == pytest.approx(expected, abs=1e-5)
    assert bound <= value
    assert bound == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_a_bound_is_below_every_structure_in_every_dimension(seed):
    term = intervals(seed)
    rough = descend([term], np.random.default_rng(seed).standard_normal((7, 5)), 30)[0]
    bound = relaxation_bound([term], rough)[1]
    for dimension in (1, 2, 3, 6):
        begin = np.random.default_rng(9).standard_normal((7, dimension))
        assert descend([term], begin, 2000)[1] >= bound


def test_a_contradiction_in_any_dimension_is_proved_and_named():
    pairs = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]]
    # The middle of a triangle of sides 1 is 0.577 from its corners, in any dimension.
    for reach, is_wrong in ((0.57, True), (0.58, False)):
        given = (
            StructureProblem(4).with_distances(pairs[:3], 1.0).with_bounds(pairs[3:], upper=reach)
        )
        model = StructureFromBounds(certify=True, random_state=0)
        if is_wrong:
            with pytest.warns(DoubtfulMapWarning, match="No structure in any dimension"):
                model.fit(given)
        else:
            model.fit(given)
        proof = model.certificate_
        assert proof.is_contradiction == is_wrong
        assert proof.gap <= 1e-4
        assert 0.0 <= proof.penalty_bound <= model.structure_.energy + 1e-12
        # No triangle is broken: only the whole is impossible.
        assert len(broken_triangles(given)[0]) == 0


def test_broken_triangles_are_found_with_their_excess():
    chain = StructureProblem(5, names=tuple("abcde")).with_bounds(
        [[k, k + 1] for k in range(4)], upper=1.0
    )
    pairs, excess = broken_triangles(chain.with_bounds([[0, 4]], lower=4.5))
    assert pairs.tolist() == [[0, 4]]
    assert excess == pytest.approx([0.5])
    with pytest.warns(DoubtfulMapWarning, match="a and e are at least 0.5 farther apart"):
        StructureFromBounds(random_state=0).fit(chain.with_bounds([[0, 4]], lower=4.5))
    assert len(broken_triangles(chain.with_bounds([[0, 4]], lower=4.0))[0]) == 0


def test_groups_break_triangles_too():
    stick = RigidGroup.of([0, 1], [[0.0], [3.0]])
    given = StructureProblem(3).with_groups([stick]).with_bounds([[0, 2], [2, 1]], upper=1.0)
    assert broken_triangles(given)[1] == pytest.approx([1.0])


def test_anchors_are_certified_by_their_distances():
    X = scattered(10, 2, 3)
    pairs = np.array(near_pairs(X, 5))
    apart = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    given = StructureProblem(10).with_distances(pairs, apart).with_anchors([0, 1, 2], X[:3])
    model = StructureFromBounds(2, certify=True, random_state=0).fit(given)
    assert model.certificate_.gap <= 1e-4
    assert not model.certificate_.is_contradiction


def test_triangles_that_slack_mends_are_no_finding():
    chain = StructureProblem(3).with_bounds([[0, 1], [1, 2]], upper=1.0)
    given = chain.with_bounds([[0, 2]], lower=2.5, upper=3.0)
    with pytest.warns(DoubtfulMapWarning, match="farther apart than a path"):
        StructureFromBounds(random_state=0).fit(given)
    assert (
        "broken_triangles"
        not in StructureFromBounds(slack=1.3, random_state=0).fit(given).diagnosis_
    )
