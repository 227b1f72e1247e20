"""The augmented Lagrangian ⟨C, YYᵀ⟩ + Σ ψ_e(⟨A_e, YYᵀ⟩) of a program, with its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray
from isofold.sdp.program import Program

__all__ = ["Lagrangian"]


@dataclass(frozen=True, eq=False)
class Lagrangian:
    """A program with finite penalties as a smooth objective of a trust region.

    Parameters
    ----------
    program : Program
        The program; its envelope is an augmented one.
    """

    program: Program

    def value(self, Y: FloatArray) -> float:
        """Return the augmented Lagrangian."""
        values = self.program.forms.values(Y)
        return self.program.linear_value(Y) + self.program.envelope.total(values)

    def multipliers(self, Y: FloatArray) -> FloatArray:
        """Return w = ψ'(g)."""
        return self.program.envelope.multipliers(self.program.forms.values(Y))

    def gradient(self, Y: FloatArray) -> FloatArray:
        """Return 2(C + A*(w))Y."""
        return 2.0 * np.asarray(self.program.slack(self.multipliers(Y)) @ Y)

    def hessian(self, Y: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return V ↦ 2(C + A*(w))V + 4·A*(ψ''·⟨AY, V⟩)Y."""
        forms, envelope = self.program.forms, self.program.envelope
        values, squares = forms.values(Y), forms.squares()
        slack = self.program.slack(envelope.multipliers(values))
        curvature = envelope.curvature(values)
        image = np.asarray(squares.factors @ Y)

        def product(V: FloatArray) -> FloatArray:
            change = 2.0 * curvature * forms.cross(Y, V)
            weight = squares.signs * change[squares.owner]
            return 2.0 * np.asarray(slack @ V + squares.factors.T @ (weight[:, None] * image))

        return product
