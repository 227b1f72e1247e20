"""Bent sheets: planar rectangles, bent without stretching.

Each is a plane curve in the first and third coordinate times a straight axis in the second.
The true coordinates are the arc length of the curve and the position on the straight axis. All
of these surfaces are developable: the true coordinates are isometric to the surface.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from scipy.special import ellipeinc

from isofold._typing import FloatArray
from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic._arcs import Arc, archimedean
from isofold.datasets.synthetic._sampling import (
    RandomState,
    check_hole,
    check_positive,
    draw_sheet,
    outside_hole,
    request,
    straight_axis,
)
from isofold.exceptions import InvalidInputError

_S_LENGTH = 3 * np.pi
_S_WIDTH = 2.0
_S_STRIPS = np.pi * np.array([[-1.5, -1.1], [-0.9, -0.1], [0.1, 0.9], [1.1, 1.5]])

_SPIRAL_SCALE = 0.25
_SPIRAL_WIDTH = 2.0

_ARCH_LENGTH = 2.0
_ARCH_WIDTH = 1.0

_CORRUGATION = Arc(
    0.0,
    30.0,
    # ∫√(1 + cos² x) dx = √2 ∫√(1 − ½ sin² x) dx, an elliptic integral of the second kind.
    antiderivative=lambda x: np.sqrt(2) * ellipeinc(x, 0.5),
    speed=lambda x: np.sqrt(1 + np.cos(x) ** 2),
)
_CORRUGATED_WIDTH = 15.0


def s_curve(
    n_samples: int = 1000,
    *,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a sheet bent to the letter S.

    The point is (sin t, h, sign(t)(cos t − 1)) with t in [−1.5π, 1.5π] and h in [0, 2]. The
    curve has unit speed, so that points are spread evenly over the area.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    imbalance : float or None, default=None
        Fraction of the points with t < 0.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the arc length t + 1.5π and h.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Examples
    --------
    >>> from isofold.datasets import s_curve
    >>> s_curve(random_state=0)
    Dataset('s_curve', 1000 samples, 3 features, 2 true coordinates)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    truth = draw_sheet(
        wanted,
        axis=straight_axis(_S_LENGTH),
        width=_S_WIDTH,
        imbalance=imbalance,
    )
    return wanted.dataset("s_curve", _bend_to_s(truth), truth)


def broken_s_curve(
    n_samples: int = 2000,
    *,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate the S-curve in four components (BSC of Costa's thesis, Equation 4.1).

    From `s_curve` the strips with t in [−1.1π, −0.9π], [−0.1π, 0.1π] and [0.9π, 1.1π] are cut
    out. The thesis takes 2,000 points and noise 0.05.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points.
    imbalance : float or None, default=None
        Fraction of the points with t < 0.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length (counted through the gaps) and h, `labels` the component. Points
        fall on the components by chance: a small sample may leave one empty.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    `truth` is isometric on each component. They lie in it as on the sheet before the cuts; an
    embedding that puts them elsewhere is as good. Measure errors per label, as in the example of
    `rotated_swiss_rolls`.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state, minimum=8)
    lengths = _S_STRIPS[:, 1] - _S_STRIPS[:, 0]
    ends = np.cumsum(lengths)
    # The strips are put end to end, sampled as one sheet and moved back to their positions.
    truth = draw_sheet(
        wanted,
        axis=straight_axis(ends[-1]),
        width=_S_WIDTH,
        imbalance=imbalance,
    )
    component = np.searchsorted(ends[:-1], truth[:, 0], side="right")
    truth[:, 0] += (_S_STRIPS[:, 0] + _S_LENGTH / 2 - (ends - lengths))[component]
    return wanted.dataset("broken_s_curve", _bend_to_s(truth), truth, component)


def v_shape(
    n_samples: int = 1000,
    *,
    angle: float = np.pi / 3,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate two flat wings that meet in a sharp fold.

    Tadavani's thesis (Section 2.2) samples 1,000 points uniformly and gives no sizes. Chosen
    here: two unit squares with an opening angle of 60°.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    angle : float, default=π/3
        Angle between the wings, above 0 and below π.
    imbalance : float or None, default=None
        Fraction of the points on the first wing.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the signed distance from the fold and the position along it. Straight
        distances across the fold are shorter than the true ones, however close the points.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    if not check_positive(angle, name="angle") < np.pi:
        msg = f"angle={angle!r} must be below π: at π the wings are one flat sheet."
        raise InvalidInputError(msg)
    truth = draw_sheet(wanted, axis=(-1.0, 0.0, 1.0), width=1.0, imbalance=imbalance)
    along, across = truth.T
    points = np.column_stack((along * np.sin(angle / 2), across, np.abs(along) * np.cos(angle / 2)))
    return wanted.dataset("v_shape", points, truth)


def dual_spiral(
    n_samples: int = 350,
    *,
    hole: Iterable[float] = (0.3, 0.5),
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a sheet rolled up from both ends, with a hole in the middle.

    Tadavani's thesis (Section 3.2.1) samples 350 training and 5,000 test points uniformly from
    a "dual spiral manifold with a large hole in its center" of true width 2 and gives nothing
    else. Chosen here: the Archimedean spiral of scale 1/4 with angles in [π, 3π] and its
    reflection through the outer end, where both meet with a common tangent. The sheet is 20.0
    long and its layers are π/2 apart.

    Parameters
    ----------
    n_samples : int, default=350
        Number of points.
    hole : pair of float, default=(0.3, 0.5)
        Fractions of the sheet's length and width that the central hole takes, at most 0.9.
    imbalance : float or None, default=None
        Fraction of the points on the first spiral.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and position across.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    arc = archimedean(np.pi, 3 * np.pi)
    half = _SPIRAL_SCALE * arc.total
    keep = partial(outside_hole, length=2 * half, width=_SPIRAL_WIDTH, hole=check_hole(hole))
    truth = draw_sheet(
        wanted,
        axis=straight_axis(2 * half),
        width=_SPIRAL_WIDTH,
        imbalance=imbalance,
        keep=keep,
    )
    from_middle = truth[:, 0] - half
    side = np.where(from_middle < 0, 1.0, -1.0)
    angle = arc.parameter((half - np.abs(from_middle)) / _SPIRAL_SCALE)
    # The spiral's outer end, at angle 3π, is the origin and the center of the reflection.
    first = side * _SPIRAL_SCALE * (angle * np.cos(angle) + arc.stop)
    third = side * _SPIRAL_SCALE * angle * np.sin(angle)
    return wanted.dataset("dual_spiral", np.column_stack((first, truth[:, 1], third)), truth)


def arched_sheet(
    n_samples: int = 1500,
    *,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a sheet bent to half a cylinder: the "simple manifold" of Tadavani's Figure 5.5.

    The thesis draws 1,500 points, adds Gaussian noise of variance 0.001
    (``noise=0.001 ** 0.5``) and, in another experiment, puts 1,350 points on one half and 150
    on the other (``imbalance=0.9``). The figure is lost and the shape is not described. Chosen
    here: a rectangle of 2 by 1, for which the noise is about as large as the spacing, so that
    it makes the short-cuts which the thesis reports.

    Parameters
    ----------
    n_samples : int, default=1500
        Number of points.
    imbalance : float or None, default=None
        Fraction of the points in the first half of the arch.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and position across.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    truth = draw_sheet(
        wanted,
        axis=straight_axis(_ARCH_LENGTH),
        width=_ARCH_WIDTH,
        imbalance=imbalance,
    )
    radius = _ARCH_LENGTH / np.pi
    angle = truth[:, 0] / radius
    points = np.column_stack((-radius * np.cos(angle), truth[:, 1], radius * np.sin(angle)))
    return wanted.dataset("arched_sheet", points, truth)


def corrugated_sheet(
    n_samples: int = 2000,
    *,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a corrugated sheet: waves that neither close nor touch.

    The point is (x, h, sin x) with x in [0, 30] and h in [0, 15], spread evenly over the area.
    The sheet is 36.4 long. Its crests have curvature 1, so that 1,000 points, 0.7 apart, are
    hardly enough to follow them.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points.
    imbalance : float or None, default=None
        Fraction of the points in the first half of the sheet, by arc length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds arc length and h.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    truth = draw_sheet(
        wanted,
        axis=straight_axis(_CORRUGATION.total),
        width=_CORRUGATED_WIDTH,
        imbalance=imbalance,
    )
    x = _CORRUGATION.parameter(truth[:, 0])
    points = np.column_stack((x, truth[:, 1], np.sin(x)))
    return wanted.dataset("corrugated_sheet", points, truth)


def _bend_to_s(sheet: FloatArray) -> FloatArray:
    t = sheet[:, 0] - _S_LENGTH / 2
    return np.column_stack((np.sin(t), sheet[:, 1], np.sign(t) * (np.cos(t) - 1)))
