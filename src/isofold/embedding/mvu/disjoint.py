"""MVU on disjoint manifolds (MVU-DM): unfold every component, then place them in one frame.

The program of maximum variance unfolding has no solution if the neighbor graph is disconnected:
nothing holds components together. MVU-DM solves it for every component (local stage), chooses
points that represent each, links components at their closest points, and unfolds the
representatives with their links (global stage). The printed global stage maps components back by
affine maps, which squash them silently: variance does not depend on how components lie across their
links. Here components are moved rigidly, in the target space itself; the affine form is kept as an
option, and the singular values of every component's map are reported.

References
----------
Costa, J. Maximum variance unfolding on disjoint manifolds. MSc thesis, Lisbon, chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.spatial.distance import cdist

from isofold._base import Fit
from isofold._findings import Finding, Severity
from isofold._parallel import ordered_map, runs_elsewhere
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray, Metric, PairKernel
from isofold._validation import check_choice, check_count, check_seed
from isofold.embedding.embedder import Embedder
from isofold.embedding.mvu.base import (
    TRUSTED,
    Unfolded,
    default_neighbors,
    describe,
    find_loose_graph,
    find_uncertified,
    is_loose,
    make_solver,
    new_map,
    refuse_contradiction,
    resolved,
    triangle_violation,
)
from isofold.embedding.mvu.mvu import pose
from isofold.linalg import classical_scaling
from isofold.neighbors import (
    LengthErrors,
    NeighborGraph,
    connect,
    connected_components,
    edge_errors,
    mean_at_nodes,
    resolve_graph,
    subgraph,
)
from isofold.neighbors.connect import STRATEGIES
from isofold.placement.affine import place_by_variance
from isofold.placement.links import Links
from isofold.placement.placement import Placement
from isofold.placement.representatives import STRATEGIES as REPRESENTATIVES
from isofold.placement.representatives import choose_representatives
from isofold.placement.rigid.place import place_rigidly
from isofold.sdp import ConicSDP, LowRankSDP, SDPSolution

__all__ = ["DisjointMVU"]

SQUASHED = 0.99
"""Singular values of a component's map below this are reported as a loss of length."""

LEAST_FOR_PROCESSES = 4000
"""Nodes beside the largest component from which on processes help: two take a second to start, in
which one alone unfolds about so many. With 4,000 nodes in two components they took three times as
long as one process, and with 16,000, once they ran, six tenths."""

MIXED = 0.01
"""Fraction of samples next to another component in the map from which components count as mixed."""


class DisjointMVU(Embedder):
    """Maximum variance unfolding of data in several components.

    Parameters
    ----------
    n_components : int, default=2
        Dimension r of the map.
    n_neighbors : int or None, default=None
        Neighbors whose distances are kept; by default as in `MVU`. Two samples belong together if a
        chain of neighbors leads from one to the other.
    metric : str, callable or ObjectDistance, default="euclidean"
        How samples are compared: "euclidean", "precomputed" (`X` holds distances, or a sparse
        graph of known ones), another metric of scikit-learn such as "cosine", a function of two
        samples, or a distance of `isofold.similarity`.
    kernel : "precomputed", callable, ObjectKernel or None, default=None
        Compares samples instead of `metric`: `X` holds kernel values, or a function of two
        collections returns them. Distances are those in the feature space.
    representatives : {"extremes", "farthest", "hull"}, default="extremes"
        Points that represent a component: the ends of its principal axes (2r), points far from each
        other (2^r), or the corners of its convex hull. Ends of links join them.
    links : {"largest", "closest", "nearest"}, default="largest"
        How components are linked: the largest to its closest, again and again; each to its
        `n_links` closest ones; each to its closest, again and again.
    n_links : int, default=1
        To how many of its closest components each is linked, if `links` is "closest".
    placement : {"rigid", "affine"}, default="rigid"
        The global stage: rigid motions of components in the map's space, ties broken by the
        distances between representatives; or the paper's affine maps, which may squash components.
    solver : LowRankSDP, ConicSDP or None, default=None
        Solver of every component's program; by default `LowRankSDP` with enough columns.
    random_state : int, RandomState or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Processes that unfold components, by scikit-learn's convention. Results never depend on it.
    verbose : bool, default=False
        Whether to show the stages of `fit` and their progress, if there is a screen to show it on.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    component_ : ndarray of int of shape (n_samples,)
        The component of every sample, the largest first.
    singular_values_ : ndarray of shape (n_manifolds, n_components)
        By how much the global stage stretched every component along its axes: 1 is isometric, 0 is
        squashed.
    placement_ : Placement
        The motions of the components, the lengths of links in the map, and the fraction of mixed
        samples.
    bridges_ : ndarray of int of shape (n_bridges, 2)
        Pairs of samples that link components; `graph_` has their lengths in the data.
    solutions_ : list of SDPSolution or None
        The unfolding of every component with its certificate; None for components in which all
        distances are kept, so that nothing is left to unfold.
    solution_ : SDPSolution or None
        That of the largest component.
    graph_, length_errors_, unprojected_length_errors_, distortion_, map_
        As in `MVU`, over all components.

    See Also
    --------
    MVU : Of one component, or with links added (``graph=Enhanced()``).

    Notes
    -----
    Distances within a component mean what they mean in `MVU`. Between components only the lengths
    of links are known; where a component would lie on another it is moved apart, and
    ``placement_.link_lengths`` shows by how much.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold import DisjointMVU
    >>> from isofold.datasets import four_moons
    >>> moons = four_moons(400, random_state=0)
    >>> mvu = DisjointMVU(random_state=0).fit(moons.X)
    >>> int(mvu.component_.max()) + 1
    4
    >>> bool(np.allclose(mvu.singular_values_, 1.0))
    True
    """

    _takes_distances: ClassVar[bool] = True

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int | None = None,
        metric: Metric = "euclidean",
        kernel: PairKernel = None,
        representatives: Literal["extremes", "farthest", "hull"] = "extremes",
        links: Literal["largest", "closest", "nearest"] = "largest",
        n_links: int = 1,
        placement: Literal["rigid", "affine"] = "rigid",
        solver: LowRankSDP | ConicSDP | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
        self.representatives = representatives
        self.links = links
        self.n_links = n_links
        self.placement = placement
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: FloatArray, y: Any) -> Fit:
        r = check_count(self.n_components, name="n_components")
        check_choice(self.placement, ("rigid", "affine"), name="placement")
        check_choice(self.representatives, tuple(REPRESENTATIVES), name="representatives")
        check_choice(self.links, STRATEGIES, name="links")
        check_count(self.n_links, name="n_links")
        rng = check_seed(self.random_state)
        graph = resolve_graph(
            X,
            n_neighbors=self.n_neighbors,
            default=default_neighbors(r),
            metric=self._seen_metric,
            n_jobs=self.n_jobs,
        )
        graph = resolved(graph)
        # Local stage: components, each unfolded by itself.
        components = connected_components(graph)
        members = components.members()
        local = self._unfold_components(graph, members, rng)
        shapes = [component.unfolded.coordinates for component in local]
        # Links at the closest points of components, and representatives, which their ends join.
        linked = self._linked(X, graph) if len(members) > 1 else graph
        links = Links.between(members, linked.bridges, linked.lengths[linked.is_bridge])
        chosen = [
            np.union1d(choose_representatives(shape, self.representatives), ends).astype(np.intp)
            for shape, ends in zip(shapes, _ends_by_component(links, len(shapes)), strict=True)
        ]
        # Global stage, and the maps of all points (equations 3.1 to 3.3).
        if self.placement == "affine":
            solver = make_solver(self.solver, graph, r, rng)
            placement = place_by_variance(shapes, links, chosen, solver=solver)
        else:
            nodes = np.concatenate([own[rows] for own, rows in zip(members, chosen, strict=True)])
            distances = self._distances(X, graph.sample_of_node[nodes])
            placement = place_rigidly(shapes, links, chosen, distances, random_state=rng)
        Y = np.empty((graph.n_nodes, r))
        Y[np.concatenate(members)] = np.concatenate(placement.apply(shapes))
        embedding = Y[graph.node_of_sample]
        errors = edge_errors(Y, linked)
        before = np.concatenate([component.unfolded.errors_before for component in local])
        return Fit.of(
            embedding,
            map_=new_map(self, X, embedding),
            findings=(
                *_find_links(len(members), linked),
                *_find_components(local),
                *_find_placement(placement),
            ),
            component=components.labels[graph.node_of_sample],
            graph=linked,
            placement=placement,
            bridges=linked.sample_of_node[linked.bridges],
            singular_values=placement.singular_values,
            solutions=[component.solution for component in local],
            solution=local[0].solution,
            length_errors=LengthErrors.of(errors[~linked.is_bridge]),
            unprojected_length_errors=LengthErrors.of(before),
            distortion=mean_at_nodes(errors, linked)[linked.node_of_sample],
        )

    def _linked(self, X: FloatArray, graph: NeighborGraph) -> NeighborGraph:
        """Return the graph with links between its components."""
        return connect(
            X,
            graph,
            strategy=self.links,
            n_links=self.n_links if self.links == "closest" else 1,
            metric=self._seen_metric,
            n_jobs=self.n_jobs,
        )

    def _unfold_components(
        self, graph: NeighborGraph, members: list[IntArray], rng: np.random.RandomState
    ) -> list[_Component]:
        """Return every component, unfolded by itself."""
        seeds = rng.randint(2**31 - 1, size=len(members))
        tasks = [(subgraph(graph, own), seed) for own, seed in zip(members, seeds, strict=True)]
        unfold = partial(_unfold_component, n_components=self.n_components, solver=self.solver)
        beside_largest = graph.n_nodes - max(map(len, members))
        is_worth_it = beside_largest >= LEAST_FOR_PROCESSES or runs_elsewhere(self.n_jobs)
        n_jobs = self.n_jobs if is_worth_it else 1
        with stage("components", total=len(tasks)) as steps:
            found = ordered_map(
                unfold, tasks, n_jobs=n_jobs, processes=True, is_pure=True, steps=steps
            )
            local = list(found)
        for component in local:
            # Here, where the numbers of all samples are known.
            refuse_contradiction(
                component.solution, graph, method="use isofold.MVU with graph=Bridged() and"
            )
        return local

    def _distances(self, X: FloatArray, samples: IntArray) -> FloatArray:
        """Return the distances in the data between some samples."""
        if self._sees_points:
            points = X[samples].astype(np.float64, copy=False)
            return cdist(points, points)
        if isinstance(X, np.ndarray):
            return np.asarray(X[np.ix_(samples, samples)])
        return np.zeros((len(samples), len(samples)))


@dataclass(frozen=True, eq=False)
class _Component:
    """A component, unfolded; there is no solution if all its distances are kept."""

    unfolded: Unfolded
    solution: SDPSolution | None


def _unfold_component(
    task: tuple[NeighborGraph, int], *, n_components: int, solver: Any
) -> _Component:
    """Unfold one component by itself."""
    graph, seed = task
    coordinates, solution = _scaled(graph), None
    if coordinates is None:
        rng = np.random.RandomState(seed)
        chosen = make_solver(solver, graph, n_components, rng)
        solution = chosen.solve(pose(graph, "equal"))
        coordinates = solution.coordinates
    return _Component(describe(coordinates, graph, n_components), solution)


def _scaled(graph: NeighborGraph) -> FloatArray | None:
    """Return classical scaling if all distances are known and obey the triangle inequality."""
    n = graph.n_nodes
    if n == 1:
        return np.zeros((1, 1))
    if graph.n_edges < n * (n - 1) // 2 or triangle_violation(graph) is not None:
        return None
    squares = graph.adjacency.toarray().astype(np.float64) ** 2
    return classical_scaling(squares, n - 1).coordinates


def _ends_by_component(links: Links, n_components: int) -> list[IntArray]:
    """Return the ends of links in every component."""
    return [links.members[links.owners == number] for number in range(n_components)]


def _find_links(n_components: int, linked: NeighborGraph) -> Iterator[Finding]:
    """Yield a note about the edges that join components."""
    if n_components > 1:
        n_bridges = int(linked.is_bridge.sum())
        yield Finding.of("components", form="placed", n=n_components, n_bridges=n_bridges)


def _find_components(local: list[_Component]) -> Iterator[Finding]:
    """Yield findings about components without a certificate, and about the loosest one."""
    uncertified = [
        (number, component.solution)
        for number, component in enumerate(local)
        if component.solution is not None and component.solution.status not in TRUSTED
    ]
    if uncertified:
        number, solution = uncertified[0]
        yield Finding.of(
            "not_certified",
            Severity.DOUBT,
            form="components",
            n_uncertified=len(uncertified),
            n_components=len(local),
            number=number,
            message=solution.message,
        )
    loose = [number for number, component in enumerate(local) if is_loose(component.unfolded)]
    if loose:
        worst = max(loose, key=lambda number: local[number].unfolded.lengths.median)
        yield find_loose_graph(
            local[worst].unfolded,
            form="components",
            n_loose=len(loose),
            n_components=len(local),
            number=worst,
        )


def _find_placement(placement: Placement) -> Iterator[Finding]:
    """Yield findings if components were squashed or lie on each other."""
    if placement.solution is not None:
        yield from find_uncertified(placement.solution)
    least = placement.singular_values.min(axis=1)
    squashed = np.flatnonzero(least < SQUASHED)
    if len(squashed):
        worst = squashed[np.argmin(least[squashed])]
        yield Finding.checked(
            "squashed",
            least[worst],
            SQUASHED,
            is_raised=True,
            n=len(squashed),
            n_components=len(least),
            number=int(worst),
        )
    if placement.mixed > MIXED:
        yield Finding.checked("overlapping_components", placement.mixed, MIXED, is_raised=True)
