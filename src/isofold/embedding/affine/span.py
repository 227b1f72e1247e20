"""The subspace of feature space that a training kernel spans.

A centered kernel K = HK⁰H = EΛEᵀ of rank m has the functions E as the coordinates of its feature
space: whatever is linear there takes values in the span of E on the training points, and
K⁺ = EΛ⁻¹Eᵀ takes such values to the coefficients of a map for all points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.linalg.centering import centered_both_ways

__all__ = ["KernelSpan", "span_of_kernel"]

ALIKE = 1e-6
"""Relative spread of the diagonal up to which a kernel has a constant one."""

RANK_TOLERANCE = 1e-9
"""Eigenvalues of a kernel below this fraction of the largest count as zero. Rounding is amplified
by its inverse: what a map gives for a training point then is right to 1e-7 of the map's size."""

ROUNDINGS = 16.0
"""An eigenvalue is rounding up to this many roundings of the largest value of a kernel, times the
root of its size: random errors of n² entries add up to no more."""

NEGATIVE = 1e-3
"""Negative eigenvalues up to this fraction of the largest are zero: kernels that were rounded to
few digits have such. A function that is not a kernel has larger ones."""


@dataclass(frozen=True, eq=False)
class KernelSpan:
    """The functions on the training points that are linear in a kernel's feature space.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        The centered kernel K.
    functions : ndarray of shape (n, m)
        E: orthonormal columns of mean zero, those of the largest eigenvalues first.
    eigenvalues : ndarray of shape (m,)
        Λ, all positive.
    most_negative : float
        The smallest eigenvalue relative to the largest.
    is_indefinite : bool
        Whether it is negative beyond rounding, so that K is not a kernel.
    similarity : float
        k_ij/k_ii of a sample with the most similar other one, the median over samples; one for
        kernels whose diagonal is not constant, in which samples differ in size.
    """

    kernel: FloatArray
    functions: FloatArray
    eigenvalues: FloatArray
    most_negative: float
    is_indefinite: bool
    similarity: float

    @property
    def rank(self) -> int:
        """The number m of functions."""
        return len(self.eigenvalues)

    @property
    def freedom(self) -> int:
        """m(m + 1)/2: the degrees of freedom of a Gram matrix in the span."""
        return self.rank * (self.rank + 1) // 2

    @property
    def is_full(self) -> bool:
        """Whether every function of mean zero is in the span: rank n − 1, the most there can be."""
        return self.rank >= len(self.kernel) - 1

    def project(self, values: FloatArray) -> FloatArray:
        """Return KK⁺Y = EEᵀY: what of some values, centered, is in the span."""
        return np.asarray(self.functions @ (self.functions.T @ values))

    def lost(self, values: FloatArray) -> float:
        """Return the fraction of the variance of some values that is not in the span."""
        total = float(np.sum((values - values.mean(axis=0)) ** 2))
        held = float(np.sum((self.functions.T @ values) ** 2))
        return max(0.0, 1.0 - held / total) if total > 0.0 else 0.0

    def coefficients(self, values: FloatArray) -> FloatArray:
        """Return Ω = K⁺Y, with KΩ = Y if Y is in the span."""
        E, inverse = self.functions, 1.0 / self.eigenvalues[:, None]
        wanted = self.project(values)
        omega = E @ (inverse * (E.T @ wanted))
        # One step of refinement: rounding is amplified by the condition of the kernel.
        return np.asarray(omega + E @ (inverse * (E.T @ (wanted - self.kernel @ omega))))


@stage("kernel")
def span_of_kernel(raw: FloatArray, *, eps: float | None = None) -> KernelSpan:
    """Return the span of a training kernel."""
    kernel = centered_both_ways((raw + raw.T) / 2)
    values, vectors = scipy.linalg.eigh(kernel)
    largest = float(values[-1])
    unit = float(np.finfo(np.float64).eps) if eps is None else eps
    rounding = ROUNDINGS * unit * np.sqrt(len(raw)) * float(np.abs(raw).max(initial=0.0))
    if largest <= rounding:
        msg = (
            "The kernel does not distinguish any two samples: after centering it is rounding. Use "
            "another kernel or another gamma."
        )
        raise InvalidInputError(msg)
    # What the lowest eigenvalue shows of errors, the small positive ones have as well.
    nothing = max(RANK_TOLERANCE * largest, rounding, -2.0 * float(values[0]))
    kept = np.flatnonzero(values > nothing)[::-1]
    functions = vectors[:, kept]
    functions = functions - functions.mean(axis=0)
    return KernelSpan(
        kernel=kernel,
        functions=functions,
        eigenvalues=values[kept],
        most_negative=float(values[0]) / largest,
        is_indefinite=bool(values[0] < -max(NEGATIVE * largest, rounding)),
        similarity=_similarity_to_nearest(raw),
    )


def _similarity_to_nearest(raw: FloatArray) -> float:
    """Return k_ij/k_ii of every sample with the most similar other one, the median."""
    own = raw.diagonal()
    if own[0] <= 0.0 or np.ptp(own) > ALIKE * own[0]:
        return 1.0
    similar = raw / own[0]
    np.fill_diagonal(similar, -np.inf)
    return float(np.median(similar.max(axis=1)))
