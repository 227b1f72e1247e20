"""From data to a map and its files: the steps of `embed`, which `demo` takes too."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from isofold._findings import SHELL, Diagnosis, Severity
from isofold._format import count, duration
from isofold._typing import SeenMetric
from isofold.cli.console import Console, Watched, following, watched
from isofold.cli.errors import USER_ERRORS, ExitCode, explain
from isofold.cli.steps.method import FitOptions, make_estimator
from isofold.cli.steps.outputs import Outputs, write_map
from isofold.embedding.catalog import BY_SHELL_NAME

if TYPE_CHECKING:
    from isofold.tables import Prepared

__all__ = ["NOTES", "PageWriter", "finish_map", "make_map", "model_notes", "table_notes"]

NOTES = "isofold embed"
"""Name under which a saved model remembers its table."""

PREPROCESSING = "recipe"
"""Name under which model files hold the preprocessing."""

QUALITY, LOST_DISTANCES, INTERRUPTED = "quality", "lost_distances", "interrupted"
"""Findings of a decision that are shown apart: in the table of scores, and as the last warning."""


class PageWriter(Protocol):
    """Writes the page of a map, as `write_page` does."""

    def __call__(
        self,
        path: Path,
        assessment: Any,
        prepared: Prepared,
        *,
        file: Path,
        shown: Any,
        title: str,
        overwrite: bool,
    ) -> None:
        """Write it."""
        ...


def make_map(
    source: Path,
    prepared: Prepared,
    options: FitOptions,
    *,
    outputs: Outputs,
    console: Console,
) -> int:
    """Fit a method, say how true its map is, and write what was requested."""
    from isofold.tables import check_map_rows

    began = time.perf_counter()
    if outputs.map is not None:
        check_map_rows(outputs.map, prepared.rows)
    model = make_estimator(options, metric=prepared.metric)
    with watched(console) as seen:
        model.fit(_seen_by(model, prepared), prepared.labels if options.needs_label else None)
    # At once: nothing that happens from here on may cost the user a finished fit.
    _write(source, prepared, model, options.seed, outputs)
    return finish_map(
        source, prepared, model, seen, options, outputs=outputs, console=console, began=began
    )


def finish_map(
    source: Path,
    prepared: Prepared,
    model: Any,
    seen: Watched,
    options: FitOptions,
    *,
    outputs: Outputs,
    console: Console,
    began: float,
    page: PageWriter | None = None,
) -> int:
    """Say how a map was made that is written, how true it is, and what there is to know."""
    _tell_method(model, options.method, console)
    written, code = outputs, ExitCode.DONE
    try:
        _judge(source, prepared, model, seen, options, outputs=outputs, console=console, page=page)
    except (KeyboardInterrupt, Exception) as error:
        written = replace(outputs, page=None)
        if written.is_empty:
            raise
        code = _tell_unmeasured(error, outputs, console)
    decided = model.decision_.findings if options.method == "auto" else ()
    _tell_findings(model.diagnosis_, seen, console, {finding.code for finding in decided})
    console.say()
    console.head(f"Wrote, after {duration(time.perf_counter() - began)}:")
    console.table(written.described(), right=(1,))
    if seen.is_interrupted:
        return ExitCode.INTERRUPTED
    is_refused = options.strict and not model.diagnosis_.is_sound
    return code or (ExitCode.DOUBTFUL if is_refused else ExitCode.DONE)


def _seen_by(model: Any, prepared: Prepared) -> Any:
    """Return what a model is fitted to: points, distances, or a kernel if it takes no distances."""
    if prepared.metric == "euclidean" or hasattr(model, "metric"):
        return prepared.X
    from isofold.similarity import kernel_from_distances

    return kernel_from_distances(prepared.X) if prepared.kernel is None else prepared.kernel


def table_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `isofold embed` noted in a model file, which is not trusted."""
    ours = notes.get(NOTES)
    if not isinstance(ours, dict) or PREPROCESSING not in ours:
        return {}
    limit = ours.get("far_limit")
    if not isinstance(limit, float) or not math.isfinite(limit):
        limit = None
    return {"preprocessing": ours[PREPROCESSING], "far_limit": limit}


def _tell_method(model: Any, method: str, console: Console) -> None:
    """Say what was done to the data."""
    console.say()
    if method == "auto":
        console.head("What was found and done")
        for finding in model.decision_.findings:
            is_shown = finding.severity is not Severity.CHECKED
            if is_shown and finding.code not in (QUALITY, LOST_DISTANCES):
                console.say(finding.text(SHELL), indent="  ")
    else:
        dimensions = count(model.embedding_.shape[1], "dimension")
        title = BY_SHELL_NAME[method].title
        console.say(f"Made a map of {dimensions} by {title} ({method}).")
    console.say()


def _tell_findings(
    diagnosis: Diagnosis, seen: Watched, console: Console, explained: set[str]
) -> None:
    """Say what to doubt and what to know; what a decision has explained is not said again."""
    # Of an interruption the console has heard already.
    raised = [finding for finding in diagnosis.raised if finding.code != INTERRUPTED]
    doubts = [finding.text(SHELL) for finding in raised if finding.code not in explained]
    notes = [finding.text(SHELL) for finding in diagnosis.notes if finding.code not in explained]
    if LOST_DISTANCES in explained & diagnosis.codes:
        doubts = [diagnosis[LOST_DISTANCES].text(SHELL), *doubts]
    elif explained & diagnosis.codes:
        doubts = ["Parts of this map are doubtful, for the reasons above.", *doubts]
    doubts += [seen.interruption] if seen.is_interrupted else []
    notes += seen.notes
    if doubts or notes:
        console.say()
    for text in doubts:
        console.warn(text)
    for text in notes:
        console.note(text)


def _judge(
    source: Path,
    prepared: Prepared,
    model: Any,
    seen: Watched,
    options: FitOptions,
    *,
    outputs: Outputs,
    console: Console,
    page: PageWriter | None,
) -> None:
    """Say how true the map is, and write the page if one is requested."""
    from isofold.assessment.measure import compared_distances
    from isofold.cli.steps.scores import measure, tell_scores

    seed, jobs = options.seed, options.jobs
    if outputs.page is None:
        with following(console):
            metric: SeenMetric = prepared.metric
            data = prepared.X
            # Objects were compared already.
            compared = None if metric == "precomputed" else compared_distances(model, data)
            if compared is not None:
                data, metric = compared, "precomputed"
            scores = measure(data, model.embedding_, seed=seed, jobs=jobs, metric=metric)
        tell_scores(console, scores)
        return
    from isofold import assess
    from isofold.cli.steps.pages import write_page

    with following(console):
        assessment = assess(
            prepared.X,
            model,
            metric=prepared.metric,
            warnings=seen.messages,
            random_state=seed,
            n_jobs=jobs,
        )
    tell_scores(console, assessment.card.summary)
    with following(console):
        (page or write_page)(
            outputs.page,
            assessment,
            prepared,
            file=source,
            shown=model,
            title=source.name,
            overwrite=outputs.force,
        )


def _tell_unmeasured(error: BaseException, outputs: Outputs, console: Console) -> int:
    """Say why a map, which is kept, has no figures or no page; return the exit code."""
    text, code = explain(error, console)
    if outputs.page is not None:
        console.warn(f"The page was not written, but the files listed below were. {text}")
        return code
    if code == ExitCode.BAD_INPUT:
        # All that was requested is there.
        console.note(f"How true the map is could not be measured. {text}")
        return ExitCode.DONE
    console.warn(f"How true the map is was not measured. {text}")
    return code


def _write(source: Path, prepared: Prepared, model: Any, seed: int, outputs: Outputs) -> None:
    """Write map and model, each of them whole or not at all."""
    from isofold.storage import save

    if outputs.map is not None:
        write_map(
            outputs.map,
            model.embedding_,
            prepared,
            file=source,
            model=model,
            distortion=getattr(model, "distortion_", None),
            overwrite=outputs.force,
        )
    if outputs.model is not None:
        notes = model_notes(source, prepared, model, seed)
        save(model, outputs.model, notes=notes, overwrite=outputs.force)


def model_notes(source: Path, prepared: Prepared, model: Any, seed: int) -> dict[str, Any]:
    """Return what a saved model must remember to read other files as it read this one."""
    from isofold.extension.out_of_range import far_limit

    try:
        limit = far_limit(model, prepared.X, seed=seed)
    except USER_ERRORS:
        # Good to know, but no reason to lose the model.
        limit = None
    return {
        NOTES: {
            "file": source.name,
            PREPROCESSING: prepared.preprocessing.to_json(),
            "far_limit": limit,
        }
    }
