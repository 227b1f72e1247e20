"""Any number of digits in 50 columns: blends of two that are near each other, with noise.

The 70,000 images of MNIST are projected onto 50 principal axes. A blend is a random point between
an image and one of its 10 nearest, moved by a normal vector about half as long as the two are
apart: so many of them are no copies, and lie about as the images do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from experiments.harness import FULL, Size
from experiments.real_data.sets import all_digits
from isofold._typing import FloatArray
from isofold.neighbors import kneighbors

__all__ = ["blends"]

COLUMNS = 50
N_NEIGHBORS = 10
NOISE = 0.5


def blends(n: int, folder: Path, size: Size = FULL, *, seed: int = 0) -> FloatArray:
    """Return n blends in single precision; the projected images are kept in a file."""
    images, near = _projected(folder, size)
    random = np.random.RandomState(seed)
    first = random.randint(len(images), size=n)
    second = near[first, random.randint(N_NEIGHBORS, size=n)]
    blended = images[first]
    apart = images[second] - blended
    moved = random.standard_normal((n, COLUMNS)).astype(np.float32)
    moved *= NOISE / np.sqrt(COLUMNS) * np.linalg.norm(apart, axis=1, keepdims=True)
    apart *= random.random_sample((n, 1)).astype(np.float32)
    blended += apart
    blended += moved
    return blended


def _projected(folder: Path, size: Size) -> tuple[FloatArray, np.ndarray]:
    path = folder / f"blended_digits_{size.points(70_000)}.npz"
    if not path.exists():
        X = all_digits(size).X
        images = PCA(COLUMNS, svd_solver="covariance_eigh").fit_transform(X).astype(np.float32)
        near = kneighbors(images, N_NEIGHBORS, n_jobs=1).indices.astype(np.int32)
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(path, images=images, near=near)
    with np.load(path) as kept:
        return kept["images"], kept["near"]
