# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Pulls of local multidimensional scaling: where every point is drawn by all the others.

Compiled, since one sweep looks at all pairs and whole arrays of n² differences would not fit into
the cache. A sweep reads the places of before and writes those of after, so that rows can be shared
out among threads and the result never depends on how.
"""

from libc.math cimport fabs, sqrt


cdef inline double _weight(double on_map, double wanted, double radius, double balance,
                           double tolerance) noexcept nogil:
    """Return the weight of a pair: near in the data (robust), near on the map, or both."""
    cdef double weight = 0.0
    cdef double error
    if wanted <= radius:
        error = fabs(on_map - wanted)
        weight = 1.0 - balance
        # Huber's weight: beyond the tolerance the error counts, no longer its square.
        if error > tolerance * wanted:
            weight = weight * tolerance * wanted / error
    if on_map < radius:
        weight += balance
    return weight


cdef inline void _add_pull(const double* place, const double* other, Py_ssize_t p, double wanted,
                           double radius, double balance, double tolerance,
                           double* pull, double* total) noexcept nogil:
    cdef double square = 0.0
    cdef double on_map, weight, factor
    cdef Py_ssize_t k
    for k in range(p):
        square += (other[k] - place[k]) * (other[k] - place[k])
    on_map = sqrt(square)
    weight = _weight(on_map, wanted, radius, balance, tolerance)
    if weight == 0.0:
        return
    total[0] += weight
    if on_map == 0.0:
        return
    factor = weight * (on_map - wanted) / on_map
    for k in range(p):
        pull[k] += factor * (other[k] - place[k])


def sweep_all(Py_ssize_t first, Py_ssize_t last, const double[:, ::1] places,
              const double[:, ::1] others, const float[:, ::1] distances,
              const double[::1] reach, const double[::1] others_reach, double radius,
              double balance, double tolerance, double[:, ::1] moved):
    """Write the new places of rows `first` to `last`, drawn by all others.

    A point among its own others draws itself to where it is. So two points by themselves meet
    half way and do not change places for ever.
    """
    cdef Py_ssize_t n = others.shape[0], p = places.shape[1], i, j, k
    cdef double total, own
    with nogil:
        for j in range(first, last):
            total = 0.0
            own = radius if radius > reach[j] else reach[j]
            for k in range(p):
                moved[j, k] = 0.0
            for i in range(n):
                _add_pull(&places[j, 0], &others[i, 0], p, distances[j, i],
                          own if own > others_reach[i] else others_reach[i], balance, tolerance,
                          &moved[j, 0], &total)
            for k in range(p):
                moved[j, k] = places[j, k] + (moved[j, k] / total if total > 0.0 else 0.0)
