r"""Weights of a point over its neighbors that sum to one and keep its place.

Saul and Roweis take the weights w that minimize \|x − Σ w_j x_j\|². With more neighbors than
dimensions there are many such w, and a ridge chooses among them at the price of a bias: even on
flat data the point is then not reproduced. Here the choice is made the other way round. Given
*shares* ω_j > 0 that sum to one, with mean m = Σ ω_j x_j, take the weights next to them,

    min Σ (w_j − ω_j)²/ω_j   such that   Σ w_j = 1,   Σ w_j (x_j − m) = Π(x − m),

where Π picks the directions to be kept. With diag(√ω)(x_j − m)_j = U S Vᵀ the answer is

    w = ω + √ω ∘ U c,      c_l = f_l v_l·(x − m)/s_l,

f_l = 1 for directions that are kept and less for those that are damped. The minimum is \|c\|²:
the distance of x from m in standard deviations of the neighbors. Bounding it keeps points far
outside of the data from exploding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray

LARGEST_TILT = 20.0
"""Bound of |c|: up to so many standard deviations of its neighbors a point is extrapolated
linearly; beyond, it is placed as if it were that far away in the same direction."""

HUGE = 1e300
"""Stands for what overflows; it is bounded later."""

THINNESS = 0.1
"""Squared ratio to the q-th width below which further axes are damped. On held-out points of
Swiss rolls 0.01 mostly erred less without noise (by half at best) and a few percent more with."""

RANK_ULPS = 64.0
"""Neighbors thinner than so many roundings of their coordinates do not extend in a direction."""


@dataclass(frozen=True, eq=False)
class Spread:
    """The axes along which the neighbors of m points spread, from widest to thinnest.

    Attributes
    ----------
    shares : ndarray of shape (m, k)
        Shares ω of the neighbors, each row with sum one.
    means : ndarray of shape (m, d)
        Their means.
    left : ndarray of shape (m, k, r)
        U, one column an axis.
    widths : ndarray of shape (m, r)
        Standard deviations s along the axes.
    centered : ndarray of shape (m, k, d)
        diag(√ω)(x_j − m)_j.
    axes : ndarray of shape (m, r, d) or None
        Vᵀ, one row an axis, if it is known.
    """

    shares: FloatArray
    means: FloatArray
    left: FloatArray
    widths: FloatArray
    centered: FloatArray
    axes: FloatArray | None

    def along(self, offsets: FloatArray) -> FloatArray:
        """Return v_l·z for vectors z of shape (m, d)."""
        if self.axes is not None:
            return np.einsum("mrd,md->mr", self.axes, offsets)
        # Vᵀ = S⁻¹Uᵀ(the centered neighbors); to form it would take as long as all the rest.
        products = self.left.swapaxes(1, 2) @ (self.centered @ offsets[:, :, None])
        return np.divide(
            products[:, :, 0], self.widths, out=np.zeros_like(self.widths), where=self.widths > 0
        )


def measure_spread(neighbors: FloatArray, shares: FloatArray) -> Spread:
    """Return the axes of neighbors of shape (m, k, d) that have shares of shape (m, k)."""
    means = np.einsum("mk,mkd->md", shares, neighbors)
    centered = neighbors - means[:, None, :]
    centered *= np.sqrt(shares)[:, :, None]
    # Each matrix of a stack is factored by itself, so that a row never depends on others.
    if centered.shape[2] <= centered.shape[1]:
        left, widths, axes = np.linalg.svd(centered, full_matrices=False)
        return Spread(shares, means, left, widths, centered, axes)
    # Of wide matrices from their k × k products, many times faster than LAPACK's SVD. Squares lose
    # half of the digits: what is thinner than rounding can tell counts as nothing.
    squares, left = np.linalg.eigh(centered @ centered.swapaxes(1, 2))
    squares, left = squares[:, ::-1], left[:, :, ::-1]
    least = centered.shape[1] * np.finfo(np.float64).eps * squares[:, :1]
    widths = np.sqrt(np.where(squares > least, squares, 0.0))
    return Spread(shares, means, left, widths, centered, None)


def solve_axes(spread: Spread, products: FloatArray, floors: FloatArray) -> FloatArray:
    """Return ``products / widths``, zero along axes that are not wider than rounding."""
    widths = spread.widths
    with np.errstate(over="ignore"):
        ratios = np.divide(
            products, widths, out=np.zeros_like(widths), where=widths > floors[:, None]
        )
    return np.clip(ratios, -HUGE, HUGE)


def damp_thin_axes(
    tilts: FloatArray, widths: FloatArray, *, n_kept: int, thinness: float | None
) -> FloatArray:
    """Damp the axes after the first `n_kept` by f = min(1, s²/(thinness s_kept²)), or fully."""
    n_kept = min(n_kept, widths.shape[1])
    if thinness is None:
        return np.where(np.arange(widths.shape[1]) < n_kept, tilts, 0.0)
    smallest_kept = widths[:, n_kept - 1 : n_kept]
    relative = np.divide(widths, smallest_kept, out=np.zeros_like(widths), where=smallest_kept > 0)
    factors = np.minimum(1.0, relative**2 / thinness)
    factors[:, :n_kept] = 1.0
    damped: FloatArray = factors * tilts
    return damped


def bound_tilts(tilts: FloatArray) -> FloatArray:
    """Return rows c with |c| bounded, in the same direction."""
    largest = np.abs(tilts).max(axis=1, keepdims=True)
    # Scaled before it is squared: a point may be far away in units of its neighbors.
    scaled = np.divide(tilts, largest, out=np.zeros_like(tilts), where=largest > 0)
    norms = np.sqrt(np.einsum("mr,mr->m", scaled, scaled))[:, None]
    bounded: FloatArray = scaled * np.minimum(largest, LARGEST_TILT / np.maximum(norms, 1.0))
    return bounded


def tilt_shares(spread: Spread, tilts: FloatArray) -> FloatArray:
    """Return the weights ω + √ω ∘ U c, with |c| bounded."""
    bounded = bound_tilts(tilts)
    shares = spread.shares
    weights: FloatArray = shares + np.sqrt(shares) * np.einsum("mkr,mr->mk", spread.left, bounded)
    # The columns of U are orthogonal to √ω up to rounding; the sum is one to the last digit.
    return weights / weights.sum(axis=1, keepdims=True)


def place_weights(
    neighbors: FloatArray,
    targets: FloatArray,
    shares: FloatArray,
    *,
    n_kept: int,
    thinness: float | None,
    floors: FloatArray,
) -> FloatArray:
    """Return the weights that reproduce targets from their neighbors."""
    spread = measure_spread(neighbors, shares)
    products = spread.along(targets - spread.means)
    tilts = solve_axes(spread, products, floors)
    return tilt_shares(
        spread, damp_thin_axes(tilts, spread.widths, n_kept=n_kept, thinness=thinness)
    )


def rounding_floors(rounding: FloatArray) -> FloatArray:
    """Return the width that rounding alone can make of m neighborhoods, shape (m, k)."""
    floors: FloatArray = RANK_ULPS * rounding.max(axis=1)
    return floors


def weight_matrix(weights: FloatArray, columns: IntArray, n_columns: int) -> sp.csr_array:
    """Return weights as a sparse matrix with sorted columns, zeros left out."""
    n_rows, k = weights.shape
    matrix = sp.csr_array(
        (weights.ravel(), columns.ravel(), np.arange(0, n_rows * k + 1, k)),
        shape=(n_rows, n_columns),
    )
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
