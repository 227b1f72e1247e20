# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Inner products of differences of rows, over a list of pairs, without copies of the rows."""

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <cstddef>
    #include <cstdint>

    #include "_wide.h"

    // Four sums side by side, which are added at the end.
    WIDE_AVX2 static void pair_products(std::ptrdiff_t n_pairs, const std::int64_t* pairs,
                                        std::ptrdiff_t p, const double* Y, const double* D,
                                        double* mixed, double* squared) {
        for (std::ptrdiff_t e = 0; e < n_pairs; ++e) {
            const std::ptrdiff_t i = pairs[2 * e] * p, j = pairs[2 * e + 1] * p;
            double m[4] = {0.0, 0.0, 0.0, 0.0}, s[4] = {0.0, 0.0, 0.0, 0.0};
            std::ptrdiff_t k = 0;
            for (; k + 4 <= p; k += 4)
                for (int l = 0; l < 4; ++l) {
                    const double d = D[i + k + l] - D[j + k + l];
                    m[l] += (Y[i + k + l] - Y[j + k + l]) * d;
                    s[l] += d * d;
                }
            for (int l = 0; k < p; ++k, ++l) {
                const double d = D[i + k] - D[j + k];
                m[l] += (Y[i + k] - Y[j + k]) * d;
                s[l] += d * d;
            }
            mixed[e] = (m[0] + m[1]) + (m[2] + m[3]);
            squared[e] = (s[0] + s[1]) + (s[2] + s[3]);
        }
    }
    """
    void pair_products(Py_ssize_t n_pairs, const int64_t* pairs, Py_ssize_t p, const double* Y,
                       const double* D, double* mixed, double* squared) noexcept nogil


def products(const int64_t[:, ::1] pairs, const double[:, ::1] Y, const double[:, ::1] D,
             double[::1] mixed, double[::1] squared):
    """Write ⟨y_i − y_j, d_i − d_j⟩ and ‖d_i − d_j‖² of every pair."""
    if pairs.shape[0] == 0 or Y.shape[1] == 0:
        return
    with nogil:
        pair_products(pairs.shape[0], &pairs[0, 0], Y.shape[1], &Y[0, 0], &D[0, 0],
                      &mixed[0], &squared[0])
