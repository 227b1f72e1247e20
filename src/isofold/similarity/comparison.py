"""How samples are compared: by a metric, or by a kernel, which means the distances in its space.

    d(x, y)² = k(x, x) + k(y, y) − 2 k(x, y)

A metric or a kernel is a name, a function, one of `isofold.similarity`, or "precomputed".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from isofold._findings import setting
from isofold._memory import block_rows, require_memory
from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold._validation import check_distances, check_finite, check_square, check_symmetric
from isofold.exceptions import InvalidInputError
from isofold.similarity.objects import ObjectDistance, ObjectKernel

__all__ = ["PairComparison", "kernel_squares"]

BY_PAIRS = {
    "l1": "cityblock",
    "manhattan": "cityblock",
    "cityblock": "cityblock",
    "l2": "euclidean",
    "cosine": "cosine",
    "correlation": "correlation",
    "chebyshev": "chebyshev",
    "sqeuclidean": "sqeuclidean",
    "canberra": "canberra",
    "braycurtis": "braycurtis",
    "hamming": "hamming",
    "jensenshannon": "jensenshannon",
}
"""Metrics that SciPy computes pair by pair, so that a row has the same bytes in any company."""

ANGULAR = ("cosine", "correlation")
"""One minus the cosine of an angle."""

BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
"""Metrics of true and false, which SciPy has, too."""

METRIC_NAMES = (
    "euclidean", "precomputed", *BY_PAIRS, *BOOLEAN, "haversine", "nan_euclidean"
)  # fmt: skip

OF_DATA = {"mahalanobis": "whiten X, for example with sklearn.decomposition.PCA(whiten=True),",
           "seuclidean": "scale X with sklearn.preprocessing.StandardScaler"}  # fmt: skip
"""Metrics whose meaning depends on the data in the call."""

NO_DISTANCE = 8.0
"""Squared distances up to this many roundings of the largest value of a kernel, in its dtype, are
zero; and so are distances that are one minus a cosine."""

N_MIRRORED = 64
"""Pairs that a function is called with both ways around, to see whether it is symmetric."""


@dataclass(frozen=True, eq=False)
class PairComparison:
    """How samples are compared.

    Attributes
    ----------
    metric : str, callable or ObjectDistance
        A name, a function of two samples, or a function of two collections.
    kernel : "precomputed", callable, ObjectKernel or None
        A function of two collections; None if samples are compared by the metric.
    """

    metric: Any = "euclidean"
    kernel: Any = None

    @classmethod
    def read(cls, metric: Any, kernel: Any) -> PairComparison:
        """Return what an estimator's parameters mean."""
        is_name = isinstance(metric, str)
        if is_name and metric in OF_DATA:
            msg = (
                f"{setting('metric', metric)} depends on the data that it is computed from, so "
                f"that new points would be measured in other units. Instead, {OF_DATA[metric]} "
                f"and use {setting('metric', 'euclidean')}."
            )
            raise InvalidInputError(msg)
        if (is_name and metric not in METRIC_NAMES) or not (is_name or callable(metric)):
            msg = (
                f"{setting('metric', metric)} is unknown. Choose one of "
                f"{', '.join(METRIC_NAMES)}, a function of two samples, or a distance of "
                f"isofold.similarity."
            )
            raise InvalidInputError(msg)
        if kernel is None:
            return cls(metric)
        if metric != "euclidean":
            msg = (
                f"{setting('metric', metric)} and {setting('kernel', kernel)} both say how samples "
                f"are compared. Pass one of them."
            )
            raise InvalidInputError(msg)
        if not callable(kernel) and not (isinstance(kernel, str) and kernel == "precomputed"):
            msg = (
                f"{setting('kernel', kernel)} must be 'precomputed', a function of two collections "
                f"of samples, a kernel of isofold.similarity, or None."
            )
            raise InvalidInputError(msg)
        return cls("euclidean", kernel)

    @property
    def is_euclidean(self) -> bool:
        """Whether samples are points as they are."""
        return self.kernel is None and isinstance(self.metric, str) and self.metric == "euclidean"

    @property
    def is_given(self) -> bool:
        """Whether X holds the distances or kernel values of pairs."""
        how = self.metric if self.kernel is None else self.kernel
        return isinstance(how, str) and how == "precomputed"

    @property
    def is_named(self) -> bool:
        """Whether rows of numbers are compared by a metric with a name."""
        return self.kernel is None and isinstance(self.metric, str) and not self.is_given

    @property
    def takes_objects(self) -> bool:
        """Whether samples may be anything."""
        return callable(self.metric) or callable(self.kernel)

    @property
    def allows_missing(self) -> bool:
        """Whether rows may have missing values."""
        return isinstance(self.metric, str) and self.metric == "nan_euclidean"

    def among(self, samples: Sequence[Any]) -> FloatArray:
        """Return the distances or the kernel of samples among themselves, checked."""
        n = len(samples)
        require_memory(
            4 * 8 * n * n,
            what=f"All distances between {n} samples",
            instead=self._for_many(),
        )
        if self.kernel is not None:
            return check_kernel(_matrix(self.kernel, samples, samples, what="kernel"))
        if callable(self.metric) and not isinstance(self.metric, ObjectDistance):
            return check_distances(_pairs_once(self.metric, samples), name="The metric of X")
        distances = self.between(samples, samples)
        if isinstance(self.metric, str):
            # What a formula leaves of zero, such as 1 − x·x, and of symmetry.
            distances = np.maximum(distances, 0.0)
            np.fill_diagonal(distances, 0.0)
            distances = (distances + distances.T) / 2.0
        return check_distances(distances, name="The metric of X")

    def between(self, new: Sequence[Any], samples: Sequence[Any]) -> FloatArray:
        """Return the distances or kernel values of new samples to others, each row by itself."""
        how = self.metric if self.kernel is None else self.kernel
        if isinstance(how, ObjectDistance | ObjectKernel):
            # They promise that a value depends on two objects alone.
            return _matrix(how, new, samples, what="similarity")
        if self.kernel is not None:
            # One at a time: products of matrices round by the rows that come together.
            rows = [_matrix(how, new[i : i + 1], samples, what="kernel") for i in range(len(new))]
            return np.concatenate(rows) if rows else np.empty((0, len(samples)))
        if callable(how):
            values = [[_number(how(a, b)) for b in samples] for a in new]
            return np.asarray(values, dtype=np.float64).reshape(len(new), len(samples))
        return self.of_points(np.asarray(new), np.asarray(samples))

    def of_points(self, new: FloatArray, points: FloatArray) -> FloatArray:
        """Return distances by a named metric."""
        out = np.empty((len(new), len(points)), dtype=points.dtype)
        step = block_rows(16 * len(points), len(new))
        if self.metric in BOOLEAN:
            new, points = new.astype(bool), points.astype(bool)
        with stage("distances", total=len(new)) as steps:
            for start in range(0, len(new), step):
                rows = slice(start, start + step)
                if self.metric == "nan_euclidean":
                    out[rows] = [_over_common_features(row, points) for row in new[rows]]
                elif self.metric == "haversine":
                    out[rows] = _haversine(new[rows], points)
                else:
                    name = BY_PAIRS.get(self.metric, self.metric)
                    out[rows] = cdist(new[rows], points, name)
                steps.advance(len(out[rows]))
        self._refuse_undefined(out)
        return self.without_rounding(out)

    def without_rounding(self, distances: FloatArray) -> FloatArray:
        """Return distances with zeros where there is only what rounding leaves of one minus one."""
        if self.metric not in ANGULAR:
            return distances
        rounding = NO_DISTANCE * float(np.finfo(distances.dtype).eps)
        return np.where(np.abs(distances) <= rounding, 0.0, distances).astype(distances.dtype)

    def _refuse_undefined(self, distances: FloatArray) -> None:
        """Refuse distances that are not defined, such as the angle of nothing."""
        bad = np.argwhere(~np.isfinite(distances))
        if len(bad):
            row, column = bad[0]
            why = {
                "cosine": "rows of zeros have no direction",
                "correlation": "constant rows have no correlation",
                "nan_euclidean": "these rows have no feature in common",
            }.get(self.metric, "the numbers are outside of what it is defined for")
            msg = (
                f"{setting('metric', self.metric)} is undefined for {len(bad)} pair(s) of samples, "
                f"the first in row {row} with sample {column}: {why}. Leave such rows out, or use "
                f"another metric."
            )
            raise InvalidInputError(msg)

    def _for_many(self) -> str:
        if isinstance(self.metric, str) and self.metric in ANGULAR:
            return (
                f"Scale the rows of X to unit length (sklearn.preprocessing.normalize) and use "
                f"{setting('metric', 'euclidean')}, which needs no table of all pairs: the "
                f"neighbors are the same."
            )
        return "Fit a sample of the data, and transform the rest."


def kernel_squares(K: FloatArray) -> FloatArray:
    """Return the squared distances that a kernel means; those within rounding are zero."""
    own = K.diagonal().astype(np.float64)
    squares = own[:, None] + own - 2.0 * K
    rounding = NO_DISTANCE * float(np.finfo(K.dtype).eps) * float(np.abs(K).max(initial=0.0))
    if squares.min() < -rounding:
        i, j = np.unravel_index(int(np.argmin(squares)), squares.shape)
        msg = (
            f"The kernel gives the samples {i} and {j} the squared distance {squares[i, j]:.3g}: "
            f"it is not positive semidefinite, so that there are no such distances. Pass it "
            f"through isofold.similarity.repair_kernel, or use another kernel."
        )
        raise InvalidInputError(msg)
    squares[squares <= rounding] = 0.0
    np.fill_diagonal(squares, 0.0)
    return np.asarray(squares)


def check_kernel(K: FloatArray, *, name: str = "The kernel of X") -> FloatArray:
    """Return a finite symmetric matrix of kernel values."""
    check_finite(K, name=name, advice="Pass finite kernel values.")
    check_square(K.shape, name=name)
    check_symmetric(K, name=name)
    return (K + K.T) / 2.0


def _matrix(
    function: Callable[..., Any], new: Sequence[Any], samples: Sequence[Any], *, what: str
) -> FloatArray:
    """Return what a function of two collections gives, if it is a matrix of all pairs."""
    values = np.asarray(function(new, samples))
    if values.shape != (len(new), len(samples)) or values.dtype.kind not in "fiub":
        msg = (
            f"The {what} function returned an array of shape {values.shape} and dtype "
            f"{values.dtype} for {len(new)} and {len(samples)} samples. It must return the value "
            f"of every one of the first with every one of the second, as the functions in "
            f"sklearn.metrics.pairwise do."
        )
        raise InvalidInputError(msg)
    values = values if values.dtype == np.float32 else values.astype(np.float64)
    check_finite(values, name=f"What the {what} function returned", advice="It must be finite.")
    return values


def _pairs_once(metric: Callable[..., Any], samples: Sequence[Any]) -> FloatArray:
    """Return the distances by a function of two samples, which is called once for each pair."""
    n = len(samples)
    distances = np.zeros((n, n))
    with stage("distances", total=n) as steps:
        for i in range(n):
            for j in range(i + 1):
                distances[i, j] = distances[j, i] = _number(metric(samples[i], samples[j]))
            steps.advance(1)
    check_finite(distances, name="The metric of X", advice="It must be finite for all pairs.")
    step = max(1, n * (n - 1) // 2 // N_MIRRORED)
    first, second = np.triu_indices(n, 1)
    for i, j in zip(first[::step], second[::step], strict=True):
        mirrored = _number(metric(samples[i], samples[j]))
        if not np.isclose(mirrored, distances[i, j], rtol=1e-6, atol=0.0):
            msg = (
                f"The metric gives the samples {i} and {j} the distance {mirrored:.6g} one way "
                f"and {distances[i, j]:.6g} the other way. A distance is symmetric. Use the mean "
                f"of both ways if that is what you mean."
            )
            raise InvalidInputError(msg)
    return distances


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        msg = (
            f"The metric returned {value!r} for two samples, but a distance is a number. A "
            f"function of two collections that returns a matrix is a kernel; for distances, make "
            f"it a subclass of isofold.similarity.ObjectDistance."
        )
        raise InvalidInputError(msg) from error


def _over_common_features(row: FloatArray, points: FloatArray) -> FloatArray:
    """Return distances over the features that both have, scaled up to all; NaN if there are none.

    As scikit-learn defines it, but by differences: copies have no distance.
    """
    differences = points.astype(np.float64) - row
    n_common = np.isfinite(differences).sum(axis=1)
    squares = np.nansum(differences**2, axis=1)
    fraction = np.divide(n_common, len(row), out=np.full(len(points), np.nan), where=n_common > 0)
    return np.asarray(np.sqrt(squares / fraction))


def _haversine(new: FloatArray, points: FloatArray) -> FloatArray:
    # Imported late: it would double the time of ``import isofold``.
    from sklearn.metrics.pairwise import haversine_distances

    return np.asarray(haversine_distances(new, points))
