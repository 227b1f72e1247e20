"""The findings about stitched patches: figures, each beside its limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isofold._findings import Finding
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.sdp import SDPSolution, Status
from isofold.stitching.components import StitchedMap
from isofold.stitching.evidence import (
    ErrorEstimate,
    closing_steps,
    contraction,
    curvature_loss,
    find_layered_patches,
    is_weak,
    noise_of,
)
from isofold.stitching.levels import StitchedComponent
from isofold.stitching.relaxation import Relaxation
from isofold.stitching.rules import RULES

__all__ = ["find_doubts", "find_many_outliers"]

LARGEST_GAP = 0.01
"""Relative gap up to which a stitching is as good as the best, beside rounding. A certificate asks
for 1e-6."""

ROUNDING_MISFIT = 1e-4
"""Misfit below which patches agree whatever the bound says, which is then mostly rounding."""

LARGEST_NOISE = 0.25
"""Fraction of points in patches whose tangent is hidden by noise. Below, the others hold the map,
and the estimated error includes the effect of noise."""

LARGEST_CONTRACTION = 0.003
"""Fraction of near pairs on the map that are far apart in the data. Folds have .01 and more;
outliers beside a sheet may cause up to .003."""

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
"""Fraction of points in patches with layers. On single sheets, noisy or not, it is below .05."""

LARGEST_OUTLIERS, OUTLIERS_ERROR = 0.05, 0.02
"""Fraction of the points that are outliers, and the mean error if these are misplaced."""


@stage("diagnosis")
def find_doubts(
    points: FloatArray,
    stitched: StitchedMap,
    *,
    relaxation: Relaxation | None,
    error: ErrorEstimate,
    outlier_fraction: float,
) -> tuple[Finding, ...]:
    """Return all findings about stitched patches, raised or not."""
    components = stitched.components
    return (
        _find_components(stitched),
        _find_projected(components),
        _find_unstitched(components),
        _find_noise(components),
        _find_certificate(components),
        _find_misfit(components),
        _find_hinges(components),
        _find_contraction(points, stitched),
        _find_bending(components),
        _find_layers(points, components),
        _find_error(error),
        _find_closure(relaxation, points, components),
        _find_curvature(components),
        find_many_outliers(outlier_fraction, error.outliers),
    )


def _find_components(stitched: StitchedMap) -> Finding:
    sizes = tuple(len(component.nodes) for component in stitched.components)
    n = len(sizes)
    return Finding.checked("components", n, 1, is_raised=n > 1, sizes=sizes)


def _find_projected(components: Sequence[StitchedComponent]) -> Finding:
    fraction = _fraction_of_points(components, [component.is_projected for component in components])
    return Finding.checked("projected", fraction, 0.0, is_raised=fraction > 0.0)


def _find_unstitched(components: Sequence[StitchedComponent]) -> Finding:
    fraction = _fraction_of_points(components, [component.is_by_paths for component in components])
    return Finding.checked("unstitched", fraction, 0.0, is_raised=fraction > 0.0)


def _find_noise(components: Sequence[StitchedComponent]) -> Finding:
    total = sum(len(component.nodes) for component in components)
    fraction = sum(component.weak * len(component.nodes) for component in components) / total
    weak = [np.flatnonzero(is_weak(component.charts)) for component in components]
    return Finding.checked(
        "noise",
        fraction,
        LARGEST_NOISE,
        is_raised=fraction > LARGEST_NOISE,
        patches=_numbered(components, weak),
    )


def _find_certificate(components: Sequence[StitchedComponent]) -> Finding:
    solutions = [
        each.alignment.solution for each in components if each.alignment.solution is not None
    ]
    missing = [s for s in solutions if s.status is not Status.CERTIFIED and s.gap > _allowed_gap(s)]
    worst = max((s.gap for s in missing), default=max((s.gap for s in solutions), default=0.0))
    is_by_paths = any(component.is_by_paths for component in components)
    if is_by_paths:
        # All that is known about the misfit is that it is positive.
        worst = max(worst, 1.0)
    worst_misfit = max(component.alignment.misfit for component in components)
    return Finding.checked(
        "certificate",
        worst,
        max((_allowed_gap(s) for s in solutions), default=LARGEST_GAP),
        is_raised=(is_by_paths or bool(missing)) and worst_misfit > ROUNDING_MISFIT,
    )


def _allowed_gap(solution: SDPSolution) -> float:
    """Return the relative gap up to which a solution is as good as the best."""
    if solution.certificate is None or solution.primal == 0.0:
        return LARGEST_GAP
    return LARGEST_GAP + solution.certificate.rounding_floor / abs(solution.primal)


def _find_misfit(components: Sequence[StitchedComponent]) -> Finding:
    worst = max(component.alignment.misfit for component in components)
    bad = [
        np.flatnonzero(component.patch_error > RULES.largest_misfit)
        if component.cover.n_patches > 1
        else _NONE
        for component in components
    ]
    return Finding.checked(
        "misfit",
        worst,
        RULES.largest_misfit,
        is_raised=worst > RULES.largest_misfit,
        patches=_numbered(components, bad),
    )


def _find_hinges(components: Sequence[StitchedComponent]) -> Finding:
    groups = [component.rigid_groups for component in components]
    most = 1 + max(int(group.max()) for group in groups)
    # Largest first: the patches of the others can move against it.
    loose = [np.flatnonzero(group != np.bincount(group).argmax()) for group in groups]
    n_motions = sum(
        component.n_free_motions
        for component, group in zip(components, groups, strict=True)
        if group.any()
    )
    return Finding.checked(
        "hinges",
        most,
        1,
        is_raised=most > 1,
        form="flip" if most > 1 and not n_motions else "",
        patches=_numbered(components, loose),
        n_motions=n_motions,
    )


def _find_contraction(points: FloatArray, stitched: StitchedMap) -> Finding:
    fraction = contraction(points, stitched.embedding, noise_of(stitched))
    return Finding.checked(
        "contraction", fraction, LARGEST_CONTRACTION, is_raised=fraction > LARGEST_CONTRACTION
    )


def _find_bending(components: Sequence[StitchedComponent]) -> Finding:
    beta = np.concatenate([component.charts.beta for component in components])
    worst = float(np.percentile(beta, 95))
    misfit = max(component.alignment.misfit for component in components)
    limit = SHARP_BENDING if misfit > SHARP_MISFIT else LARGEST_BENDING
    bent = [np.flatnonzero(component.charts.beta > limit) for component in components]
    return Finding.checked(
        "bending", worst, limit, is_raised=worst > limit, patches=_numbered(components, bent)
    )


def _find_layers(points: FloatArray, components: Sequence[StitchedComponent]) -> Finding:
    fraction, layered = find_layered_patches(points, components)
    return Finding.checked(
        "layers",
        fraction,
        LARGEST_LAYERED,
        is_raised=fraction > LARGEST_LAYERED,
        patches=_numbered(components, layered),
    )


def _find_error(error: ErrorEstimate) -> Finding:
    total = float(np.hypot(error.noise, error.scale))
    # Noise is inevitable; what the choice of scale adds to it is not, and is a doubt earlier.
    limit = NOTABLE_ERROR if error.scale > NOTABLE_RATIO * error.noise else LARGEST_ERROR
    return Finding.checked(
        "error", total, limit, is_raised=total > limit, noise=error.noise, scale=error.scale
    )


def _find_closure(
    relaxation: Relaxation | None, points: FloatArray, components: Sequence[StitchedComponent]
) -> Finding:
    ratio = 1.0 if relaxation is None else relaxation.ratio
    needed = 0 if relaxation is None else relaxation.n_dimensions
    steps = min(closing_steps(points, component) for component in components)
    if ratio <= LARGEST_CLOSURE and steps < LEAST_STEPS:
        return Finding.checked("closure", steps, LEAST_STEPS, is_raised=True, form="curve")
    return Finding.checked(
        "closure",
        ratio,
        LARGEST_CLOSURE,
        is_raised=ratio > LARGEST_CLOSURE,
        form="" if needed <= points.shape[1] else "high",
        needed=needed,
    )


def _find_curvature(components: Sequence[StitchedComponent]) -> Finding:
    loss = max(curvature_loss(component) for component in components)
    return Finding.checked("curvature", loss, LARGEST_CURVATURE, is_raised=loss > LARGEST_CURVATURE)


def find_many_outliers(fraction: float, error: float = 0.0) -> Finding:
    """Return whether outliers are many, or would do harm if they were misplaced."""
    if fraction > LARGEST_OUTLIERS or error <= OUTLIERS_ERROR:
        return Finding.checked(
            "outliers", fraction, LARGEST_OUTLIERS, is_raised=fraction > LARGEST_OUTLIERS
        )
    return Finding.checked(
        "outliers", error, OUTLIERS_ERROR, is_raised=True, form="between", fraction=fraction
    )


_NONE = np.empty(0, dtype=np.intp)


def _numbered(components: Sequence[StitchedComponent], chosen: Sequence[IntArray]) -> IntArray:
    """Return patches of components by their numbers in the joined cover."""
    begin = np.cumsum([0] + [component.cover.n_patches for component in components[:-1]])
    return np.concatenate([b + c for b, c in zip(begin, chosen, strict=True)])


def _fraction_of_points(components: Sequence[StitchedComponent], chosen: list[bool]) -> float:
    total = sum(len(component.nodes) for component in components)
    return sum(len(p.nodes) for p, c in zip(components, chosen, strict=True) if c) / total
