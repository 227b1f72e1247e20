"""The figures behind a diagnosis, from an unfolding and its data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isofold._progress import stage
from isofold._typing import FloatArray, IntArray
from isofold.alignment.diagnosis import Diagnosis, Flag
from isofold.alignment.evidence import LARGEST_MATCH, LARGEST_WEAK, is_weak
from isofold.alignment.piece import Piece
from isofold.alignment.relaxation import Relaxation
from isofold.alignment.unfold import Unfolding
from isofold.neighbors import build_search
from isofold.sdp import SDPSolution, Status

__all__ = ["diagnose", "estimated_error"]

LARGEST_GAP = 0.01
"""Relative gap up to which a stitching is as good as the best, beside rounding. A certificate asks
for 1e-6."""

ROUNDING_MATCH = 1e-4
"""Misfit below which patches agree whatever the bound says, which is then mostly rounding."""

LARGEST_CONTRACTION = 3e-4
"""Share of near pairs on the map that are far apart in the data. On 99 of 100 good maps it is below
1e-4."""

LARGEST_BENDING = 0.6
"""β at the 95th percentile: beyond, patches are too large for their curvature."""

LARGEST_ERROR = 0.1
"""Estimated error of the coordinates relative to their extent."""

NOTABLE_ERROR, NOTABLE_RATIO = 0.02, 2.0
"""The same limit where the choice of scale makes that many times the error that noise does."""

LARGEST_CURVATURE = 0.005
"""Relative length error that intrinsic curvature makes inevitable."""

LARGEST_CLOSURE = 1.5
"""Misfit in r dimensions over that in as many as needed: cylinders and tori have 1.7 to 2.5, half
globes 3, data that are just noisy up to 1.4."""

LARGEST_STRAYS = 0.05
"""Share of the points that are off the data."""

CONTRACTION_SAMPLE, CONTRACTION_NEIGHBORS = 4000, 5
"""Points and neighbors at which contraction is looked for."""

STRETCH_2, NOISE_2, SPACING_2 = 2.25, 40.0, 4.0
"""A pair is contracted if its squared length in the data exceeds 2.25 times that on the map, and
40 noise variances, and four squared median neighbor distances, added up."""

CAP_LOSS = 1 / 8
"""Error of the best flat map of a cap of curvature K is K·var(Y)/8: 1.2 % for 25 degrees."""

CERTAINTY = 4.0
"""Standard errors by which the mean curvature must differ from zero."""


def estimated_error(unfolding: Unfolding) -> float:
    """Return √(r σ̂² / var(Y) + agreement²): noise in the plane, and the choice of scale.

    Parameters
    ----------
    unfolding : Unfolding
        The pieces.

    Returns
    -------
    float
        The estimated error of the coordinates relative to their extent, that of the pieces
        combined by their sizes.
    """
    return float(np.hypot(*error_parts(unfolding)))


def error_parts(unfolding: Unfolding) -> tuple[float, float]:
    """Return the parts of the error that noise and the choice of scale make."""
    total, by_noise, by_scale = 0, 0.0, 0.0
    for piece in unfolding.pieces:
        n, r = piece.embedding.shape
        variance = float(((piece.embedding - piece.embedding.mean(axis=0)) ** 2).sum() / n)
        if variance > 0.0:
            by_noise += n * r * float(np.median(piece.charts.noise)) / variance
        by_scale += 0.0 if np.isnan(piece.agreement) else n * piece.agreement**2
        total += n
    return float(np.sqrt(by_noise / total)), float(np.sqrt(by_scale / total))


@stage("diagnosis")
def diagnose(
    points: FloatArray,
    unfolding: Unfolding,
    *,
    relaxation: Relaxation | None,
    stray_share: float,
) -> Diagnosis:
    """Collect all doubts about an unfolding.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, d)
        The points at the nodes in use.
    unfolding : Unfolding
        The pieces.
    relaxation : Relaxation or None
        The same stitching with more dimensions, if the one in r was not certified.
    stray_share : float
        Share of the samples that are off the data.

    Returns
    -------
    Diagnosis
        The flags.
    """
    pieces = unfolding.pieces
    flags = (
        _pieces_flag(unfolding),
        _projected_flag(pieces),
        _rough_flag(pieces),
        _weak_flag(pieces),
        _certificate_flag(pieces),
        _match_flag(pieces),
        _hinge_flag(pieces),
        _contraction_flag(points, unfolding),
        _bending_flag(pieces),
        _error_flag(unfolding),
        _closure_flag(relaxation, points.shape[1]),
        _curvature_flag(pieces),
        _strays_flag(stray_share),
    )
    return Diagnosis(flags)


def _pieces_flag(unfolding: Unfolding) -> Flag:
    n = len(unfolding.pieces)
    sizes = ", ".join(str(len(piece.nodes)) for piece in unfolding.pieces[:5])
    more = ", …" if n > 5 else ""
    return Flag(
        "pieces",
        n,
        1,
        n > 1,
        f"The data fall into {n} pieces of {sizes}{more} points; each is true in itself, but only "
        f"straight lines across the gaps tell how they lie to each other.",
        "See bridges_ for these lines; a larger n_neighbors may join the pieces.",
    )


def _projected_flag(pieces: list[Piece]) -> Flag:
    share = _share_of_points(pieces, [piece.is_projected for piece in pieces])
    return Flag(
        "projected",
        share,
        0.0,
        share > 0.0,
        f"For {share:.0%} of the points no tangent of this dimension stands out from the noise: "
        f"they were flattened as a whole, not unfolded.",
        "Take more points, less noise, or another n_components.",
    )


def _rough_flag(pieces: list[Piece]) -> Flag:
    share = _share_of_points(pieces, [piece.is_rough for piece in pieces])
    return Flag(
        "rough",
        share,
        0.0,
        share > 0.0,
        f"For {share:.0%} of the points no tangent of this dimension stands out from the noise, or "
        f"there are too many patches: they were not stitched, but laid out along shortest paths.",
        "Compare the intrinsic dimension with n_components. Pass n_patches to stitch all the same.",
    )


def _weak_flag(pieces: list[Piece]) -> Flag:
    total = sum(len(piece.nodes) for piece in pieces)
    share = sum(piece.weak * len(piece.nodes) for piece in pieces) / total
    weak = [np.flatnonzero(is_weak(piece.charts)) for piece in pieces]
    return Flag(
        "noise",
        share,
        LARGEST_WEAK,
        share > LARGEST_WEAK,
        f"{share:.0%} of the points are in patches whose tangent is hidden by noise.",
        "Take more points or fewer n_components.",
        _numbered(pieces, weak),
    )


def _certificate_flag(pieces: list[Piece]) -> Flag:
    solutions = [p.alignment.solution for p in pieces if p.alignment.solution is not None]
    missing = [s for s in solutions if s.status is not Status.CERTIFIED and s.gap > _allowed_gap(s)]
    worst = max((s.gap for s in missing), default=max((s.gap for s in solutions), default=0.0))
    is_rough = any(piece.is_rough for piece in pieces)
    if is_rough:
        # Nothing is known of the misfit but that it is positive.
        worst = max(worst, 1.0)
    worst_match = max(piece.alignment.match for piece in pieces)
    return Flag(
        "certificate",
        worst,
        max((_allowed_gap(s) for s in solutions), default=LARGEST_GAP),
        (is_rough or bool(missing)) and worst_match > ROUNDING_MATCH,
        f"The stitching is not certified as the best (relative gap {worst:.2g}): patches do not "
        f"fit well, or the map may have a fold.",
        "Look at the map; n_components may be too small.",
    )


def _allowed_gap(solution: SDPSolution) -> float:
    """Return the relative gap up to which a solution is as good as the best."""
    if solution.certificate is None or solution.primal == 0.0:
        return LARGEST_GAP
    return LARGEST_GAP + solution.certificate.rounding_floor / abs(solution.primal)


def _match_flag(pieces: list[Piece]) -> Flag:
    worst = max(piece.alignment.match for piece in pieces)
    bad = [
        np.flatnonzero(piece.patch_error > LARGEST_MATCH) if piece.cover.n_patches > 1 else _NONE
        for piece in pieces
    ]
    return Flag(
        "match",
        worst,
        LARGEST_MATCH,
        worst > LARGEST_MATCH,
        f"Where patches overlap they disagree by {worst:.0%} of their extent: "
        f"the data are not a sheet of this dimension, or not flat.",
        "Compare the intrinsic dimension with n_components.",
        _numbered(pieces, bad),
    )


def _hinge_flag(pieces: list[Piece]) -> Flag:
    groups = max(_rigid_groups(piece) for piece in pieces)
    return Flag(
        "hinges",
        groups,
        1,
        groups > 1,
        f"Patches fall into {groups} groups that share too few points, or points in a row, with "
        f"each other: the groups can turn about them.",
        "Use larger or more patches, or fix distances by `terms`.",
    )


def _rigid_groups(piece: Piece) -> int:
    """Return how many groups of patches are tied together by overlaps that determine a motion.

    That is so if the cross-covariance of shared points has full rank (Theorem 1 of the thesis).
    """
    overlaps, charts = piece.alignment.overlaps, piece.charts
    r = charts.coordinates.shape[1]
    if overlaps is None or (charts.dimensions < r).any():
        return 1
    return overlaps.n_rigid_groups()


def _contraction_flag(points: FloatArray, unfolding: Unfolding) -> Flag:
    share = contraction(points, unfolding)
    return Flag(
        "contraction",
        share,
        LARGEST_CONTRACTION,
        share > LARGEST_CONTRACTION,
        f"{share:.1%} of near pairs on the map are far apart in the data: parts lie on top of each "
        f"other.",
        "The data may be closed or bridged; look at the map, or raise n_components.",
    )


def contraction(points: FloatArray, unfolding: Unfolding) -> float:
    """Return the share of near pairs on the map that are far apart in the data."""
    Y = unfolding.embedding
    n = len(Y)
    k = min(CONTRACTION_NEIGHBORS, n - 1)
    if k < 1:
        return 0.0
    chosen = np.linspace(0, n - 1, min(n, CONTRACTION_SAMPLE)).astype(np.intp)
    found = build_search(Y).query(Y[chosen], k + 1)
    on_map, near = found.distances, found.indices
    places = points.astype(np.float64)
    in_data = ((places[chosen][:, None, :] - places[near]) ** 2).sum(axis=2)[:, 1:]
    on_map = on_map[:, 1:]
    noise = float(np.median(np.concatenate([p.charts.residual for p in unfolding.pieces])))
    limit = STRETCH_2 * on_map**2 + NOISE_2 * noise + SPACING_2 * np.median(on_map) ** 2
    return float((in_data > limit).mean())


def _bending_flag(pieces: list[Piece]) -> Flag:
    beta = np.concatenate([piece.charts.beta for piece in pieces])
    worst = float(np.percentile(beta, 95))
    bent = [np.flatnonzero(piece.charts.beta > LARGEST_BENDING) for piece in pieces]
    return Flag(
        "bending",
        worst,
        LARGEST_BENDING,
        worst > LARGEST_BENDING,
        f"Patches are large beside the curvature of the data (β = {worst:.2g}): too few points for "
        f"its folds.",
        "Take more points.",
        _numbered(pieces, bent),
    )


def _error_flag(unfolding: Unfolding) -> Flag:
    by_noise, by_scale = error_parts(unfolding)
    error = float(np.hypot(by_noise, by_scale))
    # Noise is inevitable; what the choice of scale adds to it is not, and is told earlier.
    limit = NOTABLE_ERROR if by_scale > NOTABLE_RATIO * by_noise else LARGEST_ERROR
    return Flag(
        "error",
        error,
        limit,
        error > limit,
        f"The coordinates are uncertain by {error:.0%} of their extent: {by_noise:.1%} by noise, "
        f"{by_scale:.1%} by what patches of twice the size would change.",
        "Take more points or less noise.",
    )


def _closure_flag(relaxation: Relaxation | None, n_features: int) -> Flag:
    ratio = 1.0 if relaxation is None else relaxation.ratio
    needed = 0 if relaxation is None else relaxation.n_dimensions
    return Flag(
        "closure",
        ratio,
        LARGEST_CLOSURE,
        ratio > LARGEST_CLOSURE,
        f"In {needed} dimensions the patches would fit {ratio:.1f} times better: the data are "
        f"closed (like a circle, a cylinder or a sphere) or curved, and were cut or pressed flat.",
        f"n_components={needed} keeps the lengths."
        if needed <= n_features
        else "Measure along the data instead.",
    )


def _curvature_flag(pieces: list[Piece]) -> Flag:
    loss = max(curvature_loss(piece) for piece in pieces)
    return Flag(
        "curvature",
        loss,
        LARGEST_CURVATURE,
        loss > LARGEST_CURVATURE,
        f"The data are curved in themselves, like a piece of a sphere: no map in this dimension "
        f"can keep all lengths, about {loss:.1%} are lost.",
        "One more component keeps them; else read distances with that error.",
    )


def curvature_loss(piece: Piece) -> float:
    """Return the relative error that the mean intrinsic curvature of a piece costs."""
    curvature = piece.charts.curvature
    weights = piece.cover.sizes / piece.cover.sizes.sum()
    mean = float(weights @ curvature)
    # A point is in about five patches, so that there are fewer independent ones.
    independent = max(1.0, len(weights) * piece.cover.n_points / piece.cover.sizes.sum())
    error = float(np.sqrt(weights @ (curvature - mean) ** 2 / independent))
    # Where patches are too large for their curvature, what they say of it means nothing.
    is_bent = np.percentile(piece.charts.beta, 95) > LARGEST_BENDING
    if abs(mean) <= CERTAINTY * error or piece.cover.n_patches == 1 or is_bent:
        return 0.0
    centered = piece.embedding - piece.embedding.mean(axis=0)
    return CAP_LOSS * abs(mean) * float((centered**2).sum() / len(centered))


def _strays_flag(share: float) -> Flag:
    return Flag(
        "outliers",
        share,
        LARGEST_STRAYS,
        share > LARGEST_STRAYS,
        f"{share:.1%} of the points are off the sheet that the others form; they were placed, not "
        f"fitted.",
        "See outliers_.",
    )


_NONE = np.empty(0, dtype=np.intp)


def _numbered(pieces: list[Piece], chosen: Sequence[IntArray]) -> IntArray:
    """Return patches of pieces by their numbers in the joined cover."""
    begin = np.cumsum([0] + [piece.cover.n_patches for piece in pieces[:-1]])
    return np.concatenate([b + c for b, c in zip(begin, chosen, strict=True)])


def _share_of_points(pieces: list[Piece], chosen: list[bool]) -> float:
    total = sum(len(piece.nodes) for piece in pieces)
    return sum(len(p.nodes) for p, c in zip(pieces, chosen, strict=True) if c) / total
