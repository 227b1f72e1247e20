"""What holds for MVU on any data: invariance, and that more constraints never help."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from isofold import MVU
from isofold.neighbors import Lengths
from isofold.sdp import LowRankSDP, Soft
from support.hypothesis_profiles import examples
from support.mvu_cases import fit_quietly, neighbor_graph, sparse_graph, variance

# Rounding of lengths that are computed in another order or unit, and what it is worth.
ROUNDING = 1e-9

# Trees have a strictly feasible point: lengths are kept to this in the median, and the largest
# error of a few is within some tens of it.
TREE = 1e-6

seeds = st.integers(0, 2**32 - 1)
forms = st.sampled_from(["at_most", Soft(16.0)])
few = examples(4)


def arc(seed, n=12):
    """Return points of an arc; with 6 neighbors each they cannot fall into pieces."""
    flat = np.random.RandomState(seed).rand(n, 2) * [2.0, 1.0]
    return np.column_stack([np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]])


def optimum(X, lengths, **parameters):
    """Return an interval that holds the optimal value: what is reached, and the bound.

    It is rigorous whether or not the solver reached its tolerance.
    """
    mvu = MVU(n_jobs=1, random_state=0, lengths=lengths, **{"n_neighbors": 6, **parameters})
    solution = fit_quietly(mvu, X).solution_
    return solution.primal, solution.certificate.posed_bound


def assert_meet(first, second):
    assert first[0] <= second[1] * (1 + ROUNDING)
    assert second[0] <= first[1] * (1 + ROUNDING)


@few
@given(seed=seeds, lengths=forms)
def test_rigid_motions_change_nothing(seed, lengths):
    X = arc(seed)
    rng = np.random.RandomState(seed)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0][:3]
    moved = X @ turn + 3 * rng.normal(size=5)
    assert_meet(optimum(X, lengths), optimum(moved, lengths))


@few
@given(seed=seeds, lengths=forms)
@example(seed=31, lengths=Soft(16.0))  # two scales are close: fifteen steps do not tell them apart
def test_the_order_of_samples_changes_nothing(seed, lengths):
    X = arc(seed)
    order = np.random.RandomState(seed).permutation(len(X))
    assert_meet(optimum(X, lengths), optimum(X[order], lengths))


@few
@given(seed=seeds, lengths=forms, exponent=st.integers(-20, 20))
def test_the_unit_changes_the_unit_alone(seed, lengths, exponent):
    X, unit = arc(seed), 10.0**exponent
    scaled = optimum(unit * X, lengths)
    assert_meet(optimum(X, lengths), (scaled[0] / unit**2, scaled[1] / unit**2))


@few
@given(seed=seeds, n=st.integers(2, 15))
def test_kept_lengths_of_a_tree_in_any_order_and_unit(seed, n):
    rng = np.random.RandomState(seed)
    edges = np.array([[rng.randint(i), i] for i in range(1, n)])
    lengths = rng.uniform(0.5, 2.0, size=n - 1)
    order, unit = rng.permutation(n), 10.0 ** rng.randint(-9, 9)
    solver = LowRankSDP(tol=TREE, violation_tol=TREE, random_state=0)
    models = (
        MVU(graph=Lengths(sparse_graph(n, edges, lengths)), solver=solver, random_state=0),
        MVU(
            graph=Lengths(sparse_graph(n, order[edges], unit * lengths)),
            solver=solver,
            random_state=0,
        ),
    )
    one, other = (fit_quietly(mvu, rng.rand(n, 2)).solution_.coordinates for mvu in models)
    assert variance(other) == pytest.approx(unit**2 * variance(one), rel=100 * TREE)


@few
@given(seed=seeds, lengths=st.sampled_from(["equal", "at_most", Soft(16.0)]))
def test_the_points_are_never_above_the_bound(seed, lengths):
    X = arc(seed)
    assert optimum(X, lengths)[1] >= variance(X) * (1 - ROUNDING)


@few
@given(seed=seeds)
def test_an_added_edge_never_raises_the_optimum(seed):
    X = arc(seed)
    rng = np.random.RandomState(seed)
    n = len(X)
    # A path through all points, so that they hang together, and some further edges.
    pairs = np.column_stack(np.triu_indices(n, 1))
    is_kept = (pairs[:, 1] - pairs[:, 0] == 1) | (rng.rand(len(pairs)) < 0.2)
    is_more = is_kept.copy()
    is_more[rng.choice(np.flatnonzero(~is_kept))] = True
    lengths = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    before, after = (
        optimum(X, "at_most", graph=neighbor_graph(n, pairs[kept], lengths[kept]), n_neighbors=None)
        for kept in (is_kept, is_more)
    )
    assert after[0] <= before[1] * (1 + ROUNDING)
