"""Command: ``python -m experiments.structure [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.structure.network import network, network_sdp, network_shapes

EXPERIMENTS = {
    "network": network,
    "network_shapes": network_shapes,
    "network_sdp": network_sdp,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
