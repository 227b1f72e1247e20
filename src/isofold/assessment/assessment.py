"""What is known of a map: measured once, shown by figures and by the report page."""

from __future__ import annotations

from dataclasses import dataclass, field

from isofold._findings import Diagnosis
from isofold._typing import FloatArray, IntArray
from isofold.assessment.density import DensityTiles
from isofold.assessment.verdict import verdict
from isofold.quality import CoRankingCurve, Scorecard

__all__ = [
    "Assessment",
    "LengthRatios",
    "NearPairs",
    "Origin",
    "PatchGraph",
    "Proof",
    "ShepardDensity",
    "VarianceSpectrum",
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
        Pairs that were counted.
    is_sample : bool
        Whether they are a random sample of all pairs.
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
        Fraction of the pairs whose length is true to 10 %.
    """

    edges: FloatArray
    counts: IntArray
    median: float
    within_tenth: float


@dataclass(frozen=True, eq=False)
class VarianceSpectrum:
    """Variances along the axes of what was mapped, as far as a method knows them.

    Attributes
    ----------
    fractions : ndarray
        Fractions of the variance, the largest first.
    n_components : int
        How many of them the map shows.
    source : str
        Whose variances they are, for a caption.
    """

    fractions: FloatArray
    n_components: int
    source: str


@dataclass(frozen=True, eq=False)
class PatchGraph:
    """Patches on the map, which of them are joined, and how well they fit there.

    Attributes
    ----------
    kind : {"patch", "cell", "tessera"}
        What the nodes are: overlapping patches of IPA, cells of PLML or tesserae of TesseraMap.
    centers : ndarray of shape (n_patches, n_components)
        Where the patches lie on the map.
    sizes : ndarray of int of shape (n_patches,)
        Points in each.
    patch_error : ndarray of shape (n_patches,)
        How badly each fits the map, relative to its extent.
    links : ndarray of int of shape (n_links, 2)
        Patches that are joined.
    link_error : ndarray of shape (n_links,)
        How badly two joined patches fit: how far apart patches put the points that they share,
        relative to the extent of these points; for cells and tesserae the relative error of the
        lengths across the joint.
    n_links : int, default=0
        How many links there are in all, if `links` holds only the worst of them.
    """

    kind: str
    centers: FloatArray
    sizes: IntArray
    patch_error: FloatArray
    links: IntArray
    link_error: FloatArray
    n_links: int = 0


@dataclass(frozen=True)
class Origin:
    """How a map was made, and how to make it again.

    Attributes
    ----------
    method : str
        Name of the method, "given coordinates" for an embedding without a model.
    parameters : tuple of (str, str) pairs
        Parameters of the method and their values as short text.
    code : tuple of str
        Lines of Python that make the map and its page again.
    versions : tuple of (str, str) pairs
        Python and the packages that made the map, with their versions.
    """

    method: str
    parameters: tuple[tuple[str, str], ...] = ()
    code: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Proof:
    """What is proved about the solution behind a map.

    Attributes
    ----------
    text : str
        In plain language; empty where there is nothing to prove.
    is_certified : bool or None
        Whether the proof succeeded; None where there is nothing to prove.
    doubt : str
        Why the solution may not be the best one; empty unless the proof failed.
    """

    text: str = ""
    is_certified: bool | None = None
    doubt: str = ""


@dataclass(frozen=True, eq=False)
class Assessment:
    """What is known of a map.

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
    spectrum : VarianceSpectrum
        Variances along axes.
    patches : PatchGraph or None
        The patches, if the method has any.
    origin : Origin
        Method, parameters, versions, and how to make the map again.
    proof : Proof
        What is proved about the solution.
    diagnosis : Diagnosis
        What the fit found, what the measures say, and warnings of other libraries.
    decision : Diagnosis
        Why this method was used; empty unless `Unfold` decided.
    density : DensityTiles or None
        How many of all rows lie where, if the map was measured on a sample of them.
    """

    embedding: FloatArray
    card: Scorecard
    distortion: FloatArray
    near: NearPairs
    shepard: ShepardDensity
    ratios: LengthRatios
    curve: CoRankingCurve
    spectrum: VarianceSpectrum
    patches: PatchGraph | None
    origin: Origin
    proof: Proof = Proof()
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    decision: Diagnosis = field(default_factory=Diagnosis)
    density: DensityTiles | None = None

    @property
    def verdict(self) -> str:
        """What can be read off the map, in two sentences: neighborhoods, distances."""
        return verdict(self.card.summary)
