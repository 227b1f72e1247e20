"""MVU with the low-rank engine agrees with MVU by a general conic solver, in every form."""

import numpy as np
import pytest
from sklearn.base import clone

from isofold import MVU
from isofold.neighbors import Lengths, resolve_graph
from isofold.quality import procrustes_error
from isofold.sdp import ConicSDP, LowRankSDP, Soft, Status
from support.mvu_cases import fit_quietly, sparse_graph, variance
from support.quick import quick_first
from support.sdp_problems import cycle_edges, squared_lengths

# The gap that both are asked for. Kept lengths are met to it as well, the median of them by the
# engine; an error of lengths is worth twice as much variance.
TOL = 1e-6
ALLOWED = 10 * TOL
ROUNDING = 1e-10
# The default keeps the median length to 1e-3; the mean error is some times that, and worth twice as
# much variance.
DEFAULT = 1e-2

ENGINE = LowRankSDP(tol=TOL, violation_tol=TOL, random_state=0)
CLARABEL = ConicSDP(tol=TOL)


def arc(n, seed=0):
    """Return points of an arc of a cylinder."""
    flat = np.random.RandomState(seed).rand(n, 2) * [2.5, 1.0]
    return np.column_stack([np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]])


def both(X, engine=ENGINE, judge=CLARABEL, **parameters):
    """Return MVU fitted with the engine and with a judge."""
    mvu = MVU(n_jobs=1, random_state=0, **parameters)
    return [fit_quietly(clone(mvu).set_params(solver=solver), X) for solver in (engine, judge)]


def assert_same_optimum(ours, theirs, allowed=ALLOWED):
    """Assert that two intervals from a value to its bound meet, and that they are narrow."""
    first, second = ours.solution_, theirs.solution_
    assert first.status is Status.CERTIFIED, first.message
    # The judge may end a little above its own tolerance: what counts is what it proves.
    assert second.gap <= allowed, second.message
    assert first.certificate.posed_bound >= second.primal * (1 - allowed)
    assert second.certificate.posed_bound >= first.primal * (1 - allowed)


@pytest.mark.parametrize("seed", quick_first(range(2)))
@pytest.mark.parametrize(
    ("lengths", "angles"), [("at_most", False), (Soft(4.0), False), (Soft(4.0), True)]
)
def test_neighbor_graph(lengths, angles, seed):
    ours, theirs = both(arc(20, seed), lengths=lengths, n_neighbors=5, angles=angles)
    assert_same_optimum(ours, theirs)
    assert ours.spectrum_[0] == pytest.approx(theirs.spectrum_[0], rel=1e-2)


@pytest.mark.parametrize("seed", quick_first(range(2)))
def test_kept_lengths_of_well_posed_graphs(seed):
    rng = np.random.RandomState(seed)
    tree = np.array([[rng.randint(i), i] for i in range(1, 15)])
    ladder = np.array([[1, 2], [0, 1], [0, 2], [1, 3], [2, 3]])
    for n, edges in ((15, tree), (12, cycle_edges(12)), (4, ladder)):
        graph = Lengths(sparse_graph(n, edges, rng.uniform(0.8, 1.4, size=len(edges))))
        ours, theirs = both(rng.rand(n, 2), graph=graph)
        assert_same_optimum(ours, theirs)
        # The Gram matrix is unique here; a gap ε leaves √ε of its size.
        assert procrustes_error(ours.embedding_, theirs.embedding_) < 10 * np.sqrt(TOL)


@pytest.mark.parametrize("seed", quick_first(range(2)))
def test_kept_lengths_of_a_neighbor_graph_are_bounded_alike(seed):
    # Its dual is not attained, and neither answer meets all lengths. But multipliers w with
    # L_w ⪰ I bound the variance of any points by Σ w_e |y_i - y_j|²: those of either solver must
    # bound what the other reaches, with its own lengths, and the points themselves.
    X = arc(20, seed)
    ours, theirs = both(X, engine=None, n_neighbors=6)
    assert ours.solution_.status is Status.CERTIFIED
    edges = ours.graph_.edges
    for mvu in (ours, theirs):
        w = mvu.solution_.certificate.multipliers
        for Y in (X, ours.solution_.coordinates, theirs.solution_.coordinates):
            assert variance(Y) <= w @ squared_lengths(Y, edges) * (1 + ROUNDING)
        posed = w @ squared_lengths(X, edges)
        assert mvu.solution_.certificate.posed_bound == pytest.approx(posed, rel=ROUNDING)
    reached = [variance(mvu.solution_.coordinates) for mvu in (ours, theirs)]
    assert reached[0] == pytest.approx(reached[1], rel=DEFAULT)


def test_splitting_solver():
    ours, theirs = both(
        arc(20), judge=ConicSDP(solver="scs", tol=1e-4), lengths=Soft(16.0), n_neighbors=5
    )
    assert_same_optimum(ours, theirs, allowed=2e-4)


@pytest.mark.parametrize("lengths", ["equal", "at_most", Soft(16.0)])
def test_distances_of_no_points(lengths):
    # Distances along a graph: they obey the triangle inequality, and no points have them all.
    edges = cycle_edges(9)
    graph = resolve_graph(np.zeros((9, 1)), Lengths(sparse_graph(9, edges, 1.0)))
    ours, theirs = both(np.random.RandomState(0).rand(9, 2), graph=graph, lengths=lengths)
    assert_same_optimum(ours, theirs)
