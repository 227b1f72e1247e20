"""The engine of LDLC: clusters, subspaces and medoids that lower one objective in turn.

    ψ(C, M, S) = (1 - ρ) Σ e²(x_i, subspace of i's cluster) + ρ Σ d²(x_i, medoid of i's cluster)

e is the straight distance from a subspace, d the distance along the graph (thesis, eq. 4.9).
Algorithm 4 has two nested loops: the outer one fits subspaces, which is the expensive part; the
inner one moves medoids and reassigns points until no point changes its cluster, or what is gained
is not worth it. No step raises ψ. (Line 6 leads back to line 4, line 7 to line 3.)

A point can only go to a cluster whose medoid is within √(cost/ρ) along the graph, where cost is
what it costs now. So nearly all geodesic distances are never computed, see
:mod:`isofold.neighbors.paths`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from isofold._progress.stages import interrupted, stage
from isofold._typing import FloatArray, IntArray
from isofold.clustering.localized.assignment import CheapestClusters, reachable
from isofold.clustering.localized.medoids import Division, Medoids, MedoidSearch
from isofold.clustering.localized.partition import LocalizedProblem, Partition, PathMemory
from isofold.clustering.localized.seeding import Seeding
from isofold.clustering.subspaces import AffineSubspaces

__all__ = ["descend"]

NOTICEABLE = 5e-4
"""Fraction of ψ by which a round must lower it, or it is the last: restarts differ by far more."""

WORTHWHILE = 1e-2
"""Fraction of ψ by which medoids and labels must lower it to be worth another round before
subspaces are fitted again."""


@dataclass
class _DescentState:
    """Where the descent is."""

    division: Division
    subspaces: AffineSubspaces
    medoids: Medoids
    squares: FloatArray
    path: list[float] = field(default_factory=list)


def descend(
    problem: LocalizedProblem,
    seeding: Seeding,
    rng: np.random.RandomState,
    memory: PathMemory | None = None,
) -> Partition:
    """Lower ψ from seeds until it no longer falls: Algorithm 4."""
    descent = _Descent(problem, rng, memory)
    state = descent.start(seeding)
    thorough, n_iter = problem.rho == 0.0, 0
    with stage("lower the objective") as steps:
        while n_iter < problem.max_iter:
            n_iter += 1
            before, labels = state.path[-1] if state.path else np.inf, state.division.labels
            descent.fit_subspaces(state)
            descent.settle(state, thorough=thorough)
            steps.advance(objective=state.path[-1])
            is_stable = np.array_equal(labels, state.division.labels)
            is_last = is_stable or state.path[-1] >= before * (1.0 - NOTICEABLE)
            if (is_last and thorough) or interrupted():
                break
            # Where quick searches find no better medoids, whole clusters are searched once.
            thorough = is_last or problem.rho == 0.0
    return Partition(
        labels=state.division.labels,
        medoids=state.medoids.nodes,
        subspaces=state.subspaces,
        squares=state.squares,
        distances=state.medoids.distances,
        path=np.array(state.path),
        n_iter=n_iter,
    )


class _Descent:
    """The steps of the algorithm on one problem."""

    def __init__(
        self, problem: LocalizedProblem, rng: np.random.RandomState, memory: PathMemory | None
    ) -> None:
        self._problem = problem
        self._rng = rng
        if problem.graph is not None and problem.rho > 0.0:
            self._paths = problem.paths(memory)
            self._search = MedoidSearch(problem.graph, self._paths, problem.points, problem.weights)
        # The labels with which medoids were last searched quickly, and thoroughly.
        self._searched: dict[bool, IntArray] = {}

    def start(self, seeding: Seeding) -> _DescentState:
        """Return the state of line 2, without subspaces."""
        problem = self._problem
        empty = AffineSubspaces(np.empty((0, 0)), np.empty((0, 0, 0)))
        # Straight distances from seeds are none from medoids.
        distances = seeding.distances if problem.rho > 0.0 else np.zeros(len(problem.points))
        return _DescentState(
            division=Division(seeding.labels, problem.n_clusters),
            subspaces=empty,
            medoids=Medoids(nodes=seeding.seeds, distances=distances),
            squares=np.zeros(len(problem.points)),
        )

    def fit_subspaces(self, state: _DescentState) -> None:
        """Line 3: the best subspace of every cluster, eq. 4.14."""
        labels = state.division.labels
        state.subspaces = self._problem.subspaces(labels)
        state.squares = state.subspaces.own_squared_distances(self._problem.points, labels)

    def settle(self, state: _DescentState, *, thorough: bool) -> None:
        """Lines 4 to 6: medoids and labels in turn, until hardly any label changes."""
        n_refills = 0
        while True:
            before, labels = state.path[-1] if state.path else np.inf, state.division.labels
            if self._problem.rho > 0.0:
                self._move_medoids(state, thorough=thorough)
            self._record(state)
            was_refilled = self._assign(state)
            self._record(state)
            if was_refilled and n_refills < self._problem.n_clusters:
                # The new subspaces may be nearer to other points, too.
                n_refills += 1
                continue
            is_stable = np.array_equal(labels, state.division.labels)
            # Without medoids nothing is left to change before the next subspaces.
            if is_stable or self._problem.rho == 0.0 or interrupted():
                return
            if state.path[-1] >= before * (1.0 - WORTHWHILE):
                return

    def _move_medoids(self, state: _DescentState, *, thorough: bool) -> None:
        """Line 4, eq. 4.16."""
        division, centers = state.division, state.subspaces.centers
        changed = self._changed(division, thorough=False)
        state.medoids = self._search.quick(division, state.medoids, centers, changed)
        if thorough:
            changed = self._changed(division, thorough=True)
            state.medoids = self._search.thorough(division, state.medoids, changed, self._rng)

    def _changed(self, division: Division, *, thorough: bool) -> IntArray:
        """Return the clusters whose members are not those of the last search of this kind."""
        last = self._searched.get(thorough)
        self._searched[thorough] = division.labels
        if last is None:
            return np.arange(division.n_clusters)
        moved = last != division.labels
        return np.union1d(last[moved], division.labels[moved])

    def _assign(self, state: _DescentState) -> bool:
        """Line 5: every point to its cheapest cluster, eq. 4.17; whether one has emptied."""
        problem = self._problem
        if problem.rho == 0.0:
            labels, squares = state.subspaces.nearest(problem.points)
            state.division = Division(labels, problem.n_clusters)
            state.squares = squares
        else:
            limits = reachable(self._costs(state), state.medoids.distances, problem.rho)
            cheapest = CheapestClusters.none(len(limits))
            reached = self._paths.within(state.medoids.nodes, limits)
            for cluster, (nodes, distances) in enumerate(reached):
                squares = state.subspaces.squared_distances_to(problem.points[nodes], cluster)
                cheapest.offer(cluster, nodes, squares, distances, rho=problem.rho)
            state.division = Division(cheapest.labels, problem.n_clusters)
            state.squares = cheapest.squares
            state.medoids = Medoids(nodes=state.medoids.nodes, distances=cheapest.distances)
        return self._refill(state)

    def _refill(self, state: _DescentState) -> bool:
        """Give clusters that have emptied the points that cost most, each its own subspace.

        Such a point costs nothing from then on, so ψ falls. Return whether there were any.
        """
        empty = np.flatnonzero(state.division.sizes == 0)
        if not len(empty):
            return False
        problem, labels = self._problem, state.division.labels.copy()
        sizes = state.division.sizes.copy()
        costs = self._costs(state) * problem.weights
        nodes, distances = state.medoids.nodes.copy(), state.medoids.distances.copy()
        centers, bases = state.subspaces.centers.copy(), state.subspaces.bases.copy()
        squares = state.squares.copy()
        # Of points that cost nothing, those far from their centers: at one, nothing would be won.
        offsets = problem.points - centers[labels]
        queue = iter(np.lexsort((-np.einsum("ij,ij->i", offsets, offsets), -costs)))
        for cluster in empty:
            # No cluster may lose its last point.
            node = next(i for i in queue if sizes[labels[i]] > 1)
            sizes[labels[node]] -= 1
            labels[node], nodes[cluster] = cluster, node
            squares[node] = distances[node] = 0.0
            centers[cluster], bases[cluster] = problem.points[node], 0.0
        state.division = Division(labels, problem.n_clusters)
        state.medoids = Medoids(nodes=nodes, distances=distances)
        state.subspaces = AffineSubspaces(centers, bases)
        state.squares = squares
        return True

    def _costs(self, state: _DescentState) -> FloatArray:
        """Return what every point costs in its cluster, eq. 4.12."""
        return self._problem.costs(state.squares, state.medoids.distances)

    def _record(self, state: _DescentState) -> None:
        state.path.append(float(self._problem.weights @ self._costs(state)))
