"""The base of methods whose input is a kernel: points, kernel values or objects of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from isofold._base import refuse_few
from isofold._findings import Finding, Severity
from isofold._typing import FloatArray
from isofold._validation import (
    check_count,
    check_finite,
    check_flag,
    check_square,
    read_points,
    refuse_no_features,
)
from isofold.embedding.spectral_layout import SpectralLayout
from isofold.embedding.streamed import StreamedEmbedder
from isofold.exceptions import InvalidInputError
from isofold.extension.kernel_eigen_map import KernelEigenMap, KernelNodes, nystrom_factors
from isofold.neighbors import NeighborGraph
from isofold.similarity.kernel_graph import KernelGraph, build_kernel_graph, kernel_distances
from isofold.similarity.kernels import RawObjects, is_sparse, read_gram
from isofold.similarity.objects import is_table, read_objects

__all__ = [
    "KernelInput",
    "eigen_map",
    "find_components",
    "find_negative",
    "kernel_nodes",
    "length_graph",
]

VALUE_ADVICE = "Pass finite kernel values."


class KernelInput(StreamedEmbedder):
    """Base of embedders with parameters `kernel`, `gamma`, `normalize` and `n_neighbors`."""

    kernel: Any
    gamma: Any
    normalize: Any
    n_neighbors: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is_given
        return tags

    @property
    def _is_given(self) -> bool:
        """Whether X holds kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Return points, kernel values or objects as they are."""
        least = self._min_samples if reset else 1
        if callable(self.kernel) and not is_table(X):
            objects = RawObjects(tuple(read_objects(X)))
            refuse_few(self, len(objects), least)
            return objects
        if not self._is_given:
            return super()._validate(X, reset=reset)
        try:
            values = _read_values(X)
            if reset:
                check_square(values.shape, name="X")
                refuse_few(self, values.shape[0], least)
            validate_data(self, X, reset=reset, skip_check_array=True)
        except InvalidInputError:
            raise
        except ValueError as error:
            raise InvalidInputError(str(error)) from error
        return values

    def distances_between(self, X: Any) -> FloatArray | None:
        """Return the distances that the kernel means, or None if it is one of points.

        A similarity that is no kernel may mean negative squares, which count as zero.
        """
        if isinstance(self.kernel, str) and not self._is_given:
            return None
        seen = RawObjects(tuple(read_objects(X))) if not is_table(X) else np.asarray(X)
        gram = read_gram(seen, self.kernel, self.gamma, normalize=bool(self.normalize))
        values = gram.dense("The distances")
        squares = np.maximum(gram.own[:, None] + gram.own - 2.0 * values, 0.0)
        np.fill_diagonal(squares, 0.0)
        return np.asarray(np.sqrt(squares))

    def _kernel_graph(self, X: Any) -> KernelGraph:
        """Return the graph of the largest kernel values."""
        k = check_count(self.n_neighbors, name="n_neighbors")
        normalize = check_flag(self.normalize, name="normalize")
        gram = read_gram(X, self.kernel, self.gamma, normalize=normalize)
        return build_kernel_graph(gram, max(1, min(k, gram.n_objects - 1)))


def _read_values(X: Any) -> Any:
    """Return finite kernel values, dense or sparse."""
    if not is_sparse(X):
        values = read_points(X, name="X")
        refuse_no_features(values, name="X")
        check_finite(values, name="X", advice=VALUE_ADVICE)
        return values
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "fiub":
        msg = (
            f"X is a sparse matrix of shape {X.shape} and dtype {X.dtype}, but kernel values are "
            f"real numbers, one row and one column a sample. Pass such a matrix."
        )
        raise InvalidInputError(msg)
    stored: Any = sp.csr_array(X)
    if stored.dtype not in (np.float32, np.float64):
        stored = stored.astype(np.float64)
    check_finite(stored.data, name="X (its stored entries)", advice=VALUE_ADVICE)
    return stored


def kernel_nodes(graph: KernelGraph) -> KernelNodes:
    """Return the training objects with which new ones are compared."""
    source = graph.gram.source
    columns = graph.sample_of_node if source.objects is None else None
    return KernelNodes(source, columns, graph.reach, graph.n_neighbors)


def eigen_map(graph: KernelGraph, layout: SpectralLayout) -> KernelEigenMap:
    """Return the map of new objects among the eigenvectors of a graph."""
    return KernelEigenMap(
        kernel_nodes(graph),
        layout.shapes,
        nystrom_factors(layout.eigenvalues),
        layout.component,
        layout.motions,
        layout.points,
    )


def length_graph(graph: KernelGraph) -> NeighborGraph:
    """Return the graph with the kernel's distances √(k_ii + k_jj − 2k_ij) as lengths.

    A kernel that is not positive semidefinite has none between some objects; they are left out.
    """
    edges = np.stack(sp.coo_array(sp.triu(graph.weights)).coords, axis=1).astype(np.intp)
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    lengths = kernel_distances(graph.gram, edges)
    edges, lengths = edges[lengths > 0.0], lengths[lengths > 0.0]
    return NeighborGraph(
        n_nodes=graph.n_nodes,
        edges=edges,
        lengths=lengths,
        node_of_sample=graph.node_of_sample,
        sample_of_node=graph.sample_of_node,
        is_bridge=np.zeros(len(edges), dtype=bool),
    )


def find_negative(graph: KernelGraph) -> Iterator[Finding]:
    """Yield a note if some values of the kernel are no weights."""
    if graph.negative > 0.0:
        yield Finding.of("negative_kernel", value=graph.negative)


def find_components(layout: SpectralLayout) -> Iterator[Finding]:
    """Yield a doubt if there are several components: how they lie to each other means little."""
    n_single = sum(size == 1 for size in layout.sizes)
    if layout.n_parts > 1:
        yield Finding.of(
            "components",
            Severity.DOUBT,
            form="kernel_singles" if n_single else "kernel",
            value=layout.n_parts,
            sizes=layout.sizes,
            n_single=n_single,
        )
