"""How a fitted embedder shows itself: `plot` for figures, and a small preview in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sklearn.utils.validation import check_is_fitted

from isofold._validation import check_choice
from isofold.exceptions import InvalidInputError

__all__ = ["DisplayMixin"]

KINDS = (
    "embedding",
    "distortion",
    "shepard",
    "neighbor_curve",
    "length_ratios",
    "spectrum",
    "patch_graph",
    "neighbors_of",
    "overview",
)
"""The figures of `isofold.plot`."""

COLORED = ("embedding", "overview")
"""Those that show the map in colors of one's choice."""


class DisplayMixin:
    """Figures and a preview for everything with ``embedding_``."""

    def plot(
        self,
        X: Any = None,
        *,
        kind: str = "embedding",
        color: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Any:
        """Draw the map, or how true it is (needs matplotlib).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            The training data, for figures that compare the map with them.
        kind : str, default="embedding"
            The figure, a function of `isofold.plot`. "embedding", "distortion", "spectrum" and
            "patch_graph" show what the model knows. "shepard", "neighbor_curve", "length_ratios",
            "neighbors_of" (with ``point=...``) and "overview" need `X`.
        color : array-like of shape (n_samples,), "distortion" or None, default=None
            By what the points of an "embedding" or "overview" are colored.
        ax : matplotlib Axes or None, default=None
            Where to draw; a new figure by default.
        **options
            Further parameters of the figure.

        Returns
        -------
        matplotlib Axes
            The axes; of an "overview" the figure.
        """
        check_is_fitted(self, "embedding_")
        check_choice(kind, KINDS, name="kind")
        if color is not None:
            if kind not in COLORED:
                msg = f"color has no meaning for kind={kind!r}: it has colors of its own."
                raise InvalidInputError(msg)
            options["color"] = color
        if ax is not None:
            if kind == "overview":
                msg = "An overview is a whole figure and cannot be drawn on ax. Leave ax out."
                raise InvalidInputError(msg)
            options["ax"] = ax
        # The figures know the methods, so that they live above them: no import at the top.
        return getattr(import_module("isofold.plot"), kind)(self, X=X, **options)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # An AttributeError if scikit-learn is set to show text, as for its own estimators. What is
        # mixed into has these methods: the types do not know.
        diagram: Callable[[], str] = super()._repr_html_  # type: ignore[misc]
        return lambda: self._preview() + diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] = self._preview() + shown["text/html"]
        return shown

    def _preview(self) -> str:
        """Return a small picture of the map as HTML; empty before the fit."""
        if not hasattr(self, "embedding_"):
            return ""
        page: str = import_module("isofold.plot.preview").preview(self)
        return page
