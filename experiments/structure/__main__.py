"""Command: ``python -m experiments.structure [NAME ...] --out FOLDER``.

``proteins`` stands for all tables of proteins. ``--seeds N`` makes N runs of each, and ``--only
1VII,2K39`` takes some proteins.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from experiments.harness import command
from experiments.structure.network import network, network_sdp, network_shapes
from experiments.structure.proteins import (
    Chosen,
    certificates,
    harder,
    sizes,
    sparse,
    template,
    thesis,
)

PROTEINS = {
    "thesis": thesis,
    "template": template,
    "harder": harder,
    "sparse": sparse,
    "sizes": sizes,
    "certificates": certificates,
}
NETWORKS = {
    "network": network,
    "network_shapes": network_shapes,
    "network_sdp": network_sdp,
}
EXPERIMENTS = {**PROTEINS, **NETWORKS}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tables that are named on the command line, all by default."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--seeds", type=int, default=Chosen.seeds)
    parser.add_argument("--only", default="")
    own, others = parser.parse_known_args(arguments)
    chosen = Chosen(own.seeds, tuple(name for name in own.only.split(",") if name))
    runs = {name: partial(run, chosen=chosen) for name, run in PROTEINS.items()}
    named = [part for one in others for part in (PROTEINS if one == "proteins" else [one])]
    command({**EXPERIMENTS, **runs}, __doc__, named)


if __name__ == "__main__":
    main(sys.argv[1:])
