"""The command line as ``python -m isofold``."""

from isofold.cli import main

if __name__ == "__main__":
    main()
