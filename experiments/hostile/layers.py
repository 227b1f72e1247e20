"""The finding `layers`: how often it is raised on noisy single sheets, and on near layers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from experiments.draw_tables import log_uniform
from experiments.harness import FULL, Row, Size, write_table
from isofold import IPA
from isofold._typing import FloatArray

__all__ = ["layers"]

N_SHEETS, N_LAYERED = 100, 10
"""Sheets of every kind of noise, and doubled sheets of every gap and noise."""

N_POINTS = 1500
SIZES, FEATURES, NOISE = (300, 3000), (3, 20), (0.05, 0.5)
"""Of single sheets, log-uniform; noise in spacings of the points."""

GAPS, NOISE_PER_GAP = (0.4, 0.6, 0.8, 1.0, 1.3, 1.6), (0.0, 0.1, 0.2, 0.3)
"""Of two layers: gaps in spacings of the points, and noise in gaps."""

KINDS: dict[str, Callable[[np.random.RandomState, tuple[int, ...]], FloatArray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), shape),
    "Student, 3 degrees": lambda rng, shape: rng.standard_t(3, shape) / np.sqrt(3),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1.0,
}
"""Noise of variance one."""


def layers(folder: Path, size: Size = FULL) -> None:
    """Count how often it is a doubt."""
    single = [_single(kind, size) for kind in KINDS]
    write_table(single, folder / "hostile_layers_single")
    double = [_double(gap, noise, size) for gap in size.few(GAPS) for noise in NOISE_PER_GAP]
    write_table(double, folder / "hostile_layers_double")


def _single(kind: str, size: Size) -> Row:
    """Return on how many noisy single sheets it is raised, and on how many any doubt is."""
    found = []
    n_sheets = size.repeats(N_SHEETS)
    for number in range(n_sheets):
        rng = np.random.RandomState([list(KINDS).index(kind), number])
        n, d = (round(log_uniform(rng, *limits)) for limits in (SIZES, FEATURES))
        X = _sheet(rng, size.points(n), d)
        X += log_uniform(rng, *NOISE) * KINDS[kind](rng, X.shape)
        found.append(_raised(X))
    return {
        "noise": kind,
        "sheets": n_sheets,
        "layers raised": sum("layers" in names for names in found),
        "any doubt": sum(bool(names) for names in found),
    }


def _double(gap: float, noise: float, size: Size) -> Row:
    """Return on how many doubled sheets it is raised, and on how many any doubt is."""
    found = []
    n_sheets = size.repeats(N_LAYERED)
    for seed in range(n_sheets):
        rng = np.random.RandomState([100, seed])
        X = _sheet(rng, size.points(N_POINTS), 3)
        # Each layer holds half of the points, so that its own spacing is larger by √2.
        X[:, 2] += gap * rng.randint(2, size=len(X))
        found.append(_raised(X + noise * gap * rng.normal(size=X.shape)))
    return {
        "gap in spacings": gap,
        "noise in gaps": noise,
        "sheets": n_sheets,
        "layers raised": sum("layers" in names for names in found),
        "any doubt": sum(bool(names) for names in found),
    }


def _sheet(rng: np.random.RandomState, n: int, d: int) -> FloatArray:
    """Return points of a flat square in d dimensions, with spacing one."""
    X = np.zeros((n, d))
    X[:, :2] = rng.uniform(0.0, np.sqrt(n), (n, 2))
    return X


def _raised(X: FloatArray) -> frozenset[str]:
    ipa = IPA(random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ipa.fit(X)
    return ipa.diagnosis_.codes
