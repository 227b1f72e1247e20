"""Preprocessing: what was done to a table before a map was made of it, to do it to new rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

from isofold.exceptions import ModelFileError
from isofold.tables.text_safety import quoted

__all__ = ["MISSING_POLICIES", "SCALES", "Preprocessing"]

MISSING_POLICIES = ("drop", "median", "error")
SCALES = ("none", "standard")
VERSION = 1
MOST_FEATURES = 10**7
KEYS = {"version", "features", "label", "missing", "fill", "center", "scale"}
OPTIONAL = {"key"}
"""Only in models of files that hold several matrices."""


@dataclass(frozen=True)
class Preprocessing:
    """What turns a table into an array of features.

    Attributes
    ----------
    features : tuple of str, or int
        Names of the features in order; or their number, for data without names.
    label : str, default=None
        Name of the label column.
    missing : {"drop", "median", "error"}, default="drop"
        What happens to rows in which a feature is missing.
    fill : tuple of float, default=None
        For "median": what replaces a missing value, for every feature.
    center : tuple of float, default=None
        What is subtracted from every feature.
    scale : tuple of float, default=None
        What every feature is divided by afterwards.
    key : str, default=None
        Path of the matrix that holds the features, where a file has several.
    """

    features: tuple[str, ...] | int
    label: str | None = None
    missing: str = "drop"
    fill: tuple[float, ...] | None = None
    center: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    key: str | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.features if isinstance(self.features, int) else len(self.features)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features; column1, column2, ... for data without names."""
        if isinstance(self.features, int):
            return tuple(f"column{i + 1}" for i in range(self.features))
        return self.features

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "version": VERSION,
            "features": self.features if isinstance(self.features, int) else list(self.features),
            "label": self.label,
            "missing": self.missing,
            "fill": None if self.fill is None else list(self.fill),
            "center": None if self.center is None else list(self.center),
            "scale": None if self.scale is None else list(self.scale),
            **({} if self.key is None else {"key": self.key}),
        }

    @classmethod
    def from_json(cls, value: object) -> Preprocessing:
        """Return it from JSON values, which are not trusted."""
        if not isinstance(value, dict) or set(value) - OPTIONAL != KEYS:
            _refuse("it does not have the expected entries")
        if not _is_count(value["version"], 1) or value["version"] > VERSION:
            _refuse(f"its version is {quoted(value['version'])}; a newer isofold may read it")
        features = _features(value["features"])
        n_features = features if isinstance(features, int) else len(features)
        label, missing, key = value["label"], value["missing"], value.get("key")
        if label is not None and not isinstance(label, str):
            _refuse("its label is not a name")
        if key is not None and not isinstance(key, str):
            _refuse("its key is not a name")
        if missing not in MISSING_POLICIES:
            _refuse(f"its policy for missing values is {quoted(missing)}")
        fill, center, scale = (
            _numbers(value[k], k, n_features) for k in ("fill", "center", "scale")
        )
        if (fill is None) == (missing == "median") or (center is None) != (scale is None):
            _refuse("its numbers do not fit together")
        if scale is not None and min(scale) <= 0:
            _refuse("it divides by numbers that are not positive")
        return cls(features, label, missing, fill, center, scale, key)


def _features(value: object) -> tuple[str, ...] | int:
    if _is_count(value, 1) and isinstance(value, int) and value <= MOST_FEATURES:
        return value
    if not isinstance(value, list) or not 0 < len(value) <= MOST_FEATURES:
        _refuse("its features are neither names nor a number of columns")
    if not all(isinstance(name, str) for name in value) or len(set(value)) < len(value):
        _refuse("the names of its features are not text, or repeat")
    return tuple(value)


def _numbers(value: object, key: str, length: int) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != length:
        _refuse(f"{key} does not hold one number for each of {length:,} features")
    if not all(type(number) in (int, float) and _is_finite(number) for number in value):
        _refuse(f"{key} holds something that is not a finite number")
    return tuple(float(number) for number in value)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number beyond the range of floating-point numbers
        return False


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _refuse(reason: str) -> NoReturn:
    msg = (
        f"The preprocessing in the model file cannot be used: {reason}. The file is damaged, or "
        f"was not written by isofold embed. Make the model again."
    )
    raise ModelFileError(msg)
