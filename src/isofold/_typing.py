"""Aliases for the arrays that pass between rooms."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Matrix: TypeAlias = Any
"""A dense array, a SciPy sparse array, or (for objectives only) a LinearOperator."""
