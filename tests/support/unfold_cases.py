"""What tests of Unfold share."""

import re

import numpy as np

from isofold import Unfold
from isofold.embedding.unfold.decision import CLASSES


def model(**parameters):
    return Unfold(**{"random_state": 0, "n_jobs": 1, **parameters})


def sheet(n=160, seed=0):
    """Return points of half a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(seed).uniform(size=(n, 2)) * [6.0, 3.0]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]]), flat


def assert_told(unfold):
    """Assert that a decision holds together and reads well."""
    decision = unfold.decision_
    assert decision.method in CLASSES
    assert decision.n_components == unfold.n_components_ == unfold.embedding_.shape[1]
    for sentence in decision.reasons:
        assert sentence[0].isupper() or sentence[0].isdigit() or sentence.startswith("n_comp")
        assert sentence.endswith(".")
        assert "nan" not in sentence.lower().split()
        assert "  " not in sentence
    assert len(set(decision.reasons)) == len(decision.reasons)
    assert decision.summary() == " ".join(decision.reasons)
    shown = str(decision)
    assert all(sentence in shown for sentence in decision.reasons)
    for candidate in decision.candidates:
        assert re.search(rf"^{candidate.method} ", shown, flags=re.MULTILINE)
        assert decision.evidence[f"score_{candidate.method}"] == candidate.score
    assert shown.count("<- used") == (1 if decision.candidates else 0)
