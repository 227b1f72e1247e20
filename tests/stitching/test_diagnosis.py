"""Findings about stitched patches: figures that are what they say."""

import numpy as np
import pytest

from isofold._findings import Diagnosis
from isofold.datasets import spherical_cap
from isofold.extension.placed_outliers import PlacedOutliers
from isofold.stitching.diagnosis import find_doubts
from isofold.stitching.evidence import (
    closing_steps,
    contraction,
    curvature_loss,
    estimate_error,
    noise_of,
)
from support.ipa_cases import grid, half_cylinder, rectangle, stitched

# A flat grid has no error but rounding.
ROUNDING = 1e-12


NO_OUTLIERS = PlacedOutliers(0.0, np.zeros(0))


def diagnosed(found, *, outliers=NO_OUTLIERS):
    findings = find_doubts(
        found.points,
        found.map,
        relaxation=None,
        error=estimate_error(found.map, outliers),
        outlier_fraction=outliers.fraction,
    )
    return Diagnosis(findings)


@pytest.fixture(scope="module")
def flat():
    return stitched(np.pad(grid(), ((0, 0), (0, 1))))


def test_flat_grid_raises_nothing(flat):
    found = diagnosed(flat)
    assert found.is_sound
    for name in ("misfit", "contraction", "bending", "error", "curvature", "projected", "noise"):
        assert found[name].value == pytest.approx(0.0, abs=1e-6), name
    assert found["components"].value == 1
    assert found["closure"].value == 1.0


def test_every_flag_speaks(flat):
    names = [doubt.code for doubt in diagnosed(flat).findings]
    assert len(set(names)) == len(names)
    for doubt in diagnosed(flat).findings:
        assert doubt.message().endswith(".")
        assert doubt.advice().endswith(".")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.06, 0.5])
def test_share_of_outliers(flat, share):
    doubt = diagnosed(flat, outliers=PlacedOutliers(share, np.zeros(3)))["outliers"]
    assert doubt.value == share
    assert doubt.is_raised == (share > 0.05)


def test_pieces_are_counted():
    squares = np.concatenate([grid(7, 8), grid(7, 8) + 40.0, grid(7, 7) - 40.0])
    found = diagnosed(stitched(np.pad(squares, ((0, 0), (0, 1)))))
    assert found["components"].value == 3
    assert "56, 56, 49 points" in found["components"].message()
    assert [doubt.code for doubt in found.raised] == ["components"]


@pytest.mark.parametrize("sigma", [0.02, 0.05])
def test_estimated_error_is_that_of_the_noise(sigma):
    rng = np.random.RandomState(0)
    X = np.pad(rectangle(1000, (4.0, 3.0)), ((0, 0), (0, 1))) + rng.normal(
        scale=sigma, size=(1000, 3)
    )
    # σ √(r / var(Y)) with var(Y) = (4² + 3²)/12, within a fifth.
    expected = sigma * np.sqrt(2 / (25 / 12))
    error = estimate_error(stitched(X).map, NO_OUTLIERS)
    assert error.total == pytest.approx(expected, rel=0.2)


def test_estimated_error_of_a_clean_sheet_bounds_the_true_one():
    flat = stitched(np.pad(grid(), ((0, 0), (0, 1)))).map
    assert estimate_error(flat, NO_OUTLIERS).total < ROUNDING


@pytest.mark.parametrize("moved", [0.5, 7.0])
def test_outliers_in_doubtful_places(flat, moved):
    # One sample in a hundred may be so far from its true place.
    outliers = PlacedOutliers(0.01, np.array([moved]))
    error = estimate_error(flat.map, outliers)
    expected = np.sqrt(0.01 * moved**2 / flat.points.var(axis=0).sum())
    assert error.outliers == pytest.approx(expected)
    assert error.total == pytest.approx(expected)
    doubt = diagnosed(flat, outliers=outliers)["outliers"]
    assert doubt.is_raised == (expected > 0.02)
    if doubt.is_raised:
        assert doubt.value == pytest.approx(expected)


def test_contraction_is_the_share_of_near_pairs_that_are_far_in_the_data(flat):
    Y, noise = flat.map.embedding, noise_of(flat.map)
    assert contraction(flat.points, Y, noise) == 0.0
    # Rows of the grid that lie on each other on the map, but are a hundred apart in the data.
    torn = flat.points + [[0.0, 0.0, 100.0]] * (flat.points[:, 1:2] % 2)
    share = contraction(torn, Y, noise)
    # Of the nearest five of a node two are in its row, so that more than half are torn.
    assert 0.4 < share < 0.8


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("angle", [20.0, 40.0])
def test_curvature_of_a_cap(angle, unit):
    found = stitched(unit * spherical_cap(600, angle=angle, random_state=0).X)
    # K · var(Y) / 8, with K = 1/R² and the variance of a disk of the cap's area, 1 - cos(angle).
    expected = (1 - np.cos(np.radians(angle))) / 8
    assert curvature_loss(found.map.components[0]) == pytest.approx(expected, rel=0.25)


def test_bent_but_not_curved():
    found = stitched(half_cylinder(rectangle(400, (np.pi, 1.5))))
    assert curvature_loss(found.map.components[0]) < 1e-3
    assert not diagnosed(found)["curvature"].is_raised


def test_noise_names_its_patches():
    rng = np.random.RandomState(0)
    # The right half of the sheet is a cloud as thick as it is wide.
    X = np.pad(rectangle(600, (12.0, 3.0)), ((0, 0), (0, 1)))
    thick = X[:, 0] > 9
    X[thick, 2] += rng.uniform(-1.5, 1.5, size=thick.sum())
    found = stitched(X)
    doubt = diagnosed(found)["noise"]
    assert doubt.is_raised
    assert 0.1 < doubt.value < 0.6
    seeds = found.map.cover.seeds[doubt.patches]
    assert np.median(found.points[seeds, 0]) > 9


def test_bending_names_its_patches():
    # A tight bend of radius .3 at the end of a plane, with as few points.
    flat = rectangle(250, (8.0, 3.0))
    x, y = flat.T
    bent = np.maximum(x - 7.0, 0.0) / 0.3
    X = np.column_stack([np.minimum(x, 7.0) + 0.3 * np.sin(bent), y, 0.3 * (1 - np.cos(bent))])
    found = stitched(X)
    doubt = diagnosed(found)["bending"]
    seeds = found.map.cover.seeds[doubt.patches]
    assert len(seeds) > 0
    assert found.points[seeds, 0].min() > 5.0


def test_patches_of_later_pieces_are_numbered_on():
    rng = np.random.RandomState(0)
    sheet = np.pad(rectangle(300, (6.0, 3.0)), ((0, 0), (0, 1)))
    cloud = 30.0 + rng.uniform(size=(200, 3)) * 3.0
    found = stitched(np.concatenate([sheet, cloud]))
    first, second = found.map.components
    doubt = diagnosed(found)["noise"]
    assert (doubt.patches >= first.cover.n_patches).all()
    assert (doubt.patches < first.cover.n_patches + second.cover.n_patches).all()
    assert diagnosed(found)["projected"].value == pytest.approx(200 / 500, abs=0.02)


def test_ends_of_a_curve_in_longest_steps():
    # Points on a line in steps of one, but for one of two: the ends are 60 apart.
    line = np.r_[0:30, 31:61].astype(float)
    found = stitched(np.column_stack([line, np.zeros(60)]), r=1)
    piece = found.map.components[0]
    assert piece.cover.n_patches > 1
    assert closing_steps(found.points, piece) == pytest.approx(30.0)
    assert not diagnosed(found)["closure"].is_raised


def test_a_cloud_that_patches_do_not_follow_has_no_ends():
    found = stitched(np.random.RandomState(0).normal(size=(200, 3)), r=1, n_patches=10)
    piece = found.map.components[0]
    assert piece.alignment.misfit > 0.1
    assert closing_steps(found.points, piece) == np.inf


def test_only_curves_have_ends(flat):
    assert closing_steps(flat.points, flat.map.components[0]) == np.inf
