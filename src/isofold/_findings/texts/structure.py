"""Texts of what is found about structures: from bounds, of proteins, of networks."""

from __future__ import annotations

from isofold._findings.texts.text import Text

__all__ = ["STRUCTURE_TEXTS"]

# Structures from bounds (isofold.structure.diagnosis).
_BOUNDS: dict[str, Text] = {}

# Files and restraints of proteins (isofold.structure.protein).
_PROTEIN: dict[str, Text] = {}

# Sensor networks (isofold.structure.network).
_NETWORK: dict[str, Text] = {}

STRUCTURE_TEXTS = {**_BOUNDS, **_PROTEIN, **_NETWORK}
