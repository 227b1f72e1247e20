"""All experiments, one package after the other, each in a process of its own.

``python -m experiments [PACKAGE ...] --out FOLDER``. A package that fails does not stop the others:
the command ends with status 1 then and names it. With ``--points 120`` all of them are rehearsed
in a minute.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from experiments.harness import add_options, say, size_of

PACKAGES = (
    "ipa_thesis",
    "ipa_real",
    "ipa_failures",
    "hostile",
    "disjoint_manifolds",
    "colored_mvu",
    "ldlc",
    "unfolding",
    "piecewise",
    "out_of_sample",
    "non_vector",
    "structure",
    "shapes",
    "decisions",
    "real_data",
)


def main(arguments: Sequence[str] | None = None, packages: Sequence[str] = PACKAGES) -> None:
    """Run the packages that are named on the command line, all by default."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(packages))
    add_options(parser)
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.packages) - set(packages))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(packages)}")
    size = size_of(parser, options)
    passed_on = ["--out", str(options.out)]
    passed_on += [] if size.most is None else ["--points", str(size.most)]
    chosen = options.packages or packages
    failed = []
    for package in chosen:
        say(f"==== {package}")
        program = [sys.executable, "-m", f"experiments.{package}", *passed_on]
        if subprocess.run(program, check=False).returncode != 0:
            failed.append(package)
    if failed:
        sys.exit(f"{len(failed)} of {len(chosen)} packages failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
