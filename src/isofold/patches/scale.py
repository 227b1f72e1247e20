"""The scale of patches: graph balls that grow until the tangent stands out from the noise.

A ball is large enough when its smallest tangent variance λ_r is thirty times the noise of one
normal direction, and too large when its curvature shows (β) while the noise is already under
control. Sizes are found at candidate seeds, then handed to all points near them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.neighbors import (
    GraphBalls,
    NeighborGraph,
    balls_around,
    cover_by_balls,
    find_settled,
)
from isofold.patches.atlas import n_coefficients
from isofold.patches.charts import ChartFit, fit_charts
from isofold.patches.cover import PatchCover

__all__ = ["ScaleRules", "charted_balls"]

CORE = 0.25
"""Fraction of a ball that counts as covered: in the plane, the points within half its radius."""

PATCHES_PER_SIZE = 5.5
"""Such a cover has about c = 5.5 n/m patches of m points, and a point is in about five of them."""

PER_POINTS = 20_000
"""Points beyond which the number of patches grows with the points."""

FEWEST, FEWER_ON_CURVES = 6, 8
"""Coefficients that count at least, those of a surface, and how many times fewer patches a curve is
given: it takes few to be followed, and their errors add up along it."""

GROWTH = 1.5
"""Factor by which balls grow."""

N_PROBES = 60
"""Random balls whose median size starts all others."""

ENOUGH_POINTS = 200
"""Points from which the noise and the curvature of a ball are judged while it grows."""

RADIUS_MARGIN = 1.0001
"""Patches are this much wider than their last point, so that it has some weight."""


@dataclass(frozen=True)
class ScaleRules:
    """When a ball is large enough, and when too large.

    Attributes
    ----------
    points_per_coefficient : float
        Least size of a ball, in coefficients of a quadratic function.
    most_patches : int
        Patches aimed at in up to 20,000 points, where nothing asks for larger ones; in more points,
        as many more.
    signal : float
        λ_r over the noise variance of one direction at which a ball is large enough.
    certainty : float
        Points times λ_r over the noise of all directions at which a ball is large enough. In one
        normal direction the rule for `signal` includes it; in many, the tangent is lost first.
    bending : float
        β at which a ball is too large.
    secure_signal, secure_certainty, secure_shrinkage : float
        λ_r over the noise of one direction, points times λ_r over that of all, and γ above which β
        is to be believed.
    """

    points_per_coefficient: float = 4.0
    most_patches: int = 2400
    signal: float = 30.0
    certainty: float = 720.0
    bending: float = 0.15
    secure_signal: float = 4.0
    secure_certainty: float = 96.0
    secure_shrinkage: float = 0.67

    def doubled(self) -> ScaleRules:
        """Return the rules of a cover with patches of twice the size."""
        return replace(
            self,
            points_per_coefficient=2.0 * self.points_per_coefficient,
            most_patches=self.most_patches // 2,
            signal=2.0 * self.signal,
            certainty=2.0 * self.certainty,
            bending=2.0 * self.bending,
        )

    def least_size(self, n_points: int, n_components: int) -> int:
        """Return the size m₀ at which balls start."""
        # Random points on a curve leave gaps of many steps, which patches must bridge.
        by_fit = self.points_per_coefficient * max(n_coefficients(n_components), FEWEST)
        most = self.most_patches if n_components > 1 else self.most_patches / FEWER_ON_CURVES
        return int(max(by_fit, PATCHES_PER_SIZE * min(n_points, PER_POINTS) / most))

    def accept(self, charts: ChartFit) -> BoolArray:
        """Return which patches need not grow."""
        clear = (charts.signal >= self.signal) & (charts.certainty >= self.certainty)
        secure = (
            (charts.signal > self.secure_signal)
            & (charts.certainty > self.secure_certainty)
            & (charts.atlas.shrinkage > self.secure_shrinkage)
        )
        return clear | (secure & (charts.beta > self.bending))


@stage("patches")
def charted_balls(
    points: FloatArray,
    graph: NeighborGraph,
    n_components: int,
    *,
    rules: ScaleRules,
    n_patches: int | None,
    quadratic: bool,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> tuple[PatchCover, ChartFit]:
    """Cover a graph by balls of the right size and fit their charts."""
    n, settled = graph.n_nodes, find_settled(graph)

    def charted(sizes: IntArray) -> tuple[GraphBalls, PatchCover, ChartFit]:
        # A ball that holds everything needs no other beside it.
        core = 1.0 if sizes.min() >= n else CORE
        balls = cover_by_balls(graph, sizes, core=core, centers=settled)
        cover = as_cover(balls, n)
        fit = fit_charts(points, cover, n_components, quadratic=quadratic, n_jobs=n_jobs)
        return balls, cover, fit

    if n_patches is not None:
        size = max(n_components + 2, round(PATCHES_PER_SIZE * n / n_patches))
        return charted(np.full(n, min(n, size)))[1:]

    def grow(seeds: IntArray, first: int, limit: int) -> IntArray:
        growth = _Growth(points, graph, n_components, rules, quadratic, n_jobs)
        return growth.sizes(seeds, first, limit)

    start = min(n, rules.least_size(n, n_components))
    limit = max(n // 6, start)
    probes = np.sort(rng.choice(n, min(n, N_PROBES), replace=False))
    typical = int(np.median(grow(probes, start, limit)))
    first = max(start, typical // 3)
    limit = min(limit, max(4 * typical, first))
    balls, cover, charts = charted(np.full(n, typical))
    if first == typical and rules.accept(charts).all():
        return cover, charts
    sizes = grow(balls.seeds, first, limit)
    if (sizes == typical).all():
        return cover, charts
    return charted(_spread(balls, sizes, n))[1:]


def as_cover(balls: GraphBalls, n_points: int) -> PatchCover:
    """Return balls as a cover."""
    radii = RADIUS_MARGIN * balls.radii
    # The ball of an isolated node has no radius; its only point is at the center.
    radii = np.where(radii > 0.0, radii, 1.0)
    return PatchCover(
        n_points=n_points,
        indptr=balls.indptr,
        members=balls.nodes,
        offsets=balls.distances / np.repeat(radii, balls.sizes),
        seeds=balls.seeds,
        radii=radii,
    )


@dataclass(frozen=True, eq=False)
class _Growth:
    """Balls that grow until they are accepted."""

    points: FloatArray
    graph: NeighborGraph
    n_components: int
    rules: ScaleRules
    quadratic: bool
    n_jobs: int | None

    def sizes(self, seeds: IntArray, first: int, limit: int) -> IntArray:
        """Return the size of the ball of every seed, grown from `first` until accepted."""
        sizes = np.full(len(seeds), first)
        growing, size = np.arange(len(seeds)), first
        while len(growing):
            balls = balls_around(self.graph, seeds[growing], sizes[growing], n_jobs=self.n_jobs)
            is_done = self._accept(balls) | (balls.sizes < size) | (2 * size > limit)
            growing, size = growing[~is_done], int(GROWTH * size)
            sizes[growing] = size
        return sizes

    def _accept(self, balls: GraphBalls) -> BoolArray:
        """Return which balls need not grow, judged by some of their points where they are large."""
        cover = as_cover(balls, self.graph.n_nodes)
        step = max(1, int(balls.sizes.max()) // ENOUGH_POINTS)
        if step > 1:
            cover, _ = cover.thinned(np.full(cover.n_patches, step))
        charts = fit_charts(
            self.points, cover, self.n_components, quadratic=self.quadratic, n_jobs=self.n_jobs
        )
        return self.rules.accept(charts)


def _spread(balls: GraphBalls, sizes: IntArray, n_nodes: int) -> IntArray:
    """Return the size for every node: that of the candidate in whose ball it is most central."""
    counts = balls.sizes
    offsets = balls.distances / np.repeat(np.maximum(balls.radii, 1e-300), counts)
    order = np.lexsort((offsets, balls.nodes))
    owner = np.repeat(np.arange(len(counts)), counts)[order]
    nodes, first = np.unique(balls.nodes[order], return_index=True)
    spread = np.empty(n_nodes, dtype=np.int64)
    spread[nodes] = sizes[owner[first]]
    return spread
