# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""The nearest of all points, by products that a matrix product has made."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <algorithm>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    #define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
    #else
    #define WIDE
    #endif

    static const std::ptrdiff_t LANES = 16;

    struct Candidate {
        double square;
        std::int32_t entry;
    };

    static inline bool operator<(const Candidate& a, const Candidate& b) {
        return a.square < b.square || (a.square == b.square && a.entry < b.entry);
    }

    // Fill a heap with the points that are nearest by |b|^2 - 2ab, and return the farthest of them.
    template <typename Real>
    static inline double keep_nearest(const Real* products, const Real* norms, std::ptrdiff_t n,
                                      std::vector<Candidate>& heap, std::ptrdiff_t capacity) {
        heap.clear();
        for (std::ptrdiff_t first = 0; first < n; first += LANES) {
            const std::ptrdiff_t size = std::min(LANES, n - first);
            if (size == LANES && (std::ptrdiff_t)heap.size() == capacity) {
                const Real worst = (Real)heap.front().square;
                int near = 0;
                for (std::ptrdiff_t l = 0; l < LANES; ++l)
                    near |= norms[first + l] - 2 * products[first + l] < worst;
                if (!near) continue;
            }
            for (std::ptrdiff_t l = 0; l < size; ++l) {
                const Candidate found = {norms[first + l] - 2 * products[first + l],
                                         (std::int32_t)(first + l)};
                if ((std::ptrdiff_t)heap.size() == capacity) {
                    if (!(found < heap.front())) continue;
                    std::pop_heap(heap.begin(), heap.end());
                    heap.pop_back();
                }
                heap.push_back(found);
                std::push_heap(heap.begin(), heap.end());
            }
        }
        return heap.front().square;
    }

    WIDE static double keep_row(const float* products, const float* norms, std::ptrdiff_t n,
                                std::vector<Candidate>& heap, std::ptrdiff_t capacity) {
        return keep_nearest(products, norms, n, heap, capacity);
    }
    WIDE static double keep_row(const double* products, const double* norms, std::ptrdiff_t n,
                                std::vector<Candidate>& heap, std::ptrdiff_t capacity) {
        return keep_nearest(products, norms, n, heap, capacity);
    }
    """
    cppclass Candidate:
        int32_t entry
    double keep_row(const float* products, const float* norms, Py_ssize_t n,
                    vector[Candidate]& heap, Py_ssize_t capacity) noexcept nogil
    double keep_row(const double* products, const double* norms, Py_ssize_t n,
                    vector[Candidate]& heap, Py_ssize_t capacity) noexcept nogil

ctypedef fused Real:
    float
    double


def keep(const Real[:, ::1] products, const Real[::1] norms, int32_t[:, ::1] candidates,
         double[::1] farthest):
    """Write for every query the points nearest by |b|^2 - 2ab, and this number of the farthest."""
    cdef Py_ssize_t i, j, n = norms.shape[0], capacity = candidates.shape[1]
    cdef vector[Candidate] heap
    with nogil:
        for i in range(products.shape[0]):
            farthest[i] = keep_row(&products[i, 0], &norms[0], n, heap, capacity)
            for j in range(capacity):
                candidates[i, j] = heap[j].entry
