"""Starting points from the softest modes of the joint matrix.

Without noise the eigenvectors of the Schur complement K that belong to its lowest eigenvalues are
the rotations up to a common linear map. With noise they also hold smooth deformations of the whole,
which cost next to nothing. A combination UA of some twenty low modes U is then sought whose blocks
are nearly orthonormal and whose free rows T, which belong to it, are spread out as far as can be:

    min_A  mean_i ‖U_i AAᵀ U_iᵀ − I‖² − β‖T(UA)‖².

The second term is that of maximum variance unfolding: it tells the flat sheet from folded and
rolled ones, all of which are nearly isometric. A has a few hundred entries.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.optimize import minimize

from isofold._typing import FloatArray, IntArray
from isofold.linalg.fronts import FrontalFactor
from isofold.sdp.joint_matrix import JointMatrix
from isofold.sdp.program import principal_axes
from isofold.sdp.stiefel import StiefelProduct

__all__ = ["isometric_combination", "low_modes"]

SAMPLED_BLOCKS = 2000
"""Blocks on which a combination of modes is fitted: ten times as many equations as unknowns."""

FIT_ITERATIONS = 300
"""Quasi-Newton iterations of a fit; the start need not be better than the modes allow."""

STRETCH = 0.05
"""How far the spreading term may stretch the sheet. Lengthening all by 1 + s costs 4rs² and gains
2sβV of the spread V, hence s = βV/(4r). A tenth of it spreads less reliably, four times as much
leaves Newton's method one step more to do."""


def low_modes(
    joint: JointMatrix,
    factor: FrontalFactor,
    *,
    n_modes: int,
    n_iter: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return approximate lowest eigenvectors of K x = λ D x by inverse iteration."""
    free, weight = joint.manifold.free, joint.row_sums[:, None] / joint.scale
    weight = np.where(weight > 0.0, weight, 1.0)
    X: FloatArray = rng.standard_normal((joint.manifold.size, n_modes))
    X[free] = 0.0
    for _ in range(n_iter):
        X = np.linalg.qr(X)[0]
        image = factor.solve(weight * X)
        image[free] = 0.0
        X, before = image, X
    # Rayleigh and Ritz: the largest eigenvalues of the inverse in the span of the last iterate.
    inverse = before.T @ (weight * X)
    _, mixing = scipy.linalg.eigh((inverse + inverse.T) / 2, before.T @ (weight * before))
    return np.asarray(before @ mixing[:, ::-1])


def isometric_combination(
    joint: JointMatrix, modes: FloatArray, p: int, rng: np.random.Generator
) -> FloatArray:
    """Return p combinations of modes with nearly orthonormal blocks, widely spread."""
    manifold, n_modes = joint.manifold, modes.shape[1]
    # Columns of unit mean square make the unknowns A of the order of one.
    modes = modes * np.sqrt(manifold.n_orthonormal_rows / np.sum(modes**2, axis=0))
    modes = joint.with_best_free_rows(modes)
    spread = modes[manifold.free].T @ modes[manifold.free]
    fit = _OrthonormalityMisfit(manifold, modes, rng)
    A = fit.minimize(np.eye(n_modes, p) / np.sqrt(p), np.zeros_like(spread))
    mean_size = manifold.n_orthonormal_rows / len(manifold.blocks)
    # The second round knows the spread of the flat sheet rather than that of a rolled one.
    for _ in range(2):
        total = float(np.sum(A * (spread @ A)))
        if total > 0.0:
            A = fit.minimize(A, 4.0 * mean_size * STRETCH / total * spread)
    Y = modes @ A
    rows = manifold.free if len(manifold.free) else slice(None)
    return np.asarray(Y @ principal_axes(Y[rows])[1])


class _OrthonormalityMisfit:
    """The misfit of orthonormality as a function of the combination of modes."""

    def __init__(
        self, manifold: StiefelProduct, modes: FloatArray, rng: np.random.Generator
    ) -> None:
        self._upper = np.triu_indices(modes.shape[1])
        side = len(self._upper[0])
        self._normal, self._right = np.zeros((side, side)), np.zeros(side)
        for rows in manifold.groups:
            sample = rng.permutation(len(rows))[:SAMPLED_BLOCKS]
            fraction = len(rows) / len(sample) / len(manifold.blocks)
            features, target = _products(modes[rows[np.sort(sample)]], self._upper)
            self._normal += fraction * (features.T @ features)
            self._right += fraction * (features.T @ target)

    def minimize(self, A: FloatArray, reward: FloatArray) -> FloatArray:
        """Return A that minimizes the misfit less ⟨reward, AAᵀ⟩, from a start."""
        shape = A.shape

        def value(flat: FloatArray) -> tuple[float, FloatArray]:
            A = flat.reshape(shape)
            gram, gained = (A @ A.T)[self._upper], reward @ A
            image = self._normal @ gram
            slope = np.zeros((shape[0], shape[0]))
            slope[self._upper] = image - self._right
            misfit = gram @ image - 2.0 * (self._right @ gram) - np.sum(A * gained)
            return float(misfit), (2.0 * ((slope + slope.T) @ A - gained)).ravel()

        fit = minimize(
            value, A.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": FIT_ITERATIONS}
        )
        return np.asarray(fit.x.reshape(shape))


def _products(
    blocks: FloatArray, upper: tuple[IntArray, IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the entries of U_i G U_iᵀ as linear functions of the upper triangle of G."""
    n_blocks, r, _ = blocks.shape
    once = np.where(upper[0] == upper[1], 0.5, 1.0)
    features, targets = [], []
    for a in range(r):
        for b in range(a, r):
            # An entry off the diagonal counts twice in the squared norm.
            factor = 1.0 if a == b else np.sqrt(2.0)
            left, right = blocks[:, a], blocks[:, b]
            both = left[:, upper[0]] * right[:, upper[1]] + left[:, upper[1]] * right[:, upper[0]]
            features.append(factor * once * both)
            targets.append(np.full(n_blocks, float(a == b)))
    return np.concatenate(features), np.concatenate(targets)
