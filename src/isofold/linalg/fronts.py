"""LDLᵀ by dense fronts of sparse matrices whose rows come in units, such as the poses of patches.

The graph of units is ordered and analyzed once, in place of a matrix with several rows a unit, and
for all matrices on it: the joint matrix, its part on the free rows, the Hessian. Units with common
rows are eliminated together, in dense arithmetic. The bound on the error of the factors is that of
`isofold.linalg.ldl`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import qdldl
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray, Matrix
from isofold.linalg import _fronts
from isofold.linalg.ldl import UNIT_ROUNDOFF, SingularMatrixError

__all__ = ["Elimination", "FrontalFactor"]


@dataclass(frozen=True, eq=False)
class Elimination:
    """The order in which units are eliminated, and which of them are eliminated together.

    Parameters
    ----------
    order : ndarray of shape (n_units,)
        The units in the order of elimination.
    columns : ndarray of shape (n_panels + 1,)
        Where in this order a panel begins and ends.
    rows : ndarray
        The units of all panels, by their position in the order: its own, then those below.
    row_starts : ndarray of shape (n_panels + 1,)
        Where the rows of a panel begin and end.
    parent : ndarray of shape (n_panels,)
        The panel that takes up what a panel leaves, −1 for the last of a component.
    """

    order: IntArray
    columns: IntArray
    rows: IntArray
    row_starts: IntArray
    parent: IntArray

    @classmethod
    def of(cls, graph: Matrix) -> Elimination:
        """Analyze a symmetric graph of units, by the approximate minimum degree of QDLDL."""
        n = graph.shape[0]
        upper = sp.triu(graph, k=1, format="coo")
        degree = np.bincount(upper.row, minlength=n) + np.bincount(upper.col, minlength=n)
        # Dominated by its diagonal: no pivot is zero.
        own = np.arange(n)
        data = np.concatenate([np.full(upper.nnz, -1.0), degree + 1.0])
        entries = (np.concatenate([upper.row, own]), np.concatenate([upper.col, own]))
        dominant = sp.csc_array((data, entries), shape=(n, n))
        L, _, order = qdldl.Solver(dominant, upper=True).factors()
        # With the diagonal, the first row of a column is its own, the second that of its parent.
        pattern = sp.csc_array(L + sp.eye_array(n, format="csc"))
        pattern.sort_indices()
        begin, count = pattern.indptr[:-1], np.diff(pattern.indptr)
        parent = np.full(n, -1)
        parent[count > 1] = pattern.indices[begin[count > 1] + 1]
        # A column that leaves the same rows as the one before is eliminated together with it.
        follows = (parent[:-1] == own[1:]) & (count[:-1] == count[1:] + 1)
        first = np.flatnonzero(np.concatenate([[True], ~follows]))
        columns = np.append(first, n)
        panel_of = np.repeat(np.arange(len(first)), np.diff(columns))
        after = parent[columns[1:] - 1]
        return cls(
            np.asarray(order),
            columns,
            pattern.indices[expanded(begin[first], count[first])],
            np.concatenate([[0], np.cumsum(count[first])]),
            np.where(after >= 0, panel_of[after], -1),
        )


def expanded(begin: IntArray, count: IntArray) -> IntArray:
    """Return begin, begin + 1, … for every start, so many as are counted."""
    before = np.cumsum(count) - count
    return np.repeat(begin - before, count) + np.arange(int(count.sum()))


class FrontalFactor:
    """LDLᵀ of a sparse symmetric matrix with positive or negative pivots.

    Parameters
    ----------
    A : sparse array of shape (n, n)
        A symmetric matrix; both triangles are stored.
    elimination : Elimination
        The analysis of the units' graph, which has all entries of A.
    unit : ndarray of shape (n,)
        The unit of every row.

    Raises
    ------
    SingularMatrixError
        If a pivot is exactly zero.
    """

    def __init__(self, A: Matrix, elimination: Elimination, unit: IntArray) -> None:
        size = np.bincount(unit, minlength=len(elimination.order))[elimination.order]
        position = np.empty_like(elimination.order)
        position[elimination.order] = np.arange(len(position))
        self._order = np.argsort(position[unit], kind="stable").astype(np.int32)
        self._place = np.empty_like(self._order)
        self._place[self._order] = np.arange(len(unit))
        start = np.concatenate([[0], np.cumsum(size)])
        self._columns = start[elimination.columns].astype(np.int32)
        units = elimination.rows
        self._rows = expanded(start[units], size[units]).astype(np.int32)
        rows_before = np.concatenate([[0], np.cumsum(size[units])])
        self._row_starts = rows_before[elimination.row_starts]
        self._parent = elimination.parent.astype(np.int32)
        heights, widths = np.diff(self._row_starts), np.diff(self._columns)
        self._panel_starts = np.concatenate([[0], np.cumsum(heights * widths)])
        self._panels = np.empty(int(self._panel_starts[-1]))
        within = np.arange(len(unit)) - np.repeat(self._columns[:-1], widths)
        self._diagonal = np.repeat(self._panel_starts[:-1], widths)
        self._diagonal += within * (np.repeat(heights, widths) + 1)
        # A row of L has an entry for every column of the panels below which it lies.
        terms = np.bincount(self._rows, np.repeat(widths, heights), minlength=len(unit))
        self._longest = int(terms.max(initial=0))
        self.refactor(A)

    def refactor(self, A: Matrix) -> None:
        """Factor another matrix with entries in the same units."""
        A = sp.csc_array(A)
        fits = _fronts.factor(
            A.data,
            A.indices.astype(np.int32, copy=False),
            A.indptr.astype(np.int32, copy=False),
            self._order,
            self._place,
            self._columns,
            self._rows,
            self._row_starts,
            self._parent,
            self._panel_starts,
            self._panels,
        )
        if not fits:
            msg = "no LDLᵀ factors: a pivot is zero"
            raise SingularMatrixError(msg)

    def solve(self, B: FloatArray) -> FloatArray:
        """Return A⁻¹B for a vector or the columns of a matrix."""
        right = np.ascontiguousarray(B.T.reshape(-1, len(B))[:, self._order], dtype=np.float64)
        _fronts.solve(
            self._panels, self._columns, self._rows, self._row_starts, self._panel_starts, right
        )
        return np.asarray(right[:, self._place].T.reshape(B.shape))

    @property
    def pivots(self) -> FloatArray:
        """The diagonal of D, in the order of elimination."""
        return np.asarray(self._panels[self._diagonal])

    @property
    def n_negative(self) -> int:
        """The number of negative pivots, which is that of negative eigenvalues of A + E."""
        return int(np.sum(self.pivots < 0.0))

    @property
    def error_bound(self) -> float:
        """A bound on ‖E‖₂, where the factors are exactly those of A + E."""
        sums = np.zeros(len(self._order))
        _fronts.row_sums(
            self._panels, self._columns, self._rows, self._row_starts, self._panel_starts, sums
        )
        terms = (self._longest + 3) * UNIT_ROUNDOFF
        return float(terms / (1.0 - terms) * sums.max())
