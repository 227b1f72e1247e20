"""The mechanics of all generators: requests, uniform draws, noise, assembly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeAlias

import numpy as np

from isofold._findings import setting
from isofold._memory import require_memory
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_count, check_seed
from isofold.datasets._dataset import Dataset
from isofold.exceptions import InvalidInputError

RandomState: TypeAlias = int | np.random.RandomState | None
Sampling: TypeAlias = Literal["random", "grid"]

MAX_HOLE_FRACTION = 0.9
"""A larger hole leaves a frame too thin to sample: at least 19 % of the sheet must stay."""

LARGEST = 1e6
"""Sizes and noise lie between its inverse and itself: far beyond any use, and far from the range
in which squares overflow or all points coincide."""

_BYTES_PER_SAMPLE = 8 * 24
"""Points, true coordinates and a few temporaries of the same size, in float64."""


@dataclass(eq=False)
class Request:
    """A checked request for points.

    Attributes
    ----------
    n_samples : int
        How many.
    noise : float
        Standard deviation of the Gaussian noise in each coordinate.
    rng : RandomState
        The one source of random numbers.
    """

    n_samples: int
    noise: float
    rng: np.random.RandomState

    def dataset(
        self,
        name: str,
        points: FloatArray,
        truth: FloatArray,
        labels: IntArray | None = None,
        *,
        noisy_columns: slice = slice(None),
    ) -> Dataset:
        """Add the noise and assemble the data set.

        The noise is drawn last, so one seed gives the same clean points at every noise level.
        """
        if self.noise > 0:
            clean = points[:, noisy_columns]
            points[:, noisy_columns] = clean + self.noise * self.rng.standard_normal(clean.shape)
        return Dataset(name=name, X=points, truth=truth, labels=labels)


def request(
    n_samples: int, *, noise: float, random_state: RandomState, minimum: int = 2
) -> Request:
    """Check what every generator takes."""
    n_samples = check_count(n_samples, name="n_samples", minimum=minimum)
    noise = check_noise(noise)
    require_memory(
        n_samples * _BYTES_PER_SAMPLE,
        what=f"A data set of {n_samples} points",
        instead="Ask for fewer points.",
    )
    return Request(n_samples, noise, check_seed(random_state))


def check_noise(noise: float) -> float:
    """Return a standard deviation of sensible size."""
    if not _is_real(noise) or not 0 <= noise <= LARGEST:
        msg = (
            f"{setting('noise', noise)} is no usable standard deviation: it must lie between 0 and "
            f"{LARGEST:.0e}. Pass {setting('noise', 0.0)} for points that lie exactly on the "
            f"surface."
        )
        raise InvalidInputError(msg)
    return float(noise)


def check_positive(value: float, *, name: str) -> float:
    """Return a length, an angle or a number of turns of sensible size."""
    if not _is_real(value) or not 1 / LARGEST <= value <= LARGEST:
        msg = (
            f"{name}={value!r} must be a number from {1 / LARGEST:.0e} to {LARGEST:.0e}, so that "
            f"coordinates neither overflow nor coincide."
        )
        raise InvalidInputError(msg)
    return float(value)


def check_hole(hole: Iterable[float]) -> tuple[float, float]:
    """Return the hole's fractions of the sheet's length and width."""
    msg = (
        f"hole={hole!r} must give two fractions, of the sheet's length and of its width, each "
        f"above 0 and at most {MAX_HOLE_FRACTION}."
    )
    try:
        along, across = hole
    except (TypeError, ValueError) as error:
        raise InvalidInputError(msg) from error
    if not all(_is_real(each) and 0 < each <= MAX_HOLE_FRACTION for each in (along, across)):
        raise InvalidInputError(msg)
    return float(along), float(across)


def check_sampling(sampling: str, *, imbalance: float | None = None) -> bool:
    """Return whether the points lie on a grid; a grid cannot be unbalanced."""
    if sampling not in ("random", "grid"):
        msg = f"sampling={sampling!r} is unknown. Pass 'random' or 'grid'."
        raise InvalidInputError(msg)
    if sampling == "grid" and imbalance is not None:
        msg = (
            f"imbalance={imbalance!r} with sampling='grid': a regular grid is equally dense "
            f"everywhere. Pass sampling='random'."
        )
        raise InvalidInputError(msg)
    return sampling == "grid"


def check_grid_size(n_samples: int, n_nodes: int) -> None:
    """Refuse another number of points than the grid has."""
    if n_samples != n_nodes:
        msg = (
            f"n_samples={n_samples}, but with these parameters the regular grid has exactly "
            f"{n_nodes} points. Pass n_samples={n_nodes}, or sampling='random'."
        )
        raise InvalidInputError(msg)


def draw_sheet(
    wanted: Request,
    *,
    axis: tuple[float, float, float],
    width: float,
    imbalance: float | None,
    keep: Callable[[FloatArray], BoolArray] | None = None,
) -> FloatArray:
    """Draw points uniformly from a rectangle, or from what `keep` leaves of it."""
    start, middle, stop = axis
    if imbalance is None:
        return _draw_rectangle(wanted.rng, wanted.n_samples, (start, stop), width, keep)
    n_first = _n_first(imbalance, wanted.n_samples)
    first = _draw_rectangle(wanted.rng, n_first, (start, middle), width, keep)
    second = _draw_rectangle(wanted.rng, wanted.n_samples - n_first, (middle, stop), width, keep)
    # Mixed, so that the first rows are a fair sample of the whole.
    return wanted.rng.permutation(np.concatenate((first, second)))


def _draw_rectangle(
    rng: np.random.RandomState,
    n_samples: int,
    ends: tuple[float, float],
    width: float,
    keep: Callable[[FloatArray], BoolArray] | None,
) -> FloatArray:
    points = np.empty((n_samples, 2))
    n_done = 0
    while n_done < n_samples:
        n_missing = n_samples - n_done
        along = rng.uniform(*ends, size=n_missing)
        block = np.column_stack((along, rng.uniform(0.0, width, size=n_missing)))
        if keep is not None:
            block = block[keep(block)]
        points[n_done : n_done + len(block)] = block
        n_done += len(block)
    return points


def straight_axis(length: float) -> tuple[float, float, float]:
    """Return start, middle and stop of an axis that begins at 0, for `draw_sheet`."""
    return 0.0, length / 2, length


def deal(wanted: Request, n_components: int) -> IntArray:
    """Return for each point the component it belongs to; their sizes differ by one at most."""
    return wanted.rng.permutation(np.arange(wanted.n_samples) % n_components)


def grid_nodes(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the crossings of the grid lines at these positions, one per row."""
    return np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)


def outside_hole(
    points: FloatArray, *, length: float, width: float, hole: tuple[float, float]
) -> BoolArray:
    """Tell which points of the sheet [0, length] × [0, width] miss its central hole."""
    from_center = np.abs(points - (length / 2, width / 2))
    return np.any(from_center >= (hole[0] * length / 2, hole[1] * width / 2), axis=1)


def _n_first(imbalance: float, n_samples: int) -> int:
    """Return the number of points in the first half; neither half may go empty."""
    if not _is_real(imbalance) or not 0 < imbalance < 1:
        msg = (
            f"imbalance={imbalance!r} must lie strictly between 0 and 1: it is the fraction of the "
            f"points in the first half of the sheet. Pass None for equal density."
        )
        raise InvalidInputError(msg)
    n_first = round(imbalance * n_samples)
    if not 0 < n_first < n_samples:
        msg = (
            f"imbalance={imbalance!r} puts {n_first} of {n_samples} points in the first half of "
            f"the sheet, which leaves one half empty. Ask for more points, or pass a fraction "
            f"nearer to one half."
        )
        raise InvalidInputError(msg)
    return n_first


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
