"""The command line as a program: ``isofold``, or ``python -m isofold``."""

from isofold._progress.signals import install

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit."""
    # First of all: loading what follows takes long enough for Ctrl-C.
    install()
    from isofold.cli import main as run

    run()


if __name__ == "__main__":
    main()
