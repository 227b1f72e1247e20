"""Twin peaks: what rho does (Figure 4.6), and that k does little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.ldlc.methods import Clustering, Setting, cluster, ldlc, mppca, n_astray
from experiments.pictures import save, show_map
from isofold._typing import FloatArray
from isofold.datasets import Dataset
from isofold.datasets import twin_peaks as make_peaks
from isofold.neighbors import build_graph
from isofold.quality import nonlocal_clusters, reconstruction_error

__all__ = ["sweep", "twin_peaks"]

N_POINTS = 2000
SETTING = Setting(n_clusters=6, n_components=2)
RHOS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MANY_RESTARTS, FEW_RESTARTS = 100, 10
HEIGHTS = {1.0: MANY_RESTARTS, 0.5: FEW_RESTARTS, 0.3: FEW_RESTARTS}
"""Heights of the hills, since the thesis tells none, and restarts."""
NEIGHBORS = (4, 6, 8, 12, 16, 20)
USUAL = 0.01
"""The rho that the thesis finds best."""


def twin_peaks(folder: Path, size: Size = FULL) -> None:
    """Cluster with many rho, and with many k."""
    rows: list[Row] = []
    figure, panels = plt.subplots(
        len(HEIGHTS), len(RHOS) + 2, figsize=(2.1 * (len(RHOS) + 2), 7), layout="constrained"
    )
    for line, (height, restarts) in zip(panels, HEIGHTS.items(), strict=True):
        data = make_peaks(size.points(N_POINTS), height=height, random_state=0)
        n_init = size.repeats(restarts)
        found = []
        for each in sweep(data, replace(SETTING, n_init=n_init)):
            found.append(each)
            rows.append({"height": height, "restarts": n_init, **describe(data, each)})
            say(str(rows[-1]))
        _draw(line, data, found, f"height {height}")
    write_table(rows, folder / "ldlc_twin_peaks")
    save(figure, folder / "ldlc_twin_peaks.png")
    write_table(list(neighbor_rows(size)), folder / "ldlc_twin_peaks_neighbors")


def sweep(data: Dataset, setting: Setting) -> Iterator[Clustering]:
    """Yield the clusters for every rho, and those of MPPCA last."""
    for rho in RHOS:
        yield cluster(f"rho = {rho:g}", ldlc(setting, rho), data.X)
    yield cluster("MPPCA", mppca(setting), data.X)


def neighbor_rows(size: Size = FULL) -> Iterator[Row]:
    """Yield a line for every number of neighbors and height."""
    for height in HEIGHTS:
        data = make_peaks(size.points(N_POINTS), height=height, random_state=0)
        for k in size.few(NEIGHBORS):
            setting = replace(SETTING, n_neighbors=k, n_init=size.repeats(FEW_RESTARTS))
            each = cluster(f"rho = {USUAL}", ldlc(setting, USUAL), data.X)
            yield {"height": height, "k": k, **describe(data, each)}


def describe(data: Dataset, found: Clustering) -> Row:
    """Return error and number of clusters in pieces."""
    graph = build_graph(data.X, n_neighbors=SETTING.n_neighbors)
    return {
        "method": found.name,
        "error a point": _error(data.X, found),
        "clusters in pieces": len(nonlocal_clusters(found.labels, graph)),
        "points astray": n_astray(found.labels, graph),
        "seconds a start": found.seconds / found.model.n_init,
    }


def _error(X: FloatArray, found: Clustering) -> float:
    return float(reconstruction_error(X, found.labels, n_components=SETTING.n_components))


def _draw(panels: list[plt.Axes], data: Dataset, found: list[Clustering], title: str) -> None:
    for axes, each in zip(panels, found, strict=False):
        show_map(axes, data.truth, plt.get_cmap("tab10")(each.labels), f"{title}\n{each.name}", s=3)
    errors = [_error(data.X, each) for each in found]
    curve = panels[-1]
    curve.plot(range(len(RHOS)), errors[:-1], "o-", ms=3, label="LDLC")
    curve.axhline(errors[-1], color="0.5", ls=":", label="MPPCA")
    curve.set_xticks(range(len(RHOS)), [f"{rho:g}" for rho in RHOS], fontsize=6, rotation=90)
    curve.set_title("error over rho", fontsize=9)
    curve.tick_params(axis="y", labelsize=6)
    curve.legend(fontsize=7, frameon=False)
