r"""Piecewise-linear manifold learning (PLML): local planes, laid flat along a spanning tree.

The data are cut into cells of about k points, each described by its mean m_l and its q widest axes
U_l. A spanning tree of the points, lifted to the cells, determines which are joined. Along it every
plane is rotated by the smallest rotation onto the one before, about a hinge between their nearest
points (`isofold.merging.walk`):

    y = ((x − m_l)U_l) R_l + t_l.

There is no eigenproblem and no program of the size of the data. Up to a rigid motion, the
result does not depend on the cell at which the walk starts.

References
----------
Strange, H. (2011). Piecewise-linear manifold learning. PhD thesis, Aberystwyth University.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from isofold._base import Fit
from isofold._findings import setting
from isofold._typing import Auto, Clusterer, FloatArray, IntArray, Metric, PairKernel
from isofold._validation import check_choice, check_count, check_flag, check_seed, check_units
from isofold.embedding.embedder import Embedder
from isofold.exceptions import InvalidInputError
from isofold.extension.plane_map import PlaneMap
from isofold.linalg.motions import RigidMotions
from isofold.merging.cell_size import choose_cell_size
from isofold.merging.cells import CLUSTERINGS, compressed, cut_cells
from isofold.merging.diagnosis import find_components, find_planes, find_tears_on_map
from isofold.merging.layout import CoreNodes, Merged, find_core, lay_out, sound_planes
from isofold.merging.refine import stitch_planes
from isofold.merging.rules import RULES
from isofold.merging.tears import Tears, find_tears
from isofold.merging.walk import HINGES
from isofold.neighbors import build_search
from isofold.patches.choices import Cover
from isofold.patches.labels import labels_of
from isofold.patches.planes import Planes
from isofold.sdp import LowRankSDP, SDPSolution

__all__ = ["PLML"]

MERGES = (*HINGES, "isomap")

REFINEMENT_STEPS = 30
"""Steps of each stage of the stitching, as in IPA."""


class PLML(Embedder):
    """Piecewise-linear manifold learning: a million points in seconds, with an inverse map.

    Parameters
    ----------
    n_components : int, default=2
        Dimension q of the map.
    cell_size : int or "auto", default="auto"
        Approximate number of points in a cell (the thesis's k); no cell has fewer than half of it.
        Small cells follow curvature, large ones average out noise. "auto": the size for which the
        planes of neighboring cells agree best; with "gmm", what 32 Gaussians have.
    clustering : {"balanced", "gmm", "mst"}, clusterer or Cover, default="balanced"
        How cells are cut. "balanced": k-means with a least size, by minimum-cost flow for up to
        2,000 points. "gmm": a mixture of up to 32 Gaussians. "mst": along the shortest edges of
        the spanning tree, in chains. A scikit-learn clusterer, or ``Cover.labels(...)``.
    merge : {"parallel", "parallel_projections", "orthogonal", "isomap"}, default="parallel"
        How cells are joined. "parallel": rotated about hinges between them. The others are from
        earlier papers, for comparison: rotated about means; projected without a rotation, which
        shrinks lengths; placed by Isomap over the folds of hyperplanes (n_features =
        n_components + 1), where cells keep the arbitrary orientation of their own axes.
    n_neighbors : int, default=12
        Neighbors that determine which samples are connected, and how true the map is.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds all distances), another
        metric of scikit-learn such as "cosine", a function of two samples, or a distance of
        `isofold.similarity`. The method then works with points that have these distances.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    refine : bool, default=False
        Whether the map is only the start of IPA's stitching, in which cells overlap and are
        fitted to all neighbors instead of one. More accurate, slower; for a few thousand cells.
    start : int or None, default=None
        The sample in whose cell the walk starts. With ``merge="parallel"`` it does not matter.
    random_state : int, RandomState or None, default=None
        Seed of the clustering.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    labels_ : ndarray of int of shape (n_samples,)
        The cell of every sample.
    cell_size_ : int or None
        The size in use; None if labels were given.
    tree_ : ndarray of int of shape (n_edges, 2)
        Pairs of cells that were joined.
    hinges_ : ndarray of shape (n_edges, n_features)
        The points about which they were rotated.
    angles_ : ndarray of shape (n_edges,)
        The largest angle between their planes, in degrees.
    misfit_ : ndarray of shape (n_edges,)
        Relative error of the length of the edge of samples that crosses from one to the other.
    cuts_ : ndarray of int of shape (n_cuts, 2)
        Pairs of neighboring samples that the map tears apart. Closed data are always cut.
    n_cuts_ : int
        Number of separate tears on the map.
    planes_ : Planes
        Means, axes and ranks of the cells.
    distortion_ : ndarray of shape (n_samples,)
        Mean relative error of the distances to neighbors at every sample.
    solution_ : SDPSolution or None
        With ``refine=True``, the stitching of the largest component with its certificate.
    component_ : ndarray of int of shape (n_samples,)
        The connected component of every sample, that of most distinct samples first; that of the
        nearest for samples in groups too small for a plane.
    outliers_ : ndarray of bool of shape (n_samples,)
        Samples in groups too small for a plane. They were placed on the map by the plane of the
        nearest other sample, but not used to fit it.
    bridges_ : ndarray of int of shape (n_components - 1, 2)
        Pairs of samples that link components. They determine which components lie beside each
        other; components are kept at least as far apart as the shortest of these links.
    spanning_tree_ : SpanningTree
        The spanning tree of the samples that form cells, over `node_samples_`.
    node_samples_ : ndarray of int
        The distinct samples that form cells.
    map_ : PlaneMap
        Planes and motions behind `transform`.

    See Also
    --------
    IPA : More accurate: curved charts, all overlaps, and a certificate.

    Notes
    -----
    `transform` maps each row by the plane of its nearest training sample; on these it returns
    `embedding_`. The map is linear in every cell and jumps a little between cells.
    `inverse_transform` goes back onto the planes, or by neighbors on the map where these lead
    closer to the samples; there is none with ``merge="orthogonal"``.

    Examples
    --------
    >>> from isofold import PLML
    >>> from isofold.datasets import swiss_roll
    >>> from isofold.quality import procrustes_error
    >>> roll = swiss_roll(2000, random_state=0)
    >>> plml = PLML(random_state=0)
    >>> Y = plml.fit_transform(roll.X)
    >>> bool(procrustes_error(Y, roll.truth) < 0.05)
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
        cell_size: int | Auto = "auto",
        clustering: Literal["balanced", "gmm", "mst"] | Clusterer | Cover = "balanced",
        merge: Literal["parallel", "parallel_projections", "orthogonal", "isomap"] = "parallel",
        n_neighbors: int = 12,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        refine: bool = False,
        start: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.cell_size = cell_size
        self.clustering = clustering
        self.merge = merge
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.refine = refine
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: FloatArray, y: Any) -> Fit:
        q = self._check_parameters(X)
        rng = check_seed(self.random_state)
        core = self._core(X, q)
        # Step 1: cells and their planes, each within one component.
        size, labels = self._cut(X, core, rng)
        planes = sound_planes(core.points, labels, core.forest, q)
        # Steps 2 and 3: the tree of cells, and the walk along it. Step 4: principal axes.
        merged = lay_out(
            core,
            planes,
            hinge=self.merge,
            start=self._start_among(core.node_of),
            improve=self._stitching(core.points, rng) if self.refine else None,
        )
        plane_map = PlaneMap(
            planes=merged.planes,
            motions=merged.motions,
            search=build_search(core.points, n_jobs=self.n_jobs),
            image_search=build_search(merged.images, n_jobs=self.n_jobs),
            is_rigid=self.merge != "orthogonal",
        )
        tears = find_tears(merged.images, core.near, merged.planes.labels, merged.planes.extents)
        description = _description(core, merged, tears)
        outliers, cuts = description["outliers"], description["cuts"]
        return Fit.of(
            plane_map.images_in(description["labels"], X),
            map_=plane_map,
            findings=(
                *find_components(
                    description["component"],
                    len(description["bridges"]),
                    n_outliers=int(outliers.sum()),
                    least=q + 2,
                ),
                *find_planes(merged),
                *find_tears_on_map(tears, cuts),
            ),
            cell_size=size,
            solution=merged.solution,
            **description,
        )

    def _transform(self, X: FloatArray) -> FloatArray:
        return self.map_.transform(X)

    def _check_parameters(self, X: FloatArray) -> int:
        q = check_count(self.n_components, name="n_components")
        if q > X.shape[1]:
            msg = (
                f"{setting('n_components', q)}, but X has {X.shape[1]} feature(s): there is "
                f"nothing to unfold into more dimensions than the data have. Pass at most "
                f"{setting('n_components', X.shape[1])}."
            )
            raise InvalidInputError(msg)
        check_choice(self.merge, MERGES, name="merge")
        check_flag(self.refine, name="refine")
        check_count(self.n_neighbors, name="n_neighbors")
        check_units(X, name="X")
        if isinstance(self.clustering, str):
            check_choice(self.clustering, CLUSTERINGS, name="clustering")
        if isinstance(self.cell_size, str):
            check_choice(self.cell_size, ("auto",), name="cell_size")
        else:
            check_count(self.cell_size, name="cell_size", minimum=q + 1)
        return q

    def _core(self, X: FloatArray, q: int) -> CoreNodes:
        """Return the samples that form cells."""
        core = find_core(
            X,
            n_neighbors=self.n_neighbors,
            least=q + 2,
            n_jobs=self.n_jobs,
        )
        if core is None:
            msg = (
                f"All {len(X)} samples are the same, so that there are no distances. Pass at least "
                f"two different samples."
            )
            raise InvalidInputError(msg)
        return core

    def _cut(
        self, X: FloatArray, core: CoreNodes, rng: np.random.RandomState
    ) -> tuple[int | None, IntArray]:
        """Return the size of cells, and the cell of every point."""
        points, components = core.points, core.components
        given, n_jobs = self.clustering, self.n_jobs
        if not isinstance(given, str):
            is_array = isinstance(given, Cover)
            table = X if is_array else points
            labels, _ = labels_of(
                given, table, n_patches=None, random_state=rng, name="clustering", n_jobs=n_jobs
            )
            labels = labels[core.samples] if is_array else labels
            both = labels * (int(components.max()) + 1) + components
            return None, np.unique(both, return_inverse=True)[1]
        table = compressed(points)
        cut = partial(
            cut_cells,
            clustering=given,
            least=self.n_components + 1,
            seed=int(rng.randint(2**31 - 1)),
            n_jobs=n_jobs,
        )
        size = self.cell_size
        if isinstance(size, str) and given == "gmm":
            # As many Gaussians as there may be: nothing is to be compared.
            size = max(
                2 * self.n_components + 5, int((components == 0).sum()) // RULES.most_gaussians
            )
        if isinstance(size, str):
            largest, quickly = components == 0, partial(cut, is_quick=True)
            size = choose_cell_size(
                points[largest], table[largest], self.n_components, quickly, rng
            )
        n_points = min(int(size), len(points))
        labels = np.empty(len(points), dtype=np.intp)
        n_cells = 0
        for component in range(int(components.max()) + 1):
            own = np.flatnonzero(components == component)
            labels[own] = n_cells + cut(table[own], n_points)
            n_cells = int(labels[own].max()) + 1
        return n_points, labels

    def _start_among(self, node_of: IntArray) -> int:
        """Return the node at, or nearest to, the sample from which the walk starts."""
        if self.start is None:
            return 0
        start = check_count(self.start, name="start", minimum=0)
        if start >= len(node_of):
            msg = (
                f"{setting('start', start)}, but X has {len(node_of)} samples. Pass the number of "
                f"one of these samples."
            )
            raise InvalidInputError(msg)
        return int(node_of[start])

    def _stitching(self, points: FloatArray, rng: np.random.RandomState) -> Any:
        """Return what refines the map of one component."""
        solver = LowRankSDP(
            max_iter=REFINEMENT_STEPS,
            max_rank=self.n_components,
            random_state=int(rng.randint(2**31 - 1)),
        )

        def improve(
            own: IntArray, planes: Planes, images: FloatArray
        ) -> tuple[Planes, RigidMotions, SDPSolution | None]:
            return stitch_planes(
                points[own],
                planes,
                images,
                n_neighbors=self.n_neighbors,
                solver=solver,
                n_jobs=self.n_jobs,
            )

        return improve


def _description(core: CoreNodes, merged: Merged, tears: Tears) -> dict[str, Any]:
    """Return the attributes that show how the map came about and how true it is."""
    at = core.node_of
    crossings = merged.tree.crossings
    ends = core.points[crossings]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    steps = merged.images[crossings[:, 0]] - merged.images[crossings[:, 1]]
    return {
        "planes": merged.planes,
        "node_samples": core.samples,
        "spanning_tree": core.tree,
        "labels": merged.planes.labels[at],
        "component": core.components[at],
        "distortion": tears.distortion[at],
        "cuts": core.samples[tears.pairs],
        "n_cuts": tears.n_tears,
        "tree": merged.tree.edges,
        "hinges": ends.mean(axis=1),
        "angles": np.rad2deg(merged.angles),
        "misfit": np.abs(np.linalg.norm(steps, axis=1) / lengths - 1.0),
        "bridges": core.samples[core.bridges.edges],
        "outliers": ~core.is_core,
    }
