"""Kernels as methods see them: the values of all pairs of training objects, and rows of new ones.

A kernel comes as a name (for points), as values, or as a function of two collections of objects,
which are handed to it as they are. Divided by √(k_ii k_jj) it has a unit diagonal: kernels of
strings and graphs grow with the size of an object, and the largest would be similar to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import scipy.sparse as sp

from isofold._findings import parameter, setting
from isofold._memory import block_rows, require_memory
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import (
    check_finite,
    check_positive,
    check_square,
    check_symmetric,
    check_units,
    symmetry_tolerance,
)
from isofold.exceptions import InvalidInputError
from isofold.linalg.rows import row_product
from isofold.similarity.kernel_function import KernelFunction
from isofold.similarity.objects import ObjectKernel

__all__ = ["ComparedRows", "Gram", "Kernel", "KernelSource", "RawObjects", "is_sparse", "read_gram"]

NAMED = ("rbf", "linear")

SAME = 16.0
"""Squared distances of up to this many roundings of the largest k_ii in size are zero."""

RECOGNIZED = 1e-12
"""The same for a new object that is a training object: a function rounds otherwise if it is called
with other objects beside."""

Kernel: TypeAlias = (
    Literal["rbf", "linear", "precomputed"] | ObjectKernel | Callable[[Any, Any], Any]
)


@dataclass(frozen=True, eq=False)
class RawObjects(Sequence[Any]):
    """Objects as their user gave them, with the little that an array of samples also has."""

    items: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int]:
        """Number of samples."""
        return (len(self.items),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of what is computed from them."""
        return np.dtype(np.float64)

    @property
    def data(self) -> FloatArray:
        """The numbers that they hold for certain: none."""
        return np.empty(0)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return list(self.items[index]) if isinstance(index, slice) else self.items[index]


@dataclass(frozen=True, eq=False)
class ComparedRows:
    """Kernel values of some objects.

    Attributes
    ----------
    values : ndarray or csr_array of shape (n_rows, n)
        Their kernel with every training object.
    own : ndarray of shape (n_rows,)
        Their kernel with themselves.
    """

    values: Any
    own: FloatArray


@dataclass(frozen=True, eq=False)
class KernelSource:
    """A kernel, and the training objects with which it compares new ones.

    Attributes
    ----------
    kernel : KernelFunction, ObjectKernel or callable
        The kernel; "precomputed" is a `KernelFunction`, too.
    objects : ndarray, RawObjects or None
        The training objects; None if rows hold kernel values.
    own : ndarray of shape (n,)
        Their kernel with themselves, as it is given.
    normalize : bool
        Whether values are divided by √(k_xx k_yy).
    eps : float
        Relative rounding of the values.
    signatures : ndarray of shape (n,) or None
        Of precomputed values the sum of every row, with weights, by which a row is recognized.
    """

    kernel: Any
    objects: FloatArray | RawObjects | None
    own: FloatArray
    normalize: bool
    eps: float
    signatures: FloatArray | None = None

    @property
    def n_objects(self) -> int:
        """Number of training objects."""
        return len(self.own)

    @property
    def own_values(self) -> FloatArray:
        """The diagonal of the kernel as methods see it."""
        return (self.own != 0.0).astype(np.float64) if self.normalize else self.own

    def rows(self, X: Any) -> ComparedRows:
        """Return the kernel of objects with the training objects, each row from its object alone.

        Of precomputed rows k(x, x) is not known. It is that of the training objects if they all
        have the same, else the least that is possible, max_j k_xj²/k_jj. This is right for
        training objects.
        """
        if self.objects is None:
            raw = sp.csr_array(X, dtype=np.float64) if is_sparse(X) else X.astype(np.float64)
            own = self._likely_own(raw)
        elif isinstance(self.kernel, KernelFunction):
            raw = self.kernel.rows(X, np.asarray(self.objects))
            own = _own_of_points(self.kernel, X)
        else:
            raw, own = self._called_rows(X)
        if not self.normalize:
            return ComparedRows(raw, own)
        return ComparedRows(_scaled(raw, own, self.own), (own != 0.0).astype(np.float64))

    def nearest_copy(self, rows: ComparedRows) -> tuple[IntArray, BoolArray]:
        """Return the training object nearest to each row, and whether they are the same one."""
        own = self.own_values
        if is_sparse(rows.values):
            nearest, values = _nearest_stored(rows.values, rows.own, own)
        else:
            squares = rows.own[:, None] + own - 2.0 * rows.values
            nearest = squares.argmin(axis=1)
            values = rows.values[np.arange(len(nearest)), nearest]
        squares = np.abs(rows.own + own[nearest] - 2.0 * values)
        limit = self._rounding
        is_copy = (squares <= limit * own[nearest]) & (own[nearest] > 0.0)
        if self.signatures is not None:
            # The norm of such a row is only the least possible one, which is no proof.
            differences = np.abs(_signatures(rows.values) - self.signatures[nearest])
            is_copy &= differences <= limit * own.sum()
        return nearest, is_copy

    @property
    def _rounding(self) -> float:
        return max(RECOGNIZED, SAME * self.eps)

    def _likely_own(self, raw: Any) -> FloatArray:
        # Normalized kernels have ones that are rounded.
        if np.ptp(self.own) <= self._rounding * self.own.max():
            return np.full(raw.shape[0], self.own[0])
        inverse = np.where(self.own > 0.0, 1.0 / np.where(self.own > 0.0, self.own, 1.0), 0.0)
        least = (raw.multiply(raw) if is_sparse(raw) else raw**2) * inverse
        if is_sparse(least):
            return np.asarray(least.max(axis=1).todense(), dtype=np.float64).ravel()
        return np.asarray(least.max(axis=1))

    def _called_rows(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Call a function with one object at a time, so that its rounding is always the same."""
        raw, own = np.empty((len(X), self.n_objects)), np.empty(len(X))
        training = _handed(self.objects)
        for i in range(len(X)):
            one = _handed(X[i : i + 1])
            raw[i] = _called(self.kernel, one, training, (1, self.n_objects))[0]
            own[i] = _called(self.kernel, one, one, (1, 1))[0, 0]
        return raw, own


@dataclass(frozen=True, eq=False)
class Gram:
    """The kernel of all pairs of training objects.

    Attributes
    ----------
    source : KernelSource
        The kernel.
    values : ndarray, csr_array or None
        All values; of a sparse matrix those that are not zero. None if they are computed from
        points when they are asked for.
    """

    source: KernelSource
    values: Any

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return self.source.n_objects

    @property
    def own(self) -> FloatArray:
        """The diagonal."""
        return self.source.own_values

    @property
    def is_sparse(self) -> bool:
        """Whether most values are zero and not stored."""
        return is_sparse(self.values)

    def restrict(self, chosen: IntArray) -> Gram:
        """Return the kernel of some of the objects."""
        source = self.source
        objects = source.objects
        if isinstance(objects, RawObjects):
            objects = RawObjects(tuple(objects.items[i] for i in chosen))
        elif objects is not None:
            objects = objects[chosen]
        values = None if self.values is None else self.values[chosen][:, chosen]
        signatures = None if source.signatures is None else _signatures(values)
        own = source.own[chosen]
        return Gram(replace(source, objects=objects, own=own, signatures=signatures), values)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the rows of a dense kernel, some at a time."""
        n = self.n_objects
        step = block_rows(6 * 8 * n, n)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            yield rows, self.block(np.arange(rows.start, rows.stop))

    def block(self, rows: IntArray, columns: IntArray | None = None) -> FloatArray:
        """Return some rows, and of these some columns, as a dense matrix."""
        if self.values is None:
            source = self.source if columns is None else self.restrict(columns).source
            return np.asarray(source.rows(np.asarray(self.source.objects)[rows]).values)
        found = self.values[rows] if columns is None else self.values[rows][:, columns]
        return found.toarray() if is_sparse(found) else np.asarray(found)

    def dense(self, what: str) -> FloatArray:
        """Return all values as one dense matrix, if there is the memory for what it is used for."""
        n = self.n_objects
        require_memory(
            3 * 8 * n**2,
            what=f"{what} of {n} objects",
            instead="Fit a sample of the objects, and transform the rest.",
        )
        return self.block(np.arange(n))


def read_gram(X: Any, kernel: Any, gamma: Any, *, normalize: bool) -> Gram:
    """Return the kernel of objects, checked; asymmetric values and NaN are refused."""
    named = isinstance(kernel, str)
    if named and kernel in NAMED:
        check_units(X, name="X")
        points = np.ascontiguousarray(X, dtype=np.float64)
        function = KernelFunction(kernel, _read_gamma(gamma, points))
        own = _own_of_points(function, points)
        return Gram(KernelSource(function, points, own, normalize, _eps(np.float64)), None)
    if named and kernel == "precomputed":
        return _held(KernelFunction("precomputed"), None, X, normalize=normalize, name="X")
    if not callable(kernel):
        msg = (
            f"{setting('kernel', kernel)} must be 'rbf', 'linear', 'precomputed', a kernel of "
            f"isofold.similarity or a function of two collections of objects."
        )
        raise InvalidInputError(msg)
    n = len(X)
    require_memory(
        4 * 8 * n**2,
        what=f"The kernel of {n} objects",
        instead="Pass a sparse matrix of its largest values with kernel='precomputed'.",
    )
    values = _called(kernel, _handed(X), _handed(X), (n, n))
    return _held(kernel, X, values, normalize=normalize, name="The kernel of X")


def _held(kernel: Any, objects: Any, values: Any, *, normalize: bool, name: str) -> Gram:
    """Return a kernel of which all values are known."""
    eps = _eps(values.dtype)
    values = _symmetric(values, name=name)
    own = np.asarray(values.diagonal(), dtype=np.float64)
    if normalize:
        _refuse_no_norm(values, own, name=name)
    if normalize:
        values = _scaled(values, own, own)
    signatures = _signatures(values) if objects is None else None
    return Gram(KernelSource(kernel, objects, own, normalize, eps, signatures), values)


def _signatures(values: Any) -> FloatArray:
    """Return a sum of every row, with weights that no two different rows are likely to share."""
    weights = np.random.RandomState(0).uniform(0.5, 1.5, size=(values.shape[1], 1))
    product = values @ weights if is_sparse(values) else row_product(values, weights)
    return np.asarray(product)[:, 0]


def _symmetric(values: Any, *, name: str) -> Any:
    """Return a finite symmetric matrix in float64, without its rounding; refuse another one."""
    n = check_square(values.shape, name=name)
    if not is_sparse(values):
        check_symmetric(values, name=name)
        values = values.astype(np.float64)
        return (values + values.T) / 2.0
    values = sp.csr_array(values)
    values.sum_duplicates()
    eps, largest = _eps(values.dtype), float(np.abs(values.data).max(initial=0.0))
    difference = float(abs(values - values.T).max()) if values.nnz else 0.0
    if difference > symmetry_tolerance(n, largest, eps=eps):
        msg = (
            f"{name} is not symmetric: an entry differs from its mirror image by "
            f"{difference:.3g}. Store both, or pass {name}.maximum({name}.T) if either is right."
        )
        raise InvalidInputError(msg)
    values = values.astype(np.float64)
    return sp.csr_array((values + values.T) / 2.0)


def _refuse_no_norm(values: Any, own: FloatArray, *, name: str) -> None:
    """Refuse a kernel that has no norm of some object, which normalization divides by."""
    sizes = abs(values).max(axis=1)
    is_empty = np.asarray(sizes.todense() if is_sparse(sizes) else sizes).ravel() == 0.0
    bad = np.flatnonzero((own < 0.0) | ((own == 0.0) & ~is_empty))
    if len(bad):
        msg = (
            f"{name} has {own[bad[0]]:.3g} on its diagonal for sample {bad[0]} "
            f"({len(bad)} of {len(own)} are not positive), but a kernel is divided by the roots of "
            f"its diagonal. Pass a kernel with its diagonal, or "
            f"{parameter('normalize')}=False."
        )
        raise InvalidInputError(msg)


def _scaled(values: Any, own_rows: FloatArray, own: FloatArray) -> Any:
    """Return k_ij/√(k_ii k_jj); objects of norm zero keep their zeros."""
    left, right = (np.sqrt(np.where(each > 0.0, each, 1.0)) for each in (own_rows, own))
    if not is_sparse(values):
        return values / (left[:, None] * right)
    found = values.tocsr()
    rows = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    scaled = found.data / (left[rows] * right[found.indices])
    return sp.csr_array((scaled, found.indices, found.indptr), shape=found.shape)


def _nearest_stored(
    values: Any, own: FloatArray, others: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the stored entry of least distance in every row, and its value."""
    rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    squares = own[rows] + others[values.indices] - 2.0 * values.data
    order = np.lexsort((values.indices, squares, rows))
    first, at = np.unique(rows[order], return_index=True)
    nearest, found = np.zeros(values.shape[0], dtype=np.intp), np.zeros(values.shape[0])
    nearest[first] = values.indices[order][at]
    found[first] = values.data[order][at]
    return nearest, found


def _read_gamma(gamma: Any, points: FloatArray) -> float:
    """Return γ; by default one over the typical squared distance of two points.

    With so wide a kernel the weights of neighbors are much the same, and their order is kept. The
    median of squared distances to the median of the data does not depend on the order of samples.
    """
    if not (isinstance(gamma, str) and gamma == "auto"):
        if isinstance(gamma, str) or gamma is None:
            msg = f"{setting('gamma', gamma)} must be 'auto' or a positive number."
            raise InvalidInputError(msg)
        return check_positive(gamma, name="gamma")
    squares = np.sum((points - np.median(points, axis=0)) ** 2, axis=1)
    typical = 2.0 * (float(np.median(squares)) or float(np.mean(squares)))
    return 1.0 / typical if typical > 0.0 else 1.0


def _own_of_points(function: KernelFunction, X: FloatArray) -> FloatArray:
    if function.kind == "rbf":
        return np.ones(len(X))
    return np.asarray(np.sum(np.asarray(X, dtype=np.float64) ** 2, axis=1))


def _handed(objects: Any) -> Any:
    """Return objects as a user's function gets them: an array of points, or a list."""
    return list(objects) if isinstance(objects, RawObjects) else objects


def _called(kernel: Any, A: Any, B: Any, shape: tuple[int, int]) -> FloatArray:
    """Return what a user's function says of two collections, if it is a matrix of numbers."""
    same = A is B and isinstance(kernel, ObjectKernel)
    values = np.asarray(kernel(A) if same else kernel(A, B))
    if values.shape != shape or values.dtype.kind not in "fiub":
        msg = (
            f"The kernel function returned an array of shape {values.shape} and dtype "
            f"{values.dtype} for {shape[0]} and {shape[1]} objects. It must return the real number "
            f"k(A[i], B[j]) for all i and j; see {parameter('kernel')}."
        )
        raise InvalidInputError(msg)
    values = values.astype(np.float64)
    check_finite(values, name="The kernel of X", advice="Let the kernel return finite numbers.")
    return values


def is_sparse(values: Any) -> bool:
    """Return whether values are those of a sparse matrix."""
    return bool(sp.issparse(values))


def _eps(dtype: Any) -> float:
    return float(np.finfo(dtype if np.dtype(dtype).kind == "f" else np.float64).eps)
