"""From data to a map and its files: the steps of `embed`, which `demo` takes too."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isofold._format import count, duration, percent, size_of
from isofold.cli.console.console import Console
from isofold.cli.console.watch import Watched, following, watched
from isofold.cli.main import USER_ERRORS, ExitCode, explain
from isofold.cli.methods import METHODS, errors_in_options, in_options, make_estimator
from isofold.cli.options import read_settings
from isofold.exceptions import InvalidInputError

if TYPE_CHECKING:
    from isofold.tables import Prepared

__all__ = ["NOTES", "Outputs", "estimator_of", "make_map", "table_notes"]

NOTES = "isofold embed"
"""Name under which a saved model remembers its table."""

# A sentence of a decision that the scores say again.
_SCORES_SENTENCE = "How true it is:"


@dataclass(frozen=True)
class Outputs:
    """The files that a command writes.

    Attributes
    ----------
    map, model, page : Path or None
        Coordinates, saved model and report page.
    force : bool
        Whether files that are there may be overwritten.
    """

    map: Path | None
    model: Path | None
    page: Path | None
    force: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked for."""
        return self.map is None and self.model is None and self.page is None

    def described(self) -> list[tuple[str, str, str]]:
        """Return name, size and use of the files that were written."""
        uses = (
            (self.map, "the map"),
            (self.model, "the model, for isofold transform"),
            (self.page, "the page: open it in a browser"),
        )
        return [(str(path), size_of(path), use) for path, use in uses if path is not None]

    def check(self, *inputs: Path) -> None:
        """Refuse files that cannot be written, before any work is done."""
        from isofold.tables import MAP_ENDINGS, check_target

        seen: set[Path] = set()
        for path, endings in ((self.map, MAP_ENDINGS), (self.model, ".iso"), (self.page, ".html")):
            if path is None:
                continue
            kinds = (endings,) if isinstance(endings, str) else endings
            check_target(path, self.force, endings=kinds, inputs=inputs)
            if path.resolve() in seen:
                msg = f"{path} is named twice: every output needs a file of its own."
                raise InvalidInputError(msg)
            seen.add(path.resolve())


def make_map(
    source: Path,
    prepared: Prepared,
    options: Mapping[str, Any],
    *,
    outputs: Outputs,
    console: Console,
) -> int:
    """Fit a method, say how true its map is, and write what was asked for."""
    from isofold.tables import check_map_rows

    began = time.perf_counter()
    if outputs.map is not None:
        check_map_rows(outputs.map, prepared.rows)
    model = estimator_of(options)
    with watched(console) as seen, errors_in_options():
        model.fit(prepared.X, prepared.labels if METHODS[options["method"]].needs_label else None)
    # At once: nothing that happens from here on may cost the user a finished fit.
    _write(source, prepared, model, options, outputs)
    doubts = _own_words(model, seen)
    _tell_method(model, options["method"], console)
    written, code = outputs, ExitCode.DONE
    try:
        _judge(source, prepared, model, seen, options, outputs=outputs, console=console)
    except (KeyboardInterrupt, Exception) as error:
        written = replace(outputs, page=None)
        if written.is_empty:
            raise
        code = _tell_unmeasured(error, outputs, console)
    if doubts or seen.notes:
        console.say()
    for text in doubts:
        console.warn(in_options(text))
    for text in seen.notes:
        console.note(in_options(text))
    console.say()
    console.head(f"Wrote, after {duration(time.perf_counter() - began)}:")
    console.table(written.described(), right=(1,))
    if seen.is_interrupted:
        return ExitCode.INTERRUPTED
    return code or (ExitCode.DOUBTFUL if doubts and options.get("strict") else ExitCode.DONE)


def estimator_of(options: Mapping[str, Any]) -> Any:
    """Return the estimator that the options describe."""
    return make_estimator(
        options["method"],
        n_components=options["n_components"],
        n_neighbors=options.get("n_neighbors"),
        max_seconds=options.get("max_seconds"),
        seed=options["seed"],
        jobs=options["jobs"],
        settings=read_settings(options.get("settings") or ()),
    )


def table_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `isofold embed` noted in a model, which may come from a stranger."""
    ours = notes.get(NOTES)
    if not isinstance(ours, dict) or "recipe" not in ours:
        return {}
    limit = ours.get("far_limit")
    if not isinstance(limit, float) or not math.isfinite(limit):
        limit = None
    return {"recipe": ours["recipe"], "far_limit": limit}


def _tell_method(model: Any, method: str, console: Console) -> None:
    """Say what was done to the data."""
    console.say()
    if method == "auto":
        console.head("What was seen and done")
        for sentence in model.decision_.reasons:
            if not sentence.startswith(_SCORES_SENTENCE):
                console.say(in_options(sentence), indent="  ")
        console.say()
        return
    r = model.embedding_.shape[1]
    console.say(f"Made a map of {count(r, 'dimension')} by {METHODS[method].words} ({method}).")
    console.say()


def _own_words(model: Any, seen: Watched) -> list[str]:
    """Return the doubts of a fit; what a decision has told already is not told twice."""
    decision = getattr(model, "decision_", None)
    if decision is None:
        return seen.doubts
    summary = " ".join(decision.summary().split())
    others = [text for text in seen.doubts if not text.startswith(summary)]
    if len(others) == len(seen.doubts):
        return others
    if decision.quality.length_error > model.tolerance:
        told = (
            f"This map does not keep distances: those between neighbors are off by more than "
            f"{percent(model.tolerance)}. Read it as a picture of who is near whom."
        )
    else:
        told = "Parts of this map are doubtful, for the reasons above."
    return [told, *others]


def _judge(
    source: Path,
    prepared: Prepared,
    model: Any,
    seen: Watched,
    options: Mapping[str, Any],
    *,
    outputs: Outputs,
    console: Console,
) -> None:
    """Say how true the map is, and write the page if one is wanted."""
    from isofold.cli.scores import measure, scores_of, tell_scores

    jobs = options["jobs"]
    if outputs.page is None:
        with following(console):
            scores = measure(prepared.X, model.embedding_, seed=options["seed"], jobs=jobs)
        tell_scores(console, scores)
        return
    from isofold import assess
    from isofold.cli.steps.pages import write_page

    with following(console):
        assessment = assess(
            prepared.X, model, warnings=seen.notes, random_state=options["seed"], n_jobs=jobs
        )
    tell_scores(console, scores_of(assessment.card))
    with following(console):
        write_page(
            outputs.page,
            assessment,
            prepared,
            shown=model,
            title=source.name,
            overwrite=outputs.force,
        )


def _tell_unmeasured(error: BaseException, outputs: Outputs, console: Console) -> int:
    """Say why a map, which is kept, has no figures or no page; return the exit code."""
    words, code = explain(error, console)
    if outputs.page is not None:
        console.warn(f"The page was not written, but what is listed below was. {words}")
        return code
    if code == ExitCode.BAD_INPUT:
        # All that was asked for is there.
        console.note(f"How true the map is could not be measured. {words}")
        return ExitCode.DONE
    console.warn(f"How true the map is was not measured. {words}")
    return code


def _write(
    source: Path, prepared: Prepared, model: Any, options: Mapping[str, Any], outputs: Outputs
) -> None:
    """Write map and model, each of them whole or not at all."""
    from isofold.storage import save
    from isofold.tables import write_embedding

    if outputs.map is not None:
        write_embedding(
            outputs.map,
            model.embedding_,
            rows=prepared.rows,
            labels=prepared.labels,
            label_name=options.get("label") or "label",
            distortion=getattr(model, "distortion_", None),
            overwrite=outputs.force,
        )
    if outputs.model is not None:
        save(
            model,
            outputs.model,
            notes=_notes(source, prepared, model, options),
            overwrite=outputs.force,
        )


def _notes(
    source: Path, prepared: Prepared, model: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a saved model must remember to read other files as it read this one."""
    from isofold.extension.out_of_range import far_limit

    try:
        limit = far_limit(model, prepared.X, seed=options["seed"])
    except USER_ERRORS:
        # Good to know, but no reason to lose the model.
        limit = None
    return {
        NOTES: {
            "file": source.name,
            "recipe": prepared.recipe.to_json(),
            "far_limit": limit,
        }
    }
