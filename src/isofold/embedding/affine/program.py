"""The program of embedding by affine transformations; its size determines the solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from isofold._findings import Finding
from isofold._progress.stages import interrupted
from isofold._typing import FloatArray
from isofold.embedding.affine.pairs import Sides
from isofold.embedding.affine.span import KernelSpan
from isofold.embedding.mvu.base import LOST, columns_for, make_solver
from isofold.exceptions import UnboundedProblemError
from isofold.linalg import principal_coordinates
from isofold.neighbors import NeighborGraph, connected_components
from isofold.sdp import DenseSDP, GramSDP, LowRankSDP, Status
from isofold.sdp.posing.two_stage import MOST_FUNCTIONS, Stretched, relative_error, stretch

__all__ = ["AffineProgram", "find_targets"]

MOST_DENSE_PAIRS, MOST_DENSE_NODES = 2000, 600
"""Kept pairs and samples up to which the dense interior point takes seconds."""

ENOUGH = 1e-4
"""Relative duality gap of the dense solver; most often it is far smaller."""

MOST_STEPS = 60
"""Multiplier steps of larger programs; a thousand samples take some fifteen."""

APART = 1e-6
"""How nearly a function that is constant on components must be in the span of a kernel for the
kernel to move the components apart."""

CONTRADICTED = 0.05
"""Least error of kept squared distances from which targets count as contradictory."""


@dataclass(eq=False)
class AffineProgram:
    """The two stages for one set of pairs, to be solved for one kernel or several.

    Parameters
    ----------
    sides : Sides
        Pairs to keep and to stretch.
    kept : NeighborGraph
        The kept ones as a graph.
    slack : float
        Error that is allowed beyond the least.
    solver : DenseSDP, LowRankSDP, ConicSDP or None
        The user's solver.
    n_components : int
        Dimension of the map.
    rng : RandomState
        Source of random numbers.
    is_own : bool
        Whether the kept distances are those of the data themselves.
    """

    sides: Sides
    kept: NeighborGraph
    slack: float
    solver: Any
    n_components: int
    rng: np.random.RandomState
    is_own: bool

    def solve(self, span: KernelSpan) -> tuple[Stretched, FloatArray]:
        """Return the solution for a kernel, and its points in the span of the kernel."""
        _refuse_loose_components(span, self.kept)
        is_small = len(self.sides.keep) <= MOST_DENSE_PAIRS
        is_small = is_small and self.kept.n_nodes <= MOST_DENSE_NODES
        is_small = is_small or span.rank <= MOST_FUNCTIONS
        if not isinstance(self.solver, LowRankSDP) and (is_small or self.solver is not None):
            result = self._in_span(span)
            is_lost = result.error > LOST and result.solution.status is not Status.CERTIFIED
            if self.solver is not None or not is_lost or interrupted():
                return result, self._unit * result.solution.coordinates
            # Distances of very different size are too much for an interior point.
        Y = self._by_steps.solution.coordinates
        if span.is_full:
            return self._by_steps, self._unit * Y
        Y = principal_coordinates(span.project(Y)).coordinates
        error = relative_error(self._problem, Y, self._scaled.units)
        return replace(self._by_steps, error=error), self._unit * Y

    def _in_span(self, span: KernelSpan) -> Stretched:
        """Solve in the functions that the kernel spans ("reduced features")."""
        problem = replace(self._problem, basis=None if span.is_full else span.functions)
        solver = DenseSDP(tol=ENOUGH) if self.solver is None else self.solver
        return stretch(
            problem,
            slack=self.slack,
            solver=make_solver(solver, self.kept, self.n_components, self.rng),
            units=self._scaled.units,
            # The data have these distances, and a full kernel can reproduce the data.
            least_error=0.0 if self.is_own and span.is_full else None,
        )

    @cached_property
    def _by_steps(self) -> Stretched:
        """The solution as a kernel of full rank would have it.

        Multiplier steps keep many distances exactly, in less time than soft ones. A kernel of
        almost full rank is left aside; the caller projects onto what it spans.
        """
        steps = LowRankSDP(max_iter=MOST_STEPS, rank=columns_for(self.kept, self.n_components))
        chosen = steps if self.solver is None else self.solver
        solver = make_solver(chosen, self.kept, self.n_components, self.rng)
        exact = solver.solve(self._problem)
        error = relative_error(self._problem, exact.coordinates, self._scaled.units)
        if interrupted() or (exact.status is not Status.INFEASIBLE and error <= LOST):
            return Stretched(exact, error, 0.0, np.inf)
        return stretch(self._problem, slack=self.slack, solver=solver, units=self._scaled.units)

    @cached_property
    def _unit(self) -> float:
        """The median kept distance: in units of it nothing is very large or small."""
        return float(np.median(self.sides.targets))

    @cached_property
    def _scaled(self) -> Sides:
        return self.sides.in_units(self._unit)

    @cached_property
    def _problem(self) -> GramSDP:
        sides = self._scaled
        return GramSDP.unfolding(
            self.kept.n_nodes, sides.keep, sides.targets**2, objective=sides.objective
        )


def _refuse_loose_components(span: KernelSpan, kept: NeighborGraph) -> None:
    """Refuse kept pairs in several components that the kernel can move apart.

    It can if some function that is constant on every component lies in its span.
    """
    components = connected_components(kept)
    if components.n_components == 1:
        return
    nearest = 1.0
    if not span.is_full:
        # Indicators of components, of unit length; the functions are orthogonal to constants.
        indicators = np.zeros((kept.n_nodes, components.n_components))
        sizes = np.bincount(components.labels)
        indicators[np.arange(kept.n_nodes), components.labels] = 1.0 / np.sqrt(
            sizes[components.labels]
        )
        nearest = float(np.linalg.norm(span.functions.T @ indicators, 2))
    if nearest >= 1.0 - APART:
        msg = (
            f"The kept pairs leave {components.n_components} components, and the kernel can move "
            f"these anywhere: nothing determines where they go, and stretched pairs between them "
            f"have no limit. Keep pairs between the components, or use a kernel of lower rank, if "
            f"there is one."
        )
        raise UnboundedProblemError(msg, components.n_components)


def find_targets(result: Stretched) -> Iterator[Finding]:
    """Yield a finding if no map of the kernel has the requested distances."""
    if result.least_error is not None and result.least_error > CONTRADICTED:
        yield Finding.checked("targets", result.least_error, CONTRADICTED, is_raised=True)
