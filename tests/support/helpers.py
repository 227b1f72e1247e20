"""What tests of several rooms share; independent of pytest."""

from __future__ import annotations

import pickle

import numpy as np
from sklearn.base import clone

from isofold._findings import Diagnosis
from isofold.linalg import procrustes


def assert_equal_up_to_rigid_motion(actual, expected, *, atol, reflection=True):
    """Assert that two sets of points differ by a rotation (or reflection) and a translation.

    Every point of `actual` must come within `atol` of its partner, in the units of `expected`.
    The set with fewer columns is taken to lie in a flat of the larger space.
    """
    actual = np.asarray(actual, dtype=np.float64)
    expected = np.asarray(expected, dtype=np.float64)
    assert actual.ndim == expected.ndim == 2, f"shapes {actual.shape} and {expected.shape}"
    assert len(actual) == len(expected), f"{len(actual)} rows against {len(expected)}"
    width = max(actual.shape[1], expected.shape[1])
    actual, expected = (
        np.pad(points, ((0, 0), (0, width - points.shape[1]))) for points in (actual, expected)
    )
    moved = procrustes(actual, expected, reflection=reflection).transform.apply(actual)
    gaps = np.linalg.norm(moved - expected, axis=1)
    worst = int(gaps.argmax())
    assert gaps[worst] <= atol, (
        f"after the best rigid motion point {worst} is {gaps[worst]:.3g} away from its partner "
        f"(allowed {atol:.3g}); rms over all points {np.sqrt((gaps**2).mean()):.3g}"
    )


def texts(findings):
    """Return what findings say."""
    return [finding.text() for finding in findings]


def assert_embedder_contract(embedder, X, *, atol, reproduces_training=True):
    """Assert what every embedder promises (see `isofold._base.BaseEmbedder`) on given points.

    `atol` is the rounding allowed between two ways to the same image of a point. A method whose
    map cannot return the training points says so by ``reproduces_training=False``.
    """
    X = np.array(X)
    original = X.copy()
    fitted = clone(embedder).fit(X)
    embedding = fitted.embedding_
    np.testing.assert_array_equal(X, original, err_msg="fit changed its input")
    assert not np.may_share_memory(embedding, X), "embedding_ is a view of the input"
    assert embedding.shape == (len(X), fitted.get_feature_names_out().size)
    assert np.isfinite(embedding).all()
    assert embedding.dtype == X.dtype
    assert fitted.n_features_in_ == X.shape[1]
    made_from = ("graph_", "cover_", "spanning_tree_")
    assert any(hasattr(fitted, name) for name in made_from), "neither graph_ nor cover_"
    assert isinstance(fitted.diagnosis_, Diagnosis), "no diagnosis_"
    assert hasattr(fitted, "map_"), "no map_"
    assert fitted.distortion_.shape == (len(X),)
    assert np.isfinite(fitted.distortion_).all()
    assert (fitted.distortion_ >= 0).all()

    # Same seed, same bytes: by another fit, by fit_transform and through a pickle, also where
    # the input may not be written to.
    X.flags.writeable = False
    np.testing.assert_array_equal(clone(embedder).fit_transform(X), embedding)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).transform(X[:5]),  # noqa: S301 - our own bytes
        fitted.transform(X[:5]),
    )

    if "n_jobs" in embedder.get_params():
        for n_jobs in (1, 2):
            again = clone(embedder).set_params(n_jobs=n_jobs).fit_transform(X)
            np.testing.assert_array_equal(again, embedding, err_msg=f"n_jobs={n_jobs} matters")

    before = pickle.dumps(fitted)
    together = fitted.transform(X)
    np.testing.assert_array_equal(X, original, err_msg="transform changed its input")
    assert pickle.dumps(fitted) == before, "transform changed the fitted state"
    for dtype in (np.float32, np.float64):
        assert fitted.transform(X[:5].astype(dtype)).dtype == dtype
    one_by_one = np.vstack([fitted.transform(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(one_by_one, together, err_msg="transform mixes rows")
    if reproduces_training:
        np.testing.assert_allclose(
            together, embedding, rtol=0, atol=atol, err_msg="transform(train)"
        )
