"""New objects on a map whose kernel is like that of the objects.

*Back-constrained*: the map is x = Aᵀk(y) + b, for training objects as for new ones. *Free*: the
objective of the fit is minimized in the new point alone,

    −2 Σ_j k_y(y, j) k_x(x, x_j) + 2λ_k Σ_j k_x(x, x_j)² + λ_x ‖x‖²

from its most similar objects: their mean, or the nearest of them if that is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize

from isofold._typing import FloatArray
from isofold.extension.kernel_eigen_map import KernelNodes, MapOfNodes
from isofold.linalg.rows import row_product
from isofold.similarity.kernels import is_sparse
from isofold.similarity.latent import LatentKernel

__all__ = ["BackConstrainedMap", "TwinKernelMap"]

MOST_STEPS, TOLERANCE = 100, 1e-12
"""Steps for one point, and the relative fall of its objective at which it has come to rest."""


@dataclass(frozen=True, eq=False)
class BackConstrainedMap(MapOfNodes):
    """The map x = Aᵀk(y) + b.

    Attributes
    ----------
    nodes : KernelNodes
        The training objects.
    coefficients : ndarray of shape (n, r)
        A.
    offset : ndarray of shape (r,)
        b.
    """

    nodes: KernelNodes
    coefficients: FloatArray
    offset: FloatArray

    @cached_property
    def images(self) -> FloatArray:  # type: ignore[override]  # computed where others store it
        """Where the training objects are on the map."""
        return self.transform(self.nodes.source.objects)

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new objects, each by itself.

        Parameters
        ----------
        X_new : ndarray, sparse matrix or sequence
            The objects, as the embedder gets them, or their kernel rows.

        Returns
        -------
        ndarray of shape (n_new, r)
            Their images.
        """
        images = np.empty((X_new.shape[0], self.coefficients.shape[1]))
        for part in self.nodes.blocks(X_new):
            images[part] = self.of_values(self.nodes.rows(X_new[part]).values)
        return images

    def of_values(self, values: Any) -> FloatArray:
        """Return the images of objects with given kernel rows."""
        if is_sparse(values):
            return np.asarray(values @ self.coefficients + self.offset)
        return row_product(values, self.coefficients) + self.offset


@dataclass(frozen=True, eq=False)
class TwinKernelMap(MapOfNodes):
    """A map of new objects by the objective of the fit.

    Attributes
    ----------
    nodes : KernelNodes
        The training objects.
    images : ndarray of shape (n, r)
        Where they are on the map.
    latent : LatentKernel
        The kernel of the map, and the weights λ_k and λ_x.
    """

    nodes: KernelNodes
    images: FloatArray
    latent: LatentKernel

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new objects, each by itself; a training object gets its own.

        Parameters
        ----------
        X_new : ndarray, sparse matrix or sequence
            The objects, as the embedder gets them, or their kernel rows.

        Returns
        -------
        ndarray of shape (n_new, r)
            Their images. An object that is similar to none goes to the center of the map.
        """
        images = np.empty((X_new.shape[0], self.images.shape[1]))
        for part in self.nodes.blocks(X_new):
            rows = self.nodes.rows(X_new[part])
            nearest, is_copy = self.nodes.source.nearest_copy(rows)
            weights = self.nodes.weights(rows)
            for i, (node, known) in enumerate(zip(nearest, is_copy, strict=True)):
                own = slice(weights.indptr[i], weights.indptr[i + 1])
                images[part.start + i] = (
                    self.images[node]
                    if known
                    else self._settled(weights.indices[own], weights.data[own])
                )
        return images

    def _settled(self, similar: Any, weights: FloatArray) -> FloatArray:
        """Return where one object goes that is similar to some."""
        if not len(similar):
            return self.images.mean(axis=0)
        near = self.images[similar]
        starts = [weights @ near / weights.sum(), near[int(np.argmax(weights))]]

        def at(x: Any) -> Any:
            return self._at(x, near, weights)

        best = min(starts, key=lambda x: at(x)[0])
        options: Any = {"maxiter": MOST_STEPS, "ftol": TOLERANCE, "gtol": TOLERANCE}
        found = minimize(at, best, method="L-BFGS-B", jac=True, options=options)
        return np.asarray(found.x)

    def _at(self, x: FloatArray, near: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective of one point and its gradient."""
        latent, sigma = self.latent, self.latent.sigma
        strength = float(latent.weight_kernel) * latent.amplitude**2
        towards, away = x - near, x - self.images
        pull = weights * latent.amplitude * np.exp(-sigma * np.sum(towards**2, axis=1))
        push = strength * np.exp(-2.0 * sigma * np.sum(away**2, axis=1))
        value = 2.0 * (push.sum() - pull.sum()) + latent.weight_points * float(x @ x)
        slope = 4.0 * sigma * (pull @ towards) - 8.0 * sigma * (push @ away)
        return float(value), slope + 2.0 * latent.weight_points * x
