"""What all generators share: shapes, seeds, noise, imbalance, errors."""

import inspect

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ellipeinc

from isofold.datasets import SYNTHETIC, Dataset
from isofold.exceptions import InvalidInputError, MemoryLimitError
from support.hypothesis_profiles import examples

ALL = sorted(SYNTHETIC)
IN_PLANE = dict.fromkeys(("sinusoid", "spiral", "circle"), 2)
N_FEATURES = dict.fromkeys(ALL, 3) | IN_PLANE | {"flat_torus": 4, "rolled_block": 6}
CURVES = dict.fromkeys(("sinusoid", "spiral", "helix", "helix_arc", "circle", "four_moons"), 1)
N_INTRINSIC = dict.fromkeys(ALL, 2) | CURVES | {"rolled_block": 3}


def spiral_length(start, stop):
    antiderivative = [0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)) for t in (start, stop)]
    return antiderivative[1] - antiderivative[0]


# Where the long axis of the true coordinates is cut into halves.
MIDDLE = {
    "swiss_roll": spiral_length(1.5 * np.pi, 4.5 * np.pi) / 2,
    "holed_swiss_roll": spiral_length(1.5 * np.pi, 4.5 * np.pi) / 2,
    "broken_swiss_roll": spiral_length(1.5 * np.pi, 3 * np.pi),  # inside the cut
    "rotated_swiss_rolls": spiral_length(1.5 * np.pi, 3 * np.pi) / 2,
    "parallel_swiss_rolls": spiral_length(1.5 * np.pi, 3 * np.pi) / 2,
    "s_curve": 1.5 * np.pi,
    "broken_s_curve": 1.5 * np.pi,
    "v_shape": 0.0,
    "dual_spiral": spiral_length(np.pi, 3 * np.pi) / 4,
    "arched_sheet": 1.0,
    "corrugated_sheet": np.sqrt(2) * ellipeinc(30, 0.5) / 2,
    "flat_torus": 0.75 * np.pi,
}


@pytest.mark.parametrize("name", ALL)
def test_shapes_and_name(name):
    n_samples = 181
    data = SYNTHETIC[name](n_samples, random_state=0)
    assert isinstance(data, Dataset)
    assert data.name == name
    assert data.X.shape == (n_samples, N_FEATURES[name])
    assert data.truth.shape == (n_samples, N_INTRINSIC[name])
    assert data.X.dtype == data.truth.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.truth).all()
    if data.labels is not None:
        assert data.labels.shape == (n_samples,)
        assert data.labels.dtype == np.int64


@pytest.mark.parametrize("name", ALL)
def test_only_n_samples_is_positional(name):
    first, *others = inspect.signature(SYNTHETIC[name]).parameters.values()
    assert first.name == "n_samples"
    assert {"noise", "random_state"} <= {p.name for p in others}
    assert all(p.kind is p.KEYWORD_ONLY for p in others)
    assert ("imbalance" in {p.name for p in others}) == (name in MIDDLE)


@pytest.mark.parametrize("name", ALL)
def test_defaults_work(name):
    data = SYNTHETIC[name]()
    assert data.X.shape[0] == inspect.signature(SYNTHETIC[name]).parameters["n_samples"].default


@pytest.mark.parametrize("name", ALL)
def test_same_seed_same_bytes(name):
    first, second, other = (SYNTHETIC[name](60, noise=0.1, random_state=s) for s in (3, 3, 4))
    assert first.X.tobytes() == second.X.tobytes()
    assert first.truth.tobytes() == second.truth.tobytes()
    assert first.X.tobytes() != other.X.tobytes()


@pytest.mark.parametrize("name", ALL)
def test_noise_has_its_standard_deviation_and_leaves_the_truth(name):
    n_samples, sigma = 5000, 0.001**0.5
    clean = SYNTHETIC[name](n_samples, random_state=1)
    noisy = SYNTHETIC[name](n_samples, noise=sigma, random_state=1)
    assert np.array_equal(clean.truth, noisy.truth)
    added = noisy.X - clean.X
    if name == "four_moons":
        assert not added[:, 2].any()
        added = added[:, :2]
    # A sample standard deviation has relative spread 1/√(2n), a mean σ/√n and a correlation
    # 1/√n: six of them are exceeded with probability 2e-9.
    assert np.abs(added.std(axis=0) / sigma - 1).max() < 6 / np.sqrt(2 * n_samples)
    assert np.abs(added.mean(axis=0)).max() < 6 * sigma / np.sqrt(n_samples)
    assert np.abs(np.corrcoef(added.T) - np.eye(added.shape[1])).max() < 6 / np.sqrt(n_samples)


@pytest.mark.parametrize("name", sorted(MIDDLE))
@examples(30)
@given(share=st.floats(0.01, 0.99), n_samples=st.integers(8, 200))
def test_imbalance_is_the_share_in_the_first_half(name, share, n_samples):
    assume(0 < round(share * n_samples) < n_samples)
    data = SYNTHETIC[name](n_samples, imbalance=share, random_state=0)
    assert (data.truth[:, 0] < MIDDLE[name]).sum() == round(share * n_samples)


def test_the_thesis_puts_1350_of_1500_points_on_one_half():
    data = SYNTHETIC["arched_sheet"](1500, imbalance=0.9, random_state=0)
    assert (data.truth[:, 0] < 1.0).sum() == 1350
    # The rows are mixed: 90 % of the first 1,350 are of the first half (unmixed, all of them), up
    # to six deviations of the hypergeometric distribution.
    deviation = np.sqrt(1350 * 0.9 * 0.1 * 150 / 1499)
    assert abs((data.truth[:1350, 0] < 1.0).sum() - 1215) < 6 * deviation


@pytest.mark.parametrize(
    ("name", "n_parts"),
    [("rotated_swiss_rolls", 2), ("parallel_swiss_rolls", 2), ("four_moons", 4)],
)
def test_pieces_are_mixed(name, n_parts):
    """Neighboring rows share a piece as often as chance has it: neither never nor always."""
    n_samples = 4000
    labels = SYNTHETIC[name](n_samples, random_state=0).labels
    share = (n_samples / n_parts - 1) / (n_samples - 1)
    deviation = np.sqrt(share * (1 - share) / (n_samples - 1))
    assert abs((labels[1:] == labels[:-1]).mean() - share) < 6 * deviation


@pytest.mark.parametrize("name", sorted(MIDDLE))
@pytest.mark.parametrize("imbalance", [0.01, 0.99])
def test_imbalance_leaves_no_half_empty(name, imbalance):
    with pytest.raises(InvalidInputError, match=r"imbalance=.* of 8 points"):
        SYNTHETIC[name](8, imbalance=imbalance)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n_samples", [0, 1, -5, 10.0, True, "many", None])
def test_bad_number_of_points(name, n_samples):
    with pytest.raises(InvalidInputError, match="n_samples="):
        SYNTHETIC[name](n_samples)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("noise", [-0.1, 1.1e6, 1e308, np.nan, np.inf, "little", None, True])
def test_bad_noise(name, noise):
    with pytest.raises(InvalidInputError, match="noise="):
        SYNTHETIC[name](20, noise=noise)


@pytest.mark.parametrize("name", sorted(MIDDLE))
@pytest.mark.parametrize("imbalance", [0.0, 1.0, -0.2, 1.5, np.nan, "half", True])
def test_bad_imbalance(name, imbalance):
    with pytest.raises(InvalidInputError, match="imbalance="):
        SYNTHETIC[name](20, imbalance=imbalance)


@pytest.mark.parametrize("name", ALL)
def test_bad_seed(name):
    with pytest.raises(InvalidInputError, match="random_state='lucky'"):
        SYNTHETIC[name](20, random_state="lucky")


@pytest.mark.parametrize("name", ALL)
def test_too_many_points_are_refused_before_they_are_drawn(name):
    with pytest.raises(MemoryLimitError, match="GiB"):
        SYNTHETIC[name](10**14)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("swiss_roll", {"width": 0.0}),
        ("swiss_roll", {"width": np.nan}),
        ("swiss_roll", {"turns": -1.0}),
        ("holed_swiss_roll", {"width": "wide"}),
        ("holed_swiss_roll", {"hole": (0.0, 0.5)}),
        ("holed_swiss_roll", {"hole": (0.5, 0.95)}),
        ("holed_swiss_roll", {"hole": (0.5,)}),
        ("holed_swiss_roll", {"hole": 0.5}),
        ("holed_swiss_roll", {"hole": np.array(0.5)}),
        ("holed_swiss_roll", {"hole": np.full((2, 2), 0.5)}),
        ("holed_swiss_roll", {"hole": ("0.5", "0.5")}),
        ("holed_swiss_roll", {"hole": (0.5, 0.5, 0.5)}),
        ("holed_swiss_roll", {"sampling": "even"}),
        ("broken_swiss_roll", {"width": -3.0}),
        ("parallel_swiss_rolls", {"distance": 0.0}),
        ("dual_spiral", {"hole": (1.0, 1.0)}),
        ("v_shape", {"angle": 0.0}),
        ("v_shape", {"angle": np.pi}),
        ("flat_torus", {"extent": 0.0}),
        ("flat_torus", {"extent": np.nextafter(2 * np.pi, 7)}),
        ("flat_torus", {"extent": np.nan}),
        ("flat_torus", {"extent": "round"}),
        ("half_globe", {"sampling": "mesh"}),
        ("spherical_cap", {"angle": 0.0}),
        ("spherical_cap", {"angle": 180.0}),
        ("spherical_cap", {"angle": np.inf}),
        ("twin_peaks", {"height": np.inf}),
        ("fishbowl", {"radius": 0}),
    ],
)
def test_bad_geometry(name, parameters):
    (parameter,) = parameters
    with pytest.raises(InvalidInputError, match=parameter):
        SYNTHETIC[name](20, **parameters)


SIZES = [
    ("swiss_roll", "width"),
    ("swiss_roll", "turns"),
    ("holed_swiss_roll", "width"),
    ("broken_swiss_roll", "width"),
    ("parallel_swiss_rolls", "distance"),
    ("twin_peaks", "height"),
    ("fishbowl", "radius"),
]


@pytest.mark.parametrize(("name", "parameter"), SIZES)
@pytest.mark.parametrize("size", [1e-300, 9e-7, 1.1e6, 1e160, 1e308, 10**400])
def test_sizes_out_of_range_are_refused(name, parameter, size):
    with pytest.raises(InvalidInputError, match=f"{parameter}=.* from 1e-06 to 1e\\+06"):
        SYNTHETIC[name](20, **{parameter: size})


ENDS = [
    *((name, parameter, size) for name, parameter in SIZES for size in (1e-6, 1e6)),
    *(("flat_torus", "extent", size) for size in (1e-6, 2 * np.pi)),
    *(("spherical_cap", "angle", size) for size in (1e-6, np.nextafter(180, 0))),
]


@pytest.mark.parametrize(("name", "parameter", "size"), ENDS)
@pytest.mark.parametrize("noise", [0.0, 1e6])
def test_largest_and_smallest_sizes_give_numbers(name, parameter, size, noise):
    data = SYNTHETIC[name](200, noise=noise, random_state=0, **{parameter: size})
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.truth).all()
    assert np.unique(data.X, axis=0).shape[0] == 200


@pytest.mark.parametrize("name", ["holed_swiss_roll", "dual_spiral"])
@pytest.mark.parametrize("kind", [list, np.array, np.float32, iter])
def test_any_pair_of_numbers_is_a_hole(name, kind):
    # Both shares are exact in float32.
    expected = SYNTHETIC[name](100, hole=(0.25, 0.5), random_state=0)
    data = SYNTHETIC[name](100, hole=kind((0.25, 0.5)), random_state=0)
    assert data.X.tobytes() == expected.X.tobytes()


def test_registry_is_read_only():
    with pytest.raises(TypeError):
        SYNTHETIC["other"] = None
