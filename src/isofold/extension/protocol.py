"""What every extension answers: images of new points, each row by itself."""

from __future__ import annotations

from typing import Any, Protocol

from isofold._typing import FloatArray


class Extension(Protocol):
    """A fitted map from new points to an embedding, built once and asked as often as needed.

    It can be pickled and copied, and several threads may ask it at once. What a row becomes
    does not depend, not even in its last bit, on the other rows of the call.
    """

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new points, one row a point."""
