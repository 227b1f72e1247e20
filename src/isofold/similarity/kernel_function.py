"""Kernel functions between points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.linalg.rows import row_product

__all__ = ["KERNELS", "KernelFunction"]

KERNELS = ("rbf", "poly", "linear", "precomputed")

MOSTLY_CONSTANT = 0.5
"""A kernel is all but constant if its values differ by no more than this fraction of the constant:
then they have fewer digits to tell points apart than their differences from the constant have."""

Callback: TypeAlias = Callable[[FloatArray, FloatArray], Any]


@dataclass(frozen=True, eq=False)
class KernelFunction:
    """A kernel k(x, y) of points.

    Parameters
    ----------
    kind : {"rbf", "poly", "linear", "precomputed"} or callable
        exp(−γ‖x − y‖²), (γ⟨x, y⟩ + c)^p, ⟨x, y⟩, or a function of two tables of points. With
        "precomputed" rows are kernel values already.
    gamma : float, default=1.0
        γ; the σ of exp(−‖x − y‖²/σ²) is 1/√γ.
    degree : int, default=3
        p.
    coef0 : float, default=1.0
        c.
    is_reduced : bool, default=False
        Whether the value for γ = 0, 1 or c^p, is subtracted. Centering takes it away in any case,
        but not the digits that it cost.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity.kernel_function import KernelFunction
    >>> KernelFunction("poly", degree=2).matrix(np.array([[1.0]]), np.array([[1.0], [2.0]]))
    array([[4., 9.]])
    """

    kind: str | Callback
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    is_reduced: bool = False

    def reduced_if_constant(self, values: FloatArray) -> KernelFunction:
        """Return the kernel less its constant, if some values of it are little else."""
        if callable(self.kind) or self.kind not in ("rbf", "poly"):
            return self
        constant = 1.0 if self.kind == "rbf" else self.coef0**self.degree
        differences = float(np.abs(values - constant).max(initial=0.0))
        return replace(self, is_reduced=differences <= MOSTLY_CONSTANT * constant)

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the kernel between every row of X and every row of Y, in float64."""
        X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
        if callable(self.kind):
            return self._from_callback(X, Y)
        if self.kind == "precomputed":
            return X
        if self.kind == "rbf":
            exponents = -self.gamma * cdist(X, Y, "sqeuclidean")
            return np.expm1(exponents) if self.is_reduced else np.exp(exponents)
        product = row_product(X, Y.T)
        if self.kind == "linear":
            return product
        with np.errstate(over="ignore", invalid="ignore"):
            powers = self._powers(self.gamma * product)
        if not np.all(np.isfinite(powers)):
            msg = (
                f"The polynomial kernel of degree {self.degree} with gamma={self.gamma:g} leaves "
                f"the range of numbers. Use gamma='auto', a smaller degree, or scale X."
            )
            raise InvalidInputError(msg)
        return powers

    def _powers(self, scaled: FloatArray) -> FloatArray:
        """Return (s + c)^p, or (s + c)^p − c^p = s·Σ (s + c)^i c^(p−1−i), where nothing cancels."""
        c, p = self.coef0, self.degree
        if not self.is_reduced:
            return np.asarray((scaled + c) ** p)
        total = np.ones_like(scaled)
        for power in range(1, p):
            total = total * (scaled + c) + c**power
        return np.asarray(scaled * total)

    def rows(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the same as `matrix`, with bytes in a row that do not depend on the other rows.

        A user's function is called with one row at a time: most are made of matrix products, whose
        rounding depends on the rows that come together.
        """
        if not callable(self.kind):
            return self.matrix(X, Y)
        values = np.empty((len(X), len(Y)))
        for i in range(len(X)):
            # A copy of its own, so that all rows are stored alike.
            values[i] = self.matrix(np.array(X[i : i + 1], order="C"), Y)[0]
        return values

    def _from_callback(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        assert callable(self.kind)  # noqa: S101 - the caller looked
        values = np.asarray(self.kind(X, Y), dtype=np.float64)
        if values.shape != (len(X), len(Y)) or not np.all(np.isfinite(values)):
            msg = (
                f"The kernel function returned an array of shape {values.shape} for {len(X)} and "
                f"{len(Y)} points, or values that are not finite. It must return k(X[i], Y[j]) for "
                f"all i and j, as the functions in sklearn.metrics.pairwise do."
            )
            raise InvalidInputError(msg)
        return values
