"""All families by name: each takes a number of points and a random state, and gives a surface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from experiments.hostile.families import curved, curves, domains, layered
from experiments.hostile.surfaces import Surface

__all__ = ["FAMILIES"]

FAMILIES: Mapping[str, Callable[[int, np.random.RandomState], Surface]] = MappingProxyType(
    {
        family.__name__: family
        for room in (layered, domains, curved, curves)
        for family in room.FAMILIES
    }
)
"""The families in the order in which they are drawn."""
