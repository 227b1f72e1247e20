"""The charts of a map: numbers, axes and captions, computed once and drawn by two painters.

`isofold.plot` draws them with matplotlib, the report page as SVG.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from isofold._format import count, percent, significant
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.assessment.assessment import (
    Assessment,
    LengthRatios,
    PatchGraph,
    ShepardDensity,
    VarianceSpectrum,
)
from isofold.assessment.axis import Axis
from isofold.quality import CoRankingCurve

__all__ = [
    "Bars",
    "Cells",
    "Chart",
    "Line",
    "PatchChart",
    "chart_curve",
    "chart_distortion",
    "chart_patches",
    "chart_ratios",
    "chart_shepard",
    "chart_spectrum",
    "charts_of",
    "thinned",
]

SIMILAR = 3.0
"""Ratio of the longest distances before and after up to which both axes have the same unit."""

MOST_BARS = 20
"""Bars of a spectrum."""

DISTORTION_BINS = 40

WORST_QUANTILE = 0.99
"""The histogram of distortion ends at this quantile; its last bar holds what lies beyond."""

CURVE_POINTS = 400
"""Neighborhood sizes at which a curve is drawn; it may have a million."""

FAIR, POOR = 0.02, 0.1
"""Errors of patches and their joints from which they are marked."""


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars of a chart, some of them marked.

    `mark` is "out" for bars that hold all that lies beyond, and "rest" for axes that the map does
    not show.
    """

    left: FloatArray
    right: FloatArray
    heights: FloatArray
    is_marked: BoolArray
    mark: Literal["out", "rest"]


@dataclass(frozen=True, eq=False)
class Line:
    """A curve of a chart."""

    x: FloatArray
    y: FloatArray
    name: str = ""


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of pairs in the cells of a chart."""

    x_edges: FloatArray
    y_edges: FloatArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart: its numbers, axes and texts.

    Attributes
    ----------
    key : str
        Its name.
    title : str
        What it shows.
    says : str
        What it says about this map.
    reading : str
        How to read it.
    x, y : Axis
        The axes; y grows upward.
    bars, cells, lines : Bars or None, Cells or None, tuple of Line
        What is drawn.
    truth : Line or None
        Where distances are true.
    focus : float or None
        The value of x that `says` is about.
    beyond : tuple of two str
        Remarks at the left and the right end about what lies beyond it; may be empty.
    is_square : bool
        Whether both axes have the same unit and length.
    """

    key: str
    title: str
    says: str
    reading: str
    x: Axis
    y: Axis
    bars: Bars | None = None
    cells: Cells | None = None
    lines: tuple[Line, ...] = ()
    truth: Line | None = None
    focus: float | None = None
    beyond: tuple[str, str] = ("", "")
    is_square: bool = False


@dataclass(frozen=True, eq=False)
class PatchChart:
    """The patches on the map, as points of the plane, and the texts about them."""

    title: str
    says: str
    reading: str
    centers: FloatArray
    graph: PatchGraph


def charts_of(assessment: Assessment) -> Iterator[Chart | PatchChart]:
    """Yield the charts of a map for which there are numbers."""
    if assessment.ratios.counts.sum() > 0:
        yield chart_ratios(assessment.ratios)
    if assessment.distortion.size:
        yield chart_distortion(assessment.distortion)
    if len(assessment.curve.sizes):
        yield chart_curve(assessment.curve, assessment.card.n_neighbors)
    if assessment.shepard.counts.sum() > 0:
        yield chart_shepard(assessment.shepard)
    if len(assessment.spectrum.fractions):
        yield chart_spectrum(assessment.spectrum)
    if assessment.patches is not None and len(assessment.patches.centers):
        yield chart_patches(assessment.patches)


def chart_ratios(ratios: LengthRatios) -> Chart:
    """Return how much longer or shorter distances between neighbors are on the map."""
    edges, fractions = ratios.edges, ratios.counts / max(1, ratios.counts.sum())
    is_end = np.zeros(len(fractions), dtype=bool)
    is_end[[0, -1]] = True
    below = f"≤ {significant(edges[1])}: {percent(fractions[0])}" if fractions[0] > 0 else ""
    above = f"≥ {significant(edges[-2])}: {percent(fractions[-1])}" if fractions[-1] > 0 else ""
    high = _top(fractions, has_remark=bool(below or above))
    is_seen = edges[0] <= 1.0 <= edges[-1]
    return Chart(
        key="ratios",
        title="Lengths between neighbors",
        says=f"{percent(ratios.within_tenth)} of the distances between neighbors are true to 10%; "
        f"the median ratio is {significant(ratios.median)}.",
        reading="Distance on the map over distance in the data, for every pair of neighbors. At 1 "
        "it is true; pairs below are squeezed together, pairs above are pulled apart. Bars at the "
        "ends hold all that lies beyond.",
        x=Axis(float(edges[0]), float(edges[-1]), "length on the map / length in the data"),
        y=Axis(0.0, high, "fraction of neighbor pairs", is_percent=True),
        bars=Bars(edges[:-1], edges[1:], fractions, is_end, "out"),
        truth=Line(np.array([1.0, 1.0]), np.array([0.0, high])) if is_seen else None,
        beyond=(below, above),
    )


def chart_distortion(distortion: FloatArray) -> Chart:
    """Return how many points have which distortion."""
    values = distortion[np.isfinite(distortion)]
    median, worst, top = (
        np.quantile(values, (0.5, 0.95, WORST_QUANTILE)) if len(values) else [0] * 3
    )
    top = float(top) or float(values.max(initial=0.0)) or 1.0
    counts, edges = np.histogram(np.minimum(values, top), bins=DISTORTION_BINS, range=(0.0, top))
    fractions = counts / max(1, counts.sum())
    is_last = np.arange(DISTORTION_BINS) == DISTORTION_BINS - 1
    has_beyond = bool((values > top).any())
    return Chart(
        key="distortion",
        title="Distortion of the points",
        says=f"Half of the points have a distortion below {significant(float(median))}, 95% of "
        f"them below {significant(float(worst))}.",
        reading="Mean relative error of the distances from a point to its neighbors: 0 is perfect, "
        "0.05 is wrong by 5% on average. Color the map by distortion to see where.",
        x=Axis(0.0, top, "distortion"),
        y=Axis(0.0, _top(fractions, has_remark=has_beyond), "fraction of points", is_percent=True),
        bars=Bars(edges[:-1], edges[1:], fractions, is_last & has_beyond, "out"),
        beyond=("", f"last bar: up to {significant(float(values.max()))}" if has_beyond else ""),
    )


def chart_curve(curve: CoRankingCurve, n_neighbors: int) -> Chart:
    """Return which fraction of neighbors is kept for neighborhoods of all sizes."""
    nearest = min(n_neighbors, len(curve.sizes)) - 1
    several = f"{nearest + 1} " if nearest else ""
    at = thinned(len(curve.sizes))
    sizes = curve.sizes[at].astype(np.float64)
    above = curve.above_chance[at]
    return Chart(
        key="curve",
        title="Neighbors kept, by scale",
        says=f"{percent(float(curve.kept[nearest]))} of the {several}nearest neighbors are kept; "
        f"over all scales {float(curve.area):.3f} of what is possible above chance.",
        reading="For every size of neighborhood: the fraction of neighbors in the data that are "
        "neighbors on the map, and how much of it is more than chance. 100% is perfect; near "
        "neighbors are on the left, far ones on the right.",
        x=Axis(1.0, float(max(2, curve.sizes[-1])), "size of the neighborhood", is_log=True),
        y=Axis(min(0.0, float(above.min())), 1.02, "neighbors kept", is_percent=True),
        lines=(Line(sizes, curve.kept[at], "kept"), Line(sizes, above, "above chance")),
        focus=float(nearest + 1),
    )


def chart_shepard(density: ShepardDensity) -> Chart:
    """Return how many pairs of points have which distance in the data and on the map."""
    middle_before = (density.before_edges[:-1] + density.before_edges[1:]) / 2
    middle_after = (density.after_edges[:-1] + density.after_edges[1:]) / 2
    longer = float(density.counts[middle_before[:, None] < middle_after[None, :]].sum())
    some = "a random sample of " if density.is_sample else ""
    far_before, far_after = float(density.before_edges[-1]), float(density.after_edges[-1])
    is_same = far_before > 0 and far_after > 0 and 1 / SIMILAR < far_before / far_after < SIMILAR
    end = max(far_before, far_after)
    x = Axis(0.0, end if is_same else far_before or 1.0, "distance in the data")
    y = Axis(0.0, end if is_same else far_after or 1.0, "distance on the map")
    both = np.array([0.0, min(x.high, y.high)])
    return Chart(
        key="shepard",
        title="All distances, before and after",
        says=f"{percent(longer / max(1, int(density.counts.sum())))} of the pairs are farther "
        f"apart on the map than straight through the data, the others nearer.",
        reading=f"How many pairs of points have which distance in the data and on the map: "
        f"stronger color is more, on a logarithmic scale ({some}{density.n_pairs:,} pairs). On the "
        f"diagonal they are true. Unfolding moves pairs above it on purpose; below it, points that "
        f"are apart in the data are shown near each other.",
        x=x,
        y=y,
        cells=Cells(density.before_edges, density.after_edges, density.counts),
        truth=Line(both, both),
        is_square=is_same,
    )


def chart_spectrum(spectrum: VarianceSpectrum) -> Chart:
    """Return the fractions of the variance along axes, those of the map in color."""
    fractions = np.asarray(spectrum.fractions[:MOST_BARS], dtype=np.float64)
    n_shown = spectrum.n_components
    kept = percent(min(1.0, float(np.sum(spectrum.fractions[:n_shown]))))
    axes = "first axis has" if n_shown == 1 else f"first {n_shown} axes have"
    numbers = np.arange(1.0, len(fractions) + 1.0)
    return Chart(
        key="spectrum",
        title="Spectrum",
        says=f"The {axes} {kept} of the variance.",
        reading=f"Fractions of the variance along {spectrum.source}, the largest first; axes that "
        f"the map shows are filled. A clear step after them means that the map has enough "
        f"dimensions.",
        x=Axis(0.5, max(5, len(fractions)) + 0.5, "axis", is_whole=True),
        y=Axis(0.0, _top(fractions), "fraction of the variance", is_percent=True),
        bars=Bars(numbers - 0.4, numbers + 0.4, fractions, numbers > n_shown, "rest"),
    )


_JOINT_ERRORS = "Lengths across the joints are wrong by {median} (median), at worst by {worst}."

# What nodes and links are called, what the errors of links are, and what the colors mean.
_PATCHES = {
    "patch": (
        ("patch", "patches", "overlap"),
        "In the median overlap patches differ by {median} of its extent, in the worst by {worst}.",
        (
            "Lines join patches that share points; their color shows how far apart two patches put "
            "these points. Poor links show where the data are curved, noisy or torn."
        ),
    ),
    "cell": (
        ("cell", "cells", "joint"),
        _JOINT_ERRORS,
        (
            "Lines join cells whose planes were merged; their color shows the error of the length "
            "across the joint, that of a disc how far its points lie off their plane."
        ),
    ),
    "tessera": (
        ("tessera", "tesserae", "joint"),
        _JOINT_ERRORS,
        (
            "Lines join tesserae that are linked; their color shows the error of the lengths "
            "across the joint, that of a disc how much the map bends or squashes its tessera."
        ),
    ),
}


def chart_patches(graph: PatchGraph) -> PatchChart:
    """Return where patches lie on the map, and how well they fit there."""
    (one, many, joint), errors_text, meaning = _PATCHES[graph.kind]
    n_links = max(graph.n_links, len(graph.links))
    says = f"{count(len(graph.centers), one, many)} with {count(n_links, joint)}."
    errors = graph.link_error[np.isfinite(graph.link_error)]
    if len(errors) == n_links > 0:
        median, worst = percent(float(np.median(errors))), percent(float(errors.max()))
        says += " " + errors_text.format(median=median, worst=worst)
    reading = f"Discs are {many}, the larger the more points they have. {meaning}"
    if graph.centers.shape[1] > 2:
        reading += " The first two axes of the map are shown."
    if n_links > len(graph.links):
        reading += f" The worst {len(graph.links):,} links are drawn."
    centers = np.zeros((len(graph.centers), 2))
    width = min(2, graph.centers.shape[1])
    centers[:, :width] = graph.centers[:, :width]
    title = f"{many.capitalize()} and how well they fit"
    return PatchChart(title, says, reading, centers, graph)


def _top(heights: FloatArray, *, has_remark: bool = False) -> float:
    """Return where an axis ends above bars, with room for a remark if there is one."""
    return (float(heights.max()) or 1.0) * (1.15 if has_remark else 1.05)


def thinned(n_points: int) -> IntArray:
    """Return numbers from 0 to n - 1, all or some hundred of them at even ratios."""
    if n_points <= CURVE_POINTS:
        return np.arange(n_points)
    return np.unique(np.round(np.geomspace(1, n_points, CURVE_POINTS)).astype(np.intp)) - 1
