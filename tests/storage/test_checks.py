"""Numbers that would lead compiled code astray are refused, though all checksums are right."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from isofold import OutOfSample
from isofold.exceptions import ModelFileError
from isofold.storage import load, save
from support.storage_cases import SMALL, fitted
from support.storage_files import put_together, take_apart

FAR = 2**40


def filled(value):
    def change(array):
        array[...] = value
        return array

    return change


def first(value):
    def change(array):
        array.flat[0] = value
        return array

    return change


def shorter(array):
    return array[:-1]


def narrower(array):
    return np.ascontiguousarray(array[..., :-1])


def bits(array):
    return (array.view(np.uint8) + 2).view(bool)


# The model, the class in it, the field, and what is done to its array.
ARRAYS = [
    ("ipa k-means", "Memberships", "patches", first(FAR)),
    ("ipa k-means", "Memberships", "patches", first(-1)),
    ("ipa k-means", "Memberships", "patches", shorter),
    ("ipa k-means", "Memberships", "weights", shorter),
    ("ipa k-means", "Memberships", "indptr", filled(FAR)),
    ("ipa k-means", "Memberships", "indptr", first(-5)),
    ("ipa k-means", "Memberships", "indptr", shorter),
    ("ipa k-means", "Atlas", "origins", narrower),
    ("ipa k-means", "Atlas", "axes", shorter),
    ("ipa k-means", "Atlas", "axes", narrower),
    ("ipa k-means", "Atlas", "coefficients", narrower),
    ("ipa k-means", "Atlas", "shrinkage", shorter),
    ("ipa k-means", "Motions", "rotations", shorter),
    ("ipa k-means", "Motions", "rotations", narrower),
    ("ipa k-means", "Motions", "translations", shorter),
    ("ipa k-means", "PatchMap", "radii", shorter),
    ("ipa k-means", "PatchMap", "limits", shorter),
    ("ipa k-means", "PatchCover", "members", first(FAR)),
    ("ipa k-means", "KDTreeSearch", "points", shorter),
    ("ipa k-means", "KDTreeSearch", "points", narrower),
    ("ipa k-means", "KDTreeSearch", "points", first(np.nan)),
    ("ipa extended", "ExtendedMap", "waiting", shorter),
    ("ipa extended", "ExtendedMap", "waiting", narrower),
    ("ipa extended", "ExtendedMap", "waiting", first(np.nan)),
    ("ipa reduced", "Reduction", "axes", shorter),
    ("ipa reduced", "Reduction", "axes", narrower),
    ("ldlc", "NeighborGraph", "edges", first(FAR)),
    ("ldlc", "NeighborGraph", "edges", first(-1)),
    ("ldlc", "NeighborGraph", "edges", shorter),
    ("ldlc", "NeighborGraph", "lengths", first(-1.0)),
    ("ldlc", "NeighborGraph", "lengths", first(np.nan)),
    ("ldlc", "NeighborGraph", "node_of_sample", first(FAR)),
    ("ldlc", "NeighborGraph", "is_bridge", bits),
    ("ldlc", "Partition", "medoids", first(FAR)),
    ("ldlc", "Partition", "medoids", first(-1)),
    ("ldlc", "Partition", "labels", first(FAR)),
    ("ldlc", "Partition", "distances", shorter),
    ("ldlc", "LocalizedModel", "points", shorter),
    ("mvu", "Places", "samples", first(FAR)),
    ("mvu", "Places", "samples", first(-1)),
    ("mvu", "Places", "samples", shorter),
    ("mvu", "Places", "images", first(np.inf)),
    ("mvu graph", "Distinct", "sample_of_node", first(FAR)),
    ("mvu graph", "Distinct", "node_of_sample", first(-1)),
    ("mvu graph", "DistanceMap", "images", shorter),
    ("neighbor map", "StressMap", "reach", shorter),
    ("neighbor map", "StressMap", "reach", first(np.nan)),
    ("neighbor map", "StressMap", "reach", np.float64),
    ("neighbor map", "Places", "samples", first(FAR)),
    ("plml", "Planes", "labels", first(FAR)),
    ("plml", "SpanningTree", "edges", first(FAR)),
    ("plml", "Planes", "means", shorter),
    ("tessera map", "Tesserae", "labels", first(FAR)),
    ("tessera map", "Tesserae", "ranks", first(-FAR)),
    ("out of sample", "SampledRegion", "spacings", shorter),
    ("out of sample hnsw", "HNSWSearch", "points", first(np.inf)),
    ("out of sample weights", "BruteForceSearch", "points", first(1e200)),
]

VALUES = [
    ("out of sample hnsw", "HNSWSearch", "width", 10**9),
    ("out of sample hnsw", "HNSWSearch", "width", 0),
    ("out of sample hnsw", "HNSWSearch", "workers", -1),
    ("mvu", "KDTreeSearch", "workers", "many"),
    ("mvu", "GooseMap", "n_jobs", 10**7),
    ("neighbor map", "StressMap", "n_jobs", 10**7),
    ("mvu", "MVU", "n_jobs", 10**7),
    ("neighbor map", "StressMap", "n_neighbors", 0),
    ("neighbor map", "StressMap", "unit", 0.0),
    ("neighbor map", "LengthRules", "tolerance", "wide"),
    ("ldlc", "NeighborGraph", "n_nodes", 10**12),
    ("ldlc", "NeighborGraph", "n_nodes", 0),
    ("plml", "SpanningTree", "n_nodes", 3),
    ("ipa k-means", "PatchCover", "n_points", 3),
    ("ipa extended", "ExtendedMap", "maps", {"type": "tuple", "items": []}),
]


@pytest.fixture
def parts(tmp_path):
    def of(name):
        model = fitted(name) if isinstance(name, str) else name
        save(model, tmp_path / "model.iso")
        return take_apart((tmp_path / "model.iso").read_bytes())

    return of


@pytest.fixture
def refused(tmp_path):
    def check(header, arrays):
        (tmp_path / "model.iso").write_bytes(put_together(header, arrays))
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            load(tmp_path / "model.iso")

    return check


def fields_of(header, kind):
    return next(entry["fields"] for entry in header["objects"] if entry["kind"] == kind)


@pytest.mark.parametrize(("name", "kind", "field", "change"), ARRAYS)
def test_arrays_that_do_not_fit(name, kind, field, change, parts, refused):
    header, arrays = parts(name)
    reference = fields_of(header, kind)[field]
    arrays.append(change(arrays[reference["number"]].copy()))
    axes = header["arrays"][reference["number"]]["axes"]
    # Only this field has other numbers, though others may have shared the array.
    header["arrays"].append({"axes": axes})
    reference["number"] = len(arrays) - 1
    refused(header, arrays)


@pytest.mark.parametrize(("name", "kind", "field", "value"), VALUES)
def test_numbers_that_do_not_fit(name, kind, field, value, parts, refused):
    header, arrays = parts(name)
    fields_of(header, kind)[field] = value
    refused(header, arrays)


@pytest.mark.parametrize("place", [-1, 625, 10**6, 1.5, None])
def test_random_states_that_point_elsewhere(place, parts, refused):
    header, arrays = parts("ipa terms")
    fields_of(header, "IPA")["random_state"]["parts"][1] = place
    refused(header, arrays)


@pytest.mark.parametrize(("number", "change"), [(1, first(FAR)), (1, first(-1)), (2, filled(9))])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_matrices_that_point_elsewhere(form, number, change, parts, refused):
    model = OutOfSample.from_embedding(SMALL, SMALL[:, :2])
    model.search = sp.random_array((20, 20), density=0.1, rng=0).asformat(form)
    header, arrays = parts(model)
    reference = fields_of(header, "OutOfSample")["search"]["arrays"][number]
    at = reference["number"]
    arrays[at] = change(arrays[at].astype(np.int64))
    if form == "coo" and number == 2:
        arrays[at][...] = 20
    refused(header, arrays)


def test_charts_of_too_many_dimensions(parts, refused):
    header, arrays = parts("ipa k-means")
    r = 200
    atlas = fields_of(header, "Atlas")
    n, d, _ = arrays[atlas["axes"]["number"]].shape
    arrays[atlas["axes"]["number"]] = np.zeros((n, d, r))
    arrays[atlas["coefficients"]["number"]] = np.zeros((n, 1 + r + r * (r + 1) // 2, d))
    refused(header, arrays)


def test_a_model_is_fitted(parts, refused):
    header, arrays = parts("mvu")
    entry = {"kind": "IPA", "fields": {"n_components": 2}}
    refused(header | {"objects": [entry], "model": 0}, arrays)
    refused(header | {"model": 0}, arrays)


def test_threads_in_numbers_of_numpy(parts, refused):
    header, arrays = parts("mvu")
    many = {"type": "scalar", "dtype": "<i8", "bytes": np.int64(10**7).tobytes().hex()}
    fields_of(header, "MVU")["n_jobs"] = many
    refused(header, arrays)


def test_objects_that_look_at_one_array_again_and_again(parts, refused):
    # Each alone is sound, and takes time of the size of what it holds, not of its line.
    header, arrays = parts("mvu")
    points = {"type": "array", "number": len(arrays)}
    search = {"kind": "KDTreeSearch", "fields": {"points": points, "workers": 1}}
    objects = header["objects"] + [search] * 200
    refused(header | {"objects": objects}, [*arrays, np.zeros((100_000, 2))])


def test_objects_that_double_with_every_line(parts, refused):
    header, arrays = parts("mvu")
    objects, n = header["objects"], len(header["objects"])
    for last in range(n - 1, n + 30):
        twin = {"type": "object", "number": last}
        steps = [{"type": "tuple", "items": [word, twin]} for word in "ab"]
        fields = {"steps": steps}
        objects.append({"kind": "scikit-learn", "class": "pipeline.Pipeline", "fields": fields})
    refused(header, arrays)


def test_objects_that_are_nested_without_end(parts, refused):
    header, arrays = parts("mvu")
    objects, n = header["objects"], len(header["objects"])
    for last in range(n - 1, n + 100):
        fields = {"estimator": {"type": "object", "number": last}}
        entry = {"kind": "scikit-learn", "class": "frozen.FrozenEstimator", "fields": fields}
        objects.append(entry)
    refused(header, arrays)


@pytest.mark.parametrize("kind", ["set", "dict"])
def test_keys_chosen_to_collide(kind, parts, refused):
    # Multiples of Python's modulus all have the hash 0: a table of them takes time of its square.
    header, arrays = parts("mvu")
    keys = [number * sys.hash_info.modulus for number in range(60_000)]
    items = keys if kind == "set" else [[key, 0] for key in keys]
    fields_of(header, "MVU")["solver"] = {"type": kind, "items": items}
    refused(header, arrays)
