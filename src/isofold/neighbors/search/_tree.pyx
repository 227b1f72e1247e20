# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""A balanced tree of leaves, searched by groups of queries that end in the same leaf.

A group walks the tree once, for the box of all its queries; each query then scans those leaves of
the group whose boxes are near enough to it. Box distances are summed in the order in which
distances are, so that rounding never puts a box beyond a point in it: what is found are exactly the
k nearest by (computed distance, index), whatever queries are in the group.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

import numpy as np

cdef extern from *:
    """
    #include <algorithm>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <limits>
    #include <vector>

    #include "_wide.h"

    static const std::ptrdiff_t LANES = 8;

    struct Tree {
        std::ptrdiff_t n, d, depth;
        const double* values;         // of inner nodes: where they are cut
        const std::int32_t* axes;     // of inner nodes: along which axis
        const double* boxes;          // of all nodes: low corner, high corner
        const double* panels;         // of leaves: their points, axis by axis
        const std::int64_t* order;    // the points, leaf after leaf

        std::ptrdiff_t n_leaves() const { return std::ptrdiff_t(1) << depth; }
        std::ptrdiff_t start(std::ptrdiff_t leaf) const { return (n * leaf) >> depth; }
        const double* box(std::ptrdiff_t node) const { return boxes + 2 * d * node; }
    };

    struct Found {
        double square;
        std::int64_t entry;
    };

    static inline bool operator<(const Found& a, const Found& b) {
        return a.square < b.square || (a.square == b.square && a.entry < b.entry);
    }

    static const std::ptrdiff_t MOST_SORTED = 48;

    // The k nearest so far: sorted if they are few, else a heap with the farthest on top.
    struct Nearest {
        Found* found;
        std::ptrdiff_t k, count;

        double worst() const {
            if (count < k) return std::numeric_limits<double>::infinity();
            return k <= MOST_SORTED ? found[k - 1].square : found[0].square;
        }
        void add(Found next) {
            if (k > MOST_SORTED) {
                if (count < k) {
                    found[count++] = next;
                    std::push_heap(found, found + count);
                } else if (next < found[0]) {
                    std::pop_heap(found, found + k);
                    found[k - 1] = next;
                    std::push_heap(found, found + k);
                }
                return;
            }
            if (count == k && !(next < found[k - 1])) return;
            std::ptrdiff_t at = count < k ? count++ : k - 1;
            for (; at > 0 && next < found[at - 1]; --at) found[at] = found[at - 1];
            found[at] = next;
        }
        void sort() {
            if (k > MOST_SORTED) std::sort_heap(found, found + count);
        }
    };

    // Sums of squares go by four accumulators while there are four axes, as those of SciPy do.
    template <typename Number, typename Gap>
    static INLINE Number sum_of_squares(std::ptrdiff_t d, Gap gap) {
        Number sum = {};
        std::ptrdiff_t j = 0;
        if (d >= 4) {
            Number a = {}, b = {}, c = {}, e = {};
            for (; j + 4 <= d; j += 4) {
                const Number p = gap(j), q = gap(j + 1), r = gap(j + 2), s = gap(j + 3);
                a = a + p * p;
                b = b + q * q;
                c = c + r * r;
                e = e + s * s;
            }
            sum = a + b + c + e;
        }
        for (; j < d; ++j) {
            const Number p = gap(j);
            sum = sum + p * p;
        }
        return sum;
    }

    // Compare a query with all points of a leaf.
    static INLINE void scan_leaf(const Tree& tree, std::ptrdiff_t leaf, const double* query,
                                 Nearest& nearest) {
        const std::ptrdiff_t first = tree.start(leaf), size = tree.start(leaf + 1) - first;
        const double* panel = tree.panels + first * tree.d;
        for (std::ptrdiff_t from = 0; from < size; from += LANES) {
            double squares[LANES];
            *(Doubles8*)squares = sum_of_squares<Doubles8>(tree.d, [&](std::ptrdiff_t j) INLINE_LAMBDA {
                return *(const Doubles8*)(panel + j * size + from) - query[j];
            });
            // Doubles8 beyond the end of the leaf hold numbers that do not count.
            const std::ptrdiff_t end = std::min(LANES, size - from);
            const double worst = nearest.worst();
            for (std::ptrdiff_t l = 0; l < end; ++l)
                if (squares[l] <= worst) nearest.add({squares[l], tree.order[first + from + l]});
        }
    }

    // What a box is away from a point, or from another box, along an axis.
    template <typename Number>
    static INLINE Number gap_of(Number low, Number high, double from, double to) {
        return larger(Number{}, larger(low - to, from - high));
    }

    struct Group {
        std::vector<Found> near;        // leaves by their distances from the middle of the queries
        std::vector<double> corners;    // of their boxes, eight by eight, axis by axis
        std::vector<double> low, high, middle;  // of the queries
        std::vector<std::ptrdiff_t> stack;
    };

    // List the leaves within a squared distance of the box of the group, but for its own.
    static INLINE void walk(const Tree& tree, double worst, std::ptrdiff_t first,
                               std::ptrdiff_t last, Group& group) {
        const std::ptrdiff_t n_inner = tree.n_leaves() - 1, d = tree.d;
        group.near.clear();
        group.stack.assign(1, 0);
        while (!group.stack.empty()) {
            const std::ptrdiff_t node = group.stack.back();
            group.stack.pop_back();
            const double *low = tree.box(node), *high = low + d;
            const auto square_to = [&](const double* from, const double* to) INLINE_LAMBDA {
                return sum_of_squares<double>(d, [&](std::ptrdiff_t j) INLINE_LAMBDA {
                    return gap_of(low[j], high[j], from[j], to[j]);
                });
            };
            if (square_to(group.low.data(), group.high.data()) > worst) continue;
            if (node < n_inner) {
                group.stack.push_back(2 * node + 2);
                group.stack.push_back(2 * node + 1);
            } else if (node - n_inner < first || node - n_inner >= last) {
                group.near.push_back({square_to(group.middle.data(), group.middle.data()),
                                      std::int64_t(node - n_inner)});
            }
        }
        // The nearest first: they make the others needless. What is found does not depend on it.
        std::sort(group.near.begin(), group.near.end());
        const std::ptrdiff_t n_eights = (std::ptrdiff_t(group.near.size()) + LANES - 1) / LANES;
        group.corners.resize(n_eights * LANES * 2 * d);
        for (std::size_t i = 0; i < group.near.size(); ++i) {
            const double* box = tree.box(n_inner + group.near[i].entry);
            double* to = group.corners.data() + (i / LANES) * 2 * d * LANES + i % LANES;
            for (std::ptrdiff_t j = 0; j < 2 * d; ++j) to[j * LANES] = box[j];
        }
    }

    // Visit those leaves of the group that may hold nearer points.
    static INLINE void visit(const Tree& tree, const Group& group, const double* query,
                                Nearest& nearest) {
        const std::ptrdiff_t n_leaves = group.near.size(), d = tree.d;
        for (std::ptrdiff_t from = 0; from < n_leaves; from += LANES) {
            const Doubles8* corners = (const Doubles8*)(group.corners.data() + from * 2 * d);
            double squares[LANES];
            *(Doubles8*)squares = sum_of_squares<Doubles8>(d, [&](std::ptrdiff_t j) INLINE_LAMBDA {
                return gap_of(corners[j], corners[d + j], query[j], query[j]);
            });
            const std::ptrdiff_t end = std::min(LANES, n_leaves - from);
            for (std::ptrdiff_t l = 0; l < end; ++l)
                if (squares[l] <= nearest.worst())
                    scan_leaf(tree, group.near[from + l].entry, query, nearest);
        }
    }

    // Find the k nearest points of queries that all end in one leaf.
    WIDE static void search_group(const Tree& tree, std::ptrdiff_t leaf, const double* queries,
                                  std::ptrdiff_t m, std::ptrdiff_t k, Group& group, Found* found) {
        // Its own leaf, or so many around it that k points are in them.
        std::ptrdiff_t height = 0;
        while (tree.start(((leaf >> height) + 1) << height) -
                   tree.start((leaf >> height) << height) < k)
            ++height;
        const std::ptrdiff_t first = (leaf >> height) << height;
        const std::ptrdiff_t last = first + (std::ptrdiff_t(1) << height);
        double worst = 0.0;
        group.low.assign(queries, queries + tree.d);
        group.high = group.low;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            const double* query = queries + i * tree.d;
            Nearest nearest = {found + i * k, k, 0};
            for (std::ptrdiff_t own = first; own < last; ++own)
                scan_leaf(tree, own, query, nearest);
            worst = std::max(worst, nearest.worst());
            for (std::ptrdiff_t j = 0; j < tree.d; ++j) {
                group.low[j] = std::min(group.low[j], query[j]);
                group.high[j] = std::max(group.high[j], query[j]);
            }
        }
        group.middle.resize(tree.d);
        for (std::ptrdiff_t j = 0; j < tree.d; ++j)
            group.middle[j] = 0.5 * (group.low[j] + group.high[j]);
        walk(tree, worst, first, last, group);
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            Nearest nearest = {found + i * k, k, k};
            visit(tree, group, queries + i * tree.d, nearest);
            nearest.sort();
        }
    }

    // The arrays of a tree while it grows, and the scratch of a thread.
    struct Growth {
        Tree tree;
        double* values;
        std::int32_t* axes;
        double* boxes;
        double* panels;
        std::int64_t* order;
        std::vector<Found> keyed;
    };

    // Cut the points of a node at their middle along the widest axis, or lay them out in a leaf.
    template <typename Number>
    static inline void cut(Growth& growth, const Number* points, std::ptrdiff_t node) {
        const Tree& tree = growth.tree;
        const std::ptrdiff_t n_inner = tree.n_leaves() - 1, d = tree.d;
        std::ptrdiff_t level = 0;
        while ((std::ptrdiff_t(2) << level) - 1 <= node) ++level;
        const std::ptrdiff_t height = tree.depth - level;
        const std::ptrdiff_t at = node + 1 - (std::ptrdiff_t(1) << level);
        const std::ptrdiff_t first = tree.start(at << height);
        const std::ptrdiff_t size = tree.start((at + 1) << height) - first;
        std::int64_t* order = growth.order + first;
        double *low = growth.boxes + 2 * d * node, *high = low + d;
        std::fill(low, high, std::numeric_limits<double>::infinity());
        std::fill(high, high + d, -std::numeric_limits<double>::infinity());
        for (std::ptrdiff_t i = 0; i < size; ++i)
            for (std::ptrdiff_t j = 0; j < d; ++j) {
                const double value = points[order[i] * d + j];
                low[j] = std::min(low[j], value);
                high[j] = std::max(high[j], value);
            }
        if (node >= n_inner) {
            double* panel = growth.panels + first * d;
            for (std::ptrdiff_t i = 0; i < size; ++i)
                for (std::ptrdiff_t j = 0; j < d; ++j)
                    panel[j * size + i] = points[order[i] * d + j];
            return;
        }
        std::ptrdiff_t axis = 0;
        for (std::ptrdiff_t j = 1; j < d; ++j)
            if (high[j] - low[j] > high[axis] - low[axis]) axis = j;
        // Numbers beside their points: a comparison that looks them up would wait for memory.
        growth.keyed.resize(size);
        for (std::ptrdiff_t i = 0; i < size; ++i)
            growth.keyed[i] = {double(points[order[i] * d + axis]), order[i]};
        const std::ptrdiff_t middle = tree.start((2 * at + 1) << (height - 1)) - first;
        std::nth_element(growth.keyed.begin(), growth.keyed.begin() + middle, growth.keyed.end());
        for (std::ptrdiff_t i = 0; i < size; ++i) order[i] = growth.keyed[i].entry;
        growth.axes[node] = std::int32_t(axis);
        growth.values[node] = growth.keyed[middle].square;
    }

    // Cut a node and all below it.
    template <typename Number>
    static void grow(Growth& growth, const Number* points, std::ptrdiff_t node) {
        cut(growth, points, node);
        if (node >= growth.tree.n_leaves() - 1) return;
        grow(growth, points, 2 * node + 1);
        grow(growth, points, 2 * node + 2);
    }
    """
    cppclass Tree:
        Py_ssize_t n, d, depth
        const double* values
        const int32_t* axes
        const double* boxes
        const double* panels
        const int64_t* order
        Py_ssize_t n_leaves() nogil
    cppclass Group:
        pass
    struct Found:
        double square
        int64_t entry
    void search_group(const Tree& tree, Py_ssize_t leaf, const double* queries, Py_ssize_t m,
                      Py_ssize_t k, Group& group, Found* found) noexcept nogil
    cppclass Growth:
        Tree tree
        double* values
        int32_t* axes
        double* boxes
        double* panels
        int64_t* order
    void cut(Growth& growth, const float* points, Py_ssize_t node) noexcept nogil
    void cut(Growth& growth, const double* points, Py_ssize_t node) noexcept nogil
    void grow(Growth& growth, const float* points, Py_ssize_t node) noexcept nogil
    void grow(Growth& growth, const double* points, Py_ssize_t node) noexcept nogil

ctypedef fused number:
    float
    double

LANES = 8
"""Numbers that are read at a time, also beyond the last one."""

cdef Py_ssize_t MOST_TOGETHER = 64
"""Queries of a group. More would make its box no smaller."""


cdef Tree _view(tuple arrays, Py_ssize_t d) except *:
    cdef const double[::1] values = arrays[0]
    cdef const int32_t[::1] axes = arrays[1]
    cdef const double[::1] boxes = arrays[2]
    cdef const double[::1] panels = arrays[3]
    cdef const int64_t[::1] order = arrays[4]
    cdef Tree tree
    tree.n, tree.d, tree.depth = order.shape[0], d, 0
    while (<Py_ssize_t> 2) << tree.depth <= values.shape[0]:
        tree.depth += 1
    tree.values, tree.axes, tree.boxes = &values[0], &axes[0], &boxes[0]
    tree.panels, tree.order = &panels[0], &order[0]
    return tree


def build(Py_ssize_t first, Py_ssize_t last, const number[:, ::1] points, double[::1] values,
          int32_t[::1] axes, double[::1] boxes, double[::1] panels, int64_t[::1] order,
          *, bint with_branches=True):
    """Fill the arrays of a tree: some nodes whose parents are done, with or without all below them.

    Parameters
    ----------
    first, last : int
        Which nodes.
    points : ndarray of shape (n, d)
        The points.
    values, axes : ndarray of shape (2 ** depth,)
        Where inner nodes are cut, and along which axis; the last entry is not used.
    boxes : ndarray of shape (2 ** (depth + 1) * 2 * d,)
        The corners of the boxes of all nodes.
    panels : ndarray of shape (n * d + 8,)
        The points of the leaves. Registers are filled beyond the last one.
    order : ndarray of int of shape (n,)
        The points in ascending order; afterwards leaf by leaf.
    with_branches : bool, default=True
        Whether to fill in what is below them.
    """
    cdef Growth growth
    cdef Py_ssize_t node
    growth.tree = _view((values, axes, boxes, panels, order), points.shape[1])
    growth.values, growth.axes, growth.boxes = &values[0], &axes[0], &boxes[0]
    growth.panels, growth.order = &panels[0], &order[0]
    with nogil:
        for node in range(first, last):
            if with_branches:
                grow(growth, &points[0, 0], node)
            else:
                cut(growth, &points[0, 0], node)


def order(tuple arrays, const number[:, ::1] queries):
    """Return the queries leaf by leaf, and where each leaf ends among them."""
    cdef Tree tree = _view(arrays, queries.shape[1])
    cdef Py_ssize_t i, node, level, leaf, n = queries.shape[0], n_leaves = tree.n_leaves()
    cdef vector[int32_t] leaves
    cdef int64_t[::1] rows = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] ends = np.zeros(n_leaves + 1, dtype=np.int64)
    with nogil:
        leaves.resize(n)
        for i in range(n):
            node = 0
            for level in range(tree.depth):
                node = 2 * node + 1 + (queries[i, tree.axes[node]] >= tree.values[node])
            leaves[i] = <int32_t> (node - n_leaves + 1)
            ends[leaves[i] + 1] += 1
        for leaf in range(n_leaves):
            ends[leaf + 1] += ends[leaf]
        # Each end moves from where its leaf begins to where it ends.
        for i in range(n):
            rows[ends[leaves[i]]] = i
            ends[leaves[i]] += 1
    return np.asarray(rows), np.asarray(ends)[:n_leaves]


def search(Py_ssize_t first, Py_ssize_t last, tuple arrays, const number[:, ::1] points,
           const int64_t[::1] rows, const int64_t[::1] ends, bint is_self,
           number[:, ::1] distances, int64_t[:, ::1] indices):
    """Write the nearest points of some queries, ascending, ties by index.

    Parameters
    ----------
    first, last : int
        Which queries.
    arrays : tuple
        The tree, as `build` fills it.
    points : ndarray of shape (n, d)
        The queries, in any order.
    rows : ndarray of int
        Which row of `points` each query is, leaf by leaf.
    ends : ndarray of int
        Where each leaf ends among them.
    is_self : bool
        Whether queries are the points of the tree. Then each is left out of what is found for it.
    distances, indices : ndarray of shape (n, k)
        Where to write, in the rows of `points`.
    """
    cdef Tree tree = _view(arrays, points.shape[1])
    cdef Py_ssize_t n_kept = distances.shape[1], k = n_kept + is_self, d = points.shape[1]
    cdef Py_ssize_t i, j, row, kept, begin = first, end, leaf = 0
    cdef vector[double] queries
    cdef vector[Found] found
    cdef Found next
    cdef Group group
    with nogil:
        queries.resize(MOST_TOGETHER * d)
        found.resize(MOST_TOGETHER * k)
        while begin < last:
            while ends[leaf] <= begin:
                leaf += 1
            end = min(begin + MOST_TOGETHER, min(<Py_ssize_t> ends[leaf], last))
            for i in range(begin, end):
                for j in range(d):
                    queries[(i - begin) * d + j] = points[rows[i], j]
            search_group(tree, leaf, queries.data(), end - begin, k, group, found.data())
            for i in range(begin, end):
                row, kept = rows[i], 0
                for j in range(k):
                    next = found[(i - begin) * k + j]
                    if kept < n_kept and not (is_self and next.entry == row):
                        distances[row, kept] = <number> sqrt(next.square)
                        indices[row, kept] = next.entry
                        kept += 1
            begin = end
