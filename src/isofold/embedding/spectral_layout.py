"""Coordinates from a kernel graph by Laplacian eigenvectors, one component after the other.

Several components have a zero eigenvalue each, and their eigenvectors say nothing of how they lie
to each other. Each is laid out by itself, in the unit of the kernel: the lengths of its edges are
as long as the kernel's distances √(k_ii + k_jj − 2k_ij), in the mean square. The least of these
distances between components link them, along a spanning tree, and they are placed as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray, Matrix
from isofold.linalg.laplacian import laplacian_eigenvectors
from isofold.linalg.motions import RigidMotions
from isofold.placement.by_paths import place_by_paths
from isofold.placement.links import Links
from isofold.similarity.kernel_graph import KernelGraph, kernel_distances
from isofold.similarity.kernels import Gram

__all__ = ["SpectralLayout", "lay_out_spectrally"]

MOST_PLACED = 200
"""Components that are placed by their links; smaller ones are laid out below them, on a grid."""


@dataclass(frozen=True, eq=False)
class SpectralLayout:
    """Where Laplacian eigenvectors put the nodes of a kernel graph.

    Attributes
    ----------
    shapes : ndarray of shape (n_nodes, r)
        Eigenvectors of the component of every node.
    motions : RigidMotions
        Where components go.
    component : ndarray of int of shape (n_nodes,)
        The component of every node, the largest first.
    eigenvalues : ndarray of shape (n_parts, r)
        λ of every component; NaN where it has too few nodes.
    """

    shapes: FloatArray
    motions: RigidMotions
    component: IntArray
    eigenvalues: FloatArray

    @property
    def points(self) -> FloatArray:
        """The nodes on the map."""
        return self.motions.apply(self.shapes, self.component)

    @property
    def n_parts(self) -> int:
        """Number of components."""
        return len(self.eigenvalues)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of nodes of the components."""
        return tuple(np.bincount(self.component).tolist())

    def scaled(self, factor: float) -> SpectralLayout:
        """Return the layout in another unit."""
        motions = RigidMotions(self.motions.rotations, factor * self.motions.translations)
        return SpectralLayout(factor * self.shapes, motions, self.component, self.eigenvalues)


def lay_out_spectrally(graph: KernelGraph, r: int) -> SpectralLayout:
    """Return the Laplacian eigenvectors of a graph, its components placed in one frame."""
    component = _components(graph.weights)
    members: list[IntArray] = np.split(
        np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1]
    )
    shapes, eigenvalues = np.zeros((graph.n_nodes, r)), np.full((len(members), r), np.nan)
    for number, own in enumerate(members):
        k = min(r, len(own) - 1)
        if k > 0:
            part = graph.weights[own][:, own] if len(members) > 1 else graph.weights
            eigenvalues[number, :k], vectors = laplacian_eigenvectors(part, k)
            shapes[own, :k] = vectors
    if len(members) == 1:
        return SpectralLayout(shapes, RigidMotions.identity(1, r), component, eigenvalues)
    shapes *= _kernel_units(graph, shapes, component)[component, None]
    motions = _placed(graph.gram, [shapes[own] for own in members], members)
    return SpectralLayout(shapes, motions, component, eigenvalues)


def _components(weights: Matrix) -> IntArray:
    """Return the component of every node, the largest first, then by first node."""
    labels = connected_components(weights, directed=False)[1]
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[labels], dtype=np.intp)


def _kernel_units(graph: KernelGraph, shapes: FloatArray, component: IntArray) -> FloatArray:
    """Return the factors with which the edges of components are as long as the kernel says."""
    edges = np.stack(sp.coo_array(sp.triu(graph.weights)).coords, axis=1).astype(np.intp)
    owner = component[edges[:, 0]]
    wanted = np.bincount(owner, kernel_distances(graph.gram, edges) ** 2, component.max() + 1)
    differences = shapes[edges[:, 0]] - shapes[edges[:, 1]]
    found = np.bincount(owner, np.sum(differences**2, axis=1), component.max() + 1)
    return np.sqrt(np.where(found > 0.0, wanted, 1.0) / np.where(found > 0.0, found, 1.0))


def _placed(gram: Gram, shapes: list[FloatArray], members: list[IntArray]) -> RigidMotions:
    """Return where components go: the large ones by their links, the others on a grid below."""
    n = min(len(members), MOST_PLACED)
    edges = _links(gram, members[:n])
    firsts = np.concatenate(members[:n])
    numbers = np.full(gram.n_objects, -1, dtype=np.intp)
    numbers[firsts] = np.arange(len(firsts))
    local = np.split(np.arange(len(firsts)), np.cumsum([len(own) for own in members[:n]])[:-1])
    links = Links.between(local, numbers[edges], kernel_distances(gram, edges))
    motions = place_by_paths(shapes[:n], links)
    if n == len(members):
        return motions
    below = _on_a_grid(shapes[n:], np.concatenate(motions.apply_each(shapes[:n])))
    return RigidMotions.joined([motions, below])


def _on_a_grid(shapes: list[FloatArray], placed: FloatArray) -> RigidMotions:
    """Return where many small components go: in rows below those that are placed."""
    r = placed.shape[1]
    motions = RigidMotions.identity(len(shapes), r)
    cell = max(1.0, 2.0 * max(float(np.ptp(shape, axis=0).max(initial=0.0)) for shape in shapes))
    per_row = len(shapes)
    if r > 1:
        per_row = max(1, int(np.ptp(placed[:, 0]) / cell), len(shapes) // 100)
    row, column = np.divmod(np.arange(len(shapes)), per_row)
    along = placed[:, 0].max() + cell if r == 1 else placed[:, 0].min()
    motions.translations[:, 0] = along + cell * column
    if r > 1:
        motions.translations[:, 1] = placed[:, 1].min() - cell * (1.0 + row)
    return motions


def _links(gram: Gram, members: list[IntArray]) -> IntArray:
    """Return pairs of nodes that join components: a spanning tree of least kernel distances."""
    owner = np.full(gram.n_objects, -1, dtype=np.intp)
    for number, own in enumerate(members):
        owner[own] = number
    first, second = _nearest_pairs(gram, members, owner)
    pairs = np.stack([first, second], axis=1)
    lengths = kernel_distances(gram, pairs)
    # Shifted, since a length of zero would be no edge.
    n = len(members)
    table = sp.csr_array((1.0 + lengths, (owner[first], owner[second])), shape=(n, n))
    tree = sp.coo_array(minimum_spanning_tree(table))
    at = {(int(a), int(b)): i for i, (a, b) in enumerate(owner[pairs])}
    return pairs[[at[int(a), int(b)] for a, b in zip(*tree.coords, strict=True)]]


def _nearest_pairs(
    gram: Gram, members: list[IntArray], owner: IntArray
) -> tuple[IntArray, IntArray]:
    """Return one pair of nodes for pairs of components p < q: the nearest that is known."""
    if gram.is_sparse:
        return _nearest_stored_pairs(gram, members, owner)
    columns = np.concatenate(members)
    begins = np.cumsum([0, *map(len, members[:-1])])
    found: list[tuple[int, int]] = []
    for number, own in enumerate(members[:-1]):
        best, nearest = np.full(len(columns), np.inf), np.zeros(len(columns), dtype=np.intp)
        step = block_rows(3 * 8 * len(columns), len(own))
        for start in range(0, len(own), step):
            rows = own[start : start + step]
            squares = gram.own[rows, None] + gram.own[columns] - 2.0 * gram.block(rows, columns)
            at = squares.argmin(axis=0)
            least = squares[at, np.arange(len(columns))]
            nearest = np.where(least < best, rows[at], nearest)
            best = np.minimum(least, best)
        for begin, others in zip(begins[number + 1 :], members[number + 1 :], strict=True):
            place = begin + int(best[begin : begin + len(others)].argmin())
            found.append((int(nearest[place]), int(columns[place])))
    first, second = np.array(found, dtype=np.intp).T
    return first, second


def _nearest_stored_pairs(
    gram: Gram, members: list[IntArray], owner: IntArray
) -> tuple[IntArray, IntArray]:
    """Do the same for stored values; what is not stored joins each component to the largest."""
    table = sp.coo_array(gram.values)
    first, second = (np.asarray(each, dtype=np.intp) for each in table.coords)
    between = (owner[first] < owner[second]) & (owner[first] >= 0)
    first, second, values = first[between], second[between], table.data[between]
    least = np.array([own[gram.own[own].argmin()] for own in members], dtype=np.intp)
    first = np.append(first, np.full(len(members) - 1, least[0]))
    second = np.append(second, least[1:])
    squares = gram.own[first] + gram.own[second]
    squares[: len(values)] -= 2.0 * values
    order = np.lexsort((second, first, squares, owner[second], owner[first]))
    ends = np.stack([owner[first], owner[second]], axis=1)[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = np.any(ends[1:] != ends[:-1], axis=1)
    return first[order][is_new], second[order][is_new]
