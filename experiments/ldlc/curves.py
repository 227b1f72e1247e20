"""Error over the number of clusters (Figure 4.7) and over their dimension (4.8, 4.9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.ldlc.methods import Setting, kmeans, ldlc, medoids, mppca, single_starts, vqpca
from experiments.pictures import save
from isofold._typing import FloatArray
from isofold.datasets import load_olive_oil, load_wine_quality_red
from isofold.quality import reconstruction_error

__all__ = ["Methods", "measure_starts", "olive_oil", "wine_quality"]

Methods = Mapping[str, Callable[[Setting], Any]]

OIL_METHODS: Methods = {
    "k-means": kmeans,
    "geodesic k-medoids": medoids,
    "MPPCA": mppca,
    "VQPCA": vqpca,
    "LDLC, rho = 0.01": ldlc,
}
WINE_METHODS: Methods = {"MPPCA": mppca, "VQPCA": vqpca, "LDLC, rho = 0.01": ldlc}

N_CLUSTERS = range(1, 21)
FEW_CLUSTERS = (5, 10, 20)
"""For features as they are, without scaling."""
OIL_RESTARTS = 100
WINE_RESTARTS = 40
"""The thesis has 100."""
DIMENSIONS = range(1, 11)


def olive_oil(folder: Path, size: Size = FULL) -> None:
    """Cluster Italian olive oils into 1 to 20 clusters of dimension 2."""
    X = size.part(load_olive_oil()).X
    setting = partial(_oil_setting, n_init=size.repeats(OIL_RESTARTS))
    scaled = StandardScaler().fit_transform(X)
    rows = _rows(OIL_METHODS, scaled, "c", map(setting, size.few(N_CLUSTERS)))
    write_table(rows, folder / "ldlc_olive_oil")
    _draw(rows, "c", ("mean error", "lowest error", "rounds"), folder / "ldlc_olive_oil.png")
    raw = _rows(OIL_METHODS, X, "c", map(setting, size.few(FEW_CLUSTERS)))
    write_table(raw, folder / "ldlc_olive_oil_raw")


def wine_quality(folder: Path, size: Size = FULL) -> None:
    """Cluster red wines into ten clusters of dimension 1 to 10."""
    X = StandardScaler().fit_transform(size.part(load_wine_quality_red()).X)
    settings = [
        Setting(size.groups(10), r, n_init=size.repeats(WINE_RESTARTS))
        for r in size.few(DIMENSIONS)
    ]
    rows = _rows(WINE_METHODS, X, "r", settings)
    write_table(rows, folder / "ldlc_wine_quality")
    columns = ("mean error", "lowest error", "seconds a start")
    _draw(rows, "r", columns, folder / "ldlc_wine_quality.png")


def measure_starts(
    method: Callable[[Setting], Any], X: FloatArray, setting: Setting
) -> dict[str, float]:
    """Return the errors of single starts, their rounds and their time."""
    starts = single_starts(method, setting, X)
    errors = [
        float(reconstruction_error(X, each.labels, n_components=setting.n_components))
        for each in starts
    ]
    return {
        "mean error": float(np.mean(errors)),
        "lowest error": min(errors),
        "rounds": float(np.mean([each.model.n_iter_ for each in starts])),
        "seconds a start": float(np.mean([each.seconds for each in starts])),
    }


def _oil_setting(n_clusters: int, *, n_init: int) -> Setting:
    return Setting(n_clusters, 2, n_neighbors=10, n_init=n_init)


def _rows(methods: Methods, X: FloatArray, axis: str, settings: Iterable[Setting]) -> list[Row]:
    rows: list[Row] = []
    for setting in settings:
        value = setting.n_clusters if axis == "c" else setting.n_components
        for name, method in methods.items():
            rows.append({axis: value, "method": name, **measure_starts(method, X, setting)})
            say(str(rows[-1]))
    return rows


def _draw(rows: list[Row], axis: str, columns: tuple[str, ...], path: Path) -> None:
    figure, panels = plt.subplots(1, len(columns), figsize=(13, 4), layout="constrained")
    for axes, column in zip(panels, columns, strict=True):
        for name in dict.fromkeys(row["method"] for row in rows):
            own = [row for row in rows if row["method"] == name]
            axes.plot([row[axis] for row in own], [row[column] for row in own], "o-", ms=3)
            axes.lines[-1].set_label(name)
        axes.set(xlabel=axis, title=column, ylim=(0, None))
    panels[0].legend(frameon=False, fontsize=8)
    save(figure, path)
