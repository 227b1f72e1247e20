"""Stray points go home, and what follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold import IPA, LDLC
from isofold.clustering.connectivity import absorb_fragments, count_fragments
from isofold.clustering.localized.descent import descend
from isofold.clustering.localized.partition import LocalizedProblem
from isofold.clustering.localized.repair import LARGEST_ABSORBED_FRACTION, connected_partition
from isofold.clustering.localized.restarts import draw_restarts
from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph, connected_components, shortest_edges
from isofold.quality import is_localized, procrustes_error, reconstruction_error
from support.hypothesis_profiles import examples
from support.ldlc_cases import geodesics, random_graph

ROLL = swiss_roll(600, random_state=0)


def test_pieces_go_where_they_have_most_edges():
    line = build_graph(np.arange(9.0)[:, None], n_neighbors=2)
    # Node 3 touches the large piece of cluster 0, and node 4 that of cluster 1.
    labels = np.array([0, 0, 0, 1, 0, 1, 1, 1, 1])
    np.testing.assert_array_equal(absorb_fragments(labels, line), [0, 0, 0, 0, 1, 1, 1, 1, 1])


@examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_absorbed_pieces_leave_clusters_connected(seed):
    rng = np.random.RandomState(seed)
    n_nodes = rng.randint(2, 25)
    graph = random_graph(rng, n_nodes, rng.randint(1, 2 * n_nodes), ties=True)
    # One cluster at most for every component, two in some: as the engine makes them.
    component = connected_components(graph).labels
    labels = component * 2 + rng.randint(2, size=graph.n_nodes)
    labels = np.unique(labels, return_inverse=True)[1]
    absorbed = absorb_fragments(labels, graph)
    np.testing.assert_array_equal(np.unique(absorbed), np.unique(labels))
    assert (count_fragments(absorbed, graph) == 1).all()
    if (count_fragments(labels, graph) == 1).all():
        np.testing.assert_array_equal(absorbed, labels)


def partition_of(rho):
    graph = build_graph(ROLL.X, n_neighbors=8)
    problem = LocalizedProblem(
        points=ROLL.X - ROLL.X.mean(axis=0),
        weights=np.ones(len(ROLL.X)),
        graph=graph,
        n_clusters=12,
        n_components=2,
        rho=rho,
        max_iter=100,
    )
    restart = draw_restarts(problem, n_init=1, rng=np.random.RandomState(0))[0]
    return problem, graph, descend(problem, restart.seeding, np.random.RandomState(0))


def test_subspaces_and_medoids_follow_what_is_absorbed():
    problem, graph, partition = partition_of(0.01)
    mended = connected_partition(problem, graph, partition, np.random.RandomState(0))
    assert (count_fragments(partition.labels, graph) > 1).any()
    assert (count_fragments(mended.labels, graph) == 1).all()
    moved = np.flatnonzero(mended.labels != partition.labels)
    np.testing.assert_array_equal(mended.absorbed, moved)
    assert len(moved) <= LARGEST_ABSORBED_FRACTION * len(ROLL.X)
    lengths = geodesics(graph)
    # Path lengths are sums of the same numbers, perhaps in another order.
    own = lengths[mended.medoids[mended.labels], np.arange(len(ROLL.X))]
    np.testing.assert_allclose(mended.distances, own, rtol=1e-12)
    # Medoids of clusters that changed are exact: these have fewer than 256 nodes.
    for cluster in np.unique([mended.labels[moved], partition.labels[moved]]):
        members = np.flatnonzero(mended.labels == cluster)
        sums = (lengths[np.ix_(members, members)] ** 2).sum(axis=1)
        mine = (lengths[mended.medoids[cluster], members] ** 2).sum()
        assert mine <= sums.min() * (1 + 1e-9)
    # The flats are those of the clusters as they are now.
    error = reconstruction_error(ROLL.X, mended.labels, n_components=2)
    assert mended.squares.mean() == pytest.approx(float(error), rel=1e-9)
    # So is the objective, after all steps of the descent.
    np.testing.assert_array_equal(mended.path[:-1], partition.path)
    objective = (0.99 * mended.squares + 0.01 * own**2).sum()
    assert mended.objective == pytest.approx(objective, rel=1e-9)


def test_the_objective_is_that_of_the_clusters_with_what_they_absorb():
    ldlc = LDLC(n_clusters=12, random_state=0).fit(ROLL.X)
    assert len(ldlc.absorbed_samples_) > 0
    lengths = geodesics(ldlc.graph_)[ldlc.medoids_[ldlc.labels_], np.arange(len(ROLL.X))]
    objective = (1.0 - ldlc.rho_) * ldlc.reconstruction_error_ + ldlc.rho_ * (lengths**2).sum()
    assert ldlc.objective_path_[-1] == pytest.approx(objective, rel=1e-9)


def test_too_many_points_are_not_absorbed():
    problem, graph, partition = partition_of(1e-6)
    assert (count_fragments(partition.labels, graph) > 1).sum() > 3
    assert connected_partition(problem, graph, partition, np.random.RandomState(0)) is None


def test_without_absorbed_samples_nothing_changes():
    problem, graph, partition = partition_of(1.0)
    assert connected_partition(problem, graph, partition, np.random.RandomState(0)) is partition


@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2))])
def test_search_is_flatter_than_its_ends(seed):
    X = swiss_roll(1000, random_state=seed).X
    ldlc = LDLC(n_clusters=15, random_state=seed).fit(X)
    assert is_localized(ldlc.labels_, ldlc.graph_)
    assert len(ldlc.absorbed_samples_) <= LARGEST_ABSORBED_FRACTION * len(X)
    np.testing.assert_array_equal(ldlc.predict(X), ldlc.labels_)
    rounder = LDLC(n_clusters=15, rho=1.0, random_state=seed).fit(X)
    assert ldlc.reconstruction_error_ < 0.5 * rounder.reconstruction_error_


def test_absorbed_samples_are_samples():
    # Every sample twice: absorbed ones come in pairs.
    X = np.repeat(ROLL.X, 2, axis=0)
    ldlc = LDLC(n_clusters=12, random_state=0).fit(X)
    nodes = ldlc.graph_.node_of_sample[ldlc.absorbed_samples_]
    assert (np.unique(nodes, return_counts=True)[1] == 2).all()


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), n_edges=st.integers(1, 4))
def test_shortest_edges(seed, n_edges):
    graph = random_graph(np.random.RandomState(seed), 12, 30, ties=False)
    dense = graph.adjacency.toarray()
    wanted = np.zeros_like(dense, dtype=bool)
    for node, row in enumerate(dense):
        neighbors = np.flatnonzero(row)
        nearest = neighbors[np.argsort(row[neighbors], kind="stable")][:n_edges]
        wanted[node, nearest] = wanted[nearest, node] = True
    found = shortest_edges(graph, n_edges).toarray()
    # Equal lengths may be counted in another order, but never a longer edge before a shorter one.
    np.testing.assert_array_equal(np.sort(found[found > 0]), np.sort((dense * wanted)[wanted]))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_few_flat_patches_make_a_truer_map(seed):
    roll = swiss_roll(1000, random_state=seed)
    errors = {
        cover: procrustes_error(
            IPA(cover=cover, n_patches=24, chart="pca", random_state=seed).fit_transform(roll.X),
            roll.truth,
        )
        for cover in ("ldlc", "kmeans")
    }
    assert errors["ldlc"] < errors["kmeans"]
