"""The base classes of estimators of structures: check the problem, solve, record, warn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from isofold._base import one_fit
from isofold._findings import Diagnosis, Finding, Severity, emit, setting
from isofold._progress.stages import interrupted
from isofold.exceptions import InputTypeError, InvalidInputError
from isofold.structure.problem import StructureProblem
from isofold.structure.result import Structure

__all__ = ["BaseStructureEstimator", "BaseStructureSolver"]


class BaseStructureEstimator(BaseEstimator):
    """Base class of all that finds structures: what is recorded and told of one."""

    n_components: Any
    structure_: Structure

    def _record(self, found: Structure) -> None:
        """Set the fitted attributes, and warn of doubts."""
        self.structure_ = found
        self.coordinates_, self.violations_ = found.coordinates, found.violations
        self.free_motions_, self.certificate_ = found.free_motions, found.relaxation
        self.ensemble_, self.energies_ = found.ensemble, found.energies
        self.spread_, self.diagnosis_ = found.spread, found.diagnosis
        emit(found.diagnosis.findings)


class BaseStructureSolver(BaseStructureEstimator, ABC):
    """Base class of estimators of structures from a `StructureProblem`.

    A subclass keeps its parameters in a keyword-only ``__init__`` of plain assignments, among them
    `n_components`, and provides ``_solve(problem)``, which returns a `Structure` and sets nothing.

    Attributes
    ----------
    structure_ : Structure
        What was found, all in one.
    coordinates_ : ndarray of shape (n_points, n_components)
        Where the points are.
    violations_ : Violations
        How far the structure is from what was given, worst first.
    free_motions_ : FreeMotions
        Motions that rigid groups and known distances leave.
    certificate_ : RelaxationBound or None
        What was proved; None if nothing was to be.
    ensemble_, energies_, spread_ : ndarray
        The structures of all starts, their energies, and where they differ.
    diagnosis_ : Diagnosis
        What was found, in plain words.
    """

    _dimensions: ClassVar[tuple[int, ...]] = (2, 3)

    @abstractmethod
    def _solve(self, problem: StructureProblem) -> Structure:
        """Return the structure of a checked problem."""

    def fit(self, problem: StructureProblem) -> Self:
        """Find the structure.

        Parameters
        ----------
        problem : StructureProblem
            What is known of it.

        Returns
        -------
        self
            The fitted estimator.
        """
        with one_fit(self):
            self._refuse(problem)
            self._record(self._solve(problem))
        return self

    def _record(self, found: Structure) -> None:
        """Set the fitted attributes, and warn of the doubts."""
        if interrupted():
            finding = Finding.of("interrupted", Severity.DOUBT)
            found = replace(found, diagnosis=Diagnosis((*found.diagnosis.findings, finding)))
        self.structure_ = found
        self.coordinates_, self.violations_ = found.coordinates, found.violations
        self.free_motions_, self.certificate_ = found.free_motions, found.relaxation
        self.ensemble_, self.energies_ = found.ensemble, found.energies
        self.spread_, self.diagnosis_ = found.spread, found.diagnosis
        emit(found.diagnosis.findings)

    def _refuse(self, problem: StructureProblem) -> None:
        """Refuse what is no problem in this number of dimensions."""
        name, d = type(self).__name__, self.n_components
        if not isinstance(problem, StructureProblem):
            msg = (
                f"{name}.fit got {type(problem).__name__}, but it takes an "
                f"isofold.structure.StructureProblem: points, rigid groups, distances and bounds. "
                f"To map vectors, use isofold.Unfold."
            )
            raise InputTypeError(msg)
        if d not in self._dimensions or isinstance(d, bool):
            msg = f"{setting('n_components', d)} must be 2 or 3: structures are in plane or space."
            raise InvalidInputError(msg)
        for number, group in enumerate(problem.groups):
            if group.dimension > d:
                msg = (
                    f"Rigid group {group.name or number} fills {group.dimension} dimensions, but "
                    f"the structure has {d}. Pass a larger n_components or a flat group."
                )
                raise InvalidInputError(msg)
        if len(problem.anchors) and problem.anchors.positions.shape[1] != d:
            msg = (
                f"Anchors have {problem.anchors.positions.shape[1]} coordinates, but "
                f"{setting('n_components', d)}. Pass as many."
            )
            raise InvalidInputError(msg)
        if len(problem.centers) and d != 3:
            msg = (
                f"There are {len(problem.centers)} centers with a hand, but "
                f"{setting('n_components', d)}: signed volumes exist only in space. In the plane, "
                f"rigid groups keep their hands."
            )
            raise InvalidInputError(msg)
