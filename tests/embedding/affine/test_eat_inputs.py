"""EAT on bad and odd input: a map without NaN, or a message that says what was seen."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from isofold import EAT
from isofold.embedding.affine.base import usual_length
from isofold.exceptions import (
    DisconnectedGraphWarning,
    InvalidInputError,
    UnboundedProblemError,
)
from isofold.neighbors import build_graph
from isofold.sdp import DenseSDP
from support.mvu_cases import neighbor_graph, sparse_graph
from support.sdp_problems import path_edges

FLAT = np.random.RandomState(0).rand(30, 2)
SHEET = np.column_stack([FLAT, 0.3 * FLAT[:, 0] ** 2])
AWAY = np.array([20.0, 0.0, 0.0])
DISTANCES = cdist(SHEET, SHEET)
KERNEL = rbf_kernel(SHEET, SHEET, gamma=5.0)
PATH = path_edges(30)

# Two answers to nearly the same program, see test_eat.py.
SAME = 2e-3


def model(**parameters):
    return EAT(**{"random_state": 0, "n_jobs": 1, **parameters})


def changed(matrix, i, j, value, *, both=True):
    matrix = np.array(matrix)
    matrix[i, j] = value
    if both:
        matrix[j, i] = value
    return matrix


# Pairs and targets


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            {"keep": [[0, 1], [1, 2]], "stretch": [[2, 1]]},
            "1 pair.* in both stretch and keep.* samples 1 and 2 ",
        ),
        (
            {"keep": [[0, 1], [1, 2]], "free": [[1, 0], [5, 6]]},
            "1 pair.* in both free and keep.* samples 0 and 1 ",
        ),
        (
            {"keep": PATH, "stretch": [[3, 29], [4, 28]], "free": [[29, 3], [28, 4]]},
            "2 pair.* in both free and stretch.* samples 3 and 29 ",
        ),
        (
            {"keep": [[0, 1], [1, 0]], "targets": [1.0, 2.0]},
            "contradictory targets for the samples 1 and 0 .*: 1 and 2",
        ),
        (
            {"keep": sp.csr_array(([1.0, 3.0], ([2, 5], [5, 2])), shape=(30, 30))},
            "contradictory targets for the samples .*: 1 and 3",
        ),
        ({"keep": PATH, "targets": np.zeros(29)}, r"targets holds the distance 0 \(entry 0\)"),
        ({"keep": PATH, "targets": np.arange(29.0) - 5}, "targets holds the distance -5"),
        ({"keep": PATH, "targets": np.full(29, np.nan)}, "targets.*29 NaN"),
        ({"keep": PATH, "targets": np.full(29, np.inf)}, "targets.*29"),
        ({"keep": PATH, "targets": np.ones(28)}, r"targets has shape \(28,\)"),
        ({"keep": PATH, "targets": 1.0}, r"targets has shape \(\)"),
        ({"keep": PATH, "targets": "far"}, "targets"),
        ({"keep": PATH, "targets": np.ones((29, 1))}, r"targets has shape \(29, 1\).*30 samples"),
        ({"targets": np.ones(29)}, r"targets has shape \(29,\)"),
        (
            {"keep": sparse_graph(30, PATH, 1.0), "targets": np.ones(29)},
            r"targets has shape \(29,\)",
        ),
        ({"targets": np.ones((29, 29))}, r"targets has shape \(29, 29\).*30 samples"),
        ({"targets": changed(DISTANCES, 2, 7, 0.0)}, "distance zero between the samples 2 and 7"),
        ({"targets": changed(DISTANCES, 2, 7, -1.0)}, "targets.*negative"),
        ({"targets": changed(DISTANCES, 2, 7, np.nan)}, "targets.*NaN"),
        ({"targets": changed(DISTANCES, 2, 7, 9.0, both=False)}, "targets.*not symmetric"),
        ({"targets": DISTANCES + np.eye(30)}, "targets.*diagonal"),
        ({"keep": [[0, 30]]}, "keep names sample 30, but samples are 0 to 29"),
        ({"keep": [[-1, 3]]}, "keep names sample -1, but samples are 0 to 29"),
        ({"stretch": [[0, 30]]}, "stretch names sample 30"),
        ({"free": [[0, 30]]}, "free names sample 30"),
        ({"keep": [[0, 1], [4, 4]]}, "keep pairs sample 4 with itself"),
        ({"stretch": [[4, 4]]}, "stretch pairs sample 4 with itself"),
        ({"free": [[4, 4]]}, "free pairs sample 4 with itself"),
        ({"keep": [[0.0, 1.0]]}, r"keep has shape \(1, 2\) and dtype float64"),
        ({"keep": [[0, 1, 2]]}, r"keep has shape \(1, 3\)"),
        ({"keep": [0, 1]}, r"keep has shape \(2,\)"),
        ({"keep": DISTANCES}, r"keep has shape \(30, 30\) and dtype float64"),
        ({"keep": "neighbors"}, "keep"),
        ({"keep": np.array([[True, False]])}, "keep .*dtype bool"),
        ({"keep": []}, "No pair of different samples is left to keep"),
        ({"keep": sp.csr_array((30, 30))}, "No pair of different samples is left to keep"),
        ({"keep": sparse_graph(10, path_edges(10), 1.0)}, "keep has 10 rows.*30 samples"),
        ({"keep": neighbor_graph(10, path_edges(10), 1.0)}, "keep is a graph of 10 samples"),
        ({"keep": sparse_graph(30, PATH, -1.0)}, "keep.*negative"),
        ({"keep": sparse_graph(30, PATH, np.nan)}, "keep.*NaN"),
        (
            {"keep": sp.csr_array((np.zeros(1), ([0], [1])), shape=(30, 30))},
            "keep holds the distance 0",
        ),
        (
            {"free": np.argwhere(np.triu(np.ones((30, 30)), k=1))},
            "No pair of different samples is left to keep",
        ),
    ],
)
def test_pairs_that_make_no_sense(told, message):
    with pytest.raises(InvalidInputError, match=message):
        model().fit(SHEET, **told)


def test_kept_pairs_in_pieces_are_refused():
    # A kernel of full rank can move the pieces apart without end.
    keep = np.delete(PATH, 14, axis=0)
    for slack in (0.0, 0.01):
        with pytest.raises(UnboundedProblemError) as refused:
            model(gamma=30.0, slack=slack).fit(SHEET, keep=keep)
        assert refused.value.n_components == 2


def test_kept_pairs_that_leave_a_sample_alone_are_refused():
    with pytest.raises(UnboundedProblemError):
        model(gamma=30.0).fit(SHEET, keep=PATH[:-1])


def test_free_pairs_that_cut_neighbors_apart_are_refused():
    half = FLAT[:, 0] > 0.5
    crossing = np.argwhere(np.triu(half[:, None] != half, k=1))
    with pytest.raises(InvalidInputError, match="2 components"):
        model(gamma=30.0).fit(SHEET, free=crossing)
    near = build_graph(SHEET, n_neighbors=6).edges
    with pytest.raises(UnboundedProblemError):
        model(gamma=30.0).fit(SHEET, free=near[half[near[:, 0]] != half[near[:, 1]]])


def test_an_automatic_kernel_moves_pieces_apart_as_well():
    apart = np.concatenate([SHEET, SHEET + AWAY])
    near = build_graph(SHEET, n_neighbors=6).edges
    with pytest.raises(UnboundedProblemError):
        model().fit(apart, keep=np.concatenate([near, near + 30]))


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_a_matrix_cannot_move_pieces_apart_without_end():
    # Distances within pieces fix a linear map on all their directions, and so everywhere.
    X = np.concatenate([SHEET, SHEET + AWAY])
    near = build_graph(SHEET, n_neighbors=6).edges
    eat = model(kernel="linear", n_components=3, slack=0.0)
    eat.fit(X, keep=np.concatenate([near, near + 30]))
    np.testing.assert_allclose(cdist(eat.embedding_, eat.embedding_), cdist(X, X), rtol=SAME)


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gauss"}, "kernel='gauss' must be a function .*rbf, poly, linear"),
        ({"kernel": None}, "kernel=None"),
        ({"kernel": 3}, "kernel=3"),
        ({"kernel": KERNEL}, "kernel="),
        ({"kernel": lambda X, Y: X}, r"kernel function returned an array of shape \(30, 3\)"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, "not finite"),
        (
            {"kernel": lambda X, Y: np.ones((len(X), len(Y)))},
            "does not distinguish any two samples",
        ),
        ({"kernel": lambda X, Y: X @ Y.T + np.arange(len(Y))}, "kernel of X.*not symmetric"),
        ({"kernel": lambda X, Y: -X @ Y.T}, "does not distinguish|negative eigenvalues"),
        ({"kernel": lambda X, Y: X[:, :2] @ Y[:, :2].T - X[:, 2:] @ Y[:, 2:].T}, "negative eigen"),
        ({"gamma": "scale"}, "gamma='scale'"),
        ({"kernel_params": {"sigma": 1.0}}, "must be a dict with 'degree'"),
        ({"kernel_params": 3.0}, "must be a dict"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": np.nan}, "gamma=nan"),
        ({"gamma": np.inf}, "gamma=inf"),
        ({"gamma": None}, "gamma=None"),
        ({"gamma": True}, "gamma=True"),
        ({"kernel": "poly", "kernel_params": {"coef0": -1.0}}, "coef0=-1.0"),
        ({"kernel": "poly", "kernel_params": {"coef0": np.inf}}, "coef0=inf"),
        ({"kernel": "poly", "kernel_params": {"coef0": "one"}}, "coef0='one'"),
        ({"kernel": "poly", "kernel_params": {"degree": 0}}, "degree=0"),
        ({"kernel": "poly", "kernel_params": {"degree": 1.5}}, "degree=1.5"),
        ({"kernel": "poly", "kernel_params": {"degree": 2000}}, "leaves the range of numbers"),
        ({"slack": -0.1}, "slack=-0.1"),
        ({"slack": 1.0}, "slack=1.0"),
        ({"slack": np.nan}, "slack=nan"),
        ({"slack": None}, "slack=None"),
        ({"slack": True}, "slack=True"),
        ({"slack": "little"}, "slack='little'"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, "n_components=1.5"),
        ({"n_components": None}, "n_components=None"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"n_neighbors": "few"}, "n_neighbors='few'"),
        ({"solver": "clarabel"}, "solver='clarabel' must be a"),
        ({"solver": DenseSDP}, "solver=.*must be a"),
        ({"solver": DenseSDP(tol=-1.0)}, "tol=-1.0"),
        ({"solver": DenseSDP(max_iter=0)}, "max_iter=0"),
        ({"random_state": "seed"}, "random_state='seed'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        model().set_params(**parameters).fit(SHEET)


# Samples and kernels


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (SHEET[:1], r"1 sample\(s\), but EAT needs at least 2"),
        (np.full((10, 3), 2.5), "All 10 samples are the same"),
        (np.empty((10, 0)), "0 feature"),
        (SHEET[:, 0], "1D|2D|dimension"),
        (changed(SHEET, 3, 1, np.nan, both=False), "NaN"),
        (changed(SHEET, 3, 1, np.inf, both=False), "NaN|infinite"),
        (1e200 * SHEET, "units"),
        (1e-200 * SHEET, "units"),
        (sp.csr_array(SHEET), "[Ss]parse"),
        (SHEET.astype(complex), "[Cc]omplex"),
    ],
    ids=[
        "one",
        "equal",
        "no features",
        "vector",
        "NaN",
        "inf",
        "huge",
        "tiny",
        "sparse",
        "complex",
    ],
)
def test_samples_that_make_no_sense(X, message):
    with pytest.raises(ValueError, match=message):
        model().fit(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (KERNEL[:, :20], r"shape \(30, 20\).*square"),
        (changed(KERNEL, 2, 7, 0.0, both=False), "not symmetric"),
        (changed(KERNEL, 2, 7, 3.0), "samples 2 and 7 .*distance -4: .*not positive semidefinite"),
        (changed(KERNEL, 2, 7, -0.9), "negative eigenvalues.*not positive semidefinite"),
        (-KERNEL, "not positive semidefinite"),
        (changed(KERNEL, 2, 7, np.nan), "NaN"),
        (np.ones((10, 10)), "All 10 samples are the same"),
        (np.ones((1, 1)), "needs at least 2"),
    ],
    ids=["oblong", "skew", "impossible", "indefinite", "negative", "NaN", "equal", "one"],
)
def test_kernels_that_make_no_sense(X, message):
    with pytest.raises(InvalidInputError, match=message):
        model(kernel="precomputed").fit(X)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_rows_of_another_kernel_are_refused():
    eat = model(kernel="precomputed").fit(KERNEL)
    with pytest.raises(InvalidInputError, match=r"20 features.*expecting 30"):
        eat.transform(KERNEL[:3, :20])
    with pytest.raises(InvalidInputError, match="NaN"):
        eat.transform(np.full((1, 30), np.nan))


def test_new_samples_that_make_no_sense():
    with pytest.raises(NotFittedError):
        model().transform(SHEET)
    eat = model().fit(SHEET)
    with pytest.raises(InvalidInputError, match=r"2 features.*expecting 3"):
        eat.transform(FLAT)
    with pytest.raises(InvalidInputError, match="NaN"):
        eat.transform(np.full((1, 3), np.nan))


def test_a_sample_far_away_goes_to_the_image_of_nothing():
    # Its kernel row is zero: the same image for all such samples, and a finite one.
    eat = model().fit(SHEET)
    far = eat.transform([[1e6, 0.0, 0.0], [0.0, -1e8, 0.0]])
    np.testing.assert_array_equal(far[0], far[1])
    assert np.isfinite(far).all()


# Odd data


def test_copies_count_once():
    eat = model().fit(np.concatenate([SHEET, SHEET[::7], SHEET[::7]]))
    alone = model().fit(SHEET)
    np.testing.assert_array_equal(eat.embedding_[:30], alone.embedding_)
    np.testing.assert_array_equal(eat.embedding_[30:], np.tile(alone.embedding_[::7], (2, 1)))
    assert eat.distortion_.shape == (40,)
    assert len(eat.dual_coef_) == 30
    np.testing.assert_array_equal(eat.transform(SHEET[:4]), alone.transform(SHEET[:4]))


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_copies_in_a_kernel_count_once():
    which = np.concatenate([[4, 4], np.arange(30)])
    eat = model(kernel="precomputed").fit(KERNEL[np.ix_(which, which)])
    np.testing.assert_array_equal(eat.embedding_[0], eat.embedding_[6])
    np.testing.assert_array_equal(eat.embedding_[1], eat.embedding_[6])
    np.testing.assert_allclose(eat.transform(KERNEL[:, which]), eat.embedding_[2:], atol=1e-5)


def test_distances_between_copies_are_refused():
    X = np.concatenate([SHEET, SHEET[:1]])
    keep = np.concatenate([PATH, [[0, 30]]])
    with pytest.raises(InvalidInputError, match=r"between the samples 0 and 30.*same features"):
        model().fit(X, keep=keep, targets=np.ones(30))
    # Without a distance the pair says nothing.
    assert len(model().fit(X, keep=keep).pairs_.keep) == 29


def test_a_target_for_copies_of_two_samples_is_one_target():
    X = np.concatenate([SHEET, SHEET[:2]])
    keep = np.concatenate([PATH, [[30, 31]]])
    lengths = np.concatenate([np.ones(29), [2.0]])
    with pytest.raises(InvalidInputError, match="contradictory targets for the samples 30 and 31"):
        model().fit(X, keep=keep, targets=lengths)


def test_more_neighbors_than_there_are():
    eat = model(n_neighbors=500).fit(SHEET[:8])
    assert eat.graph_.n_edges == 28


def test_more_components_than_there_are():
    eat = model(n_components=7).fit(SHEET[:5])
    assert eat.embedding_.shape == (5, 7)
    np.testing.assert_allclose(eat.embedding_[:, 4:], 0.0, atol=SAME)
    assert eat.transform(SHEET).shape == (30, 7)


def test_one_feature():
    X = np.random.RandomState(0).rand(30, 1)
    eat = model(n_components=1, slack=0.0).fit(X)
    np.testing.assert_allclose(
        np.abs(eat.embedding_ - eat.embedding_[0]), np.abs(X - X[0]), atol=SAME
    )


@pytest.mark.parametrize("unit", [1e-50, 1e50])
def test_far_out_units(unit):
    eat = model().fit(unit * SHEET)
    np.testing.assert_allclose(eat.transform(unit * SHEET) / unit, eat.embedding_ / unit, atol=1e-6)


def test_far_from_the_origin():
    # Differences of coordinates near 1e6 keep ten digits.
    far, near = model().fit(SHEET + 1e6), model().fit(SHEET)
    np.testing.assert_allclose(
        cdist(far.embedding_, far.embedding_), cdist(near.embedding_, near.embedding_), atol=SAME
    )


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_one_sample_far_away():
    X = np.concatenate([SHEET, [[50.0, 0.0, 0.0]]])
    eat = model(n_neighbors=3).fit(X)
    assert np.isfinite(eat.embedding_).all()
    assert np.linalg.norm(eat.embedding_[-1] - eat.embedding_[:-1].mean(axis=0)) > 40.0


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_bridges_are_pairs_of_samples():
    apart = np.concatenate([SHEET[:5], SHEET, SHEET + AWAY])
    with pytest.warns(DisconnectedGraphWarning):
        eat = model().fit(apart)
    # Copies come first: nodes and samples have different numbers.
    gap = np.linalg.norm(apart[eat.bridges_[0, 0]] - apart[eat.bridges_[0, 1]])
    assert gap == pytest.approx(cdist(SHEET, SHEET + AWAY).min())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_heavy_tails_are_mapped(seed):
    X = np.random.RandomState(seed).standard_cauchy(size=(20, 4))
    eat = model().fit(X)
    assert np.isfinite(eat.embedding_).all()
    assert np.isfinite(eat.transform(10 * X)).all()
    assert np.isfinite([eat.preservation_error_, eat.stretch_, eat.discarded_variance_ratio_]).all()


def test_more_samples_than_it_can_take_are_refused_at_once():
    with pytest.raises(InvalidInputError, match=r"3001 samples.*TesseraMap"):
        EAT().fit(np.zeros((3001, 2)))


def test_one_long_link_does_not_widen_the_kernel():
    """The width comes from usual lengths: an outlier's link, ten times longer, does not count."""
    X = np.random.RandomState(0).rand(60, 2)
    lengths = np.array([1.0, 1.0, 2.0, 1.5, 90.0])
    assert usual_length(lengths) == np.mean(lengths[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gamma = EAT().fit(X).gamma_
        far = EAT().fit(np.r_[X, [[3.0, 0.0]]]).gamma_
    # A few links of other samples change their neighbor.
    assert far == pytest.approx(gamma, rel=0.2)
