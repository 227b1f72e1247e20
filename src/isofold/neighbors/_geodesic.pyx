# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Shortest paths from some nodes to all others, without the interpreter's lock.

A near-far queue instead of a heap: nodes up to a threshold are relaxed in any order until none of
them changes, the others wait. A length is the least of all paths', each summed from its source on,
whatever the order in which paths are found: the result is that of Dijkstra's method to the bit.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <algorithm>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    #include "_wide.h"

    enum Waiting : unsigned char { NOT, NEAR, FAR };
    static const std::ptrdiff_t LANES = 8;
    // How far ahead of their turn the arcs of a node are fetched.
    static const std::size_t AHEAD = 4;
    // Nodes of which a threshold is taken, and the quantile that it is.
    static const std::size_t PROBED = 64, QUANTILE = 4;

    // Scratch of one thread. Of a node that waits, `soonest` is the least length that has changed.
    struct Queue {
        std::vector<std::int32_t> near, far;
        std::vector<unsigned char> waiting;
        std::vector<double> soonest, probe, lengths;
    };

    struct Arcs {
        std::ptrdiff_t n;
        const std::int64_t* starts;
        const std::int32_t* ends;
        const double* weights;
        double limit;
    };

    // A distance up to which nodes go next: a low quantile of those that wait.
    static double next_threshold(Queue& queue) {
        const std::size_t size = queue.far.size(), step = 1 + size / PROBED;
        queue.probe.clear();
        for (std::size_t i = 0; i < size; i += step)
            queue.probe.push_back(queue.soonest[queue.far[i]]);
        const auto low = queue.probe.begin() + queue.probe.size() / QUANTILE;
        std::nth_element(queue.probe.begin(), low, queue.probe.end());
        return *low;
    }

    // Lengths from several sources at once, one a lane: near each other, they share most steps.
    template <std::ptrdiff_t L>
    static INLINE void relax_all(const Arcs& arcs, Queue& queue) {
        double* lengths = queue.lengths.data();
        double threshold = 0.0;
        for (;;) {
            for (std::size_t head = 0; head < queue.near.size(); ++head) {
                const std::int32_t node = queue.near[head];
                if (head + AHEAD < queue.near.size()) {
                    const std::int64_t later = arcs.starts[queue.near[head + AHEAD]];
                    FETCH(arcs.ends + later);
                    FETCH(arcs.weights + later);
                    FETCH(arcs.weights + later + 8);
                }
                queue.waiting[node] = NOT;
                queue.soonest[node] = INFINITY;
                double from[L];
                for (std::ptrdiff_t l = 0; l < L; ++l) from[l] = lengths[node * L + l];
                for (std::int64_t arc = arcs.starts[node]; arc < arcs.starts[node + 1]; ++arc) {
                    const std::int32_t end = arcs.ends[arc];
                    const double weight = arcs.weights[arc];
                    double* to = lengths + end * L;
                    int shorter = 0;
                    for (std::ptrdiff_t l = 0; l < L; ++l) shorter |= from[l] + weight < to[l];
                    if (!shorter) continue;
                    double soonest = INFINITY;
                    for (std::ptrdiff_t l = 0; l < L; ++l) {
                        const double found = from[l] + weight;
                        if (found < to[l] && found <= arcs.limit) {
                            to[l] = found;
                            soonest = found < soonest ? found : soonest;
                        }
                    }
                    if (soonest >= queue.soonest[end]) continue;
                    queue.soonest[end] = soonest;
                    const unsigned char where = soonest <= threshold ? NEAR : FAR;
                    if (queue.waiting[end] != NEAR && queue.waiting[end] != where) {
                        queue.waiting[end] = where;
                        (where == NEAR ? queue.near : queue.far).push_back(end);
                    }
                }
            }
            queue.near.clear();
            // Whoever went near in the meantime does not wait any more.
            std::size_t kept = 0;
            for (const std::int32_t node : queue.far)
                if (queue.waiting[node] == FAR) queue.far[kept++] = node;
            queue.far.resize(kept);
            if (!kept) return;
            threshold = next_threshold(queue);
            kept = 0;
            for (const std::int32_t node : queue.far) {
                if (queue.soonest[node] <= threshold) {
                    queue.waiting[node] = NEAR;
                    queue.near.push_back(node);
                } else {
                    queue.far[kept++] = node;
                }
            }
            queue.far.resize(kept);
        }
    }

    WIDE static void relax_one(const Arcs& arcs, Queue& queue) { relax_all<1>(arcs, queue); }
    WIDE static void relax_lanes(const Arcs& arcs, Queue& queue) { relax_all<LANES>(arcs, queue); }

    static void paths_from(const std::int32_t* sources, std::ptrdiff_t lanes, const Arcs& arcs,
                           Queue& queue) {
        queue.lengths.assign(arcs.n * lanes, INFINITY);
        queue.soonest.assign(arcs.n, INFINITY);
        queue.waiting.assign(arcs.n, NOT);
        queue.near.clear();
        queue.far.clear();
        for (std::ptrdiff_t l = 0; l < lanes; ++l) {
            queue.lengths[sources[l] * lanes + l] = 0.0;
            queue.near.push_back(sources[l]);
        }
        lanes == 1 ? relax_one(arcs, queue) : relax_lanes(arcs, queue);
    }
    """
    const Py_ssize_t LANES
    cppclass Queue:
        vector[double] lengths
    cppclass Arcs:
        Py_ssize_t n
        const int64_t* starts
        const int32_t* ends
        const double* weights
        double limit
    void paths_from(const int32_t* sources, Py_ssize_t lanes, const Arcs& arcs,
                    Queue& queue) noexcept nogil


def paths(const int64_t[::1] starts, const int32_t[::1] ends, const double[::1] weights,
          const int32_t[::1] sources, double limit, bint together, double[:, ::1] lengths):
    """Write the lengths of the shortest paths from every source to all nodes, infinite if none.

    The graph is given row by row: arcs ``starts[i]`` to ``starts[i + 1]`` leave node i, for
    ``ends``, and are as long as ``weights``, none negative. Paths beyond the limit are not followed.
    Sources that are near each other in the list and in the graph are best taken `together`.
    """
    cdef Py_ssize_t i, j, lane, lanes, first = 0, n_sources = sources.shape[0]
    cdef Queue queue
    cdef Arcs arcs
    with nogil:
        arcs.n, arcs.limit = starts.shape[0] - 1, limit
        arcs.starts = &starts[0]
        arcs.ends = &ends[0] if ends.shape[0] else NULL
        arcs.weights = &weights[0] if weights.shape[0] else NULL
        while first < n_sources:
            lanes = LANES if together and first + LANES <= n_sources else 1
            paths_from(&sources[first], lanes, arcs, queue)
            for lane in range(lanes):
                for j in range(arcs.n):
                    lengths[first + lane, j] = queue.lengths[j * lanes + lane]
            first += lanes
