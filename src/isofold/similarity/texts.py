"""Kernel of texts: the cosine of their word counts, rare words weighing more (TF-IDF)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows
from isofold._typing import FloatArray
from isofold._validation import check_choice, check_count
from isofold.exceptions import InvalidInputError
from isofold.similarity.objects import ObjectKernel, read_objects

__all__ = ["TfidfKernel"]

ANALYZERS = ("word", "char", "char_wb")


@dataclass(frozen=True)
class TfidfKernel(ObjectKernel):
    """Cosine of weighted word counts, by scikit-learn.

    Made of the texts that words are weighted by: ``TfidfKernel.of(texts)``. The weights belong to
    the kernel, so that new texts are compared as the first ones were. Texts without a known word
    are zero vectors: their kernel with every text is 0.

    Parameters
    ----------
    terms : tuple of str
        Words or runs of letters that count, sorted.
    weights : tuple of float
        Their inverse document frequencies.
    analyzer : {"word", "char", "char_wb"}, default="word"
        What terms are made of: words, letters, or letters within words.
    n_gram : tuple of int, default=(1, 1)
        Fewest and most words or letters of a term.

    Examples
    --------
    >>> from isofold.similarity import TfidfKernel
    >>> texts = ["a red house", "a red car", "green trees"]
    >>> TfidfKernel.of(texts)(texts).round(2)
    array([[1.  , 0.37, 0.  ],
           [0.37, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    terms: tuple[str, ...] = field(repr=False)
    weights: tuple[float, ...] = field(repr=False)
    analyzer: Literal["word", "char", "char_wb"] = "word"
    n_gram: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        check_choice(self.analyzer, ANALYZERS, name="analyzer")
        fewest, most = self.n_gram
        check_count(fewest, name="n_gram[0]")
        check_count(most, name="n_gram[1]", minimum=fewest)
        if not self.terms or len(self.terms) != len(self.weights):
            msg = (
                f"{len(self.terms):,} terms and {len(self.weights):,} weights: at least one term "
                f"is needed, and one weight for each. Make the kernel by TfidfKernel.of(texts)."
            )
            raise InvalidInputError(msg)

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        *,
        analyzer: Literal["word", "char", "char_wb"] = "word",
        n_gram: tuple[int, int] = (1, 1),
        stop_words: Literal["english"] | None = None,
        min_texts: int = 1,
    ) -> TfidfKernel:
        """Return the kernel whose terms and weights are those of some texts.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        analyzer : {"word", "char", "char_wb"}, default="word"
            What terms are made of: words, letters, or letters within words.
        n_gram : tuple of int, default=(1, 1)
            Fewest and most words or letters of a term.
        stop_words : {"english"} or None, default=None
            Words that do not count.
        min_texts : int, default=1
            Texts that must have a term for it to count.

        Returns
        -------
        kernel : TfidfKernel
            Ready to be called.
        """
        from sklearn.feature_extraction.text import TfidfVectorizer

        check_choice(analyzer, ANALYZERS, name="analyzer")
        words = stop_words if analyzer == "word" else None
        reader = TfidfVectorizer(
            analyzer=analyzer, ngram_range=n_gram, stop_words=words, min_df=min_texts
        )
        try:
            reader.fit(_read_texts(texts, "texts"))
        except ValueError as error:
            msg = f"No term of these texts counts ({error}). Change n_gram or min_texts."
            raise InvalidInputError(msg) from error
        terms = tuple(str(term) for term in reader.get_feature_names_out())
        return cls(terms, tuple(reader.idf_.tolist()), analyzer, n_gram)

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every text of A with every text of B, or of A with itself."""
        first = self.rows(A)
        second = first if B is None else self.rows(B)
        K = np.asarray((first @ second.T).toarray())
        # A cosine is rounded: what ends up above 1 would be a negative squared distance.
        return np.asarray(np.minimum(K, 1.0))

    def rows(self, texts: Sequence[str]) -> sp.csr_array:
        """Return the weighted counts of texts as sparse rows of length 1.

        Parameters
        ----------
        texts : sequence of str
            The texts.

        Returns
        -------
        rows : csr_array of shape (n_texts, n_terms)
            The kernel is their product.
        """
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        counter = CountVectorizer(
            analyzer=self.analyzer, ngram_range=self.n_gram, vocabulary=list(self.terms)
        )
        counts = counter.transform(_read_texts(texts, "texts")).astype(float)
        return sp.csr_array(normalize(counts @ sp.diags_array(self.weights)))

    def nearest(self, texts: Sequence[str], n_neighbors: int = 10) -> sp.csr_array:
        """Return the kernel of texts with those most similar to each, as a sparse matrix.

        Parameters
        ----------
        texts : sequence of str
            The texts: tens of thousands, whose whole kernel would not fit into memory.
        n_neighbors : int, default=10
            Texts that are kept in each row beside itself; those with the kernel 0 never are.

        Returns
        -------
        kernel : csr_array of shape (n_texts, n_texts)
            Symmetric: what is kept in one row of a pair is kept in both. The diagonal is kept.
        """
        check_count(n_neighbors, name="n_neighbors")
        rows = self.rows(texts)
        n = rows.shape[0]
        step = block_rows(n * 16, n)
        columns = rows.T.tocsr()
        kept = [
            _largest((rows[start : start + step] @ columns).toarray(), n_neighbors + 1, start)
            for start in range(0, n, step)
        ]
        K = sp.csr_array(sp.vstack(kept))
        return sp.csr_array(K.maximum(K.T))


def _largest(block: FloatArray, k: int, start: int) -> sp.csr_array:
    """Return the k largest entries of rows, their own one among them."""
    n_rows, n = block.shape
    k = min(k, n)
    own = np.arange(n_rows), start + np.arange(n_rows)
    values = block[own]
    block[own] = np.inf
    columns = np.argpartition(block, n - k, axis=1)[:, n - k :]
    block[own] = values
    entries = np.take_along_axis(block, columns, axis=1)
    shape = (n_rows, n)
    ends = np.arange(0, n_rows * k + 1, k)
    found = sp.csr_array((entries.ravel(), columns.ravel(), ends), shape=shape)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _read_texts(texts: Any, name: str) -> Sequence[str]:
    """Return texts, each of them a str."""
    found = read_objects(texts, name=name)
    strange = next((i for i, text in enumerate(found) if not isinstance(text, str)), None)
    if strange is not None:
        msg = f"{name}[{strange}] is a {type(found[strange]).__name__}, but texts are str."
        raise InvalidInputError(msg)
    return found
