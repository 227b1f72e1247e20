"""Benchmarks: networks with known positions, as studies of localization use them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import gamma
from sklearn.utils import check_random_state

from isofold._typing import FloatArray
from isofold._validation import check_choice
from isofold.exceptions import InvalidInputError
from isofold.structure.given import Anchors
from isofold.structure.network.data import SensorNetwork

__all__ = ["Shape", "make_network"]

Shape = Literal["uniform", "grid", "C", "ring", "holes"]

ARM = 1.0 / 3.0
"""Width of the arms of a C, and of the hole of a ring, in sides of the square."""

HOLES = (((0.3, 0.3), 0.18), ((0.7, 0.65), 0.2))
"""Centers and radii of the two holes."""

JITTER = 0.3
"""Standard deviation around the points of a grid, in its spacing."""


def make_network(
    n_nodes: int = 100,
    n_components: int = 2,
    *,
    degree: float = 10.0,
    radius: float | None = None,
    noise: float = 0.05,
    n_anchors: int = 10,
    shape: Shape = "uniform",
    random_state: Any = None,
) -> SensorNetwork:
    """Return a network in the unit square or cube with noisy ranges.

    Parameters
    ----------
    n_nodes : int, default=100
        Number of nodes, anchors included.
    n_components : {2, 3}, default=2
        In the plane or in space.
    degree : float, default=10.0
        About how many ranges a node has that is far from the border: it sets the radius.
    radius : float or None, default=None
        How far radios reach, instead of a degree. All pairs within it have a range.
    noise : float, default=0.05
        Standard deviation of the relative error of the ranges, which is normal.
    n_anchors : int, default=10
        Number of nodes with known positions, drawn at random.
    shape : {"uniform", "grid", "C", "ring", "holes"}, default="uniform"
        Where nodes are: anywhere; around the points of a grid; or anywhere in a region whose
        shortest paths bend, so that they are much longer than distances. In space, regions have
        the same section at every height.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    SensorNetwork
        The network, with `positions`.

    Examples
    --------
    >>> from isofold.structure.network import make_network
    >>> network = make_network(50, degree=12, noise=0.0, random_state=0)
    >>> network.positions.shape, len(network.anchors)
    ((50, 2), 10)
    """
    _check_request(n_nodes, n_components, degree, radius, noise, n_anchors, shape)
    rng = check_random_state(random_state)
    X = _grid(n_nodes, n_components, rng)
    if shape != "grid":
        X = _region(n_nodes, n_components, shape, rng)
    area = 1.0 if shape in ("uniform", "grid") else _area(shape)
    reach = _radius(n_nodes, n_components, degree, area) if radius is None else float(radius)
    pairs = np.sort(cKDTree(X).query_pairs(reach, output_type="ndarray"), axis=1)
    pairs = pairs[np.lexsort(pairs.T[::-1])].astype(np.intp)
    lengths = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    ranges = np.abs(lengths * (1.0 + noise * rng.standard_normal(len(pairs))))
    anchors = np.sort(rng.permutation(n_nodes)[:n_anchors]).astype(np.intp)
    return SensorNetwork(n_nodes, pairs, ranges, Anchors(anchors, X[anchors]), reach, X)


def _check_request(
    n_nodes: int,
    n_components: int,
    degree: float,
    radius: float | None,
    noise: float,
    n_anchors: int,
    shape: str,
) -> None:
    """Refuse what no network has."""
    if n_components not in (2, 3):
        msg = f"n_components={n_components!r} must be 2 or 3: nodes are in the plane or in space."
        raise InvalidInputError(msg)
    if n_nodes < 2 or not 0 <= n_anchors <= n_nodes:
        msg = (
            f"n_nodes={n_nodes!r} must be at least 2, and n_anchors={n_anchors!r} of them are "
            f"anchors."
        )
        raise InvalidInputError(msg)
    if not (degree > 0.0 and noise >= 0.0 and (radius is None or radius > 0.0)):
        msg = (
            f"degree={degree!r} and radius={radius!r} must be positive, and noise={noise!r} not "
            f"negative."
        )
        raise InvalidInputError(msg)
    check_choice(shape, get_args(Shape), name="shape")


def _grid(n: int, d: int, rng: Any) -> FloatArray:
    """Return points around those of a grid, in random order."""
    side = int(np.ceil(n ** (1.0 / d) - 1e-9))
    axes = np.meshgrid(*[(np.arange(side) + 0.5) / side] * d, indexing="ij")
    points = np.column_stack([axis.ravel() for axis in axes])
    points = points[rng.permutation(len(points))[:n]]
    return np.asarray(points + JITTER / side * rng.standard_normal(points.shape))


def _region(n: int, d: int, shape: str, rng: Any) -> FloatArray:
    """Return points anywhere in a region, the first that fall into it."""
    points = np.empty((0, d))
    while len(points) < n:
        drawn = rng.uniform(size=(2 * n, d))
        points = np.concatenate([points, drawn[_is_inside(drawn, shape)]])
    return points[:n]


def _is_inside(X: FloatArray, shape: str) -> Any:
    x, y = X[:, 0], X[:, 1]
    if shape == "C":
        return (x < ARM) | (np.abs(y - 0.5) > 0.5 - ARM)
    if shape == "ring":
        return np.maximum(np.abs(x - 0.5), np.abs(y - 0.5)) > ARM
    if shape == "holes":
        return np.all([np.hypot(x - a, y - b) > r for (a, b), r in HOLES], axis=0)
    return np.ones(len(X), dtype=bool)


def _area(shape: str) -> float:
    """Return the area of a region of the unit square."""
    if shape == "C":
        return 1.0 - (1.0 - ARM) * (1.0 - 2.0 * ARM)
    if shape == "ring":
        return 1.0 - 4.0 * ARM**2
    return 1.0 - np.pi * sum(r**2 for _, r in HOLES)


def _radius(n: int, d: int, degree: float, area: float) -> float:
    """Return the radius in which an inner node has so many others, on average."""
    unit_ball = np.pi ** (d / 2) / gamma(d / 2 + 1)
    return float((degree * area / ((n - 1) * unit_ball)) ** (1.0 / d))
