import pickle

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.quality import Score
from isofold.quality.score import RowSample, draw_rows, mean_score, moment_score, quantile_scores
from support.quick import quick_first

# The interval is nominally 99 %: of 1000 trials fewer than 980 hits has probability 0.2 %
# (binomial, 3.2 standard deviations of 3.1), leaving room for the skewness the docstring admits.
N_TRIALS, MIN_HITS = 1000, 975


def hits(values, estimate, exact, *, m=200):
    found = 0
    for seed in range(N_TRIALS):
        sample = draw_rows(len(values), m, seed)
        low, high = estimate(values[sample.indices], sample).interval
        found += low <= exact <= high
    return found


def test_mean_interval_covers():
    values = np.random.RandomState(0).exponential(size=5000)
    assert hits(values, mean_score, values.mean()) >= MIN_HITS


@pytest.mark.parametrize("n_affected", quick_first([1, 5, 40, 400]))
def test_mean_interval_covers_rare_losses(n_affected):
    # Noise everywhere, and a loss at a few points that most samples miss.
    values = 1 - 1e-6 * np.random.RandomState(0).rand(5000)
    values[:n_affected] -= 0.5
    assert hits(values, lambda v, s: mean_score(v, s, bounds=(0, 1)), values.mean()) >= MIN_HITS


@pytest.mark.parametrize("n_affected", quick_first([1, 5, 40, 400]))
def test_evidence_finds_rare_losses(n_affected):
    rng = np.random.RandomState(0)
    values = 1 - 1e-6 * rng.rand(5000)
    affected = rng.choice(5000, n_affected, replace=False)
    values[affected] -= 0.5 * rng.rand(n_affected)
    evidence = (1 - values) * np.exp(0.5 * rng.standard_normal(5000))  # right but for a factor
    moments = np.column_stack([values, np.ones(5000)])

    def ratio(m):
        return m[..., 0] / m[..., 1]

    found = {"mean": 0, "ratio": 0}
    widths = []
    for seed in range(200):
        sample = draw_rows(5000, 200, seed, evidence=evidence)
        mean = mean_score(values[sample.indices], sample, bounds=(0, 1))
        found["mean"] += mean.interval[0] <= values.mean() <= mean.interval[1]
        low, high = moment_score(moments[sample.indices], ratio, sample).interval
        found["ratio"] += low <= values.mean() <= high
        widths.append(mean.interval[1] - mean.interval[0])
    # Nominally 198 of 200; fewer than 190 has probability 1e-4 at a true coverage of 98 %.
    assert found["mean"] >= 190
    # If all affected points fit into the suspicious half, nothing is left to chance but noise.
    if n_affected <= 40:
        assert found["ratio"] >= 190
        assert max(widths) < 1e-6


def test_sample_with_evidence_weighs_every_point_once():
    sample = draw_rows(1000, 100, 0, evidence=np.arange(1000.0))
    assert sample.weights.sum() == pytest.approx(1.0)
    assert set(range(950, 1000)) <= set(sample.indices)
    assert sample.mean(np.ones(100)) == pytest.approx(1.0)
    assert sample.n_by_chance == 50
    assert sample.n_eligible == 950


def test_unanimous_sample_admits_what_it_may_have_missed():
    # (1 − 1/10)^(pn) = 1 % at pn = 43.7 affected points of 1000.
    score = mean_score(np.ones(100), draw_rows(1000, 100, 0), bounds=(0, 1))
    assert score.interval == pytest.approx((1 - 0.0437, 1.0), abs=1e-4)


def test_ratio_interval_covers():
    rng = np.random.RandomState(0)
    below = rng.gamma(4.0, size=5000)
    moments = np.column_stack([below * rng.gamma(9.0, size=5000), below])

    def ratio(m):
        return m[..., 0] / m[..., 1]

    exact = ratio(moments.mean(axis=0))
    assert hits(moments, lambda v, s: moment_score(v, ratio, s), exact) >= MIN_HITS


@pytest.mark.parametrize("level", quick_first([0.5, 0.95]))
def test_quantile_interval_covers(level):
    # Values of one point resemble each other, as the lengths around one point do.
    rng = np.random.RandomState(0)
    values = rng.standard_normal((5000, 1)) + 0.5 * rng.standard_normal((5000, 12))
    exact = np.quantile(values, level)
    assert hits(values, lambda v, s: quantile_scores(v, (level,), s)[0], exact) >= MIN_HITS


def test_finite_population_narrows_the_interval_to_nothing():
    values = np.arange(100.0)
    sample = RowSample(np.arange(99), 100)
    low, high = mean_score(values[:99], sample).interval
    wide = mean_score(values[:99], RowSample(np.arange(99), 10**9)).interval
    assert high - low == pytest.approx(0.1 * (wide[1] - wide[0]), rel=1e-6)


def test_score_is_a_float_with_memory():
    sample = draw_rows(50, 20, 0)
    score = mean_score(np.linspace(0, 1, 20), sample, bounds=(0, 1))
    assert isinstance(score, float)
    assert score + 0.5 == 1.0
    assert f"{score:.2f}" == "0.50"
    assert "20 of 50 points" in repr(score)
    assert repr(Score(0.25)) == "Score(0.25)"
    assert str(Score(0.25)) == "0.25"
    again = pickle.loads(pickle.dumps(score))  # noqa: S301 (our own bytes)
    assert again == score
    assert again.interval == score.interval
    np.testing.assert_array_equal(again.rows, score.rows)


def test_bounds_clip_the_interval():
    sample = draw_rows(1000, 20, 0)
    score = mean_score(np.array([1.0] * 19 + [0.0]), sample, bounds=(0, 1))
    assert score.interval[1] == 1.0


def test_same_seed_same_rows():
    np.testing.assert_array_equal(draw_rows(99, 20, 5).indices, draw_rows(99, 20, 5).indices)
    assert draw_rows(99, 200, 5).exact


@pytest.mark.parametrize("n_samples", [0, 3, -1, 2.5, True, "many"])
def test_bad_sample_sizes_are_named(n_samples):
    with pytest.raises(InvalidInputError, match="n_samples"):
        draw_rows(100, n_samples, 0)
