"""Report pages of what commands have measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isofold.assessment import Assessment
    from isofold.tables import Prepared

__all__ = ["write_page"]


def write_page(
    path: Path,
    assessment: Assessment,
    prepared: Prepared,
    *,
    file: Path,
    shown: Any,
    title: str,
    overwrite: bool,
) -> None:
    """Write a report page of a map of a file."""
    from isofold.assessment.models import component_of_samples
    from isofold.reports import make_report

    page = make_report(
        _with_source(assessment, prepared, file),
        labels=prepared.labels,
        label_name=prepared.preprocessing.label,
        fields={**_names(prepared), **prepared.feature_fields(), **prepared.fields},
        images=prepared.images,
        title=title,
        components=component_of_samples(shown) if hasattr(shown, "fit") else None,
        n_features=prepared.X.shape[1] if prepared.metric == "euclidean" else None,
        row_numbers=prepared.rows if len(prepared.rows) < prepared.n_rows else None,
    )
    page.save(path, overwrite=overwrite)


def _names(prepared: Prepared) -> dict[str, list[str]]:
    """Return what objects are called, unless a column has that name."""
    return {"name": list(prepared.names)} if prepared.names else {}


def _with_source(assessment: Assessment, prepared: Prepared, file: Path) -> Assessment:
    """Return an assessment whose code tells what of a file was mapped, where it could be more."""
    from isofold._format import count
    from isofold.tables.text_safety import quoted

    key, origin = prepared.preprocessing.key, assessment.origin
    if prepared.comparison is not None:
        line = f"# X: {prepared.comparison} of {quoted(file.name)[1:-1]}"
    elif key is not None:
        columns = count(prepared.X.shape[1], "column")
        line = f"# X: {columns} of {quoted(key)[1:-1]} in {quoted(file.name)[1:-1]}"
    else:
        return assessment
    return replace(assessment, origin=replace(origin, code=(line, *origin.code)))
