"""The atlas: charts as arrays, and what can be computed from them.

A chart describes a patch as a graph over its tangent space,

    x(t) = o + V t + a + g(t) + ½ B(t, t),

and gives it coordinates u(t) = t + (γ/6) ⟨B(t, t), B(t, ·)⟩, see `isofold.patches.charts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np

from isofold._findings import parameter, setting
from isofold._memory import block_rows, require_memory
from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Atlas",
    "bend",
    "curvature_of_noise",
    "flatter_charts",
    "joined",
    "n_coefficients",
    "quadratic_features",
    "sectional_curvature",
]


def flatter_charts() -> str:
    """Return what to do where charts need too much memory."""
    return (
        f"Pass fewer {parameter('n_components')}, or {setting('chart', 'pca')} for charts without "
        f"curvature."
    )


def n_coefficients(r: int) -> int:
    """Return the number q of coefficients of a quadratic function of r variables."""
    return 1 + r + r * (r + 1) // 2


@dataclass(frozen=True, eq=False)
class Atlas:
    """The charts of all patches.

    Attributes
    ----------
    origins : ndarray of shape (n_patches, d)
        The points o.
    axes : ndarray of shape (n_patches, d, r)
        The tangent axes V; columns beyond a patch's own dimension are zero.
    coefficients : ndarray of shape (n_patches, q, d), or (n_patches, 0, d)
        The vectors a, g_k and B_kl of the features 1, t_k and (t_k²/2 or t_k t_l, k ≤ l); zero
        for flat charts, and left out if all charts are flat: there are about r²/2 of them.
    shrinkage : ndarray of shape (n_patches,)
        The fractions γ.
    """

    origins: FloatArray
    axes: FloatArray
    coefficients: FloatArray
    shrinkage: FloatArray

    @property
    def n_components(self) -> int:
        """Number r of coordinates."""
        return int(self.axes.shape[2])

    @property
    def is_flat(self) -> bool:
        """Whether all charts are flat."""
        return bool(self.coefficients.shape[1] == 0)

    def chosen(self, rows: IntArray | BoolArray) -> Atlas:
        """Return some of the charts."""
        return Atlas(
            self.origins[rows], self.axes[rows], self.coefficients[rows], self.shrinkage[rows]
        )

    @cached_property
    def curvature(self) -> FloatArray:
        """The symmetric form B, shape (n_patches, r, r, d)."""
        r = self.n_components
        rows, columns = np.triu_indices(r)
        form = np.zeros((len(self.origins), r, r, self.origins.shape[1]))
        form[:, rows, columns] = self.coefficients[:, 1 + r :]
        form[:, columns, rows] = self.coefficients[:, 1 + r :]
        return form

    @cached_property
    def bending(self) -> FloatArray:
        """The tensor (γ/6) ⟨B_kl, B_mn⟩, shape (n_patches, r², r²)."""
        r = self.n_components
        form = self.curvature.reshape(len(self.origins), r * r, -1)
        return self.shrinkage[:, None, None] / 6.0 * (form @ form.swapaxes(1, 2))

    def cubics(self, rotations: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return what each monomial t_a t_b t_c, a ≤ b ≤ c, adds to u R, where charts are bent.

        The bending is (γ/6) ⟨B_ka, B_bc⟩ t_a t_b t_c, summed over all a, b, c.
        """
        r, p = rotations.shape[1:]
        bent = np.flatnonzero(self.shrinkage)
        positions = np.full(len(self.origins), -1, dtype=np.int64)
        positions[bent] = np.arange(len(bent))
        monomials = list(combinations_with_replacement(range(r), 3)) if len(bent) else []
        # The tensor of one chart is there three times, its monomials twice.
        per_chart = 8 * (3 * r**4 + 2 * len(monomials) * r)
        require_memory(
            8 * len(bent) * len(monomials) * p + min(len(bent), 1) * per_chart,
            what=f"The bending of {len(bent)} charts in {r} dimensions",
            instead=flatter_charts(),
        )
        values = np.empty((len(bent), len(monomials), p))
        step = block_rows(per_chart, len(bent))
        for start in range(0, len(bent), step):
            rows = bent[start : start + step]
            tensor = self.chosen(rows).bending.reshape(-1, r, r, r, r)
            terms = [
                sum(tensor[:, :, a, b, c] for a, b, c in set(permutations(monomial)))
                for monomial in monomials
            ]
            values[start : start + step] = np.stack(terms, axis=1) @ rotations[rows]
        return positions, values

    def surface(self, t: FloatArray, radii: FloatArray) -> FloatArray:
        """Return x(t) for one tangent vector a chart, shape (n_patches, d).

        Beyond its radius a chart goes on with the curvature it has there.
        """
        flat = self.origins + (self.axes @ t[:, :, None])[:, :, 0]
        if self.is_flat:
            return np.asarray(flat)
        length = np.linalg.norm(t, axis=1, keepdims=True)
        inner = t * np.minimum(1.0, radii / np.maximum(length, radii))
        features = quadratic_features(inner[:, None, :])
        features[:, 0, 1 : 1 + t.shape[1]] = t
        return np.asarray(flat + (features @ self.coefficients)[:, 0])


def joined(atlases: Sequence[Atlas]) -> Atlas:
    """Return the charts of several atlases as one."""
    if len(atlases) == 1:
        return atlases[0]
    sides = [atlas.coefficients for atlas in atlases]
    q = max(side.shape[1] for side in sides)
    sides = [side if side.shape[1] == q else _without(side, q) for side in sides]
    return Atlas(
        origins=np.concatenate([atlas.origins for atlas in atlases]),
        axes=np.concatenate([atlas.axes for atlas in atlases]),
        coefficients=np.concatenate(sides),
        shrinkage=np.concatenate([atlas.shrinkage for atlas in atlases]),
    )


def _without(side: FloatArray, q: int) -> FloatArray:
    """Return the coefficients of flat charts as zeros that take no memory."""
    return np.broadcast_to(np.zeros(()), (len(side), q, side.shape[2]))


def bend(atlas: Atlas, t: FloatArray) -> FloatArray:
    """Return the coordinates u of tangent coordinates t, shape (n_patches, m, r)."""
    r = atlas.n_components
    if not atlas.shrinkage.any():
        return t
    squares = (t[..., :, None] * t[..., None, :]).reshape(*t.shape[:2], r * r)
    form = (squares @ atlas.bending).reshape(*t.shape[:2], r, r)
    return t + (form @ t[..., None])[..., 0]


def sectional_curvature(coefficients: FloatArray, r: int) -> FloatArray:
    """Return the mean sectional curvature of charts, that of Gauss for surfaces, zero for curves.

    By Gauss' equation the plane of axes k and l has ⟨B_kk, B_ll⟩ - |B_kl|².
    """
    return _mean_over_planes(r, lambda kk, ll, kl: _dot(coefficients, kk, ll, kl))


def curvature_of_noise(covariance: FloatArray, r: int) -> FloatArray:
    """Return what noise of unit variance adds to `sectional_curvature` on average."""

    def plane(kk: int, ll: int, kl: int) -> FloatArray:
        return np.asarray(covariance[:, kk, ll] - covariance[:, kl, kl])

    return _mean_over_planes(r, plane)


def _dot(coefficients: FloatArray, kk: int, ll: int, kl: int) -> FloatArray:
    product = coefficients[:, kk] * coefficients[:, ll] - coefficients[:, kl] ** 2
    return np.asarray(product.sum(axis=1))


def _mean_over_planes(r: int, plane: Callable[[int, int, int], FloatArray]) -> FloatArray:
    """Return the mean over pairs of axes of a function of the positions of B_kk, B_ll and B_kl."""
    pairs = combinations_with_replacement(range(r), 2)
    position = {pair: 1 + r + number for number, pair in enumerate(pairs)}
    planes = [
        plane(position[a, a], position[b, b], position[a, b]) for a, b in combinations(range(r), 2)
    ]
    if not planes:
        return 0.0 * plane(1, 1, 1)
    return np.asarray(sum(planes) / len(planes))


def quadratic_features(t: FloatArray) -> FloatArray:
    """Return 1, t_k and (t_k²/2 or t_k t_l, k ≤ l)."""
    rows, columns = np.triu_indices(t.shape[2])
    products = t[..., rows] * t[..., columns] * np.where(rows == columns, 0.5, 1.0)
    return np.concatenate([np.ones((*t.shape[:2], 1)), t, products], axis=2)
