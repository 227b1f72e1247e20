# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Graph balls: the nearest nodes of a seed by path length, by truncated Dijkstra.

Compiled, since each ball settles a few dozen nodes only: SciPy's Dijkstra fills a row of n
distances a seed, which takes most of its time.
"""

from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t
from libcpp.pair cimport pair
from libcpp.queue cimport priority_queue
from libcpp.vector cimport vector

import numpy as np

ctypedef pair[double, int64_t] Reached


cdef class BallSearch:
    """Balls of one graph; holds the workspace that all balls share.

    Parameters
    ----------
    indptr, indices : ndarray of int32
        Rows and columns of the symmetric adjacency matrix.
    lengths : ndarray of float64
        Its values.
    """

    cdef const int32_t[::1] indptr
    cdef const int32_t[::1] indices
    cdef const double[::1] lengths
    cdef vector[double] best
    cdef vector[int64_t] reached_in
    cdef vector[int64_t] settled_in
    cdef int64_t turn
    cdef vector[int64_t] nodes
    cdef vector[double] distances

    def __init__(self, const int32_t[::1] indptr, const int32_t[::1] indices,
                 const double[::1] lengths):
        cdef size_t n_nodes = indptr.shape[0] - 1
        self.indptr, self.indices, self.lengths = indptr, indices, lengths
        self.best.assign(n_nodes, 0.0)
        # The turn in which a node was last reached or settled: nothing is cleared between balls.
        self.reached_in.assign(n_nodes, 0)
        self.settled_in.assign(n_nodes, 0)
        self.turn = 0

    cdef void _append_ball(self, int64_t seed, int64_t size) noexcept nogil:
        """Append the `size` nearest nodes of a seed, itself the first, by path length."""
        cdef priority_queue[Reached] queue
        cdef int64_t node, other, count = 0
        cdef int32_t entry
        cdef double distance, longer
        self.turn += 1
        self.best[seed] = 0.0
        self.reached_in[seed] = self.turn
        queue.push(Reached(0.0, -seed))
        while not queue.empty() and count < size:
            # The queue gives the largest pair first: negated, the nearest, then the lowest node.
            distance, node = 0.0 - queue.top().first, -queue.top().second
            queue.pop()
            if self.settled_in[node] == self.turn:
                continue
            self.settled_in[node] = self.turn
            self.nodes.push_back(node)
            self.distances.push_back(distance)
            count += 1
            for entry in range(self.indptr[node], self.indptr[node + 1]):
                other = self.indices[entry]
                if self.settled_in[other] == self.turn:
                    continue
                longer = distance + self.lengths[entry]
                if self.reached_in[other] != self.turn or longer < self.best[other]:
                    self.reached_in[other] = self.turn
                    self.best[other] = longer
                    queue.push(Reached(-longer, -other))

    def balls(self, const int64_t[::1] seeds, const int64_t[::1] sizes):
        """Return the balls of seeds as (indptr, nodes, distances)."""
        cdef Py_ssize_t i, n_seeds = seeds.shape[0]
        cdef int64_t[::1] indptr = np.zeros(n_seeds + 1, dtype=np.int64)
        self.nodes.clear()
        self.distances.clear()
        with nogil:
            for i in range(n_seeds):
                self._append_ball(seeds[i], sizes[i])
                indptr[i + 1] = <int64_t> self.nodes.size()
        return np.asarray(indptr), *self._found()

    def cover(self, const int64_t[::1] order, const int64_t[::1] sizes, double core):
        """Return seeds whose balls cover the nodes in `order`, and the balls.

        The next node in `order` that is not covered becomes a seed; the share `core` of its ball
        that is nearest to it is covered. `sizes` holds the size of the ball around each node of
        the graph.
        """
        cdef Py_ssize_t i, n = order.shape[0]
        cdef int64_t seed, begin, end, entry
        cdef vector[char] covered
        cdef vector[int64_t] seeds, indptr
        covered.assign(self.best.size(), 0)
        self.nodes.clear()
        self.distances.clear()
        indptr.push_back(0)
        with nogil:
            for i in range(n):
                seed = order[i]
                if covered[seed]:
                    continue
                begin = <int64_t> self.nodes.size()
                self._append_ball(seed, sizes[seed])
                end = <int64_t> self.nodes.size()
                for entry in range(begin, begin + <int64_t> ceil(core * (end - begin))):
                    covered[self.nodes[entry]] = 1
                seeds.push_back(seed)
                indptr.push_back(end)
        return _integers(seeds), _integers(indptr), *self._found()

    def _found(self):
        cdef double[::1] distances = np.empty(self.distances.size(), dtype=np.float64)
        cdef size_t i
        for i in range(self.distances.size()):
            distances[i] = self.distances[i]
        return _integers(self.nodes), np.asarray(distances)


cdef _integers(vector[int64_t]& values):
    cdef int64_t[::1] out = np.empty(values.size(), dtype=np.int64)
    cdef size_t i
    for i in range(values.size()):
        out[i] = values[i]
    return np.asarray(out)
