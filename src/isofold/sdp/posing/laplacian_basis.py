"""Bases in which a program over many points becomes small."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._progress.stages import stage
from isofold._typing import FloatArray
from isofold.sdp._checks import check_pairs
from isofold.sdp.dual.spectrum import lowest_modes
from isofold.sdp.forms import PairForms

__all__ = ["laplacian_basis"]


@stage("smooth functions")
def laplacian_basis(n_points: int, pairs: Any, n_vectors: int) -> FloatArray:
    """Return the smoothest functions on a graph: the bottom eigenvectors of its Laplacian."""
    edges = check_pairs(pairs, n_points)
    laplacian = sp.csr_array(PairForms(edges, n_points).adjoint(np.ones(len(edges))))
    constant = np.full(n_points, 1.0 / np.sqrt(n_points))
    vectors = lowest_modes(laplacian, constant, n_vectors)[1]
    # Orthonormal and of mean zero to rounding, whatever the Lanczos method left.
    return np.asarray(np.linalg.qr(vectors - vectors.mean(axis=0))[0])
