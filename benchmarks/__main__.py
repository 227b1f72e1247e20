"""Command: ``python -m benchmarks [SUITE ...]``, all suites by default."""

from __future__ import annotations

import sys

from benchmarks.harness import RESULTS, run_suite

SUITES = ("startup", "neighbors", "quality", "stitching", "strings", "unfolding", "mixed")


def main(suites: list[str]) -> None:
    """Run the named suites."""
    for suite in suites or SUITES:
        if suite not in SUITES:
            sys.exit(f"unknown suite {suite!r}; choose from {', '.join(SUITES)}")
        run_suite(f"benchmarks.{suite}")
    print(f"tables written to {RESULTS}")


if __name__ == "__main__":
    main(sys.argv[1:])
