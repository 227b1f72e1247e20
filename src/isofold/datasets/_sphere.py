"""The unit sphere by longitude and latitude."""

from __future__ import annotations

import numpy as np

from isofold._typing import FloatArray


def sphere_points(longitude: FloatArray, latitude: FloatArray) -> FloatArray:
    """Return the points of the unit sphere at these angles, in radians."""
    ring = np.cos(latitude)
    return np.column_stack((ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)))
