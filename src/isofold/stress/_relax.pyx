# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Local stress with redescending weights: lengths are kept, and strangers pushed out.

A sweep reads the positions of before and writes those of after, row by row, so that the result
never depends on how rows are shared out among threads.
"""

from libc.math cimport sqrt


cdef struct Terms:
    double strangers  # Weight of a stranger; a kept length has the rest of it.
    double tolerance  # Relative error at which the weight of a length has fallen to a quarter.
    double hold       # Fraction of that weight which falls only with the error itself.
    double far        # Lengths beyond so many reaches are damped.


cdef inline double _distance(const double* one, const double* other, Py_ssize_t p,
                             double* away) noexcept nogil:
    """Return the distance on the map, and write the difference."""
    cdef double square = 0.0
    cdef Py_ssize_t k
    for k in range(p):
        away[k] = other[k] - one[k]
        square += away[k] * away[k]
    return sqrt(square)


cdef inline void _add(double weight, double on_map, double length, const double* away,
                      Py_ssize_t p, double* pull, double* total) noexcept nogil:
    """Add the pull toward where a pair has its length."""
    cdef double factor
    cdef Py_ssize_t k
    total[0] += weight
    if on_map > 0.0:
        factor = weight * (on_map - length) / on_map
        for k in range(p):
            pull[k] += factor * away[k]


cdef inline double _weight(double on_map, double length, double reach,
                           Terms* terms) noexcept nogil:
    """Return the weight of a length to keep."""
    cdef double error = (on_map - length) / (terms.tolerance * length)
    cdef double fall = 1.0 + error * error
    cdef double limit = terms.far * reach
    # Geman and McClure: a length that was given up is left alone. A part of the weight only falls
    # like Huber's, so that torn neighbors are not driven farther apart.
    cdef double weight = (1.0 - terms.strangers) * (
        (1.0 - terms.hold) / (fall * fall) + terms.hold / sqrt(fall)
    )
    if length > limit:
        weight *= (limit / length) * (limit / length)
    return weight


def stranger_lengths(Py_ssize_t first, Py_ssize_t last, const int[:, ::1] near,
                     const int[::1] indptr, const int[::1] indices, const float[:, ::1] axes,
                     const float[::1] reach, double cap, float[:, ::1] wanted):
    """Write how far strangers on the map are to be at least; 0 for data neighbors.

    That is their distance in the data, but not more than `cap` times the larger reach of the two.
    """
    cdef Py_ssize_t m = near.shape[1], d = axes.shape[1], i, j, q, k, low, high, middle
    cdef float limit, square, difference
    with nogil:
        for i in range(first, last):
            for q in range(m):
                j = near[i, q]
                low, high = indptr[i], indptr[i + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if indices[middle] < j:
                        low = middle + 1
                    else:
                        high = middle
                if j == i or (low < indptr[i + 1] and indices[low] == j):
                    wanted[i, q] = 0.0
                    continue
                limit = <float>(cap * (reach[i] if reach[i] > reach[j] else reach[j]))
                square = 0.0
                for k in range(d):
                    difference = axes[i, k] - axes[j, k]
                    square += difference * difference
                    if square >= limit * limit:
                        break
                wanted[i, q] = sqrt(square) if d > 0 and square < limit * limit else limit


def relax(Py_ssize_t first, Py_ssize_t last, const double[:, ::1] points, const int[::1] indptr,
          const int[::1] indices, const float[::1] lengths, const int[:, ::1] near,
          const float[:, ::1] wanted, const float[::1] reach, double strangers, double tolerance,
          double hold, double far, double step, double momentum, double stride,
          double[:, ::1] velocity, double[:, ::1] moved):
    """Move rows `first` to `last` toward the weighted mean of where the others want them."""
    cdef Py_ssize_t m = near.shape[1], p = points.shape[1], i, e, q, k
    cdef double total, on_map, length, limit, speed, along
    cdef double away[3]
    cdef double pull[3]
    cdef Terms terms = Terms(strangers, tolerance, hold, far)
    with nogil:
        for i in range(first, last):
            total = 1e-3
            for k in range(p):
                pull[k] = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                on_map = _distance(&points[i, 0], &points[indices[e], 0], p, away)
                length = lengths[e]
                _add(_weight(on_map, length, reach[i], &terms), on_map, length, away, p, pull,
                     &total)
            for q in range(m):
                length = wanted[i, q]
                if length <= 0.0:
                    continue
                on_map = _distance(&points[i, 0], &points[near[i, q], 0], p, away)
                if on_map < length:
                    _add(strangers, on_map, length, away, p, pull, &total)
            along = 0.0
            for k in range(p):
                along += pull[k] * velocity[i, k]
            speed = 0.0
            for k in range(p):
                # A point that is pulled back has gone too far: it starts anew.
                velocity[i, k] = (momentum * velocity[i, k] if along > 0.0 else 0.0)
                velocity[i, k] += step * pull[k] / total
                speed += velocity[i, k] * velocity[i, k]
            speed = sqrt(speed)
            limit = stride * reach[i]
            for k in range(p):
                if speed > limit:
                    velocity[i, k] *= limit / speed
                moved[i, k] = points[i, k] + velocity[i, k]


def start_new(const double[:, ::1] images, const int[:, ::1] indices,
              const float[::1] spacing, int[::1] chosen):
    """Write by which of its neighbors a new point starts: the one with most of the others near.

    Near is measured by how far apart points lie around it on the map.
    """
    cdef Py_ssize_t n_near = indices.shape[1], p = images.shape[1], i, e, f
    cdef double on_map, near, most
    cdef double away[3]
    with nogil:
        for i in range(indices.shape[0]):
            most = -1.0
            for e in range(n_near):
                near = 0.0
                for f in range(n_near):
                    on_map = _distance(&images[indices[i, e], 0], &images[indices[i, f], 0], p,
                                       away) / spacing[indices[i, e]]
                    near += 1.0 / (1.0 + on_map * on_map)
                if near > most:
                    most = near
                    chosen[i] = indices[i, e]


def settle_new(const double[:, ::1] images, const int[:, ::1] indices,
               const float[:, ::1] lengths, const int[:, ::1] near, const float[:, ::1] wanted,
               double strangers, double tolerance, double hold, double far, double step,
               Py_ssize_t n_sweeps, double[:, ::1] places):
    """Move new points among images that stay, each by itself."""
    cdef Py_ssize_t n_near = indices.shape[1], m = near.shape[1], p = images.shape[1]
    cdef Py_ssize_t i, e, q, k, sweep
    cdef double total, on_map, length, reach
    cdef double away[3]
    cdef double pull[3]
    cdef Terms terms = Terms(strangers, tolerance, hold, far)
    with nogil:
        for i in range(indices.shape[0]):
            reach = lengths[i, n_near - 1]
            for sweep in range(n_sweeps):
                total = 1e-3
                for k in range(p):
                    pull[k] = 0.0
                for e in range(n_near):
                    length = lengths[i, e]
                    if length <= 0.0:
                        continue
                    on_map = _distance(&places[i, 0], &images[indices[i, e], 0], p, away)
                    _add(_weight(on_map, length, reach, &terms), on_map, length, away, p, pull,
                         &total)
                for q in range(m):
                    length = wanted[i, q]
                    if length <= 0.0:
                        continue
                    on_map = _distance(&places[i, 0], &images[near[i, q], 0], p, away)
                    if on_map < length:
                        _add(strangers, on_map, length, away, p, pull, &total)
                for k in range(p):
                    places[i, k] += step * pull[k] / total
