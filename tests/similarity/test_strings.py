from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.exceptions import InvalidInputError
from isofold.similarity import (
    AlignmentDistance,
    EditDistance,
    MismatchKernel,
    SpectrumKernel,
    SubsequenceKernel,
    repair_kernel,
)
from support.hypothesis_profiles import examples

strings = st.lists(st.text("abc", max_size=7), min_size=1, max_size=5)

# Values up to some thousand, sums of some hundred terms in another order.
ROUNDING = 1e-12


def words(string, length):
    return [string[i : i + length] for i in range(len(string) - length + 1)]


def inner(first, second):
    return sum(first[key] * second[key] for key in first)


def spectrum(string, length):
    return Counter(words(string, length))


def mismatch(string, length, mismatches, alphabet):
    known = [w for w in words(string, length) if set(w) <= set(alphabet)]
    return Counter(
        {
            "".join(u): sum(
                sum(a != b for a, b in zip(u, w, strict=True)) <= mismatches for w in known
            )
            for u in product(alphabet, repeat=length)
        }
    )


def subsequences(string, length, decay):
    weights = Counter()
    for chosen in combinations(range(len(string)), length):
        weights["".join(string[i] for i in chosen)] += decay ** (chosen[-1] - chosen[0] + 1)
    return weights


@examples(30)
@given(strings, st.integers(1, 3))
def test_spectrum_counts_shared_words(texts, length):
    expected = [[inner(spectrum(a, length), spectrum(b, length)) for b in texts] for a in texts]
    np.testing.assert_array_equal(SpectrumKernel(length, normalize=False)(texts), expected)


@examples(30)
@given(strings, st.sampled_from([(1, 0), (2, 1), (3, 1), (3, 2), (4, 1), (4, 2)]))
def test_mismatch_counts_words_near_both(texts, sizes):
    counts = [mismatch(text, *sizes, "abd") for text in texts]  # c is in no word that counts
    expected = [[inner(a, b) for b in counts] for a in counts]
    found = MismatchKernel(*sizes, "abd", normalize=False)(texts)
    np.testing.assert_array_equal(found, expected)


def test_without_mismatches_it_is_the_spectrum():
    texts = ["ACGTAC", "GTACGG", "AC", ""]
    np.testing.assert_array_equal(MismatchKernel(3, 0, "ACGT")(texts), SpectrumKernel(3)(texts))


@examples(30)
@given(strings, st.integers(1, 4), st.sampled_from([0.3, 0.5, 1.0]))
def test_subsequences_weigh_their_spans(texts, length, decay):
    weights = [subsequences(text, length, decay) for text in texts]
    expected = [[inner(a, b) for b in weights] for a in weights]
    found = SubsequenceKernel(length, decay, normalize=False)(texts)
    np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=0)


def test_the_example_of_lodhi_et_al():
    # k(cat, car) = λ⁴ and k(car, car) = 2 λ⁴ + λ⁶, so that their cosine is 1 / (2 + λ²).
    found = SubsequenceKernel(2, 0.6)(["cat", "car"])
    assert found[0, 1] == pytest.approx(1 / (2 + 0.6**2), rel=ROUNDING)


def test_edit_distances_of_words_and_tokens():
    texts = ["kitten", "sitting", "", "häuser", "hauser"]
    found = EditDistance()(texts)
    assert found[:2, :3].tolist() == [[0, 3, 6], [3, 0, 7]]
    assert (found[3, 4], found[2, 3]) == (1.0, 6.0)
    assert EditDistance(normalize=True)(texts)[0, 1] == pytest.approx(3 / 7)
    assert EditDistance()([["to", "be"], ["to", "have"]])[0, 1] == 1.0


def global_score(a, b, gap):
    """Needleman and Wunsch's recursion with 1 for a match, −1 for another letter or a gap."""
    table = np.zeros((len(a) + 1, len(b) + 1))
    table[:, 0], table[0] = gap * np.arange(len(a) + 1), gap * np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            match = table[i, j] + (1 if x == y else -1)
            table[i + 1, j + 1] = max(match, table[i, j + 1] + gap, table[i + 1, j] + gap)
    return table[-1, -1]


@examples(20)
@given(strings)
def test_global_alignment_is_that_of_needleman_and_wunsch(texts):
    align = AlignmentDistance("global", None, gap_open=-1, gap_extend=-1, normalize=False)
    expected = [[global_score(a, b, -1) for b in texts] for a in texts]
    np.testing.assert_array_equal(align.scores(texts), expected)


def test_alignment_of_proteins():
    proteins = ["MKVLAAGIV", "MKILAAGLV", "GGGGPPPP", "MKVLAAGIV", ""]
    D = AlignmentDistance()(proteins)
    assert (D.diagonal() == 0).all()
    assert D[0, 3] == 0.0
    assert D[0, 1] < D[0, 2]
    # No letter, no score: as far from all as the origin is from unit vectors.
    np.testing.assert_allclose(D[4, :4], 1.0)
    K = repair_kernel(AlignmentDistance().scores(proteins), normalize=True)
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_letters_that_a_matrix_does_not_know_are_named():
    with pytest.raises(InvalidInputError, match=r"does not know: 1\. Replace"):
        AlignmentDistance()(["MKV1", "MK7L"])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SpectrumKernel(0),
        lambda: MismatchKernel(3, 3),
        lambda: MismatchKernel(3, 1, "AAB"),
        lambda: SubsequenceKernel(3, 0.0),
        lambda: SubsequenceKernel(3, 1.5),
        lambda: AlignmentDistance("both"),
        lambda: AlignmentDistance(gap_open=3.0),
        lambda: AlignmentDistance(matrix="NONE")(["A"]),
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InvalidInputError):
        wrong()


def test_long_words_of_many_letters_do_not_overflow():
    letters = [chr(0x4E00 + i) for i in range(3000)]
    text = "".join(letters)
    K = SpectrumKernel(12, normalize=False)([text, text[:100], text[::-1]])
    np.testing.assert_array_equal(K, [[2989, 89, 0], [89, 89, 0], [0, 0, 2989]])


def test_what_has_no_letters_is_refused():
    for compare in (EditDistance(), SpectrumKernel(), SubsequenceKernel(), AlignmentDistance()):
        with pytest.raises(InvalidInputError, match=r"\[1\] is a int"):
            compare(["abc", 5])
    with pytest.raises(InvalidInputError, match="Pass str"):
        AlignmentDistance()([["to", "be"]])


def test_sequences_of_biopython_are_text():
    from Bio.Seq import Seq

    texts = ["MKVLA", "MKILAAG"]
    sequences = [Seq(text) for text in texts]
    for compare in (SpectrumKernel(2), AlignmentDistance()):
        np.testing.assert_array_equal(compare(sequences), compare(texts))
