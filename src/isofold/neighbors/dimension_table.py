"""All estimates of intrinsic dimension side by side, with their median.

There is no best estimator: each has a bias of its own. Strange (thesis, section 2.5.1) recommends
the median of several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._validation import check_choice, check_seed
from isofold.neighbors.dimension import (
    eigenvalue_jump_dimension,
    levina_bickel_dimension,
    local_pca_dimension,
)
from isofold.neighbors.global_dimension import (
    correlation_dimension,
    packing_dimension,
    spanning_tree_dimension,
)
from isofold.neighbors.search.build import METRICS

__all__ = ["DimensionTable", "estimate_dimension"]


@dataclass(frozen=True)
class DimensionTable:
    """Estimates of intrinsic dimension.

    Attributes
    ----------
    names : tuple of str
        The estimators: "growth" (Levina and Bickel), "directions" (local PCA), "jump" (of
        eigenvalues), "correlation", "packing", "spanning_tree".
    values : tuple of float
        Their estimates.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the estimates."""
        return float(np.median(self.values))

    @property
    def rounded(self) -> int:
        """The whole number next to the median, at least 1."""
        return max(1, round(self.median))

    def as_dict(self) -> dict[str, float]:
        """Return the estimates by name."""
        return dict(zip(self.names, self.values, strict=True))


def estimate_dimension(
    X: Any,
    *,
    metric: str = "euclidean",
    max_samples: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DimensionTable:
    """Estimate intrinsic dimension by all estimators.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The points, or their distances if `metric` is "precomputed". Distances have no directions:
        "directions" and "jump" are then left out.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    max_samples : int, default=2000
        The most points whose pairs are compared ("correlation", "packing", "spanning_tree").
    random_state : int, RandomState or None, default=None
        Seed of samples.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    DimensionTable
        The estimates and their median.

    Raises
    ------
    InvalidInputError
        If the data cannot be used or have fewer than four distinct points.

    References
    ----------
    Strange, H. (2011). Piecewise-linear manifold learning. PhD thesis, Aberystwyth University,
    section 2.5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.neighbors import estimate_dimension
    >>> flat = np.random.RandomState(0).rand(500, 2) @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    >>> table = estimate_dimension(flat, random_state=0)
    >>> table.rounded
    2
    >>> table.names
    ('growth', 'directions', 'jump', 'correlation', 'packing', 'spanning_tree')
    """
    check_choice(metric, METRICS, name="metric")
    rng = check_seed(random_state)
    found = {"growth": levina_bickel_dimension(X, metric=metric, n_jobs=n_jobs)}
    if metric != "precomputed":
        found["directions"] = local_pca_dimension(X, n_jobs=n_jobs)
        found["jump"] = eigenvalue_jump_dimension(X, n_jobs=n_jobs)
    sample: dict[str, Any] = {"metric": metric, "max_samples": max_samples}
    # Each draws from a seed of its own, so that none depends on what another one drew.
    seeds = rng.randint(np.iinfo(np.int32).max, size=3)
    found["correlation"] = correlation_dimension(X, random_state=int(seeds[0]), **sample)
    found["packing"] = packing_dimension(X, random_state=int(seeds[1]), **sample)
    found["spanning_tree"] = spanning_tree_dimension(
        X, random_state=int(seeds[2]), n_jobs=n_jobs, **sample
    )
    return DimensionTable(tuple(found), tuple(each.value for each in found.values()))
