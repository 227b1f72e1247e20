"""Shapes are recognized, and shapes that only look like them are not."""

import numpy as np
import pytest

from isofold import datasets
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.survey import recognize_shapes
from support.quick import quick_first

SHEET = (9.0, 5.0)


def bent(flat):
    """Bend a sheet of length 9 to an S of radius 1.5."""
    t = (flat[:, 0] - 4.5) / 1.5
    return np.column_stack((1.5 * np.sin(t), flat[:, 1], 1.5 * np.sign(t) * (np.cos(t) - 1)))


def holed_sheet(n, rng):
    flat = rng.uniform(size=(2 * n, 2)) * SHEET
    return bent(flat[np.hypot(*(flat - [4.5, 2.5]).T) > 1.5][:n])


def c_sheet(n, rng):
    flat = rng.uniform(size=(2 * n, 2)) * SHEET
    return bent(flat[(np.abs(flat[:, 1] - 2.5) > 0.8) | (flat[:, 0] < 2)][:n])


def dense_spots(n, rng):
    spots = np.array([[1.5, 1.5], [7.5, 3.5]])[rng.randint(2, size=n // 2)]
    dense = np.clip(spots + 0.3 * rng.normal(size=spots.shape), 0, SHEET)
    return bent(np.vstack((rng.uniform(size=(n - n // 2, 2)) * SHEET, dense)))


def arc(n, rng):
    angle = np.radians(300) * rng.uniform(size=n)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def sphere(n, rng):
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def lines(n, rng):
    return np.eye(3)[rng.randint(3, size=n)] * rng.uniform(size=(n, 1))


def blobs(n, rng):
    return 12 * np.eye(4)[rng.randint(4, size=n)] + rng.normal(size=(n, 4))


def comet(n, rng):
    ball = rng.normal(size=(n // 2, 3))
    ball *= rng.uniform(size=(n // 2, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1, keepdims=True)
    tail = np.column_stack((0.8 + 5 * rng.uniform(size=n - n // 2), np.zeros((n - n // 2, 2))))
    return np.vstack((ball, tail))


def generated(name, **options):
    return lambda n, rng: datasets.SYNTHETIC[name](n, random_state=rng, **options).X


CASES = {
    "circle": ("closed_curve", generated("circle"), 120),
    "cylinder": ("cylinder", generated("cylinder"), 300),
    "flat torus": ("torus", generated("flat_torus", extent=2 * np.pi), 500),
    "sphere": ("sphere", sphere, 250),
    "three lines": ("branching", lines, 150),
    "blobs": ("clusters", blobs, 160),
    "Gaussian": ("cloud", lambda n, rng: rng.normal(size=(n, 6)), 200),
    "line and ball": ("mixed_dimensions", comet, 240),
    "sheet with a hole": (None, holed_sheet, 240),
    "C-shaped sheet": (None, c_sheet, 240),
    "sheet with dense spots": (None, dense_spots, 240),
    "arc": (None, arc, 120),
}


def look_at(points, **options):
    graph = build_graph(points, n_neighbors=min(12, len(points) - 1), kind="mutual")
    return recognize_shapes(points[graph.sample_of_node], graph, **options)


def raised(flags):
    return [flag.code for flag in flags if flag.is_raised]


@pytest.mark.parametrize("name", CASES)
def test_only_the_shape_that_is_there_is_raised(name):
    expected, make, n = CASES[name]
    flags = look_at(make(n, np.random.RandomState(5)), random_state=0)
    assert raised(flags) == ([expected] if expected else [])
    for flag in flags:
        assert flag.is_raised == (flag.value > flag.limit)
        if flag.is_raised:
            assert flag.message().endswith(".")
            assert flag.advice().endswith(".")


def test_units_place_and_turn_do_not_matter():
    points = lines(120, np.random.RandomState(0))
    turn = np.linalg.qr(np.random.RandomState(1).normal(size=(3, 3)))[0]
    first, second = (look_at(p, random_state=0) for p in (points, 1e4 * points @ turn + 1e5))
    assert raised(first) == raised(second) == ["branching"]


def test_the_same_seed_gives_the_same_flags():
    points = np.random.RandomState(0).normal(size=(60, 5))
    first, second = (look_at(points, random_state=3) for _ in range(2))
    assert [str(flag) for flag in first] == [str(flag) for flag in second]


def test_a_graph_tells_without_places():
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    points = np.column_stack((np.cos(angle), np.sin(angle)))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    graph = build_graph(distances, n_neighbors=6, metric="precomputed")
    flags = recognize_shapes(None, graph, random_state=0)
    assert [f.code for f in flags] == ["closed_curve", "sphere", "branching"]
    assert raised(flags) == ["closed_curve"]


@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_an_outlier_makes_no_ring(d, seed):
    cloud = np.random.RandomState(seed).normal(size=(100, d))
    flags = look_at(np.vstack([cloud, np.full((1, d), 1e3)]), random_state=0)
    assert "closed_curve" not in raised(flags)


def test_a_cloud_encloses_nothing():
    # Random bits: the corners of a cube, which a complex of landmarks may find hollow.
    bits = np.random.RandomState(0).randint(2, size=(300, 12)).astype(float)
    assert raised(look_at(bits, random_state=0)) == ["cloud"]


def test_parts_are_looked_at_by_themselves():
    rng = np.random.RandomState(0)
    ring = generated("circle")(100, rng)
    flags = look_at(np.vstack((ring, rng.uniform(20, 21, size=(100, 2)))), random_state=0)
    assert raised(flags) == ["closed_curve"]
    assert "a part with 50% of the points" in flags[0].message()


def test_many_features_are_reduced():
    data = datasets.lift(datasets.circle(60, random_state=0), 150, noise=1e-3, random_state=0)
    assert raised(look_at(data.X.astype(np.float32), random_state=0)) == ["closed_curve"]


def test_large_data_are_contracted():
    points = generated("circle")(4200, np.random.RandomState(0))
    assert raised(look_at(points, random_state=0)) == ["closed_curve"]


@pytest.mark.parametrize("n", [2, 5, 10, 30, 40])
def test_few_points_raise_nothing_but_no_error(n):
    points = np.random.RandomState(0).uniform(size=(n, 2))
    assert raised(look_at(points, random_state=0)) == []


def test_a_single_place_has_no_shape():
    graph = build_graph(np.zeros((5, 3)))
    assert raised(recognize_shapes(np.zeros((1, 3)), graph)) == []


def test_points_of_another_graph_are_refused():
    graph = build_graph(np.arange(20.0)[:, None], n_neighbors=3)
    with pytest.raises(InvalidInputError, match=r"19 rows.*20 nodes"):
        recognize_shapes(np.arange(19.0)[:, None], graph)
