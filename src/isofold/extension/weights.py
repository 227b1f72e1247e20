r"""Weights of a point over its neighbors that sum to one and keep it where it is.

Saul and Roweis take the weights w that minimize \|x − Σ w_j x_j\|². With more neighbors than
dimensions there are many such w, and a ridge chooses among them at the price of a bias: even on
flat data the point is then not reproduced. Here the choice is made the other way around. Given
*fractions* ω_j > 0 that sum to one, with mean m = Σ ω_j x_j, take the weights next to them,

    min Σ (w_j − ω_j)²/ω_j   such that   Σ w_j = 1,   Σ w_j (x_j − m) = Π(x − m),

where Π picks the directions to be kept. With diag(√ω)(x_j − m)_j = U S Vᵀ the answer is

    w = ω + √ω ∘ U c,      c_l = f_l v_l·(x − m)/s_l,

f_l = 1 for directions that are kept and less for those that are damped. The minimum is \|c\|²:
the distance of x from m in standard deviations of the neighbors. Bounding it keeps points far
outside of the data from exploding.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.extension.neighborhoods import Neighborhoods, Spread, lengths_of

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

TEAR = 3.0
"""Images this many times farther apart than is usual nearby belong to another part of the map.
Factors from 2 to 4 make no difference on Swiss rolls of 500 points."""

ACQUITTED = 0.3
"""Fraction of the distance of a suspect's image by which the affine map of others may miss it."""

FADE = 0.999
"""Just below one, so that neighbors which are all equally far share equally."""


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


def bound_tilts(tilts: FloatArray, bound: float = LARGEST_TILT) -> FloatArray:
    """Return rows c with |c| bounded, in the same direction."""
    largest = np.abs(tilts).max(axis=1, keepdims=True)
    # Scaled before it is squared: a point may be far away in units of its neighbors.
    scaled = np.divide(tilts, largest, out=np.zeros_like(tilts), where=largest > 0)
    norms = np.sqrt(np.einsum("mr,mr->m", scaled, scaled))[:, None]
    bounded: FloatArray = scaled * np.minimum(largest, bound / np.maximum(norms, 1.0))
    return bounded


def tilt_fractions(spread: Spread, tilts: FloatArray, largest: float = LARGEST_TILT) -> FloatArray:
    """Return the weights ω + √ω ∘ U c, with |c| bounded."""
    bounded = bound_tilts(tilts, largest)
    fractions = spread.fractions
    weights: FloatArray = fractions + np.sqrt(fractions) * np.einsum(
        "mkr,mr->mk", spread.left, bounded
    )
    # The columns of U are orthogonal to √ω up to rounding; the sum is one to the last digit.
    return weights / weights.sum(axis=1, keepdims=True)


def place_weights(
    neighbors: Neighborhoods,
    fractions: FloatArray,
    *,
    n_kept: int,
    thinness: float | None,
    floors: FloatArray,
    largest: float = LARGEST_TILT,
) -> FloatArray:
    """Return the weights that reproduce targets from their neighbors."""
    spread = neighbors.spread(fractions)
    tilts = solve_axes(spread, neighbors.toward(spread, fractions), floors)
    tilts = damp_thin_axes(tilts, spread.widths, n_kept=n_kept, thinness=thinness)
    return tilt_fractions(spread, tilts, largest)


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


def apply_weights(weights: sp.csr_array, images: FloatArray) -> FloatArray:
    """Return weighted sums of images; a sparse product runs row by row."""
    placed: FloatArray = weights @ images
    return placed.astype(images.dtype, copy=False)


def usual_stretch(stretches: FloatArray) -> FloatArray:
    """Return the lower quartile of every row, as a column; infinity if there is none.

    Not the median: where a sheet touches itself, up to half of the neighbors are on the far side.
    """
    n_others = stretches.shape[1]
    if n_others == 0:
        return np.full((len(stretches), 1), np.inf)
    rank = (n_others - 1) // 4
    return np.sort(stretches, axis=1)[:, rank : rank + 1]


def torn(stretches: FloatArray, usual: FloatArray) -> BoolArray:
    """Return which neighbors lie in another part of the map than the nearest."""
    return (stretches > TEAR * usual) & (usual > 0)


def untorn(near: Neighborhoods, images: FloatArray, floors: FloatArray) -> BoolArray:
    """Return which neighbors lie in the same part of the map as the nearest.

    A neighbor that is suspiciously far is acquitted if the affine map of the others, which may
    stretch one direction more than another, takes it there as well.
    """
    gaps, lengths = near.lengths(), lengths_of(images)
    stretches = np.divide(lengths, gaps, out=np.zeros_like(gaps), where=gaps > 0)
    suspects = torn(stretches, usual_stretch(stretches[:, 1:]))
    return ~_unexplained(suspects, near, images, floors)


def in_one_part(near: Neighborhoods, images: FloatArray, floors: FloatArray) -> BoolArray:
    """Return which neighbors are in the same part of what a map was made of as the nearest.

    As `untorn` on the way back, but here distances count and no stretches: data thicker than their
    map are far apart wherever neighbors are close on it.
    """
    gaps = lengths_of(images)
    suspects = torn(gaps, usual_stretch(gaps[:, 1:]))
    return ~_unexplained(suspects, near, images, floors)


def _unexplained(
    suspects: BoolArray, near: Neighborhoods, images: FloatArray, floors: FloatArray
) -> BoolArray:
    """Return the suspects that are not where the affine map of the others leads."""
    # So many neighbors are needed to tell how the map runs, and one to see that it is no accident.
    needed = min(near.n_columns, images.shape[2]) + 1
    rows = np.flatnonzero(suspects.any(axis=1) & ((~suspects).sum(axis=1) > needed))
    unexplained = suspects.copy()
    if len(rows):
        missed = _missed_by_others(near.of(rows), images[rows], ~suspects[rows], floors[rows])
        unexplained[rows] &= missed > ACQUITTED * lengths_of(images[rows])
    return unexplained


def _missed_by_others(
    near: Neighborhoods, images: FloatArray, kept: BoolArray, floors: FloatArray
) -> FloatArray:
    """Return how far the affine map of the kept neighbors misses every neighbor's image."""
    fractions = kept / kept.sum(axis=1, keepdims=True)
    spread = near.spread(fractions)
    q = images.shape[2]
    means = np.einsum("mk,mkq->mq", fractions, images)[:, None]
    steps = spread.left[:, :, :q].swapaxes(1, 2) @ (
        np.sqrt(fractions)[:, :, None] * (images - means)
    )
    widths = spread.widths[:, :q]
    scale = np.divide(1.0, widths, out=np.zeros_like(widths), where=widths > floors[:, None])
    # In standard deviations, of all neighbors and not only of the kept.
    predicted = means + (near.along(spread, q) * scale[:, None, :]) @ steps
    return lengths_of(images - predicted)


def fading_fractions(distances: FloatArray, kept: BoolArray) -> FloatArray:
    """Return the fractions ω of the neighbors, the first columns of ascending distances.

    A further column, if there is one, holds the distance at which fractions have faded.
    """
    n_used = kept.shape[1]
    nearest, used = distances[:, :1], distances[:, :n_used]
    closeness = np.divide(nearest, used, out=np.zeros_like(used), where=used > 0)
    if distances.shape[1] > n_used:
        rim = distances[:, n_used:]
        closeness -= FADE * np.divide(nearest, rim, out=np.zeros_like(rim), where=rim > 0)
    fractions = np.where(kept, closeness, 0.0)
    # A point that meets its nearest neighbor belongs to it alone.
    fractions[distances[:, 0] == 0, 0] = 1.0
    normalized: FloatArray = fractions / fractions.sum(axis=1, keepdims=True)
    return normalized
