"""Alignment: patches to one embedding, and what can be said about it."""

from isofold.alignment.diagnosis import Diagnosis, Flag
from isofold.alignment.patch_map import PatchMap
from isofold.alignment.stitch import Alignment
from isofold.alignment.terms import StitchTerms

__all__ = ["Alignment", "Diagnosis", "Flag", "PatchMap", "StitchTerms"]
