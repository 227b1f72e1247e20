"""The one table of methods: complete, unambiguous, and what `isofold` lists."""

import inspect
import pkgutil
from importlib import import_module

import isofold
import isofold.embedding
from isofold._base import BaseEmbedder
from isofold.embedding.catalog import BY_CLASS, BY_SHELL_NAME, CATALOG


def embedders():
    """Return the final embedders of all modules of the room, by name, with their homes."""
    prefix = "isofold.embedding."
    found = {}
    for info in pkgutil.walk_packages(isofold.embedding.__path__, prefix):
        for name, cls in vars(import_module(info.name)).items():
            is_own = inspect.isclass(cls) and cls.__module__ == info.name
            if is_own and issubclass(cls, BaseEmbedder) and not inspect.isabstract(cls):
                found[name] = info.name.removeprefix(prefix)
    return found


def test_every_method_is_entered_with_its_home():
    assert {method.name: method.home for method in CATALOG} == embedders()


def test_names_are_unique():
    assert len(BY_CLASS) == len(CATALOG)
    assert len(BY_SHELL_NAME) == sum(bool(method.shell_name) for method in CATALOG)


def test_public_methods_are_names_of_isofold():
    public = {method.name for method in CATALOG if method.is_public}
    assert public <= set(isofold.__all__)
    assert all(getattr(isofold, name).__name__ == name for name in public)
    listed = {name for name in isofold.__all__ if name in BY_CLASS}
    assert listed == public
