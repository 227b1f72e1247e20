"""A star of four twisted strips that unrolls to a planar cross."""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray
from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic._sampling import RandomState, draw_sheet, request, straight_axis

_ARM_LENGTH = 4.0
_ARM_WIDTH = 1.0
_ARM_FLAT = 0.5
"""Near the center the strips are still flat, so that close points on two adjacent strips keep
their distance in the plane."""
_ARM_RADIUS = 1.0
_ARM_TILT = np.pi / 6


def star(n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None) -> Dataset:
    """Generate a star of four twisted strips that leave a flat center.

    Tadavani's thesis (Section 5.2.1) has "four twisted rectangular segments joining in its
    center" and gives no numbers. A strip twisted about its own middle line cannot be laid flat.
    Here each strip is wound obliquely, like a bandage, around a cylinder that touches the
    center's plane, so that it twists and still unrolls to a planar star. Chosen: a unit square
    as center, strips of 4 by 1 that stay flat for at least 0.5, cylinders of radius 1 whose
    axes are 30° off the strip's crosswise direction, two opposite strips bent upwards and two
    downwards.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, spread evenly over the area.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the coordinates on the planar star.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    # Four strips and the center, which is a strip of length 1 put last, end to end.
    sheet = draw_sheet(
        wanted,
        axis=straight_axis(4 * _ARM_LENGTH + _ARM_WIDTH),
        width=_ARM_WIDTH,
        imbalance=None,
    )
    arm = np.minimum(sheet[:, 0] // _ARM_LENGTH, 4)
    beyond = sheet[:, 0] - arm * _ARM_LENGTH
    along = np.where(arm < 4, beyond, beyond - _ARM_WIDTH)
    across = sheet[:, 1] - _ARM_WIDTH / 2
    wound_along, wound_across, rise = _wind(along, across)
    upwards = np.where(arm % 2 == 0, 1.0, -1.0)
    flat = _turn_to_arm(along, across, arm)
    points = np.column_stack((_turn_to_arm(wound_along, wound_across, arm), upwards * rise))
    return wanted.dataset("star", points, flat)


def _wind(along: FloatArray, across: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Wind a strip around a cylinder; what lies at ``along <= _ARM_FLAT`` stays where it is.

    The axial and the winding direction of the cylinder are the strip's own two directions,
    rotated by the tilt.
    """
    cos, sin = np.cos(_ARM_TILT), np.sin(_ARM_TILT)
    winding = cos * along + sin * across
    axial = cos * across - sin * along
    flat = np.minimum(winding, cos * _ARM_FLAT + sin * _ARM_WIDTH / 2)
    angle = (winding - flat) / _ARM_RADIUS
    winding = flat + _ARM_RADIUS * np.sin(angle)
    rise = _ARM_RADIUS * (1 - np.cos(angle))
    return cos * winding - sin * axial, sin * winding + cos * axial, rise


def _turn_to_arm(along: FloatArray, across: FloatArray, arm: FloatArray) -> FloatArray:
    """Return plane coordinates; strip k points to the k-th of four directions."""
    x, y = along + _ARM_WIDTH / 2, across
    cos, sin = np.cos(arm * np.pi / 2), np.sin(arm * np.pi / 2)
    return np.column_stack((cos * x - sin * y, sin * x + cos * y))
