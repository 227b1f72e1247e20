# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Forces of neighbor embedding, and the step that points take. Rows are shared out among threads.

A step reads the positions of before and writes those of after, so that the result never depends on
how rows are shared out.
"""


def repel(Py_ssize_t first, Py_ssize_t last, const double[:, ::1] points, double[:, ::1] force,
          double[::1] potential):
    """Write Σ_j q_ij² (y_i - y_j) and Σ_j q_ij, q = 1/(1 + r²), over all points j.

    The point itself counts for 1 in the potential, as it does on a mesh.
    """
    cdef Py_ssize_t n = points.shape[0], p = points.shape[1], i, j, k
    cdef double square, q, total
    cdef double away[3]
    cdef double pull[3]
    with nogil:
        for i in range(first, last):
            total = 0.0
            for k in range(p):
                pull[k] = 0.0
            for j in range(n):
                square = 0.0
                for k in range(p):
                    away[k] = points[i, k] - points[j, k]
                    square += away[k] * away[k]
                q = 1.0 / (1.0 + square)
                total += q
                for k in range(p):
                    pull[k] += q * q * away[k]
            potential[i] = total
            for k in range(p):
                force[i, k] = pull[k]


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
