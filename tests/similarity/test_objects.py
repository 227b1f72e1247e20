"""What all kernels and distances of objects have in common."""

import sys
from dataclasses import FrozenInstanceError, fields

import networkx as nx
import numpy as np
import pytest

from isofold import similarity
from isofold.exceptions import InvalidInputError, MissingDependencyError
from isofold.similarity import ObjectDistance, ObjectKernel, TfidfKernel

STRINGS = ["MKVLA", "MKILAAG", "", "MKVLA", "AAAA", "GILKM", "K"]
UNICODE = ["straße", "strasse", "", "straße", "日本語", "日本", "é"]
RNG = np.random.RandomState(0)
SETS = [RNG.randn(n, 2) for n in (5, 3, 7, 5, 1, 6, 4)]
SETS[3] = SETS[0]
SERIES = [RNG.randn(n) for n in (5, 3, 7, 5, 1, 6, 4)]
SERIES[3] = SERIES[0]
COUNTS = [row.tolist() for row in RNG.poisson(1.0, (7, 6))]
COUNTS[3] = COUNTS[0]


def graphs():
    made = [nx.path_graph(3), nx.cycle_graph(4), nx.empty_graph(1), nx.path_graph(3)]
    made += [nx.star_graph(3), nx.Graph(), nx.complete_graph(4)]
    for graph in made[1::2]:
        nx.set_node_attributes(graph, "C", "label")
    nx.set_node_attributes(made[0], "C", "label")
    return made


CASES = [
    (similarity.EditDistance(), UNICODE),
    (similarity.EditDistance(normalize=True), STRINGS),
    (similarity.DistanceKernel(similarity.EditDistance(), 0.1), UNICODE),
    (similarity.SpectrumKernel(2), UNICODE),
    (similarity.SpectrumKernel(2, normalize=False), STRINGS),
    (similarity.MismatchKernel(3, 1), STRINGS),
    (similarity.SubsequenceKernel(2, 0.5), UNICODE),
    (similarity.SubsequenceKernel(3, 0.7, normalize=False), STRINGS),
    (similarity.AlignmentDistance(), STRINGS),
    (similarity.AlignmentDistance("global", None), UNICODE),
    (similarity.AlignmentDistance("local", None, normalize=False), STRINGS),
    (similarity.WeisfeilerLehmanKernel(2), graphs()),
    (similarity.ShortestPathKernel(), graphs()),
    (similarity.HausdorffDistance(), SETS),
    (similarity.AssignmentDistance(), SETS),
    (similarity.AssignmentDistance(0.5), SETS),
    (similarity.ShapeContextDistance(), SETS),
    (similarity.ShapeContextKernel(), SETS),
    (similarity.DTWDistance(), SERIES),
    (similarity.DTWDistance(1), SERIES),
    (similarity.ChiSquaredKernel(), COUNTS),
    (similarity.IntersectionKernel(), COUNTS),
    (TfidfKernel.of(UNICODE, analyzer="char", n_gram=(1, 2)), UNICODE),
]
every = pytest.mark.parametrize(
    ("compare", "objects"), CASES, ids=lambda value: type(value).__name__
)

# Kernels and distances of these objects are at most some hundred, summed from at most fifty terms.
ROUNDING = 1e-11


def test_every_kernel_and_distance_has_a_case():
    known = {type(compare).__name__ for compare, _ in CASES} | {"ObjectDistance", "ObjectKernel"}
    known.add("LatentKernel")  # of points of a map
    classes = {n for n in similarity.__all__ if isinstance(getattr(similarity, n), type)}
    assert classes == known


@every
def test_two_collections_are_a_block_of_one(compare, objects):
    whole = compare(objects)
    assert whole.shape == (7, 7)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_allclose(compare(objects[:3], objects[2:]), whole[:3, 2:], atol=ROUNDING)
    np.testing.assert_allclose(compare(objects[4:], objects[:4]), whole[4:, :4], atol=ROUNDING)
    np.testing.assert_allclose(compare(objects[1:2], objects[:1])[0, 0], whole[1, 0], atol=ROUNDING)


@every
def test_it_is_a_kernel_or_a_distance(compare, objects):
    whole = compare(objects)
    if isinstance(compare, ObjectDistance):
        assert (whole >= 0).all()
        assert (whole.diagonal() == 0).all()
        assert whole[0, 3] == 0.0
        return
    assert isinstance(compare, ObjectKernel)
    values = np.linalg.eigvalsh(whole)
    assert values[0] >= -ROUNDING * max(values[-1], 1.0)
    np.testing.assert_allclose(whole[0], whole[3], atol=ROUNDING)
    assert similarity.distances_from_kernel(whole)[0, 3] == 0.0


@every
def test_objects_may_come_in_any_collection(compare, objects):
    held = np.empty(len(objects), dtype=object)
    for position, item in enumerate(objects):
        held[position] = item
    np.testing.assert_array_equal(compare(held), compare(tuple(objects)))


@every
def test_it_is_frozen_and_can_be_compared(compare, objects):
    assert compare == type(compare)(**{f.name: getattr(compare, f.name) for f in fields(compare)})
    assert isinstance(hash(compare), int)
    with pytest.raises(FrozenInstanceError):
        compare.anything = 1


@every
@pytest.mark.parametrize("wrong", ["MKVLA", [], [None], 7])
def test_what_is_no_collection_is_refused(compare, objects, wrong):
    with pytest.raises(InvalidInputError):
        compare(wrong)
    with pytest.raises(InvalidInputError):
        compare(objects, wrong)


@pytest.mark.parametrize(
    ("compare", "package"),
    [
        (similarity.EditDistance(), "rapidfuzz"),
        (similarity.AlignmentDistance(), "Bio"),
        (similarity.DTWDistance(), "dtaidistance"),
        (similarity.molecule_graphs, "rdkit"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, compare, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=r"isofold\[objects\]"):
        compare(["C", "CC"])
