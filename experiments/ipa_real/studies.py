"""The data sets, each with the dimensions that are asked for and the color of its picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

from isofold._typing import FloatArray
from isofold.datasets import (
    Dataset,
    load_frey_faces,
    load_isomap_faces,
    load_olive_oil,
    load_world_cities,
)
from isofold.datasets._sphere import sphere_points

__all__ = ["STUDIES", "Study"]

HALF_GLOBE = (60.0, 25.0)
"""Longitude and latitude of the middle of the half globe that shows Europe, Asia and Africa."""
SMALLEST_CITY = 200_000
"""Inhabitants: leaves as many cities as Isomap and the scorecards take in some seconds."""


@dataclass(frozen=True)
class Study:
    """A data set and what is done with it.

    Attributes
    ----------
    name : str
        A word for it.
    load : callable
        Returns the data.
    dimensions : tuple of int
        The numbers of components that are asked for.
    """

    name: str
    load: Callable[[], Dataset]
    dimensions: tuple[int, ...]


def digits() -> Dataset:
    """Return scikit-learn's digits: 1,797 images of 8 × 8 pixels."""
    data = load_digits()
    return Dataset("digits", data.data, labels=data.target, image_shape=(8, 8))


def standardized_oils() -> Dataset:
    """Return the olive oils with each fatty acid in units of its standard deviation."""
    oils = load_olive_oil()
    X = (oils.X - oils.X.mean(axis=0)) / oils.X.std(axis=0)
    return Dataset("olive_oil", X, labels=oils.labels, target_names=oils.target_names)


def cities_of_half_globe() -> Dataset:
    """Return the larger cities of one half of the globe as points of the unit sphere.

    `truth` is not isometric to the globe, nothing flat is: distances and directions from the
    middle are true. It only serves to turn pictures to the north.
    """
    cities = load_world_cities(min_population=SMALLEST_CITY)
    axes = _frame(*np.radians(HALF_GLOBE))
    # A few cities are listed at one position; the map of one of them is enough.
    rows = np.sort(np.unique(cities.X, axis=0, return_index=True)[1])
    rows = rows[cities.X[rows] @ axes[2] > 0.0]
    east, north, height = (cities.X[rows] @ axes.T).T
    distance, off_middle = np.arccos(height), np.hypot(east, north)
    flat = np.column_stack((east, north)) * (distance / off_middle)[:, None]
    return Dataset(
        "cities",
        cities.X[rows],
        truth=flat,
        labels=cities.labels[rows],
        target_names=cities.target_names,
    )


def _frame(longitude: float, latitude: float) -> FloatArray:
    """Return the directions east, north and up at a place on the sphere, as rows."""
    east = [-np.sin(longitude), np.cos(longitude), 0.0]
    up = sphere_points(np.array([longitude]), np.array([latitude]))[0]
    return np.array([east, np.cross(up, east), up])


# The larger dimension of each is what Levina and Bickel's estimate rounds to.
STUDIES = (
    Study("faces", load_isomap_faces, (2, 3)),
    Study("digits", digits, (2, 7)),
    Study("olive", standardized_oils, (2, 4)),
    Study("frey", load_frey_faces, (2, 5)),
    Study("cities", cities_of_half_globe, (2,)),
)
