"""Covers that a user passes: a name with a number, labels, or members of patches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Self

__all__ = ["Cover"]


@dataclass(frozen=True, eq=False)
class Cover:
    """How the samples are divided, where a name is not enough.

    Use one of the class methods. A scikit-learn clusterer needs no `Cover`.

    Parameters
    ----------
    kind : {"clusters", "labels", "patches"}
        What `content` holds.
    content : object
        The name of a clustering, one label for each sample, or the members of every patch.
    n_clusters : int or None, default=None
        Number of clusters of a named clustering; the default of the method if None.

    Examples
    --------
    >>> from isofold import Cover, TesseraMap
    >>> TesseraMap(cover=Cover.clusters("affinity", 50)).cover
    Cover(kind='clusters', n_clusters=50)
    """

    kind: Literal["clusters", "labels", "patches"]
    content: Any = field(repr=False)
    n_clusters: int | None = None

    @classmethod
    def clusters(cls, name: str, n_clusters: int | None = None) -> Self:
        """Return a cover by the clusters of a named method.

        Parameters
        ----------
        name : str
            A name that the method's parameter accepts, such as "kmeans".
        n_clusters : int or None, default=None
            How many.

        Returns
        -------
        Cover
            The cover.
        """
        return cls("clusters", name, n_clusters)

    @classmethod
    def labels(cls, labels: Any) -> Self:
        """Return a cover by labels.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            One whole number or string for each sample.

        Returns
        -------
        Cover
            The cover.
        """
        return cls("labels", labels)

    @classmethod
    def patches(cls, members: Any) -> Self:
        """Return a cover by patches, which may overlap.

        Parameters
        ----------
        members : array-like or sparse matrix of shape (n_samples, n_patches), or list of lists
            A table of zeros and ones, or the samples of every patch.

        Returns
        -------
        Cover
            The cover.
        """
        return cls("patches", members)


def is_raw(given: Any) -> bool:
    """Return whether a user passes an array or lists where a `Cover` is needed."""
    is_clusterer = hasattr(given, "fit_predict")
    return not (given is None or is_clusterer or isinstance(given, str | type | Cover))
