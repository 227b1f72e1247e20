"""Curves: one true coordinate, the arc length."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipeinc

from isofold._typing import FloatArray
from isofold._validation import check_positive
from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic._arcs import Arc, archimedean, integrated
from isofold.datasets.synthetic._sampling import RandomState, deal, request

_N_COILS = 8
_ARC_ANGLE = 6 * np.pi
_ARC_RISE = 0.2
_MOON_RADII = np.array([1.0, 0.25, 1.0, 0.25])
_MOON_LEVELS = np.array([0.0, 0.0, 1.0, 1.0])


def wave_arc(amplitude: float) -> Arc:
    """Return the arc y = amplitude · cos x over three periods."""
    return Arc(
        0.0,
        6 * np.pi,
        # ∫√(1 + a² sin² x) dx is the elliptic integral of the second kind E(x | −a²).
        antiderivative=lambda x: ellipeinc(x, -(amplitude**2)),
        speed=lambda x: np.sqrt(1 + (amplitude * np.sin(x)) ** 2),
    )


def sinusoid(
    n_samples: int = 600,
    *,
    amplitude: float = 3.0,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Generate a wave in the plane.

    Tadavani's thesis (Figure 4.3) cuts a sinusoidal shape into six clusters of rank one and
    gives no formula. Chosen here: y = 3 cos x with x in [0, 6π], which has six nearly straight
    limbs. The larger the amplitude, the closer the limbs compared with their length.

    Parameters
    ----------
    n_samples : int, default=600
        Number of points, spread evenly over the length.
    amplitude : float, default=3.0
        Half the height of the wave.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the arc length.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    amplitude = check_positive(amplitude, name="amplitude")
    wanted = request(n_samples, noise=noise, random_state=random_state)
    wave = wave_arc(amplitude)
    length = wanted.rng.uniform(0.0, wave.total, size=wanted.n_samples)
    x = wave.parameter(length)
    points = np.column_stack((x, amplitude * np.cos(x)))
    return wanted.dataset("sinusoid", points, length[:, np.newaxis])


def spiral(
    n_samples: int = 400, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate an Archimedean spiral in the plane.

    Tadavani's thesis (Figure 4.4) cuts a spiral into four clusters of rank one and gives no
    formula. Chosen here: (t cos t, t sin t) with t in [π, 5π], two turns.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, spread evenly over the length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the arc length.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Examples
    --------
    >>> from isofold.datasets import spiral
    >>> spiral(random_state=0)
    Dataset('spiral', 400 samples, 2 features, 1 true coordinate)
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    arc = archimedean(np.pi, 5 * np.pi)
    length = wanted.rng.uniform(0.0, arc.total, size=wanted.n_samples)
    t = arc.parameter(length)
    points = np.column_stack((t * np.cos(t), t * np.sin(t)))
    return wanted.dataset("spiral", points, length[:, np.newaxis])


def helix(
    n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate a closed helix of eight coils around a ring.

    As in van der Maaten's toolbox, which Strange's thesis (Section 4.2.4) uses, the points are
    ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t) at the n angles t = 2πi/n.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed of the noise.

    Returns
    -------
    Dataset
        `truth` holds the arc length from t = 0. The curve is closed, so the last point is
        next to the first.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    coil = integrated(0.0, 2 * np.pi / _N_COILS, speed=_helix_speed)
    t = np.linspace(0.0, 2 * np.pi, wanted.n_samples, endpoint=False)
    n_whole = np.floor(t / coil.stop)
    length = n_whole * coil.total + coil.length(t - n_whole * coil.stop)
    ring = 2 + np.cos(_N_COILS * t)
    points = np.column_stack((ring * np.cos(t), ring * np.sin(t), np.sin(_N_COILS * t)))
    return wanted.dataset("helix", points, length[:, np.newaxis])


def helix_arc(
    n_samples: int = 600, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate an open helix of three coils, a screw line.

    The points are (cos t, sin t, 0.2 t) with t in [0, 6π]. Neighboring coils are 1.26 apart.
    For a closed helix see `helix`.

    Parameters
    ----------
    n_samples : int, default=600
        Number of points, spread evenly over the length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the arc length √1.04 t.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    t = wanted.rng.uniform(0.0, _ARC_ANGLE, size=wanted.n_samples)
    points = np.column_stack((np.cos(t), np.sin(t), _ARC_RISE * t))
    truth = (np.hypot(1.0, _ARC_RISE) * t)[:, np.newaxis]
    return wanted.dataset("helix_arc", points, truth)


def circle(
    n_samples: int = 400, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate the unit circle, the simplest closed curve.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, spread evenly over the length.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the angle in [0, 2π], which is the arc length. The curve is closed: 2π
        is next to 0, so that no line keeps its distances.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.
    """
    wanted = request(n_samples, noise=noise, random_state=random_state)
    angle = wanted.rng.uniform(0.0, 2 * np.pi, size=wanted.n_samples)
    points = np.column_stack((np.cos(angle), np.sin(angle)))
    return wanted.dataset("circle", points, angle[:, np.newaxis])


def four_moons(
    n_samples: int = 2000, *, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Generate four half circles in two planes (FM of Costa's thesis, Equations 4.6 and 4.7).

    Each of the planes z = 0 and z = 1 holds the moons (sin t, cos t) and
    ((1 − sin t)/4, cos t/4) with t in [0, π]. The thesis takes 2,000 points, 500 on each moon,
    and noise 0.05.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points, a quarter of them on each moon.
    noise : float, default=0.0
        Standard deviation of the Gaussian noise added to the first two coordinates; as in the
        thesis, every point stays in its plane.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same points.

    Returns
    -------
    Dataset
        `truth` holds the arc length on the point's own moon, `labels` the moon.

    Raises
    ------
    InvalidInputError
        If a parameter is out of range.

    Notes
    -----
    `truth` is isometric on each moon alone. All begin at zero, so that in `truth` the moons lie
    on top of each other. Measure errors per label.

    Examples
    --------
    The moons put end to end on a line are a perfect unfolding:

    >>> from isofold.datasets import four_moons
    >>> from isofold.quality import procrustes_error
    >>> data = four_moons(200, random_state=0)
    >>> Y = data.truth + 4.0 * data.labels[:, None]
    >>> for moon in range(4):
    ...     rows = data.labels == moon
    ...     print(round(procrustes_error(Y[rows], data.truth[rows]), 6))
    0.0
    0.0
    0.0
    0.0
    """
    wanted = request(n_samples, noise=noise, random_state=random_state, minimum=8)
    moon = deal(wanted, 4)
    t = wanted.rng.uniform(0.0, np.pi, size=wanted.n_samples)
    radius = _MOON_RADII[moon]
    # The large moon is open to the left, the small one to the right.
    first = np.where(radius == 1, np.sin(t), (1 - np.sin(t)) / 4)
    points = np.column_stack((first, radius * np.cos(t), _MOON_LEVELS[moon]))
    truth = (radius * t)[:, np.newaxis]
    return wanted.dataset("four_moons", points, truth, moon, noisy_columns=slice(2))


def _helix_speed(t: FloatArray) -> FloatArray:
    # |c'|² = 64 sin² 8t + 64 cos² 8t + (2 + cos 8t)².
    return np.sqrt(_N_COILS**2 + (2 + np.cos(_N_COILS * t)) ** 2)
