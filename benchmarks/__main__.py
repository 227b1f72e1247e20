"""Command: ``python -m benchmarks [SUITE ...] [--only WORDS] [--slow] [--before SRC]``.

All suites run by default.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.harness import RESULTS, run_suite

SUITES = (
    "startup",
    "neighbors",
    "quality",
    "stitching",
    "strings",
    "unfold",
    "unfolding",
    "mvu",
    "ldlc",
    "workers",
    "eat",
    "plml",
    "out_of_sample",
    "way_back",
    "local_maps",
    "neighbor_map",
    "non_vector",
    "structure",
    "report",
    "storage",
    "command_line",
    "mixed",
    "streaming",
    "ipa_accuracy",
    "ipa_speed",
    "dask_passes",
    "update",
)


def main() -> None:
    """Run the named suites, or some of their cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    parser.add_argument("--only", default="", help="run cases whose task or method has these words")
    parser.add_argument("--slow", action="store_true", help="run cases that take minutes, too")
    parser.add_argument(
        "--before", metavar="SRC", help="src of another checkout (kernels built) that runs too"
    )
    chosen = parser.parse_args()
    before = Path(chosen.before).resolve() if chosen.before else None
    if before is not None and not (before / "isofold" / "__init__.py").exists():
        parser.error(
            f"--before {chosen.before!r} has no isofold: name the folder src of a checkout"
        )
    for suite in chosen.suites:
        if suite not in SUITES:
            parser.error(f"unknown suite {suite!r}; choose from {', '.join(SUITES)}")
    records = [
        run_suite(f"benchmarks.{suite}", only=chosen.only, slow=chosen.slow, before=before)
        for suite in chosen.suites or SUITES
    ]
    if not any(records):
        parser.error(f"no case has {chosen.only!r} in its name, or only slow ones (--slow) have")
    print(f"tables written to {RESULTS}")


if __name__ == "__main__":
    main()
