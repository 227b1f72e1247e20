"""Shapes to be recognized, and shapes that only look like them.

A case names the shapes that must be recognized on it, and no others. Sizes of the noise are
in units of the case: the thickness or the spacing of layers that noise would blur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from experiments.harness import FULL, Size
from isofold import datasets
from isofold._typing import FloatArray

__all__ = ["CASES", "SIZES", "Case", "Trial", "trials"]

SIZES = (300, 1000, 2000)
NOISES = (0.0, 0.05)
FEATURES = (0, 20)
"""Dimensions that points are turned into; 0 leaves them as they are."""

Rng = np.random.RandomState
Maker = Callable[[int, Rng], FloatArray]


@dataclass(frozen=True)
class Case:
    """A shape.

    Attributes
    ----------
    name : str
        Its name.
    expected : frozenset of str
        Codes of the shapes that must be recognized.
    make : callable
        Makes n points with a source of random numbers.
    unit : float
        The length that noise is measured in.
    """

    name: str
    expected: frozenset[str]
    make: Maker
    unit: float = 1.0


@dataclass(frozen=True)
class Trial:
    """A draw of a case.

    Attributes
    ----------
    case : Case
        The case.
    n_samples, n_features : int
        Number of points, and dimensions they are turned into (0 for their own).
    noise : float
        Noise in units of the case.
    seed : int
        Seed of everything random.
    """

    case: Case
    n_samples: int
    n_features: int
    noise: float
    seed: int

    def points(self) -> FloatArray:
        """Return the points."""
        rng = np.random.RandomState([self.seed, self.n_samples, len(self.case.name)])
        points = self.case.make(self.n_samples, rng)
        deviation = self.noise * self.case.unit
        width = max(self.n_features, points.shape[1])
        turned = datasets.lift(
            datasets.Dataset(self.case.name, points), width, random_state=rng.randint(2**31 - 1)
        ).X
        # The same length of noise vectors in any number of dimensions.
        return turned + deviation * rng.normal(size=turned.shape) * np.sqrt(points.shape[1] / width)


def _generated(name: str, **options: object) -> Maker:
    generator = datasets.SYNTHETIC[name]
    return lambda n, rng: generator(n, random_state=rng.randint(2**31 - 1), **options).X


def _uniform(rng: Rng, n: int, *extents: float) -> FloatArray:
    return rng.uniform(size=(n, len(extents))) * extents


def _ellipse(n: int, rng: Rng) -> FloatArray:
    # Four times as many points on one half.
    angle = np.pi * rng.uniform(size=n) + np.pi * (rng.uniform(size=n) < 0.2)
    return np.column_stack((2 * np.cos(angle), np.sin(angle)))


def _knot(n: int, rng: Rng) -> FloatArray:
    t = rng.uniform(0, 2 * np.pi, n)
    radius = 2 + np.cos(3 * t)
    return np.column_stack((radius * np.cos(2 * t), radius * np.sin(2 * t), 1.5 * np.sin(3 * t)))


def _uneven_cylinder(n: int, rng: Rng) -> FloatArray:
    angle = np.pi * rng.uniform(size=n) + np.pi * (rng.uniform(size=n) < 0.25)
    return np.column_stack((np.cos(angle), np.sin(angle), 3 * rng.uniform(size=n)))


def _holed_cylinder(n: int, rng: Rng) -> FloatArray:
    flat = _uniform(rng, 2 * n, 2 * np.pi, 4.0)
    flat = flat[np.hypot(flat[:, 0] - np.pi, flat[:, 1] - 2.0) > 0.8][:n]
    return np.column_stack((np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]))


def _sphere(n: int, rng: Rng, *, stretch: float = 1.0, uneven: bool = False) -> FloatArray:
    points = rng.normal(size=(4 * n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if uneven:
        points = points[(points[:, 2] > 0) | (rng.uniform(size=len(points)) < 0.33)]
    return points[:n] * [1.0, 1.0, stretch]


def _ring(n: int, rng: Rng, *, large: float = 2.0, uneven: bool = False) -> FloatArray:
    around, along = rng.uniform(0, 2 * np.pi, (2, 8 * n))
    keep = rng.uniform(size=8 * n) < (large + np.cos(around)) / (large + 1)
    if uneven:
        keep &= (along < np.pi) | (rng.uniform(size=8 * n) < 0.33)
    around, along = around[keep][:n], along[keep][:n]
    radius = large + np.cos(around)
    return np.column_stack((radius * np.cos(along), radius * np.sin(along), np.sin(around)))


def _star(n: int, rng: Rng, *, n_arms: int = 5) -> FloatArray:
    ends = rng.normal(size=(n_arms, 3))
    ends = 3 * ends / np.linalg.norm(ends, axis=1, keepdims=True)
    # Arms that happen to point the same way are no arms.
    if n_arms > 1 and (ends @ ends.T)[np.triu_indices(n_arms, 1)].max() > 9 * np.cos(0.7):
        return _star(n, rng, n_arms=n_arms)
    return ends[rng.randint(n_arms, size=n)] * rng.uniform(size=(n, 1))


def _tree(n: int, rng: Rng) -> FloatArray:
    segments = [((0.0, 0.0, 0.0), (0.0, 0.0, 3.0))]
    for turn, side in ((0.0, 1.0), (np.pi, 1.0)):
        knee = np.array([1.5 * np.cos(turn), 1.5 * np.sin(turn), 3.0 + 2 * side])
        segments.append(((0.0, 0.0, 3.0), tuple(knee)))
        for twist in (np.pi / 2, -np.pi / 2):
            tip = knee + np.array([np.cos(turn + twist), np.sin(turn + twist), 1.8])
            segments.append((tuple(knee), tuple(tip)))
    ends = np.array(segments)
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    chosen = rng.choice(len(ends), size=n, p=lengths / lengths.sum())
    share = rng.uniform(size=(n, 1))
    return ends[chosen, 0] * (1 - share) + ends[chosen, 1] * share


def _y_curve(n: int, rng: Rng) -> FloatArray:
    t = rng.uniform(size=n) * 3
    arm = rng.randint(3, size=n)
    bend = np.column_stack((t, 0.4 * t**2 * (arm != 0), 0.3 * np.sin(2 * t)))
    angle = arm * 2 * np.pi / 3
    return np.column_stack(
        (
            np.cos(angle) * bend[:, 0] - np.sin(angle) * bend[:, 1],
            np.sin(angle) * bend[:, 0] + np.cos(angle) * bend[:, 1],
            bend[:, 2],
        )
    )


def _blobs(
    n: int, rng: Rng, *, d: int, n_blobs: int, apart: float, uneven: bool = False
) -> FloatArray:
    centers = np.empty((0, d))
    while len(centers) < n_blobs:
        new = rng.normal(size=d)
        # Neighboring blobs are about `apart` standard deviations from each other.
        new *= apart * n_blobs ** (1 / d) * rng.uniform(0.5, 1.2) / np.linalg.norm(new)
        if not len(centers) or np.linalg.norm(centers - new, axis=1).min() > apart:
            centers = np.vstack((centers, new))
    scales = rng.uniform(0.6, 1.4, n_blobs) if uneven else np.ones(n_blobs)
    shares = rng.uniform(0.5, 2.0, n_blobs) if uneven else np.ones(n_blobs)
    chosen = rng.choice(n_blobs, size=n, p=shares / shares.sum())
    return centers[chosen] + scales[chosen, None] * rng.normal(size=(n, d))


def _line_on_sheet(n: int, rng: Rng) -> FloatArray:
    sheet = np.column_stack((_uniform(rng, n * 2 // 3, 2.0, 2.0), np.zeros(n * 2 // 3)))
    m = n - len(sheet)
    pole = np.column_stack((np.full((m, 2), 1.0), 4 * rng.uniform(size=m)))
    return np.vstack((sheet, pole))


def _kite(n: int, rng: Rng) -> FloatArray:
    sheet = _rolled(_uniform(rng, n * 3 // 4, 9.0, 5.0))
    m = n - len(sheet)
    t = 6 * rng.uniform(size=m)
    # The tail leaves the middle of an edge.
    end = _rolled(np.array([[9.0, 2.5]]))
    return np.vstack((sheet, end + np.column_stack((-0.3 * t, np.sin(t), -t))))


def _comet(n: int, rng: Rng) -> FloatArray:
    m = n * 3 // 4
    ball = rng.normal(size=(m, 3))
    ball *= rng.uniform(size=(m, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1, keepdims=True)
    t = 0.8 + 4 * rng.uniform(size=n - m)
    return np.vstack((ball, np.column_stack((t, 0.3 * np.sin(t), np.zeros(n - m)))))


def _saturn(n: int, rng: Rng) -> FloatArray:
    m = n // 2
    ball = rng.normal(size=(m, 3))
    ball *= rng.uniform(size=(m, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1, keepdims=True)
    flat = _uniform(rng, n - m, 4.0, 4.0) - 2.0
    return np.vstack((ball, np.column_stack((flat, np.zeros(n - m)))))


def _arc(n: int, rng: Rng) -> FloatArray:
    angle = np.radians(300) * rng.uniform(size=n)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def _open_pipe(n: int, rng: Rng) -> FloatArray:
    flat = _uniform(rng, n, np.radians(290), 3.0)
    return np.column_stack((np.cos(flat[:, 0]), np.sin(flat[:, 0]), flat[:, 1]))


def _rolled(flat: FloatArray) -> FloatArray:
    """Bend a sheet of length 9 to an S of radius 1.5."""
    t = (flat[:, 0] - 4.5) / 1.5
    side = np.sign(t)
    return np.column_stack((1.5 * np.sin(t), flat[:, 1], 1.5 * side * (np.cos(t) - 1)))


def _c_sheet(n: int, rng: Rng) -> FloatArray:
    flat = _uniform(rng, 3 * n, 9.0, 6.0)
    inside = (np.abs(flat[:, 1] - 3.0) < 1.0) & (flat[:, 0] > 2.0)
    return _rolled(flat[~inside][:n])


def _holes(
    n: int, rng: Rng, *, centers: tuple[tuple[float, float], ...], radius: float
) -> FloatArray:
    flat = _uniform(rng, 4 * n, 9.0, 5.0)
    away = [np.hypot(*(flat - center).T) > radius for center in centers]
    return _rolled(flat[np.all(away, axis=0)][:n])


def _annulus(n: int, rng: Rng) -> FloatArray:
    radius = np.sqrt(rng.uniform(1.5**2, 3.0**2, n))
    angle = rng.uniform(0, 2 * np.pi, n)
    return _rolled(np.column_stack((radius * np.cos(angle) + 4.5, radius * np.sin(angle))))


def _dense_spots(n: int, rng: Rng, *, spots: int = 3) -> FloatArray:
    n_dense = n // 2
    background = _uniform(rng, n - n_dense, 9.0, 5.0)
    centers = np.array([[1.5, 1.5], [4.5, 3.5], [7.5, 1.5]])[:spots]
    dense = centers[rng.randint(spots, size=n_dense)] + 0.3 * rng.normal(size=(n_dense, 2))
    return _rolled(np.vstack((background, np.clip(dense, 0, [9.0, 5.0]))))


def _flat(n: int, rng: Rng) -> FloatArray:
    return _uniform(rng, n, 3.0, 2.0)


def _cloud(d: int) -> Maker:
    return lambda n, rng: rng.normal(size=(n, d))


def _case(name: str, expected: str, make: Maker, unit: float = 1.0) -> Case:
    return Case(name, frozenset(expected.split()), make, unit)


CASES = (
    _case("circle", "closed_curve", _generated("circle")),
    _case("ellipse, uneven", "closed_curve", _ellipse),
    _case("trefoil knot", "closed_curve", _knot),
    _case("closed helix", "closed_curve", _generated("helix"), 0.5),
    _case("cylinder", "cylinder", _generated("cylinder")),
    _case("cylinder, uneven", "cylinder", _uneven_cylinder),
    _case("cylinder with a hole", "cylinder", _holed_cylinder),
    _case("Möbius strip", "cylinder", _generated("moebius_strip"), 0.5),
    _case("sphere", "sphere", _sphere),
    _case("sphere, uneven", "sphere", lambda n, rng: _sphere(n, rng, uneven=True)),
    _case("ellipsoid", "sphere", lambda n, rng: _sphere(n, rng, stretch=1.7)),
    _case("ring torus", "torus", _ring),
    _case("ring torus, uneven", "torus", lambda n, rng: _ring(n, rng, uneven=True)),
    _case("flat torus", "torus", _generated("flat_torus", extent=2 * np.pi)),
    _case("star of 5 lines", "branching", _star),
    _case("tree", "branching", _tree),
    _case("Y of curves", "branching", _y_curve),
    _case("star of strips", "branching", _generated("star"), 0.5),
    _case("3 blobs in 2-D", "clusters", lambda n, rng: _blobs(n, rng, d=2, n_blobs=3, apart=8.0)),
    _case("5 blobs in 10-D", "clusters", lambda n, rng: _blobs(n, rng, d=10, n_blobs=5, apart=8.0)),
    _case(
        "6 uneven blobs in 5-D",
        "clusters",
        lambda n, rng: _blobs(n, rng, d=5, n_blobs=6, apart=8.0, uneven=True),
    ),
    _case(
        "4 near blobs in 3-D",
        "clusters",
        lambda n, rng: _blobs(n, rng, d=3, n_blobs=4, apart=6.0),
    ),
    _case(
        "8 blobs in 50-D", "clusters", lambda n, rng: _blobs(n, rng, d=50, n_blobs=8, apart=12.0)
    ),
    _case("Gaussian in 5-D", "cloud", _cloud(5)),
    _case("Gaussian in 10-D", "cloud", _cloud(10)),
    _case("Gaussian in 50-D", "cloud", _cloud(50)),
    _case("cube in 6-D", "cloud", lambda n, rng: rng.uniform(size=(n, 6))),
    _case("line on a sheet", "mixed_dimensions", _line_on_sheet, 0.5),
    _case("line on a bent sheet", "mixed_dimensions", _kite, 0.5),
    _case("line on a ball", "mixed_dimensions", _comet, 0.5),
    _case("sheet through a ball", "mixed_dimensions", _saturn, 0.5),
    _case("swiss roll", "", _generated("swiss_roll"), 2 * np.pi),
    _case("swiss roll, 90/10", "", _generated("swiss_roll", imbalance=0.9), 2 * np.pi),
    _case("swiss roll with hole", "", _generated("holed_swiss_roll"), 2 * np.pi),
    _case(
        "sheet with a hole", "", lambda n, rng: _holes(n, rng, centers=((4.5, 2.5),), radius=1.5)
    ),
    _case(
        "sheet with two holes",
        "",
        lambda n, rng: _holes(n, rng, centers=((2.3, 2.5), (6.7, 2.5)), radius=1.3),
    ),
    _case("annulus, bent", "", _annulus),
    _case("C-shaped sheet", "", _c_sheet),
    _case("slit pipe", "", _open_pipe),
    _case("arc of 300°", "", _arc),
    _case("spiral", "", _generated("spiral"), 2 * np.pi),
    _case("open helix", "", _generated("helix_arc"), 0.5),
    _case("sinusoid", "", _generated("sinusoid")),
    _case("sheet with dense spots", "", _dense_spots),
    _case("flat rectangle", "", _flat, 0.5),
    _case("S-curve", "", _generated("s_curve")),
    _case("S-curve, 90/10", "", _generated("s_curve", imbalance=0.9)),
    _case("V", "", _generated("v_shape"), 0.5),
    _case("corrugated sheet", "", _generated("corrugated_sheet")),
    _case("cone, slit", "", _generated("cone")),
    _case("piece of a flat torus", "", _generated("flat_torus")),
    _case("rolled block", "", _generated("rolled_block")),
    _case("half globe", "", _generated("half_globe"), 0.5),
    _case("cap of 25°", "", _generated("spherical_cap"), 0.2),
    _case("twin peaks", "", _generated("twin_peaks"), 0.5),
    _case("two parallel rolls", "", _generated("parallel_swiss_rolls"), 2 * np.pi),
    _case("broken roll", "", _generated("broken_swiss_roll"), 2 * np.pi),
    _case("four moons", "", _generated("four_moons"), 0.25),
    _case("broken S-curve", "", _generated("broken_s_curve")),
    _case("two rolls of spirals", "", _generated("dual_spiral")),
)
"""All cases: those with a shape, then those without."""


def trials(seeds: range, size: Size = FULL) -> Iterator[Trial]:
    """Yield every case in all sizes, with and without noise and turning, for every seed."""
    sizes = dict.fromkeys(size.points(n) for n in SIZES)
    for seed in size.few(seeds):
        for case in size.few(CASES):
            for n_samples in sizes:
                # Half of the four combinations at a time, so that all appear over two seeds.
                for at, noise in enumerate(NOISES):
                    yield Trial(case, n_samples, FEATURES[(seed + at) % 2], noise, seed)
