"""A demonstration: `isofold demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from isofold.cli._command import command
from isofold.cli._options import force_option
from isofold.cli._talk import current_talk

ROWS, NEW_ROWS = 2000, 200
FILES = ("roll.csv", "new.csv", "map.csv", "model.iso", "page.html")


@command(
    "demo",
    "isofold demo",
    "isofold demo somewhere --force  # overwrite the files of the last time",
)
@click.argument("folder", type=click.Path(path_type=Path), default="isofold-demo")
@force_option
def demo_command(folder: Path, *, force: bool) -> int:
    """Unfold a rolled sheet, to see what comes out.

    Writes the points of a sheet with a hole, rolled up in space, then unfolds it: a map, a page to
    look at it and the model, all into FOLDER (isofold-demo, if none is named).
    """
    from isofold.cli._inputs import read_data
    from isofold.cli._mapping import Outputs, make_map
    from isofold.cli.datasets import columns_of
    from isofold.cli.files import check_target, write_table
    from isofold.datasets import holed_swiss_roll

    talk = current_talk()
    roll, new, map_file, model, page = (folder / name for name in FILES)
    outputs = Outputs(map_file, model, page, force)
    folder.mkdir(parents=True, exist_ok=True)
    for path in (roll, new):
        check_target(path, force)
    outputs.check()
    for path, rows, seed in ((roll, ROWS, 0), (new, NEW_ROWS, 1)):
        columns = columns_of(holed_swiss_roll(rows, random_state=seed))
        write_table(path, columns, overwrite=force)
    talk.say(f"Wrote {roll}: {ROWS:,} points of a sheet with a hole, rolled up in space.")
    options: dict[str, Any] = {
        "method": "auto",
        "n_components": 2,
        "columns": ("x", "y", "z"),
        "label": "true1",
        "seed": 0,
        "jobs": 1,
    }
    prepared = read_data(roll, options, talk)
    code = make_map(roll, prepared, options, outputs=outputs, talk=talk)
    if not page.exists():  # interrupted, and said already
        return code
    talk.say()
    talk.head("What to look at")
    talk.say(f"Open {page} in a browser: the sheet lies flat, with its hole.", indent="  ")
    talk.say("Click a point to see its true neighbors; color by distortion.", indent="  ")
    talk.say()
    talk.head("What to try next")
    for line in (
        f"isofold transform {model} {new} -o {folder / 'new-map.csv'}",
        f"isofold compare {roll} --columns x,y,z",
        "isofold embed YOUR-FILE.csv -o map.csv --report page.html",
    ):
        talk.line(f"  {line}")
    return code
