"""Optional packages, imported when first needed and named clearly when absent."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from isofold._errors import MissingDependencyError


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module or say which extra brings it.

    Parameters
    ----------
    module : str
        Name to import, for example ``"faiss"``.
    extra : str
        The extra of isofold that installs it.
    purpose : str
        What it is needed for, as the start of the error's sentence.

    Returns
    -------
    module
        The imported module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        msg = (
            f"{purpose} needs the package that provides {module!r}, which is not installed. "
            f'Install it with: pip install "isofold[{extra}]"'
        )
        raise MissingDependencyError(msg) from error
