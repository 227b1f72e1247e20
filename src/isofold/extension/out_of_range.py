"""Which points are far from all that a map was made of, so that their images are guesses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isofold._base import BaseEmbedder
from isofold._typing import BoolArray, FloatArray
from isofold._validation import check_choice, check_points, check_width
from isofold.exceptions import InvalidInputError
from isofold.extension.extended_map import ExtendedMap
from isofold.extension.patch_map import PatchMap
from isofold.extension.plane_map import PlaneMap
from isofold.extension.region import SampledRegion
from isofold.extension.training_points import TrainingPoints, read_training_points
from isofold.neighbors import build_search

__all__ = ["OutsideRules", "far_limit", "find_outside", "is_outside"]


@dataclass(frozen=True)
class OutsideRules:
    """When a point is far from all training points.

    Attributes
    ----------
    level, n_neighbors : float and int
        Fraction of the training points that are as remote, and the neighbors that tell.
    map_level : float
        The same of points of a map, on which gaps are narrow: a point half-way between two islands
        of faces is as remote as .3% of the faces.
    most_points : int
        Embedded training points that tell where the map has any.
    n_measured : int
        Training points whose distances from the surface are measured.
    quantile, factor : float
        A point is off the surface from this factor of this quantile of these distances on.
    """

    level: float = 0.001
    n_neighbors: int = 10
    map_level: float = 0.01
    most_points: int = 20_000
    n_measured: int = 2000
    quantile: float = 0.99
    factor: float = 2.0


RULES = OutsideRules()


def is_outside(model: BaseEmbedder, X: Any, *, space: Literal["data", "map"] = "data") -> BoolArray:
    """Return which points are far from all samples that a model was fitted to.

    `transform` places any point, but where there were no samples its answer is a guess; so is that
    of `inverse_transform` where the map has none.

    Parameters
    ----------
    model : fitted embedder
        A method of isofold, fitted to points.
    X : array-like of shape (n_new, n_features) or (n_new, n_components)
        The points.
    space : {"data", "map"}, default="data"
        Whether they are points of the data or of the map. Every model knows its map.

    Returns
    -------
    ndarray of bool of shape (n_new,)
        Whether a point is farther from its nearest samples than all but a thousandth of the samples
        are from theirs; a hundredth on the map, whose gaps are narrow. `IPA` describes a surface: a
        point is outside if it is as far off as the samples in `outliers_`, or if its image lies
        beyond the edge of the map.

    Raises
    ------
    InvalidInputError
        If the model is no embedder, or is asked for points of the data and does not keep its
        samples: `EAT`, `TesseraMap` and methods that were fitted to distances.

    See Also
    --------
    OutOfSample.is_outside : The same with a level of your own, for any embedder.

    Examples
    --------
    >>> import isofold
    >>> from isofold.datasets import swiss_roll
    >>> X = swiss_roll(1000, random_state=0).X
    >>> model = isofold.IPA(random_state=0).fit(X)
    >>> isofold.is_outside(model, [X[0], [0.0, 500.0, 0.0]])
    array([False,  True])
    >>> isofold.is_outside(model, [model.embedding_[0], [0.0, 500.0]], space="map")
    array([False,  True])
    """
    check_choice(space, ("data", "map"), name="space")
    if not isinstance(model, BaseEmbedder):
        msg = f"{type(model).__name__} is no embedder of isofold. Pass a fitted one, such as IPA."
        raise InvalidInputError(msg)
    check_is_fitted(model, "embedding_")
    if space == "map":
        images = check_points(X, min_samples=1)
        check_width(images, model.embedding_.shape[1], name="X")
        return _is_off_map(model, images, replace(RULES, level=RULES.map_level))
    points = model._validate(X, reset=False)
    outside = find_outside(model, points, model.transform(X)) if model._sees_points else None
    if outside is None:
        name = type(_worker(model)).__name__
        msg = (
            f"This {name} does not keep the points it was fitted to, so it cannot tell which "
            f"others are far from them. Use isofold.OutOfSample on its embedding_, which can."
        )
        raise InvalidInputError(msg)
    return outside


def far_limit(
    model: BaseEmbedder, X: FloatArray, *, seed: int, rules: OutsideRules = RULES
) -> float | None:
    """Return from which distance on a point is off the surface, if the model describes one."""
    worker: Any = _worker(model)
    if not hasattr(worker, "distance_to_manifold"):
        return None
    rows = np.random.default_rng(seed).permutation(len(X))[: rules.n_measured]
    usual = float(np.quantile(worker.distance_to_manifold(X[rows]), rules.quantile))
    k = min(rules.n_neighbors + 1, len(X))
    spacing = float(np.median(build_search(X).query(X[rows], k).distances[:, -1]))
    return max(rules.factor * usual, spacing)


def find_outside(
    model: Any,
    X: FloatArray,
    Y: FloatArray,
    *,
    limit: float | None = None,
    rules: OutsideRules = RULES,
) -> BoolArray | None:
    """Return which points, with given images, are outside; None if the model cannot tell.

    `limit` is the distance from the surface that `far_limit` found; without it the limits of the
    charts themselves count.
    """
    if hasattr(model, "is_outside"):
        return np.asarray(model.is_outside(X, level=rules.level))
    worker: Any = _worker(model)
    new_map = getattr(worker, "map_", None)
    if isinstance(new_map, PatchMap | ExtendedMap):
        if limit is None:
            is_off = new_map.map_points(X).is_off
        else:
            is_off = worker.distance_to_manifold(X) > limit
        return np.asarray(is_off | _is_off_map(model, Y, rules))
    training = getattr(new_map, "training", None)
    if isinstance(new_map, PlaneMap):
        training = read_training_points(new_map.search.points, new_map.image_search.points)
    return None if training is None else _is_remote(training, X, rules)


def _worker(model: Any) -> Any:
    """Return the embedder that made the map: that which `Unfold` decided for, or the model."""
    return getattr(model, "estimator_", model)


def _is_off_map(model: Any, Y: FloatArray, rules: OutsideRules) -> BoolArray:
    """Return which points of a map are far from all embedded samples."""
    known = model.embedding_[:: -(-len(model.embedding_) // rules.most_points)]
    known = known.astype(np.float64)
    return _is_remote(read_training_points(known, known), Y, rules)


def _is_remote(training: TrainingPoints, X: FloatArray, rules: OutsideRules) -> BoolArray:
    region = SampledRegion.around(training, rules.n_neighbors)
    return region.is_outside(X.astype(np.float64), level=rules.level)
