"""The program of TesseraMap: rigid tesserae are moved apart while links between them are kept.

    max ⟨M, B⟩    B = SSᵀ ⪰ 0, rotations' diagonal blocks = I, (ũ_i − ũ_j)B(ũ_i − ũ_j)ᵀ = τ_ij²

over the links ij between neighboring tesserae, with ũ_i the rows of U, or of their projection KK⁺U
onto what a kernel of low rank spans (facial reduction, Khajehpour Tadavani 2013, chapter 3), and

    M = mean over pairs of different tesserae, links' edges apart, of (ũ_i − ũ_j)ᵀ(ũ_i − ũ_j)/τ_ij².

Pairs within a tessera are rigid: they add a constant. A common translation of all tesserae changes
nothing; it is the gauge of the program, and the points are centered at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from isofold._findings import parameter
from isofold._parallel import one_blas_thread, ordered_map
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.embedding.affine.seams import SeamLinks
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.patches.tesserae import Tesserae
from isofold.sdp import GramSDP, square_constraints

__all__ = [
    "NOTHING",
    "pose_tesserae",
    "principal_poses",
    "refuse_many",
    "stretch_on_map",
]

MOST_EQUATIONS = 6000
"""Most equations of links and rotations that are accepted. A thousand take seconds, three thousand
a minute."""

NOTHING = 1e-6
"""Fraction of the largest variance below which an axis counts as empty: the solver's accuracy."""

TILE_NUMBERS, TILES_A_BLOCK = 2**18, 2
"""Pairs whose weights are held at a time (2 MB: with more they leave the cache, with fewer threads
wait for each other), and how often that in one task of a thread."""

WIDE = 16
"""Features from which squared distances are computed by products of matrices."""

NEAREST = 1e-12
"""Squared distances are at least this fraction of the squared size of the data: rounding of
products hides closer pairs, and one such pair would outweigh all others."""


@stage("pairs between tesserae")
def pose_tesserae(
    points: FloatArray,
    tesserae: Tesserae,
    graph: NeighborGraph,
    links: SeamLinks,
    *,
    functions: FloatArray | None = None,
    n_jobs: int | None = None,
) -> GramSDP:
    """Return the program over the poses B of tesserae."""
    U = tesserae.matrix
    if functions is None:
        objective = stretch_objective(points, tesserae, graph, n_jobs=n_jobs)
        rows = U
    else:
        rows = functions @ (U.T @ functions).T
        objective = _projected_objective(points, tesserae, graph, rows)
    differences = rows[links.pairs[:, 0]] - rows[links.pairs[:, 1]]
    squared = links.lengths**2
    return GramSDP(
        n_points=tesserae.n_rows,
        objective=objective,
        maximize=True,
        constraints=square_constraints(differences, lower=squared, upper=squared),
        blocks=tesserae.blocks,
        # With rotations the engine finds the common translation itself.
        centered=len(tesserae.blocks) == 0,
    )


def stretch_objective(
    points: FloatArray, tesserae: Tesserae, graph: NeighborGraph, *, n_jobs: int | None = None
) -> FloatArray:
    """Return M = UᵀLU in blocks, so that no matrix of all pairs of points is ever held."""
    order = np.argsort(tesserae.labels, kind="stable")
    pulls = _Pulls.of(points[order].astype(np.float64), tesserae, order, graph)
    n, gamma = len(points), tesserae.n_rows
    coupling, degrees, n_pairs = np.zeros((gamma, gamma)), np.zeros(n), 0
    # Many narrow products: threads of BLAS would wait for each other.
    with one_blas_thread():
        for block in ordered_map(pulls.of_rows, pulls.row_blocks(), n_jobs=n_jobs):
            coupling[block.pose] += block.coupling
            degrees[block.rows] += block.row_sums
            degrees[block.rest :] += block.column_sums
            n_pairs += block.n_pairs
    if n_pairs == 0:
        return coupling
    U = tesserae.matrix[order]
    diagonal = (U.T @ sp.diags_array(degrees) @ U).toarray()
    return _without_gauge(diagonal - coupling - coupling.T, tesserae) / n_pairs


@dataclass(frozen=True, eq=False)
class _BlockSums:
    """What some rows of a tessera add to the objective, with all points of later tesserae."""

    pose: slice
    rows: slice
    rest: int
    coupling: FloatArray
    row_sums: FloatArray
    column_sums: FloatArray
    n_pairs: int


@dataclass(frozen=True, eq=False)
class _Pulls:
    """The weights 1/τ² between points that are sorted by tesserae, a few rows at a time."""

    points: FloatArray
    frames: tuple[FloatArray, ...]
    ends: IntArray
    tesserae: Tesserae
    edges: sp.csr_array
    least: float

    @classmethod
    def of(
        cls, points: FloatArray, tesserae: Tesserae, order: IntArray, graph: NeighborGraph
    ) -> _Pulls:
        points = points - points.mean(axis=0)
        edges = sp.csr_array(graph.adjacency[order][:, order])
        counts = np.bincount(tesserae.labels, minlength=tesserae.n_tesserae)
        size = float(np.max(np.sum(points**2, axis=1), initial=0.0))
        local, ends = tesserae.local[order], np.cumsum(counts)
        frames = [
            np.column_stack([own[:, :rank], np.ones(len(own))])
            for own, rank in zip(np.split(local, ends[:-1]), tesserae.ranks, strict=True)
        ]
        return cls(points, tuple(frames), ends, tesserae, edges, NEAREST * size)

    def row_blocks(self) -> list[tuple[int, slice]]:
        """Return the tessera and the rows of every block."""
        blocks = []
        step = TILES_A_BLOCK * self._tile_rows
        for number, end in enumerate(self.ends[:-1]):
            begin = int(self.ends[number - 1]) if number else 0
            starts = range(begin, int(end), step)
            blocks += [(number, slice(at, min(at + step, int(end)))) for at in starts]
        return blocks

    @property
    def _tile_rows(self) -> int:
        """Rows whose weights with any one tessera stay in the processor's cache."""
        largest = int(np.diff(self.ends, prepend=0).max())
        return max(1, TILE_NUMBERS // largest)

    def of_rows(self, block: tuple[int, slice]) -> _BlockSums:
        """Return what rows of a tessera and all later tesserae add."""
        number, rows = block
        begin, rest = int(self.ends[number - 1]) if number else 0, int(self.ends[number])
        first = self.tesserae.first_row
        n_rows, n_rest = rows.stop - rows.start, len(self.points) - rest
        image = np.zeros((n_rows, self.tesserae.n_rows))
        row_sums, column_sums = np.zeros(n_rows), np.zeros(n_rest)
        edges, joined = self._edges_by_tile(rows, rest)
        for at in range(0, n_rows, self._tile_rows):
            tile = slice(at, min(at + self._tile_rows, n_rows))
            these = self.points[rows][tile]
            for later in range(number + 1, self.tesserae.n_tesserae):
                own = slice(int(self.ends[later - 1]) - rest, int(self.ends[later]) - rest)
                weights = self._weights(these, self.points[rest:][own])
                among = next(joined)
                weights[edges[0][among] - at, edges[1][among] - own.start] = 0.0
                frame = self.frames[later]
                out = image[tile, first[later] : first[later] + frame.shape[1]]
                np.matmul(weights, frame, out=out)
                row_sums[tile] += weights.sum(axis=1)
                column_sums[own] += weights.sum(axis=0)
        frame = self.frames[number][rows.start - begin : rows.stop - begin]
        return _BlockSums(
            pose=slice(int(first[number]), int(first[number]) + frame.shape[1]),
            rows=rows,
            rest=rest,
            coupling=frame.T @ image,
            row_sums=row_sums,
            column_sums=column_sums,
            n_pairs=n_rows * n_rest - len(edges[0]),
        )

    def _edges_by_tile(
        self, rows: slice, rest: int
    ) -> tuple[tuple[IntArray, IntArray], Iterator[slice]]:
        """Return the edges of rows with later points, and which of them are in each tile."""
        edges = self.edges[rows, rest:].tocoo()
        number = np.searchsorted(self.ends, rest + edges.col, side="right")
        n_tiles = -((rows.start - rows.stop) // self._tile_rows)
        n_later = len(self.ends) - 1 - int(np.searchsorted(self.ends, rest, side="left"))
        tile = edges.row // self._tile_rows * n_later + number - (len(self.ends) - n_later)
        order = np.argsort(tile, kind="stable")
        ends = np.cumsum(np.bincount(tile, minlength=n_tiles * n_later)).tolist()
        spans = (slice(*span) for span in pairwise([0, *ends]))
        return (edges.row[order], edges.col[order]), spans

    def _weights(self, these: FloatArray, others: FloatArray) -> FloatArray:
        """Return 1/τ² of all pairs."""
        if these.shape[1] < WIDE:
            squared = cdist(these, others, "sqeuclidean")
        else:
            squared = -2.0 * (these @ others.T)
            squared += np.sum(these**2, axis=1)[:, None]
            squared += np.sum(others**2, axis=1)
        np.maximum(squared, self.least, out=squared)
        return np.divide(1.0, squared, out=squared)


def _projected_objective(
    points: FloatArray, tesserae: Tesserae, graph: NeighborGraph, rows: FloatArray
) -> FloatArray:
    """Return M for rows ũ that are dense: their pairs within a tessera are no longer rigid."""
    squared = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(squared, 1.0)
    weights = 1.0 / squared
    np.fill_diagonal(weights, 0.0)
    first, second = graph.edges.T
    weights[first, second] = weights[second, first] = 0.0
    n_pairs = int(np.count_nonzero(weights)) // 2
    if n_pairs == 0:
        return np.zeros((tesserae.n_rows, tesserae.n_rows))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    return _without_gauge(rows.T @ (laplacian @ rows), tesserae) / n_pairs


def stretch_on_map(
    points: FloatArray, labels: IntArray, graph: NeighborGraph, Y: FloatArray
) -> float:
    """Return the mean of ‖y_i − y_j‖²/‖x_i − x_j‖² over pairs of different tesserae."""
    counts = labels[:, None] < labels
    first, second = graph.edges.T
    counts[first, second] = counts[second, first] = False
    if not counts.any():
        return 0.0
    ratio = cdist(Y, Y, "sqeuclidean")[counts] / cdist(points, points, "sqeuclidean")[counts]
    return float(ratio.mean())


def refuse_many(tesserae: Tesserae, links: SeamLinks) -> None:
    """Refuse programs that would take an hour."""
    n_equations = len(links.pairs) + int(np.sum(tesserae.ranks * (tesserae.ranks + 1) // 2))
    if n_equations > MOST_EQUATIONS:
        msg = (
            f"{tesserae.n_tesserae} tesserae with {len(links.pairs)} links make {n_equations} "
            f"equations, and time grows with their cube: more than {MOST_EQUATIONS} would take an "
            f"hour. Use fewer tesserae (for example cover=Cover.clusters('affinity', 20)), fewer "
            f"{parameter('n_components')}, or IPA."
        )
        raise InvalidInputError(msg)


def principal_poses(
    tesserae: Tesserae, poses: FloatArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return the poses along the axes that are not empty, and the variances along all axes.

    Axes are those of the points before any projection; no table of points with all columns of the
    solution is needed for them.
    """
    U = tesserae.matrix
    mean = np.asarray(U.mean(axis=0)).ravel() @ poses
    scatter = poses.T @ np.asarray((U.T @ U) @ poses) / U.shape[0] - np.outer(mean, mean)
    variances, axes = np.linalg.eigh((scatter + scatter.T) / 2.0)
    variances, axes = np.maximum(variances[::-1], 0.0), axes[:, ::-1]
    held = max(n_components, int(np.sum(variances > NOTHING * variances[0])))
    return poses @ axes[:, :held], variances


def _without_gauge(M: FloatArray, tesserae: Tesserae) -> FloatArray:
    """Return M with what rounding left of a common translation of all tesserae taken out."""
    shifts = tesserae.first_row + tesserae.ranks
    M = (M + M.T) / 2.0
    total = M[:, shifts].sum(axis=1)
    # It goes to the entry of each row's own translation.
    own = np.repeat(shifts, tesserae.ranks + 1)
    is_shift = np.zeros(len(M), dtype=bool)
    is_shift[shifts] = True
    rotated = np.flatnonzero(~is_shift)
    M[rotated, own[rotated]] -= total[rotated]
    M[own[rotated], rotated] -= total[rotated]
    M[shifts, shifts] -= M[np.ix_(shifts, shifts)].sum(axis=1)
    return M
