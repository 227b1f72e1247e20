"""Make maps by several methods and measure them all: `isofold compare`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from isofold._format import size_of
from isofold.cli.command import command, option
from isofold.cli.console import Console, aligned, clean, csv_text, current_console, put, watched
from isofold.cli.options import (
    WORK,
    NameList,
    chosen,
    data_options,
    file_argument,
    force_option,
    output_option,
    work_options,
)
from isofold.cli.peers import PEERS, silence
from isofold.embedding.catalog import BY_SHELL_NAME

if TYPE_CHECKING:
    from isofold._typing import FloatArray
    from isofold.cli.steps.method import FitOptions
    from isofold.quality import MapSummary
    from isofold.tables import Prepared

USUAL = ("auto", "pca", "isomap", "tsne", "umap")
STOPPED = "interrupted"


@dataclass(frozen=True)
class Result:
    """What became of one method.

    Attributes
    ----------
    method : str
        Its name.
    scores : MapSummary or None
        How true its map is, if it made one.
    seconds : float
        How long it took.
    n_rows : int
        Rows that it was given.
    trouble : str
        Why there is no map.
    """

    method: str
    scores: MapSummary | None
    seconds: float = 0.0
    n_rows: int = 0
    trouble: str = ""


@command(
    "compare",
    "isofold compare data.csv",
    "isofold compare data.csv --methods auto,ipa,local-mds,pca,umap,pacmap -o scores.csv",
    "isofold compare wine.csv --label quality --scale standard -d 3",
)
@file_argument("file")
@option(
    "-m", "--methods", section="Methods", type=NameList(), metavar="NAMES",
    default=",".join(USUAL), show_default=True,
    help=f"isofold: {', '.join(BY_SHELL_NAME)}; scikit-learn: pca, isomap, tsne, mds, lle, "
    f"spectral; if installed: umap, pacmap, opentsne.",
)  # fmt: skip
@option(
    "-d", "--n-components", section="Methods", type=click.IntRange(min=1), default=2,
    show_default=True, metavar="D", help="Dimensions of all maps.",
)  # fmt: skip
@output_option("-o", "--output", metavar="TABLE", text="The table as a file (.csv), too.")
@force_option
@data_options
@work_options
@option(
    "--scheduler", section=WORK, metavar="ADDRESS",
    help="Dask scheduler on whose workers methods run side by side, such as tcp://10.0.0.1:8786.",
)  # fmt: skip
def compare_command(file: Path, **options: Any) -> int:
    """Make maps by several methods and measure them all.

    Runs one method after the other with its usual settings and writes a table to standard output.
    "off by" is the median error of distances between neighbors; "rescaled" is the same after the
    map was scaled by the factor that suits it best, which is fair to methods whose maps have no
    unit. "shown" is the rescaled error between neighbors on the map, "kept" the fraction of the
    nearest neighbors that stay the nearest.
    """
    from isofold.cli.errors import ExitCode
    from isofold.cli.steps.cluster import working_at
    from isofold.cli.steps.inputs import ReadOptions, read_data
    from isofold.cli.steps.method import FitOptions
    from isofold.tables import atomic_file, check_target

    console, methods = current_console(), list(dict.fromkeys(options["methods"]))
    unknown = [name for name in methods if name not in BY_SHELL_NAME and name not in PEERS]
    if unknown:
        msg = f"There is no method {unknown[0]!r}. There are {', '.join([*BY_SHELL_NAME, *PEERS])}."
        raise click.UsageError(msg, click.get_current_context())
    if options["output"] is not None:
        check_target(options["output"], options["force"], endings=(".csv",), inputs=(file,))
    prepared = read_data(file, chosen(ReadOptions, options), console)
    fitting = chosen(FitOptions, options)
    with working_at(options["scheduler"]):
        results, is_interrupted = run_all(methods, prepared, fitting, console)
    put(table_lines(results))
    _tell_samples(results, len(prepared.X), console)
    if options["output"] is not None:
        with atomic_file(options["output"], options["force"]) as target:
            text = csv_text([_record(result) for result in results])
            target.write_text(text, encoding="utf-8")
        console.say(f"Wrote {options['output']} ({size_of(options['output'])}).")
    if is_interrupted:
        console.warn(
            f"{results[-1].method} was interrupted; methods after it were not run."
            if results[-1].trouble == STOPPED
            else "A fit was interrupted. Its figures are those of the best map that was found."
        )
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


def run_all(
    methods: list[str], prepared: Prepared, options: FitOptions, console: Console
) -> tuple[list[Result], bool]:
    """Return what became of each method: one after the other here, side by side on a cluster."""
    from isofold._parallel import ordered_map, runs_elsewhere
    from isofold._progress.stages import stage

    results: list[Result] = []
    troubles = {name: _trouble(name, prepared) for name in methods}
    run = partial(_run, prepared.X, prepared.labels, options)
    runnable = [name for name in methods if not troubles[name]]
    with watched(console) as seen, stage("compare", total=len(methods)) as steps:
        n_jobs = None if runs_elsewhere(None) else 1
        found = ordered_map(run, runnable, n_jobs=n_jobs, is_pure=True)
        for name in methods:
            if troubles[name]:
                result = Result(name, None, trouble=troubles[name])
            else:
                try:
                    with stage(f"map by {name}"):
                        result = next(found)
                except KeyboardInterrupt:
                    # What the methods before it have found is not to be lost.
                    if not any(result.scores for result in results):
                        raise
                    return [*results, Result(name, None, trouble=STOPPED)], True
            results.append(result)
            steps.advance()
    return results, seen.is_interrupted


def _trouble(name: str, prepared: Prepared) -> str:
    """Return why a method cannot run; empty if it can."""
    if name in PEERS:
        peer = PEERS[name]
        return "" if peer.is_installed else f"not installed (pip install {peer.package})"
    needs_label = BY_SHELL_NAME[name].needs_label and prepared.labels is None
    return "needs --label COLUMN" if needs_label else ""


def _run(X: FloatArray, labels: Any, options: FitOptions, name: str) -> Result:
    """Return what became of one method."""
    import numpy as np

    from isofold.cli.steps.scores import measure

    seed, jobs = options.seed, options.jobs
    most = (PEERS if name in PEERS else BY_SHELL_NAME)[name].most_rows
    rows = np.arange(len(X))
    if most is not None and len(rows) > most:
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))
    X = X if len(rows) == len(X) else X[rows]
    labels = None if labels is None else labels[rows]
    began = time.perf_counter()
    try:
        with silence():
            Y = np.asarray(_runner(name, labels, options)(X), dtype=np.float64)
        seconds = time.perf_counter() - began
        if Y.shape[0] != len(X) or not np.isfinite(Y).all():
            return Result(name, None, trouble="failed: its map has coordinates that are not finite")
        return Result(name, measure(X, Y, seed=seed, jobs=jobs), seconds, len(rows))
    except Exception as error:
        # Methods of other libraries may fail in any way.
        text = clean(" ".join(str(error).split()) or type(error).__name__)
        return Result(name, None, trouble=f"failed: {text}")


def _runner(name: str, labels: Any, options: FitOptions) -> Callable[[FloatArray], Any]:
    """Return a function that makes a map."""
    if name in PEERS:
        r = int(options.n_components)
        return lambda X: PEERS[name].run(X, r, options.seed, options.jobs)
    from isofold.cli.steps.method import make_estimator

    own = replace(options, method=name)
    estimator = make_estimator(own)
    y = labels if own.needs_label else None
    return lambda X: estimator.fit(X, y).embedding_


def table_lines(results: list[Result]) -> list[str]:
    """Return the lines of the table, then one for every method without a map."""
    from isofold._format import percent

    made = [(result, result.scores) for result in results if result.scores is not None]
    head = (
        "method",
        "off by",
        "rescaled",
        "shown",
        "kept",
        "trustworthiness",
        "continuity",
        "seconds",
    )
    rows = [
        (
            result.method,
            percent(scores.length_error),
            percent(scores.scaled_length_error),
            percent(scores.scaled_shown_length_error),
            percent(1.0 - scores.neighbor_error),
            *(
                "-" if math.isnan(figure) else f"{figure:.3f}"
                for figure in (scores.trustworthiness, scores.continuity)
            ),
            f"{result.seconds:.1f}",
        )
        for result, scores in made
    ]
    table = aligned([head, *rows], right=range(1, len(head))) if rows else []
    troubles = [f"{result.method}: {result.trouble}" for result in results if result.trouble]
    return [*table, *troubles]


def _tell_samples(results: list[Result], n_rows: int, console: Console) -> None:
    for result in results:
        if result.scores is not None and result.n_rows < n_rows:
            console.note(
                f"{result.method} was given {result.n_rows:,} of {n_rows:,} rows, drawn at random, "
                f"because all would take too long. Its figures are about these rows."
            )


def _record(result: Result) -> dict[str, Any]:
    scores = result.scores
    figures = (
        "length_error",
        "scaled_length_error",
        "trustworthiness",
        "continuity",
        "shown_length_error",
        "scaled_shown_length_error",
        "neighbor_error",
    )
    return {
        "method": result.method,
        **{name: None if scores is None else getattr(scores, name) for name in figures},
        "seconds": None if scores is None else round(result.seconds, 3),
        "rows": None if scores is None else result.n_rows,
        "trouble": result.trouble,
    }
