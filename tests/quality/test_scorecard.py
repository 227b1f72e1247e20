import numpy as np
import pytest
from sklearn.decomposition import PCA

from isofold import datasets, quality
from isofold.exceptions import InvalidInputError
from isofold.quality import scorecard

# Lengths of neighbors may come from the search or from a second subtraction.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def roll():
    return datasets.swiss_roll(400, random_state=0)


@pytest.fixture(scope="module")
def card(roll):
    labels = np.where(roll.truth[:, 0] > np.median(roll.truth[:, 0]), "<b>late</b>", "early")
    Y = PCA(2).fit_transform(roll.X)
    return scorecard(roll.X, Y, labels=labels, truth=roll.truth)


def test_every_line_equals_the_measure_alone(roll, card):
    X, Y = roll.X, PCA(2).fit_transform(roll.X)
    isometry = quality.local_isometry(X, Y)
    short = quality.summary(X, Y)
    alone = {
        "trustworthiness": quality.trustworthiness(X, Y),
        "continuity": quality.continuity(X, Y),
        "neighbor_error": quality.neighbor_error(X, Y),
        "mrre_input": quality.mean_relative_rank_error(X, Y),
        "mrre_embedding": quality.mean_relative_rank_error(X, Y, neighbors_of="embedding"),
        **{f"kept_{k}": 1 - quality.neighbor_error(X, Y, n_neighbors=k) for k in (5, 12, 50)},
        "rnx_area": quality.coranking_curve(X, Y).area,
        "length_ratio": isometry.ratio,
        "length_error_median": isometry.median,
        "length_error_p95": isometry.p95,
        "length_error_worst": isometry.worst,
        "length_error_scaled": short.scaled_length_error,
        "shown_length_error_median": quality.local_isometry(X, Y, neighbors_of="embedding").median,
        "shown_length_error_scaled": short.scaled_shown_length_error,
        "preservation_error": quality.preservation_error(X, Y),
        "stretch": quality.stretch(X, Y),
        "stress": quality.normalized_stress(X, Y),
        "stress_scaled": quality.normalized_stress(X, Y, scale=True),
        "shepard_correlation": quality.shepard_correlation(X, Y),
        "residual_variance": quality.residual_variance(X, Y),
        "triplet_accuracy": quality.triplet_accuracy(X, Y),
        "procrustes_measure": quality.procrustes_measure(X, Y),
        "procrustes_error": quality.procrustes_error(Y, roll.truth),
        "procrustes_error_scaled": quality.procrustes_error(Y, roll.truth, scale=True),
    }
    assert set(card) == {*alone, "one_nn_error"}
    for name, score in alone.items():
        assert float(card[name]) == pytest.approx(float(score), abs=ROUNDING), name


def test_prints_one_line_a_measure(card):
    lines = str(card).splitlines()
    assert lines[0] == "400 points in 2-D, 12 neighbors, all points"
    assert len(lines) == 4 + len(card)
    assert all(any(line.startswith(name + " ") for line in lines) for name in card)


def test_goes_to_pandas(card):
    frame = card.to_pandas()
    assert list(frame.index) == list(card)
    assert frame.loc["trustworthiness", "value"] == card["trustworthiness"]
    assert frame["exact"].all()


def test_goes_to_html(card):
    page = card.to_html()
    assert page.count("<tr>") == 1 + len(card)
    assert card._repr_html_() == page


def test_unknown_name_is_a_key_error(card):
    with pytest.raises(KeyError):
        card["beauty"]


def test_sampled_card_carries_intervals_and_repeats(roll):
    options = {"n_samples": 50, "random_state": 3}
    first = scorecard(roll.X, roll.truth, **options)
    second = scorecard(roll.X, roll.truth, n_jobs=2, **options)
    assert "50 sampled points" in str(first)
    assert str(first) == str(second)
    for name, score in first.items():
        low, high = score.interval
        assert low <= float(score) <= high, name
        assert np.isfinite(low), name


def test_auto_samples_large_data_only(roll):
    from isofold.quality.distances import compare
    from isofold.quality.scorecard import _budget

    def budget(n_points, n_features):
        X = np.zeros((n_points, n_features))
        return _budget("auto", compare(X, X[:, :2]))

    rows, sources = budget(15_000, 3)
    assert rows >= 15_000
    assert sources == 1333
    assert budget(10**6, 3) == (250, 32)
    assert budget(50_000, 900) == (500, 400)
    with pytest.raises(InvalidInputError, match="'auto'"):
        scorecard(roll.X, roll.truth, n_samples="all")


def test_precomputed_distances_leave_out_what_needs_coordinates(roll):
    X = roll.X[:100]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    by_points, by_distances = scorecard(X, X[:, :2]), scorecard(D, X[:, :2], metric="precomputed")
    assert set(by_points) - set(by_distances) == {"procrustes_measure"}
    for name, score in by_distances.items():
        assert float(score) == pytest.approx(float(by_points[name]), abs=1e-9), name
