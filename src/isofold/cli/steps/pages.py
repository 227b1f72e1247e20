"""Report pages of what commands have measured."""

from __future__ import annotations

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
    shown: Any,
    title: str,
    overwrite: bool,
) -> None:
    """Write a report page."""
    from isofold.assessment.models import component_of_samples
    from isofold.reports import make_report

    page = make_report(
        assessment,
        labels=prepared.labels,
        label_name=prepared.preprocessing.label,
        fields={**prepared.feature_fields(), **prepared.fields},
        images=prepared.images,
        title=title,
        components=component_of_samples(shown) if hasattr(shown, "fit") else None,
        n_features=prepared.X.shape[1],
        row_numbers=prepared.rows if len(prepared.rows) < prepared.n_rows else None,
    )
    page.save(path, overwrite=overwrite)
