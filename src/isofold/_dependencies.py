"""Optional packages, imported when first needed and named clearly when absent."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from isofold.exceptions import MissingDependencyError


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        install = f'pip install "isofold[{extra}]"'
        # A module that is there may fail to import another one: that is not being absent.
        absent = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        if absent:
            msg = (
                f"{purpose} needs the package that provides {module!r}, which is not installed. "
                f"Install it with: {install}"
            )
        else:
            msg = (
                f"{purpose} needs {module!r}, which is installed but cannot be imported: {error}. "
                f"Repair it, for example with: {install} --force-reinstall"
            )
        raise MissingDependencyError(msg) from error
