# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Evaluation of aligned charts at many points: a few dozen operations a chart, so compiled.

The patches of a new point are those of its nearest nodes; a node counts by

    ω_j = (1/d_j - 1/d_k)²,          d_k the distance of the last of the k nearest nodes,

which is infinite at the node itself and zero where another node takes the last place. So the map
is continuous, and equal to the placed node at every node.
"""

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

import numpy as np

cdef extern from *:
    """
    #include <algorithm>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    // Origins, axes and radii of all charts; d columns, r of them along a chart.
    struct Charts {
        std::ptrdiff_t d, r;
        const double *origins, *axes, *radii;
    };

    // Where charts go, and what bending adds there; p columns.
    struct Motions {
        std::ptrdiff_t p, n_monomials;
        const double *rotations, *translations;
        const std::int64_t* places;
        const double* bends;
    };

    // Coefficients of the surfaces, none if all are flat, and squared distances that are normal.
    struct Surfaces {
        std::ptrdiff_t n_coefficients;
        const double *coefficients, *limits;
    };

    // Patches of a point, and their shares.
    struct Blend {
        std::ptrdiff_t n;
        const std::int64_t* patches;
        const double* shares;
    };

    // Coordinates along a chart, and those that bend: R of them, or as many as there are.
    template <int R>
    struct Along {
        double t[R], inner[R];
        explicit Along(std::ptrdiff_t) {}
    };
    template <>
    struct Along<0> {
        std::vector<double> t, inner;
        explicit Along(std::ptrdiff_t r) : t(r), inner(r) {}
    };

    // Write the coordinates of a point along a chart, and return how much of them still bends:
    // beyond its radius a chart keeps the curvature it has there.
    template <int R>
    static inline double enter(const Charts& charts, std::int64_t patch, const double* point,
                               Along<R>& along) {
        const std::ptrdiff_t r = R ? R : charts.r;
        const double* origin = charts.origins + patch * charts.d;
        const double* axes = charts.axes + patch * charts.d * r;
        for (std::ptrdiff_t a = 0; a < r; ++a) along.t[a] = 0.0;
        for (std::ptrdiff_t k = 0; k < charts.d; ++k) {
            const double gap = point[k] - origin[k];
            for (std::ptrdiff_t a = 0; a < r; ++a) along.t[a] += gap * axes[k * r + a];
        }
        double size = 0.0;
        for (std::ptrdiff_t a = 0; a < r; ++a) size += along.t[a] * along.t[a];
        const double radius = charts.radii[patch];
        return size <= radius * radius ? 1.0 : radius / std::sqrt(size);
    }

    // Add the image of a point by one chart to the others.
    template <int R>
    static inline void add_image(const Charts& charts, const Motions& moves, std::int64_t patch,
                                 double share, double reach, const Along<R>& along,
                                 double* image) {
        const std::ptrdiff_t r = R ? R : charts.r, p = R ? R : moves.p;
        const double* rotation = moves.rotations + patch * r * p;
        for (std::ptrdiff_t k = 0; k < p; ++k) {
            double value = moves.translations[patch * p + k];
            for (std::ptrdiff_t a = 0; a < r; ++a) value += along.t[a] * rotation[a * p + k];
            image[k] += share * value;
        }
        if (moves.places[patch] < 0) return;
        share *= reach * reach * reach;
        const double* bend = moves.bends + moves.places[patch] * moves.n_monomials * p;
        for (std::ptrdiff_t a = 0; a < r; ++a)
            for (std::ptrdiff_t b = a; b < r; ++b)
                for (std::ptrdiff_t c = b; c < r; ++c, bend += p) {
                    const double value = share * along.t[a] * along.t[b] * along.t[c];
                    for (std::ptrdiff_t k = 0; k < p; ++k) image[k] += value * bend[k];
                }
    }

    // Return the squared distance of a point from the surface of one chart.
    template <int R>
    static inline double square_from(const Charts& charts, const Surfaces& shapes,
                                     std::int64_t patch, const double* point, double reach,
                                     Along<R>& along) {
        const std::ptrdiff_t d = charts.d, r = R ? R : charts.r;
        const double *origin = charts.origins + patch * d, *axes = charts.axes + patch * d * r;
        const double* coefficients = shapes.coefficients + patch * shapes.n_coefficients * d;
        for (std::ptrdiff_t l = 0; l < r; ++l) along.inner[l] = reach * along.t[l];
        double residual = 0.0;
        for (std::ptrdiff_t k = 0; k < d; ++k) {
            double value = point[k] - origin[k];
            if (shapes.n_coefficients == 0) {
                for (std::ptrdiff_t l = 0; l < r; ++l) value -= along.t[l] * axes[k * r + l];
                residual += value * value;
                continue;
            }
            value -= coefficients[k];
            const double* quadratic = coefficients + (1 + r) * d + k;
            for (std::ptrdiff_t l = 0; l < r; ++l) {
                value -= along.t[l] * (axes[k * r + l] + coefficients[(1 + l) * d + k]);
                for (std::ptrdiff_t m = l; m < r; ++m, quadratic += d) {
                    const double bent = along.inner[l] * along.inner[m] * *quadratic;
                    value -= m == l ? 0.5 * bent : bent;
                }
            }
            residual += value * value;
        }
        return residual;
    }

    // Add image, squared distance and limit of a point, by its patches, to zeros.
    template <int R>
    static void place_row(const Charts& charts, const Motions* moves, const Surfaces* shapes,
                          const double* point, const Blend& blend, double* image, double* square,
                          double* allowed) {
        Along<R> along(charts.r);
        for (std::ptrdiff_t e = 0; e < blend.n; ++e) {
            const std::int64_t patch = blend.patches[e];
            const double share = blend.shares[e], reach = enter<R>(charts, patch, point, along);
            if (moves) add_image<R>(charts, *moves, patch, share, reach, along, image);
            if (shapes) {
                *square += share * square_from<R>(charts, *shapes, patch, point, reach, along);
                *allowed += share * shapes->limits[patch];
            }
        }
    }

    typedef void (*PlaceRow)(const Charts&, const Motions*, const Surfaces*, const double*,
                             const Blend&, double*, double*, double*);

    // The loops of few dimensions are unrolled; the numbers are the same.
    static inline PlaceRow row_placer(std::ptrdiff_t r, std::ptrdiff_t p) {
        if (r == 1 && p == 1) return place_row<1>;
        if (r == 2 && p == 2) return place_row<2>;
        if (r == 3 && p == 3) return place_row<3>;
        return place_row<0>;
    }
    """
    struct Charts:
        Py_ssize_t d, r
        const double* origins
        const double* axes
        const double* radii
    struct Motions:
        Py_ssize_t p, n_monomials
        const double* rotations
        const double* translations
        const int64_t* places
        const double* bends
    struct Surfaces:
        Py_ssize_t n_coefficients
        const double* coefficients
        const double* limits
    struct Blend:
        Py_ssize_t n
        const int64_t* patches
        const double* shares
    ctypedef void (*PlaceRow)(const Charts&, const Motions*, const Surfaces*, const double*,
                              const Blend&, double*, double*, double*) noexcept nogil
    PlaceRow row_placer(Py_ssize_t r, Py_ssize_t p) noexcept nogil

ctypedef fused number:
    float
    double

cdef struct Rows:
    # The patches of every node, and its weights in them.
    const int64_t* indptr
    const int64_t* patches
    const double* weights


def place(
    const number[:, ::1] points,
    const int64_t[:, ::1] near,
    const double[:, ::1] distances,
    tuple memberships,
    tuple charts,
    tuple cubics,
    tuple motions,
    tuple surfaces=None,
):
    """Return images of points, mean squared distances from the charts, and the limits of those.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    near, distances : ndarray of shape (n, k)
        The nearest nodes of every point, and how far those are.
    memberships : tuple
        The patches of every node, and its weights in them, which add up to one, as rows (indptr,
        patches, weights).
    charts, cubics, motions : tuple
        As `evaluate` takes them.
    surfaces : tuple or None, default=None
        Coefficients and limits, as `distances_from_charts` takes them; None for images only.
    """
    cdef Charts atlas = _charts(charts)
    cdef Motions moves = _motions(cubics, motions)
    cdef Rows rows = _rows(memberships)
    cdef Surfaces shapes
    cdef const Surfaces* measured = NULL
    cdef PlaceRow place_row = row_placer(atlas.r, moves.p)
    cdef Py_ssize_t i, n = points.shape[0], k = near.shape[1]
    cdef double[:, ::1] images = np.zeros((n, moves.p))
    cdef double[::1] squares = np.zeros(n)
    cdef double[::1] allowed = np.zeros(n)
    cdef vector[int64_t] slots, found
    cdef vector[double] shares, point
    slots.resize(charts[2].shape[0])
    if surfaces is not None:
        shapes = _surfaces(surfaces)
        measured = &shapes
    point.resize(atlas.d)
    with nogil:
        for i in range(n):
            found.clear()
            shares.clear()
            _blend_row(rows, &near[i, 0], &distances[i, 0], k, slots, found, shares)
            _copy(&points[i, 0], point)
            place_row(atlas, &moves, measured, point.data(),
                      Blend(found.size(), found.data(), shares.data()), &images[i, 0],
                      &squares[i], &allowed[i])
    return np.asarray(images), np.asarray(squares), np.asarray(allowed)


def blend(
    const int64_t[:, ::1] near,
    const double[:, ::1] distances,
    const int64_t[::1] indptr,
    const int64_t[::1] patches,
    const double[::1] weights,
    Py_ssize_t n_patches,
):
    """Return the patches of points and their shares, as rows (indptr, patches, shares).

    Parameters
    ----------
    near, distances : ndarray of shape (n, k)
        The nearest nodes of every point, and how far those are.
    indptr, patches, weights : ndarray
        The patches of every node, and its weights in them, which add up to one.
    n_patches : int
        How many patches there are.
    """
    cdef Rows rows = _rows((indptr, patches, weights))
    cdef Py_ssize_t i, s, n = near.shape[0], k = near.shape[1]
    cdef vector[int64_t] slots, found
    cdef vector[double] shares
    cdef int64_t[::1] row_ends = np.zeros(n + 1, dtype=np.int64)
    slots.resize(n_patches)
    with nogil:
        for i in range(n):
            _blend_row(rows, &near[i, 0], &distances[i, 0], k, slots, found, shares)
            row_ends[i + 1] = <int64_t> found.size()
    cdef int64_t[::1] chosen = np.empty(found.size(), dtype=np.int64)
    cdef double[::1] parts = np.empty(found.size(), dtype=np.float64)
    for s in range(<Py_ssize_t> found.size()):
        chosen[s] = found[s]
        parts[s] = shares[s]
    return np.asarray(row_ends), np.asarray(chosen), np.asarray(parts)


def evaluate(
    const number[:, ::1] points,
    const int64_t[::1] row_ends,
    const int64_t[::1] chosen,
    const double[::1] shares,
    const double[:, ::1] origins,
    const double[:, :, ::1] axes,
    const double[::1] radii,
    tuple cubics,
    tuple motions,
):
    """Return the images of points, blended from their patches.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    row_ends, chosen, shares : ndarray
        Their patches and shares, as `blend` returns them.
    origins, axes, radii : ndarray
        Origins o, axes V and radii of the charts.
    cubics : tuple
        What each monomial t_a t_b t_c, a ≤ b ≤ c, adds to the image: the row of every patch, −1
        if nothing, and the rows of shape (n_monomials, p).
    motions : tuple
        Rotations and translations of all patches.
    """
    cdef Charts atlas = _charts((origins, axes, radii))
    cdef Motions moves = _motions(cubics, motions)
    cdef PlaceRow place_row = row_placer(atlas.r, moves.p)
    cdef Py_ssize_t i, n = points.shape[0]
    cdef double[:, ::1] images = np.zeros((n, moves.p))
    cdef vector[double] point
    point.resize(atlas.d)
    with nogil:
        for i in range(n):
            _copy(&points[i, 0], point)
            place_row(atlas, &moves, NULL, point.data(),
                      _blended(row_ends, chosen, shares, i), &images[i, 0], NULL, NULL)
    return np.asarray(images)


def distances_from_charts(
    const number[:, ::1] points,
    const int64_t[::1] row_ends,
    const int64_t[::1] chosen,
    const double[::1] shares,
    const double[:, ::1] origins,
    const double[:, :, ::1] axes,
    const double[::1] radii,
    const double[:, :, ::1] coefficients,
    const double[::1] limits,
):
    """Return mean squared distances from the charts, and the limits of those.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The points.
    row_ends, chosen, shares : ndarray
        Their patches and shares, as `blend` returns them.
    origins, axes, radii, coefficients : ndarray
        The charts; without coefficients, of shape (n_patches, 0, d), if all are flat.
    limits : ndarray of shape (n_patches,)
        Squared distances that are still normal.
    """
    cdef Charts atlas = _charts((origins, axes, radii))
    cdef Surfaces shapes = _surfaces((coefficients, limits))
    cdef PlaceRow place_row = row_placer(atlas.r, atlas.r)
    cdef Py_ssize_t i, n = points.shape[0]
    cdef double[::1] squares = np.zeros(n)
    cdef double[::1] allowed = np.zeros(n)
    cdef vector[double] point
    point.resize(atlas.d)
    with nogil:
        for i in range(n):
            _copy(&points[i, 0], point)
            place_row(atlas, NULL, &shapes, point.data(),
                      _blended(row_ends, chosen, shares, i), NULL, &squares[i], &allowed[i])
    return np.asarray(squares), np.asarray(allowed)


cdef Charts _charts(tuple arrays) except *:
    cdef const double[:, ::1] origins = arrays[0]
    cdef const double[:, :, ::1] axes = arrays[1]
    cdef const double[::1] radii = arrays[2]
    return Charts(axes.shape[1], axes.shape[2], &origins[0, 0], &axes[0, 0, 0], &radii[0])


cdef Motions _motions(tuple cubics, tuple motions) except *:
    cdef const int64_t[::1] places = cubics[0]
    cdef const double[:, :, ::1] bends = cubics[1]
    cdef const double[:, :, ::1] rotations = motions[0]
    cdef const double[:, ::1] translations = motions[1]
    cdef const double* first = &bends[0, 0, 0] if bends.size else NULL
    return Motions(rotations.shape[2], bends.shape[1], &rotations[0, 0, 0], &translations[0, 0],
                   &places[0], first)


cdef Surfaces _surfaces(tuple arrays) except *:
    cdef const double[:, :, ::1] coefficients = arrays[0]
    cdef const double[::1] limits = arrays[1]
    cdef const double* first = &coefficients[0, 0, 0] if coefficients.size else NULL
    return Surfaces(coefficients.shape[1], first, &limits[0])


cdef Rows _rows(tuple memberships) except *:
    cdef const int64_t[::1] indptr = memberships[0]
    cdef const int64_t[::1] patches = memberships[1]
    cdef const double[::1] weights = memberships[2]
    return Rows(&indptr[0], &patches[0], &weights[0])


cdef inline Blend _blended(const int64_t[::1] ends, const int64_t[::1] chosen,
                           const double[::1] shares, Py_ssize_t i) noexcept nogil:
    return Blend(ends[i + 1] - ends[i], &chosen[0] + ends[i], &shares[0] + ends[i])


cdef inline void _copy(const number* row, vector[double]& point) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(<Py_ssize_t> point.size()):
        point[k] = row[k]


cdef inline void _blend_row(const Rows& rows, const int64_t* near, const double* distances,
                            Py_ssize_t n_near, vector[int64_t]& slots, vector[int64_t]& found,
                            vector[double]& shares) noexcept nogil:
    """Append the patches of a point and their shares; slots remember where patches were put."""
    cdef Py_ssize_t j, e, s, begin = found.size()
    cdef int64_t node, patch
    cdef double share, total
    for j in range(n_near):
        share = _node_share(distances[j], distances[0], distances[n_near - 1])
        if share == 0.0:
            continue
        node = near[j]
        for e in range(rows.indptr[node], rows.indptr[node + 1]):
            patch = rows.patches[e]
            s = slots[patch]
            if s < begin or s >= <Py_ssize_t> found.size() or found[s] != patch:
                s = slots[patch] = found.size()
                found.push_back(patch)
                shares.push_back(0.0)
            shares[s] += share * rows.weights[e]
    total = 0.0
    for s in range(begin, <Py_ssize_t> found.size()):
        total += shares[s]
    for s in range(begin, <Py_ssize_t> found.size()):
        shares[s] /= total


cdef inline double _node_share(double distance, double first, double last) noexcept nogil:
    """Return the weight of a node, in units that avoid overflow."""
    if first == 0.0:
        return 1.0 if distance == 0.0 else 0.0
    if last == first:
        return 1.0
    # (1/d - 1/d_k)² in units of 1/d_1².
    distance = first / distance - first / last
    return distance * distance
