"""What all commands have in common: sections of options, examples, vocabulary, two options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from isofold.cli.console import Console

__all__ = ["Command", "SectionOption", "command", "option"]

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
LAST_SECTION = "Other options"


class SectionOption(click.Option):
    """An option that is listed in a section of the help text.

    Parameters
    ----------
    *args, **attributes
        As for `click.Option`.
    section : str
        Title of the section.
    """

    def __init__(self, *args: Any, section: str = LAST_SECTION, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what is added to the help text: the default, but no range in signs."""
        extra: Any = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Command(click.Command):
    """A command whose help text has sections and examples, and whose errors name options.

    Parameters
    ----------
    *args, **attributes
        As for `click.Command`.
    examples : tuple of str
        Command lines that work, each with what it does after a ``#``.
    choices : dict of str to str, optional
        Values of the option ``--method``, and what they are.
    """

    def __init__(
        self,
        *args: Any,
        examples: tuple[str, ...] = (),
        choices: dict[str, str] | None = None,
        **attributes: Any,
    ) -> None:
        attributes.setdefault("context_settings", SETTINGS)
        super().__init__(*args, **attributes)
        self.examples = examples
        self.choices = choices or {}

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; parameters in its errors are called by their options."""
        from isofold._findings import SHELL, speaking

        with speaking(SHELL):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section, then the examples."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            # Arguments are explained in the text.
            is_option = isinstance(parameter, click.Option)
            record = parameter.get_help_record(ctx) if is_option else None
            if record is not None:
                title = getattr(parameter, "section", LAST_SECTION)
                sections.setdefault(title, []).append(record)
        others = sections.pop(LAST_SECTION, [])
        width = max(len(flags) for records in (*sections.values(), others) for flags, _ in records)
        for title, records in (*sections.items(), (LAST_SECTION, others)):
            with formatter.section(title):
                formatter.write_dl([(flags.ljust(width), text) for flags, text in records])
        if self.choices:
            with formatter.section("Methods"):
                formatter.write_dl([(n.ljust(width), title) for n, title in self.choices.items()])
        with formatter.section("Examples"):
            for example in self.examples:
                line, _, purpose = example.partition("#")
                if purpose:
                    formatter.write(f"{'':>{formatter.current_indent}}# {purpose.strip()}\n")
                formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")


def command(
    name: str, *examples: str, choices: dict[str, str] | None = None
) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command, with the options that every command has."""

    def decorate(function: Callable[..., Any]) -> Command:
        for flags, callback, text in (
            (("--debug",), _set_debug, "Show where an error happened."),
            (("-q", "--quiet"), _set_quiet, "Show only warnings and errors."),
        ):
            function = click.option(
                *flags, cls=SectionOption, is_flag=True, expose_value=False, callback=callback,
                help=text,
            )(function)  # fmt: skip
        return click.command(name, cls=Command, examples=examples, choices=choices)(function)

    return decorate


def option(*flags: str, section: str, **attributes: Any) -> Callable[[Any], Any]:
    """Return a decorator that adds an option to a section of the help text."""
    return click.option(*flags, cls=SectionOption, section=section, **attributes)


def _set_quiet(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    console = ctx.find_root().obj
    if value and isinstance(console, Console):
        console.is_quiet = True


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    console = ctx.find_root().obj
    if value and isinstance(console, Console):
        console.wants_traceback = True
