"""From the parameters of a user to covers and their charts."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
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
from isofold.neighbors.point_set import PointSet
from isofold.patches import ChartFit, PatchCover, ScaleRules, charted_balls, fit_charts
from isofold.patches.choices import Cover
from isofold.patches.coarse import rough_balls
from isofold.patches.embedder_charts import fit_embedders
from isofold.patches.from_clusters import cover_from_labels, cover_from_memberships
from isofold.patches.from_memberships import read_memberships
from isofold.patches.labels import labels_of
from isofold.patches.scale import PATCHES_PER_SIZE

__all__ = ["Clustering", "CoverMaker", "read_cover"]

CHARTS = ("quadratic", "pca")
COVERS = ("balls", "kmeans", "ldlc")


@dataclass(frozen=True, eq=False)
class Clustering:
    """The clusters of all points that are stitched, which components of them keep.

    Attributes
    ----------
    nodes : ndarray of int
        The points that were clustered, ascending.
    labels : ndarray of int
        Their clusters.
    centers : ndarray or None
        The centers of the clusters, if they have any.
    """

    nodes: IntArray
    labels: IntArray
    centers: FloatArray | None

    def restrict(self, nodes: IntArray) -> Clustering:
        """Return the clusters of some of the points, numbered anew and without their centers."""
        if len(nodes) == len(self.nodes):
            return self
        labels = self.labels[np.searchsorted(self.nodes, nodes)]
        return Clustering(nodes, np.unique(labels, return_inverse=True)[1], None)


class CoverMaker:
    """Makes covers and charts as the parameters of an estimator say.

    It draws from a random state, so that covers depend on the order in which they are made.

    Parameters
    ----------
    cover : str, clusterer, ndarray or csr_array
        "balls", a clustering, the labels of all nodes, or their memberships.
    n_patches : int or "auto"
        How many patches the whole should have.
    chart : str or embedder
        "quadratic", "pca", or what embeds every patch.
    n_components : int
        Dimensions r of the charts.
    rng : RandomState
        Where numbers are drawn from.
    n_jobs : int or None
        Threads, by scikit-learn's convention.
    """

    def __init__(
        self,
        cover: Any,
        n_patches: Any,
        chart: Any,
        n_components: int,
        *,
        rng: np.random.RandomState,
        n_jobs: int | None = None,
    ) -> None:
        self.cover = cover
        self.n_patches, self.chart = _read_n_patches(n_patches), _read_chart(chart)
        self.n_components, self.rng, self.n_jobs = n_components, rng, n_jobs
        self.n_whole: int | None = None
        self.clustering: Clustering | None = None

    @property
    def is_free(self) -> bool:
        """Whether nobody chose a cover or its size, so that it may follow the data."""
        return self._has_balls and self.n_patches is None

    @property
    def has_patches(self) -> bool:
        """Whether the patches themselves are given: they keep all of their points."""
        return isinstance(self.cover, sp.csr_array)

    @property
    def _has_balls(self) -> bool:
        return isinstance(self.cover, str) and self.cover == "balls"

    @property
    def _has_labels(self) -> bool:
        return isinstance(self.cover, np.ndarray | sp.csr_array)

    def for_whole(self, points: PointSet) -> CoverMaker:
        """Return a maker that knows the whole, of which components get their fraction."""
        made = copy(self)
        made.n_whole = points.n_nodes
        if not self._has_balls and not self._has_labels:
            made.clustering = self._clustered(points)
        return made

    def charts_of(self, points: FloatArray, cover: PatchCover) -> ChartFit:
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

    def charted(self, points: PointSet, level: int) -> tuple[PatchCover, ChartFit] | None:
        """Return the fine cover of a component (level 0) or a coarse one (level 1), with charts.

        None if the component is too small for it, or there is none.
        """
        if self._has_balls:
            return self._balls(points, level)
        if level:
            return None
        cover = self._clusters(points)
        return cover, self.charts_of(points.points, cover)

    def charted_whole(self, points: FloatArray) -> tuple[PatchCover, ChartFit]:
        """Return a single patch that holds all points, with its chart."""
        cover = PatchCover.whole(points)
        return cover, self.charts_of(points, cover)

    def charted_no_sheet(
        self, points: FloatArray, graph: NeighborGraph
    ) -> tuple[PatchCover, ChartFit]:
        """Return cover and charts of a component that is no sheet."""
        cover, charts = rough_balls(
            points,
            graph,
            self.n_components,
            quadratic=isinstance(self.chart, str) and self.chart == "quadratic",
            n_jobs=self.n_jobs,
        )
        return cover, charts if isinstance(self.chart, str) else self.charts_of(points, cover)

    def _balls(self, points: PointSet, level: int) -> tuple[PatchCover, ChartFit] | None:
        rules = ScaleRules().doubled() if level else ScaleRules()
        n_nodes, n_patches = points.n_nodes, self.n_patches
        if n_patches is not None:
            n_whole = self.n_whole or n_nodes
            self._refuse_tiny_patches(n_whole)
            n_patches = round(n_patches * n_nodes / n_whole / (2 if level else 1))
        # Two patches of the least size are the least that can be stitched.
        if n_patches is None and n_nodes < 2 * rules.least_size(0, self.n_components):
            return None
        if n_patches is not None and n_patches < 2:
            return None
        cover, charts = charted_balls(
            points.points,
            points.graph,
            self.n_components,
            rules=rules,
            n_patches=n_patches,
            quadratic=self.chart != "pca" if isinstance(self.chart, str) else False,
            rng=self.rng,
            n_jobs=self.n_jobs,
        )
        is_named = isinstance(self.chart, str)
        return cover, charts if is_named else self.charts_of(points.points, cover)

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

    @stage("clusters")
    def _clustered(self, points: PointSet) -> Clustering:
        """Return the clusters of all points."""
        return Clustering(points.samples, *self._labels_of(self.cover, points.points))

    @stage("patches")
    def _clusters(self, points: PointSet) -> PatchCover:
        nodes, n_components = points.samples, self.n_components
        if isinstance(self.cover, sp.csr_array):
            table: Any = self.cover[nodes]
            used = np.flatnonzero(np.asarray(table.sum(axis=0)).ravel())
            return cover_from_memberships(len(nodes), table[:, used], points.points)
        if isinstance(self.cover, np.ndarray):
            labels, centers = self._labels_of(Cover.labels(self.cover[nodes]), points.points)
        else:
            clustering = self.clustering or self._clustered(points)
            own = clustering.restrict(nodes)
            labels, centers = connected_clusters(
                points.points,
                own.labels,
                points.graph,
                n_components=n_components,
                centers=own.centers,
            )
        return cover_from_labels(
            points.points, labels, n_components=n_components, graph=points.graph, centers=centers
        )


def _read_n_patches(n_patches: Any) -> int | None:
    """Return how many patches are requested; None if the data decide."""
    if isinstance(n_patches, str):
        if n_patches != "auto":
            msg = f"{setting('n_patches', n_patches)} must be a whole number or 'auto'."
            raise InvalidInputError(msg)
        return None
    return check_count(n_patches, name="n_patches")


def _read_chart(chart: Any) -> Any:
    """Return the requested charts, checked: a name or an embedder."""
    if isinstance(chart, str):
        if chart not in CHARTS:
            msg = (
                f"{setting('chart', chart)} is unknown. Choose one of {', '.join(CHARTS)}, or pass "
                f"an embedder with fit_transform."
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
    return chart


def read_cover(cover: Any, n_samples: int, rows: IntArray) -> Any:
    """Return a cover in the form that `CoverMaker` takes, for some of the samples."""
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
    if not isinstance(cover, Cover):
        msg = (
            f"cover is a {type(cover).__name__}. Pass 'balls', 'kmeans', 'ldlc', a clusterer, "
            f"isofold.Cover.labels(one label a sample) or isofold.Cover.patches(members)."
        )
        raise InvalidInputError(msg)
    if cover.kind == "clusters":
        msg = (
            f"cover={cover!r} names clusters with their number, which is n_patches here. Pass "
            f"cover={cover.content!r}, n_patches={cover.n_clusters}."
        )
        raise InvalidInputError(msg)
    if cover.kind == "patches":
        patches, members = read_memberships(cover.content, n_samples)
        shape = (n_samples, int(patches[-1]) + 1)
        ones = np.ones(len(patches), dtype=np.int8)
        return sp.csr_array((ones, (members, patches)), shape=shape)[rows]
    labels = np.asarray(cover.content)
    if labels.ndim != 1 or len(labels) != n_samples:
        msg = (
            f"cover has shape {labels.shape}, but there are {n_samples} samples. Pass 'balls', "
            f"'kmeans', 'ldlc', a clusterer, one label a sample, or memberships."
        )
        raise InvalidInputError(msg)
    return labels[rows]
