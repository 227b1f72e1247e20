"""Points for the tests of mixtures of probabilistic PCA."""

from __future__ import annotations

import numpy as np
from scipy.stats import ortho_group

FALL = 1e-7
"""Relative fall of a likelihood by rounding alone: at the floor squared distances, right to some
1e-15 of the data's variance, are divided by 1e-8 of it."""


def planes(n_points=60, n_features=5, noise=0.05, seed=0):
    """Two planes in general position with noise around them, and their labels."""
    rng = np.random.RandomState(seed)
    axes = ortho_group.rvs(n_features, size=2, random_state=rng)[:, :2]
    flat = rng.uniform(-2.0, 2.0, size=(2, n_points, 2)) @ axes
    flat[1] += 1.5
    points = flat + noise * rng.standard_normal(flat.shape)
    return points.reshape(-1, n_features), np.repeat([0, 1], n_points)


def standardized(X):
    """Points about their mean, of unit variance in the mean over the features."""
    offsets = X - X.mean(axis=0)
    return offsets / np.sqrt(np.mean(offsets**2))
