"""Command: ``python -m experiments.disjoint_manifolds [NAME ...] --out FOLDER``."""

from __future__ import annotations

from functools import partial

from experiments.disjoint_manifolds.methods import OURS, PEERS
from experiments.disjoint_manifolds.run import run_cases
from experiments.disjoint_manifolds.strategies import compare_strategies
from experiments.disjoint_manifolds.tables import write_tables
from experiments.harness import command

EXPERIMENTS = {
    "peers": partial(run_cases, PEERS, "peers"),
    "ours": partial(run_cases, OURS, "ours"),
    "tables": write_tables,
    "strategies": compare_strategies,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
