"""The doubts about an unfolding: its figures, each beside its limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isofold._findings import Diagnosis, Flag
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.sdp import SDPSolution, Status
from isofold.stitching.components import Unfolding
from isofold.stitching.evidence import LARGEST_MISFIT, is_weak
from isofold.stitching.figures import (
    ErrorParts,
    closing_steps,
    contraction,
    curvature_loss,
    find_layered_patches,
    noise_of,
)
from isofold.stitching.levels import Piece
from isofold.stitching.relaxation import Relaxation

__all__ = ["diagnose"]

LARGEST_GAP = 0.01
"""Relative gap up to which a stitching is as good as the best, beside rounding. A certificate asks
for 1e-6."""

ROUNDING_MISFIT = 1e-4
"""Misfit below which patches agree whatever the bound says, which is then mostly rounding."""

LARGEST_NOISE = 0.25
"""Share of points in patches whose tangent is hidden by noise. Below, the others hold the map, and
the estimated error tells what noise does to it."""

LARGEST_CONTRACTION = 0.003
"""Share of near pairs on the map that are far apart in the data. Folds have .01 and more; outliers
beside a sheet may cause up to .003."""

LARGEST_BENDING, SHARP_BENDING, SHARP_MISFIT = 1.0, 0.4, 0.06
"""β at the 95th percentile: beyond, patches are too large for their curvature. The second limit is
that where patches misfit by more than the third, as they do at corners."""

LARGEST_ERROR = 0.1
"""Estimated error of the coordinates relative to their extent."""

NOTABLE_ERROR, NOTABLE_RATIO = 0.04, 2.0
"""The same limit where the choice of scale makes that many times the error that noise does."""

LARGEST_CURVATURE = 0.005
"""Relative length error that intrinsic curvature makes inevitable."""

LARGEST_CLOSURE = 1.5
"""Misfit in r dimensions over that in as many as needed: cylinders and tori have 1.7 to 2.5, half
globes 3, data that are just noisy up to 1.4."""

LEAST_STEPS = 2.0
"""Distance between the ends of a curve, in longest steps along it, below which it may be closed."""

LARGEST_LAYERED = 0.1
"""Share of points in patches with layers. On single sheets, noisy or not, it is below .05."""

LARGEST_OUTLIERS, OUTLIERS_ERROR = 0.05, 0.02
"""Share of the points that are off the data, and the mean error if they are in the wrong place."""


@stage("diagnosis")
def diagnose(
    points: FloatArray,
    unfolding: Unfolding,
    *,
    relaxation: Relaxation | None,
    error: ErrorParts,
    outlier_share: float,
) -> Diagnosis:
    """Collect all doubts about an unfolding."""
    pieces = unfolding.pieces
    flags = (
        _pieces_flag(unfolding),
        _projected_flag(pieces),
        _rough_flag(pieces),
        _weak_flag(pieces),
        _certificate_flag(pieces),
        _misfit_flag(pieces),
        _hinge_flag(pieces),
        _contraction_flag(points, unfolding),
        _bending_flag(pieces),
        _layers_flag(points, pieces),
        _error_flag(error),
        _closure_flag(relaxation, points, pieces),
        _curvature_flag(pieces),
        _outliers_flag(outlier_share, error.outliers),
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
        LARGEST_NOISE,
        share > LARGEST_NOISE,
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
    worst_misfit = max(piece.alignment.misfit for piece in pieces)
    return Flag(
        "certificate",
        worst,
        max((_allowed_gap(s) for s in solutions), default=LARGEST_GAP),
        (is_rough or bool(missing)) and worst_misfit > ROUNDING_MISFIT,
        f"The stitching is not certified as the best (relative gap {worst:.2g}): patches do not "
        f"fit well, or the map may have a fold.",
        "Look at the map; n_components may be too small.",
    )


def _allowed_gap(solution: SDPSolution) -> float:
    """Return the relative gap up to which a solution is as good as the best."""
    if solution.certificate is None or solution.primal == 0.0:
        return LARGEST_GAP
    return LARGEST_GAP + solution.certificate.rounding_floor / abs(solution.primal)


def _misfit_flag(pieces: list[Piece]) -> Flag:
    worst = max(piece.alignment.misfit for piece in pieces)
    bad = [
        np.flatnonzero(piece.patch_error > LARGEST_MISFIT) if piece.cover.n_patches > 1 else _NONE
        for piece in pieces
    ]
    return Flag(
        "misfit",
        worst,
        LARGEST_MISFIT,
        worst > LARGEST_MISFIT,
        f"Where patches overlap they disagree by {worst:.0%} of their extent: "
        f"the data are not a sheet of this dimension, or not flat.",
        "Compare the intrinsic dimension with n_components.",
        _numbered(pieces, bad),
    )


def _hinge_flag(pieces: list[Piece]) -> Flag:
    groups = max(piece.alignment.n_rigid_groups(piece.charts.dimensions) for piece in pieces)
    return Flag(
        "hinges",
        groups,
        1,
        groups > 1,
        f"Patches fall into {groups} groups that share too few points, or points in a row, with "
        f"each other: the groups can turn about them, or flip.",
        "Use larger or more patches, or fix distances by `terms`.",
    )


def _contraction_flag(points: FloatArray, unfolding: Unfolding) -> Flag:
    share = contraction(points, unfolding.embedding, noise_of(unfolding))
    return Flag(
        "contraction",
        share,
        LARGEST_CONTRACTION,
        share > LARGEST_CONTRACTION,
        f"{share:.1%} of near pairs on the map are far apart in the data: parts lie on top of each "
        f"other.",
        "The data may be closed or bridged; look at the map, or raise n_components.",
    )


def _bending_flag(pieces: list[Piece]) -> Flag:
    beta = np.concatenate([piece.charts.beta for piece in pieces])
    worst = float(np.percentile(beta, 95))
    misfit = max(piece.alignment.misfit for piece in pieces)
    limit = SHARP_BENDING if misfit > SHARP_MISFIT else LARGEST_BENDING
    bent = [np.flatnonzero(piece.charts.beta > limit) for piece in pieces]
    return Flag(
        "bending",
        worst,
        limit,
        worst > limit,
        f"Patches are large beside the curvature of the data (β = {worst:.2g}): too few points for "
        f"its folds.",
        "Take more points.",
        _numbered(pieces, bent),
    )


def _layers_flag(points: FloatArray, pieces: list[Piece]) -> Flag:
    share, layered = find_layered_patches(points, pieces)
    return Flag(
        "layers",
        share,
        LARGEST_LAYERED,
        share > LARGEST_LAYERED,
        f"{share:.0%} of the points are in patches whose distances from the sheet take two or "
        f"three values, while noise would spread them: layers of the data lie closer to each other "
        f"than their points do, and were taken for one sheet.",
        "Take more points, or leave out the feature in which the layers differ.",
        _numbered(pieces, layered),
    )


def _error_flag(error: ErrorParts) -> Flag:
    total = float(np.hypot(error.noise, error.scale))
    # Noise is inevitable; what the choice of scale adds to it is not, and is told earlier.
    limit = NOTABLE_ERROR if error.scale > NOTABLE_RATIO * error.noise else LARGEST_ERROR
    return Flag(
        "error",
        total,
        limit,
        total > limit,
        f"The coordinates are uncertain by {total:.0%} of their extent: {error.noise:.1%} by "
        f"noise, {error.scale:.1%} by what patches of twice the size would change.",
        "Take more points or less noise.",
    )


def _closure_flag(relaxation: Relaxation | None, points: FloatArray, pieces: list[Piece]) -> Flag:
    ratio = 1.0 if relaxation is None else relaxation.ratio
    needed = 0 if relaxation is None else relaxation.n_dimensions
    steps = min(closing_steps(points, piece) for piece in pieces)
    if ratio <= LARGEST_CLOSURE and steps < LEAST_STEPS:
        return Flag(
            "closure",
            steps,
            LEAST_STEPS,
            steps < LEAST_STEPS,
            f"The ends of the curve are only {steps:.1f} times as far apart as its longest step is "
            f"long: the data may be a closed curve, which was cut there.",
            "n_components=2 keeps the lengths of a closed curve.",
        )
    return Flag(
        "closure",
        ratio,
        LARGEST_CLOSURE,
        ratio > LARGEST_CLOSURE,
        f"In {needed} dimensions the patches would fit {ratio:.1f} times better: the data are "
        f"closed (like a circle, a cylinder or a sphere) or curved, and were cut or pressed flat.",
        f"n_components={needed} keeps the lengths."
        if needed <= points.shape[1]
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


def _outliers_flag(share: float, error: float) -> Flag:
    told = Flag(
        "outliers",
        share,
        LARGEST_OUTLIERS,
        share > LARGEST_OUTLIERS,
        f"{share:.1%} of the points are off the sheet that the others form; they were placed, not "
        f"fitted.",
        "See outliers_.",
    )
    if told.is_raised or error <= OUTLIERS_ERROR:
        return told
    return Flag(
        "outliers",
        error,
        OUTLIERS_ERROR,
        error > OUTLIERS_ERROR,
        f"Outliers ({share:.1%} of the points) lie between parts of the data that are far apart on "
        f"the map. If they are in the wrong place, the mean error is {error:.0%} of the extent.",
        "See outliers_, and leave these samples out where it matters.",
    )


_NONE = np.empty(0, dtype=np.intp)


def _numbered(pieces: list[Piece], chosen: Sequence[IntArray]) -> IntArray:
    """Return patches of pieces by their numbers in the joined cover."""
    begin = np.cumsum([0] + [piece.cover.n_patches for piece in pieces[:-1]])
    return np.concatenate([b + c for b, c in zip(begin, chosen, strict=True)])


def _share_of_points(pieces: list[Piece], chosen: list[bool]) -> float:
    total = sum(len(piece.nodes) for piece in pieces)
    return sum(len(p.nodes) for p, c in zip(pieces, chosen, strict=True) if c) / total
