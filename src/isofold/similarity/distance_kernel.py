"""The Gaussian kernel of any distance, for methods that take kernels only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import FloatArray
from isofold._validation import check_positive
from isofold.similarity.objects import ObjectDistance, ObjectKernel

__all__ = ["DistanceKernel"]


@dataclass(frozen=True)
class DistanceKernel(ObjectKernel):
    """The kernel exp(−γ d²) of a distance d of objects.

    Parameters
    ----------
    distance : ObjectDistance
        The distance.
    gamma : float, default=1.0
        γ. One over twice the squared median distance is usual. It is a number, and not found from
        the objects of a call, so that new objects are compared as the first ones were.

    Notes
    -----
    It is positive semidefinite for Euclidean distances. For others see `negative_fraction`.

    Examples
    --------
    >>> from isofold.similarity import DistanceKernel, EditDistance
    >>> DistanceKernel(EditDistance(), gamma=0.5)(["cat", "cats"], ["cart"]).round(3)
    array([[0.607],
           [0.135]])
    """

    distance: ObjectDistance
    gamma: float = 1.0

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every object of A with every object of B, or of A with itself."""
        rate = check_positive(self.gamma, name="gamma")
        return np.asarray(np.exp(-rate * self.distance(A, B) ** 2))
