"""Data sets in higher dimensions: the same points, rotated at random, with noise.

The map x ↦ Qx with orthonormal columns Q keeps all distances, so that what is true about the
points stays true. Q is uniform among all such maps: the orthogonal factor of a Gaussian matrix,
with the signs that make the triangular factor's diagonal positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from reprlib import repr as short_repr

import numpy as np

from isofold._memory import require_memory
from isofold._typing import FloatArray
from isofold._validation import check_count, check_points, check_seed, check_units
from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic._sampling import LARGEST, RandomState, check_noise
from isofold.exceptions import InvalidInputError


def lift(
    dataset: Dataset,
    n_features: int,
    *,
    noise: float = 0.0,
    noise_profile: Sequence[float] | FloatArray | None = None,
    random_state: RandomState = None,
) -> Dataset:
    """Take a data set to a higher dimension by a random rotation, and add noise there.

    Parameters
    ----------
    dataset : Dataset
        The points. They are rotated about the origin and keep their distances.
    n_features : int
        Number of coordinates to come, at least as many as the points have.
    noise : float, default=0.0
        Standard deviation of Gaussian noise, the same in all directions.
    noise_profile : sequence of n_features floats or None, default=None
        Standard deviations of Gaussian noise along the coordinate axes, one for each. The noise
        is added after the rotation, so that its axes have nothing to do with those of the
        surface. At most one of `noise` and `noise_profile` may be given.
    random_state : int, RandomState or None, default=None
        Seed of the rotation and the noise. One seed gives the same rotation at every noise level.

    Returns
    -------
    Dataset
        The rotated points, in the precision of the given ones. Name, `truth`, `labels` and
        targets stay; the image shape and the names of features no longer fit and are dropped.

    Raises
    ------
    InvalidInputError
        If there are fewer features than before, or the noise is out of range or given twice.
    MemoryLimitError
        If the points would not fit into memory.

    Examples
    --------
    A roll in ten dimensions, with noise that is larger along the first axis:

    >>> from isofold.datasets import lift, swiss_roll
    >>> roll = swiss_roll(500, random_state=0)
    >>> lift(roll, 10, noise_profile=[0.5] + 9 * [0.1], random_state=0)
    Dataset('swiss_roll', 500 samples, 10 features, 2 true coordinates, 2 classes)
    """
    points = _points_of(dataset)
    n_samples, n_before = points.shape
    n_features = check_count(n_features, name="n_features")
    if n_features < n_before:
        msg = (
            f"n_features={n_features}, but the points have {n_before}, and no rotation fits "
            f"them into fewer. Pass n_features >= {n_before}."
        )
        raise InvalidInputError(msg)
    deviation = _check_deviation(noise, noise_profile, n_features)
    # The rotated points and the noise beside each other, the Gaussian matrix and its factor.
    require_memory(
        8 * n_features * (3 * n_samples + 3 * n_before),
        what=f"A data set of {n_samples} points in {n_features} dimensions",
        instead="Pass fewer points or a smaller n_features.",
    )
    rng = check_seed(random_state)
    lifted = points @ _random_turn(rng, n_before, n_features).astype(points.dtype)
    if np.any(deviation > 0):
        lifted += (deviation * rng.standard_normal(lifted.shape)).astype(points.dtype)
    return replace(dataset, X=lifted, image_shape=None, feature_names=())


def _points_of(dataset: Dataset) -> FloatArray:
    if not isinstance(dataset, Dataset):
        msg = (
            f"dataset is of type {type(dataset).__name__}, but a Dataset is needed. Wrap an array "
            f"as isofold.datasets.Dataset('name', X)."
        )
        raise InvalidInputError(msg)
    points = check_points(dataset.X, name="dataset.X", min_samples=1)
    check_units(points, name="dataset.X")
    return points


def _check_deviation(
    noise: float, profile: Sequence[float] | FloatArray | None, n_features: int
) -> FloatArray:
    """Return the noise, one number for all axes or one for each."""
    noise = check_noise(noise)
    if profile is None:
        return np.asarray(noise)
    if noise > 0:
        msg = (
            f"noise={noise!r} and noise_profile are both given, but each alone says how large "
            f"the noise is. Pass one of them."
        )
        raise InvalidInputError(msg)
    msg = (
        f"noise_profile={short_repr(profile)} must give {n_features} standard deviations between "
        f"0 and {LARGEST:.0e}, one for each of the n_features={n_features} axes."
    )
    try:
        deviation = np.asarray(profile)
    except ValueError as error:
        raise InvalidInputError(msg) from error
    if deviation.shape != (n_features,) or deviation.dtype.kind not in "fiu":
        raise InvalidInputError(msg)
    if not np.all((deviation >= 0) & (deviation <= LARGEST)):
        raise InvalidInputError(msg)
    return deviation


def _random_turn(rng: np.random.RandomState, n_before: int, n_features: int) -> FloatArray:
    """Return orthonormal rows, uniformly distributed, that take n_before to n_features."""
    factor, triangle = np.linalg.qr(rng.standard_normal((n_features, n_before)))
    return (factor * np.where(np.diag(triangle) < 0, -1.0, 1.0)).T
