"""Fields of older files converted to those of this version, by the names in `Kind.migrated`.

Each function takes the stored fields of an object and returns new ones; those of a file that we
wrote ourselves are left as they are.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isofold._findings import Diagnosis, Finding, Severity
from isofold.patches.choices import Cover
from isofold.storage.validation import require

__all__ = [
    "migrate_colored",
    "migrate_decision",
    "migrate_embedder",
    "migrate_flag",
    "migrate_motions",
    "migrate_projection",
    "migrate_unfold",
]

# Findings of format 1 that have another name now.
CODES = {"match": "misfit", "pieces": "components", "rough": "unstitched"}


def migrate_embedder(stored: dict[str, Any]) -> dict[str, Any]:
    """Give a fitted embedder of format 1, which only warned, a diagnosis."""
    if "embedding_" in stored:
        stored.setdefault("diagnosis_", Diagnosis())
    return _with_choices(stored)


def migrate_colored(stored: dict[str, Any]) -> dict[str, Any]:
    """Call the kernel of the labels by its own name: `kernel` is that of the samples now."""
    if "label_kernel" not in stored and "kernel" in stored:
        stored["label_kernel"] = stored.pop("kernel")
    return migrate_embedder(stored)


def _with_choices(stored: dict[str, Any]) -> dict[str, Any]:
    """Convert texts and numbers that were parameters to the objects used now."""
    from isofold.neighbors.resolve import named_graph
    from isofold.patches.choices import is_raw
    from isofold.sdp import Soft

    if "graph" in stored:
        is_default = isinstance(stored["graph"], str) and stored["graph"] == "knn"
        stored["graph"] = None if is_default else named_graph(stored["graph"])
    if isinstance(stored.get("links"), Integral):
        stored["n_links"], stored["links"] = int(stored["links"]), "closest"
    for name in ("cover", "clustering"):
        if is_raw(stored.get(name)):
            stored[name] = _cover(stored[name])
    if isinstance(stored.get("lengths"), Real):
        stored["lengths"] = Soft(float(stored["lengths"]))
    return stored


def _cover(given: Any) -> Cover:
    """Convert a name with a number, labels or patches to a cover."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return Cover.clusters(*given)
    is_labels = not issparse(given) and all(np.ndim(each) == 0 for each in given)
    return Cover.labels(given) if is_labels else Cover.patches(given)


def migrate_unfold(stored: dict[str, Any]) -> dict[str, Any]:
    """Give `Unfold` the map and the findings of the method that it chose."""
    if "embedding_" in stored and stored.get("map_") is None:
        stored["map_"] = getattr(stored.get("estimator_"), "map_", None)
    if "decision_" in stored:
        findings = getattr(stored["decision_"], "findings", ())
        stored.setdefault("diagnosis_", Diagnosis(findings))
    return stored


def migrate_projection(stored: dict[str, Any]) -> dict[str, Any]:
    """Convert axes and mean to a map."""
    from isofold.extension.linear_map import LinearMap

    if "axes_" in stored and "mean_" in stored:
        stored["map_"] = LinearMap(stored.pop("axes_"), stored.pop("mean_"))
    return migrate_embedder(stored)


def migrate_motions(stored: dict[str, Any]) -> dict[str, Any]:
    """Convert rotations and translations of shapes to one stack of motions."""
    from isofold.linalg.motions import RigidMotions

    if "rotations" in stored and "translations" in stored:
        arrays = [stored.pop(name) for name in ("rotations", "translations")]
        is_right = all(isinstance(each, np.ndarray) and each.dtype.kind == "f" for each in arrays)
        require(is_right, "motions are not arrays of numbers")
        stored["motions"] = RigidMotions(*arrays)
    return stored


def migrate_flag(stored: dict[str, Any]) -> dict[str, Any]:
    """Convert a flag of format 1, which stored its own sentences, to a finding with these."""
    code = str(stored.get("name"))
    made: dict[str, Any] = {
        "code": CODES.get(code, code),
        "severity": Severity.DOUBT if stored.get("is_raised") else Severity.CHECKED,
        "value": float(stored.get("value", float("nan"))),
        "limit": float(stored.get("threshold", float("nan"))),
        "parameters": _given(stored.get("message", ""), stored.get("advice", "")),
        "form": "given",
    }
    return made | ({"patches": stored["patches"]} if "patches" in stored else {})


def migrate_decision(stored: dict[str, Any]) -> dict[str, Any]:
    """Convert sentences and evidence of format 1 to findings and figures."""
    if "reasons" not in stored:
        return stored
    doubts = frozenset(CODES.get(code, code) for code in stored.get("doubts", ()))
    kept = {k: v for k, v in stored.items() if k not in ("reasons", "evidence", "doubts")}
    evidence = {CODES.get(k, k): v for k, v in stored.get("evidence", {}).items()}
    findings = [_sentence(text) for text in stored["reasons"]]
    return kept | {
        "figures": tuple(evidence.items()),
        "findings": tuple(findings),
        "doubts": doubts,
    }


def _sentence(text: str) -> Finding:
    return Finding("given", Severity.NOTE, parameters=_given(text, ""))


def _given(message: Any, advice: Any) -> tuple[tuple[str, Any], ...]:
    return (("message", str(message)), ("advice", str(advice)))
