"""How many points a cell should have: enough to outweigh noise, few enough to be flat.

Planes of neighboring cells differ by curvature, the more the larger the cells, and by noise, the
more the smaller they are. So the largest angles between planes that are joined show both, without
any map: on Swiss rolls from 2,000 to 20,000 points with noise from 0 to 0.5 the size with the least
ones had an error within a third of the best size's, while wrong sizes tear the map apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold.merging.rules import RULES, MergingRules
from isofold.merging.walk import lift_tree, merge
from isofold.neighbors import SpanningTree, euclidean_spanning_tree
from isofold.patches.planes import fit_planes

__all__ = ["choose_cell_size"]


@stage("cell size")
def choose_cell_size(
    points: FloatArray,
    table: FloatArray,
    n_components: int,
    label: Callable[[FloatArray, int], IntArray],
    rng: np.random.RandomState,
    *,
    rules: MergingRules = RULES,
) -> int:
    """Return the size of cells for which neighboring planes agree best."""
    n, q = len(points), n_components
    ratio = 1.0
    if n > rules.sample_size:
        drawn = np.sort(rng.permutation(n)[: rules.sample_size])
        points, table = points[drawn], table[drawn]
        ratio = (n / rules.sample_size) ** (4.0 / (q + 4.0))
    tree = euclidean_spanning_tree(points)
    best, least, n_worse = 2 * q + 5, np.inf, 0
    size = float(best)
    while len(points) / size >= rules.fewest_cells and n_worse < rules.patience:
        angles = _angles(points, tree, label(table, round(size)), q)
        angle = float(np.quantile(angles, rules.tail)) if len(angles) else np.inf
        n_worse += 1
        if angle < least:
            best, least, n_worse = round(size), angle, 0
        size *= rules.growth
    return max(1, round(best * ratio))


def _angles(points: FloatArray, tree: SpanningTree, labels: IntArray, q: int) -> FloatArray:
    """Return the angles between the planes that a tree joins."""
    planes = fit_planes(points, labels, q)
    cells = lift_tree(tree, planes)
    if not len(cells.edges):
        return np.empty(0)
    return merge(points, planes, cells, roots=np.array([0]))[1]
