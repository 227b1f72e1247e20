"""IPA's program: patches fitted together, and what can be said about it."""

from isofold.stitching.stitch import Alignment
from isofold.stitching.terms import StitchTerms

__all__ = ["Alignment", "StitchTerms"]
