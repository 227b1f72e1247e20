"""Aliases for the arrays that pass between rooms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
SeenMetric: TypeAlias = Literal["euclidean", "precomputed"]
MetricName: TypeAlias = Literal[
    "euclidean",
    "precomputed",
    "cosine",
    "correlation",
    "manhattan",
    "chebyshev",
    "canberra",
    "braycurtis",
    "hamming",
    "jaccard",
    "dice",
    "haversine",
    "jensenshannon",
    "nan_euclidean",
]
Metric: TypeAlias = MetricName | Callable[..., Any]
PairKernel: TypeAlias = Literal["precomputed"] | Callable[..., Any] | None
Kernel: TypeAlias = Literal["rbf", "poly", "linear", "precomputed"] | Callable[..., Any]
Auto: TypeAlias = Literal["auto"]


class Clusterer(Protocol):
    """A clusterer of scikit-learn's kind."""

    def fit_predict(self, X: Any) -> Any:
        """Return one label a sample."""


Matrix: TypeAlias = Any
"""A dense array, a SciPy sparse array, or (for objectives only) a LinearOperator."""
