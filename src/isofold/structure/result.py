"""What is found: coordinates, violations of what was given, motions that are left, a proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from isofold._findings import Diagnosis
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.structure.problem import StructureProblem

__all__ = ["FreeMotions", "RelaxationBound", "Structure", "Violations"]


@dataclass(frozen=True, eq=False)
class Violations:
    """How far a structure is from what was given, worst first.

    Attributes
    ----------
    kinds : ndarray of str of shape (n_given,)
        "group", "distance", "bound", "angle" or "contact".
    pairs : ndarray of int of shape (n_given, 2)
        The two points.
    lower, upper, found : ndarray of shape (n_given,)
        The bounds on their distance, and the distance in the structure.
    """

    kinds: npt.NDArray[np.str_]
    pairs: IntArray
    lower: FloatArray
    upper: FloatArray
    found: FloatArray

    @property
    def excess(self) -> FloatArray:
        """By how much the distance is too long (positive) or too short (negative)."""
        return self.found - np.clip(self.found, self.lower, self.upper)

    def __len__(self) -> int:
        return len(self.pairs)

    def of(self, *kinds: str) -> Violations:
        """Return the rows of some kinds."""
        return self.rows(np.isin(self.kinds, kinds))

    def rows(self, rows: Any) -> Violations:
        """Return some rows."""
        return Violations(
            self.kinds[rows], self.pairs[rows], self.lower[rows], self.upper[rows], self.found[rows]
        )

    @property
    def worst(self) -> float:
        """The largest violation; zero if nothing was given."""
        return float(np.abs(self.excess).max(initial=0.0))

    @property
    def mean(self) -> float:
        """The mean violation over all that was given, zeros included."""
        return float(np.abs(self.excess).mean()) if len(self) else 0.0


@dataclass(frozen=True, eq=False)
class FreeMotions:
    """Motions that leave all groups and distances as they are, to first order.

    Attributes
    ----------
    n_motions : int
        Number of independent motions beyond those of the whole in space.
    bodies : ndarray of int of shape (n_points,)
        Rigid cluster of each point, the largest first: points of one cluster keep their distances
        in every free motion. A point in several clusters (a hinge) has the first of them.
    """

    n_motions: int
    bodies: IntArray

    @property
    def is_rigid(self) -> bool:
        """Whether nothing moves."""
        return self.n_motions == 0

    @property
    def n_bodies(self) -> int:
        """Number of rigid clusters."""
        return int(self.bodies.max(initial=-1)) + 1

    @property
    def is_floppy(self) -> BoolArray:
        """Whether each point moves against the largest rigid cluster."""
        return np.asarray(self.bodies != 0)


@dataclass(frozen=True, eq=False)
class RelaxationBound:
    """What is proved of the energy without regard to the dimension.

    Attributes
    ----------
    value : float
        Energy of the relaxation that was found.
    bound : float
        No structure in any dimension has less.
    penalty_bound : float
        Least weighted sum of squared violations of the given distances in any dimension: if it is
        positive, they contradict each other.
    pairs : ndarray of int of shape (n_named, 2)
        The pairs that carry most of a contradiction, worst first; none if there is none.
    """

    value: float
    bound: float
    penalty_bound: float = 0.0
    pairs: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))

    @property
    def gap(self) -> float:
        """How far from optimal the relaxation may be, relative to its value."""
        return (self.value - self.bound) / max(abs(self.value), abs(self.bound), 1e-300)

    @property
    def is_contradiction(self) -> bool:
        """Whether it is proved that no structure in any dimension meets all that was given."""
        return self.penalty_bound > 0.0


@dataclass(frozen=True, eq=False)
class Structure:
    """A structure, and what is known about it.

    Attributes
    ----------
    problem : StructureProblem
        What was given.
    coordinates : ndarray of shape (n_points, n_components)
        Where the points are.
    energy : float
        Weighted sum of squared violations, in squared units of the lengths.
    vote : float
        How clearly local centers decide between the structure and its mirror image, from 0 to 1;
        NaN if there are none.
    mirror_energy : float
        Energy of the mirror image, which was refined as well; NaN if the vote was clear.
    variance_fraction : float
        Fraction of the variance of the relaxation that lies in the dimensions of the structure.
    violations : Violations
        How far it is from what was given.
    free_motions : FreeMotions
        Motions that rigid groups and known distances leave.
    undetermined_motions : FreeMotions
        Motions that are left even if every bound is taken as a known distance: nothing that was
        given is about them.
    relaxation : RelaxationBound or None
        What was proved.
    component : ndarray of int of shape (n_points,)
        Connected part of each point; parts lie at no known place relative to each other.
    ensemble : ndarray of shape (n_starts, n_points, n_components)
        The structures of all starts, least energy first, superimposed on the first.
    energies : ndarray of shape (n_starts,)
        Their energies.
    diagnosis : Diagnosis
        What was found.
    """

    problem: StructureProblem
    coordinates: FloatArray
    energy: float
    vote: float
    mirror_energy: float
    variance_fraction: float
    violations: Violations
    free_motions: FreeMotions
    undetermined_motions: FreeMotions
    relaxation: RelaxationBound | None
    component: IntArray
    ensemble: FloatArray = field(repr=False)
    energies: FloatArray
    diagnosis: Diagnosis = field(default_factory=Diagnosis)

    @property
    def spread(self) -> FloatArray:
        """Root mean square distance of each point from its mean over the starts; no error bar."""
        return np.asarray(np.sqrt(self.ensemble.var(axis=0).sum(axis=1)))

    def named(self, pair: Any) -> tuple[str, str]:
        """Return what the two points of a pair are called."""
        first, second = pair
        return self.problem.name_of(first), self.problem.name_of(second)
