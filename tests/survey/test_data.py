"""The survey counts what is there, and says so."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from isofold import datasets
from isofold.neighbors import levina_bickel_dimension
from isofold.survey import data, recognize_shapes, survey_samples
from support.helpers import texts


def survey(X, **how):
    return survey_samples(X, random_state=0, n_jobs=1, **how)


def cube(n, d, seed=0):
    return np.random.RandomState(seed).uniform(size=(n, d))


def turned(X, d, seed=0):
    """Return points in more dimensions."""
    axes = np.linalg.qr(np.random.RandomState(seed).normal(size=(d, X.shape[1])))[0]
    return X @ axes.T


@pytest.fixture(autouse=True)
def no_shapes(monkeypatch):
    # Shapes have tests of their own, and take most of the time.
    monkeypatch.setattr(data, "recognize_shapes", lambda *_, **__: ())


def test_counts_and_copies():
    X = np.vstack([cube(60, 3), cube(60, 3)[:7], cube(60, 3)[:2]])
    seen = survey(X)
    assert (seen.n_samples, seen.n_features, seen.n_looked_at, seen.n_copies) == (69, 3, 69, 9)
    assert sum(part.n_samples for part in seen.parts) == 69
    words = " ".join(texts(seen.notes))
    assert "69 samples with 3 features." in words
    assert "9 are copies of others." in words


@pytest.mark.parametrize(("r", "d"), [(1, 4), (2, 5), (3, 3), (0, 4)])
def test_rank(r, d):
    X = turned(cube(50, r), d) + 3.0
    seen = survey(X)
    assert seen.rank == r
    assert (f"(of rank {r})" in texts(seen.notes)[0]) == (r < d)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("r", [1, 2, 4])
def test_dimension(r, unit):
    X = unit * turned(cube(400, r), 12)
    seen = survey(X)
    assert seen.dimension == pytest.approx(levina_bickel_dimension(X).value, rel=0.03)
    # The estimate of a cube falls short by its border.
    assert 0.8 * r <= seen.dimension <= 1.1 * r
    assert seen.suggested_dimension == r
    assert [part.n_samples for part in seen.parts] == [400]
    assert seen.parts[0].dimension == pytest.approx(seen.dimension)


def test_noise_beyond_a_gap():
    X = turned(cube(400, 2), 8)
    noisy = X + 0.01 * np.random.RandomState(1).normal(size=X.shape)
    part = survey(noisy).parts[0]
    assert part.gap_dimension == 2
    # A neighborhood of 30 of 400 points of the unit square is a disk of radius √(30/400π) = .15,
    # with a standard deviation of half of it along each axis, .077; noise has .01.
    assert 0.05 < part.noise < 0.3
    assert survey(X).parts[0].noise < 1e-10
    assert survey(np.random.RandomState(0).normal(size=(300, 6))).parts[0].gap_dimension is None


def test_parts_are_the_largest_first_and_have_their_own_dimension():
    line = np.column_stack([cube(60, 1), np.zeros((60, 3))])
    X = np.vstack([line, 50.0 + turned(cube(200, 2), 4)])
    seen = survey(X)
    assert [part.n_samples for part in seen.parts] == [200, 60]
    assert [round(part.dimension) for part in seen.parts] == [2, 1]
    assert "They fall into 2 components of 200, 60 samples" in " ".join(texts(seen.notes))


def test_outliers_are_counted():
    X = cube(200, 2)
    assert survey(X).n_outliers == 0
    far = np.array([[9.0, 9.0], [-8.0, 3.0], [4.0, -12.0]])
    seen = survey(np.vstack([X, far]))
    assert seen.n_outliers + sum(part.n_samples == 1 for part in seen.parts) >= 3


def test_sampling_tells_even_from_uneven():
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(15.0)), axis=2).reshape(-1, 2)
    assert survey(grid).sampling == pytest.approx(1.0)
    even, uneven = cube(300, 1), cube(300, 1) ** 4
    assert survey(uneven).sampling > 3 * survey(even).sampling


def test_distances_are_surveyed_as_points():
    X = turned(cube(150, 2), 10)
    X = np.vstack([X, X[:3]])
    points, distances = survey(X), survey(squareform(pdist(X)), metric="precomputed")
    assert (distances.n_features, distances.rank) == (None, None)
    assert texts(distances.notes)[0] == "The data have 153 samples, given by their distances."
    assert distances.n_copies == points.n_copies == 3
    assert distances.dimension == pytest.approx(points.dimension)
    assert distances.sampling == pytest.approx(points.sampling)
    assert [part.n_samples for part in distances.parts] == [153]


def test_known_distances_are_surveyed_as_they_are():
    D = squareform(pdist(cube(120, 2)))
    near = sp.csr_array(np.where(D < 0.2, D, 0.0))
    seen = survey(near, metric="precomputed")
    assert seen.n_samples == seen.n_looked_at == 120
    assert seen.rank is None
    assert 1.0 < seen.dimension < 3.5


def test_large_data_are_looked_at_through_a_sample():
    X = turned(cube(400, 2), 10)
    seen = survey(X, max_samples=150)
    assert (seen.n_samples, seen.n_looked_at) == (400, 150)
    assert "150 of them, drawn at random, were examined." in texts(seen.notes)
    assert seen.suggested_dimension == 2
    again = survey(squareform(pdist(X)), metric="precomputed", max_samples=150)
    assert (again.n_samples, again.n_looked_at) == (400, 150)
    # The same rows are drawn.
    assert again.dimension == pytest.approx(seen.dimension)


def test_the_same_seed_sees_the_same():
    X = cube(300, 3)
    one, two, other = (survey_samples(X, max_samples=100, random_state=s) for s in (0, 0, 1))
    assert texts(one.notes) == texts(two.notes)
    assert one.dimension == two.dimension != other.dimension


@pytest.mark.parametrize("n", [2, 3, 4, 6, 12, 31])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_few_samples(n, d):
    X = np.random.RandomState(n).normal(size=(n, d))
    seen = survey(X)
    assert seen.n_samples == n
    assert seen.rank == min(n - 1, d)
    assert seen.suggested_dimension >= 1
    assert all(texts(seen.notes))


@pytest.mark.parametrize("n", [2, 5, 60])
def test_constant_data(n):
    seen = survey(np.full((n, 3), 7.0))
    assert (seen.n_copies, seen.rank, seen.n_outliers) == (n - 1, 0, 0)
    assert [part.n_samples for part in seen.parts] == [n]
    assert np.isnan(seen.dimension)
    assert seen.suggested_dimension == 1
    assert not seen.raised
    zeros = survey(np.zeros((n, n)), metric="precomputed")
    assert zeros.n_copies == n - 1


def test_single_precision():
    X = turned(cube(200, 2), 5)
    single = survey(X.astype(np.float32))
    assert single.rank == 2
    assert single.dimension == pytest.approx(survey(X).dimension, rel=1e-3)


def test_shapes_are_told(monkeypatch):
    monkeypatch.setattr(data, "recognize_shapes", recognize_shapes)
    angle = np.linspace(0.0, 2 * np.pi, 80, endpoint=False)
    seen = survey(np.column_stack([np.cos(angle), np.sin(angle)]))
    assert len(seen.raised) == 1
    assert seen.raised[0].code == "closed_curve"
    flat = survey(datasets.swiss_roll(300, width=8.0, uniform=True, random_state=0).X)
    assert flat.shapes
    assert flat.raised == ()


def test_equal_lengths_tell_no_dimension():
    # A path whose edges all have length 1, as many graphs of links.
    ends = np.arange(99)
    lengths = sp.csr_array((np.ones(99), (ends, ends + 1)), shape=(100, 100))
    seen = survey(lengths + lengths.T, metric="precomputed")
    assert np.isnan(seen.dimension)
    assert "dimensional" not in " ".join(texts(seen.notes))


def test_pieces_are_told_with_their_dimensions():
    line = np.column_stack([np.linspace(0.0, 1.0, 100), np.zeros((100, 2))])
    block = 10.0 + cube(300, 3)
    seen = survey(np.vstack([line, block]))
    words = " ".join(texts(seen.notes))
    assert len(seen.parts) == 2
    assert f"(by component: {seen.parts[0].dimension:.1f}, {seen.parts[1].dimension:.1f})" in words
    assert "Distances between components mean little" in words
