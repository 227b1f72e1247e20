# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Inverted lists: the nearest entries of some lists, and their distances in full precision.

Every sum of a pair is made from the first term to the last, whatever rows are beside it, so that a
query alone and a query among others agree to the bit. Tiles only decide what stays in registers.
Processors with wider registers add the same numbers in the same order: no step is fused.
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <algorithm>
    #include <cfloat>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    #include "_wide.h"

    // A panel holds so many entries of a list, one axis after the other.
    static const std::ptrdiff_t LANES = 16;
    static const std::ptrdiff_t ROWS = 8;
    // Points whose bounds are made at a time: those of a tile of rows stay in the cache.
    static const std::ptrdiff_t SPAN = 1 << 14;
    // Panels that are passed over together.
    static const std::ptrdiff_t FEW = 8;

    struct Candidate {
        float square;
        std::int32_t entry;
    };

    static inline bool operator<(const Candidate& a, const Candidate& b) {
        return a.square < b.square || (a.square == b.square && a.entry < b.entry);
    }

    // Squared distances of four rows from all entries of a list, |a|^2 + |b|^2 - 2ab.
    WIDE static void tile_squares(const float* rows, const float* row_norms, std::ptrdiff_t d,
                                  const float* panels, const float* norms,
                                  std::ptrdiff_t n_panels, float* out) {
        for (std::ptrdiff_t p = 0; p < n_panels; ++p) {
            const float* panel = panels + p * d * LANES;
            Floats16 sums[ROWS] = {};
            for (std::ptrdiff_t j = 0; j < d; ++j) {
                const Floats16 entries = *(const Floats16*)(panel + j * LANES);
                for (std::ptrdiff_t i = 0; i < ROWS; ++i) sums[i] += rows[i * d + j] * entries;
            }
            const Floats16 entry_norms = *(const Floats16*)(norms + p * LANES);
            for (std::ptrdiff_t i = 0; i < ROWS; ++i)
                *(Floats16*)(out + (i * n_panels + p) * LANES) =
                    (row_norms[i] + entry_norms) - 2.0f * sums[i];
        }
    }

    // Put a candidate in the place of the farthest one of a heap.
    static inline void replace_top(Candidate* heap, std::ptrdiff_t size, Candidate found) {
        std::ptrdiff_t at = 0;
        for (;;) {
            std::ptrdiff_t below = 2 * at + 1;
            if (below >= size) break;
            if (below + 1 < size && heap[below] < heap[below + 1]) ++below;
            if (!(found < heap[below])) break;
            heap[at] = heap[below];
            at = below;
        }
        heap[at] = found;
    }

    // Keep the nearest entries of a list in the heap of a row, ties by entry.
    WIDE static void keep_nearest(const float* squares, const std::int32_t* entries,
                                  std::ptrdiff_t size, Candidate* heap, std::ptrdiff_t capacity,
                                  std::int32_t* count) {
        for (std::ptrdiff_t first = 0; first < size; first += LANES) {
            if (*count == capacity) {
                const float worst = heap[0].square;
                int near = 0;
                for (std::ptrdiff_t l = 0; l < LANES; ++l) near |= squares[first + l] <= worst;
                if (!near) continue;
            }
            const std::ptrdiff_t end = std::min(first + LANES, size);
            for (std::ptrdiff_t l = first; l < end; ++l) {
                const Candidate found = {squares[l], entries[l]};
                if (*count < capacity) {
                    heap[(*count)++] = found;
                    std::push_heap(heap, heap + *count);
                } else if (found < heap[0]) {
                    replace_top(heap, capacity, found);
                }
            }
        }
    }

    // Squared distance by direct subtraction; eight sums run side by side.
    template <typename A, typename B>
    static inline double direct_square(const A* a, const B* b, std::ptrdiff_t d) {
        double sums[8] = {};
        std::ptrdiff_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (int l = 0; l < 8; ++l) {
                const double gap = (double)a[j + l] - (double)b[j + l];
                sums[l] += gap * gap;
            }
        for (int l = 0; j < d; ++j, ++l) {
            const double gap = (double)a[j] - (double)b[j];
            sums[l] += gap * gap;
        }
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
               ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }

    WIDE static double square_dd(const double* a, const double* b, std::ptrdiff_t d) {
        return direct_square(a, b, d);
    }
    WIDE static double square_ff(const float* a, const float* b, std::ptrdiff_t d) {
        return direct_square(a, b, d);
    }

    static inline double square(const double* a, const double* b, std::ptrdiff_t d) {
        return square_dd(a, b, d);
    }
    static inline double square(const float* a, const float* b, std::ptrdiff_t d) {
        return square_ff(a, b, d);
    }
    static inline double square(const double* a, const float* b, std::ptrdiff_t d) {
        return direct_square(a, b, d);
    }
    static inline double square(const float* a, const double* b, std::ptrdiff_t d) {
        return direct_square(a, b, d);
    }

    struct Ranked {
        double square;
        std::int64_t entry;
    };

    static inline bool operator<(const Ranked& a, const Ranked& b) {
        return a.square < b.square || (a.square == b.square && a.entry < b.entry);
    }

    // The least bound of every lane of a few panels.
    WIDE static void find_least(const float* bounds, std::ptrdiff_t n_panels, float* least) {
        for (std::ptrdiff_t p = 0; p < n_panels; p += FEW) {
            Floats16 lanes = *(const Floats16*)(bounds + p * LANES);
            for (std::ptrdiff_t o = p + 1; o < std::min(p + FEW, n_panels); ++o)
                lanes = lesser(lanes, *(const Floats16*)(bounds + o * LANES));
            *(Floats16*)(least + p / FEW * LANES) = lanes;
        }
    }

    // A limit which k bounds at least do not exceed, and few more: the k-th of the least bounds of
    // disjoint groups, or none.
    WIDE static float rough_limit(const float* least, std::ptrdiff_t size, std::size_t k,
                                  std::vector<float>& groups) {
        const std::ptrdiff_t n_groups = std::max<std::ptrdiff_t>(4, k / 2);
        groups.assign(n_groups * LANES, FLT_MAX);
        for (std::ptrdiff_t first = 0; first < size; first += LANES) {
            float* const lanes = groups.data() + first / LANES % n_groups * LANES;
            *(Floats16*)lanes = lesser(*(const Floats16*)lanes, *(const Floats16*)(least + first));
        }
        std::nth_element(groups.begin(), groups.begin() + (k - 1), groups.end());
        return groups[k - 1];
    }

    // Keep the entries whose bounds do not exceed a limit.
    WIDE static void keep_below(const float* bounds, std::ptrdiff_t n_panels, const float* least,
                                float limit, std::ptrdiff_t first_entry,
                                std::vector<Candidate>& kept) {
        kept.clear();
        for (std::ptrdiff_t p = 0; p < n_panels; p += FEW) {
            const float* const lanes = least + p / FEW * LANES;
            int near = 0;
            for (std::ptrdiff_t l = 0; l < LANES; ++l) near |= lanes[l] <= limit;
            if (!near) continue;
            for (std::ptrdiff_t l = 0; l < LANES; ++l) {
                if (lanes[l] > limit) continue;
                for (std::ptrdiff_t o = p; o < std::min(p + FEW, n_panels); ++o)
                    if (bounds[o * LANES + l] <= limit)
                        kept.push_back({bounds[o * LANES + l],
                                        (std::int32_t)(first_entry + o * LANES + l)});
            }
        }
    }

    // The largest bound that a squared distance allows, in the unit of the bounds.
    static inline float limit_of(const std::vector<Ranked>& nearest, std::size_t k, double unit) {
        if (nearest.size() < k) return FLT_MAX;
        const double limit = nearest.front().square / unit / unit * (1.0 + 1e-6) + 1e-35;
        return (float)std::min(limit, (double)FLT_MAX);
    }

    // Put an entry among the nearest if it belongs there.
    static inline void keep_ranked(std::vector<Ranked>& nearest, std::size_t k, Ranked found) {
        if (nearest.size() == k) {
            if (!(found < nearest.front())) return;
            std::pop_heap(nearest.begin(), nearest.end());
            nearest.pop_back();
        }
        nearest.push_back(found);
        std::push_heap(nearest.begin(), nearest.end());
    }
    """
    const Py_ssize_t LANES
    const Py_ssize_t ROWS
    const Py_ssize_t SPAN
    const Py_ssize_t FEW
    cppclass Candidate:
        float square
        int32_t entry
    cppclass Ranked:
        double square
        int64_t entry
    void tile_squares(const float* rows, const float* row_norms, Py_ssize_t d, const float* panels,
                      const float* norms, Py_ssize_t n_panels, float* out) noexcept nogil
    void keep_nearest(const float* squares, const int32_t* entries, Py_ssize_t size,
                      Candidate* heap, Py_ssize_t capacity, int32_t* count) noexcept nogil
    void find_least(const float* bounds, Py_ssize_t n_panels, float* least) noexcept nogil
    float rough_limit(const float* least, Py_ssize_t size, size_t k,
                      vector[float]& groups) noexcept nogil
    void keep_below(const float* bounds, Py_ssize_t n_panels, const float* least, float limit,
                    Py_ssize_t first_entry, vector[Candidate]& kept) noexcept nogil
    float limit_of(const vector[Ranked]& nearest, size_t k, double unit) noexcept nogil
    void keep_ranked(vector[Ranked]& nearest, size_t k, Ranked found) noexcept nogil
    double square(const double* a, const double* b, Py_ssize_t d) noexcept nogil
    double square(const float* a, const float* b, Py_ssize_t d) noexcept nogil
    double square(const double* a, const float* b, Py_ssize_t d) noexcept nogil
    double square(const float* a, const double* b, Py_ssize_t d) noexcept nogil

cdef extern from "<algorithm>" namespace "std" nogil:
    void sort(Candidate* first, Candidate* last)
    void sort_ranked "std::sort"(Ranked* first, Ranked* last)

ctypedef fused Left:
    float
    double

ctypedef fused Right:
    float
    double


def pack(const double[:, ::1] rows, const double[:, ::1] centers, const int64_t[::1] sizes,
         float[::1] panels, float[::1] norms):
    """Write rows, list after list, into panels relative to the centers of their lists.

    Floats16 beyond the end of a list are left as they are, and never read as entries.
    """
    cdef Py_ssize_t d = rows.shape[1], n_lists = sizes.shape[0]
    cdef Py_ssize_t i, j, c, row = 0, first_panel = 0, panel, lane
    cdef float gap, norm
    with nogil:
        for c in range(n_lists):
            for i in range(sizes[c]):
                panel, lane = first_panel + i // LANES, i % LANES
                norm = 0.0
                for j in range(d):
                    gap = <float> (rows[row, j] - centers[c, j])
                    panels[(panel * d + j) * LANES + lane] = gap
                    norm += gap * gap
                norms[panel * LANES + lane] = norm
                row += 1
            first_panel += (sizes[c] + LANES - 1) // LANES


def scan(const double[:, ::1] queries, const int32_t[:, ::1] probes, const double[:, ::1] centers,
         const int64_t[::1] starts, const int64_t[::1] first_panels, const int32_t[::1] entries,
         const float[::1] panels, const float[::1] norms, float[:, ::1] squares,
         int32_t[:, ::1] found):
    """Write the nearest entries of the probed lists for every query, ascending, ties by entry.

    Rows with fewer entries end in -1.
    """
    cdef Py_ssize_t n = queries.shape[0], d = queries.shape[1], n_probes = probes.shape[1]
    cdef Py_ssize_t n_lists = centers.shape[0], capacity = found.shape[1]
    cdef Py_ssize_t i, j, c, turn, first, last, lane, row, size, n_panels
    cdef Py_ssize_t begin_probe, end_probe, begin, end, place
    cdef float gap, norm
    cdef vector[Candidate] heaps
    cdef vector[int32_t] counts
    cdef vector[int64_t] bounds
    cdef vector[int32_t] rows_of_list
    cdef vector[float] tile, tile_norms, out
    with nogil:
        heaps.resize(n * capacity)
        counts.assign(n, 0)
        tile.assign(ROWS * d, 0.0)
        tile_norms.assign(ROWS, 0.0)
        # The nearest list of a query comes first: it bounds what the others can still add.
        for turn in range(2):
            begin_probe = turn
            end_probe = 1 if turn == 0 else n_probes
            bounds.assign(n_lists + 1, 0)
            for i in range(n):
                for j in range(begin_probe, end_probe):
                    bounds[probes[i, j] + 1] += 1
            for c in range(n_lists):
                bounds[c + 1] += bounds[c]
            rows_of_list.resize(bounds[n_lists])
            for i in range(n):
                for j in range(begin_probe, end_probe):
                    c = probes[i, j]
                    rows_of_list[bounds[c]] = <int32_t> i
                    bounds[c] += 1
            # Each bound has moved to the end of its list.
            for c in range(n_lists):
                begin = bounds[c - 1] if c > 0 else 0
                end = bounds[c]
                size = starts[c + 1] - starts[c]
                if begin == end or size == 0:
                    continue
                n_panels = (size + LANES - 1) // LANES
                if <Py_ssize_t> out.size() < ROWS * n_panels * LANES:
                    out.resize(ROWS * n_panels * LANES)
                first = begin
                while first < end:
                    last = first + ROWS if first + ROWS < end else end
                    for place in range(last - first):
                        row = rows_of_list[first + place]
                        norm = 0.0
                        for j in range(d):
                            gap = <float> (queries[row, j] - centers[c, j])
                            tile[place * d + j] = gap
                            norm += gap * gap
                        tile_norms[place] = norm
                    tile_squares(tile.data(), tile_norms.data(), d,
                                 &panels[first_panels[c] * d * LANES],
                                 &norms[first_panels[c] * LANES], n_panels, out.data())
                    for place in range(last - first):
                        row = rows_of_list[first + place]
                        keep_nearest(out.data() + place * n_panels * LANES, &entries[starts[c]],
                                     size, heaps.data() + row * capacity, capacity, &counts[row])
                    first = last
        for i in range(n):
            sort(heaps.data() + i * capacity, heaps.data() + i * capacity + counts[i])
            for j in range(capacity):
                if j < counts[i]:
                    squares[i, j] = heaps[i * capacity + j].square
                    found[i, j] = heaps[i * capacity + j].entry
                else:
                    found[i, j] = -1


def rank(const Left[:, ::1] queries, const Right[:, ::1] points, const int32_t[:, ::1] candidates,
         double[:, ::1] distances, int64_t[:, ::1] indices):
    """Write the nearest candidates of every query by direct distances, ties by index.

    Rows with fewer candidates end in -1.
    """
    cdef Py_ssize_t n = queries.shape[0], d = queries.shape[1], k = indices.shape[1]
    cdef Py_ssize_t i, j, count
    cdef vector[Ranked] ranked
    with nogil:
        ranked.resize(candidates.shape[1])
        for i in range(n):
            count = 0
            for j in range(candidates.shape[1]):
                if candidates[i, j] < 0:
                    break
                ranked[count].square = square(&queries[i, 0], &points[candidates[i, j], 0], d)
                ranked[count].entry = candidates[i, j]
                count += 1
            sort_ranked(ranked.data(), ranked.data() + count)
            for j in range(k):
                if j < count:
                    distances[i, j] = sqrt(ranked[j].square)
                    indices[i, j] = ranked[j].entry
                else:
                    indices[i, j] = -1


def screen(const double[:, ::1] queries, const Right[:, ::1] points, const float[:, ::1] rows,
           const float[::1] row_norms, const float[::1] panels, const float[::1] norms,
           double unit, double[:, ::1] distances, int64_t[:, ::1] indices):
    """Write the nearest points of every query by direct distances, ties by index.

    Squares of `rows` from what `panels` hold, made with these norms, are no larger than those of
    the queries from the points, in the given unit. Only points are compared directly whose bounds
    do not exceed the k-th square. There are rows for whole tiles.
    """
    cdef Py_ssize_t n = queries.shape[0], d = queries.shape[1], k = indices.shape[1]
    cdef Py_ssize_t n_points = points.shape[0], r = rows.shape[1]
    cdef Py_ssize_t first, i, place, j, begin, size, n_panels, n_rows
    cdef float limit
    cdef float* bounds
    cdef Ranked found
    cdef vector[float] out, least, groups
    cdef vector[Candidate] kept
    cdef vector[vector[Ranked]] nearest
    with nogil:
        out.resize(ROWS * SPAN)
        least.resize(SPAN // FEW)
        nearest.resize(ROWS)
        first = 0
        while first < n:
            n_rows = ROWS if first + ROWS < n else n - first
            for place in range(n_rows):
                nearest[place].clear()
            begin = 0
            while begin < n_points:
                size = SPAN if begin + SPAN < n_points else n_points - begin
                n_panels = (size + LANES - 1) // LANES
                tile_squares(&rows[first, 0], &row_norms[first], r, &panels[begin * r],
                             &norms[begin], n_panels, out.data())
                for place in range(n_rows):
                    i = first + place
                    bounds = out.data() + place * n_panels * LANES
                    for j in range(size, n_panels * LANES):
                        bounds[j] = INFINITY
                    find_least(bounds, n_panels, least.data())
                    if begin == 0:
                        # How far those of the least bounds are limits what is still to be seen.
                        limit = rough_limit(least.data(), -(-n_panels // FEW) * LANES, k, groups)
                        keep_below(bounds, n_panels, least.data(), limit, 0, kept)
                        for j in range(<Py_ssize_t> kept.size()):
                            found.entry = kept[j].entry
                            found.square = square(&queries[i, 0], &points[found.entry, 0], d)
                            keep_ranked(nearest[place], k, found)
                            bounds[found.entry] = INFINITY
                    limit = limit_of(nearest[place], k, unit)
                    keep_below(bounds, n_panels, least.data(), limit, begin, kept)
                    sort(kept.data(), kept.data() + kept.size())
                    for j in range(<Py_ssize_t> kept.size()):
                        if kept[j].square > limit:
                            break
                        found.entry = kept[j].entry
                        found.square = square(&queries[i, 0], &points[found.entry, 0], d)
                        keep_ranked(nearest[place], k, found)
                        limit = limit_of(nearest[place], k, unit)
                begin += SPAN
            for place in range(n_rows):
                i = first + place
                sort_ranked(nearest[place].data(), nearest[place].data() + k)
                for j in range(k):
                    distances[i, j] = sqrt(nearest[place][j].square)
                    indices[i, j] = nearest[place][j].entry
            first += ROWS
