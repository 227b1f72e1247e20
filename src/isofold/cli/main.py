"""The command `isofold`: loads sub-commands when they are needed, and catches every error.

Exit codes: 0 done; 1 an error of ours; 2 bad usage or input; 3 the map is doubtful (only with
``--strict``); 130 Ctrl-C. A standard stream that is closed (``>&-``) counts as ``>/dev/null``: what
would be shown there is lost, files are written, and that is no error.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from isofold import __version__
from isofold._progress import signals as _interrupts
from isofold.cli.command import SETTINGS, Command
from isofold.cli.console import Console
from isofold.cli.errors import ExitCode, explain
from isofold.cli.streams import discard_rest, open_closed

__all__ = ["CommandLine", "main"]

NAME = "isofold"
COMPLETION = "_ISOFOLD_COMPLETE"

# One line for every command, here rather than in its module, so that `isofold --help` loads none.
COMMANDS = {
    "Make maps": {
        "embed": "Make a map of a data file.",
        "transform": "Place new rows on a map that was saved.",
        "demo": "Unfold a rolled sheet, to see what isofold does.",
    },
    "Judge maps": {
        "evaluate": "Measure how true a map is, whatever tool made it.",
        "report": "Write a page to look at a map and its errors.",
        "compare": "Make maps by several methods and measure them all.",
    },
    "Find structures": {
        "protein": "Find the structure of a protein from bounds on distances.",
    },
    "Look at data": {
        "dimension": "Estimate how many dimensions data really have.",
        "datasets": "List example data, or write some to a file.",
    },
    "Set up": {
        "completion": "Let the shell complete commands and options.",
    },
}
SHORT_HELP = {name: text for group in COMMANDS.values() for name, text in group.items()}


class CommandLine(click.Group):
    """The group of all commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands."""
        return list(SHORT_HELP)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        """Load a command."""
        if cmd_name not in SHORT_HELP:
            return None
        module = import_module(f"isofold.cli.commands.{cmd_name}")
        found = getattr(module, f"{cmd_name}_command")
        return found if isinstance(found, Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write what the commands do, without loading them."""
        width = max(map(len, SHORT_HELP))
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """Run the command line and exit."""
        instruction = os.environ.get(COMPLETION)
        if instruction:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(self, {}, NAME, COMPLETION, instruction))
        sys.exit(run(self, list(sys.argv[1:] if args is None else args)))


def run(group: click.Group, args: list[str]) -> int:
    """Run a command line and return its exit code; the only function that catches all errors."""
    open_closed()
    console = Console()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names may have characters that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _interrupts.raising():
            try:
                with group.make_context(NAME, args or ["--help"], obj=console) as ctx:
                    code = group.invoke(ctx)
            except click.exceptions.Exit as end:
                code = end.exit_code
            # A pipe that was closed by its reader is noticed here or at the end of Python, too
            # late.
            sys.stdout.flush()
            console.release()
    except BrokenPipeError:
        code = ExitCode.BROKEN_PIPE
    except (KeyboardInterrupt, Exception) as error:
        text, code = explain(error, console)
        console.fail(text)
    discard_rest()
    return ExitCode.INTERRUPTED if _interrupts.seen() else code or ExitCode.DONE


# After a backspace click keeps the lines of a paragraph as they are.
HELP = """Unfold high-dimensional data into few dimensions while keeping distances true.

A map that you can measure on, and an honest page about what it keeps and what it loses:

\b
  isofold embed data.csv -o map.csv --label species --report page.html

Every command explains itself: isofold embed --help
"""


@click.group(cls=CommandLine, context_settings=SETTINGS, help=HELP)
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name=NAME)
def main() -> None:
    """Run the command line."""
