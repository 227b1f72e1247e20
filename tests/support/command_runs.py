"""Command lines in process and as real programs, and small files for them."""

import csv
import os
import pty
import select
import subprocess
import sys
import time

import numpy as np
from click.testing import CliRunner

from isofold.cli import main
from isofold.datasets import swiss_roll

WORDS = ("oak", "elm", "ash")

PATIENCE = 600.0
"""Seconds after which a program hangs, however busy the machine is."""


def run(*args, env=None):
    """Run a command line in process; return click's result with exit_code, stdout and stderr."""
    return CliRunner().invoke(main, [str(arg) for arg in args], env=env)


def run_program(*args, env=None, cwd=None, stdin=subprocess.DEVNULL):
    """Run a command line as a program of its own."""
    return subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-m", "isofold", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        stdin=stdin,
        timeout=PATIENCE,
    )


def run_on_screen(code, *args, env=None, on_text=None):
    """Run Python code with arguments on a pseudo-terminal; return its exit code and what it shows.

    `on_text` maps a text to a function of the process that is called when the text is shown.
    """
    screen, side = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code, *map(str, args)],
        stdin=side,
        stdout=side,
        stderr=side,
        env={**os.environ, "COLUMNS": "90", **(env or {})},
        start_new_session=True,
    )
    os.close(side)
    shown, waiting, end = b"", dict(on_text or {}), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ready, _, _ = select.select([screen], [], [], 0.2)
        try:
            part = os.read(screen, 65536) if ready else b""
        except OSError:  # the other side is closed
            break
        shown += part
        for text in [text for text in waiting if text.encode() in shown]:
            waiting.pop(text)(process)
        if not ready and process.poll() is not None:
            break
    process.wait(timeout=PATIENCE)
    os.close(screen)
    return process.returncode, shown.decode("utf-8", "replace")


def write_csv(path, header, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_roll(path, n_rows=150, *, seed=0, missing=()):
    """Write a swiss roll with a text column, a label, and missing numbers in some rows."""
    roll = swiss_roll(n_rows, width=21.0, uniform=True, random_state=seed)
    rows = [
        ["" if i in missing else x, y, z, f"tree {i}", WORDS[int(t // 30) % 3]]
        for i, ((x, y, z), (t, _)) in enumerate(zip(roll.X, roll.truth, strict=True))
    ]
    return write_csv(path, ["x", "y", "z", "name", "kind"], rows)


def write_array(path, n_rows=60, seed=0):
    """Write points of a bent sheet as an array."""
    t, h = np.random.RandomState(seed).rand(2, n_rows)
    np.save(path, np.column_stack([np.cos(2 * t), np.sin(2 * t), h]))
    return path
