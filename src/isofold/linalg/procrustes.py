"""Rigid motions and similarities between two sets of corresponding points (Procrustes).

For rows s_i and t_i with weights w_i the motion minimizes

    Σ w_i ‖ c s_i R + b − t_i ‖²   over   R Rᵀ = I, b, and c ≥ 0 (or c = 1).

With both sets centered at their weighted means and Sᵀ W T = U Σ Vᵀ, the optimum is R = U Vᵀ,
c = trace(Σ) / Σ w_i ‖s_i‖², b = t̄ − c s̄ R. If reflections are not allowed and det(U Vᵀ) = −1,
the direction of the least singular value is flipped [1]_.

References
----------
.. [1] W. Kabsch, "A discussion of the solution for the best rotation to relate two sets of
   vectors", Acta Crystallographica A34, 1978.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError
from isofold.linalg._checks import (
    as_float_matrix,
    as_float_vector,
    refuse_overflow,
    unit_of,
)

__all__ = ["ProcrustesFit", "SimilarityTransform", "procrustes"]


@dataclass(frozen=True, eq=False)
class SimilarityTransform:
    """The map y = scale · x R + b: a rigid motion if the scale is one.

    Attributes
    ----------
    rotation : ndarray of shape (d_source, d_target)
        R, with orthonormal rows (R Rᵀ = I) and ``d_source <= d_target``; may contain a
        reflection.
    translation : ndarray of shape (d_target,)
        b.
    scale : float
        A nonnegative factor.
    """

    rotation: FloatArray
    translation: FloatArray
    scale: float = 1.0

    def apply(self, points: FloatArray) -> FloatArray:
        """Move points."""
        points = as_float_matrix(points, name="points")
        if points.shape[1] != self.rotation.shape[0]:
            msg = (
                f"points has {points.shape[1]} columns, but this transform maps "
                f"{self.rotation.shape[0]} dimensions to {self.rotation.shape[1]}."
            )
            raise InvalidInputError(msg)
        moved = points @ (self.scale * self.rotation) + self.translation
        return moved.astype(points.dtype, copy=False)

    def inverse(self) -> SimilarityTransform:
        """Return the transform that undoes this one."""
        d_source, d_target = self.rotation.shape
        if d_source != d_target or self.scale == 0:
            msg = (
                f"A transform from {d_source} to {d_target} dimensions with scale "
                f"{self.scale:g} has no inverse: dimensions must agree and the scale be positive."
            )
            raise InvalidInputError(msg)
        back = self.rotation.T
        return SimilarityTransform(
            back, -(self.translation @ back) / self.scale, scale=1.0 / self.scale
        )


@dataclass(frozen=True, eq=False)
class ProcrustesFit:
    """The best transform and what it could not explain.

    Attributes
    ----------
    transform : SimilarityTransform
        The optimal map from source to target.
    residual : float
        Root of the weighted mean squared distance between moved source and target points.
    """

    transform: SimilarityTransform
    residual: float


def procrustes(
    source: FloatArray,
    target: FloatArray,
    *,
    scale: bool = False,
    reflection: bool = True,
    weights: npt.ArrayLike | None = None,
) -> ProcrustesFit:
    """Find the rigid motion (or similarity) that best moves one set of points onto another.

    Notes
    -----
    Where the points do not determine the motion (all equal, or fewer than dimensions) one of the
    optimal motions is returned. If no nonnegative scale helps, the scale is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.linalg import procrustes
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> rotated = np.array([[5.0, 5.0], [5.0, 6.0], [3.0, 5.0]])
    >>> fit = procrustes(corner, rotated)
    >>> bool(np.allclose(fit.transform.apply(corner), rotated))
    True
    """
    source, target, fractions = _check_sets(source, target, weights)
    # Each set in its own unit, so that no square overflows or vanishes. Weighted means are the
    # optimal centers; float64 throughout, the input may be float32.
    source_unit, target_unit = unit_of(source), unit_of(target)
    source, target = source / source_unit, target / target_unit
    source_mean, target_mean = fractions @ source, fractions @ target
    centered_source, centered_target = source - source_mean, target - target_mean
    u, singular, vt = np.linalg.svd(
        (centered_source * fractions[:, None]).T @ centered_target, full_matrices=False
    )
    square = source.shape[1] == target.shape[1]
    if square and not reflection and np.linalg.det(u) * np.linalg.det(vt) < 0:
        u[:, -1] *= -1.0
        singular[-1] *= -1.0
    rotation = u @ vt
    # c S R - T = unit · (a S' R - b T') for the sets S', T' in their own units.
    unit = target_unit if scale else max(source_unit, target_unit)
    a, b, factor = source_unit / unit, target_unit / unit, 1.0
    spread = float(fractions @ (centered_source**2).sum(axis=1))
    if scale and spread > 0:
        a = max(0.0, float(singular.sum()) / spread)
        # A positive factor that vanishes is out of range like one that overflows.
        ratio = target_unit / source_unit or np.inf
        factor = a * ratio if a > 0 else 0.0
    gaps = a * centered_source @ rotation - b * centered_target
    residual = unit * np.sqrt(fractions @ (gaps**2).sum(axis=1))
    translation = unit * (b * target_mean - a * source_mean @ rotation)
    refuse_overflow(
        np.array([factor, residual, *translation]), name="Scale, residual or translation"
    )
    return ProcrustesFit(SimilarityTransform(rotation, translation, factor), float(residual))


def _check_sets(
    source: FloatArray, target: FloatArray, weights: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both sets in float64 and the weights as fractions that sum to one."""
    source = as_float_matrix(source, name="source").astype(np.float64, copy=False)
    target = as_float_matrix(target, name="target").astype(np.float64, copy=False)
    n = len(source)
    if n != len(target) or n == 0:
        msg = (
            f"source has {n} rows and target has {len(target)}: row i of both must be the same "
            f"point, and there must be at least one."
        )
        raise InvalidInputError(msg)
    if source.shape[1] > target.shape[1] or source.shape[1] == 0:
        msg = (
            f"source has {source.shape[1]} columns and target has {target.shape[1]}: points "
            f"cannot be moved rigidly into fewer dimensions. Add zero columns to the target, or "
            f"exchange the two."
        )
        raise InvalidInputError(msg)
    fractions = np.ones(n) if weights is None else as_float_vector(weights, name="weights")
    fractions = fractions.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):
        total = float(fractions.sum()) if fractions.shape == (n,) else 0.0
    if not (np.isfinite(total) and total > 0 and fractions.min() >= 0):
        msg = (
            f"weights of shape {fractions.shape} must be {n} nonnegative finite numbers with a "
            f"positive sum, one for each point."
        )
        raise InvalidInputError(msg)
    return source, target, fractions / total
