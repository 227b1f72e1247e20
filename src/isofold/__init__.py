"""isofold: unfold high-dimensional data into few dimensions while keeping distances true."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from isofold.embedding.catalog import CATALOG as _CATALOG

if _TYPE_CHECKING:
    from isofold import (
        blocks,
        datasets,
        exceptions,
        extension,
        neighbors,
        plot,
        quality,
        sdp,
        similarity,
        structure,
    )
    from isofold._progress.stages import progress
    from isofold.assessment import assess
    from isofold.blocks import read_blocks
    from isofold.clustering import LDLC, MPPCA, VQPCA, GeodesicKMedoids, LocalSubspaceClassifier
    from isofold.embedding.affine.eat import EAT as EAT
    from isofold.embedding.affine.tesseramap import TesseraMap as TesseraMap
    from isofold.embedding.ipa import IPA as IPA
    from isofold.embedding.kernel_eigenmaps import (
        KernelLaplacianEigenmaps as KernelLaplacianEigenmaps,
    )
    from isofold.embedding.local_mds import LocalMDS as LocalMDS
    from isofold.embedding.mvu.colored import ColoredMVU as ColoredMVU
    from isofold.embedding.mvu.disjoint import DisjointMVU as DisjointMVU
    from isofold.embedding.mvu.fast import FastMVU as FastMVU
    from isofold.embedding.mvu.landmark import LandmarkMVU as LandmarkMVU
    from isofold.embedding.mvu.mvu import MVU as MVU
    from isofold.embedding.neighbor_map import NeighborMap as NeighborMap
    from isofold.embedding.out_of_sample.out_of_sample import OutOfSample as OutOfSample
    from isofold.embedding.plml import PLML as PLML
    from isofold.embedding.twin_kernel import TwinKernelEmbedding as TwinKernelEmbedding
    from isofold.embedding.unfold.unfold import Unfold as Unfold
    from isofold.extension.out_of_range import is_outside
    from isofold.patches import Cover
    from isofold.reports import report
    from isofold.stitching import StitchTerms
    from isofold.storage import load, save

__version__ = "0.1.0"
__all__ = [  # noqa: PLE0604 - methods are entered in their catalog alone
    "LDLC",
    "MPPCA",
    "VQPCA",
    "Cover",
    "GeodesicKMedoids",
    "LocalSubspaceClassifier",
    "StitchTerms",
    "assess",
    "blocks",
    "datasets",
    "exceptions",
    "extension",
    "is_outside",
    "load",
    "neighbors",
    "plot",
    "progress",
    "quality",
    "read_blocks",
    "report",
    "save",
    "sdp",
    "similarity",
    "structure",
    *(method.name for method in _CATALOG if method.is_public),
]

# Functions and clusterers, by the room they live in; methods are in their catalog.
_HOMES = {
    "LDLC": "clustering",
    "MPPCA": "clustering",
    "VQPCA": "clustering",
    "Cover": "patches",
    "GeodesicKMedoids": "clustering",
    "LocalSubspaceClassifier": "clustering",
    "StitchTerms": "stitching",
    "assess": "assessment",
    "is_outside": "extension.out_of_range",
    "load": "storage",
    "progress": "_progress.stages",
    "read_blocks": "blocks",
    "report": "reports",
    "save": "storage",
    **{method.name: "embedding" for method in _CATALOG if method.is_public},
}


def __getattr__(name: str) -> _Any:
    # Rooms are loaded when first used, so that importing isofold costs almost nothing.
    if name in _HOMES:
        return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in __all__:
        return _import_module(f"{__name__}.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
