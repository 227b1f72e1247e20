"""Models of objects are saved with the kernel or distance that compares them."""

from dataclasses import is_dataclass

import numpy as np
import pytest

import isofold.similarity as room
from isofold import IPA, LocalMDS, load, save
from isofold.exceptions import InvalidInputError
from isofold.similarity import (
    EditDistance,
    ObjectDistance,
    ObjectKernel,
    SpectrumKernel,
    TfidfKernel,
)
from isofold.storage.registry import KINDS

WORDS = ["cat", "cats", "car", "cart", "care", "dog", "dogs", "doge", "fog", "frog"]
NEW = ["carts", "fogs", "cat"]


@pytest.mark.parametrize(
    "model",
    [
        LocalMDS(metric=EditDistance(), n_neighbors=6, random_state=0),
        IPA(kernel=SpectrumKernel(2), n_neighbors=6, random_state=0),
        LocalMDS(kernel=TfidfKernel.of(WORDS, analyzer="char"), n_neighbors=6, random_state=0),
    ],
    ids=["distance", "kernel", "with weights"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_objects_is_saved_with_what_compares_them(model, tmp_path):
    fitted = model.fit(WORDS)
    isofold_file = tmp_path / "words.iso"
    save(fitted, isofold_file)
    again = load(isofold_file)
    np.testing.assert_array_equal(again.transform(NEW), fitted.transform(NEW))
    np.testing.assert_array_equal(again.embedding_, fitted.embedding_)


@pytest.mark.parametrize("name", [name for name in room.__all__ if name[0].isupper()])
def test_every_similarity_has_a_line_in_the_registry(name):
    cls = getattr(room, name)
    if cls in (ObjectDistance, ObjectKernel):
        return
    assert is_dataclass(cls)
    assert KINDS[name].load() is cls


def test_a_function_of_the_user_cannot_be_saved(tmp_path):
    model = LocalMDS(metric=lambda a, b: abs(len(a) - len(b)), random_state=0).fit(WORDS)
    with pytest.raises(InvalidInputError, match="is a function"):
        save(model, tmp_path / "words.iso")
