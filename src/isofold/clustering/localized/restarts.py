"""Several descents from different seeds, and the smallest ρ with connected clusters.

ρ near 0 fits subspaces best but scatters clusters over the manifold; ρ = 1 keeps each connected,
since it is then the set of nodes nearest to a medoid along the graph. Between the two lies a ρ from
which on clusters are connected, but for a few single points. A half-interval search finds it
(thesis, section 4.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from isofold._parallel import n_workers, ordered_map, runs_elsewhere
from isofold._progress.stages import Stage, interrupted, interruptible, stage, until_interrupted
from isofold._typing import FloatArray, IntArray
from isofold.clustering.localized.descent import descend
from isofold.clustering.localized.partition import LocalizedProblem, Partition, PathMemory
from isofold.clustering.localized.repair import connected_partition
from isofold.clustering.localized.seeding import Seeding, geodesic_seeding, straight_seeding
from isofold.neighbors import NeighborGraph, connected_components

__all__ = ["Restart", "best_partition", "draw_restarts", "make_memory", "smallest_connected"]

RHOS: FloatArray = 10.0 ** np.arange(-4.0, 0.25, 0.5)
"""Where the search for it looks: the thesis finds 0.01 best most often, which is in the middle."""

MOST_REMEMBERED = 4096
"""Points up to which rows of geodesic distances are remembered."""

FEW_CLUSTERS = 16
"""Clusters up to which one descent is enough for that to pay."""

MOST_WITH_FEW = 40_000
"""Points up to which rows are remembered while the search for rho runs, if clusters are few."""

LEAST_DESCENTS = 4
"""Descents from which on it pays with more clusters: a whole row takes several times as long as
what one of them needs of it."""

LEAST_FOR_THREADS = 10_000
"""Points from which on threads help: with fewer, most of the time is spent under Python's lock."""

LEAST_FOR_PROCESSES = 16
"""Restarts for every further process, with fewer points: to start one takes seconds."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Restart:
    """Where one descent begins.

    Attributes
    ----------
    seeding : Seeding
        Its seeds.
    seed : int
        Seed of its source of chance.
    """

    seeding: Seeding
    seed: int


@stage("seeds")
def draw_restarts(
    problem: LocalizedProblem,
    given: IntArray | None = None,
    *,
    init: Any = "k-means++",
    n_init: int,
    rng: np.random.RandomState,
    memory: PathMemory | None = None,
) -> list[Restart]:
    """Return where descents begin."""
    if problem.graph is None:
        seed_by = partial(straight_seeding, problem.points, problem.weights, given)
    else:
        components = connected_components(problem.graph)
        paths = problem.paths(memory)
        seed_by = partial(geodesic_seeding, paths, components, problem.weights, given)
    restarts = []
    for seed in rng.randint(2**31 - 1, size=n_init if given is None else 1):
        drawn = np.random.RandomState(seed)
        seeding = seed_by(init=init, n_clusters=problem.n_clusters, rng=drawn)
        restarts.append(Restart(seeding, int(seed)))
    return restarts


def make_memory(
    problem: LocalizedProblem, n_descents: int, *, is_search: bool = False
) -> PathMemory | None:
    """Return an empty memory for geodesic distances, if that pays."""
    n = len(problem.points)
    # The paths of few clusters hardly end, least of all with a small ρ.
    is_few = problem.n_clusters <= FEW_CLUSTERS
    pays = n_descents >= LEAST_DESCENTS or is_few
    most = MOST_WITH_FEW if is_few and is_search else MOST_REMEMBERED
    if problem.graph is None or n > most or not pays:
        return None
    return {}


def best_partition(
    problem: LocalizedProblem,
    restarts: Sequence[Restart],
    *,
    memory: PathMemory | None = None,
    n_jobs: int | None,
) -> Partition:
    """Return the partition with the lowest objective over all restarts."""
    if runs_elsewhere(n_jobs):
        # Each for itself: what all remember would have to be sent.
        memory = make_memory(problem, 1)
    descend_from = partial(_descend_from, problem, memory)
    with _clustering(problem, restarts, n_jobs) as steps:
        found = _side_by_side(descend_from, problem, restarts, n_jobs=n_jobs, steps=steps)
        return min(until_interrupted(found), key=lambda partition: partition.objective)


def smallest_connected(
    problem: LocalizedProblem,
    graph: NeighborGraph,
    restarts: Sequence[Restart],
    *,
    memory: PathMemory | None = None,
    n_jobs: int | None,
) -> tuple[float, Partition]:
    """Return the flattest partition whose clusters are connected, and its ρ.

    Every restart searches the smallest ρ for itself.
    """
    if runs_elsewhere(n_jobs):
        memory = make_memory(problem, 1, is_search=True)
    search = partial(_half_intervals, problem, graph, memory)
    with _clustering(problem, restarts, n_jobs) as steps:
        found = _side_by_side(search, problem, restarts, n_jobs=n_jobs, steps=steps)
        return min(
            until_interrupted(found),
            key=lambda each: each[1].reconstruction_error(problem.weights),
        )


def _side_by_side(
    run: Callable[[Restart], Result],
    problem: LocalizedProblem,
    restarts: Sequence[Restart],
    *,
    n_jobs: int | None,
    steps: Stage,
) -> Iterator[Result]:
    """Yield what restarts come to, in their order, from threads or processes where these help."""
    if runs_elsewhere(n_jobs):
        return ordered_map(run, restarts, n_jobs=n_jobs, is_pure=True, steps=steps)
    if len(problem.points) >= LEAST_FOR_THREADS:
        return ordered_map(run, restarts, n_jobs=n_jobs, steps=steps)
    workers = _n_processes(problem, restarts, n_jobs)
    if workers == 1:
        return ordered_map(run, restarts, n_jobs=1, steps=steps)
    # Each process has a part of the restarts, which fraction what they remember.
    ends = [len(restarts) * part // workers for part in range(workers + 1)]
    parts = [restarts[begin:end] for begin, end in pairwise(ends)]
    found = ordered_map(partial(_run_all, run), parts, n_jobs=workers, processes=True)
    return chain.from_iterable(found)


@contextmanager
def _clustering(
    problem: LocalizedProblem, restarts: Sequence[Restart], n_jobs: int | None
) -> Iterator[Stage]:
    """Surround the restarts; the user may end them early unless they run in processes."""
    # What other processes have found so far cannot be had.
    is_here = _n_processes(problem, restarts, n_jobs) == 1
    ending = interruptible() if is_here else nullcontext()
    with ending, stage("clusters", total=len(restarts)) as steps:
        yield steps


def _n_processes(problem: LocalizedProblem, restarts: Sequence[Restart], n_jobs: int | None) -> int:
    """Return in how many processes restarts run; in this one alone where threads are better."""
    is_few = len(problem.points) < LEAST_FOR_THREADS
    most = n_workers(n_jobs) if is_few and not runs_elsewhere(n_jobs) else 1
    return min(most, len(restarts) // LEAST_FOR_PROCESSES + 1)


def _run_all(run: Callable[[Restart], Result], restarts: Sequence[Restart]) -> list[Result]:
    return [run(restart) for restart in restarts]


def _descend_from(
    problem: LocalizedProblem, memory: PathMemory | None, restart: Restart
) -> Partition:
    """Return where the descent of one restart ends."""
    return descend(problem, restart.seeding, np.random.RandomState(restart.seed), memory)


def _half_intervals(
    problem: LocalizedProblem, graph: NeighborGraph, memory: PathMemory | None, restart: Restart
) -> tuple[float, Partition]:
    """Return the flattest connected clusters that a restart meets on its way to a small ρ.

    Connected clusters with one ρ are where the descent with the next begins. The smallest ρ has
    nearly always the lowest error, but descents may be caught, so that all are compared.
    """
    rng, seeding = np.random.RandomState(restart.seed), restart.seeding
    low, high = -1, len(RHOS) - 1
    found: list[tuple[float, Partition]] = []
    while not found or high - low > 1:
        # The last resort is ρ = 1, with which clusters are connected for certain.
        middle = (low + high) // 2 if high - low > 1 else high
        rho = float(RHOS[middle])
        posed = problem.with_rho(rho)
        partition = descend(posed, seeding, rng, memory)
        connected = connected_partition(posed, graph, partition, rng, memory)
        if connected is None and middle < high and not interrupted():
            low = middle
            continue
        high = middle
        partition = partition if connected is None else connected
        found.append((rho, partition))
        if interrupted():
            break
        seeding = Seeding(partition.medoids, partition.labels, partition.distances)
    return min(found, key=lambda each: each[1].reconstruction_error(problem.weights))
