"""All 70,000 digits of MNIST in two dimensions, beside UMAP."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

import matplotlib.pyplot as plt
from benchmarks.worker import PeakMemory

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.real_data.measures import measure
from experiments.real_data.methods import Map, available, embed
from experiments.real_data.sets import all_digits
from isofold.quality import one_nn_error

__all__ = ["mnist"]

SHOWN = ("PCA", "UMAP", "LocalMDS", "Unfold")
N_SAMPLES = 2_000
"""Rows at which the measures look; neighbors are sought among all points."""


def mnist(folder: Path, size: Size = FULL) -> None:
    """Map all digits, each method in a process of its own."""
    data = all_digits(size)
    shown = size.few(SHOWN)
    rows: list[Row] = []
    figure, panels = plt.subplots(1, len(shown), figsize=(7 * len(shown), 7), layout="constrained")
    for axes, name in zip(panels, available(shown), strict=False):
        made, peak = _in_own_process(name, folder, size)
        figures = asdict(measure(data.X, made.Y, n_samples=size.points(N_SAMPLES)))
        error = float(one_nn_error(made.Y, data.labels))
        rows.append(
            {
                "method": name,
                "processor seconds": made.seconds,
                "peak MB": peak,
                **figures,
                "nearest has the same label": 1.0 - error,
            }
        )
        say(f"{rows[-1]}\n{made.words}")
        show_map(axes, made.Y, data.labels, name, s=0.3, cmap="tab10")
    write_table(rows, folder / "real_data_mnist")
    save(figure, folder / "real_data_mnist.png")


def _in_own_process(name: str, folder: Path, size: Size) -> tuple[Map, float]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_map_all, name, folder, size).result()


def _map_all(name: str, folder: Path, size: Size) -> tuple[Map, float]:
    """Map all digits in this process; return the map and the megabytes above those of the data.

    The megabytes are noted in a file, for those peers whose map is kept.
    """
    X = all_digits(size).X
    note = folder / f"real_data_mnist_peak_{name}.txt"
    memory = PeakMemory()
    made = embed(name, X, 2, label="MNIST", folder=folder)
    if not made.is_kept:
        note.write_text(f"{memory.above_start()}", encoding="utf-8")
    return made, float(note.read_text(encoding="utf-8"))
