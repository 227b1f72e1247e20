"""IPA is loud: pieces, closed and curved data, noise and folds are named, sound maps are not."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from isofold import IPA, datasets
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import procrustes_error
from isofold.sdp import Status
from support.ipa_cases import embed_quietly, grid, rectangle, ring, torus
from support.quick import quick_first

# Half a thousand points on each roll: see SMALL in the tests of IPA.
SMALL = 0.01
# Pieces are pushed apart until a twentieth of the gap is missing at most.
OF_GAP = 0.95
# Straight data have no error but rounding.
ROUNDING = 1e-12


def doubtful(X, **parameters):
    """Return a fitted IPA and the one warning that it gave."""
    ipa = IPA(**{"random_state": 0, "n_jobs": 1, **parameters})
    with pytest.warns(DoubtfulMapWarning) as caught:
        ipa.fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    return ipa, str(caught[0].message)


def gaps_between_pieces(points, piece):
    numbers = range(piece.max() + 1)
    return {
        (i, j): cdist(points[piece == i], points[piece == j]).min()
        for i in numbers
        for j in numbers
        if i < j
    }


# Pieces


@pytest.fixture(scope="module")
def two_rolls():
    return datasets.parallel_swiss_rolls(1000, random_state=0)


@pytest.fixture(scope="module")
def mapped_rolls(two_rolls):
    return doubtful(two_rolls.X)


def test_pieces_are_found_and_told(two_rolls, mapped_rolls):
    ipa, message = mapped_rolls
    np.testing.assert_array_equal(np.bincount(ipa.component_), [500, 500])
    for label in (0, 1):
        assert len(np.unique(ipa.component_[two_rolls.labels == label])) == 1
    assert [flag.code for flag in ipa.diagnosis_.raised] == ["components"]
    assert "2 components of 500, 500 points" in message
    assert "bridges_" in message


def test_each_piece_is_true_in_itself(two_rolls, mapped_rolls):
    ipa, _ = mapped_rolls
    for label in (0, 1):
        own = two_rolls.labels == label
        assert procrustes_error(ipa.embedding_[own], two_rolls.truth[own]) < SMALL


def test_pieces_are_as_far_apart_as_in_the_data(two_rolls, mapped_rolls):
    ipa, _ = mapped_rolls
    on_map = gaps_between_pieces(ipa.embedding_, ipa.component_)
    in_data = gaps_between_pieces(two_rolls.X, ipa.component_)
    assert on_map[0, 1] >= OF_GAP * in_data[0, 1]
    # A gap of 10 between sheets 30 wide: the rolls do not stray from each other either.
    assert on_map[0, 1] <= 3 * in_data[0, 1]


def test_bridges_are_recorded(two_rolls, mapped_rolls):
    ipa, _ = mapped_rolls
    assert ipa.bridges_.shape[1] == 2
    assert len(ipa.bridges_) >= 1
    assert (ipa.component_[ipa.bridges_[:, 0]] != ipa.component_[ipa.bridges_[:, 1]]).all()
    first, second = two_rolls.X[ipa.bridges_.T]
    shortest = gaps_between_pieces(two_rolls.X, ipa.component_)[0, 1]
    assert np.linalg.norm(first - second, axis=1).min() == pytest.approx(shortest)


def test_intervals_of_a_line_keep_their_gaps():
    # Along a line paths over bridges are straight, so that all distances are known.
    intervals = [(80, 0.0, 10.0), (50, 14.0, 6.0), (40, 25.0, 4.0)]
    line = np.concatenate([start + rectangle(n, (side,)) for n, start, side in intervals])
    direction = np.array([[2.0, -1.0, 2.0]]) / 3
    ipa, _ = doubtful(line @ direction, n_components=1)
    assert procrustes_error(ipa.embedding_, line) < ROUNDING
    np.testing.assert_array_equal(np.bincount(ipa.component_), [80, 50, 40])


def test_sheets_that_face_each_other_lie_side_by_side():
    lower, upper = rectangle(250, (2.0, 1.0)), rectangle(200, (2.0, 1.0), seed=1)
    X = np.concatenate([np.pad(lower, ((0, 0), (0, 1))), np.insert(upper, 2, 0.5, axis=1)])
    ipa, _ = doubtful(X)
    assert gaps_between_pieces(ipa.embedding_, ipa.component_)[0, 1] >= OF_GAP * 0.5
    assert procrustes_error(ipa.embedding_[:250], lower) < ROUNDING
    assert procrustes_error(ipa.embedding_[250:], upper) < ROUNDING


def test_many_pieces():
    corners = 4.0 * grid(3, 4)
    rng = np.random.RandomState(0)
    flat = [corner + rng.uniform(size=(40, 2)) for corner in corners]
    X = np.pad(np.concatenate(flat), ((0, 0), (0, 1)))
    ipa, message = doubtful(X, n_neighbors=8)
    assert ipa.component_.max() == 11
    assert "12 components of 40, 40, 40, 40, 40, … points" in message
    assert min(gaps_between_pieces(ipa.embedding_, ipa.component_).values()) >= OF_GAP * 3.0
    for start in range(0, 480, 40):
        own = slice(start, start + 40)
        assert procrustes_error(ipa.embedding_[own], X[own, :2]) < 1e-9


def test_new_points_belong_to_the_nearest_piece(two_rolls, mapped_rolls):
    ipa, _ = mapped_rolls
    new = datasets.parallel_swiss_rolls(300, random_state=5)
    images = ipa.transform(new.X)
    for label in (0, 1):
        distances = cdist(images[new.labels == label], ipa.embedding_)
        assert (two_rolls.labels[distances.argmin(axis=1)] == label).all()


# Closed, curved and hopeless data


def test_circle_needs_a_second_dimension():
    ipa, message = doubtful(ring(200), n_components=1)
    closure = ipa.diagnosis_["closure"]
    assert closure.is_raised
    assert "n_components=2" in closure.advice()
    assert closure.advice() in message
    # Both axes of a circle hold half the variance, and one of them is cut off.
    assert ipa.discarded_variance_ratio_ == pytest.approx(0.5, abs=0.05)
    assert len(ipa.spectrum_) > 1
    assert ipa.solution_.status is not Status.CERTIFIED


def test_circle_in_two_dimensions_is_sound():
    X = ring(200)
    ipa = IPA(random_state=0)
    assert procrustes_error(ipa.fit_transform(X), X) < ROUNDING


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_cylinder_needs_a_third_dimension(seed):
    ipa, message = doubtful(datasets.cylinder(600, random_state=seed).X)
    assert ipa.diagnosis_["closure"].is_raised
    assert "n_components=3" in ipa.diagnosis_["closure"].advice()
    assert "closed" in message


def test_torus_needs_a_fourth_dimension():
    ipa, message = doubtful(torus(800))
    assert ipa.diagnosis_["closure"].is_raised
    assert "n_components=4" in ipa.diagnosis_["closure"].advice()
    assert "closed" in message


@pytest.mark.parametrize("angle", quick_first([25.0, 45.0]))
def test_cap_cannot_be_flat(angle):
    data = datasets.spherical_cap(700, angle=angle, random_state=0)
    ipa, message = doubtful(data.X)
    flag = ipa.diagnosis_["curvature"]
    assert flag.is_raised
    assert f"about {flag.value:.1%} of them is lost" in message
    # The unit sphere has K = 1, and a cap of the area of a disk var(Y) = 1 - cos(angle).
    assert flag.value == pytest.approx((1 - np.cos(np.radians(angle))) / 8, rel=0.25)


def test_small_cap_is_flat_enough():
    data = datasets.spherical_cap(700, angle=10.0, random_state=0)
    ipa = IPA(random_state=0).fit(data.X)
    assert 0.0 < ipa.diagnosis_["curvature"].value < ipa.diagnosis_["curvature"].limit


def test_half_globe():
    ipa, _ = doubtful(datasets.half_globe(500, random_state=0).X)
    assert ipa.diagnosis_["curvature"].is_raised


@pytest.mark.slow
def test_saddles_and_peaks_are_curved_though_not_on_average():
    ipa, _ = doubtful(datasets.twin_peaks(500, random_state=0).X)
    assert {"misfit", "certificate"} <= {flag.code for flag in ipa.diagnosis_.raised}


@pytest.mark.parametrize("d", [3, 5, 20])
def test_cloud_is_no_sheet(d):
    X = np.random.RandomState(0).normal(size=(400, d))
    ipa, message = doubtful(X)
    assert {"projected", "unstitched"} & {flag.code for flag in ipa.diagnosis_.raised}
    assert ipa.diagnosis_["noise"].is_raised
    assert "no tangent of this dimension stands out" in message
    assert ipa.solution_ is None


def test_digits_are_no_sheet():
    ipa, message = doubtful(load_digits().data[:250])
    assert ipa.diagnosis_["misfit"].is_raised or ipa.diagnosis_["projected"].is_raised
    assert message == ipa.diagnosis_.summary()


def test_too_few_points_for_the_folds():
    ipa, _ = doubtful(datasets.holed_swiss_roll(80, random_state=0).X)
    assert {"bending", "misfit", "error", "projected"} & {f.code for f in ipa.diagnosis_.raised}


@pytest.mark.parametrize(
    ("make", "r"), [(datasets.holed_swiss_roll, 2), (datasets.s_curve, 2), (datasets.spiral, 1)]
)
def test_sound_map(make, r):
    # A warning would be an error.
    ipa = IPA(n_components=r, random_state=0).fit(make(700, random_state=3).X)
    assert ipa.diagnosis_.is_sound
    assert ipa.diagnosis_.raised == ()
    assert "No doubt" in ipa.diagnosis_.summary()
    assert "!" not in str(ipa.diagnosis_)


@pytest.mark.parametrize(
    "X",
    [grid(), datasets.s_curve(300, random_state=0).X, datasets.s_curve(60, random_state=0).X],
    ids=["grid", "sheet", "few points"],
)
def test_a_flag_is_raised_beyond_its_limit_and_only_there(X):
    ipa = IPA(random_state=0)
    embed_quietly(ipa, X)
    for flag in ipa.diagnosis_.findings:
        assert flag.is_raised == (flag.value > flag.limit), flag
