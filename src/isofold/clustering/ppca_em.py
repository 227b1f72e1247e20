"""Expectation maximization for a mixture of probabilistic principal component analyzers.

Component k of the mixture is a Gaussian whose covariance is free along r axes and equal in all
other directions,

    C_k = U_k diag(λ_k) U_kᵀ + σ_k² (I - U_k U_kᵀ),    λ_k1 ≥ … ≥ λ_kr ≥ σ_k².

In the paper's parameters W_k = U_k (diag(λ_k) - σ_k² I)^½. The expectation step finds the
responsibilities R_ik of the components for the points. The maximization step has a closed form
(section 3 of the paper for one component, section 4 for many): weights and means are those of the
points weighted by R_ik, U_k and λ_k are the leading eigenvectors and eigenvalues of their
covariance S_k, and σ_k² is the mean of the other eigenvalues.

The likelihood has no upper bound: a component that shrinks onto r + 1 points fits them without
noise. So no variance may be less than a floor. With it the same eigenvectors and the eigenvalues
cut off at the floor are the maximum over all models above the floor, hence no step lowers the
likelihood.

References
----------
Tipping, M. E. and Bishop, C. M. (1999). Mixtures of probabilistic principal component analyzers.
Neural Computation 11(2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows
from isofold._progress.stages import interrupted, stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.clustering.subspaces import AffineSubspaces
from isofold.linalg import deterministic_signs

__all__ = ["MixtureRun", "PPCAMixture", "climb", "normalized"]

VARIANCE_FLOOR = 1e-8
"""Least variance of a component in any direction, for points of unit variance: a standard
deviation of a ten-thousandth of that of the data. It is large beside rounding (squared distances
are right to some 1e-15 of the data's variance), so that likelihoods keep half of their digits
even on points that lie on a subspace exactly."""

LEAST_SIZE = 1e-3
"""A component that is responsible for less than a thousandth of a point has lost all of them."""

DENSE_SIDE = 128
"""Features, or members of a component, up to which all eigenvectors take milliseconds."""

N_COLD_ROUNDS = 3
"""Block iterations for the axes of a component that has none yet. Later one is enough: it starts
from the axes of the step before, and need not be exact for the likelihood to rise."""

LEAST_RESPONSIBILITY = float(np.finfo(np.float64).eps)
"""Responsibilities below rounding are zero. With many features almost all of them are, and a
component then costs no more than its own points."""


@dataclass(frozen=True, eq=False)
class PPCAMixture:
    """A mixture of probabilistic principal component analyzers.

    Attributes
    ----------
    weights : ndarray of shape (n_clusters,)
        Fraction π of each component; they sum to one.
    subspaces : AffineSubspaces
        Means and axes. An axis is zero where the variance along it is no more than the noise.
    variances : ndarray of shape (n_clusters, r)
        Variances λ along the axes, none below the noise.
    noise : ndarray of shape (n_clusters,)
        Variance σ² in every direction across the axes.
    """

    weights: FloatArray
    subspaces: AffineSubspaces
    variances: FloatArray
    noise: FloatArray

    def log_joint(self, points: FloatArray) -> FloatArray:
        """Return log π_k p(x_i | k) for points and components."""
        n, d = points.shape
        joint = np.empty((n, len(self.weights)))
        step = block_rows(8 * 3 * d, n)
        for begin in range(0, n, step):
            rows = slice(begin, begin + step)
            for k in range(len(self.weights)):
                joint[rows, k] = self._log_density(points[rows], k)
        with np.errstate(divide="ignore"):
            return joint + np.log(self.weights)

    def _log_density(self, points: FloatArray, k: int) -> FloatArray:
        d, r = self.subspaces.bases.shape[1:]
        offsets = points - self.subspaces.centers[k]
        squared_along = (offsets @ self.subspaces.bases[k]) ** 2
        across = np.einsum("ij,ij->i", offsets, offsets) - squared_along.sum(axis=1)
        log_volume = (
            d * np.log(2 * np.pi)
            + np.log(self.variances[k]).sum()
            + (d - r) * np.log(self.noise[k])
        )
        mahalanobis = squared_along @ (1.0 / self.variances[k])
        mahalanobis += np.maximum(across, 0.0) / self.noise[k]
        return np.asarray(-0.5 * (log_volume + mahalanobis))


@dataclass(frozen=True, eq=False)
class MixtureRun:
    """What one run from one start came to.

    Attributes
    ----------
    mixture : PPCAMixture
        The last model.
    n_points : int
        Number of points.
    path : ndarray of shape (n_steps,)
        Log-likelihood of all points after every step since a component was last reseeded.
    n_iter : int
        Number of steps.
    has_converged : bool
        Whether the gain fell below the tolerance.
    """

    mixture: PPCAMixture
    n_points: int
    path: FloatArray
    n_iter: int
    has_converged: bool

    @property
    def rank(self) -> tuple[int, float]:
        """What to compare runs by, the greatest being the best.

        A component of at most r + 1 points lies on its subspace whatever the data are. It raises
        the likelihood by what the floor allows and says nothing about them: a spurious maximum. So
        runs with fewer of these come first, then those of higher likelihood.
        """
        r = self.mixture.variances.shape[1]
        sizes = self.n_points * self.mixture.weights
        return -int((sizes < r + 1 + LEAST_SIZE).sum()), float(self.path[-1])


def climb(
    points: FloatArray,
    labels: IntArray,
    n_components: int,
    *,
    n_clusters: int,
    max_iter: int,
    tol: float,
    rng: np.random.RandomState,
) -> MixtureRun:
    """Maximize the likelihood of a mixture from given clusters.

    Notes
    -----
    Two things keep a component from shrinking onto a few points at once. In the first step no
    component has less noise than all have on average. And a component that lost all points is
    moved to the point of least density, again with the average noise. The likelihood may fall
    when that happens, so the path starts anew.
    """
    responsibilities: FloatArray = np.eye(n_clusters)[labels]
    _reseed(responsibilities, np.zeros(len(points)))
    is_fresh = np.ones(n_clusters, dtype=np.bool_)
    mixture = _maximize(
        points, responsibilities, n_components, is_fresh=is_fresh, last=None, rng=rng
    )
    path: list[float] = []
    n_iter = 1
    with stage("raise the likelihood") as steps:
        while True:
            joint = mixture.log_joint(points)
            fit, responsibilities = normalized(joint)
            path.append(float(fit.mean()))
            steps.advance(objective=len(points) * path[-1])
            gain = path[-1] - path[-2] if len(path) > 1 else np.inf
            is_done = gain <= tol * max(1.0, abs(path[-1])) and not _is_lost(responsibilities).any()
            if is_done or n_iter == max_iter or interrupted():
                break
            is_lost = _reseed(responsibilities, fit)
            if is_lost.any():
                path.clear()
            mixture = _maximize(
                points, responsibilities, n_components, is_fresh=is_lost, last=mixture, rng=rng
            )
            n_iter += 1
    return MixtureRun(mixture, len(points), len(points) * np.array(path), n_iter, is_done)


def normalized(joint: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log-density of points, and the responsibilities, in place of `joint`."""
    greatest = joint.max(axis=1)
    joint -= greatest[:, None]
    np.exp(joint, out=joint)
    sums = joint.sum(axis=1)
    joint /= sums[:, None]
    return greatest + np.log(sums), joint


def _is_lost(responsibilities: FloatArray) -> BoolArray:
    """Say which components have no points left."""
    return np.asarray(responsibilities.sum(axis=0) < LEAST_SIZE)


def _reseed(responsibilities: FloatArray, fit: FloatArray) -> BoolArray:
    """Give each component without points one of the worst explained; say which these were.

    Should that be another component's only point, then it is the other's turn in the next step.
    """
    responsibilities[responsibilities < LEAST_RESPONSIBILITY] = 0.0
    is_lost = _is_lost(responsibilities)
    if not is_lost.any():
        return is_lost
    worst = np.argsort(fit, kind="stable")[: is_lost.sum()]
    responsibilities[:, is_lost] = 0.0
    responsibilities[worst] = 0.0
    responsibilities[worst, np.flatnonzero(is_lost)] = 1.0
    return is_lost


def _maximize(
    points: FloatArray,
    responsibilities: FloatArray,
    n_components: int,
    *,
    is_fresh: BoolArray,
    last: PPCAMixture | None,
    rng: np.random.RandomState,
) -> PPCAMixture:
    """Return the mixture that fits best given the responsibilities.

    Components in `is_fresh` get no less than the mean noise of all.
    """
    (n, d), r = points.shape, n_components
    c = responsibilities.shape[1]
    sizes = np.maximum(responsibilities.sum(axis=0), np.finfo(np.float64).tiny)
    centers = responsibilities.T @ points / sizes[:, None]
    bases, values, rest = np.zeros((c, d, r)), np.zeros((c, r)), np.zeros(c)
    for k in range(c):
        members = np.flatnonzero(responsibilities[:, k])
        offsets = points[members] - centers[k]
        offsets *= np.sqrt(responsibilities[members, k] / sizes[k])[:, None]
        bases[k] = _leading_axes(offsets, r, None if last is None else last.subspaces.bases[k], rng)
        values[k] = ((offsets @ bases[k]) ** 2).sum(axis=0)
        if r < d:
            rest[k] = ((offsets**2).sum() - values[k].sum()) / (d - r)
    noise = np.maximum(rest, VARIANCE_FLOOR)
    noise[is_fresh] = np.maximum(noise[is_fresh], sizes @ rest / n)
    bases *= (values > VARIANCE_FLOOR)[:, None, :]
    subspaces = AffineSubspaces(centers=centers, bases=bases)
    return PPCAMixture(sizes / n, subspaces, np.maximum(values, noise[:, None]), noise)


def _leading_axes(
    offsets: FloatArray, r: int, start: FloatArray | None, rng: np.random.RandomState
) -> FloatArray:
    """Return the leading right singular vectors of a table, zeros if it has fewer.

    Where the table is large in both directions, block iterations stand in: the best axes
    within the span of the last ones, of a fresh sketch, and of what S = offsetsᵀ offsets makes of
    both. That span contains the last axes, so the variance along the new ones is no less.
    """
    m, d = offsets.shape
    if d <= min(m, DENSE_SIDE):
        axes = np.linalg.eigh(offsets.T @ offsets)[1][:, ::-1][:, :r]
    elif m <= DENSE_SIDE or 4 * r >= min(m, d):
        found = np.linalg.svd(offsets, full_matrices=False)[2][:r].T
        axes = np.hstack([found, np.zeros((d, r - found.shape[1]))])
    else:
        axes = offsets.T @ rng.standard_normal((m, r)) if start is None else start
        for _ in range(N_COLD_ROUNDS if start is None else 1):
            block = np.hstack([axes, offsets.T @ rng.standard_normal((m, r))])
            block = np.hstack([block, offsets.T @ (offsets @ block)])
            # Columns of unit length: S changes their scale, and QR should drop none of them.
            block /= np.maximum(np.linalg.norm(block, axis=0), np.finfo(float).tiny)
            span = np.linalg.qr(block)[0]
            images = offsets @ span
            axes = span @ np.linalg.eigh(images.T @ images)[1][:, ::-1][:, :r]
    return deterministic_signs(axes)
