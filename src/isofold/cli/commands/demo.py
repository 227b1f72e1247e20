"""A demonstration: `isofold demo`."""

from __future__ import annotations

from pathlib import Path

import click

from isofold.cli.command import command
from isofold.cli.console import current_console
from isofold.cli.options import force_option

ROWS, NEW_ROWS = 2000, 200
FILES = ("roll.csv", "new.csv", "map.csv", "model.iso", "page.html")


@command(
    "demo",
    "isofold demo",
    "isofold demo somewhere --force  # overwrite the files of an earlier run",
)
@click.argument("folder", type=click.Path(path_type=Path), default="isofold-demo")
@force_option
def demo_command(folder: Path, *, force: bool) -> int:
    """Unfold a rolled sheet, to see what isofold does.

    Writes the points of a sheet with a hole, rolled up in space, then unfolds it: a map, a page to
    look at it and the model, all into FOLDER (isofold-demo by default).
    """
    from isofold.cli.commands.datasets import columns_of
    from isofold.cli.steps.inputs import ReadOptions, read_data
    from isofold.cli.steps.mapping import make_map
    from isofold.cli.steps.method import FitOptions
    from isofold.cli.steps.outputs import Outputs
    from isofold.datasets import holed_swiss_roll
    from isofold.tables import check_target, write_table

    console = current_console()
    roll, new, map_file, model, page = (folder / name for name in FILES)
    outputs = Outputs(map_file, model, page, force)
    folder.mkdir(parents=True, exist_ok=True)
    for path in (roll, new):
        check_target(path, force)
    outputs.check()
    for path, rows, seed in ((roll, ROWS, 0), (new, NEW_ROWS, 1)):
        columns = columns_of(holed_swiss_roll(rows, random_state=seed))
        write_table(path, columns, overwrite=force)
    console.say(f"Wrote {roll}: {ROWS:,} points of a sheet with a hole, rolled up in space.")
    reading = ReadOptions(columns=("x", "y", "z"), label="true1")
    prepared = read_data(roll, reading, console)
    code = make_map(roll, prepared, FitOptions(), outputs=outputs, console=console)
    if not page.exists():  # interrupted, which was said already
        return code
    console.say()
    console.head("What to look at")
    console.say(f"Open {page} in a browser: the sheet lies flat, with its hole.", indent="  ")
    console.say("Click a point to see its true neighbors; color by distortion.", indent="  ")
    console.say()
    console.head("What to try next")
    for line in (
        f"isofold transform {model} {new} -o {folder / 'new-map.csv'}",
        f"isofold compare {roll} --columns x,y,z",
        "isofold embed YOUR-FILE.csv -o map.csv --report page.html",
    ):
        console.line(f"  {line}")
    return code
