"""IPA with few patches: clusters of LDLC against those of k-means (beyond the thesis)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.ldlc.methods import Ready, cluster, spread
from isofold import IPA, LDLC, Cover
from isofold._typing import FloatArray
from isofold.clustering import kmeans
from isofold.datasets import Dataset, holed_swiss_roll, swiss_roll
from isofold.quality import procrustes_error

__all__ = ["few_patches", "map_error", "summaries"]

N_POINTS = 2000
N_SEEDS = 20
FAILED = 0.2
"""Error above which a map shows no sheet any more."""
N_PATCHES = (20, 30, 40, 60)
CHARTS = ("quadratic", "pca")
RHOS = ("auto", 0.01)
ROLLS: dict[str, Callable[..., Dataset]] = {
    "Swiss roll": swiss_roll,
    "holed Swiss roll": holed_swiss_roll,
}


def few_patches(folder: Path, size: Size = FULL) -> None:
    """Compare the errors of maps whose patches come from k-means and from LDLC."""
    rows: list[Row] = []
    for name, roll in ROLLS.items():
        seeds = range(size.repeats(N_SEEDS))
        draws = [roll(size.points(N_POINTS), random_state=seed) for seed in seeds]
        for c in size.few(N_PATCHES):
            rows += summaries(name, draws, size.groups(c))
            write_table(rows, folder / "ldlc_few_patches")


def summaries(name: str, draws: list[Dataset], n_patches: int) -> Iterator[Row]:
    """Yield a line of the table for every chart and cover."""
    errors: dict[tuple[str, str], list[float]] = {}
    counts: dict[tuple[str, str], list[int]] = {}
    for seed, data in enumerate(draws):
        for cover, options in covers(data.X, n_patches, seed).items():
            for chart in CHARTS:
                error, count = map_error(data, chart=chart, random_state=seed, **options)
                errors.setdefault((chart, cover), []).append(error)
                counts.setdefault((chart, cover), []).append(count)
        say(f"{name}, {n_patches} patches, seed {seed}")
    for (chart, cover), values in errors.items():
        quartiles = np.percentile(values, (25, 50, 75))
        against = np.array(errors[chart, "kmeans"])
        yield {
            "data": name,
            "patches": n_patches,
            "chart": chart,
            "cover": cover,
            "patches made": spread(counts[chart, cover]),
            "median error": float(quartiles[1]),
            "quartiles": f"{quartiles[0]:.2g} to {quartiles[2]:.2g}",
            "worst": max(values),
            "failed": int((np.array(values) > FAILED).sum()),
            "better than k-means": "" if cover == "kmeans" else int((values < against).sum()),
        }


def covers(X: FloatArray, n_patches: int, seed: int) -> dict[str, dict[str, Any]]:
    """Return options of IPA: k-means, the same with its clusters left as they are, and LDLC.

    IPA splits clusters that are not connected, unless it is given labels. LDLC is run
    once for all charts.
    """
    found: dict[str, dict[str, Any]] = {"kmeans": {"cover": "kmeans", "n_patches": n_patches}}
    found["kmeans, as given"] = {
        "cover": Cover.labels(kmeans(X, n_patches, random_state=seed).labels)
    }
    for rho in RHOS:
        model = LDLC(n_clusters=n_patches, rho=rho, random_state=seed, n_jobs=1)
        found[f"LDLC, rho = {rho}"] = {"cover": Ready(X, cluster("LDLC", model, X).labels)}
    return found


def map_error(data: Dataset, **options: Any) -> tuple[float, int]:
    """Return the distance of the map of IPA from the truth, and the number of patches."""
    with warnings.catch_warnings():
        # What few patches leave in doubt is what is measured.
        warnings.simplefilter("ignore")
        ipa = IPA(n_jobs=1, **options).fit(data.X)
    return float(procrustes_error(ipa.embedding_, data.truth)), ipa.cover_.n_patches
