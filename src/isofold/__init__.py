"""isofold: unfold high-dimensional data into few dimensions while keeping distances true."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from isofold import (
        datasets,
        exceptions,
        extension,
        neighbors,
        plot,
        quality,
        sdp,
    )
    from isofold._progress.stages import progress
    from isofold.clustering import LDLC, MPPCA, VQPCA, GeodesicKMedoids, LocalSubspaceClassifier
    from isofold.embedding import (
        EAT,
        IPA,
        MVU,
        PLML,
        ColoredMVU,
        DisjointMVU,
        FastMVU,
        LandmarkMVU,
        LocalMDS,
        OutOfSample,
        TesseraMap,
        Unfold,
    )
    from isofold.reports import report
    from isofold.stitching import StitchTerms
    from isofold.storage import load, save

__version__ = "0.1.0"
__all__ = [
    "EAT",
    "IPA",
    "LDLC",
    "MPPCA",
    "MVU",
    "PLML",
    "VQPCA",
    "ColoredMVU",
    "DisjointMVU",
    "FastMVU",
    "GeodesicKMedoids",
    "LandmarkMVU",
    "LocalMDS",
    "LocalSubspaceClassifier",
    "OutOfSample",
    "StitchTerms",
    "TesseraMap",
    "Unfold",
    "datasets",
    "exceptions",
    "extension",
    "load",
    "neighbors",
    "plot",
    "progress",
    "quality",
    "report",
    "save",
    "sdp",
]

# Estimators and functions, by the room they live in.
_HOMES = {
    "EAT": "embedding",
    "IPA": "embedding",
    "LDLC": "clustering",
    "MPPCA": "clustering",
    "MVU": "embedding",
    "PLML": "embedding",
    "VQPCA": "clustering",
    "ColoredMVU": "embedding",
    "DisjointMVU": "embedding",
    "FastMVU": "embedding",
    "GeodesicKMedoids": "clustering",
    "LandmarkMVU": "embedding",
    "LocalMDS": "embedding",
    "LocalSubspaceClassifier": "clustering",
    "OutOfSample": "embedding",
    "StitchTerms": "stitching",
    "TesseraMap": "embedding",
    "Unfold": "embedding",
    "load": "storage",
    "progress": "_progress.stages",
    "report": "reports",
    "save": "storage",
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
