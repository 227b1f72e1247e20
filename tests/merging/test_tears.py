"""Torn neighbors and errors of distances, against a double loop, and on maps that are known."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isofold.merging import tears
from isofold.merging.tears import find_tears
from isofold.neighbors import kneighbors
from support.hypothesis_profiles import examples

# Quotients of distances of size one.
ROUNDING = 1e-12


def naive_tears(X, Y, labels, reach, k):
    """Return torn pairs, the number of their places and distortion by double loops."""
    n = len(X)
    pairs, distortion, neighbors = set(), np.empty(n), []
    for i in range(n):
        before = np.linalg.norm(X - X[i], axis=1)
        after = np.linalg.norm(Y - Y[i], axis=1)
        near = [j for j in np.argsort(before) if j != i][:k]
        neighbors += [{labels[i], labels[j]} for j in near]
        distortion[i] = np.mean([abs(after[j] / before[j] - 1) for j in near])
        for j in near:
            limit = max(reach[labels[i]], reach[labels[j]])
            if labels[i] != labels[j] and after[j] - before[j] > limit:
                pairs.add((min(i, j), max(i, j)))
    # Cells at tears are in one place if they are neighbors, torn or not.
    torn = {labels[i] for pair in pairs for i in pair}
    places = [{cell} for cell in torn]
    for link in neighbors:
        if link <= torn:
            joined = [place for place in places if place & link]
            places = [place for place in places if not place & link] + [set().union(*joined)]
    return sorted(pairs), len(places), distortion


@examples(30)
@given(seed=st.integers(0, 1000), k=st.integers(1, 6), scale=st.floats(0.3, 6.0))
def test_tears_are_those_of_the_naive_loop(seed, k, scale):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(30, 3))
    Y, labels = scale * rng.normal(size=(30, 2)), np.arange(30) % 9
    reach = rng.uniform(0.5, 3.0, size=9)
    found = find_tears(Y, kneighbors(X, k), labels, reach)
    pairs, n_places, distortion = naive_tears(X, Y, labels, reach, k)
    assert [tuple(pair) for pair in found.pairs] == pairs
    assert found.n_tears == n_places
    np.testing.assert_allclose(found.distortion, distortion, atol=ROUNDING)


def ring(n, at=(0.0, 0.0)):
    angles = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles)]) * n / (2 * np.pi) + at


def test_a_ring_laid_on_a_line_is_cut_once():
    line = np.arange(60.0)[:, None]
    labels = np.arange(60) // 6
    found = find_tears(line, kneighbors(ring(60), 4), labels, np.full(10, 6.0))
    # Two neighbors on either side: three pairs lie across the cut.
    np.testing.assert_array_equal(found.pairs, [[0, 58], [0, 59], [1, 59]])
    assert found.n_tears == 1
    assert (found.distortion[4:-4] < 0.01).all()
    assert (found.distortion[[0, -1]] > 1).all()


def test_a_tube_cut_along_its_length_is_cut_in_one_place():
    X = np.concatenate([np.column_stack([ring(60), np.full(60, z)]) for z in range(8)])
    flat = np.column_stack([np.tile(np.arange(60.0), 8), np.repeat(np.arange(8.0), 60)])
    # Four rows of ten cells.
    labels = 10 * (flat[:, 1] // 2).astype(int) + (flat[:, 0] // 6).astype(int)
    found = find_tears(flat, kneighbors(X, 8), labels, np.full(40, 7.0))
    assert found.n_tears == 1
    assert set(labels[found.pairs].ravel() % 10) == {0, 9}
    assert set(labels[found.pairs].ravel() // 10) == {0, 1, 2, 3}


def test_two_rings_are_cut_twice():
    X = np.concatenate([ring(60), ring(60, (100.0, 0.0))])
    line = np.concatenate([np.arange(60.0), np.arange(60.0) + 200])[:, None]
    found = find_tears(line, kneighbors(X, 4), np.arange(120) // 6, np.full(20, 6.0))
    assert found.n_tears == 2
    assert len(found.pairs) == 6


def test_a_rigid_map_tears_nothing():
    X = np.random.RandomState(0).normal(size=(40, 2))
    found = find_tears(
        X @ [[0.6, 0.8], [-0.8, 0.6]] + 5.0, kneighbors(X, 5), np.arange(40), np.zeros(40) + 1e-9
    )
    assert found.pairs.shape == (0, 2)
    assert found.n_tears == 0
    np.testing.assert_allclose(found.distortion, 0, atol=1e-10)


def test_neighbors_in_one_piece_are_stretched_but_not_torn():
    X = np.random.RandomState(0).normal(size=(40, 2))
    found = find_tears(3 * X, kneighbors(X, 5), np.zeros(40, dtype=int), np.array([1e-9]))
    assert found.n_tears == 0
    np.testing.assert_allclose(found.distortion, 2.0, rtol=1e-9)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    line, near = np.arange(60.0)[:, None], kneighbors(ring(60), 4)
    labels, reach = np.arange(60) // 6, np.full(10, 6.0)
    whole = find_tears(line, near, labels, reach)
    monkeypatch.setattr(tears, "block_rows", lambda _row, _n: 7)
    parts = find_tears(line, near, labels, reach)
    np.testing.assert_array_equal(parts.pairs, whole.pairs)
    np.testing.assert_array_equal(parts.distortion, whole.distortion)
