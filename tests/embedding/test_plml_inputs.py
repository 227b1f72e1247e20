"""PLML on awkward and on wrong input: no crash, no NaN, and words that help."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

from isofold import PLML, Cover, datasets
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning, InvalidInputError
from isofold.quality import procrustes_error
from support.helpers import assert_equal_up_to_rigid_motion

# Some dozen rotations one after the other, of numbers of size ten.
EXACT = 1e-9
SINGLE = 1e-5


def model(**parameters):
    return PLML(**{"random_state": 0, "n_jobs": 1, **parameters})


def arc(n, seed=0):
    """Return points of an arc of a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(seed).uniform(size=(n, 2)) * [6.0, 3.0]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]]), flat


SHEET, FLAT = arc(200)
BOXES = np.floor(FLAT).astype(int) @ [3, 1]


def quiet_fit(plml, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return plml.fit(X)


def assert_sound(plml, X):
    assert plml.embedding_.shape == (len(X), plml.n_components)
    assert np.isfinite(plml.embedding_).all()
    assert np.isfinite(plml.distortion_).all()
    assert np.isfinite(plml.misfit_).all()
    assert np.isfinite(plml.angles_).all()
    assert plml.labels_.shape == plml.component_.shape == (len(X),)
    np.testing.assert_array_equal(plml.transform(X), plml.embedding_)


# Few samples


@pytest.mark.parametrize("n", range(2, 13))
@pytest.mark.parametrize(
    "options", [{}, {"cell_size": 3, "n_neighbors": 1}, {"n_components": 1, "cell_size": 2}]
)
def test_few_samples(n, options):
    X = np.random.RandomState(n).normal(size=(n, 3))
    for merge in ("parallel", "parallel_projections", "orthogonal"):
        assert_sound(quiet_fit(model(merge=merge, **options), X), X)
    assert_sound(quiet_fit(model(refine=True, **options), X), X)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
@pytest.mark.parametrize("clustering", ["mst", "gmm"])
def test_few_samples_by_other_clusterings(n, clustering):
    X = np.random.RandomState(n).normal(size=(n, 3))
    assert_sound(quiet_fit(model(clustering=clustering, cell_size=3), X), X)


def test_two_samples_are_as_far_apart_as_before():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 2.0]])
    plml = model(n_components=1).fit(X)
    np.testing.assert_allclose(np.sort(plml.embedding_[:, 0]), [-1.5, 1.5], atol=EXACT)
    with pytest.warns(DoubtfulMapWarning, match="1 of 1 cells span fewer than 2 dimensions"):
        plml = model().fit(X)
    assert np.linalg.norm(np.diff(plml.embedding_, axis=0)) == pytest.approx(3.0)


def test_one_sample_and_one_place_are_refused():
    with pytest.raises(InvalidInputError, match="1 sample"):
        model().fit(np.zeros((1, 3)))
    with pytest.raises(InvalidInputError, match="All 5 samples are the same"):
        model().fit(np.ones((5, 3)))


# Dimensions


@pytest.mark.parametrize("q", [1, 2, 3])
def test_as_many_components_as_features(q):
    X = np.random.RandomState(0).normal(size=(80, q))
    plml = model(n_components=q, cell_size=8).fit(X)
    assert_equal_up_to_rigid_motion(plml.embedding_, X, atol=EXACT)
    np.testing.assert_allclose(plml.inverse_transform(plml.embedding_), X, atol=EXACT)


@pytest.mark.parametrize(("n", "d"), [(12, 60), (40, 200)])
def test_more_features_than_samples(n, d):
    X = np.random.RandomState(0).normal(size=(n, d))
    assert_sound(quiet_fit(model(cell_size=10), X), X)
    # A plane in so many dimensions is as good as any.
    flat = np.random.RandomState(1).normal(size=(n, 2))
    axes = np.linalg.qr(np.random.RandomState(2).normal(size=(d, 2)))[0]
    assert_equal_up_to_rigid_motion(
        model(cell_size=5).fit(flat @ axes.T).embedding_, flat, atol=EXACT
    )


def test_more_components_than_features_are_refused():
    with pytest.raises(InvalidInputError, match="n_components=4, but X has 3 feature"):
        model(n_components=4).fit(SHEET)


# Degenerate data


def test_points_of_a_line_are_told_and_kept():
    X = np.sort(np.random.RandomState(0).uniform(size=60))[:, None] * [[1.0, 2.0, 2.0]]
    with pytest.warns(DoubtfulMapWarning, match="1 of 1 cells span fewer than 2 dimensions"):
        plml = model(cell_size=6).fit(X)
    assert_sound(plml, X)
    assert_equal_up_to_rigid_motion(plml.embedding_, X, atol=EXACT)


def test_labels_whose_pieces_are_lines_are_joined():
    # Columns of a grid have no planes, but any two of them have one.
    grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(6.0)), axis=2).reshape(-1, 2)
    X = np.pad(grid, ((0, 0), (0, 1)))
    plml = model(clustering=Cover.labels(grid[:, 0].astype(int)), n_neighbors=4).fit(X)
    assert (plml.planes_.ranks == 2).all()
    assert plml.labels_.max() + 1 == 4
    assert_equal_up_to_rigid_motion(plml.embedding_, grid, atol=EXACT)


def test_a_label_for_every_sample():
    plml = quiet_fit(model(clustering=Cover.labels(np.arange(200))), SHEET)
    assert_sound(plml, SHEET)
    assert (plml.planes_.ranks == 2).all()


def test_copies_of_samples_change_nothing():
    order = np.random.RandomState(0).permutation(270)
    chosen = np.concatenate([np.arange(200), np.arange(50), np.arange(20)])[order]
    one = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    many = model(clustering=Cover.labels(BOXES[chosen])).fit(SHEET[chosen])
    # Principal axes and the center count copies no more than once.
    np.testing.assert_allclose(np.abs(many.embedding_), np.abs(one.embedding_[chosen]), atol=EXACT)
    assert len(many.node_samples_) == 200
    for row in range(5):
        same = np.flatnonzero(chosen == row)
        assert len(np.unique(many.embedding_[same], axis=0)) == 1


def test_constant_columns_change_nothing():
    wide = np.column_stack([np.full(200, 7.0), SHEET, np.zeros(200)])
    one, other = (
        model(clustering=Cover.labels(BOXES)).fit(SHEET),
        model(clustering=Cover.labels(BOXES)).fit(wide),
    )
    assert_equal_up_to_rigid_motion(other.embedding_, one.embedding_, atol=EXACT)


def test_a_grid_with_its_equal_distances():
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(10.0)), axis=2).reshape(-1, 2)
    for clustering in ("balanced", "mst"):
        plml = model(clustering=clustering, cell_size=9).fit(np.pad(grid, ((0, 0), (0, 2))))
        assert_equal_up_to_rigid_motion(plml.embedding_, grid, atol=EXACT)


def test_noise_without_a_plane_is_doubted():
    X = np.random.RandomState(0).normal(size=(200, 6))
    with pytest.warns(DoubtfulMapWarning, match="meet at more than 80°"):
        plml = model(cell_size=6).fit(X)
    assert_sound(plml, X)
    assert plml.angles_.max() > 80


# Units and precision


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units(unit):
    plml = model(cell_size=9).fit(unit * SHEET)
    assert procrustes_error(plml.embedding_ / unit, FLAT) < 0.03
    assert plml.n_cuts_ == 0


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_out_of_range_are_refused(unit):
    with pytest.raises(InvalidInputError, match="Squared distances leave the range"):
        model().fit(unit * SHEET)


def test_far_from_the_origin():
    plml = model(clustering=Cover.labels(BOXES)).fit(SHEET + 1e6)
    # Coordinates there are known to 1e-10.
    near = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    assert_equal_up_to_rigid_motion(plml.embedding_, near.embedding_, atol=1e-7)


def test_single_precision_is_kept():
    narrow = model(clustering=Cover.labels(BOXES)).fit(SHEET.astype(np.float32))
    wide = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    assert narrow.embedding_.dtype == np.float32
    assert_equal_up_to_rigid_motion(narrow.embedding_, wide.embedding_, atol=SINGLE * 10)
    back = narrow.inverse_transform(narrow.embedding_)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, wide.inverse_transform(wide.embedding_), atol=SINGLE * 10)


# Sizes of pieces, clusterings


@pytest.mark.parametrize("cell_size", [200, 201, 10_000])
def test_one_piece_is_principal_components(cell_size):
    X = SHEET[:, :2] * [1.0, 0.1]
    plml = model(cell_size=cell_size).fit(np.column_stack([X, SHEET[:, 2]]))
    assert plml.planes_.n_cells == 1
    assert plml.tree_.shape == (0, 2)
    centered = np.column_stack([X, SHEET[:, 2]]) - plml.planes_.means[0]
    scores = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    assert_equal_up_to_rigid_motion(plml.embedding_, scores, atol=EXACT)


def test_pieces_have_their_size():
    for cell_size in (4, 9, 30):
        plml = model(cell_size=cell_size).fit(SHEET)
        sizes = np.bincount(plml.labels_)
        assert plml.cell_size_ == cell_size
        assert sizes.min() >= max(3, (cell_size + 1) // 2)
        assert len(sizes) <= 200 // cell_size


def test_the_size_of_pieces_is_chosen():
    noisy = SHEET + 0.08 * np.random.RandomState(0).normal(size=SHEET.shape)
    clean, rough = quiet_fit(model(), SHEET), quiet_fit(model(), noisy)
    assert isinstance(clean.cell_size_, int)
    assert clean.cell_size_ <= rough.cell_size_
    given = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    assert given.cell_size_ is None


@pytest.mark.parametrize("clustering", [KMeans(20, n_init=1), AgglomerativeClustering(20)])
def test_clusterers_are_cloned(clustering):
    plml = model(clustering=clustering).fit(SHEET)
    assert not hasattr(clustering, "labels_")
    assert plml.planes_.n_cells <= 20
    assert procrustes_error(plml.embedding_, FLAT) < 0.05


def test_noise_of_a_clusterer_goes_to_the_nearest():
    plml = quiet_fit(model(clustering=DBSCAN(eps=0.35, min_samples=4)), SHEET)
    assert_sound(plml, SHEET)


def test_seeds_matter_only_to_the_clustering():
    maps = [model(random_state=seed, cell_size=9).fit(SHEET).embedding_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(maps[0], maps[1])
    assert not np.array_equal(maps[0], maps[2])
    given = [
        model(random_state=seed, clustering=Cover.labels(BOXES)).fit(SHEET).embedding_
        for seed in (0, 1)
    ]
    np.testing.assert_array_equal(given[0], given[1])


# What is refused


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 1.5}, "n_components"),
        ({"cell_size": 2}, "cell_size=2"),
        ({"cell_size": 0}, "cell_size=0"),
        ({"cell_size": 9.5}, "cell_size=9.5"),
        ({"cell_size": "large"}, "cell_size='large' is unknown"),
        ({"cell_size": None}, "cell_size"),
        ({"clustering": "kmeans"}, "clustering='kmeans' is unknown"),
        ({"clustering": None}, "None"),
        ({"clustering": Cover.labels(np.zeros(199, dtype=int))}, "199 labels, but there are 200"),
        ({"clustering": Cover.labels(np.zeros((200, 2), dtype=int))}, r"\(200, 2\)"),
        ({"clustering": Cover.labels(np.linspace(0, 1, 200))}, "float64"),
        ({"merge": "serial"}, "merge='serial' is unknown"),
        ({"merge": None}, "merge=None is unknown"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"refine": "yes"}, "refine='yes' must be True or False"),
        ({"start": 200}, "start=200, but X has 200 samples"),
        ({"start": -1}, "start"),
        ({"start": 1.5}, "start"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_components": 1, "cell_size": 9, "merge": "isomap"}, "n_components=1 and X has 3"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(InvalidInputError, match=words):
        model(**wrong).fit(SHEET)


@pytest.mark.parametrize(
    "wrong", [np.array([[np.nan, 0.0], [1.0, 2.0]]), np.array([[np.inf, 0.0], [1.0, 2.0]])]
)
def test_values_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"NaN|inf"):
        model().fit(wrong)


def test_new_samples_of_another_width_are_refused():
    plml = model(cell_size=20).fit(SHEET)
    with pytest.raises(InvalidInputError, match="2 features"):
        plml.transform(SHEET[:, :2])
    with pytest.raises(InvalidInputError):
        plml.inverse_transform(SHEET)
    with pytest.raises(InvalidInputError, match=r"NaN|inf"):
        plml.transform(np.full((1, 3), np.nan))


def test_projections_have_no_way_back():
    plml = quiet_fit(model(merge="orthogonal", cell_size=20), SHEET)
    assert not hasattr(plml, "inverse_transform")
    with pytest.raises(AttributeError, match="inverse_transform"):
        plml.inverse_transform(plml.embedding_)
    # As fitted, whatever is set afterwards.
    assert not hasattr(plml.set_params(merge="parallel"), "inverse_transform")
    assert hasattr(plml.fit(SHEET), "inverse_transform")


# Sparse and torn data


def test_a_roll_with_too_few_samples_is_doubted():
    roll = datasets.swiss_roll(150, random_state=0)
    with pytest.warns(DoubtfulMapWarning) as caught:
        plml = model(cell_size=20).fit(roll.X)
    assert len(caught) == 1
    assert_sound(plml, roll.X)


def test_samples_torn_apart_are_named():
    angles = 2 * np.pi * np.arange(100) / 100
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.warns(DoubtfulMapWarning, match="torn apart at 1 place") as caught:
        plml = model(n_components=1, cell_size=5, n_neighbors=4).fit(ring)
    first, second = plml.cuts_[0]
    assert f"samples {first} and {second}" in str(caught[0].message)
    gaps = np.abs(plml.cuts_[:, 0] - plml.cuts_[:, 1])
    assert np.minimum(gaps, 100 - gaps).max() <= 2
    torn = np.abs(np.diff(plml.embedding_[plml.cuts_, 0], axis=1))
    assert torn.min() > 5.5


@pytest.mark.parametrize("refine", [False, True])
def test_coordinates_whose_squares_vanish_make_no_distances(refine):
    X = datasets.swiss_roll(300, width=10.0, random_state=0).X
    X[:3] = [[0.0, 0.0, 0.0], [1e-200, 0.0, 0.0], [1e-310, 0.0, 0.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        plml = PLML(refine=refine, random_state=0).fit(X)
    assert np.isfinite(plml.distortion_).all()
    np.testing.assert_allclose(plml.embedding_[1:3], plml.embedding_[[0, 0]], atol=1e-12)


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "two"])
def test_numbers_of_threads_that_make_no_sense(n_jobs):
    with pytest.raises(InvalidInputError, match="n_jobs"):
        PLML(n_jobs=n_jobs).fit(datasets.swiss_roll(100, random_state=0).X)


def test_a_clusterer_that_refuses_is_named():
    X = datasets.swiss_roll(50, random_state=0).X
    with pytest.raises(InvalidInputError, match="KMeans refused the 50 points"):
        PLML(clustering=KMeans(500)).fit(X)
    with pytest.raises(InvalidInputError, match="clustering is"):
        PLML(clustering=KMeans).fit(X)
