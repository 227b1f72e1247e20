"""The objective of twin kernel embedding, with its gradients.

    L(X, γ, σ) = −Σ_ij k_y(i, j) k_x(i, j) + λ_k Σ_ij k_x(i, j)² + λ_x Σ_i ‖x_i‖²,
    k_x(i, j) = γ exp(−σ‖x_i − x_j‖²)

k_y is sparse: the first term costs as much as it has entries. With G = −K_y + 2λ_k K_x and
M = G ∘ K_x the gradients are

    ∂L/∂X = −4σ (diag(M1) − M) X + 2λ_x X
    ∂L/∂log γ = Σ M_ij,   ∂L/∂log σ = −σ Σ ‖x_i − x_j‖² M_ij

The second term goes over all pairs. Of many objects it is estimated: they are cut into groups at
random, and pairs within groups stand for all. Every pair has the same chance to be in one group, so
that the estimate is unbiased, and no object has another weight than others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray, Matrix
from isofold._validation import check_positive
from isofold.exceptions import InvalidInputError

__all__ = ["LatentKernel", "TwinGradient", "TwinObjective", "random_groups"]

TILE = 1024
"""Rows and columns of the pairs that are worked on at a time: 8 MB, which the caches like."""

LEARNABLE = ("sigma", "amplitude")


@dataclass(frozen=True)
class LatentKernel:
    """The kernel γ exp(−σ‖x − y‖²) of the map, and what keeps it in bounds.

    Parameters
    ----------
    sigma : float, default=1.0
        σ, which sets the unit of the map.
    amplitude : float, default=1.0
        γ.
    learn : tuple of {"sigma", "amplitude"}, default=()
        Which of the two are learned, from the given values on and within a factor of ten. Either
        runs away in the end: a larger γ outweighs λ_k, and a larger σ on a smaller map costs less.
    weight_kernel : float or "auto", default="auto"
        λ_k, by default five times the number of neighbors over that of objects, and at most 0.5,
        times the mean kernel of neighbors. With 0.5 the kernel of the map is nearest to that of
        the objects in the least-squares sense; less of it lets neighborhoods overlap more, and the
        map tangles less.
    weight_points : float, default=0.01
        λ_x, which holds components together.

    Examples
    --------
    >>> from isofold.stress.twin_objective import LatentKernel
    >>> LatentKernel().resolved(0.2).weight_kernel
    0.2
    """

    sigma: float = 1.0
    amplitude: float = 1.0
    learn: tuple[str, ...] = ()
    weight_kernel: float | Literal["auto"] = "auto"
    weight_points: float = 0.01

    def resolved(self, weight_kernel: float) -> LatentKernel:
        """Return the same with all numbers, after a look at them."""
        is_automatic = isinstance(self.weight_kernel, str) and self.weight_kernel == "auto"
        found = replace(self, weight_kernel=weight_kernel) if is_automatic else self
        for name in ("sigma", "amplitude", "weight_kernel", "weight_points"):
            check_positive(getattr(found, name), name=f"latent.{name}")
        if not isinstance(self.learn, tuple) or not set(self.learn) <= set(LEARNABLE):
            msg = f"latent.learn={self.learn!r} must be a tuple of {', '.join(LEARNABLE)}."
            raise InvalidInputError(msg)
        return found


@dataclass(frozen=True, eq=False)
class TwinGradient:
    """The objective somewhere, and its gradients.

    Attributes
    ----------
    value : float
        L.
    points : ndarray of shape (n, r)
        ∂L/∂X.
    log_amplitude, log_sigma : float
        ∂L/∂log γ and ∂L/∂log σ.
    alignment : float
        ⟨K_x, K_y⟩/(‖K_x‖ ‖K_y‖).
    """

    value: float
    points: FloatArray
    log_amplitude: float
    log_sigma: float
    alignment: float


@dataclass(frozen=True, eq=False)
class TwinObjective:
    """The objective for given similarities.

    Attributes
    ----------
    similarities : csr_array of shape (n, n)
        k_y, symmetric, with its diagonal.
    weight_kernel, weight_points : float
        λ_k and λ_x.
    groups : tuple of ndarray of int
        Groups of objects whose pairs are in the second term; one of all objects for all pairs.
    """

    similarities: Matrix
    weight_kernel: float
    weight_points: float
    groups: tuple[IntArray, ...]

    @classmethod
    def of(
        cls, similarities: Matrix, latent: LatentKernel, groups: tuple[IntArray, ...] | None = None
    ) -> TwinObjective:
        """Return the objective, of all pairs unless there are groups."""
        everyone = (np.arange(similarities.shape[0]),)
        chosen = everyone if groups is None else groups
        return cls(similarities, float(latent.weight_kernel), latent.weight_points, chosen)

    def at(self, X: FloatArray, log_amplitude: float, log_sigma: float) -> TwinGradient:
        """Return the objective and its gradients at a map."""
        gamma, sigma = float(np.exp(log_amplitude)), float(np.exp(log_sigma))
        both, first, first_spread = self._attraction(X, gamma, sigma)
        squares, second, second_spread = self._repulsion(X, sigma)
        weight = self.weight_kernel * gamma**2
        value = -both + weight * squares + self.weight_points * float(np.vdot(X, X))
        # `first` and `second` hold (diag(M1) - M) X of either term.
        moved = -4.0 * sigma * (2.0 * weight * second - first) + 2.0 * self.weight_points * X
        norms = gamma * np.sqrt(squares) * float(sp.linalg.norm(self.similarities))
        return TwinGradient(
            value=value,
            points=moved,
            log_amplitude=-both + 2.0 * weight * squares,
            log_sigma=-sigma * (2.0 * weight * second_spread - first_spread),
            alignment=both / norms if norms > 0.0 else 0.0,
        )

    def _attraction(
        self, X: FloatArray, gamma: float, sigma: float
    ) -> tuple[float, FloatArray, float]:
        """Return Σ m, (diag(m1) − m) X and Σ ‖x_i − x_j‖² m for m = k_y k_x."""
        table = self.similarities
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        lengths = np.zeros(len(rows))
        for column in X.T:
            lengths += (column[rows] - column[table.indices]) ** 2
        m = table.data * (gamma * np.exp(-sigma * lengths))
        mixed = sp.csr_array((m, table.indices, table.indptr), shape=table.shape)
        sums = np.asarray(mixed.sum(axis=1)).ravel()
        return float(m.sum()), sums[:, None] * X - mixed @ X, float(np.vdot(lengths, m))

    def _repulsion(self, X: FloatArray, sigma: float) -> tuple[float, FloatArray, float]:
        """Return the same for m = exp(−2σ‖x_i − x_j‖²), over all pairs or estimated from groups."""
        total, spread, moved = 0.0, 0.0, np.zeros_like(X)
        for group in self.groups:
            inside, pushed, far = _gaussian_pairs(X[group], 2.0 * sigma)
            moved[group] = pushed
            total += inside
            spread += far
        n, drawn = len(X), sum(len(group) * (len(group) - 1) for group in self.groups)
        factor = n * (n - 1) / drawn if drawn else 1.0
        return n + factor * total, factor * moved, factor * spread


def random_groups(n: int, size: int, rng: np.random.RandomState) -> tuple[IntArray, ...]:
    """Return objects cut at random into groups of about a given size."""
    order = rng.permutation(n)
    return tuple(np.sort(part) for part in np.array_split(order, max(1, round(n / size))))


def _gaussian_pairs(X: FloatArray, rate: float) -> tuple[float, FloatArray, float]:
    """Return Σ m, (diag(m1) − m) X and Σ d² m for m = exp(−rate d²) of pairs of different points.

    Every tile is used for both of its sides.
    """
    n, total, spread = len(X), 0.0, 0.0
    sums, mixed = np.zeros(n), np.zeros_like(X)
    for start in range(0, n, TILE):
        rows = slice(start, start + TILE)
        for other in range(start, n, TILE):
            columns = slice(other, other + TILE)
            squares = cdist(X[rows], X[columns], "sqeuclidean")
            m = np.exp(-rate * squares)
            if other == start:
                np.fill_diagonal(m, 0.0)
            both = 1.0 if other == start else 2.0
            sums[rows] += m.sum(axis=1)
            mixed[rows] += m @ X[columns]
            if other != start:
                sums[columns] += m.sum(axis=0)
                mixed[columns] += m.T @ X[rows]
            total += both * float(m.sum())
            spread += both * float(np.vdot(squares, m))
    return total, sums[:, None] * X - mixed, spread
