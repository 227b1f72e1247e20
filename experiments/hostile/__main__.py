"""Command: ``python -m experiments.hostile ipa --draws 500 --seed 0 --out draws.csv``."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from experiments.harness import say
from experiments.hostile.draws import SIZES
from experiments.hostile.run import METHODS, run
from experiments.hostile.summarize import summary

DRAWS = {"ipa": 500, "unfold": 200}


def main() -> None:
    """Run the draws that a file does not hold yet, or write its tables."""
    parser = argparse.ArgumentParser(prog="experiments.hostile", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for method in METHODS:
        fit = commands.add_parser(method, help=f"fit draws by {method}")
        fit.add_argument("--draws", type=int, default=DRAWS[method], help="number of draws")
        fit.add_argument("--first", type=int, default=0, help="number of the first draw")
        fit.add_argument("--seed", type=int, default=0, help="seed of the draws")
        fit.add_argument("--largest", type=int, default=SIZES[1], help="largest number of points")
        fit.add_argument("--jobs", type=int, default=1, help="draws at a time")
        fit.add_argument("--out", type=Path, required=True, help="file of comma-separated values")
    tables = commands.add_parser("summarize", help="write the tables of a file")
    tables.add_argument("file", type=Path, help="file of comma-separated values")
    wanted = parser.parse_args()
    if wanted.command == "summarize":
        say(summary(pd.read_csv(wanted.file)))
        return
    numbers = range(wanted.first, wanted.first + wanted.draws)
    run(
        wanted.command,
        wanted.out,
        seed=wanted.seed,
        numbers=numbers,
        largest=wanted.largest,
        jobs=wanted.jobs,
    )


if __name__ == "__main__":
    main()
