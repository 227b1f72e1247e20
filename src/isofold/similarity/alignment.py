"""Alignment of sequences, by Biopython's aligner.

The score s(a, b) of the best alignment is a similarity, but not a kernel: its matrix may have
negative eigenvalues. It is used as a distance, d² = s(a, a) + s(b, b) − 2 s(a, b), or as a kernel
after its negative part was cut: ``repair_kernel(AlignmentDistance().scores(sequences))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from isofold._dependencies import require
from isofold._typing import FloatArray
from isofold._validation import check_choice, check_flag
from isofold.exceptions import InputTypeError, InvalidInputError
from isofold.similarity.counts import unit_diagonal
from isofold.similarity.objects import ObjectDistance
from isofold.similarity.strings import read_strings

__all__ = ["AlignmentDistance"]


@dataclass(frozen=True)
class AlignmentDistance(ObjectDistance):
    """Distance of sequences by the score of their best alignment.

    Computed by Biopython (``pip install "isofold[objects]"``), every pair on its own, in time
    proportional to the product of both lengths.

    Parameters
    ----------
    mode : {"local", "global"}, default="local"
        Smith-Waterman, the most similar stretches, or Needleman-Wunsch, whole sequences.
    matrix : str or None, default="BLOSUM62"
        Substitution matrix of Biopython: "BLOSUM62", "PAM250", "NUC.4.4" for DNA. None: 1 for
        the same letter, −1 for another.
    gap_open, gap_extend : float, default=-11.0, -1.0
        Scores of the first letter of a gap and of each further one; not above 0.
    normalize : bool, default=True
        Divide scores by the square roots of both scores of a sequence with itself, so that
        distances do not depend on lengths: d² = 2 − 2 s(a, b) / √(s(a, a) s(b, b)).

    Notes
    -----
    The matrix of scores may have negative eigenvalues, and distances may break the triangle
    inequality. A normalized score with a sequence without letters is 0.

    Examples
    --------
    >>> from isofold.similarity import AlignmentDistance
    >>> align = AlignmentDistance("global", None, gap_open=-1, gap_extend=-1, normalize=False)
    >>> align.scores(["ACGT", "ACT"])  # three letters and one gap
    array([[4., 2.],
           [2., 3.]])
    """

    mode: Literal["local", "global"] = "local"
    matrix: str | None = "BLOSUM62"
    gap_open: float = -11.0
    gap_extend: float = -1.0
    normalize: bool = True

    def __post_init__(self) -> None:
        check_choice(self.mode, ("local", "global"), name="mode")
        check_flag(self.normalize, name="normalize")
        for name in ("gap_open", "gap_extend"):
            if not -np.inf < getattr(self, name) <= 0:
                msg = f"{name}={getattr(self, name)!r} must be finite and not above 0: gaps cost."
                raise InvalidInputError(msg)

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every sequence of A to every one of B, or of A to itself."""
        S, own_rows, own_columns = self._scores(A, B)
        squares = own_rows[:, None] + own_columns - 2.0 * S
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def scores(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the scores of all alignments, normalized if this was requested.

        Parameters
        ----------
        A, B : sequence of str
            The sequences; without B those of A among themselves.

        Returns
        -------
        scores : ndarray of shape (n_A, n_B)
            The higher, the more similar. Not positive semidefinite: see `repair_kernel`.
        """
        return self._scores(A, B)[0]

    def _scores(
        self, A: Sequence[Any], B: Sequence[Any] | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return scores of all pairs, and of the objects of both sides with themselves."""
        score = self._aligner()
        first = _read_sequences(A, "A")
        if B is None:
            S = np.zeros((len(first), len(first)))
            for i, one in enumerate(first):
                S[i, i:] = S[i:, i] = [score(one, other) for other in first[i:]]
            own_rows = own_columns = S.diagonal().copy()
        else:
            second = _read_sequences(B, "B")
            S = np.array([[score(one, other) for other in second] for one in first])
            S = S.reshape(len(first), len(second))
            own_rows, own_columns = (
                np.array([score(one, one) for one in side]) for side in (first, second)
            )
        if not self.normalize:
            return S, own_rows, own_columns
        ones = [(own > 0).astype(float) for own in (own_rows, own_columns)]
        return unit_diagonal(S, own_rows, own_columns), ones[0], ones[1]

    def _aligner(self) -> Any:
        """Return a function of two sequences."""
        align = require("Bio.Align", extra="objects", purpose="AlignmentDistance")
        aligner = align.PairwiseAligner(mode=self.mode, match_score=1.0, mismatch_score=-1.0)
        if self.matrix is not None:
            matrices = require(
                "Bio.Align.substitution_matrices", extra="objects", purpose="AlignmentDistance"
            )
            check_choice(self.matrix, matrices.load(), name="matrix")
            aligner.substitution_matrix = matrices.load(self.matrix)
        # For end gaps of global alignments as well.
        aligner.open_gap_score, aligner.extend_gap_score = self.gap_open, self.gap_extend

        def score(one: str, other: str) -> float:
            if not one or not other:  # Biopython refuses them.
                gap = len(one) + len(other)
                is_free = self.mode == "local" or not gap
                return 0.0 if is_free else self.gap_open + self.gap_extend * (gap - 1)
            try:
                return float(aligner.score(one, other))
            except ValueError as error:
                strange = set(one + other) - set(aligner.substitution_matrix.alphabet)
                msg = (
                    f"A sequence has letters that the matrix {self.matrix!r} does not know: "
                    f"{', '.join(sorted(strange))}. Replace them by X, or pass matrix=None."
                )
                raise InvalidInputError(msg) from error

        return score


def _read_sequences(sequences: Any, name: str) -> list[str]:
    """Return sequences as text; those of Biopython have as many letters."""
    found = read_strings(sequences, name=name)
    for index, item in enumerate(found):
        if len(str(item)) != len(item):
            msg = f"{name}[{index}] is a {type(item).__name__}, but text is aligned. Pass str."
            raise InputTypeError(msg)
    return [str(item) for item in found]
