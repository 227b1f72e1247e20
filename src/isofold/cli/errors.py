"""Errors of a command: what a user needs to know, and the exit code."""

from __future__ import annotations

import traceback

import click

from isofold._progress import signals as _interrupts
from isofold.cli.console import Console, clean
from isofold.exceptions import (
    ClusterError,
    ConvergenceError,
    EmbeddingError,
    InvalidInputError,
    MissingDependencyError,
)

__all__ = ["USER_ERRORS", "ExitCode", "explain"]

# Errors that a user can do something about. All others are ours.
USER_ERRORS = (
    InvalidInputError,
    MissingDependencyError,
    MemoryError,
    ClusterError,
    ConvergenceError,
    EmbeddingError,
    OSError,
)


class ExitCode:
    """Exit codes that scripts can use."""

    DONE = 0
    OUR_ERROR = 1
    BAD_INPUT = 2
    DOUBTFUL = 3
    INTERRUPTED = _interrupts.INTERRUPTED
    BROKEN_PIPE = 141


def explain(error: BaseException, console: Console) -> tuple[str, int]:
    """Return what a user needs to know of an error, and its exit code."""
    text, code = _explain(error, console)
    # Such as where finished work is kept.
    return " ".join((text, *getattr(error, "__notes__", ()))), code


def _explain(error: BaseException, console: Console) -> tuple[str, int]:
    if console.wants_traceback:
        click.echo(traceback.format_exc(), err=True)
    is_ours = not isinstance(error, (click.ClickException, *USER_ERRORS))
    # Ctrl-C while a library is loaded may come out as an error of that library.
    if isinstance(error, KeyboardInterrupt) or (is_ours and _interrupts.seen()):
        return "Interrupted; unfinished files were not kept.", ExitCode.INTERRUPTED
    if isinstance(error, click.ClickException):
        return _usage(error), ExitCode.BAD_INPUT
    if isinstance(error, USER_ERRORS):
        return _text(error), ExitCode.BAD_INPUT
    return _apology(error), ExitCode.OUR_ERROR


def _usage(error: click.ClickException) -> str:
    text = error.format_message()
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return text
    # Click ends some messages without a period.
    text = text if text[-1:] in ".?)" else f"{text}."
    return f"{text} See: {error.ctx.command_path} --help"


def _text(error: BaseException) -> str:
    """Return what a user needs to know of an error."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "There is not enough memory for this. Use fewer rows or columns."
    return str(error) or type(error).__name__


def _apology(error: BaseException) -> str:
    detail = clean(str(error))
    return (
        f"This is a bug in isofold, not a problem with your data: {type(error).__name__}"
        f"{f' ({detail})' if detail else ''}. Please report it with the output of the same command "
        f"and --debug."
    )
