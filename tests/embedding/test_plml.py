"""PLML: maps that are known, what does not matter, new samples, and the way back."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from isofold import PLML, Cover, datasets
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.linalg import procrustes
from isofold.merging.walk import HINGES
from isofold.quality import procrustes_error, residual_variance, trustworthiness
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples
from support.quick import quick_first

# Some dozen rotations one after the other, of numbers of size ten.
EXACT = 1e-9
# One rotation and one product with axes, of numbers of size ten.
ROUNDING = 1e-12


def model(**parameters):
    return PLML(**{"random_state": 0, "n_jobs": 1, **parameters})


def lifted(flat, d, seed=0):
    """Return points of a plane in d dimensions, off the origin."""
    axes = np.linalg.qr(np.random.RandomState(seed).normal(size=(d, d)))[0]
    return flat @ axes[: flat.shape[1]] + 5.0


def arc(n, seed=0):
    """Return points of an arc of a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(seed).uniform(size=(n, 2)) * [6.0, 3.0]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]]), flat


def clean_roll(n, seed, noise=0.0):
    """Return a roll whose layers are further apart than neighbors, from 400 samples on."""
    return datasets.swiss_roll(n, width=15.0, uniform=True, noise=noise, random_state=seed)


def closed_helix(n):
    t = 2 * np.pi * np.arange(n) / n
    radius = 2 + np.cos(8 * t)
    return np.column_stack([radius * np.cos(t), radius * np.sin(t), np.sin(8 * t)])


SHEET, FLAT = arc(240)
BOXES = np.floor(FLAT).astype(int) @ [3, 1]
UP = np.array([0.0, 0.0, 40.0])


@pytest.fixture(scope="module")
def fitted():
    return model(cell_size=9).fit(SHEET)


# Flat data


@pytest.mark.parametrize("cell_size", [3, 4, 9, 40, 120, 500, "auto"])
@pytest.mark.parametrize("d", [2, 3, 9])
def test_flat_data_come_back(cell_size, d):
    flat = np.random.RandomState(1).uniform(size=(120, 2)) * [3.0, 1.0]
    plml = model(cell_size=cell_size).fit(lifted(flat, d))
    assert_equal_up_to_rigid_motion(plml.embedding_, flat, atol=EXACT)
    assert plml.distortion_.max() < EXACT
    assert plml.misfit_.max(initial=0.0) < EXACT
    assert plml.n_cuts_ == 0


@examples(15)
@given(
    n=st.integers(2, 60),
    q=st.integers(1, 3),
    extra=st.integers(0, 3),
    cell_size=st.integers(4, 30),
    merge=st.sampled_from(list(HINGES)),
    seed=st.integers(0, 1000),
)
def test_flat_data_of_any_dimension_come_back(n, q, extra, cell_size, merge, seed):
    flat = np.random.RandomState(seed).normal(size=(n, q))
    plml = model(n_components=q, cell_size=cell_size, merge=merge, n_neighbors=n)
    with warnings.catch_warnings():
        # So few points span less.
        warnings.simplefilter("error" if n > q + 1 else "ignore", DoubtfulMapWarning)
        plml.fit(lifted(flat, q + extra, seed))
    assert_equal_up_to_rigid_motion(plml.embedding_, flat, atol=EXACT)


@pytest.mark.parametrize(
    "clustering", ["mst", "gmm", KMeans(7, n_init=1), Cover.labels(np.arange(60) % 5)]
)
def test_flat_data_come_back_by_any_clustering(clustering):
    flat = np.random.RandomState(1).uniform(size=(60, 2))
    plml = model(clustering=clustering, cell_size=9).fit(lifted(flat, 3))
    assert_equal_up_to_rigid_motion(plml.embedding_, flat, atol=EXACT)


@pytest.mark.parametrize("cell_size", [5, 15])
def test_flat_data_stay_exact_when_refined(cell_size):
    flat = np.random.RandomState(1).uniform(size=(120, 2)) * [3.0, 1.0]
    plml = model(cell_size=cell_size, refine=True).fit(lifted(flat, 4))
    assert_equal_up_to_rigid_motion(plml.embedding_, flat, atol=EXACT)


def test_map_lies_in_principal_axes(fitted):
    Y = fitted.embedding_
    np.testing.assert_allclose(Y.mean(axis=0), 0, atol=EXACT)
    scatter = Y.T @ Y
    assert scatter[0, 0] > scatter[1, 1]
    assert abs(scatter[0, 1]) < EXACT


# Folds


def folded(arcs, turns, n_rows=8):
    """Return facets of a folded strip, its flat coordinates and labels.

    The strip turns by given angles at given lengths. Points lie within 1e-11 of the folds on either
    side, so that hinges lie on them.
    """
    bounds = np.concatenate([[0.0], np.cumsum(arcs)])
    edge = 1e-11
    heights = np.linspace(0, 2, n_rows) if n_rows else np.zeros(1)
    headings = np.deg2rad(np.concatenate([[0.0], np.cumsum(turns)]))
    corner, X, flat, labels = np.zeros(2), [], [], []
    for facet, (low, high, heading) in enumerate(
        zip(bounds[:-1], bounds[1:], headings, strict=True)
    ):
        along = np.linspace(low + edge, high - edge, 9)
        ahead = np.array([np.cos(heading), np.sin(heading)])
        for height in heights:
            X.append(np.column_stack([corner + (along - low)[:, None] * ahead, np.full(9, height)]))
            flat.append(np.column_stack([along, np.full(9, height)]))
            labels += [facet] * 9
        corner = corner + (high - low) * ahead
    return np.concatenate(X), np.concatenate(flat), np.array(labels)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("turns", [[40.0], [-70.0], [100.0], [30.0, -60.0, 50.0], [80.0, 80.0]])
def test_a_folded_strip_is_laid_flat(turns):
    X, flat, labels = folded(np.full(len(turns) + 1, 4.0), turns)
    plml = model(clustering=Cover.labels(labels), n_neighbors=6).fit(X)
    assert_equal_up_to_rigid_motion(plml.embedding_, flat, atol=EXACT)
    np.testing.assert_array_equal(plml.labels_, labels)
    np.testing.assert_array_equal(
        np.sort(plml.tree_, axis=0),
        np.column_stack([np.arange(len(turns)), np.arange(1, len(turns) + 1)]),
    )
    angles = np.abs(turns)
    np.testing.assert_allclose(
        np.sort(plml.angles_), np.sort(np.minimum(angles, 180 - angles)), atol=1e-6
    )
    # Hinges are on the folds.
    corners = X[np.flatnonzero(np.diff(labels))][:, :2]
    assert cdist(plml.hinges_[:, :2], corners).min(axis=1).max() < EXACT


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("turn", [20.0, 60.0, 89.0, 91.0, 105.0, 115.0, 135.0, 160.0])
def test_a_zigzag_is_as_long_as_its_parts(turn):
    X, flat, labels = folded(np.full(5, 4.0), [turn, -turn, turn, -turn], n_rows=0)
    plml = model(n_components=1, clustering=Cover.labels(labels), n_neighbors=3).fit(X)
    assert_equal_up_to_rigid_motion(plml.embedding_, flat, atol=EXACT)
    assert plml.embedding_.shape == (45, 1)


# Curved data


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_a_roll_is_unrolled(seed):
    # Table 4.3 of the thesis: n = 2000, no noise, nine points a piece.
    roll = datasets.swiss_roll(2000, random_state=seed)
    plml = model(cell_size=9, random_state=seed).fit(roll.X)
    assert plml.cell_size_ == 9
    some = {"n_samples": 400, "random_state": 0}
    assert float(trustworthiness(roll.X, plml.embedding_, **some)) >= 0.999
    # Six neighbors: the graph of twelve has short-circuits.
    assert float(residual_variance(roll.X, plml.embedding_, n_neighbors=6, **some)) <= 0.01
    assert procrustes_error(plml.embedding_, roll.truth) < 0.03
    assert plml.n_cuts_ == 0


def test_the_start_does_not_matter():
    roll = datasets.swiss_roll(2000, random_state=0)
    maps = [model(cell_size=9, start=start).fit(roll.X).embedding_ for start in (None, 7, 1234)]
    for other in maps[1:]:
        assert float(procrustes_error(other, maps[0])) <= EXACT
        assert_equal_up_to_rigid_motion(other, maps[0], atol=EXACT)


def test_the_start_matters_to_the_earlier_forms():
    # What the thesis's table shows: a walk about means depends on where it starts.
    maps = [
        model(clustering=Cover.labels(BOXES), merge="parallel_projections", start=start)
        .fit(SHEET)
        .embedding_
        for start in (int(FLAT[:, 0].argmin()), int(FLAT[:, 0].argmax()))
    ]
    assert procrustes_error(*maps) > 1e-6
    assert procrustes_error(*maps) < 0.05


def test_the_walk_starts_at_the_piece_of_a_sample():
    # So that all samples of a piece are the same start.
    for box in np.unique(BOXES)[:4]:
        first, second, third = (
            model(
                clustering=Cover.labels(BOXES), merge="parallel_projections", start=int(start)
            ).fit(SHEET)
            for start in np.flatnonzero(box == BOXES)[:3]
        )
        np.testing.assert_array_equal(first.embedding_, second.embedding_)
        np.testing.assert_array_equal(first.embedding_, third.embedding_)


def test_projections_without_a_turn_shrink_the_map():
    sound = model(cell_size=9).fit(SHEET)
    with warnings.catch_warnings():
        # What is shrunk may also be torn.
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        projected = model(cell_size=9, merge="orthogonal").fit(SHEET)
    assert procrustes_error(sound.embedding_, FLAT) < 0.02
    assert np.ptp(projected.embedding_[:, 0]) < 0.9 * np.ptp(sound.embedding_[:, 0])


def test_folds_of_hyperplanes_place_pieces():
    narrow = np.column_stack([FLAT[:, 0], 0.1 * FLAT[:, 1]])
    X = np.column_stack([SHEET[:, :2], narrow[:, 1]])
    slices = np.floor(2 * FLAT[:, 0]).astype(int)
    with warnings.catch_warnings():
        # Pieces are not turned, so that some lie the wrong way round.
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        plml = model(clustering=Cover.labels(slices), merge="isomap").fit(X)
    places = np.array([plml.embedding_[slices == s, 0].mean() for s in range(12)])
    true = np.array([FLAT[slices == s, 0].mean() for s in range(12)])
    assert abs(np.corrcoef(places, true)[0, 1]) > 0.999
    assert np.ptp(places) == pytest.approx(np.ptp(true), rel=0.02)


def test_a_hole_is_not_stretched():
    flat = np.random.RandomState(0).uniform(size=(900, 2)) * [6.0, 3.0]
    is_hole = (np.abs(flat[:, 0] - 3) < 1.2) & (np.abs(flat[:, 1] - 1.5) < 0.8)
    flat = flat[~is_hole]
    angle = flat[:, 0] / 2
    X = np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]])
    plml = model().fit(X)
    motion = procrustes(plml.embedding_, flat).transform
    gaps = np.linalg.norm(motion.apply(plml.embedding_) - flat, axis=1)
    # Straight across the hole, too.
    assert gaps.max() < 0.1


def test_a_closed_helix_is_cut_once_and_kept_in_order():
    X = closed_helix(600)
    with pytest.warns(DoubtfulMapWarning, match="torn apart at 1 place"):
        plml = model(n_components=1).fit(X)
    assert plml.n_cuts_ == 1
    order = np.argsort(plml.embedding_[:, 0])
    steps = np.diff(order) % 600
    assert np.all(steps == steps[0])
    assert steps[0] in (1, 599)
    # Cuts lie across the ends of the order.
    ends = {int(order[0]), int(order[-1])}
    far = np.abs(plml.cuts_[:, :, None] - np.array(sorted(ends)))
    assert np.minimum(far, 600 - far).min(axis=2).max() <= 12
    length = np.linalg.norm(np.diff(X, axis=0, append=X[:1]), axis=1).sum()
    # Pieces of seven points in 75 a coil are shorter than the arc by (2π · 7/75)²/24 = 1.4 %.
    assert np.ptp(plml.embedding_) == pytest.approx(length, rel=0.03)


@pytest.mark.parametrize("seed", quick_first(range(3)))
def test_refining_improves_on_the_walk(seed):
    roll = clean_roll(800, seed, noise=0.2)
    walk = model(cell_size=14, n_neighbors=8).fit(roll.X)
    refined = model(cell_size=14, n_neighbors=8, refine=True).fit(roll.X)
    assert procrustes_error(refined.embedding_, roll.truth) < procrustes_error(
        walk.embedding_, roll.truth
    )
    np.testing.assert_array_equal(refined.labels_, walk.labels_)
    np.testing.assert_array_equal(refined.transform(roll.X), refined.embedding_)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_refining_does_not_glue_layers_that_the_walk_keeps_apart():
    # Of twelve neighbors some are of the next layer, and so the walk itself errs for some seeds.
    roll = datasets.swiss_roll(1000, noise=0.3, random_state=2)
    n_apart = 0
    for seed in range(4):
        walk = model(random_state=seed).fit(roll.X)
        assert walk.n_cuts_ > 0
        if procrustes_error(walk.embedding_, roll.truth) > 0.15:
            continue
        n_apart += 1
        refined = model(refine=True, random_state=seed).fit(roll.X)
        assert procrustes_error(refined.embedding_, roll.truth) < 0.25
    assert n_apart > 0


# What is reported


def test_reports_of_the_tree(fitted):
    n_pieces = fitted.labels_.max() + 1
    assert fitted.tree_.shape == (n_pieces - 1, 2)
    assert fitted.hinges_.shape == (n_pieces - 1, 3)
    assert fitted.angles_.shape == fitted.misfit_.shape == (n_pieces - 1,)
    assert fitted.cuts_.shape == fitted.bridges_.shape == (0, 2)
    np.testing.assert_array_equal(fitted.component_, np.zeros(240))
    for (i, j), hinge, angle in zip(fitted.tree_, fitted.hinges_, fitted.angles_, strict=True):
        one, other = np.flatnonzero(fitted.labels_ == i), np.flatnonzero(fitted.labels_ == j)
        middles = (SHEET[one][:, None] + SHEET[other][None]) / 2
        assert np.linalg.norm(middles - hinge, axis=2).min() < ROUNDING * 10
        cosines = np.linalg.svd(fitted.planes_.axes[i].T @ fitted.planes_.axes[j])[1]
        assert np.cos(np.deg2rad(angle)) == pytest.approx(cosines.min())


def test_misfits_are_errors_of_edges_between_pieces(fitted):
    # Edges of the tree of samples that cross between joined pieces, the shortest of each.
    edges, lengths = fitted.spanning_tree_.edges, fitted.spanning_tree_.lengths
    samples = fitted.node_samples_[edges]
    sides = np.sort(fitted.labels_[samples], axis=1)
    on_map = np.linalg.norm(np.diff(fitted.embedding_[samples], axis=1)[:, 0], axis=1)
    for pair, misfit in zip(fitted.tree_, fitted.misfit_, strict=True):
        between = np.flatnonzero((sides == pair).all(axis=1))
        at = between[lengths[between].argmin()]
        assert misfit == pytest.approx(abs(on_map[at] / lengths[at] - 1), abs=EXACT)


def test_distortion_is_the_mean_error_of_neighbors(fitted):
    before, after = cdist(SHEET, SHEET), cdist(fitted.embedding_, fitted.embedding_)
    near = np.argsort(before, axis=1)[:, 1:13]
    rows = np.arange(240)[:, None]
    expected = np.abs(after[rows, near] / before[rows, near] - 1).mean(axis=1)
    np.testing.assert_allclose(fitted.distortion_, expected, atol=EXACT)


def test_pieces_are_connected_by_a_tree(fitted):
    groups = {piece: {piece} for piece in range(fitted.labels_.max() + 1)}
    for i, j in fitted.tree_:
        assert groups[i] is not groups[j]
        groups[i] |= groups[j]
        for piece in groups[j]:
            groups[piece] = groups[i]
    assert len({id(group) for group in groups.values()}) == 1


# Invariances


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_motions_and_units_do_not_matter(unit):
    turn = np.linalg.qr(np.random.RandomState(3).normal(size=(3, 3)))[0]
    one = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    moved = model(clustering=Cover.labels(BOXES)).fit(unit * (SHEET @ turn + 3.0))
    assert_equal_up_to_rigid_motion(moved.embedding_ / unit, one.embedding_, atol=EXACT)
    np.testing.assert_allclose(moved.distortion_, one.distortion_, atol=EXACT)


def test_units_do_not_matter_to_the_clustering():
    maps = [model(cell_size=9).fit(unit * SHEET).embedding_ / unit for unit in (1.0, 2.0**20)]
    assert_equal_up_to_rigid_motion(maps[1], maps[0], atol=EXACT)


def test_the_order_of_samples_does_not_matter():
    order = np.random.RandomState(0).permutation(240)
    one = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    other = model(clustering=Cover.labels(BOXES[order])).fit(SHEET[order])
    assert_equal_up_to_rigid_motion(other.embedding_, one.embedding_[order], atol=EXACT)
    np.testing.assert_array_equal(other.labels_, one.labels_[order])


def test_names_of_labels_do_not_matter():
    one = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    other = model(clustering=Cover.labels([f"box {(7 * box) % 31}" for box in BOXES])).fit(SHEET)
    assert_equal_up_to_rigid_motion(other.embedding_, one.embedding_, atol=EXACT)


# New samples, and the way back


def test_transform_returns_the_map(fitted):
    np.testing.assert_array_equal(fitted.transform(SHEET), fitted.embedding_)


def test_new_samples_are_mapped_one_by_one(fitted):
    new = arc(60, seed=5)[0] + 0.05 * np.random.RandomState(5).normal(size=(60, 3))
    together = fitted.transform(new)
    one_by_one = np.vstack([fitted.transform(new[i : i + 1]) for i in range(60)])
    np.testing.assert_array_equal(one_by_one, together)


def test_new_samples_follow_the_plane_of_their_nearest_sample(fitted):
    new, true = arc(100, seed=5)
    found = fitted.transform(new)
    nearest = cdist(new, SHEET).argmin(axis=1)
    for row, point, sample in zip(found, new, nearest, strict=True):
        piece = fitted.labels_[sample]
        axes = fitted.planes_.axes[piece]
        # The plane is laid rigidly: steps within it stay as they are.
        step = (point - SHEET[sample]) @ axes
        length = np.linalg.norm(row - fitted.embedding_[sample])
        assert length == pytest.approx(np.linalg.norm(step), abs=ROUNDING * 10)
    motion = procrustes(fitted.embedding_, FLAT).transform
    errors = np.linalg.norm(motion.apply(found) - true, axis=1)
    assert np.sqrt(np.mean(errors**2)) < 0.1


def test_the_way_back_is_the_projection_onto_the_plane(fitted):
    back = fitted.inverse_transform(fitted.transform(SHEET))
    planes = fitted.planes_
    for row, point, piece in zip(back, SHEET, fitted.labels_, strict=True):
        axes, mean = planes.axes[piece], planes.means[piece]
        expected = mean + axes @ (axes.T @ (point - mean))
        np.testing.assert_allclose(row, expected, atol=ROUNDING * 10)
    # A sheet of radius 2 in pieces about 0.8 wide is off its planes by 0.4²/4 at most.
    assert np.linalg.norm(back - SHEET, axis=1).max() < 0.06


@pytest.mark.parametrize("merge", ["parallel", "parallel_projections", "isomap"])
def test_flat_data_are_restored(merge):
    flat = np.random.RandomState(1).uniform(size=(80, 2))
    X = lifted(flat, 3)
    with warnings.catch_warnings():
        # Pieces that are not turned lie the wrong way round.
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        plml = model(merge=merge, cell_size=12).fit(X)
    np.testing.assert_allclose(plml.inverse_transform(plml.embedding_), X, atol=EXACT)


# Data that fall apart


def test_two_rolls_are_unrolled_beside_each_other():
    one, two = clean_roll(500, 0), clean_roll(400, 1)
    away = np.array([0.0, 60.0, 0.0])
    X = np.concatenate([one.X, two.X + away])
    with pytest.warns(DisconnectedGraphWarning, match="2 components") as caught:
        plml = model(cell_size=9, n_neighbors=8).fit(X)
    assert sum(w.category is DisconnectedGraphWarning for w in caught) == 1
    np.testing.assert_array_equal(plml.component_, np.repeat([0, 1], [500, 400]))
    assert plml.bridges_.shape == (1, 2)
    np.testing.assert_array_equal(np.sort(plml.component_[plml.bridges_[0]]), [0, 1])
    # Pieces do not lie across.
    for piece in np.unique(plml.labels_):
        assert len(np.unique(plml.component_[plml.labels_ == piece])) == 1
    assert len(plml.tree_) == plml.labels_.max() - 1
    first, second = plml.embedding_[:500], plml.embedding_[500:]
    assert procrustes_error(first, one.truth) < 0.05
    assert procrustes_error(second, two.truth) < 0.05
    gap = cdist(X[:500], X[500:]).min()
    bridge = X[plml.bridges_[0]]
    assert np.linalg.norm(bridge[0] - bridge[1]) == pytest.approx(gap)
    assert cdist(first, second).min() > 0.99 * gap
    np.testing.assert_array_equal(plml.transform(X), plml.embedding_)


def test_components_have_the_shapes_that_they_have_alone():
    X = np.concatenate([SHEET, SHEET[:150] + UP])
    labels = np.concatenate([BOXES, BOXES[:150]])
    with pytest.warns(DisconnectedGraphWarning):
        both = model(clustering=Cover.labels(labels)).fit(X)
    for part in (slice(None, 240), slice(240, None)):
        alone = model(clustering=Cover.labels(labels[part])).fit(X[part])
        assert_equal_up_to_rigid_motion(both.embedding_[part], alone.embedding_, atol=EXACT)


@pytest.mark.parametrize("merge", [*HINGES, "isomap"])
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_every_form_takes_data_that_fall_apart(merge):
    X = np.concatenate([SHEET, SHEET[:100] + UP])
    with pytest.warns(DisconnectedGraphWarning):
        plml = model(merge=merge, cell_size=9).fit(X)
    first, second = plml.embedding_[:240], plml.embedding_[240:]
    assert cdist(first, second).min() > 30.0


def test_components_that_the_tree_does_not_span_fall_apart():
    # Two groups are neighbors of one sample above, but the tree goes by a third group below them.
    rng = np.random.RandomState(0)
    disks = [0.3 * rng.normal(size=(60, 2)) + at for at in ([-5, 0], [5, 0], [0, -3])]
    horn = np.column_stack([np.full(3, 4.5), [1.5, 1.6, 1.7]])
    X = np.concatenate([*disks, horn, horn * [-1, 1], [[0.0, 10.0]]])
    with pytest.warns(DisconnectedGraphWarning):
        plml = model(n_neighbors=6, cell_size=8).fit(np.pad(X, ((0, 0), (0, 1))))
    assert np.isfinite(plml.embedding_).all()
    assert len(plml.bridges_) == plml.component_.max()


def test_a_line_and_a_sheet_do_not_share_a_piece():
    line = np.linspace(0, 3, 30)[:, None] * [[1.0, 0.0, 0.0]]
    X = np.concatenate([line, SHEET[:60] + UP])
    with (
        pytest.warns(DoubtfulMapWarning, match="1 of [0-9]+ cells span fewer than 2"),
        pytest.warns(DisconnectedGraphWarning),
    ):
        plml = model(n_neighbors=5, cell_size=6).fit(X)
    assert len(np.unique(plml.labels_[:30])) == 1
    assert not np.isin(plml.labels_[30:], plml.labels_[:30]).any()
    along = plml.embedding_[:30] - plml.embedding_[0]
    np.testing.assert_allclose(np.linalg.norm(along, axis=1), line[:, 0], atol=EXACT)


def test_groups_too_small_for_a_plane_are_placed_by_the_nearest_piece():
    strays = np.array([[0.0, 0.0, 40.0], [0.0, 0.2, 40.0], [0.0, 0.0, 40.3]])
    X = np.concatenate([SHEET, strays])
    with (
        pytest.warns(DoubtfulMapWarning),
        pytest.warns(DisconnectedGraphWarning, match=r"components.*too few for a plane"),
    ):
        # Graphs of two neighbors are in pieces.
        plml = model(cell_size=4, n_neighbors=2).fit(X)
    assert plml.outliers_[240:].all()
    np.testing.assert_array_equal(np.sort(plml.node_samples_), np.flatnonzero(~plml.outliers_))
    nearest = plml.node_samples_[cdist(strays, X[plml.node_samples_]).argmin(axis=1)]
    np.testing.assert_array_equal(plml.labels_[240:], plml.labels_[nearest])
    np.testing.assert_array_equal(plml.component_[240:], plml.component_[nearest])
    np.testing.assert_array_equal(plml.transform(X), plml.embedding_)


def test_an_outlier_joins_the_nearest_piece():
    X = np.concatenate([SHEET, [[0.0, 0.0, 9.0]]])
    plml = model(clustering=Cover.labels(np.append(BOXES, 99))).fit(X)
    host = plml.labels_[240]
    nearest = cdist(X[240:], SHEET).argmin()
    assert plml.labels_[nearest] == host
    # Its own piece is tilted, no other.
    alone = model(clustering=Cover.labels(BOXES)).fit(SHEET)
    for piece in np.unique(plml.labels_[:240]):
        own = np.flatnonzero(plml.labels_[:240] == piece)
        if piece != host:
            assert_equal_up_to_rigid_motion(plml.embedding_[own], alone.embedding_[own], atol=EXACT)


def test_refined_maps_have_a_certificate():
    roll = datasets.swiss_roll(600, width=12.0, noise=0.05, random_state=0)
    refined = PLML(refine=True, cell_size=20, random_state=0).fit(roll.X)
    assert refined.solution_.certificate is not None
    assert refined.solution_.dual <= refined.solution_.primal * (1 + 1e-9)
    assert PLML(cell_size=20, random_state=0).fit(roll.X).solution_ is None
