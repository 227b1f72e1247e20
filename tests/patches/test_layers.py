"""Layers: residuals of few values are told from noise and from bends."""

import numpy as np
import pytest

from isofold.patches.layers import LEAST_POINTS, find_layers
from support.ipa_cases import half_cylinder, rectangle, stitched
from support.quick import quick_first

N = 1500


def sheet(n=N, seed=0):
    """Return random points of a flat sheet in space, with a mean of one point to a unit area."""
    side = np.sqrt(n)
    return np.pad(rectangle(n, (side, side), seed), ((0, 0), (0, 1)))


def share_of(X):
    """Return the share of patches that hold layers, those of all pieces together."""
    found = stitched(X)
    told = [
        find_layers(found.points[piece.nodes], piece.cover, piece.charts)[1]
        for piece in found.map.components
    ]
    return np.concatenate(told).mean()


def layered(n_layers, gap, noise, seed=0):
    rng = np.random.RandomState(seed)
    X = sheet(seed=seed)
    X[:, 2] = gap * rng.randint(n_layers, size=N)
    return X + rng.normal(scale=noise * gap, size=X.shape)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("gap", [0.4, 0.7, 1.0])
def test_two_layers_are_found(gap, noise, seed):
    assert share_of(layered(2, gap, noise, seed)) > 0.3


def test_three_layers_are_found():
    # Kurtosis 1.5 and little room below 1.7: a part of the patches tells.
    assert share_of(layered(3, 0.5, 0.0)) > 0.1


NOISE = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: rng.uniform(-1.7, 1.7, size=size),
    "heavy": lambda rng, size: rng.standard_t(3, size=size) / 1.7,
    "skewed": lambda rng, size: rng.exponential(size=size) - 1.0,
}


@pytest.mark.parametrize("d", quick_first([3, 10]))
@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("scale", quick_first([0.3, 0.1]))
def test_noise_of_a_single_sheet_is_no_layer(scale, kind, d):
    rng = np.random.RandomState(0)
    X = np.pad(sheet(), ((0, 0), (0, d - 3)))
    assert share_of(X + scale * NOISE[kind](rng, X.shape)) < 0.05


def test_a_bend_that_charts_do_not_follow_is_no_layer():
    # Ripples shorter than a patch: residuals are those of a cosine, whose kurtosis is 1.5.
    X = sheet()
    X[:, 2] = 0.1 * np.cos(X[:, 0])
    assert share_of(X) < 0.05


def test_clean_sheets_have_no_residuals_to_judge():
    assert share_of(sheet()) == 0.0
    assert share_of(half_cylinder(rectangle(N, (40.0, 40.0)))) == 0.0


def test_nothing_is_told_from_few_points():
    found = stitched(layered(2, 0.5, 0.0)[: 2 * LEAST_POINTS])
    piece = found.map.components[0]
    thin = piece.cover.thinned(np.full(piece.cover.n_patches, 3))[0]
    assert thin.sizes.max() < LEAST_POINTS
    assert not find_layers(found.points, thin, piece.charts)[1].any()


def test_data_that_fill_the_map_have_no_residuals():
    found = stitched(rectangle(400, (20.0, 20.0)))
    piece = found.map.components[0]
    patches, is_layered = find_layers(found.points, piece.cover, piece.charts)
    assert len(patches) == len(is_layered) > 0
    assert not is_layered.any()
