"""KernelLaplacianEigenmaps: Laplacian eigenmaps where these exist, and maps of strings."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from isofold import KernelLaplacianEigenmaps
from isofold.exceptions import DisconnectedGraphWarning, InvalidInputError
from isofold.similarity.kernels import RawObjects
from support.strings import families, mutated, nearest_error, shared_triples

RNG = np.random.RandomState(0)
SHEET = RNG.uniform(size=(160, 3)) * [4.0, 2.0, 0.1]
NEW = RNG.uniform(size=(20, 3)) * [4.0, 2.0, 0.1]
GAMMA = 0.4


def eigenmaps(**parameters):
    return KernelLaplacianEigenmaps(**{"gamma": GAMMA, **parameters})


def weights_of(K, k):
    """Return the graph of the k largest values, by sorting."""
    others = K - np.diag(np.diag(K))
    listed = np.zeros_like(K)
    order = np.argsort(-others, axis=1, kind="stable")[:, :k]
    np.put_along_axis(listed, order, np.take_along_axis(others, order, axis=1), axis=1)
    return np.maximum(listed, listed.T)


def up_to_sign(A, B):
    return max(min(np.abs(a - b).max(), np.abs(a + b).max()) for a, b in zip(A.T, B.T, strict=True))


@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_with_a_gaussian_kernel_it_is_laplacian_eigenmaps(n_components):
    W = weights_of(rbf_kernel(SHEET, gamma=GAMMA), 10)
    D = np.diag(W.sum(axis=1))
    values, vectors = scipy.linalg.eigh(D - W, D)
    model = eigenmaps(n_components=n_components).fit(SHEET)
    np.testing.assert_allclose(model.eigenvalues_[0], values[1 : n_components + 1], atol=1e-12)
    assert up_to_sign(model.embedding_, vectors[:, 1 : n_components + 1]) < 1e-8
    np.testing.assert_allclose(
        model.embedding_.T @ D @ model.embedding_, np.eye(n_components), atol=1e-10
    )


def test_unit_variance_is_another_scale():
    # Of one axis; of several in the mean.
    model = eigenmaps(n_components=1, scaling="variance").fit(SHEET)
    assert model.embedding_.std() == pytest.approx(1.0)
    both = eigenmaps(scaling="variance").fit(SHEET).embedding_
    assert both.var(axis=0).mean() == pytest.approx(1.0)


def test_values_functions_and_points_give_the_same():
    K, new = rbf_kernel(SHEET, gamma=GAMMA), rbf_kernel(NEW, SHEET, gamma=GAMMA)
    points = eigenmaps().fit(SHEET)
    given = [
        (eigenmaps(kernel="precomputed").fit(K), new),
        (eigenmaps(kernel="precomputed").fit(sp.csr_array(K)), sp.csr_array(new)),
        (eigenmaps(kernel=lambda A, B: rbf_kernel(A, B, gamma=GAMMA)).fit(SHEET), NEW),
        # As objects that are no rows of a table.
        (
            eigenmaps(kernel=lambda A, B: rbf_kernel(A, B, gamma=GAMMA)).fit(list(SHEET)),
            list(NEW),
        ),
    ]
    for model, rows in given:
        np.testing.assert_allclose(model.embedding_, points.embedding_, atol=1e-8)
        np.testing.assert_allclose(model.transform(rows), points.transform(NEW), atol=1e-8)


def test_single_precision():
    K = rbf_kernel(SHEET, gamma=GAMMA).astype(np.float32)
    model = eigenmaps(kernel="precomputed").fit(K)
    assert model.embedding_.dtype == np.float32
    np.testing.assert_array_equal(model.transform(K), model.embedding_)


def test_the_order_of_objects_does_not_matter():
    order = np.random.RandomState(1).permutation(len(SHEET))
    mixed = eigenmaps().fit(SHEET[order]).embedding_
    np.testing.assert_allclose(mixed, eigenmaps().fit(SHEET).embedding_[order], atol=1e-8)


def test_copies_lie_together_and_change_nothing():
    twice = np.vstack([SHEET, SHEET[:30]])
    model = eigenmaps().fit(twice)
    np.testing.assert_array_equal(model.embedding_[:30], model.embedding_[160:])
    np.testing.assert_allclose(model.embedding_[:160], eigenmaps().fit(SHEET).embedding_, atol=1e-8)
    np.testing.assert_array_equal(model.transform(twice), model.embedding_)


def test_training_objects_keep_their_coordinates():
    model = eigenmaps().fit(SHEET)
    np.testing.assert_array_equal(model.transform(SHEET), model.embedding_)
    # Nyström's formula itself says so, too: rows in which an object does not see itself.
    rows = rbf_kernel(SHEET, gamma=GAMMA)
    np.fill_diagonal(rows, 0.0)
    given = eigenmaps(kernel="precomputed").fit(rbf_kernel(SHEET, gamma=GAMMA))
    np.testing.assert_allclose(given.transform(rows), given.embedding_, atol=1e-8)


def test_new_objects_lie_among_their_neighbors():
    model = eigenmaps().fit(SHEET)
    nearest = ((NEW[:, None] - SHEET) ** 2).sum(axis=2).argmin(axis=1)
    apart = np.linalg.norm(model.transform(NEW) - model.embedding_[nearest], axis=1)
    # One edge of the graph is about a twelfth of the sheet.
    assert apart.max() < 0.25 * np.ptp(model.embedding_, axis=0).max()
    assert not model.map_.is_outside(NEW).any()


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
def test_families_of_strings():
    strings, family = families()
    model = KernelLaplacianEigenmaps(kernel=shared_triples).fit(strings)
    assert nearest_error(model.embedding_, family) == 0.0
    new = mutated(strings[::3])
    assert nearest_error(model.embedding_, family, model.transform(new), family[::3]) <= 0.04
    np.testing.assert_array_equal(model.transform(strings), model.embedding_)
    # Nothing in common with any.
    alien = model.transform(["XYZXYZ"])
    np.testing.assert_allclose(alien[0], model.map_.images.mean(axis=0), atol=1e-12)
    outside = model.map_.is_outside(RawObjects(("XYZXYZ", strings[0])))
    np.testing.assert_array_equal(outside, [True, False])


def blobs():
    rng = np.random.RandomState(0)
    centers = np.repeat([[0.0, 0.0], [30.0, 0.0], [0.0, 60.0]], [40, 30, 20], axis=0)
    return np.vstack([centers + rng.normal(size=(90, 2)), [[500.0, 500.0]]])


@pytest.mark.parametrize("given", ["points", "values", "stored"])
def test_components_are_mapped_by_themselves(given):
    X, gamma = blobs(), 0.01
    K = rbf_kernel(X, gamma=gamma)
    K[K < 1e-3] = 0.0
    kernel, rows = {
        "points": ("rbf", X),
        "values": ("precomputed", K),
        "stored": ("precomputed", sp.csr_array(K)),
    }[given]
    model = KernelLaplacianEigenmaps(n_neighbors=6, kernel=kernel, gamma=gamma)
    with pytest.warns(DisconnectedGraphWarning, match="4 components of 40, 30, 20, 1"):
        model.fit(rows)
    np.testing.assert_array_equal(np.bincount(model.component_), [40, 30, 20, 1])
    np.testing.assert_array_equal(model.transform(rows), model.embedding_)
    # Each is what it is alone, up to a rigid motion and a scale.
    alone = KernelLaplacianEigenmaps(n_neighbors=6, gamma=gamma).fit(X[:40])
    np.testing.assert_allclose(model.eigenvalues_[0], alone.eigenvalues_[0], atol=1e-10)
    A, B = (Y - Y.mean(axis=0) for Y in (alone.embedding_, model.embedding_[:40]))
    shares = np.linalg.svd(A.T @ B, compute_uv=False).sum() ** 2 / (np.sum(A**2) * np.sum(B**2))
    assert shares == pytest.approx(1.0, abs=1e-9)
    # They do not lie on each other.
    assert nearest_error(model.embedding_[:90], model.component_[:90]) == 0.0
    # New points go to their own component.
    if given == "points":
        found = model.transform(X[40:70] + 0.01)
        nearest = ((found[:, None] - model.embedding_) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(model.component_[nearest], 1)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
def test_objects_that_share_nothing():
    model = KernelLaplacianEigenmaps(kernel="precomputed").fit(sp.csr_array(sp.eye_array(400)))
    assert len(np.unique(model.embedding_, axis=0)) == 400
    pairs = sp.block_diag([np.array([[1.0, 0.5], [0.5, 1.0]])] * 3).tocsr()
    model.fit(pairs)
    np.testing.assert_array_equal(model.transform(pairs), model.embedding_)
    assert model.eigenvalues_[0, 0] == pytest.approx(2.0)


def test_two_objects():
    model = eigenmaps().fit(SHEET[:2])
    assert model.embedding_[0, 0] == pytest.approx(-model.embedding_[1, 0])
    assert not model.embedding_[:, 1].any()


def test_what_is_found():
    model = KernelLaplacianEigenmaps(kernel="linear").fit(SHEET - SHEET.mean(axis=0))
    assert "eigenvectors" in model.diagnosis_["spectral_axes"].text()
    assert model.diagnosis_["negative_kernel"].value == pytest.approx(
        np.mean((SHEET - SHEET.mean(axis=0)) @ (SHEET - SHEET.mean(axis=0)).T < 0.0)
    )
    assert np.isfinite(model.distortion_).all()
    assert model.graph_.n_nodes == len(SHEET)


@pytest.mark.parametrize(
    ("parameters", "X", "words"),
    [
        ({"scaling": "unit"}, SHEET, "scaling"),
        ({"normalize": "yes"}, SHEET, "normalize"),
        ({"n_neighbors": 0}, SHEET, "n_neighbors"),
        ({"kernel": "precomputed"}, SHEET, "square"),
        ({"kernel": "precomputed"}, np.full((5, 5), np.nan), "NaN"),
        ({"kernel": "precomputed"}, sp.csr_array(np.full((5, 5), np.nan)), "NaN"),
        ({"kernel": "precomputed"}, sp.csr_array(np.eye(5) * 1j), "real"),
        ({"kernel": shared_triples}, "ACGT", "collection of objects"),
        ({"kernel": shared_triples}, ["ACGT", None], "None"),
        ({"kernel": shared_triples}, ["ACGT"], "at least 2"),
        ({"kernel": "rbf"}, ["ACGT", "ACCT"], "convert|2D"),
    ],
)
def test_what_cannot_be_is_refused(parameters, X, words):
    with pytest.raises(InvalidInputError, match=words):
        KernelLaplacianEigenmaps(**parameters).fit(X)


def test_rows_of_another_width_are_refused():
    model = eigenmaps(kernel="precomputed").fit(rbf_kernel(SHEET))
    for rows in (np.ones((2, 30)), sp.csr_array(np.ones((2, 30)))):
        with pytest.raises(InvalidInputError, match="30 features"):
            model.transform(rows)
