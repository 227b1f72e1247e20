"""Charts: maps of small patches to r coordinates that keep lengths, and back.

A *flat* chart is the orthogonal projection onto the principal axes of a patch. A *quadratic* chart
describes the patch as a graph over its tangent space,

    x(t) = o + V t + a + g(t) + ½ B(t, t),          V (d × r) orthonormal, B normal to V,

fitted by weighted least squares; the tangent is then tilted by g, the origin moved by a, and both
fitted once more. Arc length along the surface is not |t|: to second order in the curvature

    u = t + (γ/6) ⟨B(t, t), B(t, ·)⟩

has the lengths of the surface. γ ∈ [0, 1] is the fraction of the curvature that is not explained by
noise, γ = max(0, 1 - (e₂ #B / m) / var ½B(t, t)), so that noise does not bend the coordinates.

All patches of similar size are fitted at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._findings import parameter
from isofold._memory import require_memory
from isofold._parallel import ordered_map
from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.patches.atlas import (
    Atlas,
    bend,
    curvature_of_noise,
    flatter_charts,
    n_coefficients,
    quadratic_features,
    sectional_curvature,
)
from isofold.patches.batches import Batch, gather_batch, similar_patches
from isofold.patches.cover import PatchCover

__all__ = ["ChartFit", "fit_charts"]

RIDGE = 1e-6
"""Ridge of the fit relative to its features, which have unit scale: thin patches stay finite."""

NULL = 1e-14
"""Variance relative to the largest that counts as none: the rounding of a covariance."""

SAFE = 1e-6
"""Variance relative to the largest from which on an axis is resolved well by a Gram matrix."""

SPARE_POINTS = 3
"""Points beyond the number of coefficients from which on a patch may have a quadratic chart."""

OUTLIER_FACTOR, OUTLIER_RADIUS_FRACTION, OUTLIER_ROUNDS = 100.0, 0.02, 3
"""A point is an outlier of its patch if its squared distance from the chart exceeds so many medians
and the square of such a fraction of the radius; how often outliers are looked for."""

FAR_SHARE = 0.15
"""Fraction of the radius beyond which an outlier is no mere bend that the chart does not follow."""

BENDING = 2.5
"""Constant of β, the length error of a flat chart: 2.5 var(½B(t, t)) / mean tangent variance, times
the shrinkage."""


@dataclass(frozen=True, eq=False)
class ChartFit:
    """Charts with the coordinates of the members, and how well each patch is described.

    Attributes
    ----------
    atlas : Atlas
        The charts.
    coordinates : ndarray of shape (n_entries, r)
        Chart coordinates u of the entries of the cover.
    is_off : ndarray of bool of shape (n_entries,)
        Whether an entry lies off its chart and was left out of the fit.
    is_far : ndarray of bool of shape (n_entries,)
        Whether it lies so far off that it cannot belong to the sheet.
    residual : ndarray of shape (n_patches,)
        Variance e₂ that the charts leave, summed over the normal directions.
    normal_dimension : ndarray of shape (n_patches,)
        The number of normal directions that the residual fills.
    tangent : ndarray of shape (n_patches,)
        Smallest tangent variance λ_r.
    spread : ndarray of shape (n_patches,)
        Mean tangent variance.
    beta : ndarray of shape (n_patches,)
        How much a flat chart would be wrong, β.
    curvature : ndarray of shape (n_patches,)
        Mean sectional curvature (of Gauss for surfaces), the fraction of noise taken off.
    sizes : ndarray of shape (n_patches,)
        Number of points that count in the fit.
    dimensions : ndarray of int of shape (n_patches,)
        The dimension r_i of every patch: less than r where its points span less.
    estimators : tuple
        The fitted embedders of all patches, if these are the charts; else empty.
    """

    atlas: Atlas
    coordinates: FloatArray
    is_off: BoolArray
    is_far: BoolArray
    residual: FloatArray
    normal_dimension: FloatArray
    tangent: FloatArray
    spread: FloatArray
    beta: FloatArray
    curvature: FloatArray
    sizes: FloatArray
    dimensions: IntArray
    estimators: tuple[Any, ...] = ()

    @property
    def noise(self) -> FloatArray:
        """Residual variance of every patch in one normal direction."""
        return self.residual / self.normal_dimension

    @property
    def signal(self) -> FloatArray:
        """Smallest tangent variance over the noise of one direction; infinite without noise."""
        return _ratio(self.tangent, self.noise)

    @property
    def certainty(self) -> FloatArray:
        """Points times smallest tangent variance over all noise: 1/(tangent's angle error)²."""
        return _ratio(self.sizes * self.tangent, self.residual)


def fit_charts(
    points: FloatArray,
    cover: PatchCover,
    n_components: int,
    *,
    quadratic: bool = True,
    n_jobs: int | None = None,
) -> ChartFit:
    """Fit a chart to every patch of a cover."""
    r, d, c = n_components, points.shape[1], cover.n_patches
    enough = n_coefficients(r) + SPARE_POINTS
    atlas = _empty_atlas(cover, d, r, may_bend=quadratic and d > r and cover.sizes.max() >= enough)
    coordinates = np.empty((len(cover.members), r))
    is_off = np.zeros(len(cover.members), dtype=bool)
    is_far = np.zeros(len(cover.members), dtype=bool)
    figures = np.zeros((8, c))

    def work(patches: IntArray) -> None:
        batch = gather_batch(points, cover, patches)
        model, off = _fit_without_outliers(batch, r, quadratic=quadratic)
        own = Atlas(*model.atlas)
        atlas.origins[batch.patches] = own.origins + batch.centers
        atlas.axes[batch.patches] = own.axes
        if not own.is_flat:
            atlas.coefficients[batch.patches] = own.coefficients
        atlas.shrinkage[batch.patches] = own.shrinkage
        inside = batch.is_member
        coordinates[batch.entries[inside]] = bend(own, model.t)[inside]
        is_off[batch.entries[inside]] = off[inside]
        far = off & (model.squares > ((FAR_SHARE * batch.radii) ** 2)[:, None])
        is_far[batch.entries[inside]] = far[inside]
        figures[:, batch.patches] = model.figures

    def n_numbers(size: int) -> int:
        return _n_numbers(size, d, r, is_bent=size >= enough and not atlas.is_flat)

    groups = list(similar_patches(cover, enough=enough, n_numbers=n_numbers))
    with stage("charts", total=len(groups)) as steps:
        for _ in ordered_map(work, groups, n_jobs=n_jobs, steps=steps):
            pass
    return ChartFit(
        atlas=atlas,
        coordinates=coordinates,
        is_off=is_off,
        is_far=is_far,
        residual=figures[0],
        normal_dimension=figures[1],
        tangent=figures[2],
        spread=figures[3],
        beta=figures[4],
        curvature=figures[5],
        sizes=figures[6],
        dimensions=figures[7].astype(np.intp),
    )


def _empty_atlas(cover: PatchCover, d: int, r: int, *, may_bend: bool) -> Atlas:
    """Return room for the charts of a cover, if there is memory to fit them.

    Flat charts have no coefficients: in many dimensions they would be most of an atlas.
    """
    c, q = cover.n_patches, n_coefficients(r) if may_bend else 0
    require_memory(
        8 * (c * d * (1 + r + q) + _n_numbers(int(cover.sizes.max()), d, r, is_bent=may_bend)),
        what=f"The charts of {c} patches in {r} dimensions",
        instead=flatter_charts()
        if may_bend
        else f"Pass fewer {parameter('n_components')}, or data of fewer features.",
    )
    return Atlas(
        origins=np.empty((c, d)),
        axes=np.empty((c, d, r)),
        coefficients=np.zeros((c, q, d)),
        shrinkage=np.zeros(c),
    )


def _n_numbers(m: int, d: int, r: int, *, is_bent: bool) -> int:
    """Return how many numbers exist at a time while a patch of m points is fitted."""
    points = 24 * m * d
    if not is_bent:
        return points
    q = n_coefficients(r)
    # Features with their Gram matrix, its inverse and covariance; then the tensor of the bending.
    fit = m * (4 * d + 3 * q) + 3 * q * q + 2 * q * d
    bending = m * (d + 2 * r + 2 * r * r) + 2 * r**4 + q * d
    return max(points, fit, bending)


def _principal_axes(batch: Batch, r: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the r principal axes, the means and the variances along the axes, largest first."""
    mean = batch.mean(batch.points)
    scaled = (batch.points - mean[:, None, :]) * np.sqrt(
        batch.weights / batch.weights.sum(axis=1)[:, None]
    )[..., None]
    m, d = scaled.shape[1:]
    if d <= m:
        values, vectors = np.linalg.eigh(scaled.swapaxes(1, 2) @ scaled)
        axes, variances = vectors[:, :, ::-1], values[:, ::-1]
    else:
        axes, variances = _axes_in_wide_space(scaled, r)
    if m < r:
        axes = np.concatenate([axes, np.zeros((len(axes), d, r - m))], axis=2)
        variances = np.concatenate([variances, np.zeros((len(axes), r - m))], axis=1)
    # Directions without variance have what rounding leaves there, and scale the fit.
    variances = np.maximum(variances, NULL * variances[:, :1])
    return axes[:, :, :r], mean, variances


def _axes_in_wide_space(scaled: FloatArray, r: int) -> tuple[FloatArray, FloatArray]:
    """Return the r principal axes of patches of fewer points than features, and all variances."""
    values, vectors = np.linalg.eigh(scaled @ scaled.swapaxes(1, 2))
    values, vectors = values[:, ::-1], vectors[:, :, ::-1]
    if r > values.shape[1] or (values[:, r - 1] <= SAFE * values[:, 0]).any():
        # Gram matrices have half the digits: too few for axes without variance.
        _, sigma, rows = np.linalg.svd(scaled, full_matrices=False)
        return rows.swapaxes(1, 2), sigma**2
    axes = scaled.swapaxes(1, 2) @ vectors[:, :, :r]
    return axes / np.linalg.norm(axes, axis=1, keepdims=True), np.maximum(values, 0.0)


@dataclass(frozen=True, eq=False)
class _Surface:
    """Charts of a batch: their arrays, tangent coordinates, squared residuals, and figures."""

    atlas: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    t: FloatArray
    squares: FloatArray
    figures: FloatArray


def _fit_without_outliers(batch: Batch, r: int, *, quadratic: bool) -> tuple[_Surface, BoolArray]:
    """Fit the charts of a batch, and again without the points that lie far off them.

    One outlier rotates the tangent of a small patch. Those that are left out are far beyond
    what noise does: a hundred times the median squared residual, and visible at the patch's size.
    """
    model = _fit_surface(batch, r, quadratic=quadratic)
    weights = batch.weights.copy()
    # A flat chart of a bent patch is far from most of its points: no point is an outlier there.
    for _ in range(OUTLIER_ROUNDS if quadratic else 0):
        is_outlier = _outliers_of(batch, model.squares) & (weights > 0.0)
        left = np.count_nonzero((weights > 0.0) & ~is_outlier, axis=1)
        rows = np.flatnonzero(is_outlier.any(axis=1) & (left >= n_coefficients(r) + SPARE_POINTS))
        if not len(rows):
            break
        weights[rows] = np.where(is_outlier[rows], 0.0, weights[rows])
        again = _fit_surface(batch.chosen(rows, weights[rows]), r, quadratic=quadratic)
        for old, new in zip(model.atlas, again.atlas, strict=True):
            old[rows] = new
        model.t[rows], model.squares[rows] = again.t, again.squares
        model.figures[:, rows] = again.figures
    return model, batch.is_member & (weights == 0.0)


def _outliers_of(batch: Batch, squares: FloatArray) -> BoolArray:
    """Return which points are far off the charts of their patches."""
    known = np.where(batch.is_member, squares, np.inf)
    middle = (batch.is_member.sum(axis=1) - 1) // 2
    median = np.partition(known, np.unique(middle), axis=1)[np.arange(len(known)), middle]
    limit = OUTLIER_FACTOR * median + (OUTLIER_RADIUS_FRACTION * batch.radii) ** 2
    return np.asarray(batch.is_member & (squares > limit[:, None]))


def _fit_surface(batch: Batch, r: int, *, quadratic: bool) -> _Surface:
    """Fit the normal coordinates as quadratic functions of the tangent ones, or not at all."""
    axes, origins, variances = _principal_axes(batch, r)
    tangent, spread = variances[:, r - 1], variances[:, :r].mean(axis=1)
    d, q, sizes = batch.points.shape[2], n_coefficients(r), batch.sizes
    is_bent = quadratic and d > r and sizes.min() >= q + SPARE_POINTS
    # Some patches of the batch may be large enough without points of no weight, and outliers.
    may_bend = quadratic and d > r and sizes.max() >= q + SPARE_POINTS
    coefficients: FloatArray = np.zeros((len(axes), q if may_bend else 0, d))
    t, normal = _split(batch, axes, origins)
    left: FloatArray = normal
    explained: FloatArray = np.zeros(len(axes))
    spread_of_noise: FloatArray = np.empty(0)
    if is_bent:
        coefficients, _ = _regress(batch, quadratic_features(t), normal, np.sqrt(tangent))
        origins = origins + coefficients[:, 0]
        axes = _tilt(axes, coefficients[:, 1 : 1 + r])
        t, normal = _split(batch, axes, origins)
        features = quadratic_features(t)
        coefficients, spread_of_noise = _regress(batch, features, normal, np.sqrt(tangent))
        left = normal - features @ coefficients
        curved = features[:, :, 1 + r :] @ coefficients[:, 1 + r :]
        explained = batch.mean((curved**2).sum(axis=2)[..., None])[:, 0]
    # The fit has taken q of m degrees of freedom; the mean alone has taken one.
    freedom = np.maximum(sizes - (q if is_bent else 1), 1.0) / sizes
    squares = (left**2).sum(axis=2)
    residual = batch.mean(squares[..., None])[:, 0] / freedom
    by_chance = residual * (q - 1 - r) / sizes
    tiny = np.finfo(np.float64).tiny
    # Where nothing is explained, all of it is chance.
    by_noise = np.divide(by_chance, explained, out=np.ones_like(explained), where=explained > 0.0)
    shrinkage = np.maximum(0.0, 1.0 - by_noise)
    beta = BENDING * shrinkage * explained / np.maximum(spread, tiny)
    # So few points fill no more directions than they are.
    dimension = np.maximum(1.0, np.minimum(d, sizes - 1.0) - r)
    filled = (variances[:, :r] > NULL * variances[:, :1]).sum(axis=1)
    curvature: FloatArray = np.zeros(len(axes))
    if is_bent:
        curvature = sectional_curvature(coefficients, r)
        curvature -= residual * curvature_of_noise(spread_of_noise, r)
    figures = np.stack([residual, dimension, tangent, spread, beta, curvature, sizes, filled])
    return _Surface((origins, axes, coefficients, shrinkage), t, squares, figures)


def _split(batch: Batch, axes: FloatArray, origins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return tangent coordinates, and normal parts as vectors of the surrounding space."""
    relative = batch.points - origins[:, None, :]
    t = relative @ axes
    return t, relative - t @ axes.swapaxes(1, 2)


def _regress(
    batch: Batch, features: FloatArray, normal: FloatArray, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of the weighted least-squares fit of the normal parts.

    And their covariance for unit noise, (FᵀWF)⁻¹ FᵀW²F (FᵀWF)⁻¹, shape (n_patches, q, q).
    """
    q, total = features.shape[2], batch.weights.sum(axis=1)
    r = int((np.sqrt(8 * q + 1) - 3) / 2)
    degree = np.repeat([0, 1, 2], [1, r, q - 1 - r])
    # A patch without extent has no scale; its features vanish anyhow.
    units = np.where(scale > 0.0, scale, 1.0)[:, None] ** degree
    weighted = (features / units[:, None, :] * batch.weights[..., None]).swapaxes(1, 2)
    gram = weighted @ (features / units[:, None, :])
    gram += RIDGE * total[:, None, None] * np.eye(q)
    inverse = np.linalg.inv(gram)
    coefficients = inverse @ (weighted @ normal) / units[..., None]
    covariance = inverse @ (weighted @ weighted.swapaxes(1, 2)) @ inverse
    return coefficients, covariance / (units[:, :, None] * units[:, None, :])


def _tilt(axes: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return orthonormal axes of the tilted tangent space, rotated as little as possible."""
    left, _, right = np.linalg.svd(axes + slopes.swapaxes(1, 2), full_matrices=False)
    return np.asarray(left @ right)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return a quotient that is infinite where nothing is below."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.where(below > 0.0, above / below, np.inf))
