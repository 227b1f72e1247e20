"""On sheets, whole or in pieces, `Unfold` shall give what `IPA` gives.

Noise is in units of a roll, whose layers are 2 π apart, and smaller in proportion on surfaces with
nearer layers. `IPA` gets the seed that `Unfold` gave to it, so that maps may be equal to the last
bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, say, write_table
from isofold import IPA, Unfold
from isofold._typing import FloatArray
from isofold.datasets import ISOMETRIC, SYNTHETIC, Dataset, lift
from isofold.embedding.unfold.rehearsal import fit_quietly
from isofold.quality import procrustes_error

__all__ = [
    "PIECES",
    "SURFACES",
    "Surface",
    "compare",
    "large",
    "piece_errors",
    "pieces",
    "surfaces",
]

ROLL_LAYERS = 2 * np.pi
LAYERS: Mapping[str, float] = MappingProxyType(
    {
        "s_curve": 2.0,
        "broken_s_curve": 2.0,
        "v_shape": 1.0,
        "dual_spiral": 1.0,
        "arched_sheet": 1.0,
        "corrugated_sheet": np.pi,
        "star": 1.0,
        "flat_torus": 2.0,
        "cone": 2.0,
        "rolled_block": 4.0,
        "sinusoid": 1.0,
        "helix_arc": 1.26,
        "four_moons": 0.5,
    }
)
"""Distance between layers, or the diameter where there is one layer; of others it is a roll's."""

PIECES = (
    "broken_s_curve",
    "broken_swiss_roll",
    "four_moons",
    "parallel_swiss_rolls",
    "rotated_swiss_rolls",
)

Plan = tuple[int, int, float]
PLAN: Sequence[Plan] = (
    (1000, 0, 0.0),
    (1000, 0, 0.05),
    (1000, 0, 0.1),
    (1000, 0, 0.2),
    (1000, 20, 0.0),
    (1000, 20, 0.1),
    (2000, 0, 0.0),
    (2000, 0, 0.1),
)
"""Numbers of points, of features (0 for a surface's own), and noise."""

PIECES_PLAN: Sequence[Plan] = ((1000, 0, 0.0), (2000, 0, 0.0), (2000, 0, 0.1), (2000, 20, 0.1))
LARGE_PLAN: Sequence[Plan] = ((20_000, 0, 0.0), (20_000, 0, 0.1))
SEED = 0


@dataclass(frozen=True)
class Surface:
    """A surface and how it is made.

    Attributes
    ----------
    name : str
        A word for it.
    generator : callable
        Makes it.
    layers : float
        Distance between layers.
    options : mapping
        Parameters of the generator.
    """

    name: str
    generator: Callable[..., Dataset]
    layers: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, n_samples: int, n_features: int, noise: float, seed: int) -> Dataset:
        """Return the points with their true coordinates."""
        clean = self.generator(n_samples, random_state=seed, **self.options)
        wanted = max(n_features, clean.X.shape[1])
        if n_features == 0 and noise == 0.0:
            return clean
        deviation = noise * self.layers / ROLL_LAYERS
        return lift(clean, wanted, noise=deviation, random_state=seed + 1)


def flat_sheet(n_samples: int, *, random_state: int) -> Dataset:
    """Return a rectangle that lies flat in space."""
    truth = np.random.RandomState(random_state).uniform(size=(n_samples, 2)) * [20.0, 10.0]
    return Dataset("flat_sheet", np.column_stack((truth, np.zeros(n_samples))), truth=truth)


def _named(name: str) -> Surface:
    return Surface(name, SYNTHETIC[name], LAYERS.get(name, ROLL_LAYERS))


SURFACES = (
    *(_named(name) for name in sorted(ISOMETRIC - set(PIECES))),
    Surface("swiss_roll 90/10", SYNTHETIC["swiss_roll"], ROLL_LAYERS, {"imbalance": 0.9}),
    Surface("flat_sheet", flat_sheet, ROLL_LAYERS),
)
"""All generators whose truth is isometric as a whole, a roll of uneven density, a flat sheet."""


def piece_errors(Y: FloatArray, data: Dataset) -> list[float]:
    """Return the Procrustes error of every piece, of the whole if there are no pieces."""
    truth = np.asarray(data.truth)
    if data.name not in PIECES or data.labels is None:
        return [float(procrustes_error(Y, truth))]
    rows = [data.labels == label for label in np.unique(data.labels)]
    return [float(procrustes_error(Y[at], truth[at])) for at in rows]


def compare(surface: Surface, plan: Plan) -> Row:
    """Return a row: the method that `Unfold` used, and its errors beside those of `IPA`."""
    n_samples, n_features, noise = plan
    data = surface.make(n_samples, n_features, noise, SEED)
    r = np.asarray(data.truth).shape[1]
    unfold = Unfold(n_components=r, random_state=SEED, n_jobs=1)
    fit_quietly(unfold, data.X)
    given = getattr(unfold.estimator_, "random_state", SEED)
    ipa = IPA(n_components=r, random_state=given, n_jobs=1)
    fit_quietly(ipa, data.X)
    ours, theirs = (piece_errors(Y, data) for Y in (unfold.embedding_, ipa.embedding_))
    row = {
        "surface": surface.name,
        "n": n_samples,
        "features": data.X.shape[1],
        "noise": noise,
        "used": unfold.decision_.method,
        "error of Unfold": ", ".join(f"{error:.2g}" for error in ours),
        "error of IPA": ", ".join(f"{error:.2g}" for error in theirs),
        "equal": "yes" if np.array_equal(unfold.embedding_, ipa.embedding_) else "no",
        "misfit": unfold.decision_.evidence.get("misfit", ""),
        "doubts of IPA": ", ".join(doubt.code for doubt in ipa.diagnosis_.raised) or "-",
    }
    say(" | ".join(str(value) for value in row.values()))
    return row


def surfaces(folder: Path, size: Size = FULL) -> None:
    """Compare on all surfaces."""
    rows = [compare(s, plan) for plan in _plans(PLAN, size) for s in size.few(SURFACES)]
    _write(rows, folder / "surfaces")


def large(folder: Path, size: Size = FULL) -> None:
    """Compare on a roll with a hole and many points."""
    rows = [compare(_named("holed_swiss_roll"), plan) for plan in _plans(LARGE_PLAN, size)]
    _write(rows, folder / "large")


def pieces(folder: Path, size: Size = FULL) -> None:
    """Compare on surfaces in pieces, piece by piece."""
    plans = _plans(PIECES_PLAN, size)
    rows = [compare(_named(name), plan) for name in size.few(PIECES) for plan in plans]
    _write(rows, folder / "pieces")


def _plans(plans: Sequence[Plan], size: Size) -> list[Plan]:
    return [(size.points(n), d, noise) for n, d, noise in size.few(plans)]


def _write(rows: list[Row], path: Path) -> None:
    write_table(rows, path.with_name(f"decisions_{path.name}"))
    n_equal = sum(row["equal"] == "yes" for row in rows)
    say(f"{n_equal} of {len(rows)} maps of Unfold equal those of IPA to the last bit.")
