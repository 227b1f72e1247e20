import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from isofold.clustering.localized.seeding import (
    geodesic_seeding,
    read_seeds,
    refuse_forgotten,
    straight_seeding,
)
from isofold.exceptions import InvalidInputError
from isofold.neighbors import GraphPaths, build_graph, connected_components
from support.hypothesis_profiles import examples
from support.ldlc_cases import geodesics, random_graph

N_DRAWS = 3000

FALSE_ALARM = 1e-6
"""Chance that counts of right draws exceed the bound of a chi-squared test."""

WORDS = ("k-means++", "random")


def drawn_along(graph, weights, n_clusters, *, init, seed=0, given=None):
    return geodesic_seeding(
        GraphPaths(graph),
        connected_components(graph),
        weights,
        given,
        init=init,
        n_clusters=n_clusters,
        rng=np.random.RandomState(seed),
    )


def assert_nearest(seeding, rows):
    """Labels name the first of the nearest seeds, `rows` being distances from all nodes."""
    to_seeds = rows[seeding.seeds]
    np.testing.assert_array_equal(seeding.labels, to_seeds.argmin(axis=0))
    np.testing.assert_array_equal(seeding.distances, to_seeds.min(axis=0))


@examples(60)
@given(
    seed=st.integers(0, 2**31 - 1),
    n_nodes=st.integers(1, 25),
    density=st.floats(0.0, 3.0),
    more=st.integers(0, 4),
    init=st.sampled_from(WORDS),
)
def test_every_component_has_a_seed_and_every_node_the_nearest(seed, n_nodes, density, more, init):
    rng = np.random.RandomState(seed)
    graph = random_graph(rng, n_nodes, int(density * n_nodes), ties=True)
    components = connected_components(graph)
    n_clusters = min(n_nodes, components.n_components + more)
    seeding = drawn_along(graph, rng.rand(n_nodes) + 0.1, n_clusters, init=init, seed=seed)
    assert len(np.unique(seeding.seeds)) == n_clusters
    assert len(np.unique(components.labels[seeding.seeds])) == components.n_components
    assert_nearest(seeding, geodesics(graph))


@examples(40)
@given(seed=st.integers(0, 2**31 - 1), n_clusters=st.integers(1, 9), init=st.sampled_from(WORDS))
def test_straight_seeds_are_different_and_labels_the_nearest(seed, n_clusters, init):
    rng = np.random.RandomState(seed)
    # Whole coordinates on a line: distances are exact, and often equal.
    points = rng.permutation(20)[:9, None].astype(float)
    chance = {"init": init, "n_clusters": n_clusters, "rng": rng}
    seeding = straight_seeding(points, rng.rand(9) + 0.1, None, **chance)
    assert len(np.unique(seeding.seeds)) == n_clusters
    assert_nearest(seeding, np.abs(points - points.T))


@examples(30)
@given(seed=st.integers(0, 2**31 - 1), n_clusters=st.integers(1, 6))
def test_given_seeds_are_kept_in_their_order(seed, n_clusters):
    rng = np.random.RandomState(seed)
    points = rng.permutation(30)[:12, None].astype(float)
    graph = build_graph(points, n_neighbors=11)
    given = rng.permutation(12)[:n_clusters]
    chance = {"init": given, "n_clusters": n_clusters, "rng": rng}
    straight = straight_seeding(points, np.ones(12), given, **chance)
    along = drawn_along(graph, np.ones(12), n_clusters, init=given, given=given)
    for seeding in (straight, along):
        np.testing.assert_array_equal(seeding.seeds, given)
        assert_nearest(seeding, np.abs(points - points.T))


@pytest.mark.parametrize("init", WORDS)
@pytest.mark.parametrize("kind", ["straight", "geodesic"])
def test_chances_of_seeds(kind, init):
    # A bent line: along it the ends are 7 apart, straight only 5.
    points = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    weights = np.array([1.0, 4.0, 2.0, 0.5])
    rng = np.random.RandomState(0)
    chance = {"init": init, "n_clusters": 2, "rng": rng}
    if kind == "straight":
        rows = np.linalg.norm(points[:, None] - points, axis=2)
        draws = [straight_seeding(points, weights, None, **chance).seeds for _ in range(N_DRAWS)]
    else:
        graph = build_graph(points, n_neighbors=1)
        rows = geodesics(graph)
        rest = (GraphPaths(graph), connected_components(graph), weights, None)
        draws = [geodesic_seeding(*rest, **chance).seeds for _ in range(N_DRAWS)]
    counts = np.zeros((4, 4))
    np.add.at(counts, tuple(np.transpose(draws)), 1)
    second = weights * (rows**2 if init == "k-means++" else rows > 0.0)
    chances = (weights / weights.sum())[:, None] * second / second.sum(axis=1, keepdims=True)
    is_possible = chances > 0.0
    assert not counts[~is_possible].any()
    expected = N_DRAWS * chances[is_possible]
    # The test needs some five draws expected of each pair.
    assert expected.min() > 5.0
    statistic = ((counts[is_possible] - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(FALSE_ALARM, is_possible.sum() - 1)


def test_in_every_component_the_first_seed_is_drawn_by_weight():
    graph = build_graph(np.array([[0.0], [1.0], [100.0], [101.0], [102.0]]), n_neighbors=1)
    weights = np.array([1.0, 3.0, 1.0, 2.0, 5.0])
    rest = (GraphPaths(graph), connected_components(graph), weights, None)
    rng = np.random.RandomState(0)
    counts = np.zeros(5)
    for _ in range(N_DRAWS):
        seeding = geodesic_seeding(*rest, init="k-means++", n_clusters=2, rng=rng)
        counts[seeding.seeds] += 1
    expected = N_DRAWS * weights / np.array([4.0, 4.0, 8.0, 8.0, 8.0])
    # Two tests with one and two degrees of freedom.
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(FALSE_ALARM, 3)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_chances_do_not_depend_on_units(unit):
    points = np.random.RandomState(0).rand(30, 2)
    seeds = [
        straight_seeding(
            points * scale,
            np.ones(30),
            None,
            init="k-means++",
            n_clusters=6,
            rng=np.random.RandomState(3),
        ).seeds
        for scale in (1.0, unit)
    ]
    np.testing.assert_array_equal(*seeds)


def test_words_mean_that_seeds_are_drawn():
    for word in WORDS:
        assert read_seeds(word, 3, np.arange(9)) is None


def test_samples_stand_for_their_nodes():
    node_of_sample = np.array([0, 0, 1, 2, 1])
    assert read_seeds([4, 0], 2, node_of_sample).tolist() == [1, 0]
    assert read_seeds(np.array([3], dtype=np.uint8), 1, node_of_sample).tolist() == [2]


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ("best", "'best' is unknown.*k-means"),
        ([0, 1], r"shape \(2,\).*3 samples are needed"),
        ([[0, 1, 2]], r"shape \(1, 3\)"),
        ([0.0, 1.0, 2.0], "float64"),
        ([True, False, True], "bool"),
        (["0", "1", "2"], "<U1"),
        (None, "object"),
        ([[0], [1, 2], [3]], "init"),
        ([0, 1, 5], "samples 0 to 5, but there are samples 0 to 4"),
        ([-1, 1, 2], "samples -1 to 2"),
        ([0, 1, 3], "Only 2 of the 3 samples in init are different"),
    ],
    ids=["word", "few", "table", "float", "bool", "text", "none", "ragged", "high", "low", "same"],
)
def test_bad_seeds(init, words):
    with pytest.raises(InvalidInputError, match=words):
        read_seeds(init, 3, np.array([0, 0, 1, 2, 3]))


def test_a_component_without_given_seed():
    graph = build_graph(np.array([[0.0], [1.0], [50.0], [51.0]]), n_neighbors=1)
    components = connected_components(graph)
    refuse_forgotten(np.array([1, 2]), components)
    with pytest.raises(InvalidInputError, match=r"in 1 of the 2 components.*n_neighbors"):
        refuse_forgotten(np.array([0, 1]), components)


def test_points_that_squares_cannot_tell_apart_become_different_seeds():
    points = np.array([[0.0], [1e-200], [1.0], [-1.0]])
    for seed in range(20):
        chance = {"init": "k-means++", "n_clusters": 4, "rng": np.random.RandomState(seed)}
        seeding = straight_seeding(points, np.ones(4), None, **chance)
        assert sorted(seeding.seeds) == [0, 1, 2, 3]
        np.testing.assert_array_equal(seeding.labels[seeding.seeds], np.arange(4))
