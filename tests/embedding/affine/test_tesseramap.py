"""TesseraMap: maps that are known, rigid pieces, new samples, and what embedders promise."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.cluster import KMeans

from isofold import EAT, TesseraMap, datasets
from isofold._format import count
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.linalg import procrustes
from isofold.quality import preservation_error, procrustes_error, stretch
from isofold.sdp import ConicSDP, DenseSDP, Status
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion

COVERS = ["affinity", "kmeans", "ldlc"]

# The default solver's gap.
GAP = 1e-4
# What the links may be wrong by beyond the least possible: the slack of the code, met nearly.
SLACK = 0.02 * 1.1
# Kernel rows times coefficients: rounding is amplified by the condition of a kernel, at most 1e9.
REPRODUCED = 1e-6
# Pieces are isometric to rounding of local principal axes: factors of size ten, some hundred sums.
RIGID = 1e-9
# Two answers to the same program. The weight of links is 1/SLACK or more, so that the gap leaves
# √(GAP·SLACK) = 1.4e-3 for the errors of their squares; a map is some ten links long.
SAME = 2e-2
# Two ways to the same sum.
ROUNDING = 1e-9


def model(**parameters):
    return TesseraMap(**{"random_state": 0, "n_jobs": 1, **parameters})


def cylinder(n, seed=0):
    """Return points of an arc of a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(seed).rand(n, 2) * [3.0, 1.5]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]]), flat


SHEET, FLAT = cylinder(120)
AWAY = np.array([20.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def fitted():
    return model().fit(SHEET)


@pytest.fixture(scope="module")
def narrow():
    """Return a map whose kernel is of full rank."""
    return model(gamma=60.0).fit(SHEET)


# Maps that are known


@pytest.mark.parametrize("cover", COVERS)
def test_roll_is_unrolled(cover):
    roll = datasets.swiss_roll(600, width=21.0, uniform=True, random_state=0)
    tessera = model(cover=cover).fit(roll.X)
    # Pieces are shorter than the arcs that they replace by some percent, links by their slack.
    assert procrustes_error(tessera.embedding_, roll.truth) < 0.06
    assert tessera.solution_.status is Status.CERTIFIED
    assert tessera.solution_.gap <= GAP
    assert tessera.discarded_variance_ratio_ < 0.01
    # Flat pieces of a roll fit together, though not quite: half of what counts as torn.
    assert tessera.link_error_ < 0.1
    size = np.abs(tessera.embedding_).max()
    np.testing.assert_allclose(
        tessera.transform(roll.X), tessera.embedding_, rtol=0, atol=REPRODUCED * size
    )
    new = datasets.swiss_roll(300, width=21.0, uniform=True, random_state=1)
    motion = procrustes(tessera.embedding_, roll.truth).transform
    errors = np.linalg.norm(motion.apply(tessera.transform(new.X)) - new.truth, axis=1)
    spread = np.sqrt(np.sum(roll.truth.var(axis=0)))
    assert np.median(errors) < 0.06 * spread


@pytest.mark.parametrize("cover", COVERS)
@pytest.mark.parametrize("d", [2, 5])
def test_flat_data_come_back(cover, d):
    turn = np.linalg.qr(np.random.RandomState(0).normal(size=(d, d)))[0][:2]
    X = FLAT @ turn + 7.0
    tessera = model(cover=cover).fit(X)
    # Links may be longer by half of the slack of their squares, and pieces not at all.
    assert_equal_up_to_rigid_motion(tessera.embedding_, FLAT, atol=SLACK * np.ptp(FLAT))
    assert tessera.tesserae_.residual < RIGID
    assert tessera.link_error_ <= SLACK


def test_two_flat_wings_are_two_tesserae():
    rng = np.random.RandomState(0)
    flat = np.column_stack([rng.uniform(-1, 1, size=80), rng.uniform(0, 1.5, size=80)])
    bent = np.column_stack([np.abs(flat[:, 0]), flat])
    bent[:, :2] /= np.sqrt(2)
    tessera = model(cover=(flat[:, 0] > 0).astype(int), n_links=3).fit(bent)
    assert tessera.tesserae_.n_tesserae == 2
    assert tessera.tesserae_.residual < RIGID
    # Links are shorter than on the flat sheet where they cut the corner, but all are short.
    assert procrustes_error(tessera.embedding_, flat) < 0.1
    for wing in (flat[:, 0] > 0, flat[:, 0] <= 0):
        np.testing.assert_allclose(pdist(tessera.embedding_[wing]), pdist(flat[wing]), atol=0.02)


def test_one_tessera_is_principal_axes():
    X = np.random.RandomState(0).normal(size=(30, 4)) * [4.0, 2.0, 0.1, 0.1]
    centered = X - X.mean(axis=0)
    expected = centered @ np.linalg.svd(centered)[2][:2].T
    for cover in (np.zeros(30, dtype=int), ("kmeans", 1)):
        tessera = model(cover=cover, gamma=0.3).fit(X)
        assert tessera.links_.shape == (0, 2)
        assert_equal_up_to_rigid_motion(tessera.embedding_, expected, atol=RIGID)
        np.testing.assert_allclose(tessera.transform(X), tessera.embedding_, atol=REPRODUCED * 10)


def test_samples_of_their_own_are_much_like_eat():
    X, flat = SHEET[:50], FLAT[:50]
    tessera = model(cover=None, n_neighbors=6, gamma=4.0).fit(X)
    eat = EAT(n_neighbors=6, gamma=4.0, slack=0.02, random_state=0).fit(X)
    assert tessera.tesserae_.n_tesserae == 50
    # All neighbors are links: the same program.
    assert len(tessera.links_) == eat.graph_.n_edges
    np.testing.assert_array_equal(np.sort(tessera.labels_), np.arange(50))
    assert_equal_up_to_rigid_motion(tessera.embedding_, eat.embedding_, atol=SAME * np.ptp(flat))
    assert tessera.stretch_ == pytest.approx(eat.stretch_, rel=SAME)
    assert tessera.weight_ == eat.weight_


def test_many_samples_are_mapped_by_landmarks():
    roll = datasets.swiss_roll(3000, width=21.0, uniform=True, random_state=0)
    train, new = slice(None, 2200), slice(2200, None)
    tessera = model(cover=("kmeans", 30)).fit(roll.X[train])
    assert procrustes_error(tessera.embedding_, roll.truth[train]) < 0.06
    assert tessera.kernel_rank_ratio_ is None
    assert len(tessera.map_.trend.points) < 2200
    size = np.abs(tessera.embedding_).max()
    np.testing.assert_allclose(
        tessera.transform(roll.X[train]), tessera.embedding_, rtol=0, atol=REPRODUCED * size
    )
    motion = procrustes(tessera.embedding_, roll.truth[train]).transform
    placed = motion.apply(tessera.transform(roll.X[new]))
    errors = np.linalg.norm(placed - roll.truth[new], axis=1)
    assert np.sqrt(np.mean(errors**2)) < 0.06 * np.sqrt(np.sum(roll.truth.var(axis=0)))


# Rigid pieces, and what is reported


def points_of(tessera):
    """Return the points before any projection: translations of the solution have their own unit."""
    tesserae, poses = tessera.tesserae_, tessera.solution_.coordinates.copy()
    assert tessera.unit_ == pytest.approx(tessera.graph_.lengths.mean())
    poses[tesserae.first_row + tesserae.ranks] *= tessera.unit_
    return tesserae.matrix @ poses


def test_pieces_are_rigid_before_the_projection(fitted):
    tesserae, poses = fitted.tesserae_, fitted.solution_.coordinates
    placed = points_of(fitted)
    for number in range(tesserae.n_tesserae):
        members = np.flatnonzero(tesserae.labels == number)
        own = SHEET[members] - SHEET[members].mean(axis=0)
        axes = np.linalg.svd(own, full_matrices=False)[2][:2]
        np.testing.assert_allclose(pdist(placed[members]), pdist(own @ axes.T), atol=RIGID)
        first, size = tesserae.first_row[number], tesserae.ranks[number]
        turn = poses[first : first + size]
        np.testing.assert_allclose(turn @ turn.T, np.eye(size), atol=RIGID)


def test_a_kernel_of_full_rank_leaves_pieces_rigid(narrow):
    assert narrow.kernel_rank_ratio_ == pytest.approx(119 / 120)
    placed = points_of(narrow)
    placed = placed - placed.mean(axis=0)
    expected = placed @ np.linalg.svd(placed, full_matrices=False)[2][:2].T
    assert_equal_up_to_rigid_motion(narrow.embedding_, expected, atol=RIGID)
    np.testing.assert_allclose(narrow.spectrum_[:2], expected.var(axis=0), rtol=1e-6)


def test_links_are_as_true_as_reported(narrow):
    placed, least = points_of(narrow), 3.0 * narrow.tesserae_.thickness
    errors = []
    for i, j in narrow.links_:
        length = np.linalg.norm(SHEET[i] - SHEET[j])
        errors.append((np.sum((placed[i] - placed[j]) ** 2) - length**2) / max(length, least) ** 2)
    # Axes with less than a millionth of the variance are left out: 1e-4 of the squares of links,
    # which are a tenth of the size of the map, and so one percent of their errors.
    assert narrow.link_error_ == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-2)


def test_errors_and_stretch_are_those_of_the_quality_room(fitted):
    graph, Y = fitted.graph_, fitted.embedding_
    squared = np.sum(np.diff(Y[graph.edges], axis=1)[:, 0] ** 2, axis=1)
    # Lengths below a twentieth of the median count as that long; all others as in the measure.
    least = np.maximum(graph.lengths, 0.05 * np.median(graph.lengths))
    error = np.mean((squared - graph.lengths**2) ** 2 / least**4)
    assert fitted.preservation_error_ == pytest.approx(float(error), rel=ROUNDING)
    is_long = least == graph.lengths
    measure = preservation_error(SHEET, Y, pairs=graph.edges[is_long])
    error = np.mean((squared / graph.lengths**2 - 1.0)[is_long] ** 2)
    assert float(measure) == pytest.approx(error, rel=ROUNDING)
    labels = fitted.labels_
    left = np.triu(labels[:, None] != labels, k=1)
    left[graph.edges[:, 0], graph.edges[:, 1]] = False
    pulled = stretch(SHEET, Y, pairs=np.argwhere(left))
    assert fitted.stretch_ == pytest.approx(float(pulled), rel=ROUNDING)


def test_links_hold_neighboring_tesserae_together(fitted):
    labels, links = fitted.labels_, fitted.links_
    sides = np.sort(labels[links], axis=1)
    assert np.all(sides[:, 0] != sides[:, 1])
    # Three at most between any two, and some between all that have neighbors in each other.
    assert np.unique(sides, axis=0, return_counts=True)[1].max() <= 3
    edges = np.sort(labels[fitted.graph_.edges], axis=1)
    between = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    np.testing.assert_array_equal(np.unique(sides, axis=0), between)


@pytest.mark.parametrize("n_links", [1, 2, 4])
def test_number_of_links(n_links):
    tessera = model(cover=("kmeans", 8), n_links=n_links)
    with warnings.catch_warnings():
        # One link is a ball joint.
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        tessera.fit(SHEET)
    sides = np.sort(tessera.labels_[tessera.links_], axis=1)
    assert np.unique(sides, axis=0, return_counts=True)[1].max() == n_links


def test_what_is_reported_is_what_is_seen(fitted):
    graph, Y = fitted.graph_, fitted.embedding_
    assert fitted.discarded_variance_ratio_ == pytest.approx(
        fitted.spectrum_[2:].sum() / fitted.spectrum_.sum()
    )
    np.testing.assert_allclose((Y**2).mean(axis=0), fitted.spectrum_[:2], rtol=1e-6)
    first, second = graph.edges.T
    errors = np.abs(np.linalg.norm(Y[first] - Y[second], axis=1) / graph.lengths - 1)
    at_zero = (graph.edges == 0).any(axis=1)
    assert fitted.distortion_[0] == pytest.approx(errors[at_zero].mean())
    assert fitted.labels_.shape == (120,)
    assert fitted.bridges_.shape == (0, 2)
    assert fitted.solution_.status is Status.CERTIFIED


def test_objective_is_that_of_another_solver():
    cover = np.floor(FLAT[:60, 0] * 2).astype(int)
    own, other = (
        model(cover=cover, solver=solver).fit(SHEET[:60])
        for solver in (DenseSDP(tol=1e-6), ConicSDP())
    )
    assert own.weight_ == other.weight_
    assert own.solution_.primal == pytest.approx(other.solution_.primal, rel=1e-5)
    assert_equal_up_to_rigid_motion(own.embedding_, other.embedding_, atol=SAME)


# Kernels


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_training_samples_go_to_their_places(kernel):
    tessera = model(kernel=kernel).fit(SHEET)
    size = np.abs(tessera.embedding_).max()
    np.testing.assert_allclose(
        tessera.transform(SHEET), tessera.embedding_, rtol=0, atol=REPRODUCED * size
    )


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_a_linear_kernel_gives_linear_maps():
    tessera = model(kernel="linear").fit(SHEET)
    assert tessera.kernel_rank_ratio_ == pytest.approx(3 / 120)
    middle = tessera.transform((SHEET[:50] + SHEET[50:100]) / 2)
    halfway = (tessera.embedding_[:50] + tessera.embedding_[50:100]) / 2
    np.testing.assert_allclose(middle, halfway, atol=ROUNDING)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize("degree", [2, 3])
def test_pieces_are_placed_within_the_span_of_a_polynomial(degree):
    # Four tesserae have twelve rows. Polynomials of degree two and three have 9 and 19 functions,
    # less 1 and 4 multiples of x² + y² = 4: the latter have room for all poses, and pieces are
    # placed anew within them.
    def kernel(X, Y):
        return (X @ Y.T / 4 + 1) ** degree

    quarters = np.floor(FLAT[:, 0] * 4 / 3).astype(int)
    tessera = model(cover=quarters, kernel=kernel).fit(SHEET)
    assert tessera.tesserae_.n_rows == 12
    assert tessera.kernel_rank_ratio_ * 120 == pytest.approx({2: 8, 3: 15}[degree])
    assert procrustes_error(tessera.embedding_, FLAT) < {2: 0.06, 3: 0.03}[degree]
    np.testing.assert_allclose(tessera.transform(SHEET), tessera.embedding_, atol=REPRODUCED)


def test_automatic_kernels_are_some_lengths_wide():
    tessera = model(n_neighbors=6).fit(SHEET)
    width = 1 / np.sqrt(tessera.gamma_) / float(np.mean(tessera.graph_.lengths))
    assert 0.5 < width < 10.0


# Covers


def test_labels_of_the_user_are_kept():
    labels = np.random.RandomState(0).permutation(6)[np.floor(FLAT[:, 0] * 2).astype(int)] * 10
    tessera = model(cover=labels).fit(SHEET)
    _, expected = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(tessera.labels_, expected)
    assert procrustes_error(tessera.embedding_, FLAT) < 0.06


def test_a_clusterer_is_cloned():
    cover = KMeans(9, n_init=3, random_state=0)
    tessera = model(cover=cover).fit(SHEET)
    assert not hasattr(cover, "labels_")
    assert tessera.tesserae_.n_tesserae >= 9
    assert procrustes_error(tessera.embedding_, FLAT) < 0.06


@pytest.mark.parametrize("cover", COVERS)
def test_number_of_clusters(cover):
    tessera = model(cover=(cover, 9)).fit(SHEET)
    assert tessera.tesserae_.n_tesserae == 9
    assert len(np.unique(tessera.labels_)) == 9


# Invariances


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_motions_and_units_do_not_matter(fitted, unit):
    turn = np.linalg.qr(np.random.RandomState(0).normal(size=(3, 3)))[0]
    moved = model(cover=fitted.labels_).fit(unit * (SHEET @ turn + 3.0))
    same = model(cover=fitted.labels_).fit(SHEET)
    assert_equal_up_to_rigid_motion(moved.embedding_ / unit, same.embedding_, atol=SAME)
    assert moved.gamma_ * unit**2 == pytest.approx(same.gamma_)
    np.testing.assert_array_equal(moved.links_, same.links_)


def test_the_order_of_samples_does_not_matter():
    order = np.random.RandomState(0).permutation(120)
    labels = np.floor(FLAT[:, 0] * 3).astype(int)
    one = model(cover=labels).fit(SHEET)
    other = model(cover=labels[order]).fit(SHEET[order])
    assert_equal_up_to_rigid_motion(other.embedding_, one.embedding_[order], atol=SAME)


# Words of warning


def test_pieces_are_linked_and_told_once():
    apart = np.concatenate([SHEET[:60], SHEET[:60] + AWAY])
    with pytest.warns(DisconnectedGraphWarning) as caught:
        tessera = model().fit(apart)
    told = [w for w in caught if w.category is DisconnectedGraphWarning]
    assert len(told) == 1
    assert count(len(tessera.bridges_), "edge") in str(told[0].message)
    assert np.all(tessera.bridges_[:, 0] < 60)
    assert np.all(tessera.bridges_[:, 1] >= 60)
    assert np.isfinite(tessera.embedding_).all()
    linked = np.sort(tessera.links_, axis=1)
    assert (linked[:, None] == tessera.bridges_).all(axis=2).any()


def test_pieces_that_are_not_flat_are_doubted():
    # Two parts of a half-pipe, one behind the other: half circles of the variances 1/2 and
    # 1/2 - 4/π², 1.5 long. What is lost is (1/2 - 4/π²)/(1 - 4/π² + 1.5²/12) = 12 %.
    angle = FLAT[:, 0] * np.pi / 3
    pipe = np.column_stack([np.cos(angle), np.sin(angle), 2 * FLAT[:, 1]])
    with pytest.warns(DoubtfulMapWarning, match="2 tesserae are not flat: 1[0-4]%"):
        model(cover=(FLAT[:, 1] > 0.75).astype(int)).fit(pipe)


def test_a_kernel_next_to_the_identity_is_doubted():
    with pytest.warns(DoubtfulMapWarning, match="close to the identity"):
        model(gamma=1e4).fit(SHEET)


def test_clusters_across_layers_are_doubted():
    # Clusters that join two layers of a roll cannot be unrolled.
    roll = datasets.swiss_roll(300, width=10.0, uniform=True, random_state=0)
    sectors = np.floor(np.arctan2(roll.X[:, 2], roll.X[:, 0])).astype(int)
    with pytest.warns(DoubtfulMapWarning):
        tessera = model(cover=sectors).fit(roll.X)
    assert procrustes_error(tessera.embedding_, roll.truth) > 0.5


# The contract


@pytest.mark.parametrize(
    ("cover", "dtype"),
    [("affinity", np.float32), ("kmeans", np.float64), (None, np.float64)],
)
def test_contract(cover, dtype):
    X = SHEET[:30].astype(dtype)
    atol = 2 * REPRODUCED if dtype == np.float64 else 1e-6 + 2 * REPRODUCED
    with warnings.catch_warnings():
        # Some clusters of thirty points are not flat.
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        assert_embedder_contract(TesseraMap(cover=cover, random_state=0), X, atol=atol)


def test_workers_do_not_matter_beyond_two_thousand_samples():
    sheet, _ = cylinder(2100)
    one, two = (model(cover=("kmeans", 6), n_jobs=n).fit(sheet) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.transform(SHEET), two.transform(SHEET))
    rows = np.vstack([one.transform(SHEET[i : i + 1]) for i in range(10)])
    np.testing.assert_allclose(rows, one.transform(SHEET)[:10], rtol=0, atol=REPRODUCED)


def test_pandas_and_names(fitted):
    frame = pd.DataFrame(SHEET, columns=["x", "y", "z"]).set_index(np.arange(120) + 5)
    tessera = model().set_output(transform="pandas")
    result = tessera.fit_transform(frame)
    names = ["tesseramap0", "tesseramap1"]
    assert list(result.columns) == list(tessera.get_feature_names_out()) == names
    assert list(tessera.feature_names_in_) == ["x", "y", "z"]
    pd.testing.assert_index_equal(result.index, frame.index)
    np.testing.assert_array_equal(result.to_numpy(), fitted.embedding_)


def test_pickle_keeps_everything(fitted):
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.transform(SHEET), fitted.transform(SHEET))


def test_solver_is_left_alone():
    solver = DenseSDP(tol=1e-3)
    tessera = model(solver=solver)
    before = solver.get_params()
    tessera.fit(SHEET)
    assert solver.get_params() == before
    assert tessera.solution_.gap <= 1e-3
    assert clone(tessera).get_params()["solver__tol"] == 1e-3


def test_new_samples_land_where_they_belong(fitted):
    new, new_flat = cylinder(200, seed=1)
    inside = np.all((new_flat > 0.1) & (new_flat < np.array([3.0, 1.5]) - 0.1), axis=1)
    motion = procrustes(fitted.embedding_, FLAT).transform
    errors = np.linalg.norm(motion.apply(fitted.transform(new[inside])) - new_flat[inside], axis=1)
    # The nearest training sample is farther away.
    assert np.median(errors) < np.median(cdist(new[inside], SHEET).min(axis=1))


def test_a_refused_refit_leaves_the_map(fitted):
    tessera = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    state = pickle.dumps(tessera)
    with pytest.raises(ValueError, match=r"All 10 samples|same|different"):
        tessera.set_params(n_links=2).fit(np.ones((10, 3)))
    tessera.set_params(n_links=None)
    assert pickle.dumps(tessera) == state


def test_axes_are_principal_after_the_projection_onto_the_kernel():
    """A linear kernel of three features confines pieces of a roll; the map has principal axes."""
    roll = datasets.swiss_roll(300, width=10.0, uniform=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        model = TesseraMap(kernel="linear", n_components=3, cover="kmeans", random_state=0)
        Y = model.fit_transform(roll.X)
    scatter = Y.T @ Y / len(Y)
    np.testing.assert_allclose(scatter, np.diag(np.diag(scatter)), atol=1e-9 * scatter.max())
    assert np.all(np.diff(np.diag(scatter)) <= 0.0)
    np.testing.assert_allclose(np.diag(scatter), model.spectrum_[:3], rtol=1e-9)
