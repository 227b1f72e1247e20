"""PLML keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import PLML
from support.estimator_checks import checks_of_forms
from support.helpers import assert_embedder_contract

# A rotation of coordinates of size one, in the precision of the input.
ROUNDING = {np.float32: 1e-6, np.float64: 1e-12}


def cylinder(n, seed=0):
    """Return points of an arc of a cylinder."""
    flat = np.random.RandomState(seed).rand(n, 2) * [3.0, 1.5]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]])


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@checks_of_forms(
    PLML(random_state=0),
    PLML(n_components=1, cell_size=4, clustering="mst", merge="orthogonal", n_neighbors=3),
    PLML(n_components=1, cell_size=12, clustering="gmm", refine=True, random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    # The checks' data are small clouds of noise, some in groups: maps of these must be doubtful.
    check(estimator)


@pytest.mark.parametrize(
    ("options", "dtype"),
    [
        ({"cell_size": 9}, np.float64),
        ({}, np.float32),
        ({"clustering": "gmm", "cell_size": 15, "merge": "parallel_projections"}, np.float64),
        ({"clustering": "mst", "merge": "orthogonal"}, np.float32),
        ({"merge": "isomap", "cell_size": 20}, np.float64),
        ({"refine": True, "cell_size": 12}, np.float64),
        ({"n_components": 3, "cell_size": 8}, np.float64),
    ],
)
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_contract(options, dtype):
    X = cylinder(90).astype(dtype)
    assert_embedder_contract(PLML(random_state=0, **options), X, atol=ROUNDING[dtype])


def test_workers_do_not_matter_where_there_is_work():
    X = cylinder(4000)
    one, two = (PLML(random_state=0, cell_size=12, n_jobs=n).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_frames_in_and_out():
    frame = pd.DataFrame(cylinder(60), columns=["x", "y", "z"], index=[f"s{i}" for i in range(60)])
    plml = PLML(random_state=0, cell_size=10).set_output(transform="pandas")
    out = plml.fit_transform(frame)
    assert list(out.columns) == ["plml0", "plml1"]
    assert list(out.index) == list(frame.index)
    np.testing.assert_array_equal(out.to_numpy(), plml.embedding_)
    np.testing.assert_array_equal(plml.feature_names_in_, ["x", "y", "z"])
    back = plml.inverse_transform(plml.embedding_)
    np.testing.assert_array_equal(np.shape(back), (60, 3))


def test_works_at_the_end_of_a_pipeline():
    X = cylinder(60)
    both = make_pipeline(StandardScaler(), PLML(random_state=0, cell_size=10))
    np.testing.assert_array_equal(both.fit_transform(X), both.transform(X))


def test_a_refused_fit_keeps_the_last():
    plml = PLML(random_state=0, cell_size=10).fit(cylinder(60))
    before = plml.embedding_
    with pytest.raises(ValueError, match="n_neighbors"):
        plml.set_params(n_neighbors=0).fit(cylinder(50))
    assert plml.embedding_ is before
    np.testing.assert_array_equal(plml.transform(cylinder(60)), before)
