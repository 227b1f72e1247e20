"""Repulsion by a mesh: forces and totals of all pairs, mass that is kept, bytes for any threads."""

import numpy as np
import pytest

from isofold import _parallel
from isofold._parallel import RowTeam
from isofold.stress import mesh as mesh_module
from isofold.stress._forces import repel
from isofold.stress._mesh import gather, spread
from isofold.stress.mesh import Mesh

# The largest force of one pair, that of 1/(1 + r²) at r = 1/√3.
STRONGEST = 3 * np.sqrt(3) / 16

# Sums of some thousand terms of size one in single precision.
SINGLE = 1e-5


def cloud(n, p, width=5.0, seed=0):
    return width * np.random.RandomState(seed).normal(size=(n, p))


def exact(points):
    """Return forces and total by their definition."""
    away = points[:, None] - points
    q = 1.0 / (1.0 + (away**2).sum(axis=2))
    return (q[:, :, None] ** 2 * away).sum(axis=1), q.sum() - len(points)


def field(points, n_jobs=1):
    with RowTeam(len(points), n_jobs) as team:
        return Mesh(points.shape[1], team).field(points)


def size(force):
    return np.sqrt((force**2).sum(axis=1).mean())


@pytest.mark.parametrize("p", [1, 2, 3])
def test_few_points_repel_each_other_exactly(p):
    points = cloud(60, p)
    found, (force, total) = field(points), exact(points)
    np.testing.assert_allclose(found.force, force, rtol=0, atol=1e-12 * 60)
    assert found.total == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("width", [1.0, 5.0])
def test_many_points_repel_each_other_by_the_mesh(p, width):
    points = cloud(1500, p, width)
    found, (force, total) = field(points), exact(points)
    # What the width of the mesh was chosen for; errors of single pairs average out.
    assert size(found.force - force) < 0.05 * size(force)
    assert found.total == pytest.approx(total, rel=0.01)
    # A force that pairs exert on each other moves nothing as a whole.
    assert np.abs(found.force.mean(axis=0)).max() < 0.01 * size(force)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_a_single_pair_is_off_by_a_part_of_the_strongest_force(p, monkeypatch):
    monkeypatch.setattr(mesh_module, "MOST_PAIRED", 0)
    rng, errors = np.random.RandomState(0), []
    for _ in range(40):
        direction = rng.normal(size=p)
        pair = np.vstack([np.zeros(p), rng.uniform(0, 4) * direction / np.linalg.norm(direction)])
        pair += rng.uniform(size=p)
        errors.append(np.abs(field(pair).force - exact(pair)[0]).max())
    # The spline is two widths of the mesh wide, about that of the kernel.
    assert max(errors) < 0.3 * STRONGEST
    assert np.mean(errors) < 0.15 * STRONGEST


@pytest.mark.parametrize("p", [1, 2, 3])
def test_a_mesh_that_grows_and_shrinks_is_that_of_the_last_map(p):
    points = cloud(600, p, 1.0)
    with RowTeam(600, 1) as team:
        kept = Mesh(p, team)
        for scale in (0.01, 1.0, 1.02, 4.0, 0.5):
            found, fresh = kept.field(scale * points), field(scale * points)
            # Meshes of other sizes round otherwise; they have the same nodes.
            atol = 600 * SINGLE
            np.testing.assert_allclose(found.force, fresh.force, rtol=0, atol=atol)
            assert found.total == pytest.approx(fresh.total, rel=1e-3)


def sorted_cells(p, n=700, m=12):
    cells = np.random.RandomState(0).uniform(0, m - 4, size=(n, p))
    slices = cells[:, 0].astype(np.int64)
    order = np.argsort(slices, kind="stable")
    starts = np.searchsorted(slices[order], np.arange(m + 1))
    shape = (m, m if p == 3 else 1, m if p > 1 else 1)
    return cells, order, starts, shape


@pytest.mark.parametrize("p", [1, 2, 3])
def test_spreading_keeps_mass_and_center(p):
    cells, order, starts, shape = sorted_cells(p)
    grid = np.zeros(shape, dtype=np.float32)
    spread(0, 12, cells, order, starts, grid)
    assert grid.min() >= 0.0
    assert grid.sum() == pytest.approx(700, rel=SINGLE)
    # The nodes of a point are its cell and the next three; splines are centered between them.
    for axis, column in zip((0, 2, 1)[:p] if p < 3 else (0, 1, 2), range(p), strict=True):
        others = tuple(each for each in range(3) if each != axis)
        center = (grid.sum(axis=others) * np.arange(12)).sum() / 700
        assert center == pytest.approx(cells[:, column].mean() + 1.0, rel=SINGLE)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_slices_have_one_owner(p):
    cells, order, starts, shape = sorted_cells(p)
    whole, parts = (np.zeros(shape, dtype=np.float32) for _ in range(2))
    spread(0, 12, cells, order, starts, whole)
    for low, high in ((5, 12), (0, 2), (2, 5)):
        spread(low, high, cells, order, starts, parts)
    assert whole.tobytes() == parts.tobytes()


@pytest.mark.parametrize("p", [1, 2, 3])
def test_gathering_reads_a_plane_and_its_slope(p):
    cells, _, _, shape = sorted_cells(p)
    axes = (0,) if p == 1 else (0, 2) if p == 2 else (0, 1, 2)
    slopes = np.array([0.5, -0.25, 2.0])[:p]
    nodes = np.indices(shape)
    plane = sum(slope * nodes[axis] for slope, axis in zip(slopes, axes, strict=True))
    value, gradient = np.empty(700), np.empty((700, p))
    gather(0, 700, cells, plane.astype(np.float32), gradient, value)
    # B-splines of the third degree reproduce polynomials of the first.
    np.testing.assert_allclose(value, (cells + 1.0) @ slopes, rtol=0, atol=12 * 3 * SINGLE)
    np.testing.assert_allclose(gradient, np.tile(slopes, (700, 1)), rtol=0, atol=12 * 3 * SINGLE)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_forces_do_not_depend_on_threads(p, monkeypatch):
    monkeypatch.setattr(_parallel, "_LEAST_ROWS", 100)
    points = cloud(1000, p)
    one, *others = (field(points, n_jobs) for n_jobs in (1, 2, 3, 7))
    for other in others:
        assert one.force.tobytes() == other.force.tobytes()
        assert one.total == other.total


def test_points_that_coincide_do_not_repel():
    force, potential = np.empty((4, 2)), np.empty(4)
    repel(0, 4, np.zeros((4, 2)), force, potential)
    np.testing.assert_array_equal(force, 0.0)
    np.testing.assert_array_equal(potential, 4.0)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_what_repels_a_point_does_not_depend_on_the_rows_beside_it(p):
    points = np.random.RandomState(p).normal(size=(21, p))
    force, potential = np.empty_like(points), np.empty(21)
    repel(0, 21, points, force, potential)
    one, alone = np.empty_like(points), np.empty(21)
    for row in range(21):
        repel(row, row + 1, points, one, alone)
    assert one.tobytes() == force.tobytes()
    assert alone.tobytes() == potential.tobytes()
