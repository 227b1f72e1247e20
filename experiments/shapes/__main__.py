"""Command: ``python -m experiments.shapes [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.shapes.real import real
from experiments.shapes.run import confusion, graph_only

EXPERIMENTS = {"confusion": confusion, "graph_only": graph_only, "real": real}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
