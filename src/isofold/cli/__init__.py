"""The command line: from a file to a map, without a line of Python."""

from isofold.cli.main import main

__all__ = ["main"]
