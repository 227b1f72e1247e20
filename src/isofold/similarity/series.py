"""Distance of time series by dynamic time warping (Sakoe and Chiba 1978)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._dependencies import require
from isofold._typing import FloatArray
from isofold._validation import check_count, check_finite, check_flag
from isofold.exceptions import InvalidInputError
from isofold.similarity.objects import ObjectDistance, read_objects

__all__ = ["DTWDistance"]


@dataclass(frozen=True)
class DTWDistance(ObjectDistance):
    """Distance of time series, each stretched so that they fit best.

    The square root of the smallest sum of squared differences along any monotone pairing of all
    times of one series with all times of the other. It may break the triangle inequality. Computed
    by dtaidistance (``pip install "isofold[objects]"``); series may have different lengths, and
    several channels as arrays of shape (n_times, n_channels).

    Parameters
    ----------
    window : int or None, default=None
        How many steps paired times may be apart, beyond the difference of both lengths. 0 pairs
        the same times. None: any number.
    standardize : bool, default=False
        Give every channel of every series the mean 0 and the standard deviation 1 first.

    Examples
    --------
    >>> from isofold.similarity import DTWDistance
    >>> DTWDistance()([[0, 1, 2], [0, 0, 1, 2, 2], [0, 1, 4]])
    array([[0.        , 0.        , 2.        ],
           [0.        , 0.        , 2.23606798],
           [2.        , 2.23606798, 0.        ]])
    """

    window: int | None = None
    standardize: bool = False

    def __post_init__(self) -> None:
        if self.window is not None:
            check_count(self.window, name="window", minimum=0)
        check_flag(self.standardize, name="standardize")

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every series of A to every series of B, or of A to itself."""
        dtw = require("dtaidistance.dtw_ndim", extra="objects", purpose="DTWDistance")
        first = [self._read(item) for item in read_objects(A, name="A")]
        second = [] if B is None else [self._read(item) for item in read_objects(B, name="B")]
        series = [*first, *second]
        n, n_all = len(first), len(series)
        widths = {item.shape[1] for item in series}
        if len(widths) > 1:
            msg = f"Series have {sorted(widths)} channels, but all need the same number of them."
            raise InvalidInputError(msg)
        n_columns = n if B is None else n_all - n
        # dtaidistance counts the same time as a window of one.
        options = {"window": None if self.window is None else self.window + 1, "parallel": False}
        (width,) = widths
        if B is None:
            D = dtw.distance_matrix_fast(series, ndim=width, compact=False, **options)
            return np.asarray(D)
        block = ((0, n), (n, n_all), False)
        D = dtw.distance_matrix_fast(series, ndim=width, block=block, compact=True, **options)
        return np.asarray(D).reshape(n, n_columns)

    def _read(self, item: Any) -> FloatArray:
        """Return a series as an array of times and channels."""
        series = np.array(item, dtype=float)
        if series.ndim not in (1, 2) or series.size == 0:
            msg = (
                f"A series has shape {series.shape}, but numbers at one time or more are needed: "
                f"(n_times,) or (n_times, n_channels)."
            )
            raise InvalidInputError(msg)
        series = series.reshape(len(series), -1)
        check_finite(series, name="a series", advice="Fill its gaps, or leave the times out.")
        if self.standardize:
            deviation = series.std(axis=0)
            series = (series - series.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
        return np.ascontiguousarray(series)
