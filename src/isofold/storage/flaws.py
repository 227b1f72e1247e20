"""What is wrong with a file, said where it is seen; `load` adds the name of the file."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["DAMAGED", "Flaw", "fail", "require"]

DAMAGED = "Get the file again from where it came, or save the model again."


class Flaw(Exception):  # noqa: N818 - not for users, who get a ModelFileError
    """A file cannot be loaded; the message is sentences for the user."""


def fail(what: str, cause: Exception | None = None) -> NoReturn:
    """Raise the flaw of a file that is damaged or contradicts itself."""
    msg = f"The file is damaged: {what}. {DAMAGED}"
    raise Flaw(msg) from cause


def require(condition: Any, what: str) -> None:
    """Raise a flaw unless a condition holds; `what` is wrong otherwise."""
    if not condition:
        fail(what)
