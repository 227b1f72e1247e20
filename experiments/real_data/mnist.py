"""All 70,000 digits of MNIST in two dimensions, beside UMAP, PaCMAP and openTSNE."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import matplotlib.pyplot as plt
from benchmarks.worker import PeakMemory
from threadpoolctl import threadpool_limits

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.real_data.measures import label_agreement, measure
from experiments.real_data.methods import Map, available, embed
from experiments.real_data.sets import all_digits

__all__ = ["mnist"]

SHOWN = ("PCA", "UMAP", "PaCMAP", "openTSNE", "LocalMDS", "NeighborMap", "Unfold")
BALANCES = (0.0, 0.75, 0.9, 1.0)
"""Balances of NeighborMap beside its default: neighbors only, and more and more of lengths."""
N_SAMPLES = 2_000
"""Rows at which the measures look; neighbors are sought among all points."""


def mnist(folder: Path, size: Size = FULL) -> None:
    """Map all digits, each method in a process of its own."""
    data = all_digits(size)
    rows: list[Row] = []
    runs = [(name, options) for name in available(size.few(SHOWN)) for options in _options(name)]
    figure, panels = plt.subplots(1, len(runs), figsize=(7 * len(runs), 7), layout="constrained")
    for axes, (name, options) in zip(panels, runs, strict=True):
        title = ", ".join([name, *(f"{key} {value}" for key, value in options.items())])
        made, peak = _in_own_process(name, folder, size, options)
        rows.append(
            {
                "method": title,
                "processor seconds": made.seconds,
                "peak MB": peak,
                **asdict(measure(data.X, made.Y, n_samples=size.points(N_SAMPLES))),
                "nearest has the same label": label_agreement(made.Y, data.labels),
            }
        )
        say(f"{rows[-1]}\n{made.words}")
        show_map(axes, made.Y, data.labels, title, s=0.3, cmap="tab10")
    write_table(rows, folder / "real_data_mnist")
    save(figure, folder / "real_data_mnist.png")


def _options(name: str) -> list[dict[str, float]]:
    """Return the settings in which a method is run, its defaults first."""
    return [{}] + [{"balance": value} for value in BALANCES if name == "NeighborMap"]


def _in_own_process(
    name: str, folder: Path, size: Size, options: dict[str, float]
) -> tuple[Map, float]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_map_all, name, folder, size, options).result()


def _map_all(name: str, folder: Path, size: Size, options: dict[str, float]) -> tuple[Map, float]:
    """Map all digits in this process; return the map and the megabytes above those of the data.

    The megabytes are noted in a file, for those peers whose map is kept.
    """
    X = all_digits(size).X
    note = folder / f"real_data_mnist_peak_{name}.txt"
    memory = PeakMemory()
    with threadpool_limits(1):
        made = embed(name, X, 2, label="MNIST", folder=folder, **options)
    if not made.is_kept:
        note.write_text(f"{memory.above_start()}", encoding="utf-8")
    return made, float(note.read_text(encoding="utf-8"))
