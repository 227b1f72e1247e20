"""Let the shell complete commands and options: `isofold completion`."""

from __future__ import annotations

import click

from isofold.cli.command import command

INSTALL = {
    "bash": 'Add to ~/.bashrc:  eval "$(isofold completion bash)"',
    "zsh": 'Add to ~/.zshrc:  eval "$(isofold completion zsh)"',
    "fish": "Run once:  isofold completion fish > ~/.config/fish/completions/isofold.fish",
}


@command(
    "completion",
    'eval "$(isofold completion bash)"  # in ~/.bashrc',
    'eval "$(isofold completion zsh)"  # in ~/.zshrc',
    "isofold completion fish > ~/.config/fish/completions/isofold.fish",
)
@click.argument("shell", type=click.Choice(list(INSTALL)))
def completion_command(shell: str) -> None:
    """Let the shell complete commands and options.

    Prints a script for the shell. Load it when the shell starts, as in the examples; then the
    Tab key completes commands, options, their values and file names.
    """
    from click.shell_completion import get_completion_class

    from isofold.cli.main import COMPLETION, NAME, main

    maker = get_completion_class(shell)
    if maker is None:
        msg = f"There is no completion for {shell}."
        raise click.UsageError(msg, click.get_current_context())
    click.echo(f"# {INSTALL[shell]}")
    # Not `source()` of click's class for bash, which starts one to ask for its version.
    script = maker(main, {}, NAME, COMPLETION)
    click.echo(script.source_template % script.source_vars())
