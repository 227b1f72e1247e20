"""Estimate how many dimensions data really have: `isofold dimension`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from isofold._format import count
from isofold.cli.command import command, option
from isofold.cli.console import aligned, current_console, put, put_json
from isofold.cli.options import chosen, data_options, file_argument, work_options

if TYPE_CHECKING:
    from isofold._typing import FloatArray
    from isofold.neighbors import DimensionTable
    from isofold.survey import Survey

MOST_ROWS = 20_000
"""Rows that are examined: more would not change the estimates."""

TITLES = {
    "growth": "dimension by growth of neighbor distances",
    "directions": "dimension by directions of neighborhoods",
    "jump": "dimension by the jump of their variances",
    "correlation": "dimension by growth of close pairs",
    "packing": "dimension by packing numbers",
    "spanning_tree": "dimension by growth of spanning trees",
}
"""What the estimates of `isofold.neighbors.estimate_dimension` are called."""


@command(
    "dimension",
    "isofold dimension data.csv",
    "isofold dimension wine.csv --exclude quality --scale standard",
    "isofold dimension data.csv --json  # for scripts",
)
@file_argument("file")
@option("--json", "as_json", section="Result", is_flag=True, help="Write JSON.")
@data_options
@work_options
def dimension_command(file: Path, **options: Any) -> None:
    """Estimate how many dimensions data really have.

    A table of a hundred columns may hold points of a curve (one dimension) or of a sheet (two).
    Three estimates use the neighbors of every row: how fast their distances grow, which counts
    noise as dimension; in how many directions they extend; and after how many these drop. Three
    more use the distances of 2,000 rows: how fast pairs, packings and spanning trees grow, which is
    too slow in many dimensions. The last line is the median of all. Shapes that no flat map can
    keep, such as spheres, are reported.
    """
    import numpy as np

    from isofold.cli.console import watched
    from isofold.cli.steps.inputs import ReadOptions, read_data
    from isofold.neighbors import estimate_dimension
    from isofold.survey import survey_samples

    console = current_console()
    X = read_data(file, chosen(ReadOptions, options), console).X
    if len(X) > MOST_ROWS:
        rows = np.random.default_rng(options["seed"]).choice(len(X), MOST_ROWS, replace=False)
        X = X[np.sort(rows)]
        console.note(f"{MOST_ROWS:,} rows, drawn at random, are examined.")
    jobs = options["jobs"]
    with watched(console) as seen:
        table = estimate_dimension(X, random_state=options["seed"], n_jobs=jobs)
        survey = survey_samples(X, random_state=options["seed"], n_jobs=jobs)
    for text in seen.messages:
        console.note(text)
    if options["as_json"]:
        put_json(_record(X, table, survey))
    else:
        put(_lines(X, table, survey))


def _lines(X: FloatArray, table: DimensionTable, survey: Survey) -> list[str]:
    rows = [
        ("columns of numbers", f"{X.shape[1]:,}"),
        *((TITLES[name], f"{value:.1f}") for name, value in table.as_dict().items()),
        ("median of all", f"{table.median:.1f}"),
    ]
    return [*aligned(rows, right=(1,)), "", *_sentences(X, table, survey)]


def _sentences(X: FloatArray, table: DimensionTable, survey: Survey) -> list[str]:
    """Return what the figures mean."""
    from isofold._findings import SHELL

    # Estimates of the whole are too low in many dimensions.
    found = table.as_dict()
    low, high = sorted(max(1, round(found[name])) for name in ("growth", "directions"))
    about = f"about {low}" if low == high else f"{low} to {high}"
    n_columns = X.shape[1]
    sentences = [
        f"Around every row the data extend in {about} of {count(n_columns, 'direction')}."
        if n_columns > 1
        else "The data have one column, so that they lie on a line."
    ]
    if low > 2:
        sentences.append(
            "A map of 2 dimensions cannot keep all distances; it can show who is near whom."
        )
    else:
        sentences.append("A map of 2 dimensions may keep distances, if the shape can lie flat.")
    # The note about the dimension repeats the estimate above.
    sentences += [note.text(SHELL) for note in survey.notes if note.code != "dimension"]
    shapes = [shape.text(SHELL) for shape in survey.raised]
    sentences += shapes or ["No shape was recognized that a flat map cannot keep."]
    return sentences


def _record(X: FloatArray, table: DimensionTable, survey: Survey) -> dict[str, Any]:
    return {
        "rows": survey.n_samples,
        "columns": X.shape[1],
        "by_growth": table.as_dict()["growth"],
        "by_directions": table.as_dict()["directions"],
        "estimates": table.as_dict(),
        "median": table.median,
        "suggested": survey.suggested_dimension,
        "pieces": [
            {"rows": part.n_samples, "dimension": float(part.dimension)} for part in survey.parts
        ],
        "copies": survey.n_copies,
        "outliers": survey.n_outliers,
        "shapes": [{"name": shape.code, "message": shape.message()} for shape in survey.raised],
    }
