"""What a model file may hold: every class by a name that stays, wherever the class moves.

Nothing that is not listed here is ever built from a file. For authors:

- A class that a fitted estimator holds gets a line in `KINDS`. A test walks all estimators and says
  which lines are missing.
- A class that moves or is renamed keeps its name here; only its home changes.
- A field that is added gets its value for older files in `added` (unless the class or, for a
  parameter, its constructor has a default that means the same). One that is renamed is listed in
  `renamed`, one that is gone in `removed`; what else has changed is converted by a function of
  `isofold.storage.older`, named in `migrated`.
- A change that these do not cover raises `FORMAT_VERSION` and brings a function in `MIGRATIONS`.
- If numbers of the class reach compiled code, or index other arrays, a function of
  `isofold.storage.checks` looks at them first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from isofold.embedding.catalog import CATALOG, Method

__all__ = ["FORMAT_VERSION", "KINDS", "MIGRATIONS", "READABLE_FROM", "Kind", "kind_of"]

FORMAT_VERSION = 1
"""Raised if older versions could not read what we write, or not rightly."""

READABLE_FROM = 1
"""The smallest format version that can read what we write."""

MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""What makes a header of format v one of format v + 1, by v."""


@dataclass(frozen=True)
class Kind:
    """A class that files may hold.

    Attributes
    ----------
    home : str
        Module and name of the class, as "module:Class".
    check : str
        The function of `isofold.storage.checks` that refuses impossible objects, if there is one.
    added : mapping
        Values of fields that older files lack.
    renamed : mapping
        New names of fields by their old ones.
    removed : frozenset of str
        Fields of older files that are gone.
    migrated : str
        The function of `isofold.storage.older` that turns fields of older files into those of now,
        after they were renamed.
    """

    home: str
    check: str = ""
    added: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    migrated: str = ""

    def load(self) -> type:
        """Import the class."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(module), name)


_DISCARDED = {"cut_off_": "discarded_variance_ratio_"}
_MAP = {"extension_": "map_"}

# Attributes of embedders that had other names in format 1.
_RENAMED: dict[str, dict[str, str]] = {
    "IPA": {"piece_": "component_", "rows_": "node_samples_", **_DISCARDED},
    "MVU": _MAP | _DISCARDED,
    "LandmarkMVU": _MAP | _DISCARDED,
    "FastMVU": _MAP | _DISCARDED,
    "ColoredMVU": _MAP | _DISCARDED,
    "DisjointMVU": {"piece_": "component_", **_MAP},
    "EAT": _DISCARDED,
    "TesseraMap": _DISCARDED,
    "PLML": {
        "graph_": "spanning_tree_",
        "rows_": "node_samples_",
        "piece_size": "cell_size",
        "piece_size_": "cell_size_",
    },
    "LocalMDS": {"rows_": "core_samples_", **_MAP},
    "OutOfSample": _MAP,
    "Unfold": {"rows_": "fitted_samples_", **_MAP},
}

# Embedders whose attributes need more than new names.
_MIGRATED = {"ColoredMVU": "colored", "Unfold": "unfold", "Projection": "projection"}


def _embedder(method: Method) -> Kind:
    home = f"isofold.embedding.{method.home}:{method.name}"
    renamed = _RENAMED.get(method.name, {})
    return Kind(home, renamed=renamed, migrated=_MIGRATED.get(method.name, "embedder"))


# Kernels and distances of objects, by their modules.
_SIMILARITIES = {
    "alignment": ("AlignmentDistance",),
    "distance_kernel": ("DistanceKernel",),
    "graphs": ("ShortestPathKernel", "WeisfeilerLehmanKernel"),
    "histograms": ("ChiSquaredKernel", "IntersectionKernel"),
    "point_sets": (
        "AssignmentDistance",
        "HausdorffDistance",
        "ShapeContextDistance",
        "ShapeContextKernel",
    ),
    "series": ("DTWDistance",),
    "strings": ("EditDistance", "MismatchKernel", "SpectrumKernel", "SubsequenceKernel"),
    "texts": ("TfidfKernel",),
}

KINDS: dict[str, Kind] = {
    **{method.name: _embedder(method) for method in CATALOG},
    # Clusterers.
    "LDLC": Kind("isofold.clustering.ldlc:LDLC", renamed={"strays_": "absorbed_samples_"}),
    "VQPCA": Kind("isofold.clustering.vqpca:VQPCA"),
    "GeodesicKMedoids": Kind("isofold.clustering.geodesic_medoids:GeodesicKMedoids"),
    "MPPCA": Kind("isofold.clustering.mppca:MPPCA"),
    "LocalSubspaceClassifier": Kind("isofold.clustering.classifier:LocalSubspaceClassifier"),
    # Solvers and terms, which are parameters.
    "LowRankSDP": Kind("isofold.sdp.solvers.low_rank:LowRankSDP"),
    "DenseSDP": Kind("isofold.sdp.solvers.dense:DenseSDP"),
    "ConicSDP": Kind("isofold.sdp.solvers.conic:ConicSDP"),
    "Cover": Kind("isofold.patches.choices:Cover"),
    "Soft": Kind("isofold.sdp.posing.soft:Soft"),
    "StitchTerms": Kind("isofold.stitching.terms:StitchTerms"),
    # How samples come in.
    "Stream": Kind("isofold.embedding.streaming:Stream"),
    "Intake": Kind("isofold.similarity.intake:Intake", check="intake"),
    "PairComparison": Kind("isofold.similarity.comparison:PairComparison"),
    "PrincipalFrame": Kind("isofold.linalg.scaling:PrincipalFrame", check="frame"),
    **{
        name: Kind(f"isofold.similarity.{module}:{name}")
        for module, names in _SIMILARITIES.items()
        for name in names
    },
    # Maps of new points.
    "PatchMap": Kind("isofold.extension.patch_map:PatchMap", check="patch_map", migrated="motions"),
    "ExtendedMap": Kind("isofold.extension.extended_map:ExtendedMap", check="extended_map"),
    "Atlas": Kind("isofold.patches.atlas:Atlas", check="atlas"),
    "Memberships": Kind("isofold.patches.cover:Memberships", check="memberships"),
    "Reduction": Kind("isofold.patches.noise_axes:Reduction", check="reduction"),
    "PieceMap": Kind("isofold.extension.plane_map:PlaneMap", check="plane_map"),
    "Planes": Kind("isofold.patches.planes:Planes", check="planes"),
    "Motions": Kind("isofold.linalg.motions:RigidMotions"),
    "GooseMap": Kind("isofold.extension.goose:GooseMap", renamed={"places": "training"}),
    "StressMap": Kind("isofold.extension.stress_map:StressMap", check="stress_map"),
    "LengthRules": Kind("isofold.stress.kept_lengths:LengthRules"),
    "BarycentricMap": Kind(
        "isofold.extension.barycentric:BarycentricMap",
        renamed={"places": "training"},
        added={"n_jobs": None},
    ),
    "Places": Kind("isofold.extension.training_points:TrainingPoints", check="training_points"),
    "SampledRegion": Kind(
        "isofold.extension.region:SampledRegion", check="region", renamed={"places": "training"}
    ),
    "DistanceMap": Kind("isofold.extension.from_distances:DistanceMap", check="distance_map"),
    "Distinct": Kind("isofold.neighbors.duplicates:Distinct", check="distinct"),
    "KernelMap": Kind("isofold.extension.kernel_map:KernelMap"),
    "CorrectedMap": Kind("isofold.extension.kernel_map:CorrectedMap"),
    "KernelFunction": Kind("isofold.similarity.kernel_function:KernelFunction"),
    "KernelCentering": Kind("isofold.linalg.centering:KernelCentering"),
    "KernelSource": Kind("isofold.similarity.kernels:KernelSource", check="kernel_source"),
    "RawObjects": Kind("isofold.similarity.kernels:RawObjects"),
    "KernelNodes": Kind("isofold.extension.kernel_eigen_map:KernelNodes", check="kernel_nodes"),
    "KernelEigenMap": Kind(
        "isofold.extension.kernel_eigen_map:KernelEigenMap", check="kernel_eigen_map"
    ),
    "TwinKernelMap": Kind(
        "isofold.extension.twin_kernel_map:TwinKernelMap", check="twin_kernel_map"
    ),
    "BackConstrainedMap": Kind(
        "isofold.extension.twin_kernel_map:BackConstrainedMap", check="back_constrained_map"
    ),
    "LatentKernel": Kind("isofold.similarity.latent:LatentKernel"),
    "LinearMap": Kind("isofold.extension.linear_map:LinearMap"),
    "NystromMap": Kind("isofold.extension.nystrom:NystromMap"),
    "GeodesicRows": Kind("isofold.extension.nystrom:GeodesicRows", renamed={"places": "training"}),
    "WalkRows": Kind("isofold.extension.nystrom:WalkRows"),
    "FunctionRows": Kind("isofold.extension.nystrom:FunctionRows"),
    # Searches, which are built again from their points.
    "KDTreeSearch": Kind("isofold.neighbors.search.exact:KDTreeSearch"),
    "BruteForceSearch": Kind("isofold.neighbors.search.screened:BruteForceSearch"),
    "InvertedListSearch": Kind("isofold.neighbors.search.inverted:InvertedListSearch"),
    "HNSWSearch": Kind("isofold.neighbors.search.approximate:HNSWSearch"),
    # Graphs, covers and clusters.
    "NeighborGraph": Kind("isofold.neighbors.graph:NeighborGraph", check="neighbor_graph"),
    "Knn": Kind("isofold.neighbors.choices:Knn"),
    "Mutual": Kind("isofold.neighbors.choices:Mutual"),
    "Radius": Kind("isofold.neighbors.choices:Radius"),
    "Bridged": Kind("isofold.neighbors.choices:Bridged"),
    "Enhanced": Kind("isofold.neighbors.choices:Enhanced"),
    "Lengths": Kind("isofold.neighbors.choices:Lengths"),
    "SpanningTree": Kind("isofold.neighbors.spanning:SpanningTree", check="spanning_tree"),
    "PatchCover": Kind("isofold.patches.cover:PatchCover", check="patch_cover"),
    "Tesserae": Kind("isofold.patches.tesserae:Tesserae", check="tesserae"),
    "LocalizedModel": Kind(
        "isofold.clustering.localized.base:LocalizedModel", check="localized_model"
    ),
    "Partition": Kind(
        "isofold.clustering.localized.partition:Partition", renamed={"strays": "absorbed"}
    ),
    "AffineSubspaces": Kind("isofold.clustering.subspaces:AffineSubspaces"),
    "PPCAMixture": Kind("isofold.clustering.ppca_em:PPCAMixture", renamed={"flats": "subspaces"}),
    # What is known about a fit.
    "Diagnosis": Kind("isofold._findings.finding:Diagnosis", renamed={"flags": "findings"}),
    "Finding": Kind("isofold._findings.finding:Finding"),
    "Severity": Kind("isofold._findings.finding:Severity"),
    "Flag": Kind("isofold._findings.finding:Finding", migrated="flag"),
    "LengthErrors": Kind("isofold.neighbors.edge_errors:LengthErrors"),
    "SDPSolution": Kind("isofold.sdp.solution:SDPSolution"),
    "Certificate": Kind("isofold.sdp.certificate:Certificate"),
    "Status": Kind("isofold.sdp.solution:Status"),
    "Placement": Kind(
        "isofold.placement.placement:Placement", renamed={"maps": "rotations"}, migrated="motions"
    ),
    "Sides": Kind("isofold.embedding.affine.pairs:Sides"),
    "Decision": Kind("isofold.embedding.unfold.decision:Decision", migrated="decision"),
    "Candidate": Kind("isofold.embedding.unfold.rehearsal:Candidate"),
    "Judgement": Kind(
        "isofold.embedding.unfold.rehearsal:Judgement",
        renamed={"match": "misfit"},
        removed=frozenset({"messages", "about_data"}),
    ),
    "MapQuality": Kind("isofold.quality.summary:MapSummary"),
    "Survey": Kind("isofold.survey.data:Survey", renamed={"flags": "shapes"}),
    "SurveyedPart": Kind("isofold.survey.data:SurveyedPart"),
}


@cache
def _names() -> dict[str, str]:
    # Of two names of one class the first is written; the other is that of older files.
    return {kind.home: name for name, kind in reversed(KINDS.items())}


def kind_of(thing: Any) -> str | None:
    """Return the name under which an object is stored, or None if its class is not listed."""
    cls = type(thing)
    return _names().get(f"{cls.__module__}:{cls.__qualname__}")
