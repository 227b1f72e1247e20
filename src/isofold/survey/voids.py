"""Hollows: persistent homology of landmarks in dimension two.

As for loops, an edge is added at a time, here with all triangles and tetrahedra that it completes.
They are read off the link of the edge, the graph among the landmarks that both ends are joined to.
Every further component of the link either fills a loop or closes a hollow, and every cycle of the
link whose words do not add up to zero fills a hollow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray

__all__ = ["NO_VOID", "Void", "enclosing_radius", "most_lasting_void"]


@dataclass(frozen=True)
class Void:
    """A hollow.

    Attributes
    ----------
    birth, death : float
        Distances at which it is closed and filled; 0 if there is none.
    """

    birth: float = 0.0
    death: float = 0.0

    @property
    def persistence(self) -> float:
        """Death over birth."""
        return self.death / self.birth if self.birth else 0.0


NO_VOID = Void()

MOST_BITS = 63
"""Living hollows that are followed at once, and as many loops."""


class _Words:
    """Bits of living classes on simplices of one dimension."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.words = np.zeros(shape, dtype=np.int64)
        self.births: dict[int, float] = {}

    def bear(self, t: float) -> int:
        """Return the word of a new class, or 0 if too many live."""
        free = next((b for b in range(MOST_BITS) if b not in self.births), None)
        if free is None:
            return 0
        self.births[free] = t
        return 1 << free

    def kill(self, filled: int, *others: np.ndarray) -> float:
        """End the youngest class of a word, and return its birth."""
        bits = [b for b in self.births if filled >> b & 1]
        youngest = max(bits, key=lambda b: self.births[b])
        for words in (self.words, *others):
            words[(words >> youngest & 1) == 1] ^= filled
        return self.births.pop(youngest)


class _Complex:
    """Landmarks joined up to a distance, with the words of edges and triangles."""

    def __init__(self, n: int) -> None:
        self.is_joined = np.zeros((n, n), dtype=bool)
        self.piece = np.arange(n)
        self.loops = _Words((n, n))
        self.voids = _Words((n, n, n))
        self.found: list[Void] = []

    def add(self, i: int, j: int, t: float) -> None:
        common = np.flatnonzero(self.is_joined[i] & self.is_joined[j])
        if len(common):
            self._span(i, j, common, t)
        elif self.piece[i] == self.piece[j]:
            self.loops.words[i, j] = self.loops.words[j, i] = self.loops.bear(t)
        if self.piece[i] != self.piece[j]:
            self.piece[self.piece == self.piece[j]] = self.piece[i]
        self.is_joined[i, j] = self.is_joined[j, i] = True

    def _span(self, i: int, j: int, common: IntArray, t: float) -> None:
        square = np.ix_(common, common)
        link = self.is_joined[square]
        sums = self.loops.words[i, common] ^ self.loops.words[j, common]
        if not self.voids.births and (link.sum(axis=1) == len(common) - 1).any():
            # A landmark is joined to all others: nothing opens, and there is nothing to close.
            self.loops.words[i, j] = self.loops.words[j, i] = sums[0]
            return
        sides = self.voids.words[i][square] ^ self.voids.words[j][square]
        words = np.zeros(len(common), dtype=np.int64)
        is_seen = np.zeros(len(common), dtype=bool)
        while not is_seen.all():
            root = int(is_seen.argmin())
            if root:
                words[root] = self._open(int(sums[root] ^ sums[0]), sums, t)
            _spread(words, is_seen, link, sides, root)
        self.loops.words[i, j] = self.loops.words[j, i] = sums[0]
        self._close(words, link, sides, t)
        for a, b in ((i, j), (j, i)):
            self.voids.words[a, b, common] = words
            self.voids.words[a, common, b] = words
            self.voids.words[common, a, b] = words

    def _open(self, filled: int, sums: np.ndarray, t: float) -> int:
        """Return the word of a triangle that leads to a further component of the link."""
        if filled:
            self.loops.kill(filled, sums)
            return 0
        return self.voids.bear(t)

    def _close(self, words: np.ndarray, link: BoolArray, sides: np.ndarray, t: float) -> None:
        """Fill the hollows that tetrahedra of the new edge fill."""
        while self.voids.births:
            odd = np.where(link, words[:, None] ^ words[None, :] ^ sides, 0)
            at = np.flatnonzero(odd)
            if not len(at):
                return
            birth = self.voids.kill(int(odd.flat[at[0]]), words, sides)
            self.found.append(Void(birth, t))


def _spread(
    words: np.ndarray, is_seen: BoolArray, link: BoolArray, sides: np.ndarray, root: int
) -> None:
    """Give a word to every node of a component of the link, along a tree."""
    is_seen[root] = True
    front = [root]
    while front:
        node = front.pop()
        new = (link[node] & ~is_seen).nonzero()[0]
        words[new] = words[node] ^ sides[node, new]
        is_seen[new] = True
        front += new.tolist()


def enclosing_radius(distances: FloatArray) -> float:
    """Return the least radius around a landmark that holds all: there every class has ended.

    From there on all simplices contain this landmark, or may be joined with it: a cone.
    """
    return float(distances.max(axis=1).min())


def most_lasting_void(distances: FloatArray, *, last_birth: float) -> Void:
    """Return the hollow with the largest ratio of death over birth."""
    rows, columns = np.triu_indices(len(distances), k=1)
    lengths = distances[rows, columns]
    state = _Complex(len(distances))
    last_death = enclosing_radius(distances)
    t = 0.0
    for at in np.argsort(lengths, kind="stable"):
        t = float(lengths[at])
        if t > last_death:
            break
        if t > last_birth and min(state.voids.births.values(), default=t) > last_birth:
            break
        state.add(int(rows[at]), int(columns[at]), t)
    alive = [Void(birth, t) for birth in state.voids.births.values()]
    early = [void for void in state.found + alive if void.birth <= last_birth]
    return max(early, key=lambda void: void.persistence, default=NO_VOID)
