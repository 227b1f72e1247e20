"""Kernels and distances of strings: texts, DNA, proteins, or lists of any hashable tokens.

The spectrum kernel (Leslie, Eskin and Noble 2002) counts the words of k letters that two strings
share; the mismatch kernel (Leslie et al. 2004) lets words differ in m letters; the subsequence
kernel (Lodhi et al. 2002) counts letters in the same order, with gaps that cost.

The mismatch kernel is not computed in the space of all words. With P_h the number of pairs of
words that differ in h letters, and c_h the number of words within m letters of both words of such
a pair, it is Σ_h c_h P_h. Pairs that agree outside of j positions number G_j = Σ_h C(k−h, j−h) P_h,
so that the kernel is Σ_j w_j G_j with j ≤ 2m, where w solves a triangular system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._dependencies import require
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_flag
from isofold.exceptions import InputTypeError, InvalidInputError
from isofold.similarity._subsequences import shared_subsequences
from isofold.similarity.counts import CountKernel, count_table, unit_diagonal
from isofold.similarity.objects import ObjectDistance, ObjectKernel, read_objects

__all__ = [
    "EditDistance",
    "MismatchKernel",
    "SpectrumKernel",
    "SubsequenceKernel",
]

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
OUTSIDE = -1
"""Code of a letter that is not in the alphabet."""


@dataclass(frozen=True)
class EditDistance(ObjectDistance):
    """Levenshtein distance: the fewest letters to insert, delete or replace.

    Computed by rapidfuzz (``pip install "isofold[objects]"``).

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the length of the longer string, so that distances are between 0 and 1. Such
        distances may break the triangle inequality.

    Examples
    --------
    >>> from isofold.similarity import EditDistance
    >>> EditDistance()(["kitten", "sitting", ""])
    array([[0., 3., 6.],
           [3., 0., 7.],
           [6., 7., 0.]])
    """

    normalize: bool = False

    def __post_init__(self) -> None:
        check_flag(self.normalize, name="normalize")

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every string of A to every string of B, or of A to itself."""
        process = require("rapidfuzz.process", extra="objects", purpose="EditDistance")
        distance = require(
            "rapidfuzz.distance.Levenshtein", extra="objects", purpose="EditDistance"
        )
        first = read_strings(A, name="A")
        second = first if B is None else read_strings(B, name="B")
        scorer = distance.normalized_distance if self.normalize else distance.distance
        return np.asarray(process.cdist(first, second, scorer=scorer, dtype=np.float64))


@dataclass(frozen=True)
class SpectrumKernel(CountKernel):
    """Words of some letters that two strings share, each counted as often as it occurs.

    Strings shorter than `length` are zero vectors: their kernel with every string is 0.

    Parameters
    ----------
    length : int, default=3
        Letters of a word.
    normalize : bool, default=True
        Divide by the lengths of both vectors of counts, which leaves the cosine.

    Examples
    --------
    >>> from isofold.similarity import SpectrumKernel
    >>> SpectrumKernel(2, normalize=False)(["abab", "bab"])
    array([[5., 3.],
           [3., 2.]])
    """

    length: int = 3
    normalize: bool = True

    def __post_init__(self) -> None:
        check_count(self.length, name="length")
        check_flag(self.normalize, name="normalize")

    def _terms(self, objects: Sequence[Any]) -> Iterator[tuple[float, sp.csr_array]]:
        letters, owners = _letters(objects)
        words, holders = _words(letters, owners, self.length)
        yield 1.0, count_table(holders, _names(words), len(objects))


@dataclass(frozen=True)
class MismatchKernel(CountKernel):
    """Words that two strings share up to some letters.

    A string is described by the number of its words of `length` letters that differ from each
    possible word in at most `mismatches` letters. Words with a letter outside of the alphabet are
    left out.

    Parameters
    ----------
    length : int, default=5
        Letters of a word.
    mismatches : int, default=1
        Letters in which words may differ; fewer than `length`.
    alphabet : str or tuple, default=the 20 amino acids
        All letters there are; "ACGT" for DNA.
    normalize : bool, default=True
        Divide by the lengths of both vectors of counts, which leaves the cosine.

    Examples
    --------
    >>> from isofold.similarity import MismatchKernel
    >>> MismatchKernel(2, 1, "AB", normalize=False)(["AB", "BA", "BB"])
    array([[3., 2., 2.],
           [2., 3., 2.],
           [2., 2., 3.]])
    """

    length: int = 5
    mismatches: int = 1
    alphabet: Sequence[Any] = AMINO_ACIDS
    normalize: bool = True

    def __post_init__(self) -> None:
        check_count(self.length, name="length")
        check_count(self.mismatches, name="mismatches", minimum=0)
        check_flag(self.normalize, name="normalize")
        if self.mismatches >= self.length:
            msg = (
                f"mismatches={self.mismatches} must be smaller than length={self.length}: else "
                f"all words are alike."
            )
            raise InvalidInputError(msg)
        if len(set(self.alphabet)) < 2 or len(set(self.alphabet)) < len(self.alphabet):
            msg = f"alphabet={self.alphabet!r} must have at least two letters, and none twice."
            raise InvalidInputError(msg)

    def _terms(self, objects: Sequence[Any]) -> Iterator[tuple[float, sp.csr_array]]:
        letters, owners = _letters(objects, self.alphabet)
        words, holders = _words(letters, owners, self.length)
        known = (words != OUTSIDE).all(axis=1)
        words, holders = words[known], holders[known]
        weights = _mismatch_weights(self.length, self.mismatches, len(self.alphabet))
        for n_free, weight in enumerate(weights):
            for seen in combinations(range(self.length), self.length - n_free):
                yield weight, count_table(holders, _names(words[:, seen]), len(objects))


@dataclass(frozen=True)
class SubsequenceKernel(ObjectKernel):
    """Letters in the same order in both strings, with gaps that cost.

    Every choice of `length` letters of a string counts decay^span, where the span is the number of
    letters from the first to the last. A pair of strings takes length × (length of one) × (length
    of the other) steps: some hundred strings of some hundred letters.

    Parameters
    ----------
    length : int, default=3
        Letters of a subsequence.
    decay : float, default=0.5
        Factor for each letter spanned, above 0 and at most 1.
    normalize : bool, default=True
        Divide by the square roots of both kernels of a string with itself.

    Examples
    --------
    >>> from isofold.similarity import SubsequenceKernel
    >>> K = SubsequenceKernel(2, 0.5, normalize=False)(["cat", "car"])
    >>> float(K[0, 1])  # "ca" in both, over two letters each: 0.5 ** 4
    0.0625
    """

    length: int = 3
    decay: float = 0.5
    normalize: bool = True

    def __post_init__(self) -> None:
        check_count(self.length, name="length")
        check_flag(self.normalize, name="normalize")
        if not 0.0 < self.decay <= 1.0:
            msg = f"decay={self.decay!r} must be above 0 and at most 1: long gaps weigh less."
            raise InvalidInputError(msg)

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every string of A with every string of B, or of A with itself."""
        first = read_objects(A, name="A")
        second = [] if B is None else read_objects(B, name="B")
        letters, owners = _letters([*first, *second])
        ends = np.searchsorted(owners, np.arange(len(first) + len(second) + 1))
        strings = np.array_split(letters, ends[1:-1]) if len(ends) > 1 else []
        rows, columns = strings[: len(first)], strings[len(first) :]
        if B is None:
            K = np.zeros((len(rows), len(rows)))
            for i, string in enumerate(rows):
                K[i, i:] = K[i:, i] = self._row(string, rows[i:])
            return unit_diagonal(K, K.diagonal(), K.diagonal()) if self.normalize else K
        K = np.array([self._row(string, columns) for string in rows]).reshape(len(rows), -1)
        if not self.normalize:
            return K
        own = np.array([self._row(string, [string])[0] for string in strings])
        return unit_diagonal(K, own[: len(rows)], own[len(rows) :])

    def _row(self, string: IntArray, others: list[IntArray]) -> FloatArray:
        """Return the kernel of one string with some."""
        lengths = np.array([len(other) for other in others], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        joined = np.concatenate([np.zeros(0, dtype=np.int64), *others])
        work = np.empty(self.length * (int(lengths.max(initial=0)) + 1))
        found = np.empty(len(others))
        shared_subsequences(string, joined, starts, self.length, float(self.decay), work, found)
        return found


def read_strings(strings: Any, *, name: str) -> Sequence[Any]:
    """Return strings, or lists of tokens; refuse what has no letters."""
    found = read_objects(strings, name=name)
    for index, item in enumerate(found):
        if not hasattr(item, "__len__") or not hasattr(item, "__getitem__"):
            msg = (
                f"{name}[{index}] is a {type(item).__name__}, but strings are compared, or lists "
                f"of tokens."
            )
            raise InputTypeError(msg)
    return found


def _letters(
    strings: Sequence[Any], alphabet: Sequence[Any] | None = None
) -> tuple[IntArray, IntArray]:
    """Return the letters of all strings as numbers, one after the other, and whose they are."""
    read_strings(strings, name="strings")
    lengths = np.array([len(string) for string in strings], dtype=np.int64)
    codes: dict[Any, int] = {} if alphabet is None else {x: i for i, x in enumerate(alphabet)}
    if alphabet is None:
        numbers = [codes.setdefault(letter, len(codes)) for string in strings for letter in string]
    else:
        numbers = [codes.get(letter, OUTSIDE) for string in strings for letter in string]
    return np.array(numbers, dtype=np.int64), np.repeat(np.arange(len(strings)), lengths)


def _words(letters: IntArray, owners: IntArray, length: int) -> tuple[IntArray, IntArray]:
    """Return all words of consecutive letters of one string, and whose they are."""
    if len(letters) < length:
        return np.zeros((0, length), dtype=np.int64), np.zeros(0, dtype=np.int64)
    words = np.lib.stride_tricks.sliding_window_view(letters, length)
    last = owners[length - 1 :]
    inside = owners[: len(last)] == last
    return words[inside], last[inside]


def _names(words: IntArray) -> IntArray:
    """Return a number for each word, the same for the same."""
    names = np.zeros(len(words), dtype=np.int64)
    for column in words.T:
        # Renumbered at every letter: the product never overflows.
        names = np.unique(names * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return names


def _mismatch_weights(length: int, mismatches: int, n_letters: int) -> list[float]:
    """Return the weight of pairs of words that agree outside of 0, 1, … positions."""
    n_free = min(2 * mismatches, length)
    weights = [0] * (n_free + 1)
    for h in range(n_free, -1, -1):
        known = sum(weights[j] * comb(length - h, j - h) for j in range(h + 1, n_free + 1))
        weights[h] = _near_both(length, mismatches, n_letters, h) - known
    return [float(weight) for weight in weights]


def _near_both(length: int, mismatches: int, n_letters: int, h: int) -> int:
    """Count the words within some mismatches of both words of a pair that differ in h letters."""
    total = 0
    for as_first in range(h + 1):
        for as_second in range(h - as_first + 1):
            ways = comb(h, as_first) * comb(h - as_first, as_second)
            ways *= (n_letters - 2) ** (h - as_first - as_second)
            most = mismatches - h + min(as_first, as_second)
            for elsewhere in range(min(most, length - h) + 1):
                total += ways * comb(length - h, elsewhere) * (n_letters - 1) ** elsewhere
    return total
