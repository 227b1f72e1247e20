"""The figures behind a diagnosis, from an unfolding and its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.neighbors import build_search
from isofold.patches.layers import find_layers
from isofold.stitching.components import Unfolding
from isofold.stitching.evidence import LARGEST_MISFIT
from isofold.stitching.levels import Piece

if TYPE_CHECKING:
    from isofold.extension.placed_outliers import PlacedOutliers

__all__ = [
    "ErrorParts",
    "closing_steps",
    "contraction",
    "curvature_loss",
    "estimate_error",
    "find_layered_patches",
    "noise_of",
]

TELLING_BENDING = 0.6
"""β at the 95th percentile up to which charts tell the curvature of the data."""

CONTRACTION_SAMPLE, CONTRACTION_NEIGHBORS = 4000, 5
"""Points and neighbors at which contraction is looked for."""

STRETCH_2, NOISE_2, SPACING_2 = 2.25, 40.0, 4.0
"""A pair is contracted if its squared length in the data exceeds 2.25 times that on the map, and
40 noise variances, and four squared median neighbor distances, added up."""

CAP_LOSS = 1 / 8
"""Error of the best flat map of a cap of curvature K is K·var(Y)/8: 1.2 % for 25 degrees."""

CERTAINTY = 4.0
"""Standard errors by which the mean curvature must differ from zero."""


@dataclass(frozen=True)
class ErrorParts:
    """Parts of the estimated error of the coordinates, relative to their extent.

    Attributes
    ----------
    noise : float
        What noise in the plane causes: √(r σ̂² / var(Y)).
    scale : float
        How far the map differs from that of patches of twice the size.
    outliers : float
        How far outliers would move if they belonged to another part of the data nearby.
    """

    noise: float
    scale: float
    outliers: float

    @property
    def total(self) -> float:
        """All parts together."""
        return float(np.linalg.norm([self.noise, self.scale, self.outliers]))


def estimate_error(unfolding: Unfolding, outliers: PlacedOutliers) -> ErrorParts:
    """Return the estimated error of the coordinates, that of pieces combined by their sizes."""
    n_nodes = sum(len(piece.nodes) for piece in unfolding.pieces)
    by_noise, by_scale, spread = 0.0, 0.0, 0.0
    for piece in unfolding.pieces:
        n, r = piece.embedding.shape
        variance = float(((piece.embedding - piece.embedding.mean(axis=0)) ** 2).sum() / n)
        spread += n * variance
        if variance > 0.0:
            by_noise += n * r * float(np.median(piece.charts.noise)) / variance
        # A coarse cover whose patches do not fit says nothing of the fine one.
        if not np.isnan(piece.agreement) and not piece.coarse_misfit > LARGEST_MISFIT:
            by_scale += n * piece.agreement**2
    by_outliers = n_nodes * outliers.mean_square / spread if spread > 0.0 else 0.0
    parts = (by_noise / n_nodes, by_scale / n_nodes, by_outliers)
    return ErrorParts(*(float(np.sqrt(part)) for part in parts))


def noise_of(unfolding: Unfolding) -> float:
    """Return the typical variance that charts leave, all normal directions together."""
    return float(np.median(np.concatenate([piece.charts.residual for piece in unfolding.pieces])))


def contraction(points: FloatArray, embedding: FloatArray, noise: float) -> float:
    """Return the share of near pairs on the map that are far apart in the data."""
    n = len(embedding)
    k = min(CONTRACTION_NEIGHBORS, n - 1)
    if k < 1:
        return 0.0
    chosen = np.linspace(0, n - 1, min(n, CONTRACTION_SAMPLE)).astype(np.intp)
    found = build_search(embedding).query(embedding[chosen], k + 1)
    on_map, near = found.distances, found.indices
    places = points.astype(np.float64)
    in_data = ((places[chosen][:, None, :] - places[near]) ** 2).sum(axis=2)[:, 1:]
    on_map = on_map[:, 1:]
    limit = STRETCH_2 * on_map**2 + NOISE_2 * noise + SPACING_2 * np.median(on_map) ** 2
    return float((in_data > limit).mean())


def curvature_loss(piece: Piece) -> float:
    """Return the relative error that the mean intrinsic curvature of a piece costs."""
    curvature = piece.charts.curvature
    weights = piece.cover.sizes / piece.cover.sizes.sum()
    mean = float(weights @ curvature)
    # A point is in about five patches, so that there are fewer independent ones.
    independent = max(1.0, len(weights) * piece.cover.n_points / piece.cover.sizes.sum())
    error = float(np.sqrt(weights @ (curvature - mean) ** 2 / independent))
    # Where patches are too large for their curvature, what they say of it means nothing.
    is_bent = np.percentile(piece.charts.beta, 95) > TELLING_BENDING
    if abs(mean) <= CERTAINTY * error or piece.cover.n_patches == 1 or is_bent:
        return 0.0
    centered = piece.embedding - piece.embedding.mean(axis=0)
    return CAP_LOSS * abs(mean) * float((centered**2).sum() / len(centered))


def find_layered_patches(points: FloatArray, pieces: list[Piece]) -> tuple[float, list[IntArray]]:
    """Return the share of points in patches that hold several layers, and these patches."""
    layered, seen, members = [], 0.0, 0.0
    for piece in pieces:
        examined, is_layered = find_layers(points[piece.nodes], piece.cover, piece.charts)
        sizes = piece.cover.sizes[examined]
        # Where only some patches are looked at, they stand for the others.
        weight = len(piece.nodes) / sizes.sum()
        seen += weight * sizes.sum()
        members += weight * sizes[is_layered].sum()
        layered.append(examined[is_layered])
    return members / seen, layered


def closing_steps(points: FloatArray, piece: Piece) -> float:
    """Return the distance between the ends of a curve, in longest steps along it.

    Infinite where there is no curve, or patches do not follow it. Points at random leave gaps; a
    closed curve is cut at the longest of them, if no edge of the graph crosses it.
    """
    is_followed = piece.cover.n_patches > 1 and not piece.is_rough
    if piece.embedding.shape[1] > 1 or not is_followed or piece.alignment.misfit > LARGEST_MISFIT:
        return np.inf
    ordered = points[piece.nodes[np.argsort(piece.embedding[:, 0])]].astype(np.float64)
    longest = float(np.linalg.norm(np.diff(ordered, axis=0), axis=1).max())
    return float(np.linalg.norm(ordered[-1] - ordered[0])) / longest
