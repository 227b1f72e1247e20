"""Fit draws in processes of their own, which are ended when they take too long; one row a draw.

``python -m experiments.hostile.run ipa --draws 500 --seed 0 --jobs 2 --out draws.csv``; draws that
the file holds are not repeated.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import resource
import time
import warnings
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from experiments.draw_tables import append_row, numbers_in
from experiments.harness import FULL, Size, say
from experiments.hostile.draws import SIZES, Draw, make_draw
from experiments.hostile.judge import true_errors
from isofold import IPA, Unfold
from isofold._typing import IntArray

__all__ = ["COLUMNS", "METHODS", "N_DRAWS", "SEEDS", "draws_of", "results_in", "run", "run_draw"]

SEEDS, N_DRAWS = {"ipa": 2026, "unfold": 2027}, {"ipa": 500, "unfold": 200}
"""Of the report, `docs/ipa-failures.md`."""

MOST_SECONDS = 120
"""Processor time after which a fit is ended."""

MOST_WAITING = 5.0
"""The same in time of the clock, as a multiple: other work may share the machine."""

COLUMNS = (
    "method",
    "seed",
    "number",
    "family",
    "n_samples",
    "n_features",
    "n_components",
    "noise",
    "options",
    "has_truth",
    "loss",
    "floor",
    "unknown",
    "is_apart",
    "has_outliers",
    "error",
    "whole",
    "by_component",
    "wrong",
    "wrong_unmarked",
    "n_wrong_unmarked",
    "used",
    "raised",
    "doubts",
    "figures",
    "admitted",
    "estimated_error",
    "seconds",
    "exception",
)

ADMITTING = frozenset({"more_dimensions", "not_a_sheet", "disagreement", "separate"})
"""Codes of findings by which a decision admits that not all distances are true."""


def _fit_ipa(draw: Draw) -> tuple[Any, dict[str, Any]]:
    ipa = IPA(n_components=draw.n_components, random_state=0, n_jobs=1).fit(draw.X)
    return ipa, {"used": "ipa", **_diagnosis_of(ipa)}


def _fit_unfold(draw: Draw) -> tuple[Any, dict[str, Any]]:
    unfold = Unfold(n_components=draw.n_components, random_state=0, n_jobs=1).fit(draw.X)
    decision = unfold.decision_
    admitting = ADMITTING | {shape.code for shape in unfold.survey_.raised}
    admitted = [finding.code for finding in decision.findings if finding.code in admitting]
    row = _diagnosis_of(unfold.estimator_)
    return unfold, {**row, "used": decision.method, "admitted": " ".join(admitted)}


METHODS = {"ipa": _fit_ipa, "unfold": _fit_unfold}
"""Fits by name; each returns the fitted estimator and what it says of itself."""


def _diagnosis_of(model: Any) -> dict[str, Any]:
    """Return the codes of the doubts, and the figures of all that was checked."""
    checked = [finding for finding in model.diagnosis_ if not np.isnan(finding.limit)]
    return {
        "doubts": " ".join(finding.code for finding in model.diagnosis_.raised),
        "figures": " ".join(f"{finding.code}={finding.value:.3g}" for finding in checked),
        "estimated_error": getattr(model, "estimated_error_", ""),
    }


def draws_of(method: str, folder: Path, size: Size = FULL) -> None:
    """Run the draws of the report."""
    numbers = range(size.repeats(N_DRAWS[method]))
    largest = size.points(SIZES[1])
    run(method, results_in(folder, method), seed=SEEDS[method], numbers=numbers, largest=largest)


def results_in(folder: Path, method: str) -> Path:
    """Return the file of the report's draws."""
    return folder / f"hostile_{method}.csv"


def main() -> None:
    """Run the draws that a file does not hold yet."""
    parser = argparse.ArgumentParser(prog="experiments.hostile.run", description=__doc__)
    parser.add_argument("method", choices=METHODS, help="what is fitted")
    parser.add_argument("--draws", type=int, help="number of draws; as in the report")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws")
    parser.add_argument("--largest", type=int, default=SIZES[1], help="largest number of points")
    parser.add_argument("--jobs", type=int, default=1, help="draws at a time")
    parser.add_argument("--out", type=Path, required=True, help="file of comma-separated values")
    wanted = parser.parse_args()
    n_draws = N_DRAWS[wanted.method] if wanted.draws is None else wanted.draws
    numbers = range(wanted.first, wanted.first + n_draws)
    where = {"seed": wanted.seed, "numbers": numbers, "largest": wanted.largest}
    run(wanted.method, wanted.out, **where, jobs=wanted.jobs)


def run(method: str, path: Path, *, seed: int, numbers: range, largest: int, jobs: int = 1) -> None:
    """Run the draws that a file does not hold yet, and append a row for each.

    Parameters
    ----------
    method : {"ipa", "unfold"}
        What is fitted.
    path : Path
        File of comma-separated values.
    seed : int
        Seed of the draws.
    numbers : range
        Numbers of the draws.
    largest : int
        Largest number of points.
    jobs : int, default=1
        Draws at a time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    done = numbers_in(path, seed)
    wanted = [number for number in numbers if number not in done]
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_guarded, method, seed, number, largest) for number in wanted]
        try:
            for count, future in enumerate(as_completed(waiting), start=1):
                row = future.result()
                append_row(path, row, COLUMNS)
                say(f"{count} of {len(wanted)}: {row['number']} {row['family']}")
        finally:
            for future in waiting:
                future.cancel()


def _guarded(method: str, seed: int, number: int, largest: int) -> dict[str, Any]:
    """Run a draw in a process of its own, and end that if it takes too long."""
    context = mp.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(there, method, seed, number, largest))
    process.start()
    there.close()
    try:
        # An end without a word wakes the reader, too.
        row: dict[str, Any] = here.recv() if here.poll(MOST_WAITING * MOST_SECONDS) else {}
    except EOFError:
        row = {}
    finally:
        process.kill()
        process.join()
        here.close()
    if not row:
        draw = make_draw(seed, number, largest=largest)
        text = f"Ended after {MOST_SECONDS} s, or died (exit code {process.exitcode})"
        row = {**_head(method, draw), "exception": text, "seconds": MOST_SECONDS}
    return row


def _work(to: Connection, method: str, seed: int, number: int, largest: int) -> None:
    draw = make_draw(seed, number, largest=largest)
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + MOST_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    to.send(run_draw(method, draw))


def run_draw(method: str, draw: Draw) -> dict[str, Any]:
    """Fit a draw and return its row.

    Parameters
    ----------
    method : {"ipa", "unfold"}
        What is fitted.
    draw : Draw
        The draw.

    Returns
    -------
    dict
        The values of the columns. What was raised is in the column "exception", if anything was.
    """
    row = _head(method, draw)
    begin = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model, found = METHODS[method](draw)
    except Exception as exception:  # the study goes on, and reports it
        text = f"{type(exception).__name__}: {exception}"
        return {**row, "exception": text, "seconds": time.process_time() - begin}
    row["seconds"] = time.process_time() - begin
    row["raised"] = " ".join(dict.fromkeys(w.category.__name__ for w in caught))
    fitted = getattr(model, "estimator_", model)
    errors = true_errors(
        draw,
        model.embedding_,
        components=_components(model, fitted, len(draw.X)),
        outliers=_samples(fitted, "outliers_", len(draw.X)),
    )
    return {**row, **found, **vars(errors)}


def _components(model: Any, fitted: Any, n: int) -> IntArray | None:
    """Return the component of every sample, if the method said that there are several."""
    component = _samples(fitted, "component_", n)
    if component is not None and component.max() > 0:
        return component
    if hasattr(model, "decision_") and model.decision_.evidence.get("components", 1.0) > 1.0:
        # Said, but not which: only true components can be judged by themselves.
        return np.zeros(n, dtype=np.intp)
    return None


def _samples(fitted: Any, name: str, n: int) -> Any:
    """Return an attribute if it has a value for every sample."""
    values = getattr(fitted, name, None)
    return values if values is not None and len(values) == n else None


def _head(method: str, draw: Draw) -> dict[str, Any]:
    """Return what is known of a draw before it is fitted."""
    row = {name: getattr(draw, name) for name in COLUMNS if hasattr(draw, name)}
    options = {key: _plain(value) for key, value in draw.options.items()}
    n_samples, n_features = draw.X.shape
    return {
        **row,
        "method": method,
        "options": str(options),
        "n_samples": n_samples,
        "n_features": n_features,
    }


def _plain(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main()
