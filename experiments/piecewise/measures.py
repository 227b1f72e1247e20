"""Scores of many maps of the same points: what belongs to the points alone is found once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import FloatArray
from isofold.neighbors import build_graph
from isofold.neighbors.geodesic import geodesic_blocks
from isofold.quality import procrustes_measure
from isofold.quality.distances import compare
from isofold.quality.ranks import embedded_ranks, input_ranks, intrusion_score

__all__ = ["Scores", "Yardstick", "count_short_cuts", "spread"]

N_SOURCES = 500
"""Points from which paths are measured; residual variance changes in the third digit."""
SHORT_CUT = 3.0
"""An edge joins two turns if the way along the sheet is so many times its length."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Measures of one map, each for all sizes of neighborhoods.

    Attributes
    ----------
    trust, continuity : ndarray
        Trustworthiness and continuity.
    local_error : ndarray
        Procrustes error of neighborhoods, not normalized.
    residual : ndarray
        Residual variance, paths in the graph of so many neighbors.
    """

    trust: FloatArray
    continuity: FloatArray
    local_error: FloatArray
    residual: FloatArray


class Yardstick:
    """Measures maps of given points.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    sizes : tuple of int
        Sizes of neighborhoods.
    """

    def __init__(self, X: FloatArray, sizes: tuple[int, ...]) -> None:
        self.X = X
        self.sizes = sizes
        n_sources = min(len(X), N_SOURCES)
        self.sources = np.random.RandomState(0).choice(len(X), n_sources, replace=False)
        self.paths = [self._paths(k) for k in sizes]

    def score(self, Y: FloatArray) -> Scores:
        """Measure a map."""
        comparison = compare(self.X, Y)
        most = max(self.sizes)
        intruding, lost = (ranks(comparison, most) for ranks in (input_ranks, embedded_ranks))
        after = np.sqrt(comparison.embedding.squared(self.sources))
        return Scores(
            trust=np.array(
                [intrusion_score(intruding[:, :k], comparison.sample) for k in self.sizes]
            ),
            continuity=np.array(
                [intrusion_score(lost[:, :k], comparison.sample) for k in self.sizes]
            ),
            local_error=np.array(
                [procrustes_measure(self.X, Y, n_neighbors=k, normalized=False) for k in self.sizes]
            ),
            residual=np.array([_unexplained(paths, after) for paths in self.paths]),
        )

    def _paths(self, n_neighbors: int) -> FloatArray:
        graph = build_graph(self.X, n_neighbors=n_neighbors)
        nodes = graph.node_of_sample
        return np.concatenate(list(geodesic_blocks(graph, nodes[self.sources])))[:, nodes]


def spread(values: Any, form: str = ".3g") -> str:
    """Return mean and standard deviation in words."""
    return f"{np.mean(values):{form}} ± {np.std(values):.1g}"


def count_short_cuts(X: FloatArray, truth: FloatArray, n_neighbors: int) -> int:
    """Return how many edges of the neighbor graph lead from turn to turn of a roll."""
    edges = build_graph(X, n_neighbors=n_neighbors).edges
    before, after = (np.linalg.norm(Z[edges[:, 0]] - Z[edges[:, 1]], axis=1) for Z in (X, truth))
    return int(np.count_nonzero(after > SHORT_CUT * before))


def _unexplained(paths: FloatArray, after: FloatArray) -> float:
    # The distance of a point from itself is no evidence, nor is one that no path has.
    known = np.isfinite(paths) & (paths > 0)
    return float(1.0 - np.corrcoef(paths[known], after[known])[0, 1] ** 2)
