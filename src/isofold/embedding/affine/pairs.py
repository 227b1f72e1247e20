"""Which pairs of samples a method keeps and stretches, as its user requests it.

Samples with the same features are one node: no map can separate them. The rest works on nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_distances, check_finite, check_graph
from isofold.exceptions import InvalidInputError
from isofold.neighbors import NeighborGraph
from isofold.neighbors.directed import pair_keys

__all__ = ["DistinctSamples", "RequestedPairs", "Sides", "read_pairs"]

SHORT = 0.05
"""Distances below this fraction of the median kept one count as being that long: the relative error
of two samples that are next to copies would outweigh all others, and no solver could meet it."""

SAME = 1e-6
"""Relative difference up to which two distances are the same; one may be in float32."""


@dataclass(frozen=True, eq=False)
class RequestedPairs:
    """Pairs as the user requests them; everything may be left out.

    Parameters
    ----------
    keep, stretch : array-like of shape (n_pairs, 2), sparse matrix, NeighborGraph or None
        Pairs of samples. A matrix or graph holds their target distances, too.
    free : array-like of shape (n_pairs, 2), sparse matrix or None
        Pairs that are neither kept nor stretched.
    targets : array-like of shape (n_samples, n_samples) or (n_kept,), or None
        Target distances.
    """

    keep: Any = None
    stretch: Any = None
    free: Any = None
    targets: Any = None


@dataclass(frozen=True, eq=False)
class DistinctSamples:
    """The distinct samples and their distances.

    Parameters
    ----------
    node_of_sample : ndarray of shape (n_samples,)
        The node of every sample.
    sample_of_node : ndarray of shape (n_nodes,)
        The first sample of every node.
    squared : ndarray of shape (n_nodes, n_nodes)
        Squared distances of nodes.
    """

    node_of_sample: IntArray
    sample_of_node: IntArray
    squared: FloatArray

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return len(self.node_of_sample)

    @property
    def n_nodes(self) -> int:
        """The number of distinct samples."""
        return len(self.sample_of_node)


@dataclass(frozen=True, eq=False)
class Sides:
    """Pairs of nodes to keep and to stretch, with the distances that they should have.

    Attributes
    ----------
    keep : ndarray of shape (n_kept, 2)
        Pairs i < j, each once.
    targets : ndarray of shape (n_kept,)
        Their distances τ.
    pull : ndarray of shape (n_nodes, n_nodes)
        1/τ² for every pair that is stretched, zero for all others; symmetric. Pairs that are much
        closer than kept ones have the weight of `SHORT`.
    """

    keep: IntArray
    targets: FloatArray
    pull: FloatArray

    @property
    def units(self) -> FloatArray:
        """The units of errors of squared distances: τ², but at least that of `SHORT`."""
        return np.maximum(self.targets**2, short(self.targets) ** 2)

    def graph(self, distinct: DistinctSamples) -> NeighborGraph:
        """Return the kept pairs as a graph of their targets."""
        return NeighborGraph(
            n_nodes=distinct.n_nodes,
            edges=self.keep,
            lengths=self.targets,
            node_of_sample=distinct.node_of_sample,
            sample_of_node=distinct.sample_of_node,
            is_bridge=np.zeros(len(self.keep), dtype=bool),
        )

    def in_units(self, unit: float) -> Sides:
        """Return the same with distances in other units."""
        return Sides(self.keep, self.targets / unit, self.pull * unit**2)

    @property
    def n_stretched(self) -> int:
        """The number of pairs that are stretched."""
        return int(np.count_nonzero(self.pull)) // 2

    @property
    def objective(self) -> FloatArray:
        """The matrix M for which ⟨M, YYᵀ⟩ is the mean of ‖y_i − y_j‖²/τ² over these pairs."""
        laplacian = np.diag(self.pull.sum(axis=1)) - self.pull
        return laplacian / max(1, self.n_stretched)


def read_pairs(
    requested: RequestedPairs, distinct: DistinctSamples, neighbors: NeighborGraph | None
) -> Sides:
    """Return the two sides of a problem, checked."""
    matrix = _target_matrix(requested, distinct)
    if requested.keep is None:
        assert neighbors is not None  # noqa: S101 - the caller builds them if nothing is given
        keep = neighbors.sample_of_node[neighbors.edges]
        own: FloatArray | None = neighbors.lengths.astype(np.float64)
    else:
        keep, own = _read_side(requested.keep, distinct, name="keep")
    if requested.targets is not None and matrix is None:
        own = _listed_targets(requested, len(keep))
    given = own is not None and (requested.keep is not None or matrix is None)
    lengths = own if given else None
    keep, targets = _at_nodes(keep, lengths, distinct, matrix, name="keep")
    kept = pair_keys(keep, distinct.n_nodes)
    free = _free_pairs(requested, distinct)
    if requested.stretch is None:
        pull = _all_pulls(distinct, matrix)
        _clear(pull, np.concatenate([keep, free]))
    else:
        pairs, own = _read_side(requested.stretch, distinct, name="stretch")
        pairs, weights = _at_nodes(pairs, own, distinct, matrix, name="stretch")
        automatic = " (neighbors, where keep is not given)" if requested.keep is None else ""
        _refuse_both(pairs, kept, distinct, names=("stretch", f"keep{automatic}"))
        _refuse_both(free, pair_keys(pairs, distinct.n_nodes), distinct, names=("free", "stretch"))
        pull = np.zeros((distinct.n_nodes, distinct.n_nodes))
        weights = 1.0 / weights**2
        pull[pairs[:, 0], pairs[:, 1]] = pull[pairs[:, 1], pairs[:, 0]] = weights
    if requested.keep is not None:
        _refuse_both(free, kept, distinct, names=("free", "keep"))
    elif len(free):
        left = ~np.isin(kept, pair_keys(free, distinct.n_nodes))
        keep, targets = keep[left], targets[left]
    if len(keep) == 0:
        msg = (
            "No pair of different samples is left to keep, so that nothing holds the map "
            "together. Pass pairs in keep, or leave keep out to keep neighbors; and do not free "
            "all pairs."
        )
        raise InvalidInputError(msg)
    np.minimum(pull, 1.0 / short(targets) ** 2, out=pull)
    return Sides(keep, targets, pull)


def short(targets: FloatArray) -> float:
    """Return the distance below which none counts as shorter.

    Where most kept samples are near copies of each other, it is what squares of the others resolve.
    """
    resolved = np.sqrt(np.finfo(np.float64).eps * float(np.mean(targets**2)))
    return max(SHORT * float(np.median(targets)), float(resolved))


def _target_matrix(requested: RequestedPairs, distinct: DistinctSamples) -> FloatArray | None:
    """Return the squared target distances of all nodes, if they are given as a matrix."""
    if requested.targets is None:
        return None
    targets = np.asarray(requested.targets)
    if targets.dtype.kind not in "fiu":
        msg = (
            f"targets reads as an array of {targets.dtype} of shape {targets.shape}. Pass a matrix "
            f"of distances (n_samples by n_samples), or one distance for every pair in keep."
        )
        raise InvalidInputError(msg)
    if targets.ndim != 2:
        return None
    if targets.shape != (distinct.n_samples, distinct.n_samples):
        msg = (
            f"targets has shape {targets.shape}, but a distance is needed for every two of the "
            f"{distinct.n_samples} samples, or one for every pair in keep."
        )
        raise InvalidInputError(msg)
    matrix = np.asarray(check_distances(targets, name="targets"), dtype=np.float64)
    at_nodes = matrix[np.ix_(distinct.sample_of_node, distinct.sample_of_node)]
    off = ~np.eye(distinct.n_nodes, dtype=bool)
    if np.any(at_nodes[off] == 0.0):
        i, j = np.argwhere((at_nodes == 0.0) & off)[0]
        first, second = distinct.sample_of_node[[i, j]]
        msg = (
            f"targets asks for distance zero between the samples {first} and {second}, which are "
            f"different. Errors are relative to targets, so that these must be positive. Pass a "
            f"small distance, or give both samples the same features."
        )
        raise InvalidInputError(msg)
    squared: FloatArray = at_nodes**2
    return squared


def _listed_targets(requested: RequestedPairs, n_pairs: int) -> FloatArray:
    """Return one target for every pair in keep."""
    targets = np.asarray(requested.targets, dtype=np.float64)
    is_list = requested.keep is not None and not sp.issparse(requested.keep)
    if not is_list or isinstance(requested.keep, NeighborGraph) or targets.shape != (n_pairs,):
        msg = (
            f"targets has shape {targets.shape}. Pass a matrix of distances (n_samples by "
            f"n_samples), or an array of pairs as keep and one distance for each of them."
        )
        raise InvalidInputError(msg)
    return _positive(targets, name="targets")


def _positive(values: FloatArray, *, name: str) -> FloatArray:
    check_finite(values, name=name, advice="Pass finite distances.")
    if len(values) and values.min() <= 0.0:
        entry = int(np.argmin(values))
        msg = (
            f"{name} holds the distance {values[entry]:g} (entry {entry}). Errors are relative to "
            f"target distances, so that these must be positive. To map two samples to the same "
            f"point, pass a small distance."
        )
        raise InvalidInputError(msg)
    return values


def _read_side(
    given: Any, distinct: DistinctSamples, *, name: str
) -> tuple[IntArray, FloatArray | None]:
    """Return pairs of samples, and their distances if these are given with them."""
    if isinstance(given, NeighborGraph):
        if given.n_samples != distinct.n_samples:
            msg = (
                f"{name} is a graph of {given.n_samples} samples, but X has {distinct.n_samples}. "
                f"Pass the graph of the same samples."
            )
            raise InvalidInputError(msg)
        return given.sample_of_node[given.edges], given.lengths.astype(np.float64)
    if sp.issparse(given):
        matrix = check_graph(given, name=name)
        if matrix.shape[0] != distinct.n_samples:
            msg = f"{name} has {matrix.shape[0]} rows, but X has {distinct.n_samples} samples."
            raise InvalidInputError(msg)
        off = matrix.row != matrix.col
        pairs = np.column_stack([matrix.row[off], matrix.col[off]]).astype(np.intp)
        return pairs, _positive(matrix.data[off].astype(np.float64), name=name)
    pairs = np.asarray(given)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.intp), None
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        msg = (
            f"{name} has shape {pairs.shape} and dtype {pairs.dtype}. Pass two sample numbers a "
            f"row, or a sparse matrix (n_samples by n_samples) of target distances."
        )
        raise InvalidInputError(msg)
    if pairs.min() < 0 or pairs.max() >= distinct.n_samples:
        msg = (
            f"{name} names sample {pairs.min() if pairs.min() < 0 else pairs.max()}, but samples "
            f"are 0 to {distinct.n_samples - 1}."
        )
        raise InvalidInputError(msg)
    if np.any(pairs[:, 0] == pairs[:, 1]):
        msg = f"{name} pairs sample {pairs[pairs[:, 0] == pairs[:, 1]][0, 0]} with itself."
        raise InvalidInputError(msg)
    return pairs.astype(np.intp), None


def _at_nodes(
    pairs: IntArray,
    lengths: FloatArray | None,
    distinct: DistinctSamples,
    matrix: FloatArray | None,
    *,
    name: str,
) -> tuple[IntArray, FloatArray]:
    """Return pairs of nodes, each once, with their target distances."""
    nodes = np.sort(distinct.node_of_sample[pairs], axis=1)
    apart = nodes[:, 0] != nodes[:, 1]
    if lengths is not None and not np.all(apart):
        first, second = pairs[~apart][0]
        msg = (
            f"{name} asks for distance {lengths[~apart][0]:g} between the samples {first} and "
            f"{second}, but they have the same features: every map takes them to the same point. "
            f"Leave the pair out."
        )
        raise InvalidInputError(msg)
    nodes = nodes[apart]
    _, first, which = np.unique(
        pair_keys(nodes, distinct.n_nodes), return_index=True, return_inverse=True
    )
    unique = nodes[first]
    if lengths is None:
        squared = distinct.squared if matrix is None else matrix
        return unique, np.sqrt(squared[unique[:, 0], unique[:, 1]])
    targets = lengths[first]
    differs = np.abs(lengths - targets[which]) > SAME * targets[which]
    if np.any(differs):
        at = int(np.flatnonzero(differs)[0])
        i, j = pairs[at]
        msg = (
            f"{name} holds contradictory targets for the samples {i} and {j} (or copies of them): "
            f"{targets[which[at]]:g} and {lengths[at]:g}. Pass one distance for each pair."
        )
        raise InvalidInputError(msg)
    return unique, targets


def _free_pairs(requested: RequestedPairs, distinct: DistinctSamples) -> IntArray:
    if requested.free is None:
        return np.empty((0, 2), dtype=np.intp)
    pairs, _ = _read_side(requested.free, distinct, name="free")
    nodes = np.sort(distinct.node_of_sample[pairs], axis=1)
    return np.unique(nodes[nodes[:, 0] != nodes[:, 1]], axis=0)


def _all_pulls(distinct: DistinctSamples, matrix: FloatArray | None) -> FloatArray:
    squared = (distinct.squared if matrix is None else matrix).copy()
    np.fill_diagonal(squared, 1.0)
    pull: FloatArray = 1.0 / squared
    np.fill_diagonal(pull, 0.0)
    return pull


def _clear(pull: FloatArray, pairs: IntArray) -> None:
    pull[pairs[:, 0], pairs[:, 1]] = pull[pairs[:, 1], pairs[:, 0]] = 0.0


def _refuse_both(
    pairs: IntArray, other: IntArray, distinct: DistinctSamples, *, names: tuple[str, str]
) -> None:
    """Refuse a pair that is on two sides."""
    shared = np.isin(pair_keys(pairs, distinct.n_nodes), other)
    if np.any(shared):
        first, second = distinct.sample_of_node[pairs[shared][0]]
        msg = (
            f"{int(shared.sum())} pair(s) are in both {names[0]} and {names[1]}, the first of the "
            f"samples {first} and {second} (or copies of them). A pair has one role: leave it out "
            f"of one of the two."
        )
        raise InvalidInputError(msg)
