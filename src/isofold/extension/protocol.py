"""What the map behind `transform` answers: images of new points, each row by itself."""

from __future__ import annotations

from typing import Any, Protocol

from isofold._typing import FloatArray


class PointMap(Protocol):
    """A fitted map from new points to an embedding, built once and asked as often as needed.

    It can be pickled and copied, and several threads may ask it at once. What a row becomes
    does not depend, not even in its last bit, on the other rows of the call.

    Some maps answer more, by methods that others lack: `inverse_transform(Y)` returns points whose
    images are given, `distance(X)` how far points are from the surface that the map describes, and
    `is_outside(X)` which points are far from all training points.
    """

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new points, one row a point."""
