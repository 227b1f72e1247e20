"""Measures: known answers, agreement with `isofold.quality`, and what cannot be measured."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.manifold import Isomap, SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import EAT, KernelLaplacianEigenmaps, LocalMDS, assess
from isofold.assessment import measure
from isofold.exceptions import InvalidInputError
from isofold.quality import coranking_curve, local_isometry, scorecard
from isofold.similarity import distances_from_kernel, kernel_from_distances

# Differences of coordinates of size one, and a quotient: a few units in the last place.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def square():
    return np.random.RandomState(0).uniform(size=(300, 2))


@pytest.fixture(scope="module")
def kept(square):
    return assess(square, square)


def middle_bin(ratios):
    """Return the number of the bin in whose middle the ratio 1 lies."""
    middles = 0.5 * (ratios.edges[:-1] + ratios.edges[1:])
    return int(np.abs(middles - 1.0).argmin())


class TestIdentity:
    def test_distances_are_true(self, kept):
        np.testing.assert_allclose(kept.distortion, 0.0, atol=ROUNDING)
        np.testing.assert_allclose(kept.near.before, kept.near.after, rtol=ROUNDING)
        assert kept.ratios.median == pytest.approx(1.0, abs=ROUNDING)
        assert kept.ratios.within_tenth == 1.0

    def test_all_ratios_are_in_the_bin_of_one(self, kept):
        counts = kept.ratios.counts
        assert counts[middle_bin(kept.ratios)] == counts.sum() == kept.near.indices.size

    def test_all_neighbors_are_kept_at_all_scales(self, kept):
        np.testing.assert_allclose(kept.curve.above_chance, 1.0, atol=ROUNDING)

    def test_pairs_are_on_the_diagonal(self, kept):
        counts = kept.shepard.counts
        assert counts.shape == (80, 80)
        np.testing.assert_allclose(
            kept.shepard.before_edges, kept.shepard.after_edges, rtol=ROUNDING
        )
        assert np.trace(counts) == counts.sum() == kept.shepard.n_pairs == 300 * 299 // 2
        assert not kept.shepard.is_sample

    def test_there_is_nothing_to_warn_of(self, kept):
        assert kept.diagnosis.is_sound
        assert kept.origin.method == "given coordinates"
        assert kept.patches is None


def test_a_map_of_twice_the_size_has_ratio_two(square):
    doubled = assess(square, 2.0 * square)
    assert doubled.ratios.median == pytest.approx(2.0, rel=ROUNDING)
    np.testing.assert_allclose(doubled.distortion, 1.0, rtol=1e-9)
    assert doubled.ratios.within_tenth == 0.0
    # Bins follow the median, so that the figure shows something.
    assert doubled.ratios.edges[-1] > 2.0
    assert doubled.ratios.counts.max() == doubled.ratios.counts.sum()
    assert np.trace(doubled.shepard.counts) == doubled.shepard.n_pairs
    assert "2 times as long" in doubled.diagnosis["other_unit"].text()


def test_a_tear_is_untrue_only_where_it_is(square):
    # The right half moves away: neighbor pairs across the middle are torn, all others are true.
    torn = square + np.where(square[:, :1] > 0.5, [[3.0, 0.0]], 0.0)
    found = assess(square, torn, n_neighbors=6)
    crosses = (square[:, 0] > 0.5)[:, None] != (square[:, 0] > 0.5)[found.near.indices]
    np.testing.assert_allclose(found.distortion[~crosses.any(axis=1)], 0.0, atol=1e-9)
    assert found.distortion[crosses.any(axis=1)].min() > 0.5
    assert found.ratios.counts[-1] == crosses.sum()


def test_measures_agree_with_quality(square):
    rng = np.random.RandomState(1)
    X = np.column_stack([square, 0.3 * rng.uniform(size=300)])
    found = assess(X, square, n_neighbors=8)
    card = scorecard(X, square, n_neighbors=8, random_state=0)
    assert {name: float(score) for name, score in found.card.items()} == {
        name: float(score) for name, score in card.items()
    }
    isometry = local_isometry(X, square, n_neighbors=8)
    np.testing.assert_array_equal(found.distortion, isometry.per_point)
    assert found.ratios.median == float(isometry.ratio)
    ratio = found.near.after / found.near.before
    assert found.ratios.within_tenth == np.mean(np.abs(ratio - 1.0) <= 0.1)
    np.testing.assert_array_equal(found.curve.kept, coranking_curve(X, square).kept)
    distances = squareform(pdist(X))
    np.testing.assert_allclose(found.near.before, np.sort(distances, axis=1)[:, 1:9], rtol=ROUNDING)


def test_the_spectrum_is_that_of_the_data(square):
    X = np.column_stack([3.0 * square[:, 0], square[:, 1], np.ones(300)])
    found = assess(X, square).spectrum
    np.testing.assert_allclose(
        found.fractions, PCA().fit(X).explained_variance_ratio_, atol=ROUNDING
    )
    assert found.n_components == 2
    assert "data" in found.source


def test_distances_give_what_points_give(square):
    distances = squareform(pdist(square))
    from_points, from_distances = (
        assess(square, square),
        assess(distances, square, metric="precomputed"),
    )
    np.testing.assert_array_equal(from_points.near.indices, from_distances.near.indices)
    np.testing.assert_array_equal(from_points.shepard.counts, from_distances.shepard.counts)
    assert "map" in from_distances.spectrum.source


def test_a_model_knows_that_it_was_given_distances(square):
    distances = squareform(pdist(square))
    found = assess(distances, Isomap(metric="precomputed").fit(distances))
    assert found.origin.method == "Isomap"
    np.testing.assert_allclose(
        found.near.before, np.sort(distances, axis=1)[:, 1:13], rtol=ROUNDING
    )


def test_a_pipeline_is_measured_by_its_last_step(square):
    pipeline = make_pipeline(StandardScaler(), Isomap()).fit(square)
    assert assess(square, pipeline).origin.method == "Isomap"


def test_many_pairs_are_sampled_without_copies_of_points(square, monkeypatch):
    monkeypatch.setattr(measure, "ALL_PAIRS", 100)
    monkeypatch.setattr(measure, "SAMPLED_PAIRS", 10**5)
    sampled = measure.count_pairs(square, square)
    assert sampled.is_sample
    assert sampled.n_pairs == 10**5
    assert np.trace(sampled.counts) == sampled.n_pairs
    everything = measure.count_pairs(square, square, random_state=1)
    # Where none is left out, fractions of 1e5 draws have standard deviations below 0.5/sqrt(1e5):
    # five of them, and twice, as both are drawn.
    fractions = [np.cumsum(d.counts.sum(axis=1)) / d.n_pairs for d in (sampled, everything)]
    assert np.abs(fractions[0] - fractions[1]).max() < 2 * 5 * 0.5 / np.sqrt(1e5)


class TestHardInput:
    @pytest.mark.parametrize("n", [4, 5, 6, 9])
    def test_few_points(self, n):
        X = np.random.RandomState(n).normal(size=(n, 3))
        found = assess(X, X[:, :2])
        assert found.card.n_neighbors == (n - 1) // 2
        assert np.isfinite(found.distortion).all()

    @pytest.mark.parametrize("n", [2, 3])
    def test_too_few_points(self, n):
        with pytest.raises(InvalidInputError, match=f"{n} rows: at least 4"):
            assess(np.eye(n), np.eye(n))

    def test_copies(self):
        places = np.random.RandomState(0).normal(size=(6, 3))
        X = np.repeat(places, 20, axis=0)
        # The twelve nearest are copies: more neighbors are looked at.
        found = assess(X, X)
        assert found.card.n_neighbors == 20
        assert found.ratios.median == pytest.approx(1.0, abs=ROUNDING)
        np.testing.assert_allclose(found.distortion, 0.0, atol=ROUNDING)

    def test_constant_columns(self, square):
        X = np.column_stack([square, np.zeros(300)])
        assert assess(X, square).ratios.within_tenth == 1.0

    def test_components_are_a_finding(self, square):
        X = np.concatenate([square, square + 100.0])
        (finding,) = assess(X, X).diagnosis.raised
        assert "into 2 components, the largest of 300 of 600 points" in finding.text()

    def test_a_constant_map_is_refused(self, square):
        with pytest.raises(InvalidInputError, match="coincide"):
            assess(square, np.zeros((300, 2)))

    def test_rows_must_match(self, square):
        with pytest.raises(InvalidInputError, match="X has 300 rows and embedding has 299"):
            assess(square, square[1:])

    def test_gaps_are_refused(self, square):
        broken = square.copy()
        broken[3, 1] = np.nan
        for pair in ((broken, square), (square, broken)):
            with pytest.raises(InvalidInputError, match="1 NaN"):
                assess(*pair)

    def test_sparse_distances_are_refused_with_advice(self, square):
        graph = sp.csr_array(squareform(pdist(square)))
        with pytest.raises(InvalidInputError, match=r"model\.plot\(\)"):
            assess(graph, square, metric="precomputed")

    def test_similarities_of_another_library_are_no_distances(self, square):
        kernel = np.exp(-(squareform(pdist(square[:60])) ** 2))
        spectral = SpectralEmbedding(affinity="precomputed", random_state=0).fit(kernel)
        with pytest.raises(InvalidInputError, match="table of similarities"):
            assess(kernel, spectral)

    def test_similarities_of_ours_mean_distances(self, square):
        some = square[:60] - square[:60].mean(axis=0)
        eat = EAT(kernel="precomputed", random_state=0)
        eat.embedding_ = some
        assert assess(some @ some.T, eat).ratios.within_tenth == 1.0
        assert assess(some, eat).ratios.within_tenth == 1.0

    def test_an_unfitted_model_has_no_map(self, square):
        with pytest.raises(NotFittedError, match="no embedding_"):
            assess(square, Isomap())

    def test_the_same_seed_gives_the_same_numbers(self, square, monkeypatch):
        monkeypatch.setattr(measure, "ALL_PAIRS", 100)
        monkeypatch.setattr(measure, "SAMPLED_PAIRS", 10**5)
        counts = [measure.count_pairs(square, square, random_state=0).counts for _ in range(2)]
        np.testing.assert_array_equal(*counts)


def test_a_model_of_a_kernel_is_measured_by_its_distances():
    points = np.random.RandomState(0).rand(60, 2)
    K = kernel_from_distances(squareform(pdist(points)), gamma=2.0)
    D = distances_from_kernel(K)
    scaling = LocalMDS(kernel="precomputed", random_state=0)
    for model in (scaling, KernelLaplacianEigenmaps(kernel="precomputed")):
        model.fit(K)
        found = assess(D, model, metric="precomputed").card.summary
        assert found == assess(D, model.embedding_, metric="precomputed").card.summary
