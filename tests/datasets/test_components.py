"""Sets in several pieces fall into these pieces and no others."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph

from isofold.datasets import (
    SYNTHETIC,
    broken_s_curve,
    broken_swiss_roll,
    four_moons,
    parallel_swiss_rolls,
    rotated_swiss_rolls,
)

PIECES = {
    broken_s_curve: 4,
    rotated_swiss_rolls: 2,
    parallel_swiss_rolls: 2,
    four_moons: 4,
}
N_SEEDS = 12


def components(X, n_neighbors):
    graph = kneighbors_graph(X, n_neighbors)
    return connected_components(graph, directed=False)


def same_partition(first, second):
    pairs = np.unique(np.column_stack((first, second)), axis=0)
    return len(pairs) == np.unique(first).size == np.unique(second).size


def is_cut_into_its_pieces(data, n_neighbors):
    return same_partition(components(data.X, n_neighbors)[1], data.labels)


@pytest.mark.parametrize("n_neighbors", [5, 10, 15])
@pytest.mark.parametrize("generator", PIECES, ids=lambda generator: generator.__name__)
def test_pieces_are_the_components_of_the_graph(generator, n_neighbors):
    """Most samples fall into exactly the right pieces; no sampling can promise it for all.

    With 5 neighbors a clique of six points splits off now and then (of 40 samples 2 or 3, of
    the moons 9); with 15 a corner of the S reaches across the gap (3 of 40).
    """
    samples = [generator(2000, noise=0.05, random_state=seed) for seed in range(N_SEEDS)]
    assert all(np.unique(data.labels).size == PIECES[generator] for data in samples)
    right = [is_cut_into_its_pieces(data, n_neighbors) for data in samples]
    assert sum(right) > N_SEEDS / 2


@pytest.mark.parametrize("n_neighbors", [5, 10, 15])
def test_parallel_rolls_as_printed_overlap(n_neighbors):
    counts = [
        components(
            parallel_swiss_rolls(2000, distance=20.0, noise=0.05, random_state=seed).X,
            n_neighbors,
        )[0]
        for seed in range(N_SEEDS)
    ]
    assert np.median(counts) == 1


@pytest.mark.parametrize("n_neighbors", [5, 10, 15])
def test_broken_roll_has_two_pieces(n_neighbors):
    # Its layers are 2π apart. With 4,000 points, 1.2 lie on a unit of area at the outer edge,
    # so the 15 nearest of a corner reach about √(60/1.2π) = 4.0.
    right = [
        is_cut_into_its_pieces(broken_swiss_roll(4000, noise=0.05, random_state=seed), n_neighbors)
        for seed in range(N_SEEDS)
    ]
    assert sum(right) > N_SEEDS / 2


IN_ONE_PIECE = set(SYNTHETIC) - {g.__name__ for g in PIECES} - {"broken_swiss_roll"}


@pytest.mark.parametrize("name", sorted(IN_ONE_PIECE))
def test_other_sets_are_connected(name):
    data = SYNTHETIC[name](2000, random_state=0)
    # A curve sampled at random has gaps of 8 mean spacings and more, hence the larger k.
    n_neighbors = 10 if data.truth.shape[1] == 2 else 25
    assert components(data.X, n_neighbors)[0] == 1


def test_sizes_of_pieces():
    assert np.bincount(four_moons(2000).labels).tolist() == [500] * 4
    assert np.bincount(four_moons(11).labels).tolist() == [3, 3, 3, 2]
    for generator in (rotated_swiss_rolls, parallel_swiss_rolls, broken_swiss_roll):
        assert np.bincount(generator(1000).labels).tolist() == [500, 500]


def test_broken_s_curve_cuts_the_strips_of_the_thesis():
    data = broken_s_curve(4000, random_state=0)
    t = (data.truth[:, 0] - 1.5 * np.pi) / np.pi
    kept = [(-1.5, -1.1), (-0.9, -0.1), (0.1, 0.9), (1.1, 1.5)]
    for piece, (low, high) in enumerate(kept):
        members = t[data.labels == piece]
        assert members.min() >= low
        assert members.max() <= high
        # Uniform on the area: a binomial share, six standard deviations wide.
        share = (high - low) / 2.4
        assert abs(members.size / 4000 - share) < 6 * np.sqrt(share * (1 - share) / 4000)


def test_broken_roll_cuts_a_full_strip():
    data = broken_swiss_roll(4000, random_state=0)
    u = (np.hypot(data.X[:, 0], data.X[:, 2]) / (1.5 * np.pi) - 1) / 2
    assert u[data.labels == 0].max() <= 0.4 + 1e-12
    assert u[data.labels == 1].min() >= 0.6 - 1e-12
