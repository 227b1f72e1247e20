"""The one door for samples of any kind: what comes in, and what a method sees of it.

    X → points, if they are compared by straight distances
      → distances, for methods that take them
      → points with these distances (classical scaling), for methods that need points

New samples come in the same way: by their distances to the training samples, which Gower's formula
turns into points of the same frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from isofold._base import read_samples, refuse_few
from isofold._findings import Finding, setting
from isofold._memory import require_memory
from isofold._typing import FloatArray, IntArray
from isofold._validation import (
    check_distances,
    check_finite,
    check_graph,
    check_units,
    read_points,
    refuse_no_distances,
    refuse_no_features,
)
from isofold.exceptions import InvalidInputError
from isofold.linalg import PrincipalFrame
from isofold.neighbors.graph import distances_between_nodes
from isofold.similarity.comparison import PairComparison, check_kernel, kernel_squares
from isofold.similarity.nearest import graph_of_nearest
from isofold.similarity.objects import is_table, read_objects

__all__ = [
    "Intake",
    "distances_of",
    "read_compared",
    "read_first",
    "read_more",
    "read_pair_rows",
    "read_pairs",
]

LARGEST_NEGATIVE = 0.01
"""Fraction of the spectrum that no points can have from which on a finding says so."""


SAME_NORM = 1e-6
"""Relative difference up to which the kernels of samples with themselves are one number: normalized
ones are, but for rounding, also in single precision."""

MOST_PAIRED, GRAPH_NEIGHBORS = 10_000, 64
"""Rows up to which all distances by another metric than the straight one are computed, and nearest
rows to which they are, of more. Of 3,000 digits by cosine, mapped by their neighbors from such a
graph, trustworthiness is .976 and not .980, and as many neighbors are kept."""


@dataclass(frozen=True, eq=False)
class Intake:
    """What is kept of training samples so that new ones can come in.

    Attributes
    ----------
    comparison : PairComparison
        How samples are compared.
    samples : sequence or None
        The training samples; None if values of pairs are given.
    own : ndarray of shape (n_samples,) or None
        k(x, x) of the training samples, if they are compared by a kernel.
    nodes : ndarray of int or None
        The first of samples that are copies, if the method sees points.
    frame : PrincipalFrame or None
        The frame of these points.
    """

    comparison: PairComparison
    samples: Any = None
    own: FloatArray | None = None
    nodes: IntArray | None = None
    frame: PrincipalFrame | None = None

    @property
    def sees_points(self) -> bool:
        """Whether the method sees points."""
        return self.comparison.is_euclidean or self.frame is not None

    def findings(self) -> Iterator[Finding]:
        """Yield a finding if no points have the distances that a method takes for those of points.

        It works with points that have about these distances.
        """
        if self.frame is not None:
            yield Finding.checked(
                "not_euclidean",
                self.frame.negative,
                LARGEST_NEGATIVE,
                is_raised=self.frame.negative > LARGEST_NEGATIVE,
            )

    def seen(self, distances: Any) -> Any:
        """Return what the method sees of new samples at these distances."""
        if self.frame is None or self.nodes is None:
            return distances
        # In one layout: the order of a sum follows that of the memory.
        rows = np.ascontiguousarray(distances).take(self.nodes, axis=1)
        points = self.frame.place(rows.astype(np.float64) ** 2)
        # Exactly where a training sample is that it copies.
        nearest = rows.argmin(axis=1)
        is_copy = rows[np.arange(len(rows)), nearest] == 0.0
        points[is_copy] = self.frame.coordinates[nearest[is_copy]]
        return points.astype(distances.dtype)

    def distances_by_kernel(self, rows: FloatArray, own: FloatArray | None) -> FloatArray:
        """Return the distances of new samples with given kernel values to the training samples."""
        trained = np.asarray(self.own)
        if own is None:
            own = _least_own(rows, trained)
        squares = own[:, None] + trained - 2.0 * rows.astype(np.float64)
        largest = max(float(np.abs(trained).max()), float(np.abs(own).max(initial=0.0)))
        rounding = 8.0 * float(np.finfo(rows.dtype).eps) * largest
        squares[squares <= rounding] = 0.0
        return np.asarray(np.sqrt(squares)).astype(rows.dtype)


def _least_own(rows: FloatArray, own: FloatArray) -> FloatArray:
    """Return k(x, x) of samples whose kernel with others is known alone.

    That of the training samples if it is always the same; otherwise the least that is possible,
    k(x, y)² ≤ k(x, x) k(y, y), with which training samples are recognized.
    """
    if np.ptp(own) <= SAME_NORM * np.abs(own).max():
        return np.full(len(rows), float(own[0]))
    positive = own > 0.0
    return np.asarray((rows[:, positive] ** 2 / own[positive]).max(axis=1, initial=0.0))


def read_pairs(
    estimator: BaseEstimator, X: Any, comparison: PairComparison, *, min_samples: int
) -> tuple[Intake, Any]:
    """Return the distances or the kernel of the samples that an estimator is fitted to."""
    samples: Sequence[Any] | None = None
    with _as_input_error():
        if comparison.is_given:
            values = _read_pairs(X, comparison, square=True)
        else:
            samples = _read_samples(X, comparison)
            refuse_few(estimator, len(samples), min_samples)
            values = comparison.among(samples)
        refuse_few(estimator, values.shape[0], min_samples)
        _record_features(estimator, X, comparison, reset=True)
    own = None if comparison.kernel is None else values.diagonal().astype(np.float64)
    return Intake(comparison, samples, own), values


def read_pair_rows(
    estimator: BaseEstimator, X: Any, intake: Intake
) -> tuple[Any, FloatArray | None]:
    """Return the distances or kernel values of new samples, and their own kernel if it is known."""
    comparison = intake.comparison
    with _as_input_error():
        if intake.samples is None:
            rows = _read_pairs(X, comparison, square=False)
            _record_features(estimator, X, comparison, reset=False)
            return rows, None
        new = _read_samples(X, comparison)
        _refuse_other_kind(new, intake.samples)
        _record_features(estimator, X, comparison, reset=False)
        values = comparison.between(new, intake.samples)
        if comparison.kernel is None:
            return values, None
        alone = [comparison.between(new[i : i + 1], new[i : i + 1]) for i in range(len(new))]
        return values, np.concatenate(alone)[:, 0].astype(np.float64)


def read_first(
    estimator: BaseEstimator,
    X: Any,
    comparison: PairComparison,
    *,
    takes_distances: bool,
    min_samples: int,
    most_paired: int = MOST_PAIRED,
) -> tuple[Intake, Any]:
    """Return the samples that an estimator is fitted to, as it sees them.

    These are finite points, dense distances, or a sparse graph of known distances. Of more rows
    than `most_paired` with another metric, only the distances to the nearest are computed.
    """
    if comparison.is_euclidean:
        _refuse_text(X)
        points = read_samples(estimator, X, reset=True, min_samples=min_samples)
        return Intake(comparison), points
    if takes_distances and comparison.is_named and _n_rows(X) > most_paired:
        return _read_graph(estimator, X, comparison)
    intake, values = read_pairs(estimator, X, comparison, min_samples=min_samples)
    if comparison.kernel is not None:
        values = np.sqrt(kernel_squares(values)).astype(values.dtype)
    return (intake, values) if takes_distances else _in_frame(estimator, intake, values)


def read_compared(X: Any, metric: Any) -> tuple[PairComparison, Sequence[Any]]:
    """Return how samples are compared by a metric that is neither straight nor given, and them."""
    comparison = PairComparison.read(metric, None)
    return comparison, _read_samples(X, comparison)


def _n_rows(X: Any) -> int:
    """Return how many rows a table has, before it is read; 0 of what is none."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(X) if isinstance(X, Sized) else 0
    return int(shape[0]) if shape else 0


def _read_graph(estimator: BaseEstimator, X: Any, comparison: PairComparison) -> tuple[Intake, Any]:
    """Return the graph of the nearest of many rows."""
    with _as_input_error():
        samples = _read_samples(X, comparison)
        k = min(GRAPH_NEIGHBORS, len(samples) - 1)
        n_jobs = getattr(estimator, "n_jobs", None)
        graph = graph_of_nearest(samples, comparison, k, n_jobs=n_jobs)
        _record_features(estimator, X, comparison, reset=True)
    return Intake(comparison, samples), graph


def read_more(estimator: BaseEstimator, X: Any, intake: Intake) -> Any:
    """Return new samples as the fitted estimator sees them."""
    if intake.comparison.is_euclidean:
        return read_samples(estimator, X, reset=False)
    values, own = read_pair_rows(estimator, X, intake)
    if intake.comparison.kernel is not None:
        values = intake.distances_by_kernel(values, own)
    if sp.issparse(values) and intake.frame is not None:
        _refuse_graph(estimator)
    return intake.seen(values)


@contextmanager
def _as_input_error() -> Iterator[None]:
    """Make scikit-learn's errors about input ours."""
    try:
        yield
    except InvalidInputError:
        raise
    except ValueError as error:
        raise InvalidInputError(str(error)) from error


def distances_of(comparison: PairComparison, X: Any) -> Any:
    """Return the distances of samples that are compared in some way."""
    if comparison.is_given:
        values = _read_pairs(X, comparison, square=True)
    else:
        values = comparison.among(_read_samples(X, comparison))
    if comparison.kernel is None:
        return values
    return np.sqrt(kernel_squares(values)).astype(values.dtype)


def _in_frame(
    estimator: BaseEstimator, intake: Intake, distances: Any
) -> tuple[Intake, FloatArray]:
    """Return points with given distances."""
    if sp.issparse(distances):
        _refuse_graph(estimator)
    n = len(distances)
    require_memory(
        5 * 8 * n * n,
        what=f"Points with the distances of {n} samples",
        instead="Use isofold.NeighborMap or isofold.LocalMDS, which work with distances; or fit a "
        "sample of the data, and transform the rest.",
    )
    if distances.size and float(distances.max()) > 0.0:
        check_units(distances, name="X (distances)", given="X")
    between, distinct = distances_between_nodes(distances)
    wanted = getattr(estimator, "n_components", None)
    least = min(int(wanted), n) if isinstance(wanted, Integral) else 1
    frame = PrincipalFrame.of(between.astype(np.float64) ** 2, least=least)
    # Few samples, or those of a line, extend along fewer axes than a map has.
    frame = frame.padded(least)
    points = frame.coordinates.astype(distances.dtype)[distinct.node_of_sample]
    return replace(intake, nodes=distinct.sample_of_node, frame=frame), points


def _read_pairs(X: Any, comparison: PairComparison, *, square: bool) -> Any:
    """Return given distances or kernel values."""
    if comparison.kernel is None and sp.issparse(X):
        return check_graph(X, square=square).tocsr()
    if sp.issparse(X):
        msg = (
            "X is a sparse kernel, but distances need all of its values. Pass X.toarray(); or use "
            "isofold.KernelLaplacianEigenmaps, which takes a sparse kernel as it is."
        )
        raise InvalidInputError(msg)
    values = read_points(X, name="X")
    refuse_no_features(values, name="X")
    if comparison.kernel is not None:
        if square:
            return check_kernel(values, name="X")
        check_finite(values, name="X", advice="Pass finite kernel values.")
        return values
    if square:
        return check_distances(values)
    refuse_no_distances(values, name="X")
    return values


def _read_samples(X: Any, comparison: PairComparison) -> Sequence[Any]:
    """Return samples that are compared by a function or a named metric."""
    if comparison.takes_objects and not is_table(X):
        # A copy of the list, not of the objects.
        return read_objects(X)
    points = read_points(X, name="X")
    refuse_no_features(points, name="X")
    if not comparison.allows_missing:
        check_finite(points, name="X")
    elif np.isinf(points).any():
        msg = "X contains infinite values. Missing values are NaN."
        raise InvalidInputError(msg)
    return points.copy()  # type: ignore[return-value]  # rows are samples


def _record_features(
    estimator: BaseEstimator, X: Any, comparison: PairComparison, *, reset: bool
) -> None:
    """Record or check the number and names of features, where samples have any."""
    if comparison.is_given or is_table(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)


def _refuse_other_kind(new: Sequence[Any], samples: Sequence[Any]) -> None:
    """Refuse points where objects are expected, and the other way around."""
    if isinstance(samples, np.ndarray) != isinstance(new, np.ndarray):
        kinds = ["objects", "rows of a table"]
        is_rows = isinstance(samples, np.ndarray)
        msg = (
            f"X holds {kinds[not is_rows]}, but the estimator was fitted to {kinds[is_rows]}. Pass "
            f"new samples in the form of the first ones."
        )
        raise InvalidInputError(msg)


def _refuse_text(X: Any) -> None:
    """Refuse strings where points are expected, and say how they are compared."""
    if isinstance(X, list | tuple) and len(X) and all(isinstance(item, str) for item in X):
        msg = (
            "X holds text, which has no distances by itself. Pass a distance or a kernel of "
            "isofold.similarity, such as metric=EditDistance(), or encode "
            "the text as numbers first."
        )
        raise InvalidInputError(msg)


def _refuse_graph(estimator: BaseEstimator) -> None:
    msg = (
        f"X is a sparse matrix: a graph of known distances. {type(estimator).__name__} needs all "
        f"distances. Pass a dense matrix of all, or use isofold.LocalMDS, isofold.NeighborMap or "
        f"isofold.MVU, which take a graph. See {setting('metric', 'precomputed')}."
    )
    raise InvalidInputError(msg)
