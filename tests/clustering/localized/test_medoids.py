import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.clustering.localized import medoids as medoids_module
from isofold.clustering.localized.medoids import MOST_EXACT, Division, Medoids, MedoidSearch
from isofold.neighbors import GraphPaths, build_graph
from support.hypothesis_profiles import examples
from support.ldlc_cases import connected_graph, geodesics

# Sums of some ten to a hundred squares, and the tie of 1e-12 that a better medoid must beat.
ROUNDING = 1e-10

cases = {
    "seed": st.integers(0, 2**31 - 1),
    "n_nodes": st.integers(2, 40),
    "n_clusters": st.integers(1, 4),
    "ties": st.booleans(),
}


class Case:
    """Clusters in a random graph with medoids anywhere, also outside of their clusters."""

    def __init__(self, seed, n_nodes, n_clusters, *, ties):
        self.rng = np.random.RandomState(seed)
        n_clusters = min(n_clusters, n_nodes)
        self.graph = connected_graph(self.rng, n_nodes, ties=ties)
        self.rows = geodesics(self.graph)
        self.points = self.rng.standard_normal((n_nodes, 2))
        self.weights = self.rng.randint(1, 4, size=n_nodes).astype(float)
        more = self.rng.randint(n_clusters, size=n_nodes - n_clusters)
        labels = self.rng.permutation(np.concatenate([np.arange(n_clusters), more]))
        self.division = Division(labels, n_clusters)
        nodes = self.rng.randint(n_nodes, size=n_clusters)
        self.before = Medoids(nodes=nodes, distances=self.rows[nodes[labels], np.arange(n_nodes)])
        paths = GraphPaths(self.graph)
        self.search = MedoidSearch(self.graph, paths, self.points, self.weights)

    def sums(self, nodes):
        """Sum of squared distances of every cluster from a node each, by brute force."""
        labels = self.division.labels
        squares = self.rows[nodes[labels], np.arange(len(labels))] ** 2
        return np.bincount(labels, self.weights * squares)

    def least(self):
        """The least sum of a member of every cluster."""
        labels = self.division.labels
        sums = np.array([np.bincount(labels, self.weights * row**2) for row in self.rows])
        is_member = labels[:, None] == np.arange(self.division.n_clusters)
        return np.where(is_member, sums, np.inf).min(axis=0)

    def assert_consistent(self, found):
        """Distances are those from the medoids, and a new medoid is a member."""
        labels = self.division.labels
        expected = self.rows[found.nodes[labels], np.arange(len(labels))]
        np.testing.assert_allclose(found.distances, expected, rtol=1e-13)
        is_new = found.nodes != self.before.nodes
        np.testing.assert_array_equal(labels[found.nodes[is_new]], np.flatnonzero(is_new))

    def thorough(self):
        every = np.arange(self.division.n_clusters)
        return self.search.thorough(self.division, self.before, every, self.rng)


@examples(60)
@given(**cases)
def test_thorough_search_is_exact(seed, n_nodes, n_clusters, ties):
    case = Case(seed, n_nodes, n_clusters, ties=ties)
    found = case.thorough()
    case.assert_consistent(found)
    # A medoid that has left its cluster stays if no member is better.
    expected = np.minimum(case.least(), case.sums(case.before.nodes))
    np.testing.assert_allclose(case.sums(found.nodes), expected, rtol=ROUNDING)


@examples(60)
@given(**cases)
def test_quick_search_is_never_worse(seed, n_nodes, n_clusters, ties):
    case = Case(seed, n_nodes, n_clusters, ties=ties)
    labels = case.division.labels
    centers = np.array([case.points[labels == i].mean(axis=0) for i in range(max(labels) + 1)])
    every = np.arange(case.division.n_clusters)
    found = case.search.quick(case.division, case.before, centers, every)
    case.assert_consistent(found)
    before, after = case.sums(case.before.nodes), case.sums(found.nodes)
    assert (after <= before * (1.0 + ROUNDING)).all()
    # The member nearest to the mean was looked at.
    offsets = ((case.points - centers[labels]) ** 2).sum(axis=1)
    middle = np.array([np.where(labels == i, offsets, np.inf).argmin() for i in every])
    assert (after <= case.sums(middle) * (1.0 + ROUNDING)).all()


@examples(40)
@given(**{**cases, "n_nodes": st.integers(20, 60)})
def test_search_of_large_clusters_is_never_worse(seed, n_nodes, n_clusters, ties):
    case = Case(seed, n_nodes, n_clusters, ties=ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(medoids_module, "MOST_EXACT", 9)
        found = case.thorough()
    case.assert_consistent(found)
    before, after = case.sums(case.before.nodes), case.sums(found.nodes)
    assert (after <= before * (1.0 + ROUNDING)).all()
    # The descent ends where no neighbor in the cluster is better, or after many rows.
    labels = case.division.labels
    for cluster, node in enumerate(found.nodes):
        near = np.flatnonzero(case.graph.adjacency[[node]].toarray()[0])
        for other in near[labels[near] == cluster]:
            swapped = found.nodes.copy()
            swapped[cluster] = other
            assert case.sums(swapped)[cluster] >= after[cluster] * (1.0 - ROUNDING)


@examples(30)
@given(**cases)
def test_only_the_clusters_named_are_searched(seed, n_nodes, n_clusters, ties):
    case = Case(seed, n_nodes, n_clusters, ties=ties)
    last = case.division.n_clusters - 1
    found = case.search.thorough(case.division, case.before, np.array([last]), case.rng)
    np.testing.assert_array_equal(found.nodes[:last], case.before.nodes[:last])
    others = case.division.labels != last
    np.testing.assert_array_equal(found.distances[others], case.before.distances[others])


def test_a_long_line_of_many_nodes_has_its_medoid_in_the_middle():
    n = 2 * MOST_EXACT + 1
    points = np.arange(float(n))[:, None]
    graph = build_graph(points, n_neighbors=2)
    search = MedoidSearch(graph, GraphPaths(graph), points, np.ones(n))
    start = Medoids(nodes=np.array([0]), distances=points[:, 0])
    division = Division(np.zeros(n, dtype=int), 1)
    for seed in range(5):
        rng = np.random.RandomState(seed)
        found = search.thorough(division, start, np.array([0]), rng)
        # The mean of 8 nodes is off by n/√(12·8) on average; 4 of these are 210 of 513 nodes.
        # From there the descent goes on for 64 rows at most, to where it ends or is better.
        assert abs(found.nodes[0] - MOST_EXACT) < 4 * n / np.sqrt(96)
        np.testing.assert_array_equal(found.distances, np.abs(points[:, 0] - found.nodes[0]))
        again = search.thorough(division, start, np.array([0]), np.random.RandomState(seed))
        np.testing.assert_array_equal(again.nodes, found.nodes)


def test_a_medoid_outside_its_cluster_stays_if_it_is_better():
    # A star: its middle is in another cluster than its tips.
    tips = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    points = np.concatenate([[[0.0, 0.0]], tips, [[0.5, 0.5]]])
    graph = build_graph(points, n_neighbors=2)
    rows = geodesics(graph)
    labels = np.array([1, 0, 0, 0, 0, 1])
    nodes = np.array([0, 5])
    before = Medoids(nodes=nodes, distances=rows[nodes[labels], np.arange(6)])
    search = MedoidSearch(graph, GraphPaths(graph), points, np.ones(6))
    found = search.thorough(Division(labels, 2), before, np.arange(2), np.random.RandomState(0))
    assert found.nodes.tolist() == [0, 5]


def test_division_names_members_and_places():
    division = Division(np.array([1, 0, 1, 1, 0]), 2)
    assert division.sizes.tolist() == [2, 3]
    assert division.members(0).tolist() == [1, 4]
    assert division.members(1).tolist() == [0, 2, 3]
    assert division.positions.tolist() == [0, 0, 1, 2, 1]
