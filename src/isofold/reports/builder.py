"""The report page of a map: one HTML file that shows it, says what was lost and can be explored."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import numpy as np

import isofold
from isofold._files import atomic_file, check_path
from isofold._progress.stages import stage
from isofold._typing import IntArray
from isofold._validation import check_points
from isofold.assessment import Assessment, DensityTiles, assess
from isofold.assessment.models import component_of_samples, embedding_of
from isofold.plot.palette import CLASSES_DARK, CLASSES_LIGHT, SEQUENTIAL
from isofold.reports import sections
from isofold.reports.density import check_density
from isofold.reports.packing import Packer
from isofold.reports.page import fill_template, policy, read_asset, read_script
from isofold.reports.painter import charts
from isofold.reports.payload import fill
from isofold.reports.text import json_for_script, markup
from isofold.reports.thumbnails import check_images
from isofold.similarity.objects import is_table
from isofold.tables.page_columns import PageColumn, read_column, read_columns, unique_name
from isofold.tables.text_safety import plain

__all__ = ["Report", "make_report", "report"]

NOTEBOOK_BYTES = 25_000_000
"""Pages up to this size are shown in notebooks, which keep all that they show."""

FRAME_HEIGHT = 900


class Report:
    """A report page.

    Parameters
    ----------
    html : str
        The whole page: one file that works offline.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def __repr__(self) -> str:
        return f"Report of {len(self.html) / 1e6:.1f} MB; save it with .save(path)"

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Write the page to a file, as a whole or not at all."""
        with atomic_file(path, overwrite=overwrite) as target:
            target.write_text(self.html, encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        if len(self.html) > NOTEBOOK_BYTES:
            return f"<p>{markup(repr(self))}: it is too large to be kept in a notebook.</p>"
        # A frame of its own: scripts of the page cannot reach the notebook.
        return (
            f'<iframe title="isofold report" sandbox="allow-scripts allow-downloads allow-popups" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0" '
            f'srcdoc="{escape(self.html, quote=True)}"></iframe>'
        )


def report(
    X: Any,
    embedding: Any,
    path: Any = None,
    *,
    labels: Any = None,
    fields: Any = None,
    images: Any = None,
    density: DensityTiles | None = None,
    title: str | None = None,
    metric: str = "euclidean",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Report:
    """Make a page that shows a map, says what was kept and lost, and can be explored.

    The page is one HTML file without any request to the network. Points can be colored by label, by
    any field and by their distortion; a click shows the true neighbors of a point, a lasso exports
    rows. All texts are shown as text, whatever they contain.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The data, or their distances with ``metric="precomputed"``.
    embedding : fitted estimator or array-like of shape (n_points, n_components)
        The map, by isofold or by anyone else.
    path : str or path-like or None, default=None
        Where to save the page, if anywhere. A file that is there already is not replaced: see
        `Report.save`.
    labels : array-like of shape (n_points,) or None, default=None
        Classes or quantities by which the map is colored at first; else it is by distortion.
    fields : mapping of column names to arrays of shape (n_points,), or DataFrame, default=None
        What else is known of the rows.
    images : array-like of shape (n_points, height, width[, 3]) or None, default=None
        Pictures of the rows.
    density : DensityTiles or None, default=None
        How many of all rows lie where on the map, if the rows of `X` are a sample of too many to
        be shown as points. See `isofold.assessment.DensityTiles`.
    title : str or None, default=None
        Title of the page.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    random_state : int, RandomState or None, default=0
        Source of samples, where not everything can be measured or kept.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention.

    Returns
    -------
    Report
        The page; it shows itself in a notebook.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.reports import report
    >>> grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    >>> page = report(grid, grid, labels=grid[:, 0] > 3, title="A grid")
    >>> "You can measure distances between neighbors" in page.html
    True

    Of many rows, points are a sample, and the density counts all:

    >>> from isofold.assessment import DensityFrame, DensityTiles
    >>> rows = np.random.default_rng(0).uniform(0.0, 7.0, size=(50_000, 2))
    >>> tiles = DensityTiles.of(rows, DensityFrame((0.0, 0.0), (7.0, 7.0), side=256))
    >>> "50,000 rows of 2 dimensions" in report(grid, grid, density=tiles).html
    True
    """
    if path is not None:
        # Before the work, which may take minutes.
        check_path(path, overwrite=False, permission="report(...).save(path, overwrite=True)")
    is_model = hasattr(embedding, "fit")
    Y = check_points(embedding_of(embedding) if is_model else embedding, name="embedding")
    components = component_of_samples(embedding) if is_model else None
    # Before the measures, too: a wrong length should not cost an hour.
    columns = _all_columns(len(Y), labels, fields=fields, components=components)
    pictures = None if images is None else check_images(images, len(Y))
    if density is not None:
        check_density(density, Y)
    known = assess(X, embedding, metric=metric, random_state=random_state, n_jobs=n_jobs)
    known = replace(known, density=density)
    is_points = metric != "precomputed" and is_table(X)
    n_features = int(np.shape(X)[1]) if is_points else None
    page = _page(known, columns, pictures, title, n_features, random_state, labels is not None)
    if path is not None:
        page.save(path)
    return page


def make_report(
    assessment: Assessment,
    *,
    labels: Any = None,
    label_name: str | None = None,
    fields: Any = None,
    images: Any = None,
    title: str | None = None,
    components: Any = None,
    n_features: int | None = None,
    row_numbers: IntArray | None = None,
    random_state: Any = 0,
) -> Report:
    """Make the page of a map that was measured already."""
    n = len(assessment.embedding)
    if assessment.density is not None:
        check_density(assessment.density, assessment.embedding)
    columns = _all_columns(n, labels, fields=fields, components=components, label_name=label_name)
    pictures = None if images is None else check_images(images, n)
    has_label = labels is not None
    return _page(
        assessment, columns, pictures, title, n_features, random_state, has_label, row_numbers
    )


def _all_columns(
    n_points: int, labels: Any, *, fields: Any, components: Any, label_name: str | None = None
) -> list[PageColumn]:
    """Return labels, fields and components as columns, each under a name of its own."""
    columns = []
    if labels is not None:
        name = plain(label_name or getattr(labels, "name", None) or "label").strip() or "label"
        columns.append(read_column(labels, n_points, name=name, is_label=True))
    columns += read_columns(fields, n_points, taken=[column.name for column in columns])
    if components is not None:
        name = unique_name("component", {column.name for column in columns})
        columns.append(read_column(np.asarray(components).astype(str), n_points, name=name))
    return columns


def _page(
    assessment: Assessment,
    columns: list[PageColumn],
    images: Any,
    title: str | None,
    n_features: int | None,
    random_state: Any,
    has_label: bool,  # noqa: FBT001 - internal
    row_numbers: IntArray | None = None,
) -> Report:
    """Return the page made of its parts."""
    with stage("write the page"):
        packer = Packer()
        manifest, notes = fill(
            packer, assessment, columns, images=images, random_state=random_state
        )
        manifest["hasLabel"] = has_label
        if row_numbers is not None:
            manifest["numbers"] = packer.add_array(row_numbers.astype(np.int32))
        manifest["palette"] = {
            "light": CLASSES_LIGHT,
            "dark": CLASSES_DARK,
            "sequential": SEQUENTIAL,
        }
        origin, dims = assessment.origin, assessment.embedding.shape[1]
        style, theme_script, script = read_asset("page.css"), read_asset("theme.js"), read_script()
        parts = {
            "policy": markup(policy((theme_script, script), style), 1000),
            "version": markup(isofold.__version__),
            "title": markup(title or f"Map by {origin.method}"),
            "subject": sections.subject(assessment, n_features),
            "verdict": sections.verdict(assessment),
            "badges": sections.badges(assessment),
            "doubts": sections.doubts(assessment),
            "findings": sections.findings(assessment),
            "decision": sections.decision(assessment),
            "axes": sections.axis_choice(dims),
            "layers": sections.layer_choice(assessment),
            "density_panel": sections.density_panel(assessment),
            "shape": sections.shape(assessment.embedding),
            "scale_text": sections.scale_text(dims),
            "notes": sections.notes(notes),
            "charts": charts(assessment),
            "scorecard": sections.scorecard(assessment),
            "certificate": sections.certificate(assessment),
            "again": sections.again(assessment, has_numbers=row_numbers is not None),
            "manifest": json_for_script(manifest),
            "blocks": packer.html(),
            "style": style,
            "theme_script": theme_script,
            "script": script,
        }
        return Report(fill_template(read_asset("page.html"), parts))
