# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Forces of neighbor embedding, and the step that points take. Rows are shared out among threads.

A step reads the positions of before and writes those of after, so that the result never depends on
how rows are shared out.
"""

cdef extern from *:
    """
    #include <algorithm>
    #include <cstddef>

    #include "_wide.h"

    // So many rows go through all points side by side, one a lane: the sums of each are made from
    // the first point to the last, whatever the width of registers.
    static const std::ptrdiff_t LANES = 8;

    template <int P>
    static INLINE void repel_rows(std::ptrdiff_t first, std::ptrdiff_t last, const double* points,
                                  std::ptrdiff_t n, double* force, double* potential) {
        for (std::ptrdiff_t i = first; i < last; i += LANES) {
            const std::ptrdiff_t count = std::min(LANES, last - i);
            double own[P][LANES], pull[P][LANES] = {}, total[LANES] = {};
            for (std::ptrdiff_t l = 0; l < LANES; ++l)
                for (int k = 0; k < P; ++k) own[k][l] = points[(i + std::min(l, count - 1)) * P + k];
            for (std::ptrdiff_t j = 0; j < n; ++j) {
                for (std::ptrdiff_t l = 0; l < LANES; ++l) {
                    double away[P], square = 0.0;
                    for (int k = 0; k < P; ++k) {
                        away[k] = own[k][l] - points[j * P + k];
                        square += away[k] * away[k];
                    }
                    const double q = 1.0 / (1.0 + square);
                    total[l] += q;
                    for (int k = 0; k < P; ++k) pull[k][l] += q * q * away[k];
                }
            }
            for (std::ptrdiff_t l = 0; l < count; ++l) {
                potential[i + l] = total[l];
                for (int k = 0; k < P; ++k) force[(i + l) * P + k] = pull[k][l];
            }
        }
    }

    WIDE static void repel_all(std::ptrdiff_t first, std::ptrdiff_t last, const double* points,
                               std::ptrdiff_t n, std::ptrdiff_t p, double* force,
                               double* potential) {
        if (p == 1) repel_rows<1>(first, last, points, n, force, potential);
        else if (p == 2) repel_rows<2>(first, last, points, n, force, potential);
        else repel_rows<3>(first, last, points, n, force, potential);
    }
    """
    void repel_all(Py_ssize_t first, Py_ssize_t last, const double* points, Py_ssize_t n,
                   Py_ssize_t p, double* force, double* potential) noexcept nogil


def repel(Py_ssize_t first, Py_ssize_t last, const double[:, ::1] points, double[:, ::1] force,
          double[::1] potential):
    """Write Σ_j q_ij² (y_i - y_j) and Σ_j q_ij, q = 1/(1 + r²), over all points j.

    The point itself counts for 1 in the potential, as it does on a mesh. Points have 1 to 3
    coordinates.
    """
    with nogil:
        repel_all(first, last, &points[0, 0], points.shape[0], points.shape[1], &force[0, 0],
                  &potential[0])


def step(Py_ssize_t first, Py_ssize_t last, const double[:, ::1] points, const int[::1] indptr,
         const int[::1] indices, const float[::1] affinities, const double[:, ::1] repulsion,
         double attraction, double repelling, double rate, double momentum,
         double[:, ::1] velocity, double[:, ::1] gain, double[:, ::1] moved):
    """Move rows `first` to `last` along the gradient, with momentum and a gain a coordinate."""
    cdef Py_ssize_t p = points.shape[1], i, j, e, k
    cdef double square, q, downhill
    cdef double away[3]
    cdef double pull[3]
    with nogil:
        for i in range(first, last):
            for k in range(p):
                pull[k] = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                square = 0.0
                for k in range(p):
                    away[k] = points[j, k] - points[i, k]
                    square += away[k] * away[k]
                q = affinities[e] / (1.0 + square)
                for k in range(p):
                    pull[k] += q * away[k]
            for k in range(p):
                downhill = 4.0 * (attraction * pull[k] + repelling * repulsion[i, k])
                if (downhill > 0.0) != (velocity[i, k] > 0.0):
                    gain[i, k] = gain[i, k] * 0.8 if gain[i, k] > 0.0125 else 0.01
                else:
                    gain[i, k] += 0.2
                velocity[i, k] = momentum * velocity[i, k] + rate * gain[i, k] * downhill
                moved[i, k] = points[i, k] + velocity[i, k]
