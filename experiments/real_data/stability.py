"""Whether a map stays the same where a fifth of the data are left out.

Twenty subsamples of 80 % are mapped. Two of them share about 64 % of the points. For each of the
190 pairs of maps, the distance of the shared points is the Procrustes distance √(1 − (Σσ)²): both
sets are centered and scaled to Frobenius norm one, and σ are the singular values of AᵀB. It is
the root of what is left of the variance after the best similarity: 0 for maps of one shape, 1 for
maps without anything in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, fit, say, write_table
from experiments.real_data.methods import METHODS, available, embed
from experiments.real_data.sets import all_digits, set_named
from isofold import LocalMDS
from isofold._typing import FloatArray, IntArray

__all__ = ["distance_of_maps", "pairwise_distances", "seeds", "stability", "subsamples"]

SHOWN = ("PCA", "Isomap", "UMAP", "openTSNE", "LocalMDS", "NeighborMap", "Unfold")
PEERS = ("UMAP", "openTSNE")
STUDIED = ("Frey", "olive oil", "digits")
N_SUBSAMPLES = 20
N_SEEDS, MANY = 3, 10_000
KEPT = 0.8


def stability(folder: Path, size: Size = FULL) -> None:
    """Map subsamples of three sets, and the first of them twice."""
    rows: list[Row] = []
    for set_name in size.few(STUDIED):
        X = set_named(set_name).load(size).X
        parts = subsamples(len(X), size.repeats(N_SUBSAMPLES))
        of_set: dict[str, dict[str, Any]] = {}
        for name in available(SHOWN):
            maps = [
                embed(name, X[part], 2, label=f"{set_name}-part{i}", folder=folder).Y
                for i, part in enumerate(parts)
            ]
            distances = pairwise_distances(parts, maps)
            of_set[name] = {
                "set": set_name,
                "method": name,
                "median": float(np.median(distances)),
                "lowest tenth": float(np.quantile(distances, 0.1)),
                "highest tenth": float(np.quantile(distances, 0.9)),
                "same bytes": "yes" if _is_repeated(name, X[parts[0]], maps[0]) else "no",
            }
            say(f"{of_set[name]}")
        rows += [
            {**row, **{f"as stable as {peer}": _verdict(row, of_set.get(peer)) for peer in PEERS}}
            for row in of_set.values()
        ]
    write_table(rows, folder / "real_data_stability")


def seeds(folder: Path, size: Size = FULL) -> None:
    """Map the same data from several seeds: the three sets, and more points than are all paired."""
    sets = {name: set_named(name).load(size).X for name in size.few(STUDIED)}
    sets[f"MNIST, {MANY:,}"] = all_digits(size).X[:MANY]
    rows: list[Row] = []
    for name, X in sets.items():
        maps = [
            fit(f"{name}, seed {seed}", LocalMDS(random_state=seed, n_jobs=1), X).embedding
            for seed in range(size.repeats(N_SEEDS))
        ]
        distances = [distance_of_maps(A, B) for A, B in combinations(maps, 2)]
        rows.append({"set": name, "median": np.median(distances), "largest": max(distances)})
    write_table(rows, folder / "real_data_seeds")


def subsamples(n_points: int, n_parts: int = N_SUBSAMPLES) -> list[IntArray]:
    """Return the rows of each subsample, in order."""
    size = round(KEPT * n_points)
    draws = (np.random.RandomState(i).permutation(n_points) for i in range(n_parts))
    return [np.sort(draw[:size]) for draw in draws]


def pairwise_distances(parts: Sequence[IntArray], maps: Sequence[FloatArray]) -> FloatArray:
    """Return the distance of each pair of maps at the points that both have."""
    found = []
    for a, b in combinations(range(len(parts)), 2):
        _, in_a, in_b = np.intersect1d(parts[a], parts[b], return_indices=True)
        found.append(distance_of_maps(maps[a][in_a], maps[b][in_b]))
    return np.array(found)


def distance_of_maps(A: FloatArray, B: FloatArray) -> float:
    """Return the Procrustes distance of two maps of the same points, free of scale."""
    A, B = (Y - Y.mean(axis=0, dtype=np.float64) for Y in (A, B))
    alike = np.linalg.svd(A.T @ B, compute_uv=False).sum()
    alike /= np.linalg.norm(A) * np.linalg.norm(B)
    return float(np.sqrt(max(0.0, 1.0 - alike**2)))


def _verdict(row: Row, peer: Row | None) -> str:
    if peer is None:
        return "-"
    return "yes" if row["median"] <= peer["median"] else "no"


def _is_repeated(name: str, X: FloatArray, Y: FloatArray) -> bool:
    """Whether a second fit, on two threads where it can, gives the same bytes."""
    model = METHODS[name](2)
    if "n_jobs" in model.get_params() and name not in PEERS:
        model.set_params(n_jobs=2)
    again = fit(f"{name}, again", model, X).embedding
    return bool(np.asarray(again).tobytes() == Y.tobytes())
