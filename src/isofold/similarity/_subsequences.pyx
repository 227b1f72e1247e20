# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Gap-weighted subsequences that two strings share, by dynamic programming.

With K'_0 = 1, and x the letter that is added to s:

    K''_l(sx, tu) = λ K''_l(sx, t) + [x = u] λ² K'_{l−1}(s, t)
    K'_l(sx, t)   = λ K'_l(s, t) + K''_l(sx, t)
    K_p(sx, t)    = K_p(s, t) + Σ_j [x = t_j] λ² K'_{p−1}(s, t_1…t_{j−1})
"""

from libc.string cimport memset


cdef double _shared(const long long* s, Py_ssize_t n, const long long* t, Py_ssize_t m,
                    Py_ssize_t p, double decay, double* prefix) noexcept nogil:
    """Return K_p(s, t); `prefix` holds K'_0 … K'_{p−1}, each for every beginning of t."""
    cdef Py_ssize_t i, j, level
    cdef double total = 0.0, running, square = decay * decay
    cdef double* below
    cdef double* here
    memset(prefix, 0, p * (m + 1) * sizeof(double))
    for j in range(m + 1):
        prefix[j] = 1.0
    for i in range(n):
        # From the longest down, so that each level reads what was before this letter.
        below = prefix + (p - 1) * (m + 1)
        for j in range(m):
            if s[i] == t[j]:
                total += square * below[j]
        for level in range(p - 1, 0, -1):
            here = prefix + level * (m + 1)
            below = here - (m + 1)
            running = 0.0
            for j in range(m):
                running *= decay
                if s[i] == t[j]:
                    running += square * below[j]
                here[j + 1] = decay * here[j + 1] + running
    return total


def shared_subsequences(const long long[::1] s, const long long[::1] letters,
                        const long long[::1] starts, Py_ssize_t length, double decay,
                        double[::1] work, double[::1] out):
    """Write the kernel of one string with many, which follow each other in `letters`."""
    cdef Py_ssize_t k
    cdef const long long* own = NULL
    cdef const long long* others = NULL
    if s.shape[0]:
        own = &s[0]
    if letters.shape[0]:
        others = &letters[0]
    with nogil:
        for k in range(out.shape[0]):
            out[k] = _shared(own, s.shape[0], others + starts[k], starts[k + 1] - starts[k],
                             length, decay, &work[0])
