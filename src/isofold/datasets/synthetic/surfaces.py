"""Curved or closed surfaces that no map to the plane keeps true.

Their `truth` is a chart: coordinates that name the points of the surface but distort its
distances.
"""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray
from isofold.datasets._dataset import Dataset
from isofold.datasets._sphere import sphere_points
from isofold.datasets.synthetic._sampling import (
    RandomState,
    Sampling,
    check_grid_size,
    check_positive,
    check_sampling,
    grid_nodes,
    request,
)
from isofold.exceptions import InvalidInputError

_CYLINDER_HEIGHT = 4.0


def half_globe(
    n_samples: int = 181,
    *,
    sampling: Sampling = "random",
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate points on the front half of the unit sphere.

    Parameters
    ----------
    n_samples : int, default=181
        Number of points.
    sampling : {"random", "grid"}, default="random"
        Random points are spread evenly over the area. The grid is the regular mesh described
        below and has exactly 181 points; `n_samples` must match.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds longitude in [−π/2, π/2] and latitude in [−π/2, π/2], in radians. Their
        Euclidean distances are those that the EAT experiment keeps; they agree with the
        distances on the sphere along the equator and along meridians only.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    The EAT paper [1]_ draws "a regular mesh" over a half-globe and takes 181 points, without
    its layout. Chosen here: the half in front of the great circle through the poles, and the
    crossings of 10 meridians, 20° apart, with 10 parallels, 18° apart from 81° south to
    81° north, together with the 9 × 9 centers of their cells (10² + 9² = 181). The poles are
    left out: there, one point has many longitudes. The paper's second set, 30,000 points of the
    Earth with their elevation, is not here: its source is not given.

    References
    ----------
    .. [1] P. K. Tadavani and A. Ghodsi, "Learning an Affine Transformation for Non-linear
       Dimensionality Reduction", ECML PKDD, 2010.

    Examples
    --------
    >>> from isofold.datasets import half_globe
    >>> half_globe(sampling="grid")
    Dataset('half_globe', 181 samples, 3 features, 2 true coordinates)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    if check_sampling(sampling):
        truth = _globe_mesh()
        check_grid_size(wanted.n_samples, len(truth))
    else:
        longitude = wanted.rng.uniform(-np.pi / 2, np.pi / 2, size=wanted.n_samples)
        # The sphere's area is proportional to the height, the sine of the latitude.
        latitude = np.arcsin(wanted.rng.uniform(-1.0, 1.0, size=wanted.n_samples))
        truth = np.column_stack((longitude, latitude))
    return wanted.dataset("half_globe", sphere_points(*truth.T), truth)


def spherical_cap(
    n_samples: int = 1000,
    *,
    angle: float = 25.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a cap of the unit sphere: a surface as nearly flat as the angle is small.

    It tests whether a method notices the distortion that curvature makes unavoidable.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points, spread evenly over the area.
    angle : float, default=25.0
        Angle in degrees at the sphere's center between the middle of the cap and its rim, above
        0 and below 180; 90 gives half a sphere.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the azimuthal equidistant map (θ cos φ, θ sin φ) of the points
        (sin θ cos φ, sin θ sin φ, cos θ). Distances from the middle are true; around it they
        are too long by θ/sin θ, which is 3.2 % at a rim of 25°.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Examples
    --------
    >>> from isofold.datasets import spherical_cap
    >>> spherical_cap(angle=60.0, random_state=0)
    Dataset('spherical_cap', 1000 samples, 3 features, 2 true coordinates)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    if not check_positive(angle, name="angle") < 180:
        msg = (
            f"angle={angle!r} degrees must be below 180: there the cap is the whole sphere, whose "
            f"last point the map draws out to a circle."
        )
        raise InvalidInputError(msg)
    azimuth = wanted.rng.uniform(0.0, 2 * np.pi, size=wanted.n_samples)
    # The area up to θ is 4π sin²(θ/2); the sine, unlike 1 − cos θ, is exact for small caps.
    level = wanted.rng.uniform(size=wanted.n_samples)
    polar = 2 * np.arcsin(np.sqrt(level) * np.sin(np.radians(angle) / 2))
    direction = np.column_stack((np.cos(azimuth), np.sin(azimuth)))
    points = np.column_stack((np.sin(polar)[:, np.newaxis] * direction, np.cos(polar)))
    return wanted.dataset("spherical_cap", points, polar[:, np.newaxis] * direction)


def cylinder(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate a closed cylinder of radius 1 and height 4, without its lids.

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
        `truth` holds the angle in [0, 2π], which is the arc length, and the height in [0, 4].
        The surface has no inner curvature, but it is closed: the angle 2π is next to 0.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    angle = wanted.rng.uniform(0.0, 2 * np.pi, size=wanted.n_samples)
    height = wanted.rng.uniform(0.0, _CYLINDER_HEIGHT, size=wanted.n_samples)
    points = np.column_stack((np.cos(angle), np.sin(angle), height))
    return wanted.dataset("cylinder", points, np.column_stack((angle, height)))


def twin_peaks(
    n_samples: int = 2000,
    *,
    height: float = 1.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a square sheet with two hills and two hollows.

    As in van der Maaten's toolbox, the points are (x, y, height · sin(πx) tanh(3y)) with x and
    y uniform in [−1, 1]. Tadavani's thesis (Section 4.3) takes 2,000 points and gives no
    formula.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points.
    height : float, default=1.0
        Height of the hills. The toolbox has 10, which makes the slopes so steep that 2,000
        points hardly tell opposite walls apart.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds x and y. The surface is not developable.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    height = check_positive(height, name="height")
    truth = wanted.rng.uniform(-1.0, 1.0, size=(wanted.n_samples, 2))
    rise = height * np.sin(np.pi * truth[:, 0]) * np.tanh(3 * truth[:, 1])
    return wanted.dataset("twin_peaks", np.column_stack((truth, rise)), truth)


def fishbowl(
    n_samples: int = 1000,
    *,
    radius: float = 3.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a sphere whose top is cut off.

    Points (u, v), uniform in the disk of the given radius, are taken to the unit sphere by the
    inverse stereographic projection (2u, 2v, u² + v² − 1)/(1 + u² + v²). They crowd at the
    rim, which Strange's thesis (Section 4.2.3) notes as the difficulty of the set.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    radius : float, default=3.0
        Radius of the disk. The thesis gives none; with 3 the rim is at height 0.8.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds u and v: angles are kept, distances are not.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    radius = check_positive(radius, name="radius")
    angle = wanted.rng.uniform(0.0, 2 * np.pi, size=wanted.n_samples)
    # The disk's area grows with the square of the distance from its center.
    distance = radius * np.sqrt(wanted.rng.uniform(size=wanted.n_samples))
    truth = np.column_stack((distance * np.cos(angle), distance * np.sin(angle)))
    square = (distance * distance)[:, np.newaxis]
    points = np.hstack((2 * truth, square - 1)) / (1 + square)
    return wanted.dataset("fishbowl", points, truth)


def moebius_strip(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate a Möbius strip.

    The points are ((1 + v/2 · cos u/2) cos u, (1 + v/2 · cos u/2) sin u, v/2 · sin u/2) with u
    uniform in [0, 2π] and v in [−1, 1]. The paper on parallel projections in Strange's thesis
    uses a Möbius strip and gives no formula; this is the customary one.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds u and v. The strip is closed and one-sided: (2π, v) is (0, −v). This
        form of it is not developable.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    u = wanted.rng.uniform(0.0, 2 * np.pi, size=wanted.n_samples)
    v = wanted.rng.uniform(-1.0, 1.0, size=wanted.n_samples)
    ring = 1 + v / 2 * np.cos(u / 2)
    points = np.column_stack((ring * np.cos(u), ring * np.sin(u), v / 2 * np.sin(u / 2)))
    return wanted.dataset("moebius_strip", points, np.column_stack((u, v)))


def _globe_mesh() -> FloatArray:
    """Return longitude and latitude of the crossings and of the cell centers."""
    longitude = np.radians(np.linspace(-90.0, 90.0, 10))
    latitude = np.radians(np.linspace(-81.0, 81.0, 10))
    crossings = grid_nodes(longitude, latitude)
    centers = grid_nodes((longitude[1:] + longitude[:-1]) / 2, (latitude[1:] + latitude[:-1]) / 2)
    return np.concatenate((crossings, centers))
