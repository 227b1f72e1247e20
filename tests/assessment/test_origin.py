"""How maps were made: names, parameters, and code that makes them again."""

import warnings

import numpy as np
import pytest
from sklearn.manifold import Isomap
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import IPA, OutOfSample, assess
from isofold._base import BaseEmbedder
from isofold.assessment.origin import describe_method, describe_origin
from isofold.datasets import s_curve
from support.storage_cases import CASES, EMBEDDERS, SMALL, fitted


def run(code, **given):
    """Run the lines that make a map, without the page, and return the model."""
    names = dict(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("\n".join(code[:-1]), names)  # noqa: S102 - our own code
    return names["model"]


def test_methods_have_names(roll, unfold):
    assert describe_method(None) == "given coordinates"
    assert describe_method(unfold) == "Unfold, which chose IPA"
    assert describe_method(make_pipeline(StandardScaler(), Isomap())) == "Isomap"
    wrapped = OutOfSample(Isomap(n_neighbors=8)).fit(roll)
    assert describe_method(wrapped) == "OutOfSample of Isomap"
    parameters = dict(describe_origin(wrapped).parameters)
    assert parameters["estimator"] == "Isomap(n_neighbors=8)"


def test_long_parameters_are_abbreviated():
    model = IPA(cover=np.zeros(800, dtype=int), random_state=np.random.RandomState(0))
    origin = describe_origin(model)
    assert dict(origin.parameters)["cover"] == "ndarray of shape (800,)"
    assert dict(origin.parameters)["random_state"] == "RandomState"
    assert "model = IPA(cover=..., random_state=...).fit(X)" in origin.code
    model.set_params(cover="x" * 500)
    assert len(dict(describe_origin(model).parameters)["cover"]) == 120


def test_versions_are_kept():
    versions = dict(describe_origin(None).versions)
    assert set(versions) == {"python", "isofold", "numpy", "scipy", "scikit-learn"}
    assert versions["numpy"] == np.__version__


def test_coordinates_are_shown_again():
    assert describe_origin(None).code == (
        "from isofold import report",
        'report(X, Y, "report.html")  # Y: the coordinates',
    )


@pytest.mark.parametrize("name", EMBEDDERS)
def test_the_code_makes_an_equal_model(name, monkeypatch):
    # Code and parameters are those of the estimator, so that the cases need not be fitted.
    monkeypatch.setattr(BaseEmbedder, "fit", lambda self, *_, **__: self)
    model = CASES[name][0]()
    code = describe_origin(model).code
    if any("..." in line for line in code):
        pytest.skip("a parameter that no code makes")
    line = next(line for line in code if line.startswith("model = "))
    # Made again without the fit, which the next test runs for some.
    made = run([*code[: code.index(line)], line.split(".fit(")[0].split(".from_")[0], "report"])
    if isinstance(made, type):
        made = made()
    assert describe_origin(made).parameters == describe_origin(model).parameters


def test_the_code_runs_with_what_it_asks_for():
    X = s_curve(120, random_state=0).X
    colored = fitted("colored mvu")
    code = describe_origin(colored).code
    assert code[1] == "model = ColoredMVU(random_state=0).fit(X, y)  # y: the labels"
    again = run(code, X=SMALL, y=SMALL[:, 1])
    np.testing.assert_array_equal(again.embedding_, colored.embedding_)
    placed = fitted("out of sample embedding")
    again = run(describe_origin(placed).code, X=SMALL, Y=SMALL[:, :2])
    np.testing.assert_array_equal(again.embedding_, placed.embedding_)
    pipeline = make_pipeline(StandardScaler(), Isomap(n_neighbors=8)).fit(X)
    again = run(describe_origin(pipeline).code, X=X)
    np.testing.assert_array_equal(again[-1].embedding_, pipeline[-1].embedding_)


def test_models_of_pairs_are_fitted_to_these():
    code = assess(SMALL, fitted("eat kernel")).origin.code
    assert code[1].startswith("model = EAT(kernel='precomputed', random_state=0).fit(table)")
