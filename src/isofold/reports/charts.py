"""The charts of a page, each with a sentence on how to read it and one on what it says here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, IntArray
from isofold.assessment.findings import Findings, LengthRatios, ShepardDensity, SpectrumFinding
from isofold.plot.measure_figures import thinned
from isofold.quality import CoRankingCurve
from isofold.reports.patchwork import patch_svg, patch_words
from isofold.reports.svg import Axis, Chart
from isofold.reports.text import markup, significant

__all__ = ["charts"]

SIMILAR = 3.0
"""Ratio of the longest distances before and after up to which both axes have the same unit."""

SHOWN_SHARES = 15
"""Bars of a spectrum."""

DISTORTION_BINS = 40

NAMES_WIDTH, NAMES_HEIGHT = 0.35, 0.2
"""Part of a chart that the names of its curves take."""

WORST_SHARE = 0.99
"""The histogram of distortion ends at this quantile; its last bar holds what lies beyond."""


@dataclass(frozen=True)
class Told:
    """A chart and its words."""

    title: str
    svg: str
    reading: str
    says: str

    def html(self) -> str:
        """Return the figure."""
        return (
            f'<figure class="chart"><h3>{markup(self.title)}</h3>{self.svg}<figcaption>'
            f'<p class="says">{markup(self.says, 1000)}</p>'
            f"<p>{markup(self.reading, 1000)}</p></figcaption></figure>"
        )


def charts(findings: Findings) -> str:
    """Return all charts of a map as HTML."""
    return "".join(told.html() for told in _all(findings))


def _all(findings: Findings) -> Iterator[Told]:
    if findings.ratios.counts.sum() > 0:
        yield _ratios(findings.ratios)
    if findings.distortion.size:
        yield _distortion(findings.distortion)
    if len(findings.curve.sizes):
        yield _curve(findings.curve, findings.card.n_neighbors)
    if findings.shepard.counts.sum() > 0:
        yield _shepard(findings.shepard)
    if len(findings.spectrum.shares):
        yield _spectrum(findings.spectrum)
    if findings.patches is not None and len(findings.patches.centers):
        title = "Patches and how well they fit"
        says, reading = patch_words(findings.patches)
        yield Told(title, patch_svg(findings.patches, title, says), reading, says)


def _ratios(ratios: LengthRatios) -> Told:
    title = "Lengths between neighbors"
    says = (
        f"{percent(ratios.within_tenth)} of the distances between neighbors are true to 10%; the "
        f"median ratio is {significant(ratios.median)}."
    )
    reading = (
        "Distance on the map over distance in the data, for every pair of neighbors. 1 is true, "
        "below are pairs squeezed together, above pairs pulled apart. Bars at the ends hold all "
        "that lies beyond."
    )
    edges, shares = ratios.edges, ratios.counts / max(1, ratios.counts.sum())
    x = Axis(float(edges[0]), float(edges[-1]), "length on the map / in the data")
    y = Axis(0.0, float(shares.max()) * 1.05, "share of pairs", is_percent=True)
    chart = Chart("ratios", title, says, x, y)
    last = len(shares) - 1
    for i, share in enumerate(shares):
        kind = "bar out" if i in (0, last) else "bar"
        chart.rectangle((edges[i], edges[i + 1]), (0.0, share), kind)
    if edges[0] <= 1.0 <= edges[-1]:
        chart.line(np.array([1.0, 1.0]), np.array([y.low, y.high]), "mark")
    height = float(chart.down(y.high)) + 12
    if shares[0] > 0:
        beyond = f"≤ {significant(edges[1])}: {percent(shares[0])}"
        chart.text(float(chart.across(x.low)) + 6, height, beyond)
    if shares[-1] > 0:
        beyond = f"≥ {significant(edges[-2])}: {percent(shares[-1])}"
        chart.text(float(chart.across(x.high)) - 4, height, beyond, anchor="end")
    return Told(title, chart.svg(), reading, says)


def _distortion(distortion: FloatArray) -> Told:
    title = "Distortion of the points"
    values = distortion[np.isfinite(distortion)]
    median = float(np.median(values)) if len(values) else 0.0
    worst = float(np.quantile(values, 0.95)) if len(values) else 0.0
    says = (
        f"Half of the points have a distortion below {significant(median)}, 95% of them below "
        f"{significant(worst)}."
    )
    reading = (
        "Mean relative error of the distances of a point to its neighbors: 0 is perfect, 0.05 is "
        "wrong by 5% on average. Color the map by distortion to see where."
    )
    top = float(np.quantile(values, WORST_SHARE)) if len(values) else 0.0
    top = top or float(values.max(initial=0.0)) or 1.0
    counts, edges = np.histogram(np.minimum(values, top), bins=DISTORTION_BINS, range=(0.0, top))
    shares = counts / max(1, counts.sum())
    y = Axis(0.0, (float(shares.max()) or 1.0) * 1.05, "share of points", is_percent=True)
    chart = Chart("distortion", title, says, Axis(0.0, top, "distortion"), y)
    n_beyond = int(np.count_nonzero(values > top))
    for i, share in enumerate(shares):
        kind = "bar out" if n_beyond and i == len(shares) - 1 else "bar"
        chart.rectangle((edges[i], edges[i + 1]), (0.0, share), kind)
    if n_beyond:
        words = f"last bar: up to {significant(float(values.max()))}"
        chart.text(
            float(chart.across(top)) - 4, float(chart.down(y.high)) + 12, words, anchor="end"
        )
    return Told(title, chart.svg(), reading, says)


def _curve(curve: CoRankingCurve, n_neighbors: int) -> Told:
    title = "Neighbors kept, by scale"
    nearest = min(n_neighbors, len(curve.sizes)) - 1
    says = (
        f"{percent(float(curve.kept[nearest]))} of the {nearest + 1} nearest neighbors are kept; "
        f"over all scales {significant(float(curve.area))} of what is possible above chance."
    )
    reading = (
        "For every size of neighborhood: which share of the neighbors in the data are neighbors on "
        "the map, and how much of that is more than chance. 100% is perfect; left is near, right "
        "is far."
    )
    at = thinned(len(curve.sizes))
    sizes = curve.sizes[at].astype(np.float64)
    kept, above = curve.kept[at], curve.above_chance[at]
    low = min(0.0, float(above.min()))
    x = Axis(1.0, float(max(2, curve.sizes[-1])), "neighbors", is_log=True)
    chart = Chart("curve", title, says, x, Axis(low, 1.02, "kept", is_percent=True))
    chart.line(sizes, kept)
    chart.line(sizes, above, "curve second")
    # Names stand below the left part of the curves, or above it where they are low there.
    left = chart.x.share(sizes) < NAMES_WIDTH
    is_free = min(float(kept[left].min()), float(above[left].min())) > NAMES_HEIGHT
    top = float(chart.down(low)) - 26 if is_free else float(chart.down(1.0)) + 14
    chart.text(chart.left + 8, top, "kept", kind="curve-name")
    chart.text(chart.left + 8, top + 16, "above chance", kind="curve-name second")
    return Told(title, chart.svg(), reading, says)


def _shepard(density: ShepardDensity) -> Told:
    title = "All distances, before and after"
    middle_before = (density.before_edges[:-1] + density.before_edges[1:]) / 2
    middle_after = (density.after_edges[:-1] + density.after_edges[1:]) / 2
    longer = float(density.counts[middle_before[:, None] < middle_after[None, :]].sum())
    share = longer / max(1, int(density.counts.sum()))
    some = "a random sample of " if density.is_sample else ""
    says = (
        f"{percent(share)} of the pairs are longer on the map than straight through the data, the "
        f"others shorter."
    )
    reading = (
        f"How many pairs of points have which distance in the data and on the map: stronger color "
        f"is more, on a logarithmic scale ({some}{density.n_pairs:,} pairs). On the "
        f"dashed diagonal they are true. Unfolding moves pairs above it on purpose; below it, "
        f"points that are apart in the data are shown near each other."
    )
    far_before, far_after = float(density.before_edges[-1]), float(density.after_edges[-1])
    is_same = far_before > 0 and far_after > 0 and 1 / SIMILAR < far_before / far_after < SIMILAR
    end = max(far_before, far_after)
    x = Axis(0.0, end if is_same else far_before or 1.0, "distance in the data")
    y = Axis(0.0, end if is_same else far_after or 1.0, "distance on the map")
    chart = Chart("shepard", title, says, x, y, is_square=is_same)
    _cells(chart, density.before_edges, density.after_edges, density.counts)
    both = min(x.high, y.high)
    chart.line(np.array([0.0, both]), np.array([0.0, both]), "mark")
    return Told(title, chart.svg(), reading, says)


def _cells(chart: Chart, x_edges: FloatArray, y_edges: FloatArray, counts: IntArray) -> None:
    """Draw filled cells; equal ones above each other become one, which keeps the page small."""
    levels = np.zeros(counts.shape, dtype=int)
    filled = counts > 0
    most = np.log1p(float(counts.max()))
    levels[filled] = np.ceil(9.0 * np.log1p(counts[filled]) / most).astype(int)
    for i, column in enumerate(levels):
        borders = np.flatnonzero(np.diff(column)) + 1
        for start, stop in zip([0, *borders], [*borders, len(column)], strict=True):
            if column[start]:
                chart.rectangle(
                    (x_edges[i], x_edges[i + 1]),
                    (y_edges[start], y_edges[stop]),
                    "heat",
                    0.1 + 0.1 * float(column[start]),
                )


def _spectrum(spectrum: SpectrumFinding) -> Told:
    title = "Spectrum"
    shares = np.asarray(spectrum.shares[:SHOWN_SHARES], dtype=np.float64)
    n_shown = spectrum.n_components
    kept = float(np.sum(spectrum.shares[:n_shown]))
    says = (
        f"The first {n_shown} axes have {percent(kept)} of the variance."
        if n_shown > 1
        else f"The first axis has {percent(kept)} of the variance."
    )
    reading = (
        f"Shares of the variance along {spectrum.source}, the largest first; axes that the map "
        f"shows are filled. A clear step after them says that the map has enough dimensions."
    )
    x = Axis(0.5, max(2, len(shares)) + 0.5, "axis", is_whole=True)
    y = Axis(0.0, (float(shares.max()) or 1.0) * 1.05, "share of the variance", is_percent=True)
    chart = Chart("spectrum", title, says, x, y)
    for number, share in enumerate(shares, start=1):
        kind = "bar" if number <= n_shown else "bar rest"
        chart.rectangle((number - 0.36, number + 0.36), (0.0, float(share)), kind)
    return Told(title, chart.svg(), reading, says)
