"""The kernel of a map, which is made like the kernel of the objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from isofold._validation import check_positive
from isofold.exceptions import InvalidInputError

__all__ = ["LatentKernel"]

LEARNABLE = ("sigma", "amplitude")


@dataclass(frozen=True)
class LatentKernel:
    """The kernel γ exp(−σ‖x − y‖²) of the map, and what keeps it in bounds.

    Parameters
    ----------
    sigma : float, default=1.0
        σ, which sets the unit of the map.
    amplitude : float, default=1.0
        γ.
    learn : tuple of {"sigma", "amplitude"}, default=()
        Which of the two are learned, from the given values on and within a factor of ten. Either
        runs away in the end: a larger γ outweighs λ_k, and a larger σ on a smaller map costs less.
    weight_kernel : float or "auto", default="auto"
        λ_k, by default five times the number of neighbors over that of objects, and at most 0.5,
        times the mean kernel of neighbors. With 0.5 the kernel of the map is nearest to that of
        the objects in the least-squares sense; less of it lets neighborhoods overlap more, and the
        map tangles less.
    weight_points : float, default=0.01
        λ_x, which holds components together.

    Examples
    --------
    >>> from isofold.similarity import LatentKernel
    >>> LatentKernel().resolved(0.2).weight_kernel
    0.2
    """

    sigma: float = 1.0
    amplitude: float = 1.0
    learn: tuple[str, ...] = ()
    weight_kernel: float | Literal["auto"] = "auto"
    weight_points: float = 0.01

    def resolved(self, weight_kernel: float) -> LatentKernel:
        """Return the same with all numbers, after a look at them."""
        is_automatic = isinstance(self.weight_kernel, str) and self.weight_kernel == "auto"
        found = replace(self, weight_kernel=weight_kernel) if is_automatic else self
        for name in ("sigma", "amplitude", "weight_kernel", "weight_points"):
            check_positive(getattr(found, name), name=f"latent.{name}")
        if not isinstance(self.learn, tuple) or not set(self.learn) <= set(LEARNABLE):
            msg = f"latent.learn={self.learn!r} must be a tuple of {', '.join(LEARNABLE)}."
            raise InvalidInputError(msg)
        return found
