"""Further terms of the stitching: hinges with known answers, and input that is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.exceptions import InvalidInputError
from isofold.patches import Memberships, PatchCover
from isofold.sdp import LowRankSDP, Status
from isofold.stitching.stitch import place, stitch
from isofold.stitching.terms import StitchTerms, placement_matrix
from support.hypothesis_profiles import examples

# Bounds are met to this relative error of lengths (`violation_tol`), and the objective to a gap of
# the same size, whose root is a length.
LENGTH = 1e-3
SOLVER = LowRankSDP(tol=1e-6, violation_tol=1e-6, random_state=0)


def cover_of(patches, n_points):
    sizes = [len(own) for own in patches]
    return PatchCover(
        n_points=n_points,
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        members=np.concatenate(patches),
        offsets=np.zeros(sum(sizes)),
        seeds=np.array([own[0] for own in patches]),
        radii=np.ones(len(patches)),
    )


def bars(lengths=(1.0, 1.0)):
    """Return bars joined end to end: bar i has the points i and i + 1."""
    patches = [np.array([i, i + 1]) for i in range(len(lengths))]
    u = np.concatenate([[[-length / 2], [length / 2]] for length in lengths])
    return cover_of(patches, len(lengths) + 1), u


def stitched(cover, u, terms, *, solver=SOLVER):
    memberships = Memberships.strongest(cover, None)
    node_terms = terms.on_nodes(np.arange(cover.n_points))
    alignment = stitch(cover, memberships, u, solver=solver, terms=node_terms)
    return alignment, place(memberships, u, alignment.motions)


def distance(Y, a, b):
    return np.linalg.norm(Y[a] - Y[b])


@pytest.mark.parametrize("gap", [0.6, 1.0, 1.7])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_a_fixed_distance_is_met(gap, unit):
    # Bars of lengths 1 and 1.2 close to a triangle with any third side from 0.2 to 2.2.
    cover, u = bars((1.0, 1.2))
    terms = StitchTerms(pairs=[[0, 2]], lower=gap * unit, upper=gap * unit)
    _, Y = stitched(cover, unit * u, terms)
    assert distance(Y, 0, 2) == pytest.approx(gap * unit, rel=LENGTH)
    assert distance(Y, 0, 1) == pytest.approx(1.0 * unit, rel=LENGTH)
    assert distance(Y, 1, 2) == pytest.approx(1.2 * unit, rel=LENGTH)


@pytest.mark.parametrize("gap", [0.6, 1.0, 1.7])
def test_hinges_that_fit_match(gap):
    # Single points have no variance of their own against which a misfit of 1e-16 could be large.
    cover, u = bars((1.0, 1.2))
    alignment, _ = stitched(cover, u, StitchTerms(pairs=[[0, 2]], lower=gap, upper=gap))
    assert alignment.misfit <= LENGTH


def variance_gap(pull):
    """Return by how much the joint of two bars of length one opens.

    Stretched out, they have their ends at ±(1 + g/2) and the placed joint at 0: the program
    min g² - λ (2/3)(1 + g/2)² has g = 2λ/(6 - λ), and no minimum from λ = 6 on.
    """
    return 2 * pull / (6 - pull)


@pytest.mark.parametrize("pull", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_variance_opens_a_hinge(pull, unit):
    cover, u = bars()
    alignment, Y = stitched(cover, unit * u, StitchTerms(variance=pull))
    assert alignment.solution.status is Status.CERTIFIED
    assert distance(Y, 0, 2) == pytest.approx((2 + variance_gap(pull)) * unit, rel=LENGTH)
    np.testing.assert_allclose(Y[1], (Y[0] + Y[2]) / 2, atol=LENGTH * unit)


@pytest.mark.parametrize("pull", [6.1, 100.0])
def test_too_much_variance_is_named(pull):
    cover, u = bars()
    with pytest.raises(InvalidInputError, match=r"terms\.variance=.* pulls patches apart"):
        stitched(cover, u, StitchTerms(variance=pull))


def test_variance_unfolds_a_chain():
    cover, u = bars((1.0,) * 6)
    _, Y = stitched(cover, u, StitchTerms(variance=1e-3))
    # The joints open by some λ·n; the chain is straight, so that its ends are its length apart.
    assert distance(Y, 0, 6) == pytest.approx(6.0, rel=2e-2)
    singular = np.linalg.svd(Y - Y.mean(axis=0))[1]
    assert (singular[1:] <= 1e-2 * singular[0]).all()


@pytest.mark.parametrize("upper", [0.3, 1.0, 1.5])
def test_an_upper_bound_holds_against_the_pull(upper):
    cover, u = bars()
    _, Y = stitched(cover, u, StitchTerms(variance=0.01, pairs=[[0, 2]], upper=[upper]))
    assert distance(Y, 0, 2) == pytest.approx(upper, rel=LENGTH)


def test_a_loose_upper_bound_changes_nothing():
    cover, u = bars()
    _, free = stitched(cover, u, StitchTerms(variance=0.01))
    _, bound = stitched(cover, u, StitchTerms(variance=0.01, pairs=[[0, 2]], upper=[5.0]))
    assert distance(bound, 0, 2) == pytest.approx(distance(free, 0, 2), rel=LENGTH)


def test_a_lower_bound_opens_a_hinge():
    cover, u = bars((1.0, 1.0))
    _, Y = stitched(cover, u, StitchTerms(pairs=[[0, 2]], lower=[1.8]))
    assert distance(Y, 0, 2) >= 1.8 * (1 - LENGTH)
    assert distance(Y, 0, 1) == pytest.approx(1.0, rel=LENGTH)


def test_a_soft_distance_gives_way():
    # Bars cannot be 4 apart at their ends; the softer the wish, the less the joint opens.
    cover, u = bars()
    lengths = [
        distance(
            stitched(cover, u, StitchTerms(pairs=[[0, 2]], lower=4.0, upper=4.0, penalty=p))[1],
            0,
            2,
        )
        for p in (1e-4, 1e-2, 1.0)
    ]
    assert 2.0 - LENGTH <= lengths[0] < lengths[1] < lengths[2] < 4.0


def test_hinged_plates_with_a_known_distance():
    # Two squares that share an edge, as a book: the distance of opposite corners sets the angle.
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    # Points 0, 1 on the spine; 2, 3 and 4, 5 the other corners of the two plates.
    cover = cover_of([np.array([0, 1, 2, 3]), np.array([0, 1, 4, 5])], 6)
    u = np.concatenate([square - 0.5, square - 0.5])
    gap = 1.3
    _, Y = stitched(cover, u, StitchTerms(pairs=[[2, 4]], lower=gap, upper=gap))
    assert distance(Y, 2, 4) == pytest.approx(gap, rel=LENGTH)
    assert distance(Y, 3, 5) == pytest.approx(gap, rel=2 * LENGTH)
    assert distance(Y, 0, 1) == pytest.approx(1.0, rel=LENGTH)
    # Three dimensions are what it takes.
    assert (np.linalg.svd(Y - Y.mean(axis=0))[1][3:] <= 10 * LENGTH).all()


# Angles


def angle(Y, a, b, c):
    p, q = Y[a] - Y[b], Y[c] - Y[b]
    return np.arccos(p @ q / (np.linalg.norm(p) * np.linalg.norm(q)))


@pytest.mark.parametrize("degrees", [40.0, 90.0, 150.0])
@pytest.mark.parametrize("unit", [1e-3, 1e4])
def test_a_fixed_angle_is_met(degrees, unit):
    cover, u = bars((1.0, 1.2))
    theta = np.deg2rad(degrees)
    legs = unit * np.array([1.0, 1.2])
    terms = StitchTerms(corners=[[0, 1, 2]], legs=legs, lower_angle=theta, upper_angle=theta)
    alignment, Y = stitched(cover, unit * u, terms)
    # By the law of cosines. An angle of 150 degrees moves four times as much as the third side.
    third = unit * np.sqrt(1.0 + 1.2**2 - 2 * 1.2 * np.cos(theta))
    assert distance(Y, 0, 2) == pytest.approx(third, rel=LENGTH)
    assert angle(Y, 0, 1, 2) == pytest.approx(theta, abs=4 * LENGTH)
    assert distance(Y, 0, 1) == pytest.approx(unit, rel=LENGTH)
    assert alignment.misfit <= LENGTH


@pytest.mark.parametrize("degrees", [30.0, 90.0, 120.0])
def test_an_upper_angle_holds_against_the_pull(degrees):
    cover, u = bars()
    bound = np.deg2rad(degrees)
    _, Y = stitched(
        cover, u, StitchTerms(variance=1e-4, corners=[[2, 1, 0]], legs=1.0, upper_angle=bound)
    )
    assert angle(Y, 0, 1, 2) == pytest.approx(bound, abs=3 * LENGTH)


def test_a_lower_angle_opens_a_hinge():
    cover, u = bars((1.0, 1.2))
    bound = np.deg2rad(140.0)
    terms = StitchTerms(corners=[[0, 1, 2]], legs=(1.0, 1.2), lower_angle=bound)
    _, Y = stitched(cover, u, terms)
    assert angle(Y, 0, 1, 2) >= bound - 4 * LENGTH
    assert distance(Y, 0, 1) == pytest.approx(1.0, rel=LENGTH)


def test_angles_close_a_polygon():
    # Bars with the corners of a regular pentagon come back to where they begin: in a plane, as
    # angles of that size add up to those of a flat polygon and no more.
    n = 5
    cover, u = bars((1.0,) * (n - 1))
    corners = [[i, i + 1, i + 2] for i in range(n - 2)]
    theta = (n - 2) * np.pi / n
    diagonal = 2 * np.sin(theta / 2)
    terms = StitchTerms(
        corners=corners,
        legs=(1.0, 1.0),
        lower_angle=theta,
        upper_angle=theta,
        pairs=[[0, n - 1], [0, n - 2], [1, n - 1]],
        lower=[1.0, diagonal, diagonal],
        upper=[1.0, diagonal, diagonal],
    )
    _, Y = stitched(cover, u, terms)
    turn = 2 * np.pi * np.arange(n) / n
    polygon = np.column_stack([np.cos(turn), np.sin(turn)]) / (2 * np.sin(np.pi / n))
    found = np.linalg.norm(Y[:, None] - Y, axis=2)
    expected = np.linalg.norm(polygon[:, None] - polygon, axis=2)
    np.testing.assert_allclose(found, expected, atol=5 * LENGTH)


def test_angles_are_distances_of_the_nodes_of_a_component():
    terms = StitchTerms(
        pairs=[[0, 5]],
        upper=9.0,
        corners=[[0, 1, 2], [3, 4, 5], [5, 4, 3]],
        legs=[[1.0, 2.0], [3.0, 4.0], [3.0, 4.0]],
        lower_angle=[0.0, np.pi / 2, 0.0],
        upper_angle=[0.0, np.pi / 2, np.pi],
    )
    assert terms.named(6).tolist() == [0, 5, 0, 1, 2, 3, 4, 5, 5, 4, 3]
    on_nodes = terms.on_nodes(np.arange(6))
    assert on_nodes.pairs.tolist() == [[0, 5], [0, 2], [3, 5], [5, 3]]
    # Legs that coincide are one apart at their ends, right angles make Pythagorean triangles.
    np.testing.assert_allclose(on_nodes.lower, [0.0, 1.0, 25.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(on_nodes.upper, [81.0, 1.0, 25.0, np.inf], rtol=1e-15)
    alone = StitchTerms(corners=[[3, 4, 5]], legs=1.0, upper_angle=1.0).on_nodes(np.arange(6))
    assert alone.within(np.array([3, 4, 5]), n_nodes=6).pairs.tolist() == [[0, 2]]
    with pytest.raises(InvalidInputError, match="different components"):
        alone.within(np.array([2, 3, 4]), n_nodes=6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"corners": [[0, 1]]}, r"corners has shape \(1, 2\)"),
        ({"corners": [0, 1, 2]}, r"corners has shape \(3,\)"),
        ({"corners": [[0.0, 1.0, 2.0]]}, "corners"),
        ({"corners": [[0, 1, 9]]}, "sample 9, but samples are 0 to 3"),
        ({"corners": [[0, 0, 1]]}, "same point twice in corner 0"),
        # Samples 2 and 3 are copies.
        ({"corners": [[0, 1, 2], [2, 3, 0]]}, "same point twice in corner 1"),
        ({"legs": None}, "legs must hold"),
        ({"legs": [1.0, 0.0]}, "legs must hold"),
        ({"legs": [np.inf, 1.0]}, "legs must hold"),
        ({"legs": [-1.0, 1.0]}, "legs holds distances or angles"),
        ({"legs": [1.0, 2.0, 3.0]}, "legs=.* must be"),
        ({"upper_angle": None}, "neither lower_angle nor upper_angle"),
        ({"upper_angle": 90.0}, "angle 90, but angles are radians"),
        ({"upper_angle": np.nan}, "NaN"),
        ({"upper_angle": -0.5}, "negative"),
        ({"upper_angle": "right"}, "upper_angle='right'"),
        ({"lower_angle": 1.5, "upper_angle": 1.0}, r"for corner 0 \(1\.5 > 1\)"),
    ],
)
def test_angles_that_make_no_sense_are_refused(options, words):
    given = {"corners": [[0, 1, 2]], "legs": 1.0, "upper_angle": 1.0, **options}
    with pytest.raises(InvalidInputError, match=words):
        StitchTerms(**given).on_nodes(np.array([0, 1, 2, 2]))


def test_angles_need_two_patches():
    cover, u = bars((1.0,))
    with pytest.raises(InvalidInputError, match="only one"):
        stitched(cover, u, StitchTerms(corners=[[0, 1, 0]], legs=1.0, upper_angle=1.0))


@examples(30)
@given(st.integers(0, 2**31 - 1), st.integers(1, 3))
def test_placement_is_linear_in_the_motions(seed, r):
    rng = np.random.RandomState(seed)
    patches = [rng.permutation(12)[: rng.randint(4, 13)] for _ in range(4)]
    patches.append(np.arange(12))
    cover = cover_of(patches, 12)
    memberships = Memberships.strongest(cover, 3)
    u = rng.normal(size=(len(cover.members), r))
    dims = rng.randint(1, r + 1, size=5)
    begin = np.concatenate([[0], np.cumsum(dims + 1)])[:-1]
    rows = rng.normal(size=(int((dims + 1).sum()), 2))
    found = placement_matrix(memberships, u, begin, dims) @ rows
    for point in range(12):
        own = range(memberships.indptr[point], memberships.indptr[point + 1])
        images = []
        for m in own:
            patch = memberships.patches[m]
            first, k = begin[patch], dims[patch]
            image = u[memberships.entries[m], :k] @ rows[first : first + k] + rows[first + k]
            images.append(image)
        expected = np.average(images, axis=0, weights=memberships.weights[list(own)])
        np.testing.assert_allclose(found[point], expected, atol=1e-12)


def test_terms_are_those_of_the_nodes():
    terms = StitchTerms(variance=2, pairs=[[0, 3], [2, 1]], lower=3.0, upper=[4.0, np.inf])
    on_nodes = terms.on_nodes(np.array([5, 6, 7, 7]))
    assert on_nodes.variance == 2.0
    assert on_nodes.pairs.tolist() == [[5, 7], [7, 6]]
    assert on_nodes.lower.tolist() == [9.0, 9.0]
    assert on_nodes.upper.tolist() == [16.0, np.inf]
    nothing = StitchTerms().on_nodes(np.arange(3))
    assert nothing.pairs.shape == (0, 2)
    assert nothing.lower.shape == (0,)


@pytest.mark.parametrize("variance", [np.float32(0.5), np.float64(0.5), np.int64(1), 1, 0.5])
def test_numbers_of_any_kind(variance):
    assert StitchTerms(variance=variance).on_nodes(np.arange(3)).variance == float(variance)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variance": -1.0}, r"variance=-1\.0"),
        ({"variance": np.nan}, "variance=nan"),
        ({"variance": np.inf}, "variance=inf"),
        ({"variance": "much"}, "variance='much'"),
        ({"pairs": [0, 1]}, r"pairs has shape \(2,\)"),
        ({"pairs": [[0, 1, 2]]}, r"pairs has shape \(1, 3\)"),
        ({"pairs": [[0.0, 1.0]]}, "pairs"),
        ({"pairs": [[0, 4]]}, "sample 4, but samples are 0 to 3"),
        ({"pairs": [[-1, 2]]}, "sample -1, but samples are 0 to 3"),
        ({"pairs": [[0, 3]]}, r"neither lower nor upper"),
        ({"pairs": [[0, 1]], "upper": [-1.0]}, "negative"),
        ({"pairs": [[0, 1]], "lower": [np.nan]}, "NaN"),
        ({"pairs": [[0, 1], [1, 2]], "upper": [1.0, 2.0, 3.0]}, "upper"),
        ({"pairs": [[0, 1]], "upper": "far"}, "upper"),
    ],
)
def test_terms_that_make_no_sense_are_refused(options, words):
    with pytest.raises(InvalidInputError, match=words):
        StitchTerms(**options).on_nodes(np.array([0, 1, 2, -1]))


def test_bounds_that_contradict_each_other_are_refused():
    # In the user's own numbers, not in squares of program units.
    cover, u = bars()
    with pytest.raises(InvalidInputError, match=r"1\.5"):
        stitched(cover, u, StitchTerms(pairs=[[0, 2]], lower=[1.5], upper=[1.0]))


def test_steps_with_terms_are_limited(monkeypatch):
    """Creeping along a valley ends with a gap that is told, not after thousands of steps."""
    monkeypatch.setattr("isofold.stitching.stitch.AUGMENTED_STEPS", 3)
    cover, u = bars((1.0, 1.2))
    alignment, _ = stitched(cover, u, StitchTerms(pairs=[[0, 2]], lower=1.2, upper=1.2))
    assert alignment.solution.n_iter <= 4
    assert alignment.solution.status is Status.ITERATION_LIMIT
