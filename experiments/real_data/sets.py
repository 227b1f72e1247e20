"""The data sets, in the units in which all methods get them.

Images are taken as they are, columns of tables in units of their standard deviation. Then the
whole set is divided by one number, the median distance of a point to its 10 nearest others. Most
methods do not care: a larger X gives a larger map. UMAP, t-SNE and PaCMAP, however, choose the
size of their maps themselves, so that the error of lengths on them depends on the unit of X.
Nothing else is done: no projection onto principal axes, no repeated row removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.neighbors import NearestNeighbors

from experiments.harness import FULL, Size
from experiments.ipa_real.studies import digits, standardized_oils
from experiments.ipa_thesis.mnist import three_six_nine
from isofold.datasets import (
    Dataset,
    load_coil20,
    load_frey_faces,
    load_isomap_faces,
    load_mnist,
    load_olivetti,
    load_wine_quality_red,
)

__all__ = ["SETS", "RealSet", "all_digits", "in_units_of_neighbors", "set_named"]

N_NEIGHBORS = 10
MOST_ROWS = 2_000
"""Rows from which the unit is taken; neighbors are sought among all."""


@dataclass(frozen=True)
class RealSet:
    """A data set and the dimension it has.

    Attributes
    ----------
    name : str
        A word for it.
    read : callable
        Returns the data in the units of their file.
    dimension : int
        Levina and Bickel's estimate, rounded: so many components can keep most distances.
    """

    name: str
    read: Callable[[], Dataset]
    dimension: int

    def load(self, size: Size = FULL) -> Dataset:
        """Return the data in the unit of the experiment."""
        return in_units_of_neighbors(size.part(self.read()))


def all_digits(size: Size = FULL) -> Dataset:
    """Return the 70,000 images of MNIST in the unit of the experiment."""
    return in_units_of_neighbors(size.part(load_mnist()))


def set_named(name: str) -> RealSet:
    """Return the set of a name."""
    return next(one for one in SETS if one.name == name)


def in_units_of_neighbors(data: Dataset) -> Dataset:
    """Return the data divided by the median distance to the 10 nearest others."""
    rows = np.linspace(0, len(data.X) - 1, min(MOST_ROWS, len(data.X))).astype(int)
    search = NearestNeighbors(n_neighbors=N_NEIGHBORS + 1, n_jobs=1).fit(data.X)
    # A point is its own first neighbor; where it has copies, one of them may be, at distance 0 too.
    unit = np.median(search.kneighbors(data.X[rows])[0][:, 1:])
    return replace(data, X=(data.X / unit).astype(data.X.dtype, copy=False))


def standardized_wines() -> Dataset:
    """Return the red wines with each measurement in units of its standard deviation."""
    data = load_wine_quality_red()
    return replace(data, X=(data.X - data.X.mean(axis=0)) / data.X.std(axis=0))


SETS = (
    RealSet("faces", load_isomap_faces, 3),
    RealSet("Frey", load_frey_faces, 5),
    RealSet("digits", digits, 7),
    RealSet("MNIST 3-6-9", three_six_nine, 11),
    RealSet("olive oil", standardized_oils, 4),
    RealSet("red wine", standardized_wines, 5),
    RealSet("Olivetti", load_olivetti, 7),
    RealSet("COIL-20", load_coil20, 4),
)
