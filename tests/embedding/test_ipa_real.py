"""IPA where the data are no sheet of the dimension that is asked for, or need no unfolding."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from isofold import IPA
from isofold.exceptions import DoubtfulMapWarning
from isofold.neighbors import build_graph
from isofold.neighbors.shortcuts import LONGEST_DETOUR
from isofold.patches import Memberships
from isofold.patches.coarse import pruned, rough_balls, rough_size
from isofold.patches.noise_axes import is_flat
from isofold.quality import local_isometry, procrustes_error, trustworthiness
from isofold.stitching.alternation import alternate, layout_by_paths
from isofold.stitching.rules import StitchingRules
from isofold.stitching.stitch import place

ROUNDING = 1e-9
"""Relative error of exact answers: some thousand roundings of 1e-16, with a wide margin."""

CURVED = 0.02
"""Error of a bent sheet laid out by shortest paths through 400 points, which zigzag by percents,
after patches have straightened the steps."""


def fitted(X, r):
    ipa = IPA(n_components=r, random_state=0, n_jobs=1)
    with pytest.warns(DoubtfulMapWarning):
        return ipa.fit(X)


def bent_sheet(n=400):
    rng = np.random.RandomState(0)
    flat = rng.uniform(size=(n, 2)) * [3.0, 2.0]
    return np.column_stack([np.sin(flat[:, 0]), np.cos(flat[:, 0]), flat[:, 1]]), flat


@pytest.mark.parametrize("r", [1, 4, 12])
@pytest.mark.parametrize(("n", "d"), [(70, 1000), (120, 20)])
def test_noise_gives_a_map_with_doubts(n, d, r):
    X = np.random.RandomState(0).normal(size=(n, d))
    ipa = fitted(X, r)
    assert ipa.embedding_.shape == (n, r)
    assert np.isfinite(ipa.embedding_).all()
    assert np.isfinite([flag.value for flag in ipa.diagnosis_.findings]).all()
    assert {"unstitched", "projected"} & {flag.code for flag in ipa.diagnosis_.raised}
    np.testing.assert_allclose(ipa.transform(X[:9]), ipa.embedding_[:9], atol=ROUNDING)


def test_digits_in_seven_dimensions():
    X = load_digits().data[:500]
    ipa = fitted(X, 7)
    projected = PCA(7).fit_transform(X)
    assert ipa.diagnosis_["unstitched"].value == 1.0
    assert ipa.solution_ is None
    assert ipa.diagnosis_["certificate"].is_raised
    # What the map is for: neighbors are kept as in the best projection, lengths far better.
    assert trustworthiness(X, ipa.embedding_) > 0.98
    error = local_isometry(X, ipa.embedding_).median
    assert error < local_isometry(X, projected).median / 1.5
    again = IPA(n_components=7, random_state=0, n_jobs=2)
    with pytest.warns(DoubtfulMapWarning):
        np.testing.assert_array_equal(again.fit_transform(X), ipa.embedding_)


def test_projection_where_it_keeps_lengths_better():
    # Five dimensions and a little noise: the sixth coordinate is all noise.
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 40)) + 0.01 * rng.normal(size=(300, 40))
    ipa = fitted(X, 6)
    assert ipa.diagnosis_["projected"].value == 1.0
    assert not ipa.diagnosis_["unstitched"].is_raised
    assert local_isometry(X, ipa.embedding_).median < 1e-3


@pytest.mark.parametrize(
    ("n", "d", "rank", "r"), [(60, 10, 2, 5), (5, 100, 4, 8), (90, 12, 12, 12), (50, 8, 1, 3)]
)
def test_flat_data_are_left_as_they_are(n, d, rank, r):
    rng = np.random.RandomState(0)
    X = 3.0 + rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    ipa = IPA(n_components=r, random_state=0).fit(X)
    Y = ipa.embedding_
    np.testing.assert_allclose(pdist(Y), pdist(X), rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=ROUNDING)
    covariance = Y.T @ Y
    size = covariance.max()
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=ROUNDING * size)
    np.testing.assert_allclose(Y[:, rank:], 0.0, atol=ROUNDING * np.abs(Y).max())
    assert ipa.diagnosis_.is_sound


def test_flatness():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30))
    assert is_flat(X, 3)
    assert is_flat(X.astype(np.float32), 3)
    assert not is_flat(X, 2)
    # A single point off the others' space, and not among those that are looked at first.
    X[101] += 0.01 * rng.normal(size=30)
    assert not is_flat(X, 3)


def test_size_of_rough_patches():
    assert rough_size(70, 2) == 24
    # Too few points for quadratic charts in twelve dimensions: 4 (r + 1).
    assert rough_size(500, 12) == 52
    # Seven dimensions: four points for each of 36 coefficients, up to a quarter of all.
    assert rough_size(1797, 7) == 144
    assert rough_size(400, 7) == 100


def test_pruned_graph_has_all_near_edges_but_short_cuts():
    # Two lines .5 apart that are joined at one end, with points .2 apart: edges from line to line
    # are short cuts, except near the joint.
    along = np.arange(0.0, 20.0, 0.2)
    joint = [[0.0, 0.25]]
    X = np.concatenate([np.column_stack([along, 0 * along]), joint])
    X = np.concatenate([X, np.column_stack([along, 0 * along + 0.5])])
    graph = build_graph(X, n_neighbors=2, kind="mutual")
    completed = pruned(X, graph, n_jobs=1)
    old = {tuple(edge) for edge in graph.edges}
    new = {tuple(edge) for edge in completed.edges} - old
    assert old <= {tuple(edge) for edge in completed.edges}
    assert new
    for i, j in new:
        if (X[i, 1] - X[j, 1]) ** 2 > 0.2:
            assert max(X[i, 0], X[j, 0]) < LONGEST_DETOUR * np.hypot(*(X[i] - X[j]))
    order = np.lexsort(completed.edges.T[::-1])
    np.testing.assert_array_equal(order, np.arange(len(order)))
    first, second = completed.edges.T
    np.testing.assert_allclose(completed.lengths, np.linalg.norm(X[first] - X[second], axis=1))


def test_alternation_unrolls_a_bent_sheet():
    X, flat = bent_sheet()
    graph = build_graph(X, n_neighbors=10, kind="mutual")
    start = layout_by_paths(graph, 2, n_jobs=1)
    cover, charts = rough_balls(X, graph, 2, quadratic=True, n_jobs=1)
    assert charts.beta.any()
    memberships = Memberships.strongest(cover, None, charts.is_off)
    errors = [float(procrustes_error(start, flat))]
    matches = []
    for n_rounds in (1, 15, 100):
        found = alternate(cover, memberships, charts.coordinates, start, n_rounds=n_rounds)
        placed = place(memberships, charts.coordinates, found.motions)
        errors.append(float(procrustes_error(placed, flat)))
        matches.append(found.misfit)
    # Each round moves patches, then points, each time to the best place: the misfit falls.
    assert matches == sorted(matches, reverse=True)
    assert errors[-1] < CURVED
    assert errors[-1] < errors[0]
    identity = found.motions.rotations @ found.motions.rotations.swapaxes(1, 2)
    np.testing.assert_allclose(identity, np.broadcast_to(np.eye(2), identity.shape), atol=ROUNDING)


def test_landmarks_lay_out_the_others():
    _, flat = bent_sheet()
    graph = build_graph(flat, n_neighbors=12)
    full = layout_by_paths(graph, 2, n_jobs=1)
    rules = StitchingRules(most_landmarks=100, n_landmarks=60)
    some = layout_by_paths(graph, 2, n_jobs=1, rules=rules)
    assert procrustes_error(some, full) < 3 * procrustes_error(full, flat)


def test_charts_are_flat_where_that_is_truer():
    # A line in space with noise of many dimensions: its bends are all noise.
    rng = np.random.RandomState(0)
    X = np.column_stack([np.linspace(0.0, 9.0, 200), 0.05 * rng.normal(size=(200, 30))])
    graph = build_graph(X, n_neighbors=10, kind="mutual")
    wanted = rough_balls(X, graph, 1, quadratic=False, n_jobs=1)
    cover, charts = rough_balls(X, graph, 1, quadratic=True, n_jobs=1)
    np.testing.assert_array_equal(cover.members, wanted[0].members)
    first = charts.coordinates[cover.indptr[0] : cover.indptr[1]]
    assert first.shape == (24, 1)
    # Weights fall by rank: the seed has all, the last of 24 points a 24th (before the square).
    assert cover.chart_weights[0] == 1.0
    assert np.sqrt(cover.stitch_weights[23]) == pytest.approx(1 / 24)
