"""Flat surfaces that are bent in more than one direction: a torus, a cone and a solid block.

They have no inner curvature, so that their true coordinates are isometric to them, but unlike
the sheets none is a plane curve times a straight axis. The torus and the block lie in four and
six dimensions: every true coordinate s is bent to a circle (R cos s/R, R sin s/R) of its own.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray
from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic._sampling import (
    RandomState,
    check_positive,
    draw_sheet,
    request,
    straight_axis,
)
from isofold.exceptions import InvalidInputError

_CONE_SINE = 0.5
_CONE_NEAREST = 1.0
_CONE_FARTHEST = 5.0
_CONE_TURN = 1.5 * np.pi

_BLOCK_EXTENTS = (6.0, 6.0, 3.0)
_BLOCK_RADIUS = 2.0


def flat_torus(
    n_samples: int = 1000,
    *,
    extent: float = 1.5 * np.pi,
    imbalance: float | None = None,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a part of the flat torus of Clifford in four dimensions.

    The point is (cos u, sin u, cos v, sin v) with u and v in [0, extent], spread evenly over the
    area.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    extent : float, default=1.5π
        Largest u and v, at most 2π.
    imbalance : float or None, default=None
        Fraction of the points in the first half of u.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds u and v, which are arc lengths.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    `truth` is isometric as long as the part is open. With an extent of 2π it is the whole torus,
    where 2π is next to 0 in both coordinates and no map to the plane keeps distances. Below
    2π the edges are 2 sin(extent/2) apart; where that is no more than the spacing of the points,
    nothing tells an open part from a closed one.

    Examples
    --------
    >>> from isofold.datasets import flat_torus
    >>> flat_torus(random_state=0)
    Dataset('flat_torus', 1000 samples, 4 features, 2 true coordinates)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    extent = check_positive(extent, name="extent")
    if extent > 2 * np.pi:
        msg = (
            f"extent={extent!r} is above 2π, all around the torus: points would lie "
            f"on top of each other. Pass at most 2π."
        )
        raise InvalidInputError(msg)
    truth = draw_sheet(wanted, axis=straight_axis(extent), width=extent, imbalance=imbalance)
    return wanted.dataset("flat_torus", _bend_to_circles(truth, radius=1.0), truth)


def cone(n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None) -> Dataset:
    """Generate three quarters of a blunt cone.

    The point is (ρ sin α cos φ, ρ sin α sin φ, ρ cos α) with sin α = ½, its distance from the
    apex ρ in [1, 5] and φ in [0, 1.5π]. Unrolled, it is a sector of a ring of 135°.

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
        `truth` holds the position on the unrolled cone, (ρ cos(φ sin α), ρ sin(φ sin α)).

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    azimuth = wanted.rng.uniform(0.0, _CONE_TURN, size=wanted.n_samples)
    # The area grows with the square of the distance from the apex.
    square = wanted.rng.uniform(_CONE_NEAREST**2, _CONE_FARTHEST**2, size=wanted.n_samples)
    rho = np.sqrt(square)
    ring = _CONE_SINE * rho
    height = np.sqrt(1 - _CONE_SINE**2) * rho
    points = np.column_stack((ring * np.cos(azimuth), ring * np.sin(azimuth), height))
    unrolled = _CONE_SINE * azimuth
    truth = np.column_stack((rho * np.cos(unrolled), rho * np.sin(unrolled)))
    return wanted.dataset("cone", points, truth)


def rolled_block(
    n_samples: int = 2000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate a solid block of three dimensions, bent along all of them in six.

    The point is (2 cos a/2, 2 sin a/2, 2 cos b/2, 2 sin b/2, 2 cos c/2, 2 sin c/2) with a and b
    in [0, 6] and c in [0, 3]. The first two axes turn by 3 radians, the third by 1.5, so that none
    closes.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points, spread evenly over the volume.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds a, b and c, which are arc lengths.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    truth = wanted.rng.uniform(0.0, _BLOCK_EXTENTS, size=(wanted.n_samples, len(_BLOCK_EXTENTS)))
    return wanted.dataset("rolled_block", _bend_to_circles(truth, radius=_BLOCK_RADIUS), truth)


def _bend_to_circles(flat: FloatArray, *, radius: float) -> FloatArray:
    """Bend each coordinate s to (R cos s/R, R sin s/R), in two columns next to each other."""
    angle = flat / radius
    return radius * np.stack((np.cos(angle), np.sin(angle)), axis=2).reshape(len(flat), -1)
