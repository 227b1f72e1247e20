"""Random data sets of other kinds than a clean sheet: a seed and a number give one draw.

Draw number i is of kind ``i % len(KINDS)``, so that every kind appears equally often. Its sizes,
noise and parameters are drawn at random. Where a flat map can be true, piece by piece at least, the
true coordinates come along; else only neighbors and lengths can be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from sklearn.datasets import load_digits

from isofold import datasets
from isofold._typing import FloatArray, IntArray

__all__ = ["KINDS", "SIZES", "Draw", "make_draw"]

SIZES = (250, 800)
"""Smallest and largest number of points; sizes are log-uniform."""

MOST_FEATURES = 20
SHARE_LIFTED = 0.5
"""Share of the shapes that are turned into more dimensions, up to 20."""

NOISE = (0.003, 0.05)
"""Noise of shapes in units of their radius; log-uniform."""

Rng = np.random.RandomState


@dataclass(frozen=True, eq=False)
class Draw:
    """A data set.

    Attributes
    ----------
    kind : str
        What it is.
    words : str
        The parameters that were drawn, for the table.
    X : ndarray of shape (n_samples, n_features)
        The points.
    n_components : int
        Dimension of the map.
    truth : ndarray of shape (n_samples, n_components) or None
        True coordinates, if there are any.
    pieces : ndarray of int of shape (n_samples,) or None
        The piece of every sample, if the truth holds piece by piece only.
    random_state : int
        Seed of the split and of all methods.
    """

    kind: str
    words: str
    X: FloatArray
    n_components: int = 2
    truth: FloatArray | None = None
    pieces: IntArray | None = None
    random_state: int = 0


Maker = Callable[[int, Rng], Draw]


def make_draw(seed: int, number: int, *, largest: int = SIZES[1]) -> Draw:
    """Return a draw; it depends on its seed and number only, not on the draws before.

    Parameters
    ----------
    seed : int
        Seed of the study.
    number : int
        Number of the draw.
    largest : int, default=800
        Largest number of points.

    Returns
    -------
    Draw
        The draw.
    """
    rng = np.random.RandomState([seed, number])
    kind = list(KINDS)[number % len(KINDS)]
    made = KINDS[kind](round(_log_uniform(rng, min(SIZES[0], largest), largest)), rng)
    return Draw(
        kind,
        made.words,
        made.X,
        made.n_components,
        made.truth,
        made.pieces,
        random_state=rng.randint(2**31 - 1),
    )


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _turned(X: FloatArray, rng: Rng, noise: float, words: str = "") -> Draw:
    """Return points in their own or in more dimensions, with noise."""
    d = X.shape[1]
    if d < MOST_FEATURES and rng.uniform() < SHARE_LIFTED:
        d = rng.randint(d + 1, MOST_FEATURES + 1)
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
        X = X @ turn[: X.shape[1]]
    described = [word for word in (words, f"{d} features", f"noise {noise:.2g}") if word]
    return Draw("", ", ".join(described), X + noise * rng.normal(size=X.shape))


def _generated(name: str, **options: tuple[float, float]) -> Maker:
    """Return the maker of a curved or closed shape, with parameters drawn from ranges."""

    def make(n: int, rng: Rng) -> Draw:
        chosen = {key: rng.uniform(*limits) for key, limits in options.items()}
        X = datasets.SYNTHETIC[name](n, random_state=rng, **chosen).X
        described = ", ".join(f"{key} {value:.2g}" for key, value in chosen.items())
        radius = float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()))
        return _turned(X, rng, radius * _log_uniform(rng, *NOISE), described)

    return make


def _sphere(n: int, rng: Rng) -> Draw:
    X = rng.normal(size=(n, 3))
    stretch = rng.uniform(1.0, 2.0)
    X *= [1.0, 1.0, stretch] / np.linalg.norm(X, axis=1, keepdims=True)
    return _turned(X, rng, _log_uniform(rng, *NOISE), f"stretch {stretch:.2g}")


def _ring_torus(n: int, rng: Rng) -> Draw:
    radius = rng.uniform(0.2, 0.6)
    a, b = rng.uniform(0, 2 * np.pi, (2, n))
    away = 1 + radius * np.cos(b)
    X = np.column_stack((away * np.cos(a), away * np.sin(a), radius * np.sin(b)))
    return _turned(X, rng, radius * _log_uniform(rng, *NOISE), f"radius {radius:.2g}")


def _roll(sizes: tuple[int, int], noise: tuple[float, float]) -> Maker:
    """Return the maker of rolls of layers 2 π apart."""

    def make(_: int, rng: Rng) -> Draw:
        n, deviation = round(_log_uniform(rng, *sizes)), rng.uniform(*noise)
        data = datasets.swiss_roll(n, width=rng.uniform(10, 40), uniform=True, random_state=rng)
        made = _turned(data.X, rng, deviation)
        return Draw("", made.words, made.X, truth=data.truth)

    return make


def _noise_cloud(n: int, rng: Rng) -> Draw:
    d = rng.randint(3, 21)
    if rng.randint(2):
        return Draw("", f"Gaussian, {d} features", rng.normal(size=(n, d)))
    return Draw("", f"uniform, {d} features", rng.uniform(size=(n, d)))


def _clusters(n: int, rng: Rng) -> Draw:
    d, k, apart = rng.randint(3, 21), rng.randint(3, 9), rng.uniform(3.0, 10.0)
    centers = apart * rng.normal(size=(k, d)) / np.sqrt(2 * d)
    scales = rng.uniform(0.5, 1.5, k)
    at = rng.randint(k, size=n)
    words = f"{k} clusters, {d} features, apart {apart:.2g}"
    return Draw("", words, centers[at] + scales[at, None] * rng.normal(size=(n, d)))


def _star_of_lines(n: int, rng: Rng) -> Draw:
    d, k = rng.randint(3, 11), rng.randint(3, 8)
    arms = rng.normal(size=(k, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    X = rng.uniform(size=(n, 1)) * arms[rng.randint(k, size=n)]
    return _turned(X, rng, 0.5 * _log_uniform(rng, *NOISE), f"{k} arms")


def _tree(n: int, rng: Rng) -> Draw:
    d, k = rng.randint(3, 11), rng.randint(6, 16)
    ends = [np.zeros(d)]
    X = np.empty((n, d))
    for rows in np.array_split(np.arange(n), k):
        begin, way = ends[rng.randint(len(ends))], rng.normal(size=d)
        ends.append(begin + way / np.linalg.norm(way))
        X[rows] = begin + rng.uniform(size=(len(rows), 1)) * (ends[-1] - begin)
    return _turned(X, rng, _log_uniform(rng, *NOISE), f"{k} branches")


def _star_of_strips(n: int, rng: Rng) -> Draw:
    data = datasets.star(n, random_state=rng)
    made = _turned(data.X, rng, _log_uniform(rng, *NOISE))
    return Draw("", made.words, made.X, truth=data.truth)


def _table(read: Callable[[], datasets.Dataset]) -> Maker:
    """Return the maker of random rows and columns of a table, in units of their deviation."""

    def make(n: int, rng: Rng) -> Draw:
        made = _part(read().X, n, rng, least=4)
        return Draw("", made.words, (made.X - made.X.mean(axis=0)) / made.X.std(axis=0))

    return make


def _images(read: Callable[[], FloatArray]) -> Maker:
    """Return the maker of random rows and pixels of images."""
    return lambda n, rng: _part(read(), n, rng, least=16)


def _part(X: FloatArray, n: int, rng: Rng, *, least: int) -> Draw:
    rows = rng.choice(len(X), min(n, len(X)), replace=False)
    columns = rng.choice(X.shape[1], rng.randint(least, X.shape[1] + 1), replace=False)
    return Draw("", f"{len(columns)} features", X[np.ix_(rows, columns)])


def _mixed(n: int, rng: Rng) -> Draw:
    """Return a bent sheet with a line on it, or a ball with a line through it."""
    share = rng.uniform(0.5, 0.9)
    m = round(share * n)
    if rng.randint(2):
        flat = rng.uniform(size=(m, 2)) * [4.0, 2.0]
        main = np.column_stack((np.sin(flat[:, 0]), np.cos(flat[:, 0]), flat[:, 1]))
    else:
        main = rng.normal(size=(m, 3))
        main *= rng.uniform(size=(m, 1)) ** (1 / 3) / np.linalg.norm(main, axis=1, keepdims=True)
    t = 4 * rng.uniform(size=n - m)
    line = np.column_stack((t, 0.3 * np.sin(t), np.zeros(n - m)))
    return _turned(np.vstack((main, line)), rng, _log_uniform(rng, *NOISE), f"share {share:.2g}")


def _moons(n: int, rng: Rng) -> Draw:
    data = datasets.four_moons(n, random_state=rng)
    made = _turned(data.X, rng, _log_uniform(rng, *NOISE))
    return Draw("", made.words, made.X, 1, data.truth, data.labels)


def _curve(n: int, rng: Rng) -> Draw:
    """Return a random trigonometric curve; its length is the truth of a map of one dimension."""
    d, waves = rng.randint(5, 51), rng.randint(1, 4)
    sizes = rng.normal(size=(2, waves, d)) / np.arange(1, waves + 1)[:, None]
    fine = np.linspace(0, np.pi, 20_001)
    angles = fine[:, None] * np.arange(1, waves + 1)
    path = np.sin(angles) @ sizes[0] + np.cos(angles) @ sizes[1]
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    at = np.sort(rng.choice(len(fine), n, replace=False))
    length = np.concatenate(([0.0], np.cumsum(steps)))[at]
    noise = _log_uniform(rng, 0.001, 0.02) * length[-1] / np.sqrt(d)
    X = path[at] + noise * rng.normal(size=(n, d))
    words = f"{waves} waves, {d} features, noise {noise:.2g}"
    if rng.randint(2):
        return Draw("", f"{words}, in the plane", X)
    return Draw("", words, X, 1, length[:, None])


def _low_rank(n: int, rng: Rng) -> Draw:
    """Return a Gaussian of few axes with noise; with two axes these are the truth."""
    d, rank, noise = rng.randint(5, 31), rng.randint(2, 7), _log_uniform(rng, 0.01, 0.3)
    inner = rng.normal(size=(n, rank)) * rng.uniform(0.5, 1.5, rank)
    axes = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    X = inner @ axes.T + noise * rng.normal(size=(n, d))
    words = f"rank {rank}, {d} features, noise {noise:.2g}"
    return Draw("", words, X, truth=inner if rank == 2 else None)


KINDS: Mapping[str, Maker] = MappingProxyType(
    {
        "cylinder": _generated("cylinder"),
        "sphere": _sphere,
        "half globe": _generated("half_globe"),
        "ring torus": _ring_torus,
        "spherical cap": _generated("spherical_cap", angle=(15.0, 80.0)),
        "sparse roll": _roll((80, 250), (0.0, 0.2)),
        "noisy roll": _roll((400, 800), (0.5, 1.5)),
        "noise cloud": _noise_cloud,
        "clusters": _clusters,
        "star of lines": _star_of_lines,
        "tree": _tree,
        "star of strips": _star_of_strips,
        "Moebius strip": _generated("moebius_strip"),
        "twin peaks": _generated("twin_peaks", height=(0.3, 1.5)),
        "fishbowl": _generated("fishbowl"),
        "digits": _images(lambda: load_digits().data),
        "olive oil": _table(datasets.load_olive_oil),
        "red wine": _table(datasets.load_wine_quality_red),
        "Frey faces": _images(lambda: datasets.load_frey_faces().X),
        "ISOMAP faces": _images(lambda: datasets.load_isomap_faces().X),
        "mixed dimensions": _mixed,
        "four moons": _moons,
        "curve": _curve,
        "low-rank Gaussian": _low_rank,
        "rolled block": _generated("rolled_block"),
    }
)
"""The kinds, each drawn twice among 50."""
