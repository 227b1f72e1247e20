from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from isofold.clustering.connectivity import count_fragments
from isofold.clustering.localized.assignment import CheapestClusters, reachable
from isofold.clustering.localized.descent import descend
from isofold.clustering.localized.partition import LocalizedProblem, medoids_near_centers
from isofold.clustering.localized.restarts import (
    RHOS,
    best_partition,
    draw_restarts,
    make_memory,
    smallest_connected,
)
from isofold.clustering.localized.seeding import Seeding
from isofold.neighbors import build_graph
from support.hypothesis_profiles import examples
from support.ldlc_cases import (
    KINDS,
    geodesics,
    naive_costs,
    naive_flats,
    naive_round,
    posed,
    rounding_of,
    seeded,
    some_points,
)

SHARES = (0.0, 1e-12, 1e-4, 0.01, 0.1, 0.5, 1.0)

TIES = 1e-11
"""Costs that differ by 1e-12 of their size count as equal, here in up to ten steps."""

runs = {
    "kind": st.sampled_from(KINDS),
    "seed": st.integers(0, 2**31 - 1),
    "n_clusters": st.integers(1, 8),
    "n_components": st.integers(0, 3),
    "rho": st.sampled_from(SHARES),
    "max_iter": st.sampled_from([1, 2, 100]),
}


def run(kind, seed, *, n_clusters, n_components, rho, max_iter=100):
    """Return a problem and where its descent ends."""
    problem = posed(
        some_points(kind, seed),
        n_clusters=n_clusters,
        n_components=n_components,
        rho=rho,
        max_iter=max_iter,
    )
    return problem, descend(problem, seeded(problem, seed), np.random.RandomState(seed))


def rows_of(problem):
    return np.zeros((0, 0)) if problem.graph is None else geodesics(problem.graph)


def costs_at(problem, partition):
    """Return what every point costs in every cluster, all geodesics computed."""
    return naive_costs(
        problem.points, rows_of(problem), partition.medoids, partition.subspaces, problem.rho
    )


def start_from(problem, labels, medoids):
    """Return seeds with the labels of other clusters, as no other seeding would give them."""
    if problem.graph is None:
        return Seeding(medoids, labels, np.zeros(len(labels)))
    return Seeding(medoids, labels, rows_of(problem)[np.arange(len(labels)), medoids[labels]])


@examples(60)
@given(**runs)
def test_the_objective_never_rises_and_is_what_it_says(
    kind, seed, n_clusters, n_components, rho, max_iter
):
    problem, found = run(
        kind,
        seed,
        n_clusters=n_clusters,
        n_components=n_components,
        rho=rho,
        max_iter=max_iter,
    )
    rounding = rounding_of(problem.points, problem.weights)
    assert (np.diff(found.path) <= rounding + TIES * found.path[:-1]).all()
    assert found.objective == found.path[-1]
    assert 1 <= found.n_iter <= max_iter
    rows = np.arange(len(problem.points))
    costs = costs_at(problem, found)
    own = costs[rows, found.labels]
    np.testing.assert_allclose(found.objective, problem.weights @ own, rtol=TIES, atol=rounding)
    np.testing.assert_allclose(
        (1.0 - rho) * found.squares + rho * found.distances**2, own, rtol=TIES, atol=rounding
    )
    # Every cluster has points, and every point the cheapest cluster.
    assert np.bincount(found.labels, minlength=problem.n_clusters).min() > 0
    assert (own <= costs.min(axis=1) * (1.0 + TIES) + rounding).all()


@examples(40)
@given(**runs)
def test_no_worse_than_at_the_start(kind, seed, n_clusters, n_components, rho, max_iter):
    problem = posed(
        some_points(kind, seed),
        n_clusters=n_clusters,
        n_components=n_components,
        rho=rho,
        max_iter=max_iter,
    )
    seeding = seeded(problem, seed)
    # Flats, then costs with the seeds for medoids: the first of all steps can only lower them.
    flats = naive_flats(
        problem.points, seeding.labels, problem.n_components, problem.n_clusters, problem.weights
    )
    costs = naive_costs(problem.points, rows_of(problem), seeding.seeds, flats, rho)
    before = problem.weights @ costs[np.arange(len(costs)), seeding.labels]
    found = descend(problem, seeding, np.random.RandomState(seed))
    rounding = rounding_of(problem.points, problem.weights)
    assert found.objective <= before * (1.0 + TIES) + rounding
    assert found.path[0] <= before * (1.0 + TIES) + rounding


@examples(30)
@given(
    kind=st.sampled_from(["blob", "curve", "pieces"]),
    seed=st.integers(0, 2**31 - 1),
    rho=st.sampled_from([0.001, 0.01, 0.1, 0.5, 1.0]),
)
def test_where_the_naive_algorithm_ends_nothing_is_left_to_do(kind, seed, rho):
    problem = posed(some_points(kind, seed), n_clusters=4, n_components=1, rho=rho)
    rows, seeding = rows_of(problem), seeded(problem, seed)
    labels, medoids = seeding.labels, seeding.seeds
    for _ in range(200):
        _, moved, new, objective = naive_round(problem, rows, labels, medoids)
        if np.bincount(new, minlength=problem.n_clusters).min() == 0:
            return  # What to do with an empty cluster is not part of the algorithm.
        is_end = np.array_equal(new, labels) and np.array_equal(moved, medoids)
        labels, medoids = new, moved
        if is_end:
            break
    assert is_end
    found = descend(problem, start_from(problem, labels, medoids), np.random.RandomState(0))
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.medoids, medoids)
    assert found.objective == pytest.approx(objective, rel=1e-9)
    assert found.n_iter <= 2


@examples(30)
@given(
    kind=st.sampled_from(["blob", "curve", "pieces", "wide"]),
    seed=st.integers(0, 2**31 - 1),
    rho=st.sampled_from([0.001, 0.01, 0.1, 0.5, 1.0]),
)
def test_where_it_ends_the_naive_algorithm_finds_nothing_to_do(kind, seed, rho):
    problem, found = run(kind, seed, n_clusters=4, n_components=1, rho=rho)
    # A descent ends where a round lowers the objective by less than 1e-4. Go on to the very end.
    for _ in range(50):
        before = found
        seeding = start_from(problem, found.labels, found.medoids)
        found = descend(problem, seeding, np.random.RandomState(seed))
        if np.array_equal(found.labels, before.labels) and found.objective == before.objective:
            break
    assert found.objective == before.objective
    _, medoids, labels, objective = naive_round(
        problem, rows_of(problem), found.labels, found.medoids
    )
    np.testing.assert_array_equal(labels, found.labels)
    np.testing.assert_array_equal(medoids, found.medoids)
    assert objective == pytest.approx(found.objective, rel=1e-9)


@examples(25)
@given(
    kind=st.sampled_from(["blob", "curve", "copies", "pieces", "wide"]),
    seed=st.integers(0, 2**31 - 1),
    rho=st.sampled_from(SHARES[1:]),
)
def test_remembered_distances_change_nothing(kind, seed, rho):
    problem = posed(some_points(kind, seed), n_clusters=4, n_components=1, rho=rho)
    memory = make_memory(problem, 100)
    assert memory == {}
    ends = []
    for each in (None, memory):
        rng = np.random.RandomState(seed)
        restarts = draw_restarts(problem, n_init=2, rng=rng, memory=each)
        ends.append(best_partition(problem, restarts, memory=each, n_jobs=1))
    assert len(memory) > 0
    for name in ("labels", "medoids", "distances"):
        np.testing.assert_array_equal(*(getattr(end, name) for end in ends), err_msg=name)
    # Nodes come in another order, and so do sums.
    rounding = rounding_of(problem.points, problem.weights)
    for name in ("squares", "path"):
        np.testing.assert_allclose(*(getattr(end, name) for end in ends), rtol=TIES, atol=rounding)


def test_memory_only_where_it_pays():
    problem = posed(some_points("blob", 0), n_clusters=4, n_components=1, rho=0.1)
    assert make_memory(problem, 1) == {}
    many = replace(problem, n_clusters=17)
    assert make_memory(many, 1) is None
    assert make_memory(many, 4) == {}
    without = posed(some_points("blob", 0), n_clusters=4, n_components=1, rho=0.0)
    assert make_memory(without, 100) is None


def isolated_nodes(rho):
    """A line of six nodes and two nodes without edges, one of them amid the line."""
    edges = np.array([(i, i + 1) for i in range(5)])
    lengths = sp.coo_array((np.ones(5), edges.T), shape=(8, 8))
    points = np.array([[0.0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [2.5, 0], [9, 9]])
    return LocalizedProblem(
        points=points,
        weights=np.ones(8),
        graph=build_graph(lengths, metric="precomputed"),
        n_clusters=4,
        n_components=1,
        rho=rho,
        max_iter=100,
    )


@pytest.mark.parametrize("rho", [1e-6, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_isolated_nodes_are_clusters_of_their_own(rho, seed):
    problem = isolated_nodes(rho)
    found = descend(problem, seeded(problem, seed), np.random.RandomState(seed))
    sizes = np.bincount(found.labels)
    assert sizes[found.labels[[6, 7]]].tolist() == [1, 1]
    assert found.medoids[found.labels[[6, 7]]].tolist() == [6, 7]
    assert np.isfinite(found.path).all()
    assert sizes.min() > 0


def soon_empty():
    """Three points, each in the flat of one of two other clusters, and a pair far from all flats.

    The flats are y = 1 and y = -1/2. The pair is at y = 4, and two points below balance it.
    """
    triangle = [[0.0, 1.0], [1.0, -0.5], [-1.0, -0.5]]
    upper = [[x, 1.0] for x in range(40, 61)]
    lower = [[x, -0.5] for x in range(100, 104)]
    pair = [[49.9, 4.0], [50.1, 4.0]]
    balance = [[49.9, -2.0], [50.1, -2.0]]
    return np.array(triangle + upper + lower + pair + balance)


@pytest.mark.parametrize("rho", [0.0, 1e-9, 1e-6])
@pytest.mark.parametrize("max_iter", [1, 2, 100])
def test_a_cluster_that_empties_is_filled_again(rho, max_iter):
    X = soon_empty()
    problem = posed(
        X, n_clusters=3, n_components=1, rho=rho, n_neighbors=len(X) - 1, max_iter=max_iter
    )
    seeding = seeded(problem, 0, given=np.array([0, 13, 25]))
    # The first step of all, by plain loops: nobody stays with the triangle.
    flats = naive_flats(problem.points, seeding.labels, 1, 3, problem.weights)
    first = naive_costs(problem.points, rows_of(problem), seeding.seeds, flats, rho)
    assert np.unique(first.argmin(axis=1)).tolist() == [1, 2]
    found = descend(problem, seeding, np.random.RandomState(0))
    assert np.unique(found.labels).tolist() == [0, 1, 2]
    assert (np.diff(found.path) <= TIES * found.path[0]).all()
    # The pair is together: who is near the new flat has gone over to it.
    assert found.labels[28] == found.labels[29] == 0
    costs = costs_at(problem, found)
    own = costs[np.arange(len(costs)), found.labels]
    assert (own <= costs.min(axis=1) * (1.0 + TIES) + rounding_of(X, problem.weights)).all()


@pytest.mark.parametrize("rho", SHARES)
def test_weights_count_copies(rho):
    X = some_points("curve", 3)
    problem = posed(X, n_clusters=4, n_components=1, rho=rho)
    repeated = replace(problem, weights=np.full(len(problem.points), 3.0))
    seeding = seeded(problem, 0)
    once, thrice = (
        descend(each, seeding, np.random.RandomState(0)) for each in (problem, repeated)
    )
    np.testing.assert_array_equal(once.labels, thrice.labels)
    np.testing.assert_allclose(3.0 * once.path, thrice.path, rtol=1e-9)


@examples(15)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31 - 1), n_clusters=st.integers(1, 8))
# A point was absorbed here: the objective is not that of the descent.
@example(kind="blob", seed=222002, n_clusters=3)
def test_the_flattest_clusters_in_one_piece(kind, seed, n_clusters):
    problem = posed(some_points(kind, seed), n_clusters=n_clusters, n_components=1, rho=1.0)
    restarts = draw_restarts(problem, n_init=2, rng=np.random.RandomState(seed))
    rho, found = smallest_connected(problem, problem.graph, restarts, n_jobs=1)
    # Every start by itself: the best of them is what all together give.
    errors = []
    for restart in restarts:
        share, alone = smallest_connected(problem, problem.graph, [restart], n_jobs=1)
        assert share in RHOS
        assert (
            count_fragments(alone.labels[problem.graph.node_of_sample], problem.graph) == 1
        ).all()
        errors.append(problem.weights @ alone.squares)
        if errors[-1] == min(errors) and errors.count(errors[-1]) == 1:
            best = share, alone
    assert rho == best[0]
    np.testing.assert_array_equal(found.labels, best[1].labels)
    assert problem.weights @ found.squares == min(errors)
    # What is told is the objective with this share.
    costs = costs_at(problem.with_rho(rho), found)
    own = costs[np.arange(len(costs)), found.labels]
    rounding = rounding_of(problem.points, problem.weights)
    np.testing.assert_allclose(found.objective, problem.weights @ own, rtol=TIES, atol=rounding)


def test_shares_that_are_tried():
    assert RHOS[0] == pytest.approx(1e-4)
    assert RHOS[-1] == 1.0
    np.testing.assert_allclose(np.diff(np.log10(RHOS)), 0.5)


def test_the_best_restart_is_kept():
    problem = posed(some_points("curve", 1), n_clusters=5, n_components=1, rho=0.01)
    restarts = draw_restarts(problem, n_init=6, rng=np.random.RandomState(0))
    objectives = [
        descend(problem, each.seeding, np.random.RandomState(each.seed)).objective
        for each in restarts
    ]
    assert len(set(objectives)) > 1
    assert best_partition(problem, restarts, n_jobs=2).objective == min(objectives)


def test_of_equally_cheap_clusters_the_first():
    cheapest = CheapestClusters.none(3)
    rows = np.arange(3)
    cheapest.offer(0, rows, np.array([1.0, 1.0, 1.0]), np.zeros(3), rho=0.5)
    cheapest.offer(1, rows, np.array([1.0, 1.0 - 1e-14, 0.9]), np.zeros(3), rho=0.5)
    cheapest.offer(2, rows[:1], np.array([0.0]), np.array([0.1]), rho=0.5)
    assert cheapest.labels.tolist() == [2, 0, 1]
    np.testing.assert_allclose(cheapest.costs, [0.005, 0.5, 0.45])


def test_what_is_reachable():
    lengths = reachable(np.array([0.0, 0.04, 1.0]), np.array([0.0, 0.1, 3.0]), 0.01)
    np.testing.assert_allclose(lengths, [0.0, 2.0, 10.0], rtol=1e-8)
    assert lengths[1] > 2.0
    # Where costs vanish, a point still reaches its own medoid.
    assert reachable(np.array([0.0]), np.array([3.0]), 5e-324)[0] > 3.0
    assert np.isfinite(reachable(np.array([1e100]), np.array([1.0]), 5e-324)).all()


def test_medoids_near_centers_are_members():
    problem, found = run("blob", 5, n_clusters=4, n_components=0, rho=0.0)
    medoids = medoids_near_centers(problem.points, found)
    np.testing.assert_array_equal(found.labels[medoids], np.arange(problem.n_clusters))
    for cluster, medoid in enumerate(medoids):
        offsets = problem.points[found.labels == cluster] - found.subspaces.centers[cluster]
        own = problem.points[medoid] - found.subspaces.centers[cluster]
        assert own @ own == pytest.approx((offsets**2).sum(axis=1).min())
