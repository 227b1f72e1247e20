"""Evidence, before and after a stitching, that data are a sheet of this dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors import build_search
from isofold.patches import ChartFit, PatchCover, ScaleRules
from isofold.patches.layers import find_layers
from isofold.stitching.rules import RULES, StitchingRules

if TYPE_CHECKING:
    from isofold.extension.placed_outliers import PlacedOutliers
    from isofold.stitching.components import StitchedMap
    from isofold.stitching.levels import StitchedComponent

__all__ = [
    "ErrorEstimate",
    "closing_steps",
    "contraction",
    "curvature_loss",
    "estimate_error",
    "find_layered_patches",
    "is_large",
    "is_weak",
    "noise_of",
    "unsure_fraction",
    "weak_fraction",
]

CONTRACTION_SAMPLE, CONTRACTION_NEIGHBORS = 4000, 5
"""Points and neighbors at which contraction is looked for."""

CAP_LOSS = 1 / 8
"""Error of the best flat map of a cap of curvature K is K·var(Y)/8: 1.2 % for 25 degrees."""


def weak_fraction(cover: PatchCover, charts: ChartFit, rules: StitchingRules = RULES) -> float:
    """Return the fraction of points in patches whose tangent does not stand out from the noise."""
    return float(cover.sizes[is_weak(charts, rules)].sum() / cover.sizes.sum())


def is_weak(charts: ChartFit, rules: StitchingRules = RULES) -> BoolArray:
    """Return which patches have a tangent that does not stand out from the noise."""
    is_faint = charts.signal < rules.weak_signal
    return np.asarray(is_faint | (charts.certainty < rules.weak_certainty))


def unsure_fraction(cover: PatchCover, charts: ChartFit) -> float:
    """Return the fraction of points in patches whose tangent is too unsure to tell curvature."""
    rules = ScaleRules()
    is_unsure = (charts.signal < rules.secure_signal) | (charts.certainty < rules.secure_certainty)
    return float(cover.sizes[is_unsure].sum() / cover.sizes.sum())


def is_large(cover: PatchCover, charts: ChartFit, rules: StitchingRules = RULES) -> bool:
    """Return whether a stitching in many dimensions would take too long."""
    r = charts.coordinates.shape[1]
    unknowns = cover.n_patches * r * (r + 1) // 2
    return r > rules.certified_dimension and unknowns > rules.most_unknowns


@dataclass(frozen=True)
class ErrorEstimate:
    """The estimated error of the coordinates by its causes, relative to their extent.

    Attributes
    ----------
    noise : float
        What noise in the plane causes: √(r σ̂² / var(Y)).
    scale : float
        How far the map differs from that of patches of twice the size.
    outliers : float
        How far outliers would move if they belonged to other data nearby.
    """

    noise: float
    scale: float
    outliers: float

    @property
    def total(self) -> float:
        """All causes together."""
        return float(np.linalg.norm([self.noise, self.scale, self.outliers]))


def estimate_error(
    stitched: StitchedMap, outliers: PlacedOutliers, rules: StitchingRules = RULES
) -> ErrorEstimate:
    """Return the estimated error of the coordinates, components combined by their sizes."""
    n_nodes = sum(len(component.nodes) for component in stitched.components)
    by_noise, by_scale, spread = 0.0, 0.0, 0.0
    for component in stitched.components:
        n, r = component.embedding.shape
        variance = float(((component.embedding - component.embedding.mean(axis=0)) ** 2).sum() / n)
        spread += n * variance
        if variance > 0.0:
            by_noise += n * r * float(np.median(component.charts.noise)) / variance
        # A coarse cover whose patches do not fit says nothing of the fine one.
        if not np.isnan(component.agreement) and not component.coarse_misfit > rules.largest_misfit:
            by_scale += n * component.agreement**2
    by_outliers = n_nodes * outliers.mean_square / spread if spread > 0.0 else 0.0
    squares = (by_noise / n_nodes, by_scale / n_nodes, by_outliers)
    return ErrorEstimate(*(float(np.sqrt(square)) for square in squares))


def noise_of(stitched: StitchedMap) -> float:
    """Return the typical variance that charts leave, all normal directions together."""
    residuals = [component.charts.residual for component in stitched.components]
    return float(np.median(np.concatenate(residuals)))


def contraction(
    points: FloatArray, embedding: FloatArray, noise: float, rules: StitchingRules = RULES
) -> float:
    """Return the fraction of near pairs on the map that are far apart in the data."""
    n = len(embedding)
    k = min(CONTRACTION_NEIGHBORS, n - 1)
    if k < 1:
        return 0.0
    chosen = np.linspace(0, n - 1, min(n, CONTRACTION_SAMPLE)).astype(np.intp)
    found = build_search(embedding).query(embedding[chosen], k + 1)
    on_map, near = found.distances, found.indices
    points = points.astype(np.float64)
    in_data = ((points[chosen][:, None, :] - points[near]) ** 2).sum(axis=2)[:, 1:]
    on_map = on_map[:, 1:]
    limit = rules.stretch_squared * on_map**2 + rules.noise_variances * noise
    limit = limit + rules.spacing_squared * np.median(on_map) ** 2
    return float((in_data > limit).mean())


def curvature_loss(component: StitchedComponent, rules: StitchingRules = RULES) -> float:
    """Return the relative error that the mean intrinsic curvature of a component costs."""
    curvature = component.charts.curvature
    weights = component.cover.sizes / component.cover.sizes.sum()
    mean = float(weights @ curvature)
    # A point is in about five patches, so that there are fewer independent ones.
    independent = max(1.0, len(weights) * component.cover.n_points / component.cover.sizes.sum())
    error = float(np.sqrt(weights @ (curvature - mean) ** 2 / independent))
    # Where patches are too large for their curvature, what they say of it means nothing.
    is_bent = np.percentile(component.charts.beta, 95) > rules.telling_bending
    if abs(mean) <= rules.curvature_certainty * error or component.cover.n_patches == 1 or is_bent:
        return 0.0
    centered = component.embedding - component.embedding.mean(axis=0)
    return CAP_LOSS * abs(mean) * float((centered**2).sum() / len(centered))


def find_layered_patches(
    points: FloatArray, components: Sequence[StitchedComponent]
) -> tuple[float, list[IntArray]]:
    """Return the fraction of points in patches that hold several layers, and these patches."""
    layered, seen, members = [], 0.0, 0.0
    for component in components:
        examined, is_layered = find_layers(
            points[component.nodes], component.cover, component.charts
        )
        sizes = component.cover.sizes[examined]
        # Where only some patches are looked at, they stand for the others.
        weight = len(component.nodes) / sizes.sum()
        seen += weight * sizes.sum()
        members += weight * sizes[is_layered].sum()
        layered.append(examined[is_layered])
    return members / seen, layered


def closing_steps(
    points: FloatArray, component: StitchedComponent, rules: StitchingRules = RULES
) -> float:
    """Return the distance between the ends of a curve, in longest steps along it.

    Infinite where there is no curve, or patches do not follow it. Points at random leave gaps; a
    closed curve is cut at the longest of them, if no edge of the graph crosses it.
    """
    is_followed = component.cover.n_patches > 1 and not component.is_by_paths
    is_curve = component.embedding.shape[1] == 1 and is_followed
    if not is_curve or component.alignment.misfit > rules.largest_misfit:
        return np.inf
    ordered = points[component.nodes[np.argsort(component.embedding[:, 0])]].astype(np.float64)
    longest = float(np.linalg.norm(np.diff(ordered, axis=0), axis=1).max())
    return float(np.linalg.norm(ordered[-1] - ordered[0])) / longest
