"""The list of what files may hold is complete, and its names stay."""

import inspect
import typing
from dataclasses import fields, is_dataclass
from enum import Enum

import pytest
from sklearn.base import BaseEstimator

import isofold
from isofold.exceptions import InvalidInputError
from isofold.storage import registry as registry_module
from isofold.storage import save
from isofold.storage.registry import KINDS
from isofold.storage.searches import SEARCHES
from isofold.storage.validation import matches, type_hints
from support.storage_cases import fitted

# What files of format 1 may name. A name may move to another class, but never vanish.
FORMAT_1 = [
    "AffineSubspaces",
    "Atlas",
    "BarycentricMap",
    "BruteForceSearch",
    "Candidate",
    "Certificate",
    "ColoredMVU",
    "ConicSDP",
    "CorrectedMap",
    "Decision",
    "DenseSDP",
    "Diagnosis",
    "DisjointMVU",
    "DistanceMap",
    "Distinct",
    "EAT",
    "FastMVU",
    "Flag",
    "FunctionRows",
    "GeodesicKMedoids",
    "GeodesicRows",
    "GooseMap",
    "HNSWSearch",
    "IPA",
    "InvertedListSearch",
    "Judgement",
    "KDTreeSearch",
    "KernelCentering",
    "KernelFunction",
    "KernelMap",
    "LDLC",
    "LandmarkMVU",
    "LengthErrors",
    "LocalMDS",
    "LocalSubspaceClassifier",
    "LocalizedModel",
    "LowRankSDP",
    "MPPCA",
    "MVU",
    "MapQuality",
    "Memberships",
    "Motions",
    "NeighborGraph",
    "NystromMap",
    "OutOfSample",
    "PLML",
    "PPCAMixture",
    "Partition",
    "PatchCover",
    "PatchMap",
    "PieceMap",
    "Placement",
    "Places",
    "Planes",
    "Projection",
    "Reduction",
    "SDPSolution",
    "SampledRegion",
    "Sides",
    "SpanningTree",
    "Status",
    "StitchTerms",
    "Survey",
    "SurveyedPart",
    "TesseraMap",
    "Tesserae",
    "Unfold",
    "VQPCA",
    "WalkRows",
]


def mentioned(hint):
    """Yield all classes of isofold in an annotation."""
    if inspect.isclass(hint) and hint.__module__.startswith("isofold"):
        yield hint
    for argument in typing.get_args(hint):
        yield from mentioned(argument)


def home(cls):
    return f"{cls.__module__}:{cls.__qualname__}"


def test_no_name_has_vanished():
    assert set(FORMAT_1) <= KINDS.keys()


@pytest.mark.parametrize("name", KINDS)
def test_every_name_has_a_class(name):
    cls = KINDS[name].load()
    assert home(cls) == KINDS[name].home
    assert is_dataclass(cls) or issubclass(cls, BaseEstimator | Enum) or name in SEARCHES


@pytest.mark.parametrize("name", KINDS)
def test_all_parts_of_listed_classes_are_listed(name):
    cls = KINDS[name].load()
    if not is_dataclass(cls):
        return
    hints = type_hints(cls)
    homes = {kind.home for kind in KINDS.values()}
    parts = {part for each in fields(cls) for part in mentioned(hints[each.name])}
    # Of protocols and abstract classes those that are listed may be held.
    concrete = [
        part
        for part in parts
        if not (getattr(part, "_is_protocol", False) or inspect.isabstract(part))
    ]
    missing = [home(part) for part in concrete]
    missing = [part for part in missing if part not in homes]
    assert missing == [], f"list {missing} in isofold.storage.registry: {name} holds them"


def test_all_estimators_are_listed():
    public = [getattr(isofold, name) for name in isofold.__all__ if name[0].isupper()]
    estimators = [cls for cls in public if issubclass(cls, BaseEstimator)]
    homes = {kind.home for kind in KINDS.values()}
    assert len(estimators) > 15
    assert [home(cls) for cls in estimators if home(cls) not in homes] == []


def test_a_class_that_is_not_listed_is_named(tmp_path, monkeypatch):
    without = {name: kind for name, kind in KINDS.items() if name != "LengthErrors"}
    names = {kind.home: name for name, kind in without.items()}
    monkeypatch.setattr(registry_module, "_names", lambda: names)
    with pytest.raises(InvalidInputError, match=r"MVU.length_errors_ is .*LengthErrors.*registry"):
        save(fitted("mvu"), tmp_path / "model.iso")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (1, int, True),
        (True, int, False),
        (1, float, True),
        ("1", float, False),
        (None, int | None, True),
        ((1.0, 2.0), tuple[float, ...], True),
        ((1.0, "2"), tuple[float, ...], False),
        ((1, "2"), tuple[int, str], True),
        ({"a": 1.0}, dict[str, float], True),
        ({"a": "b"}, dict[str, float], False),
        (frozenset({1}), frozenset[str], False),
        (len, typing.Any, True),
    ],
)
def test_values_are_compared_with_annotations(value, hint, expected):
    assert matches(value, hint) is expected
