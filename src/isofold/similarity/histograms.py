"""Kernels of histograms, such as word counts, color or shape descriptors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray
from isofold._validation import check_finite, check_flag, check_positive, check_width
from isofold.exceptions import InvalidInputError
from isofold.similarity.objects import ObjectKernel, read_objects

__all__ = ["ChiSquaredKernel", "IntersectionKernel"]


@dataclass(frozen=True)
class ChiSquaredKernel(ObjectKernel):
    """Exponential of the χ² distance of histograms: exp(−γ Σ (a − b)² / (a + b)).

    Computed by scikit-learn.

    Parameters
    ----------
    gamma : float, default=1.0
        How fast the kernel falls.
    normalize : bool, default=True
        Divide histograms by their sums first. One without counts stays zero.

    Examples
    --------
    >>> from isofold.similarity import ChiSquaredKernel
    >>> ChiSquaredKernel(0.5)([[1, 1], [2, 2], [3, 0]]).round(3)
    array([[1.   , 1.   , 0.717],
           [1.   , 1.   , 0.717],
           [0.717, 0.717, 1.   ]])
    """

    gamma: float = 1.0
    normalize: bool = True

    def __post_init__(self) -> None:
        check_positive(self.gamma, name="gamma")
        check_flag(self.normalize, name="normalize")

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every histogram of A with every one of B, or of A with itself."""
        from sklearn.metrics.pairwise import chi2_kernel

        F, G = _read(A, B, normalize=self.normalize)
        return np.asarray(chi2_kernel(F, G, gamma=self.gamma))


@dataclass(frozen=True)
class IntersectionKernel(ObjectKernel):
    """What two histograms have in common: Σ min(a, b).

    Parameters
    ----------
    normalize : bool, default=True
        Divide histograms by their sums first, so that the kernel is between 0 and 1. One without
        counts stays zero.

    Examples
    --------
    >>> from isofold.similarity import IntersectionKernel
    >>> IntersectionKernel(normalize=False)([[1, 2], [3, 0]])
    array([[3., 1.],
           [1., 3.]])
    """

    normalize: bool = True

    def __post_init__(self) -> None:
        check_flag(self.normalize, name="normalize")

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every histogram of A with every one of B, or of A with itself."""
        F, G = _read(A, B, normalize=self.normalize)
        # min(a, b) = (a + b − |a − b|) / 2
        both = F.sum(axis=1)[:, None] + G.sum(axis=1)
        return np.asarray((both - cdist(F, G, "cityblock")) / 2.0)


def _read(A: Any, B: Any, *, normalize: bool) -> tuple[FloatArray, FloatArray]:
    """Return the histograms of both sides as tables."""
    F = _read_one(A, "A", normalize=normalize)
    if B is None:
        return F, F
    G = _read_one(B, "B", normalize=normalize)
    check_width(G, F.shape[1], name="B")
    return F, G


def _read_one(counts: Any, name: str, *, normalize: bool) -> FloatArray:
    try:
        table: FloatArray = np.array([*read_objects(counts, name=name)], dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"{name} cannot be read as histograms with the same bins: {error}"
        raise InvalidInputError(msg) from error
    if table.ndim != 2:
        msg = (
            f"{name} has {table.ndim} dimensions, but histograms are a table: a row for each, a "
            f"column for each bin."
        )
        raise InvalidInputError(msg)
    check_finite(table, name=name, advice="Every bin must have a count.")
    if table.min(initial=0.0) < 0:
        msg = f"{name} has counts down to {table.min():.3g}, but counts are not negative."
        raise InvalidInputError(msg)
    if not normalize:
        return table
    sums = table.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(table, sums, out=np.zeros_like(table), where=sums > 0))
