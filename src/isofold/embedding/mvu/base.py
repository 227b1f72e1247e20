"""The base of maximum variance unfolding and its variants.

Each poses its own `GramSDP` over the nodes of a neighbor graph. What comes before (a connected
graph) and after (the leading coordinates, how true their lengths are, findings, a map for new
points) is the same.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from isofold._base import Fit
from isofold._findings import Finding, Severity, Value, setting
from isofold._typing import FloatArray
from isofold._validation import check_count, check_seed, check_units
from isofold.embedding.embedder import Embedder
from isofold.exceptions import InvalidInputError, UnboundedProblemError
from isofold.extension import DistanceMap, GooseMap, PointMap, fit_from_distances, fit_goose
from isofold.neighbors import (
    LengthErrors,
    NeighborGraph,
    connected_components,
    dimension_of_lengths,
    edge_errors,
    mean_at_nodes,
    resolve_graph,
)
from isofold.neighbors.graph import merge_unresolved
from isofold.sdp import LowRankSDP, SDPSolution, Status
from isofold.sdp.preflight.contradictions import contradiction_of_lengths
from isofold.sdp.rules import RULES

__all__ = ["BaseUnfolder", "Unfolded", "describe", "make_solver", "refuse_disconnected"]

SPARE_COLUMNS = 6
"""Columns of the factor beyond the dimensions it needs. Four are a fifth faster on clean sheets,
but with a little noise (0.05 on a roll of 8,000 points) the gap does not close."""

SHEET, COLUMNS_A_DIMENSION, MOST_COLUMNS = 2, 4, 40
"""Intrinsic dimension up to which data count as a sheet, and columns for each dimension of others:
a neighborhood of k points spans up to k dimensions, whatever the map has. Digits and wines (of six
dimensions) needed 18 columns, faces (of seven) 28."""

FEW_POINTS, MANY_STEPS, MOST_STEPS = 500, 40, 12
"""Multiplier steps for up to this number of points, where they are cheap, and beyond: what is not
certified then never will be, for example with noise as large as the lengths themselves."""

LOOSE_RISE, LOOSE_ERROR = 3.0, 1e-2
"""A graph counts as too loose if the projection raises the median error of lengths by more than
this factor, and above this error: below it the difference is not visible on a map."""

LOST = 0.2
"""Median error of lengths from which a solution does not keep them, whatever its gap."""

EXTENSION_NEIGHBORS = 12
"""Neighbors that place a new sample. Held-out samples of unfolded rolls and faces are placed best
by 8 to 12 neighbors."""

ENHANCED, BRIDGED = Value("Enhanced()", "eng"), Value("Bridged()", "bridged")
SOFT = Value("Soft(16.0)", "16")
"""Remedies, as they are typed in Python and in the shell."""

TRUSTED = (Status.CERTIFIED, Status.INEXACT_CERTIFICATE)


@dataclass(frozen=True, eq=False)
class Unfolded:
    """The nodes of a graph, unfolded.

    Attributes
    ----------
    coordinates : ndarray of shape (n_nodes, n_components)
        The leading coordinates, those of the map.
    spectrum : ndarray
        Variances along all axes of the solution.
    discarded : float
        The fraction of these variances beyond the components of the map.
    errors : ndarray of shape (n_edges,)
        Relative errors of the lengths on the map.
    errors_before : ndarray of shape (n_edges,)
        The same before the projection to the map.
    """

    coordinates: FloatArray
    spectrum: FloatArray
    discarded: float
    errors: FloatArray
    errors_before: FloatArray

    @property
    def lengths(self) -> LengthErrors:
        """Summary of the errors on the map."""
        return LengthErrors.of(self.errors)

    @property
    def lengths_before(self) -> LengthErrors:
        """Summary of the errors before the projection."""
        return LengthErrors.of(self.errors_before)


class BaseUnfolder(Embedder):
    """Base of the methods that maximize variance while the lengths of a graph are kept.

    A subclass provides ``_unfold(X, y, graph, rng)``, which returns the solution, whose coordinates
    have one row a node, and further attributes by name.
    """

    _softened: ClassVar[str] = "use isofold.MVU with"
    """How to embed lengths that contradict each other; ends with parameters of `MVU`."""

    _takes_distances: ClassVar[bool] = True

    n_components: int
    n_neighbors: int | None
    graph: Any
    solver: Any
    random_state: Any
    n_jobs: int | None

    def _make_graph(self, X: FloatArray) -> NeighborGraph:
        """Return the graph whose lengths are kept."""
        return resolve_graph(
            X,
            self.graph,
            n_neighbors=self.n_neighbors,
            default=default_neighbors(self.n_components),
            metric=self._seen_metric,
            n_jobs=self.n_jobs,
        )

    @abstractmethod
    def _unfold(
        self, X: FloatArray, y: Any, graph: NeighborGraph, rng: np.random.RandomState
    ) -> tuple[SDPSolution, dict[str, Any]]:
        """Return the unfolded nodes of the graph, and fitted attributes of the method."""

    def _fit(self, X: FloatArray, y: Any) -> Fit:
        r = check_count(self.n_components, name="n_components")
        rng = check_seed(self.random_state)
        graph = resolved(self._make_graph(X))
        refuse_disconnected(graph, type(self).__name__)
        solution, more = self._unfold(X, y, graph, rng)
        refuse_contradiction(solution, graph, method=self._softened)
        unfolded = describe(solution.coordinates, graph, r)
        embedding = unfolded.coordinates[graph.node_of_sample]
        return Fit.of(
            embedding,
            map_=self._new_map(X, embedding),
            findings=(
                *find_bridges(graph),
                *find_uncertified(solution),
                *find_lost_lengths(unfolded, has_angles=hasattr(self, "angles")),
                *self._find_missed(unfolded, graph),
            ),
            graph=graph,
            solution=solution,
            bridges=graph.sample_of_node[graph.bridges],
            spectrum=unfolded.spectrum,
            discarded_variance_ratio=unfolded.discarded,
            length_errors=unfolded.lengths,
            unprojected_length_errors=unfolded.lengths_before,
            distortion=mean_at_nodes(unfolded.errors, graph)[graph.node_of_sample],
            **more,
        )

    def _find_missed(self, unfolded: Unfolded, graph: NeighborGraph) -> Iterator[Finding]:
        """Yield a finding if kept lengths have errors above the tolerance of their median."""
        kept = getattr(self, "lengths", None)
        if not isinstance(kept, str) or kept != "equal" or graph.n_edges == 0:
            return
        asked = getattr(self.solver, "violation_tol", None)
        tolerance = RULES.violation_of_equalities if asked is None else float(asked)
        errors = unfolded.errors_before * graph.lengths / np.median(graph.lengths)
        missed = errors > tolerance
        if missed.any():
            yield Finding.of(
                "missed_lengths",
                value=errors.max(),
                samples=graph.sample_of_node[np.unique(graph.edges[missed])],
                tolerance=tolerance,
            )

    def _new_map(self, X: FloatArray, Y: FloatArray) -> PointMap:
        """Return the map that takes new samples into the embedding."""
        return new_map(self, X, Y)


def default_neighbors(n_components: int, *, angles: bool = False) -> int:
    """Return as many neighbors as keep a sheet of r dimensions from crumpling."""
    k = max(12, 4 * (n_components + 1))
    return k // 2 if angles else k


def describe(coordinates: FloatArray, graph: NeighborGraph, n_components: int) -> Unfolded:
    """Return the leading coordinates and how true lengths are, before and after."""
    spectrum = np.einsum("ij,ij->j", coordinates, coordinates) / len(coordinates)
    missing = n_components - coordinates.shape[1]
    leading = np.pad(coordinates[:, :n_components], ((0, 0), (0, max(0, missing))))
    total = float(spectrum.sum())
    return Unfolded(
        coordinates=leading,
        spectrum=spectrum,
        discarded=float(spectrum[n_components:].sum()) / total if total > 0.0 else 0.0,
        errors=edge_errors(leading, graph),
        errors_before=edge_errors(coordinates, graph),
    )


def make_solver(
    solver: Any,
    graph: NeighborGraph,
    n_components: int,
    rng: np.random.RandomState,
    *,
    lengths: Any = "equal",
) -> Any:
    """Return the solver to use: a copy of the given one, or the engine with enough columns."""
    if solver is None:
        chosen = LowRankSDP(rank=columns_for(graph, n_components))
        if isinstance(lengths, str) and lengths == "equal":
            chosen.max_iter = MANY_STEPS if graph.n_nodes <= FEW_POINTS else MOST_STEPS
    elif isinstance(solver, BaseEstimator) and callable(getattr(solver, "solve", None)):
        chosen = clone(solver)
    else:
        msg = f"solver={solver!r} must be a LowRankSDP, a DenseSDP, a ConicSDP or None."
        raise InvalidInputError(msg)
    if "random_state" in chosen.get_params() and chosen.random_state is None:
        chosen.random_state = rng.randint(2**31 - 1)
    return chosen


def new_map(embedder: Embedder, X: FloatArray, Y: FloatArray) -> GooseMap | DistanceMap:
    """Return the map that takes new samples into an embedding."""
    check_units(Y, name="the map", given="X")
    if embedder._seen_metric == "precomputed":
        return fit_from_distances(Y)
    k = max(EXTENSION_NEIGHBORS, Y.shape[1] + 1)
    return fit_goose(X, Y, n_neighbors=k, n_jobs=getattr(embedder, "n_jobs", None))


def columns_for(graph: NeighborGraph, n_components: int) -> int:
    """Return how many columns the unfolded graph may need before it is projected."""
    dimension = dimension_of_lengths(graph)
    needed = COLUMNS_A_DIMENSION * dimension if dimension > SHEET else 0
    return max(n_components, min(needed, MOST_COLUMNS)) + SPARE_COLUMNS


def refuse_disconnected(graph: NeighborGraph, method: str) -> None:
    """Refuse a graph in several components: they could be moved apart without limit."""
    components = connected_components(graph)
    if components.n_components == 1:
        return
    samples = np.bincount(components.labels[graph.node_of_sample])
    sizes = ", ".join(map(str, samples[:5]))
    more = ", ..." if components.n_components > 5 else ""
    msg = (
        f"The neighbor graph has {components.n_components} connected components (of {sizes}{more} "
        f"points). No length ties them together, so that {method} could move them apart without "
        f"end: its program is unbounded. Use isofold.DisjointMVU, which unfolds every component "
        f"and places them; or {setting('graph', ENHANCED)} (the enhanced neighborhood graph) or "
        f"{setting('graph', BRIDGED)}, which add edges; or more neighbors."
    )
    raise UnboundedProblemError(msg, components.n_components)


def check_lengths(graph: NeighborGraph) -> None:
    """Refuse lengths whose squares leave the range of numbers."""
    if graph.n_edges:
        check_units(graph.lengths, name="X (lengths of the graph)", given="X")


def resolved(graph: NeighborGraph) -> NeighborGraph:
    """Return a graph whose nodes a map can separate; refuse squares out of range of numbers."""
    check_lengths(graph)
    return merge_unresolved(graph)


def refuse_contradiction(
    solution: SDPSolution | None, graph: NeighborGraph, *, method: str = "pass"
) -> None:
    """Refuse lengths that no points can have, naming the samples that contradict each other."""
    if solution is None or solution.status is not Status.INFEASIBLE:
        return
    seen = (triangle_violation(graph) or solution.message).rstrip(".")
    msg = (
        f"Status {solution.status.name}: {seen}. No points have such distances. Correct them; "
        f"or, to embed all the same, {method} "
        f"{setting('lengths', SOFT)} (lengths are kept as well as possible) or "
        f"{setting('lengths', 'at_most')}."
    )
    raise InvalidInputError(msg)


def triangle_violation(graph: NeighborGraph) -> str | None:
    """Return a sentence about samples whose lengths violate the triangle inequality, if any do."""
    pairs = graph.sample_of_node[graph.edges]
    squared = graph.lengths.astype(np.float64) ** 2
    return contradiction_of_lengths(graph.n_samples, pairs, squared)


def find_bridges(graph: NeighborGraph) -> Iterator[Finding]:
    """Yield a finding if edges were added between samples that are not neighbors."""
    if graph.is_bridge.any():
        yield Finding.of("bridges", Severity.DOUBT, n=int(graph.is_bridge.sum()))


def find_uncertified(solution: SDPSolution) -> Iterator[Finding]:
    """Yield a finding unless the solution is certified."""
    if solution.status not in TRUSTED:
        yield solution.finding


def is_loose(unfolded: Unfolded) -> bool:
    """Return whether lengths are true only in more dimensions than the map has."""
    before, after = unfolded.lengths_before.median, unfolded.lengths.median
    return after > max(LOOSE_ERROR, LOOSE_RISE * before)


def find_loose_graph(unfolded: Unfolded, *, form: str = "", **where: int) -> Finding:
    """Return the finding that the projection to the map makes lengths untrue."""
    return Finding.of(
        "loose_graph",
        Severity.DOUBT,
        form=form,
        value=unfolded.lengths.median,
        before=unfolded.lengths_before.median,
        rank=len(unfolded.spectrum),
        dimension=unfolded.coordinates.shape[1],
        discarded=unfolded.discarded,
        **where,
    )


def find_lost_lengths(unfolded: Unfolded, *, has_angles: bool) -> Iterator[Finding]:
    """Yield a finding if the projection, or the solution itself, does not keep lengths."""
    if is_loose(unfolded):
        yield find_loose_graph(unfolded, form="angles" if has_angles else "")
    elif unfolded.lengths_before.median > LOST:
        yield Finding.of("lost_lengths", Severity.DOUBT, value=unfolded.lengths_before.median)
