"""From the words of a user to a recipe: which cover, which charts, which solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._findings import parameter, setting
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count
from isofold.clustering import connected_clusters
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.patches import ChartFit, PatchCover, ScaleRules, charted_balls, fit_charts
from isofold.patches.coarse import rough_balls
from isofold.patches.embedder_charts import fit_embedders
from isofold.patches.from_clusters import cover_from_labels, cover_from_memberships
from isofold.patches.from_memberships import read_memberships
from isofold.patches.labels import labels_of
from isofold.patches.scale import PATCHES_PER_SIZE
from isofold.sdp import LowRankSDP
from isofold.stitching.levels import Recipe
from isofold.stitching.terms import NodeTerms

__all__ = ["make_recipe", "read_cover"]

CHARTS = ("quadratic", "pca")
COVERS = ("balls", "kmeans", "ldlc")


def make_recipe(
    *,
    cover: Any,
    n_patches: Any,
    chart: Any,
    n_components: int,
    terms: Callable[[IntArray], NodeTerms] | None,
    solver: LowRankSDP,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> Recipe:
    """Return the recipe that the parameters of an estimator mean."""
    if isinstance(n_patches, str):
        if n_patches != "auto":
            msg = f"{setting('n_patches', n_patches)} must be a whole number or 'auto'."
            raise InvalidInputError(msg)
        n_patches = None
    else:
        n_patches = check_count(n_patches, name="n_patches")
    if isinstance(chart, str):
        if chart not in CHARTS:
            msg = (
                f"{setting('chart', chart)} is unknown. Choose one of {', '.join(CHARTS)}, or "
                f"pass an embedder with fit_transform."
            )
            raise InvalidInputError(msg)
    elif isinstance(chart, type) or not all(
        hasattr(chart, name) for name in ("fit_transform", "transform")
    ):
        msg = (
            f"chart={chart!r} cannot embed a patch and map points into it. Pass an instance of an "
            f"embedder with fit_transform and transform, 'quadratic' or 'pca'."
        )
        raise InvalidInputError(msg)
    maker = _Maker(cover, n_patches, chart, n_components, rng, n_jobs)
    is_free = isinstance(cover, str) and cover == "balls" and n_patches is None
    return Recipe(
        maker.charted,
        maker.chart_of,
        solver,
        terms,
        rough=maker.rough if is_free else None,
        is_chosen=not is_free,
        n_jobs=n_jobs,
    )


@dataclass(frozen=True, eq=False)
class _Maker:
    """Covers and charts as the parameters say."""

    cover: Any
    n_patches: int | None
    chart: Any
    n_components: int
    rng: np.random.RandomState
    n_jobs: int | None
    memory: dict[str, Any] = field(default_factory=dict)

    def chart_of(self, points: FloatArray, cover: PatchCover) -> ChartFit:
        """Return the charts of a cover."""
        if not isinstance(self.chart, str):
            return fit_embedders(points, cover, self.n_components, self.chart, self.rng)
        return fit_charts(
            points,
            cover,
            self.n_components,
            quadratic=self.chart == "quadratic",
            n_jobs=self.n_jobs,
        )

    def charted(
        self, points: FloatArray, graph: NeighborGraph, nodes: IntArray, level: int
    ) -> tuple[PatchCover, ChartFit] | None:
        """Return cover and charts of a piece at a level, if there are any."""
        if isinstance(self.cover, str) and self.cover == "balls":
            return self._balls(points, graph, level)
        if level:
            return None
        cover = self._clusters(points, graph, nodes)
        return cover, self.chart_of(points, cover)

    def rough(self, points: FloatArray, graph: NeighborGraph) -> tuple[PatchCover, ChartFit]:
        """Return cover and charts of a piece that is no sheet."""
        cover, charts = rough_balls(
            points,
            graph,
            self.n_components,
            quadratic=isinstance(self.chart, str) and self.chart == "quadratic",
            n_jobs=self.n_jobs,
        )
        return cover, charts if isinstance(self.chart, str) else self.chart_of(points, cover)

    def _balls(
        self, points: FloatArray, graph: NeighborGraph, level: int
    ) -> tuple[PatchCover, ChartFit] | None:
        rules = ScaleRules().doubled() if level else ScaleRules()
        # The first to be covered is the whole; parts of it get their share of the patches.
        n_nodes = self.memory.setdefault("n_nodes", graph.n_nodes)
        n_patches = self.n_patches
        if n_patches is not None:
            self._refuse_tiny_patches(n_nodes)
            n_patches = round(n_patches * graph.n_nodes / n_nodes / (2 if level else 1))
        # Two patches of the least size are the least that can be stitched.
        if n_patches is None and graph.n_nodes < 2 * rules.least_size(0, self.n_components):
            return None
        if n_patches is not None and n_patches < 2:
            return None
        cover, charts = charted_balls(
            points,
            graph,
            self.n_components,
            rules=rules,
            n_patches=n_patches,
            quadratic=self.chart != "pca" if isinstance(self.chart, str) else False,
            rng=self.rng,
            n_jobs=self.n_jobs,
        )
        return cover, charts if isinstance(self.chart, str) else self.chart_of(points, cover)

    def _refuse_tiny_patches(self, n_nodes: int) -> None:
        most = int(PATCHES_PER_SIZE * n_nodes / (self.n_components + 2))
        if self.n_patches is not None and self.n_patches > max(1, most):
            msg = (
                f"{setting('n_patches', self.n_patches)}: so many patches of {n_nodes} distinct "
                f"points would hold fewer than {parameter('n_components')} + 2 = "
                f"{self.n_components + 2} points each, too few for a chart. Pass at most "
                f"{setting('n_patches', max(1, most))}."
            )
            raise InvalidInputError(msg)

    def _labels_of(self, cover: Any, points: FloatArray) -> tuple[IntArray, FloatArray | None]:
        return labels_of(
            cover,
            points,
            n_patches=self.n_patches,
            random_state=self.rng,
            n_components=self.n_components,
            n_jobs=self.n_jobs,
        )

    @stage("patches")
    def _clusters(self, points: FloatArray, graph: NeighborGraph, nodes: IntArray) -> PatchCover:
        is_given = isinstance(self.cover, np.ndarray)
        if isinstance(self.cover, sp.csr_array):
            table: Any = self.cover[nodes]
            used = np.flatnonzero(np.asarray(table.sum(axis=0)).ravel())
            return cover_from_memberships(len(nodes), table[:, used], points)
        cover = self.cover[nodes] if is_given else self.cover
        if is_given:
            labels, centers = self._labels_of(cover, points)
        elif "labels" not in self.memory:
            labels, centers = self._labels_of(cover, points)
            self.memory["labels"] = dict(zip(nodes.tolist(), labels.tolist(), strict=True))
        else:
            # Parts of what was clustered as a whole keep its clusters.
            known = self.memory["labels"]
            labels = np.unique([known[node] for node in nodes.tolist()], return_inverse=True)[1]
            centers = None
        if not is_given:
            labels, centers = connected_clusters(
                points, labels, graph, n_components=self.n_components, centers=centers
            )
        return cover_from_labels(
            points, labels, n_components=self.n_components, graph=graph, centers=centers
        )


def read_cover(cover: Any, n_samples: int, rows: IntArray) -> Any:
    """Return a cover in the form that a recipe takes, for some of the samples."""
    if isinstance(cover, str):
        if cover not in COVERS:
            msg = (
                f"{setting('cover', cover)} is unknown. Choose one of {', '.join(COVERS)}, or "
                f"pass a clusterer, labels or memberships."
            )
            raise InvalidInputError(msg)
        return cover
    if isinstance(cover, type):
        msg = f"cover={cover!r} is a class. Pass an instance of it."
        raise InvalidInputError(msg)
    if hasattr(cover, "fit_predict"):
        return cover
    if sp.issparse(cover) or _is_lists(cover) or np.ndim(cover) == 2:
        patches, members = read_memberships(cover, n_samples)
        shape = (n_samples, int(patches[-1]) + 1)
        ones = np.ones(len(patches), dtype=np.int8)
        return sp.csr_array((ones, (members, patches)), shape=shape)[rows]
    labels = np.asarray(cover)
    if labels.ndim != 1 or len(labels) != n_samples:
        msg = (
            f"cover has shape {labels.shape}, but there are {n_samples} samples. Pass 'balls', "
            f"'kmeans', 'ldlc', a clusterer, one label a sample, or memberships."
        )
        raise InvalidInputError(msg)
    return labels[rows]


def _is_lists(cover: Any) -> bool:
    is_sequence = isinstance(cover, Sequence) and len(cover) > 0
    return is_sequence and not isinstance(cover[0], str) and np.ndim(cover[0]) > 0
