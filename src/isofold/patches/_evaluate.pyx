# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Evaluation of aligned charts at many points: a few dozen operations a chart, so compiled.

The patches of a new point are those of its nearest nodes; a node counts by

    ω_j = (1/d_j - 1/d_k)²,          d_k the distance of the last of the k nearest nodes,

which is infinite at the node itself and zero where another node takes the last place. So the map
is continuous, and equal to the placed node at every node.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

import numpy as np

ctypedef fused number:
    float
    double


def blend(
    const int64_t[:, ::1] near,
    const double[:, ::1] distances,
    const int64_t[::1] indptr,
    const int64_t[::1] patches,
    const double[::1] weights,
):
    """Return the patches of points and their shares, as rows (indptr, patches, shares).

    Parameters
    ----------
    near, distances : ndarray of shape (n, k)
        The nearest nodes of every point, and how far those are.
    indptr, patches, weights : ndarray
        The patches of every node, and its weights in them.
    """
    cdef Py_ssize_t i, j, e, s, n = near.shape[0], n_near = near.shape[1]
    cdef int64_t node, begin = 0
    cdef double share, total
    cdef vector[int64_t] found
    cdef vector[double] shares
    cdef int64_t[::1] row_ends = np.zeros(n + 1, dtype=np.int64)
    with nogil:
        for i in range(n):
            for j in range(n_near):
                share = _node_share(distances[i, j], distances[i, 0], distances[i, n_near - 1])
                if share == 0.0:
                    continue
                node = near[i, j]
                total = 0.0
                for e in range(indptr[node], indptr[node + 1]):
                    total += weights[e]
                for e in range(indptr[node], indptr[node + 1]):
                    s = begin
                    while s < <Py_ssize_t> found.size() and found[s] != patches[e]:
                        s += 1
                    if s == <Py_ssize_t> found.size():
                        found.push_back(patches[e])
                        shares.push_back(0.0)
                    shares[s] += share * weights[e] / total
            total = 0.0
            for s in range(begin, <Py_ssize_t> found.size()):
                total += shares[s]
            for s in range(begin, <Py_ssize_t> found.size()):
                shares[s] /= total
            begin = <int64_t> found.size()
            row_ends[i + 1] = begin
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
    cdef const int64_t[::1] places = cubics[0]
    cdef const double[:, :, ::1] bends = cubics[1]
    cdef const double[:, :, ::1] rotations = motions[0]
    cdef const double[:, ::1] translations = motions[1]
    cdef Py_ssize_t n = points.shape[0], d = points.shape[1]
    cdef Py_ssize_t r = axes.shape[2], p = rotations.shape[2]
    cdef double[:, ::1] images = np.zeros((n, p))
    cdef vector[double] t
    cdef Py_ssize_t i, e, k, a, b, c, q
    cdef int64_t patch, place
    cdef double share, value, reach, size
    t.resize(r)
    with nogil:
        for i in range(n):
            for e in range(row_ends[i], row_ends[i + 1]):
                patch, share = chosen[e], shares[e]
                size = 0.0
                for a in range(r):
                    value = 0.0
                    for k in range(d):
                        value += (<double> points[i, k] - origins[patch, k]) * axes[patch, k, a]
                    t[a] = value
                    size += value * value
                for k in range(p):
                    value = translations[patch, k]
                    for a in range(r):
                        value += t[a] * rotations[patch, a, k]
                    images[i, k] += share * value
                place = places[patch]
                if place < 0:
                    continue
                # Beyond its radius a chart goes on with the curvature it has there.
                reach = 1.0 if size <= radii[patch] ** 2 else radii[patch] / sqrt(size)
                share *= reach * reach * reach
                q = 0
                for a in range(r):
                    for b in range(a, r):
                        for c in range(b, r):
                            value = share * t[a] * t[b] * t[c]
                            for k in range(p):
                                images[i, k] += value * bends[place, q, k]
                            q += 1
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
    cdef Py_ssize_t n = points.shape[0], d = points.shape[1], r = axes.shape[2]
    cdef double[::1] squares = np.zeros(n)
    cdef double[::1] allowed = np.zeros(n)
    cdef vector[double] t, inner
    cdef Py_ssize_t i, e, k, l, m, q
    cdef int64_t patch
    cdef double share, value, reach, size, residual, bent
    cdef bint is_flat = coefficients.shape[1] == 0
    t.resize(r)
    inner.resize(r)
    with nogil:
        for i in range(n):
            for e in range(row_ends[i], row_ends[i + 1]):
                patch, share = chosen[e], shares[e]
                size = 0.0
                for l in range(r):
                    value = 0.0
                    for k in range(d):
                        value += (<double> points[i, k] - origins[patch, k]) * axes[patch, k, l]
                    t[l] = value
                    size += value * value
                reach = 1.0 if size <= radii[patch] ** 2 else radii[patch] / sqrt(size)
                for l in range(r):
                    inner[l] = reach * t[l]
                residual = 0.0
                for k in range(d):
                    value = <double> points[i, k] - origins[patch, k]
                    if is_flat:
                        for l in range(r):
                            value -= t[l] * axes[patch, k, l]
                        residual += value * value
                        continue
                    value -= coefficients[patch, 0, k]
                    q = 1 + r
                    for l in range(r):
                        value -= t[l] * (axes[patch, k, l] + coefficients[patch, 1 + l, k])
                        for m in range(l, r):
                            bent = inner[l] * inner[m] * coefficients[patch, q, k]
                            value -= 0.5 * bent if m == l else bent
                            q += 1
                    residual += value * value
                squares[i] += share * residual
                allowed[i] += share * limits[patch]
    return np.asarray(squares), np.asarray(allowed)


cdef inline double _node_share(double distance, double first, double last) noexcept nogil:
    """Return the weight of a node, in units that avoid overflow."""
    if first == 0.0:
        return 1.0 if distance == 0.0 else 0.0
    if last == first:
        return 1.0
    # (1/d - 1/d_k)² in units of 1/d_1².
    distance = first / distance - first / last
    return distance * distance
