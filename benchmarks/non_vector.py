"""Maps of kernels: time and peak memory of kernel eigenmaps and twin kernels at several sizes.

Copies of scikit-learn's digits with noise, as a dense matrix of kernel values (its memory is the
input's, and not counted), or as a sparse one of 15 neighbors. Sheets are rolled up in three
dimensions: their eigenvectors are the slowest to find. Beside the time stands the error of the
nearest neighbor on the map, at 1,000 objects, so that nobody is fast by doing nothing.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from benchmarks.harness import Case
from isofold import KernelLaplacianEigenmaps, TwinKernelEmbedding
from isofold._typing import FloatArray, IntArray
from isofold.datasets import swiss_roll
from isofold.neighbors import kneighbors

N_STORED, N_CHECKED = 15, 1000
GAMMA = 5e-4


class Objects(NamedTuple):
    """Kernel values, and a label of each object."""

    values: Any
    labels: IntArray


def _digits(n: int) -> tuple[FloatArray, IntArray]:
    digits, rng = load_digits(), np.random.RandomState(0)
    rows = np.arange(n) % len(digits.data)
    return digits.data[rows] + 2.0 * rng.normal(size=(n, 64)), digits.target[rows]


def _dense(n: int) -> Objects:
    X, labels = _digits(n)
    return Objects(np.exp(-GAMMA * cdist(X, X, "sqeuclidean")), labels)


def _sparse(n: int, *, is_sheet: bool = False) -> Objects:
    if is_sheet:
        roll = swiss_roll(n, random_state=0)
        X, labels = roll.X, (8 * roll.truth[:, 0] / np.ptp(roll.truth[:, 0])).astype(int)
    else:
        X, labels = _digits(n)
    near = kneighbors(X, N_STORED, method="fast")
    lengths = near.distances / np.median(near.distances[:, -1])
    rows = np.repeat(np.arange(n), N_STORED)
    table = sp.csr_array((np.exp(-(lengths**2)).ravel(), (rows, near.indices.ravel())), (n, n))
    return Objects(sp.csr_array(table.maximum(table.T) + sp.eye_array(n)), labels)


def _measured(data: Objects, *, method: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = method(kernel="precomputed").fit_transform(data.values)
    rows = np.linspace(0, len(Y) - 1, N_CHECKED).astype(int)
    near = np.asarray(KDTree(Y).query(Y[rows], k=2)[1])
    others = np.where(near[:, 0] == rows, near[:, 1], near[:, 0])
    error = np.mean(data.labels[others] != data.labels[rows])
    return {"nearest_error": round(float(error), 3)}


METHODS = {
    "isofold KernelLaplacianEigenmaps": KernelLaplacianEigenmaps,
    "isofold TwinKernelEmbedding": partial(TwinKernelEmbedding, random_state=0),
}
TASKS = {
    "digits, dense kernel, n = 2,000": partial(_dense, 2000),
    "digits, dense kernel, n = 5,000": partial(_dense, 5000),
    "digits, sparse kernel, n = 50,000": partial(_sparse, 50_000),
    "sheet, sparse kernel, n = 50,000": partial(_sparse, 50_000, is_sheet=True),
}

CASES = [
    Case(task, name, prepare, partial(_measured, method=method), is_slow="TwinKernel" in name)
    for task, prepare in TASKS.items()
    for name, method in METHODS.items()
]
