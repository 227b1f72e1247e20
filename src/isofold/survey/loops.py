"""Loops that do not close by themselves: persistent homology of landmarks in dimension one.

Landmarks are joined up to a growing distance t. A loop is born when an edge closes it, and dies
when triangles of edges up to t fill it: in a space of geodesics, at a third of its length. Every
edge carries a word of bits, one for every living loop class, such that the words of the three edges
of a triangle add up to zero: a cocycle for every class (the annotations of Dey, Fan and Wang). The
words along any closed path then add up to the class of that path.

References
----------
Dey, T. K., Fan, F. and Wang, Y. (2014). Computing topological persistence for simplicial maps.
SoCG. Erickson, J. and Whittlesey, K. (2005). Greedy optimal homotopy and homology generators.
SODA.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["Loop", "LoopClass", "find_classes", "shortest_loops"]

WORDS = 4
"""Words of 64 bits an edge: so many living classes are followed at once; further ones, which are
born only while landmarks begin to join, are left out."""

MOST_BITS = 62
"""Classes that the words of loops can hold."""


@dataclass(frozen=True)
class LoopClass:
    """A class of loops.

    Attributes
    ----------
    birth, death : float
        Distances at which it appears and is filled.
    """

    birth: float
    death: float


@dataclass(frozen=True, eq=False)
class Loop:
    """A closed path through landmarks.

    Attributes
    ----------
    landmarks : ndarray of int
        Numbers of the landmarks in order; the last is joined to the first.
    length : float
        Its length.
    """

    landmarks: IntArray
    length: float


class _Annotations:
    """The words of all edges while edges are added one by one."""

    def __init__(self, n: int) -> None:
        self.words = np.zeros((n, n, WORDS), dtype=np.uint64)
        self.is_joined = np.zeros((n, n), dtype=bool)
        self.piece = np.arange(n)
        self.births: dict[int, float] = {}
        self.classes: list[LoopClass] = []

    def add(self, i: int, j: int, t: float) -> None:
        common = np.flatnonzero(self.is_joined[i] & self.is_joined[j])
        if len(common):
            if self.births:
                self._fill(i, j, common, t)
        elif self.piece[i] == self.piece[j]:
            self._bear(i, j, t)
        if self.piece[i] != self.piece[j]:
            self.piece[self.piece == self.piece[j]] = self.piece[i]
        self.is_joined[i, j] = self.is_joined[j, i] = True

    def _bear(self, i: int, j: int, t: float) -> None:
        free = next((b for b in range(64 * WORDS) if b not in self.births), None)
        if free is not None:
            self.births[free] = t
            self.words[i, j, free // 64] = self.words[j, i, free // 64] = _bit(free)

    def _fill(self, i: int, j: int, common: IntArray, t: float) -> None:
        sums = self.words[i, common] ^ self.words[j, common]
        while (odd := (sums != sums[0]).any(axis=1)).any():
            filled = sums[odd.argmax()] ^ sums[0]
            youngest = max(_bits(filled), key=lambda b: self.births[b])
            self.classes.append(LoopClass(self.births.pop(youngest), t))
            for words in (self.words, sums):
                has_bit = (words[..., youngest // 64] & _bit(youngest)) != 0
                words[has_bit] ^= filled
        self.words[i, j] = self.words[j, i] = sums[0]


def _bit(number: int) -> np.uint64:
    return np.uint64(1 << (number % 64))


def _bits(words: np.ndarray) -> list[int]:
    return [64 * w + b for w, word in enumerate(words) for b in range(64) if int(word) >> b & 1]


def find_classes(distances: FloatArray, *, last_birth: float) -> list[LoopClass]:
    """Return all classes of loops, the last filled first."""
    state = _Annotations(len(distances))
    t = 0.0
    for i, j, t in _edges(distances):
        if t > last_birth and not state.births:
            break
        state.add(i, j, t)
    classes = state.classes + [LoopClass(birth, t) for birth in state.births.values()]
    return sorted(classes, key=lambda c: -c.death)


def shortest_loops(distances: FloatArray, classes: list[LoopClass], n_wanted: int) -> list[Loop]:
    """Return independent loops of the classes filled last, as short as possible."""
    if not n_wanted:
        return []
    # Classes that are filled before do not mix with those wanted.
    rest = [c.death for c in classes[n_wanted : n_wanted + 1]]
    scale = max([c.birth for c in classes[:n_wanted]] + rest)
    state = _Annotations(len(distances))
    for i, j, length in _edges(distances):
        if length > scale:
            break
        state.add(i, j, length)
    words = np.zeros(distances.shape, dtype=np.int64)
    for at, number in enumerate(sorted(state.births)[:MOST_BITS]):
        has_bit = (state.words[..., number // 64] & _bit(number)) != 0
        words |= has_bit.astype(np.int64) << at
    return _independent(_shortest_of_each_class(distances, state.is_joined, words))


_Candidate = tuple[float, IntArray]


def _shortest_of_each_class(
    distances: FloatArray, is_joined: BoolArray, words: np.ndarray
) -> dict[int, _Candidate]:
    """Return the shortest loop of every class: two shortest paths from a node and an edge."""
    n = len(distances)
    graph = sp.csr_array(np.where(is_joined, distances, 0.0))
    lengths, before = csgraph.dijkstra(graph, directed=True, return_predecessors=True)
    first, second = np.nonzero(np.triu(is_joined))
    best: dict[int, _Candidate] = {}
    for source in range(n):
        along = np.zeros(n, dtype=np.int64)
        for node in np.argsort(lengths[source], kind="stable"):
            if before[source, node] >= 0:
                previous = before[source, node]
                along[node] = along[previous] ^ words[previous, node]
        sums = along[first] ^ along[second] ^ words[first, second]
        around = lengths[source, first] + distances[first, second] + lengths[source, second]
        for value in np.unique(sums[sums != 0]):
            chosen = np.flatnonzero(sums == value)
            edge = chosen[around[chosen].argmin()]
            if around[edge] < best.get(int(value), (np.inf,))[0]:
                there = _path(before[source], first[edge])
                back = _path(before[source], second[edge])
                best[int(value)] = (float(around[edge]), np.array(there + back[:0:-1]))
    return best


def _path(before: IntArray, node: int) -> list[int]:
    """Return the nodes from the source to a node."""
    path = [int(node)]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    return path[::-1]


def _independent(best: dict[int, _Candidate]) -> list[Loop]:
    """Return the shortest loops whose classes are linearly independent over two elements."""
    basis: dict[int, int] = {}
    loops = []
    for value, (length, landmarks) in sorted(best.items(), key=lambda item: item[1][0]):
        rest = value
        while rest and rest.bit_length() in basis:
            rest ^= basis[rest.bit_length()]
        if rest:
            basis[rest.bit_length()] = rest
            loops.append(Loop(landmarks, length))
    return loops


def _edges(distances: FloatArray) -> list[tuple[int, int, float]]:
    """Return all pairs and their distances, ascending."""
    rows, columns = np.triu_indices(len(distances), k=1)
    lengths = distances[rows, columns]
    order = np.argsort(lengths, kind="stable")
    return list(
        zip(rows[order].tolist(), columns[order].tolist(), lengths[order].tolist(), strict=True)
    )
