"""Sensor networks: positions from noisy ranges and anchors, and the usual benchmarks."""

from isofold.structure.network.data import SensorNetwork
from isofold.structure.network.flaps import Flap
from isofold.structure.network.generate import make_network
from isofold.structure.network.localizer import NetworkLocalizer

__all__ = ["Flap", "NetworkLocalizer", "SensorNetwork", "make_network"]
