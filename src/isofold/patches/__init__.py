"""Patches: overlapping pieces of the data, each with a chart that keeps lengths."""

from isofold.patches.atlas import Atlas
from isofold.patches.charts import ChartFit, fit_charts
from isofold.patches.choices import Cover
from isofold.patches.cover import Memberships, PatchCover
from isofold.patches.scale import ScaleRules, charted_balls

__all__ = [
    "Atlas",
    "ChartFit",
    "Cover",
    "Memberships",
    "PatchCover",
    "ScaleRules",
    "charted_balls",
    "fit_charts",
]
