"""Swiss rolls: a rectangle rolled along an Archimedean spiral.

The point with angle t and height h is (t cos t, h, t sin t). Its true coordinates are the arc
length ½(t√(1 + t²) + asinh t), counted from the inner edge, and h: not the angle, which grows
slower than the length the further out the sheet is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic._arcs import archimedean
from isofold.datasets.synthetic._sampling import (
    RandomState,
    Request,
    Sampling,
    check_grid_size,
    check_hole,
    check_positive,
    check_sampling,
    deal,
    draw_sheet,
    grid_nodes,
    outside_hole,
    request,
    straight_axis,
)

_INNER_ANGLE = 1.5 * np.pi
_TURNS = 1.5
_CUT = (0.4, 0.6)
_GRID_NODES = (56, 14)


def swiss_roll(
    n_samples: int = 1000,
    *,
    width: float = 30.0,
    turns: float = 1.5,
    uniform: bool = False,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a Swiss roll.

    The defaults are those of van der Maaten's toolbox [1]_: t = 1.5π(1 + 2u) and h = 30v with
    u, v uniform in [0, 1]. Points are then denser on the inner turns than on the outer ones.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    width : float, default=30.0
        Extent of the straight axis h.
    turns : float, default=1.5
        How often the sheet winds around its axis, beginning at the angle 1.5π.
    uniform : bool, default=False
        Whether points are spread evenly over the area instead of over the angle.
    imbalance : float or None, default=None
        Fraction of the points in the inner half of the sheet, by arc length; 0.9 puts 90 % there.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and height, `labels` the toolbox's checkerboard
        (round(t/2) + round(h/12)) mod 2.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    References
    ----------
    .. [1] L. van der Maaten, "Matlab Toolbox for Dimensionality Reduction", 2007.

    Examples
    --------
    >>> from isofold.datasets import swiss_roll
    >>> swiss_roll(500, random_state=0)
    Dataset('swiss_roll', 500 samples, 3 features, 2 true coordinates, 2 classes)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    width = check_positive(width, name="width")
    turns = check_positive(turns, name="turns")
    arc = archimedean(_INNER_ANGLE, _INNER_ANGLE + 2 * np.pi * turns)
    axis = straight_axis(arc.total) if uniform else arc.axis
    sheet = draw_sheet(wanted, axis=axis, width=width, imbalance=imbalance)
    angle = arc.parameter(sheet[:, 0]) if uniform else sheet[:, 0]
    height = sheet[:, 1]
    truth = np.column_stack((arc.length(angle), height))
    return wanted.dataset("swiss_roll", _roll(angle, height), truth, _checkerboard(angle, height))


def holed_swiss_roll(
    n_samples: int = 700,
    *,
    width: float = 21.0,
    hole: Iterable[float] = (0.25, 0.45),
    sampling: Sampling = "random",
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a Swiss roll with a rectangular hole in the middle of the sheet.

    This is the "modified Swiss roll" of Tadavani's thesis [1]_ and, in spite of its name, the
    "broken Swiss roll" of Strange's [2]_, "with a rectangular area punched out of the middle".
    For a roll in two components see `broken_swiss_roll`.

    Parameters
    ----------
    n_samples : int, default=700
        Number of points.
    width : float, default=21.0
        Extent of the straight axis.
    hole : pair of float, default=(0.25, 0.45)
        Fractions of the sheet's length and width that the central hole takes, at most 0.9.
    sampling : {"random", "grid"}, default="random"
        Random points are spread evenly over the area. The grid is regular in the true
        coordinates: 56 × 14 nodes less those in the hole, which with the default hole leaves
        exactly the 700 points of the thesis. `n_samples` must match.
    imbalance : float or None, default=None
        Fraction of the points in the inner half of the sheet, by arc length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and height, `labels` the checkerboard of `swiss_roll`.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    The theses give neither the extents nor the size of the hole. Chosen here: the angle of
    `swiss_roll`, and a width for which the cells of the grid are square to within 1 %.

    References
    ----------
    .. [1] P. K. Tadavani, "Nonlinear Dimensionality Reduction by Manifold Unfolding",
       PhD thesis, University of Waterloo, 2013, Section 5.2.1.
    .. [2] H. Strange, "Piecewise-Linear Manifold Learning", PhD thesis, 2011, Section 4.2.2.

    Examples
    --------
    >>> from isofold.datasets import holed_swiss_roll
    >>> holed_swiss_roll(sampling="grid")
    Dataset('holed_swiss_roll', 700 samples, 3 features, 2 true coordinates, 2 classes)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    width = check_positive(width, name="width")
    arc = archimedean(_INNER_ANGLE, _INNER_ANGLE + 2 * np.pi * _TURNS)
    keep = partial(outside_hole, length=arc.total, width=width, hole=check_hole(hole))
    if check_sampling(sampling, imbalance=imbalance):
        n_along, n_across = _GRID_NODES
        nodes = grid_nodes(np.linspace(0.0, arc.total, n_along), np.linspace(0.0, width, n_across))
        truth: FloatArray = nodes[keep(nodes)]
        check_grid_size(wanted.n_samples, len(truth))
    else:
        truth = draw_sheet(
            wanted,
            axis=straight_axis(arc.total),
            width=width,
            imbalance=imbalance,
            keep=keep,
        )
    angle, height = arc.parameter(truth[:, 0]), truth[:, 1]
    return wanted.dataset(
        "holed_swiss_roll", _roll(angle, height), truth, _checkerboard(angle, height)
    )


def broken_swiss_roll(
    n_samples: int = 1000,
    *,
    width: float = 30.0,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a Swiss roll from which a full strip is cut, so that two components remain.

    As in van der Maaten's toolbox, t = 1.5π(1 + 2u) with u uniform in [0, 0.4] for one half of
    the points and in [0.6, 1] for the other, and h = 30v. (Strange's thesis calls the roll with
    a rectangular hole "broken"; that one is `holed_swiss_roll`.)

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    width : float, default=30.0
        Extent of the straight axis.
    imbalance : float or None, default=None
        Fraction of the points in the inner component; None for one half.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length (counted through the cut) and height, `labels` the component.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range, or `imbalance` leaves a component without points.

    Notes
    -----
    `truth` is isometric on each component. They lie in it as on the sheet before the cut; the
    points do not tell how wide the cut was, so an embedding that puts the components elsewhere is
    as good. Measure errors per label, as in the example of `rotated_swiss_rolls`.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state, minimum=4)
    width = check_positive(width, name="width")
    arc = archimedean(_INNER_ANGLE, _INNER_ANGLE + 2 * np.pi * _TURNS)
    # Without the cut the components are the halves of one axis of length 2 · 0.4; the second half
    # is then moved outwards by the width of the cut.
    axis = (0.0, _CUT[0], 1.0 - _CUT[1] + _CUT[0])
    fraction = 0.5 if imbalance is None else imbalance
    sheet = draw_sheet(wanted, axis=axis, width=width, imbalance=fraction)
    component = (sheet[:, 0] >= _CUT[0]).astype(np.int64)
    position = sheet[:, 0] + component * (_CUT[1] - _CUT[0])
    angle, height = arc.start + position * (arc.stop - arc.start), sheet[:, 1]
    truth = np.column_stack((arc.length(angle), height))
    return wanted.dataset("broken_swiss_roll", _roll(angle, height), truth, component)


def rotated_swiss_rolls(
    n_samples: int = 2000,
    *,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate two Swiss rolls in different positions (SR1 of Costa's thesis).

    Both are [t cos t, h, t sin t] with t uniform in [1.5π, 3π] and h in [0, 30]. The first is
    rotated by −π/4 about the third axis and moved by (20, 20, 30), the second is moved by
    (0, −20, 0) [1]_. The thesis takes 2,000 points and noise 0.05.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points, half of them on each roll.
    imbalance : float or None, default=None
        Fraction of the points in the inner halves of the rolls, by arc length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and height on the point's own roll, `labels` the roll.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    `truth` is isometric on each roll, in a frame of its own: both begin at zero, so that in
    `truth` the rolls lie on top of each other. Measure errors per label.

    References
    ----------
    .. [1] Costa, "Maximum Variance Unfolding on Disjoint Manifolds", MSc thesis, Lisbon,
       Equations 4.2 to 4.4.

    Examples
    --------
    A perfect unfolding puts the rolls side by side. Its error is large over all points and zero
    on each roll:

    >>> from isofold.datasets import rotated_swiss_rolls
    >>> from isofold.quality import procrustes_error
    >>> data = rotated_swiss_rolls(200, random_state=0)
    >>> Y = data.truth.copy()
    >>> Y[data.labels == 1] += (100.0, 0.0)
    >>> round(procrustes_error(Y, data.truth), 1)
    3.8
    >>> for roll in (0, 1):
    ...     rows = data.labels == roll
    ...     print(round(procrustes_error(Y[rows], data.truth[rows]), 6))
    0.0
    0.0
    """
    wanted = request(n_samples, noise=noise, random_state=random_state, minimum=4)
    points, truth, roll = _pair(wanted, imbalance)
    cos, sin = np.cos(-np.pi / 4), np.sin(-np.pi / 4)
    rotation = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    points[roll == 0] = points[roll == 0] @ rotation.T + (20.0, 20.0, 30.0)
    points[roll == 1] += (0.0, -20.0, 0.0)
    return wanted.dataset("rotated_swiss_rolls", points, truth, roll)


def parallel_swiss_rolls(
    n_samples: int = 2000,
    *,
    distance: float = 40.0,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate two Swiss rolls on one common axis (SR2 of Costa's thesis).

    The rolls are those of `rotated_swiss_rolls`; the second is moved by (0, −distance, 0).

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points, half of them on each roll.
    distance : float, default=40.0
        How far the second roll is moved along the axis. The thesis prints 20 (Equation 4.5);
        as the rolls are 30 wide, they then overlap and form one component. 40 leaves a gap
        of 10.
    imbalance : float or None, default=None
        Fraction of the points in the inner halves of the rolls, by arc length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and height on the point's own roll, `labels` the roll.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    `truth` is isometric on each roll, in a frame of its own. The `distance` is not in it: both
    rolls begin at zero and lie on top of each other. Measure errors per label, as in the example
    of `rotated_swiss_rolls`.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state, minimum=4)
    distance = check_positive(distance, name="distance")
    points, truth, roll = _pair(wanted, imbalance)
    points[roll == 1] += (0.0, -distance, 0.0)
    return wanted.dataset("parallel_swiss_rolls", points, truth, roll)


def _pair(wanted: Request, imbalance: float | None) -> tuple[FloatArray, FloatArray, IntArray]:
    """Draw two copies of Costa's roll (Equation 4.2): points, true coordinates, which roll."""
    arc = archimedean(_INNER_ANGLE, 3 * np.pi)
    sheet = draw_sheet(wanted, axis=arc.axis, width=30.0, imbalance=imbalance)
    roll = deal(wanted, 2)
    angle, height = sheet.T
    return _roll(angle, height), np.column_stack((arc.length(angle), height)), roll


def _roll(angle: FloatArray, height: FloatArray) -> FloatArray:
    return np.column_stack((angle * np.cos(angle), height, angle * np.sin(angle)))


def _checkerboard(angle: FloatArray, height: FloatArray) -> IntArray:
    return ((np.round(angle / 2) + np.round(height / 12)) % 2).astype(np.int64)
