"""The judge is judged: truths are isometric, rules follow geometry, verdicts are fair."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from experiments.hostile import run as runner
from experiments.hostile.draws import SIZES, local_spacing, make_draw
from experiments.hostile.families import FAMILIES
from experiments.hostile.judge import true_errors
from experiments.hostile.run import COLUMNS, run, run_draw
from experiments.hostile.summarize import judged, summary
from sklearn.neighbors import NearestNeighbors

MIRROR = np.array([[0.6, 0.8], [0.8, -0.6]])
"""A mirror image, rotated."""

NEVER_FLAT = {
    "blob",
    "cap",
    "catenoid",
    "crossing_sheets",
    "handle",
    "helicoid",
    "moebius_strip",
    "saddle",
    "sphere",
    "torus",
    "tube",
}

each_family = pytest.mark.parametrize("name", FAMILIES)


def draw_of(name, n, seed=0):
    return FAMILIES[name](n, np.random.RandomState([seed, n]))


@each_family
def test_truths_are_isometric(name):
    # Of a chord of length d on a bend of radius R, (d / R)² / 24 is lost. The shortest twentieth of
    # all pairs of neighbors has d of some tenths of a spacing, and R is more than a spacing but at
    # few places: a tenth of these pairs may lie there. Lattices have pairs of all directions only
    # together, and gentle bends: R is more than 15 spacings.
    drawn = [draw_of(name, 2000, seed) for seed in range(6)]
    surfaces = [surface for surface in drawn if surface.loss == 0.0]
    assert bool(surfaces) == (name not in NEVER_FLAT)
    for surface in surfaces[:3]:
        assert surface.truth.shape == (len(surface.X), surface.n_components)
        near = NearestNeighbors(n_neighbors=6).fit(surface.truth).kneighbors()[1]
        i, j = np.repeat(np.arange(len(near)), 6), near.ravel()
        if surface.labels is not None:
            same = surface.labels[i] == surface.labels[j]
            i, j = i[same], j[same]
        true = np.linalg.norm(surface.truth[i] - surface.truth[j], axis=1)
        found = np.linalg.norm(surface.X[i] - surface.X[j], axis=1)
        # A chord is never longer than the path along the surface.
        assert (found <= true * (1 + 1e-6) + 1e-9).all()
        shortest = true <= np.quantile(true, 1.0 if name == "lattice" else 0.05)
        assert np.quantile((found / true)[shortest], 0.1) > 1 - 2e-3


@each_family
def test_draws_depend_on_seed_and_number_only(name):
    number = list(FAMILIES).index(name) + len(FAMILIES)
    draw, same = (make_draw(3, number, largest=300) for _ in range(2))
    assert draw.family == name
    np.testing.assert_array_equal(draw.X, same.X)
    assert np.isfinite(draw.X).all()
    assert 3 <= draw.X.shape[1] <= 50
    assert draw.judged.mean() > 0.5
    assert draw.unknown == same.unknown
    assert SIZES[0] // 2 < len(draw.X) <= 2 * 300


def test_spacing_is_the_side_of_a_cell():
    surface = FAMILIES["saddle"](4000, np.random.RandomState(0))
    flat = surface.X[:, :2]
    # 4,000 points on a square of side 2; six neighbors scatter by 1 / √6 / 2, and rims add some.
    spacing = local_spacing(replace(surface, truth=flat))
    assert np.median(spacing) == pytest.approx(2 / np.sqrt(4000), rel=0.1)


def test_near_layers_cannot_be_known():
    seen = set()
    for number in range(0, 40 * len(FAMILIES), len(FAMILIES)):
        draw = make_draw(8, number, largest=400)
        if draw.options["density"] == "even" and draw.noise == 0:
            seen.add(draw.unknown)
            # The spacing is measured at every sample: near the limit the rule may go either way.
            if draw.options["gap"] < 0.35:
                assert draw.unknown == "layers nearer than half a spacing"
            elif draw.options["gap"] > 0.8:
                assert draw.unknown == ""
    assert len(seen) == 2


def flat_draw(**changes):
    number = list(FAMILIES).index("holed")
    return replace(make_draw(1, number, largest=200), **{"judged": np.ones(1, bool)} | changes)


def sheet(n=200):
    truth = np.random.RandomState(0).uniform(size=(n, 2)) * [2.0, 1.0]
    return flat_draw(truth=truth, X=truth, judged=np.ones(n, dtype=bool))


def test_rigid_motions_are_no_error():
    draw = sheet()
    errors = true_errors(draw, draw.truth @ MIRROR + 5.0, components=None, outliers=None)
    assert errors.error == pytest.approx(0.0, abs=1e-12)
    assert errors.wrong == 0.0


def test_few_points_wrong_are_found_unless_marked():
    draw = sheet()
    Y = draw.truth.copy()
    Y[:4] += 3.0
    outliers = np.arange(len(Y)) < 4
    silent = true_errors(draw, Y, components=None, outliers=None)
    marked = true_errors(draw, Y, components=None, outliers=outliers)
    assert (silent.wrong, silent.n_wrong_unmarked) == (0.02, 4)
    assert (marked.wrong, marked.n_wrong_unmarked) == (0.02, 0)
    unseen = true_errors(replace(draw, judged=~outliers), Y, components=None, outliers=None)
    assert unseen.error == pytest.approx(0.0, abs=1e-12)


def test_components_may_lie_anywhere_if_they_are_known():
    labels = np.arange(200) % 2
    draw = replace(sheet(), labels=labels, is_placed=False, is_apart=True)
    Y = draw.truth + 100.0 * labels[:, None]
    assert true_errors(draw, Y, components=labels, outliers=None).error == pytest.approx(
        0, abs=1e-12
    )
    assert true_errors(draw, Y, components=None, outliers=None).error == np.inf
    # Stripes of one sheet have their places: right ones need no word, wrong ones do.
    stripes = replace(draw, is_placed=True)
    assert true_errors(stripes, draw.truth, components=None, outliers=None).error < 1e-12
    assert true_errors(stripes, Y, components=None, outliers=None).error > 0.5
    assert true_errors(stripes, Y, components=labels, outliers=None).error < 1e-12
    # But a connected sheet must not be torn, whatever is said.
    whole = replace(stripes, is_apart=False)
    assert true_errors(whole, Y, components=labels, outliers=None).error > 0.5


ROW = dict.fromkeys(COLUMNS, np.nan) | {
    "method": "ipa",
    "seed": 0,
    "number": 0,
    "family": "fold",
    "n_samples": 1000,
    "n_features": 3,
    "n_components": 2,
    "noise": 0.0,
    "options": "{}",
    "has_truth": True,
    "loss": 0.0,
    "floor": 0.0,
    "is_apart": False,
    "has_outliers": False,
    "error": 0.01,
    "wrong": 0.0,
    "wrong_unmarked": 0.0,
    "n_wrong_unmarked": 0,
    "seconds": 1.0,
}
FEW = {"wrong": 0.01, "wrong_unmarked": 0.01, "n_wrong_unmarked": 10}
CASES = {
    "good": ({}, "good", False, False),
    "alarm": ({"raised": "W", "doubts": "misfit"}, "good", False, True),
    "right about components": (
        {"raised": "W", "doubts": "components", "is_apart": True},
        "good",
        False,
        False,
    ),
    "more than components": (
        {"raised": "W", "doubts": "components misfit", "is_apart": True},
        "good",
        False,
        True,
    ),
    "torn": ({"raised": "W", "doubts": "components"}, "good", False, True),
    "doubts within Unfold": ({"method": "unfold", "doubts": "misfit"}, "good", False, False),
    "silent": ({"error": 0.2}, "failure", True, False),
    "above the floor": ({"error": 0.04, "floor": 0.01}, "failure", True, False),
    "heard": ({"error": 0.2, "raised": "W", "doubts": "misfit"}, "failure", False, False),
    "torn where nobody can know": (
        {"raised": "W", "doubts": "misfit", "unknown": "hinge"},
        "good",
        False,
        False,
    ),
    "closed": ({"has_truth": False, "loss": np.inf, "error": np.nan}, "failure", True, False),
    "hardly curved": ({"loss": 0.01, "raised": "W", "doubts": "misfit"}, "curved", False, False),
    "few wrong": (FEW, "few points wrong", True, False),
    "few wrong, marked": (
        FEW | {"wrong_unmarked": 0.0, "n_wrong_unmarked": 0},
        "few points wrong",
        False,
        False,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_verdicts(name):
    changes, verdict, silent, alarm = CASES[name]
    [row] = judged(pd.DataFrame([ROW | changes])).to_dict("records")
    assert (row["verdict"], row["silent"], row["alarm"]) == (verdict, silent, alarm)


def test_what_nobody_can_know_is_counted_apart():
    rows = [{"error": 0.2}, {"error": 0.2, "unknown": "hinge"}, {"exception": "boom"}]
    text = summary(pd.DataFrame([ROW | row for row in rows]))
    assert "| all | 2 | 0 | 0 | - | 2 | 0 | 2 | 100% | 0 |" in text
    assert "| can be known | 1 | 0 | 0 | - | 1 | 0 | 1 | 100% | 0 |" in text
    assert "| hinge | 1 | 0 | 0 | - | 1 | 0 | 1 | 100% | 0 |" in text
    assert "boom" in text


@pytest.mark.parametrize(("method", "family"), [("ipa", "cone"), ("unfold", "part_cylinder")])
def test_a_draw_is_fitted_and_judged(method, family):
    row = run_draw(method, make_draw(2, list(FAMILIES).index(family), largest=100))
    assert set(row) <= set(COLUMNS)
    assert "exception" not in row
    assert row["error"] >= 0.0


def test_exceptions_are_rows():
    draw = make_draw(2, 0, largest=160)
    row = run_draw("ipa", replace(draw, X=np.full_like(draw.X, np.nan)))
    assert "NaN" in row["exception"]


def test_runs_resume_and_are_cut_short(tmp_path, monkeypatch):
    path = tmp_path / "draws.csv"
    how = {"seed": 4, "largest": 150}
    run("ipa", path, numbers=range(1), **how)
    before = path.read_text()
    # Whatever takes longer than nothing is ended; what is there is not repeated.
    monkeypatch.setattr(runner, "MOST_WAITING", 0.0)
    run("ipa", path, numbers=range(2), **how)
    assert path.read_text().startswith(before)
    rows = pd.read_csv(path)
    assert list(rows.number) == [0, 1]
    assert pd.isna(rows.exception[0])
    assert rows.exception[1].startswith("Ended")


def test_what_only_the_decision_admits_is_heard():
    # A cloud of more dimensions than the map: said by the decision, warning or not.
    row = run_draw("unfold", make_draw(2, list(FAMILIES).index("blob"), largest=60))
    assert "more_dimensions" in row["admitted"].split()
