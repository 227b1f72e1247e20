# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Energies of structures and their gradients: intervals, stretch, signed volumes, rigid shapes.

Compiled, since a descent evaluates them thousands of times on arrays that are too small for NumPy
to be quick. Each function adds its gradient to `gradient` and returns its energy.
"""

from libc.math cimport fabs, hypot, sqrt

# Squared length below which two points are at one place: no direction pulls them apart.
cdef double TINY = 1e-24


def add_intervals(const double[:, ::1] places, const Py_ssize_t[:, ::1] pairs,
                  const double[::1] lower, const double[::1] upper, const double[::1] weights,
                  double[:, ::1] gradient):
    """Add Σ w dist(|y_i - y_j|, [lower, upper])²."""
    cdef Py_ssize_t m = pairs.shape[0], p = places.shape[1], e, i, j, k
    cdef double square, length, excess, factor, step, energy = 0.0
    with nogil:
        for e in range(m):
            i = pairs[e, 0]
            j = pairs[e, 1]
            square = TINY
            for k in range(p):
                step = places[i, k] - places[j, k]
                square += step * step
            length = sqrt(square)
            if length > upper[e]:
                excess = length - upper[e]
            elif length < lower[e]:
                excess = length - lower[e]
            else:
                continue
            energy += weights[e] * excess * excess
            factor = 2.0 * weights[e] * excess / length
            for k in range(p):
                step = factor * (places[i, k] - places[j, k])
                gradient[i, k] += step
                gradient[j, k] -= step
    return energy


def add_stretch(const double[:, ::1] places, const Py_ssize_t[:, ::1] pairs,
                const double[::1] pulls, double scale, double[:, ::1] gradient):
    """Add -scale Σ c |y_i - y_j|."""
    cdef Py_ssize_t m = pairs.shape[0], p = places.shape[1], e, i, j, k
    cdef double square, length, factor, step, energy = 0.0
    with nogil:
        for e in range(m):
            i = pairs[e, 0]
            j = pairs[e, 1]
            square = TINY
            for k in range(p):
                step = places[i, k] - places[j, k]
                square += step * step
            length = sqrt(square)
            energy -= scale * pulls[e] * length
            factor = -scale * pulls[e] / length
            for k in range(p):
                step = factor * (places[i, k] - places[j, k])
                gradient[i, k] += step
                gradient[j, k] -= step
    return energy


def add_volumes(const double[:, ::1] places, const Py_ssize_t[:, ::1] corners,
                const double[::1] volumes, double weight, double[:, ::1] gradient):
    """Add w Σ (signed volume of four points in the first three columns - given)²."""
    cdef Py_ssize_t m = corners.shape[0], e, k, a, b, c, d
    cdef double[3] p, q, r, u, v, t
    cdef double excess, factor, energy = 0.0
    with nogil:
        for e in range(m):
            a = corners[e, 0]
            b = corners[e, 1]
            c = corners[e, 2]
            d = corners[e, 3]
            for k in range(3):
                p[k] = places[b, k] - places[a, k]
                q[k] = places[c, k] - places[a, k]
                r[k] = places[d, k] - places[a, k]
            _cross(q, r, u)
            _cross(r, p, v)
            _cross(p, q, t)
            excess = (p[0] * u[0] + p[1] * u[1] + p[2] * u[2]) / 6.0 - volumes[e]
            energy += weight * excess * excess
            factor = weight * excess / 3.0
            for k in range(3):
                gradient[b, k] += factor * u[k]
                gradient[c, k] += factor * v[k]
                gradient[d, k] += factor * t[k]
                gradient[a, k] -= factor * (u[k] + v[k] + t[k])
    return energy


def add_areas(const double[:, ::1] places, const Py_ssize_t[:, ::1] corners,
              const double[::1] areas, double weight, double[:, ::1] gradient):
    """Add w Σ (signed area of three points in the first two columns - given)²."""
    cdef Py_ssize_t m = corners.shape[0], e, a, b, c
    cdef double px, py, qx, qy, excess, factor, energy = 0.0
    with nogil:
        for e in range(m):
            a = corners[e, 0]
            b = corners[e, 1]
            c = corners[e, 2]
            px = places[b, 0] - places[a, 0]
            py = places[b, 1] - places[a, 1]
            qx = places[c, 0] - places[a, 0]
            qy = places[c, 1] - places[a, 1]
            excess = (px * qy - py * qx) / 2.0 - areas[e]
            energy += weight * excess * excess
            factor = weight * excess
            gradient[b, 0] += factor * qy
            gradient[b, 1] -= factor * qx
            gradient[c, 0] -= factor * py
            gradient[c, 1] += factor * px
            gradient[a, 0] -= factor * (qy - py)
            gradient[a, 1] -= factor * (px - qx)
    return energy


def add_shapes(const double[:, ::1] places, const Py_ssize_t[::1] begin,
               const Py_ssize_t[::1] members, const double[:, ::1] shapes,
               const unsigned char[::1] has_hand, double weight, double[:, ::1] gradient):
    """Add w Σ min over motions |Y_group - P R - t|², R a rotation, or a reflection without hand."""
    cdef Py_ssize_t n_groups = begin.shape[0] - 1, d = places.shape[1], g, i, a, b, first, last
    cdef double[3] mean
    cdef double[9] covariance, rotation
    cdef double residual, energy = 0.0
    with nogil:
        for g in range(n_groups):
            first = begin[g]
            last = begin[g + 1]
            _pose(places, members, shapes, first, last, d, has_hand[g], mean, covariance, rotation)
            for i in range(first, last):
                for b in range(d):
                    residual = places[members[i], b] - mean[b]
                    for a in range(d):
                        residual -= shapes[i, a] * rotation[a * d + b]
                    energy += weight * residual * residual
                    gradient[members[i], b] += 2.0 * weight * residual
    return energy


def poses(const double[:, ::1] places, const Py_ssize_t[::1] begin,
          const Py_ssize_t[::1] members, const double[:, ::1] shapes,
          const unsigned char[::1] has_hand, double[:, ::1] posed):
    """Write where the members of each group belong: its shape, moved to fit best."""
    cdef Py_ssize_t n_groups = begin.shape[0] - 1, d = places.shape[1], g, i, a, b
    cdef double[3] mean
    cdef double[9] covariance, rotation
    cdef double value
    with nogil:
        for g in range(n_groups):
            _pose(places, members, shapes, begin[g], begin[g + 1], d, has_hand[g], mean,
                  covariance, rotation)
            for i in range(begin[g], begin[g + 1]):
                for b in range(d):
                    value = mean[b]
                    for a in range(d):
                        value += shapes[i, a] * rotation[a * d + b]
                    posed[i, b] = value


cdef inline void _cross(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


cdef void _pose(const double[:, ::1] places, const Py_ssize_t[::1] members,
                const double[:, ::1] shapes, Py_ssize_t first, Py_ssize_t last, Py_ssize_t d,
                bint has_hand, double* mean, double* covariance, double* rotation) noexcept nogil:
    """Write the mean of a group and the rotation R (d × d, rows) of its centered shape."""
    cdef Py_ssize_t i, a, b
    for b in range(d):
        mean[b] = 0.0
        for i in range(first, last):
            mean[b] += places[members[i], b]
        mean[b] /= last - first
    for a in range(d):
        for b in range(d):
            covariance[a * d + b] = 0.0
            # The shape is centered, so the mean of the places has no part in the sum.
            for i in range(first, last):
                covariance[a * d + b] += shapes[i, a] * (places[members[i], b] - mean[b])
    if d == 3:
        _rotation_in_space(covariance, has_hand, rotation)
    else:
        _rotation_in_plane(covariance, has_hand, rotation)


cdef void _rotation_in_plane(const double* m, bint has_hand, double* rotation) noexcept nogil:
    """Write the rotation, or reflection, R with the largest trace of RᵀM."""
    cdef double cosine = m[0] + m[3], sine = m[1] - m[2], size = hypot(cosine, sine)
    cdef double mirror_cosine = m[0] - m[3], mirror_sine = m[1] + m[2]
    cdef double mirror = hypot(mirror_cosine, mirror_sine)
    if not has_hand and mirror > size:
        rotation[0] = mirror_cosine / mirror
        rotation[1] = mirror_sine / mirror
        rotation[2] = mirror_sine / mirror
        rotation[3] = -mirror_cosine / mirror
        return
    if size == 0.0:
        cosine, sine, size = 1.0, 0.0, 1.0
    rotation[0] = cosine / size
    rotation[1] = sine / size
    rotation[2] = -sine / size
    rotation[3] = cosine / size


cdef void _rotation_in_space(const double* m, bint has_hand, double* rotation) noexcept nogil:
    """Write the rotation, or reflection, R with the largest trace of RᵀM (Horn 1987)."""
    cdef double[9] negative, mirrored
    cdef double value, mirror
    cdef Py_ssize_t k
    value = _horn(m, rotation)
    if has_hand:
        return
    for k in range(9):
        negative[k] = -m[k]
    mirror = _horn(negative, mirrored)
    if mirror > value:
        for k in range(9):
            rotation[k] = -mirrored[k]


cdef double _horn(const double* m, double* rotation) noexcept nogil:
    """Write the rotation with the largest trace of RᵀM and return it: a quaternion."""
    cdef double[16] a, v
    cdef double w, x, y, z
    cdef Py_ssize_t k, best = 0
    a[0] = m[0] + m[4] + m[8]
    a[1] = m[5] - m[7]
    a[2] = m[6] - m[2]
    a[3] = m[1] - m[3]
    a[5] = m[0] - m[4] - m[8]
    a[6] = m[1] + m[3]
    a[7] = m[6] + m[2]
    a[10] = -m[0] + m[4] - m[8]
    a[11] = m[5] + m[7]
    a[15] = -m[0] - m[4] + m[8]
    a[4], a[8], a[12], a[9], a[13], a[14] = a[1], a[2], a[3], a[6], a[7], a[11]
    _eigenvectors(a, v)
    for k in range(1, 4):
        if a[5 * k] > a[5 * best]:
            best = k
    w, x, y, z = v[best], v[4 + best], v[8 + best], v[12 + best]
    # Transposed: rows of the shape are multiplied from the left.
    rotation[0] = w * w + x * x - y * y - z * z
    rotation[1] = 2.0 * (x * y + w * z)
    rotation[2] = 2.0 * (x * z - w * y)
    rotation[3] = 2.0 * (x * y - w * z)
    rotation[4] = w * w - x * x + y * y - z * z
    rotation[5] = 2.0 * (y * z + w * x)
    rotation[6] = 2.0 * (x * z + w * y)
    rotation[7] = 2.0 * (y * z - w * x)
    rotation[8] = w * w - x * x - y * y + z * z
    return a[5 * best]


cdef void _eigenvectors(double* a, double* v) noexcept nogil:
    """Diagonalize a symmetric 4 × 4 matrix by Jacobi's rotations; columns of v are its vectors."""
    cdef Py_ssize_t sweep, i, j, k
    cdef double off, size, theta, t, c, s, first, second
    for i in range(4):
        for j in range(4):
            v[4 * i + j] = 1.0 if i == j else 0.0
    for sweep in range(30):
        off = 0.0
        size = 0.0
        for i in range(4):
            size += a[5 * i] * a[5 * i]
            for j in range(i + 1, 4):
                off += a[4 * i + j] * a[4 * i + j]
        # Off-diagonal parts enter eigenvectors to first order: stop at rounding.
        if off <= 1e-32 * size:
            return
        for i in range(3):
            for j in range(i + 1, 4):
                if a[4 * i + j] == 0.0:
                    continue
                theta = (a[5 * j] - a[5 * i]) / (2.0 * a[4 * i + j])
                t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / sqrt(t * t + 1.0)
                s = t * c
                for k in range(4):
                    first, second = a[4 * k + i], a[4 * k + j]
                    a[4 * k + i] = c * first - s * second
                    a[4 * k + j] = s * first + c * second
                for k in range(4):
                    first, second = a[4 * i + k], a[4 * j + k]
                    a[4 * i + k] = c * first - s * second
                    a[4 * j + k] = s * first + c * second
                for k in range(4):
                    first, second = v[4 * k + i], v[4 * k + j]
                    v[4 * k + i] = c * first - s * second
                    v[4 * k + j] = s * first + c * second
