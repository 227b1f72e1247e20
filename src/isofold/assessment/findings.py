"""What a picture or a page tells of a map: measured once, drawn by whoever likes to."""

from __future__ import annotations

from dataclasses import dataclass, field

from isofold._typing import FloatArray, IntArray
from isofold.quality import CoRankingCurve, Scorecard

__all__ = [
    "Findings",
    "LengthRatios",
    "MapWords",
    "NearPairs",
    "PatchGraph",
    "ShepardDensity",
    "SpectrumFinding",
]


@dataclass(frozen=True, eq=False)
class NearPairs:
    """The nearest neighbors of every point in the data, with both distances.

    Attributes
    ----------
    indices : ndarray of int of shape (n_points, n_neighbors)
        The neighbors in the data, the nearest first.
    before, after : ndarray of shape (n_points, n_neighbors)
        Their distances in the data and on the map.
    """

    indices: IntArray
    before: FloatArray
    after: FloatArray


@dataclass(frozen=True, eq=False)
class ShepardDensity:
    """How many pairs of points have which distance before and after.

    Attributes
    ----------
    before_edges, after_edges : ndarray of shape (n_bins + 1,)
        Borders of the bins; both axes have the same unit.
    counts : ndarray of shape (n_bins, n_bins)
        Pairs, by bin before and bin after.
    n_pairs : int
        Pairs looked at.
    is_sample : bool
        Whether they are a random part of all pairs.
    """

    before_edges: FloatArray
    after_edges: FloatArray
    counts: IntArray
    n_pairs: int
    is_sample: bool


@dataclass(frozen=True, eq=False)
class LengthRatios:
    """How often distances between neighbors became how much longer or shorter.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Borders of the bins of the ratio, map over data; the first and the last bin hold all that
        lies beyond.
    counts : ndarray of shape (n_bins,)
        Pairs in each.
    median : float
        Median ratio.
    within_tenth : float
        Share of the pairs whose length is true to 10 %.
    """

    edges: FloatArray
    counts: IntArray
    median: float
    within_tenth: float


@dataclass(frozen=True, eq=False)
class SpectrumFinding:
    """Variances along the axes of what was mapped, as far as a method knows them.

    Attributes
    ----------
    shares : ndarray
        Shares of the variance, the largest first.
    n_components : int
        How many of them the map shows.
    source : str
        Whose variances they are, for a caption.
    """

    shares: FloatArray
    n_components: int
    source: str


@dataclass(frozen=True, eq=False)
class PatchGraph:
    """Patches on the map, which of them overlap, and how well they fit there.

    Attributes
    ----------
    centers : ndarray of shape (n_patches, n_components)
        Where the patches lie on the map.
    sizes : ndarray of int of shape (n_patches,)
        Points in each.
    patch_error : ndarray of shape (n_patches,)
        How badly each fits the map, relative to its extent.
    links : ndarray of int of shape (n_links, 2)
        Patches that share points.
    link_error : ndarray of shape (n_links,)
        How far apart two patches put the points they share, relative to the extent of these.
    n_links : int, default=0
        How many links there are in all, if `links` holds only the worst of them.
    """

    centers: FloatArray
    sizes: IntArray
    patch_error: FloatArray
    links: IntArray
    link_error: FloatArray
    n_links: int = 0


@dataclass(frozen=True, eq=False)
class MapWords:
    """What is to be said of a map, and how to make it again.

    Attributes
    ----------
    method : str
        Name of the method, "given coordinates" for an embedding without a model.
    decision : tuple of str
        Why this method, in sentences; empty unless `Unfold` decided.
    certificate : str
        What is proved about the solution, in plain words; empty where there is nothing to prove.
    is_certified : bool or None
        Whether the proof succeeded; None where there is nothing to prove.
    warnings : tuple of str
        What should keep a reader from trusting the map, in sentences.
    parameters : dict
        Parameters of the method, as words.
    versions : dict
        Versions of Python and of the packages that made the map.
    """

    method: str
    decision: tuple[str, ...] = ()
    certificate: str = ""
    is_certified: bool | None = None
    warnings: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Findings:
    """All that is told of a map.

    Attributes
    ----------
    embedding : ndarray of shape (n_points, n_components)
        The map.
    card : Scorecard
        All measures, with their intervals.
    distortion : ndarray of shape (n_points,)
        Mean relative error of the distances of every point to its neighbors.
    near : NearPairs
        The neighbors in the data.
    shepard : ShepardDensity
        Distances of all pairs, before and after.
    ratios : LengthRatios
        Ratios of the lengths of neighbor pairs.
    curve : CoRankingCurve
        Neighbors kept at every scale.
    spectrum : SpectrumFinding
        Variances along axes.
    patches : PatchGraph or None
        The patches, if the method has any.
    words : MapWords
        Method, certificate, warnings, parameters, versions.
    """

    embedding: FloatArray
    card: Scorecard
    distortion: FloatArray
    near: NearPairs
    shepard: ShepardDensity
    ratios: LengthRatios
    curve: CoRankingCurve
    spectrum: SpectrumFinding
    patches: PatchGraph | None
    words: MapWords
