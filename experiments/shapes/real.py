"""What is raised on real data, where nobody knows the truth, and how long it takes."""

from __future__ import annotations

import time
from pathlib import Path

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.real_data.sets import CHOOSING
from experiments.shapes.run import N_NEIGHBORS
from isofold._typing import FloatArray
from isofold.datasets import load_coil20
from isofold.neighbors import build_graph
from isofold.survey import recognize_shapes

__all__ = ["real"]

N_OBJECTS = 20


def real(folder: Path, size: Size = FULL) -> None:
    """Write what is raised on every data set, and on the 20 objects of COIL by themselves."""
    rows = [_row(one.name, one.load(size).X) for one in size.few(CHOOSING)]
    coil = load_coil20()
    objects = size.few(range(1, N_OBJECTS + 1))
    rows += [_row(f"COIL object {o}", coil.X[coil.labels == o]) for o in objects]
    write_table(rows, folder / "shapes_real")


def _row(name: str, points: FloatArray) -> Row:
    graph = build_graph(points, n_neighbors=N_NEIGHBORS, kind="mutual")
    begin = time.process_time()
    found = recognize_shapes(points[graph.sample_of_node], graph, random_state=0)
    seconds = time.process_time() - begin
    raised = [finding for finding in found if finding.is_raised]
    for finding in raised:
        say(f"{name}: {finding.message()}")
    return {
        "data": name,
        "n": len(points),
        "d": points.shape[1],
        "raised": ", ".join(finding.code for finding in raised) or "-",
        "seconds": seconds,
    }
