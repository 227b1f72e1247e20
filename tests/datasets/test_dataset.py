"""The object that generators and loaders return."""

import dataclasses

import numpy as np
import pytest

from isofold.datasets import Dataset


def test_repr_is_short():
    X = np.zeros((5, 3))
    assert repr(Dataset("plain", X)) == "Dataset('plain', 5 samples, 3 features)"
    full = Dataset("full", X, truth=X[:, :1], labels=np.array([0, 1, 1, 4, 4]))
    assert repr(full) == "Dataset('full', 5 samples, 3 features, 1 true coordinate, 3 classes)"


def test_fields_cannot_be_replaced():
    data = Dataset("plain", np.zeros((5, 3)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.X = np.ones((5, 3))
