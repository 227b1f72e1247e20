"""Report pages of what commands have measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from isofold.cli.files import Prepared
    from isofold.plot import Findings

__all__ = ["write_page"]


class _Named(np.ndarray[Any, Any]):
    """Values with the name of their column, which the page shows."""

    name = "label"


def write_page(
    path: Path,
    findings: Findings,
    prepared: Prepared,
    *,
    shown: Any,
    title: str,
    overwrite: bool,
) -> None:
    """Write a report page.

    Parameters
    ----------
    path : Path
        Where to.
    findings : Findings
        What was measured.
    prepared : Prepared
        The rows of the data that the map shows.
    shown : estimator or ndarray
        The fitted model, or the map of another tool.
    title : str
        Title of the page.
    overwrite : bool
        Whether a page that is there may be replaced.
    """
    from isofold.reports import make_report

    labels = None
    if prepared.labels is not None:
        labels = prepared.labels.view(_Named)
        labels.name = prepared.recipe.label or _Named.name
    models = (shown, getattr(shown, "estimator_", None))
    pieces = next((p for m in models if (p := getattr(m, "piece_", None)) is not None), None)
    page = make_report(
        findings,
        labels=labels,
        fields={**prepared.feature_fields(), **prepared.fields},
        images=prepared.images,
        title=title,
        pieces=pieces if pieces is not None and len(pieces) == len(prepared.X) else None,
        n_features=prepared.X.shape[1],
    )
    page.save(path, overwrite=overwrite)
