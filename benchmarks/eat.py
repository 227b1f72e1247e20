"""Maps for new points: EAT and TesseraMap beside MVU, Isomap and LLE with their extensions.

A Swiss roll is unfolded from some of its points, and the others are placed. The time is that of
both; *train* and *test* are the errors after the best rigid motion, relative to the sheet's spread.
Then the solver alone: the soft program of EAT by the dense interior point and by Clarabel.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from sklearn.manifold import Isomap, LocallyLinearEmbedding

from benchmarks.harness import Case
from isofold import EAT, MVU, Cover, TesseraMap
from isofold.datasets import Dataset, swiss_roll
from isofold.neighbors import build_graph
from isofold.quality import procrustes_error
from isofold.sdp import ConicSDP, DenseSDP, GramSDP

NEW = 5_000


def _roll(n: int) -> tuple[Dataset, int]:
    return swiss_roll(n + NEW, width=21.0, uniform=True, random_state=0), n


def _place(model: Any, data: tuple[Dataset, int]) -> dict[str, Any]:
    roll, n = data
    with warnings.catch_warnings():
        # What methods warn of is not the subject here: the errors are shown.
        warnings.simplefilter("ignore")
        Y = model.fit_transform(roll.X[:n])
        new = model.transform(roll.X[n:])
    return {
        "train": float(procrustes_error(Y, roll.truth[:n])),
        "test": float(procrustes_error(new, roll.truth[n:])),
    }


def _soft_program(n: int) -> GramSDP:
    roll = swiss_roll(n, width=8.0, uniform=True, random_state=0)
    graph = build_graph(roll.X, n_neighbors=7)
    squared = graph.lengths**2
    return GramSDP.unfolding(n, graph.edges, squared, penalty=100.0 / squared**2)


def _solve(solver: Any, problem: GramSDP) -> dict[str, Any]:
    solution = solver.solve(problem)
    return {"status": solution.status.name, "gap": solution.gap, "value": solution.primal}


def _peers() -> list[tuple[str, Any]]:
    return [
        ("isofold EAT", EAT(random_state=0)),
        ("isofold TesseraMap", TesseraMap(random_state=0)),
        ("isofold MVU, barycentric", MVU(random_state=0)),
        ("scikit-learn Isomap", Isomap(n_neighbors=8)),
        ("scikit-learn LLE, modified", LocallyLinearEmbedding(n_neighbors=12, method="modified")),
    ]


CASES = [
    Case(f"{n:,} points, {NEW:,} new", name, partial(_roll, n), partial(_place, model))
    for n in (500, 1_000)
    for name, model in _peers()
]
CASES += [
    Case(
        f"many points, {NEW:,} new",
        f"isofold TesseraMap, {name}, n = {n:,}",
        partial(_roll, n),
        partial(_place, TesseraMap(cover=Cover.clusters(cover, c), random_state=0)),
    )
    for n, name, cover, c in (
        (10_000, "default", "affinity", None),
        (30_000, "default", "affinity", None),
        (30_000, "108 of k-means", "kmeans", 108),
        (50_000, "default", "affinity", None),
    )
]
CASES += [
    Case(f"soft program, n = {n}", name, partial(_soft_program, n), partial(_solve, solver))
    for n in (30, 60, 200)
    for name, solver in (("isofold DenseSDP", DenseSDP()), ("Clarabel", ConicSDP()))
    if n <= 60 or name.startswith("isofold")
]
