"""The files that a command writes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isofold._format import size_of
from isofold.exceptions import InvalidInputError

if TYPE_CHECKING:
    from isofold._typing import FloatArray
    from isofold.tables import Prepared

__all__ = ["Outputs", "write_map"]


@dataclass(frozen=True)
class Outputs:
    """The files that a command writes.

    Attributes
    ----------
    map, model, page : Path or None
        Coordinates, saved model and report page.
    force : bool
        Whether existing files may be overwritten.
    """

    map: Path | None = None
    model: Path | None = None
    page: Path | None = None
    force: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was requested."""
        return self.map is None and self.model is None and self.page is None

    def described(self) -> list[tuple[str, str, str]]:
        """Return name, size and use of the files that were written."""
        is_copy = self.map is not None and _is_copy(self.map)
        uses = (
            (self.map, "the data with the map in obsm" if is_copy else "the map"),
            (self.model, "the model, for isofold transform"),
            (self.page, "the page: open it in a browser"),
        )
        return [(str(path), size_of(path), use) for path, use in uses if path is not None]

    def check(self, *inputs: Path) -> None:
        """Refuse files that cannot be written, before any work; the data file is the last input."""
        from isofold.tables import ANNOTATED_ENDING, MAP_ENDINGS, check_annotated, check_target

        self._check_all((*MAP_ENDINGS, ANNOTATED_ENDING), inputs, check_target)
        if self.map is not None and _is_copy(self.map):
            check_annotated(self.map, inputs[-1])

    def check_streamed(self, *inputs: Path, is_ours: Callable[[Path], bool]) -> None:
        """Refuse files that cannot be written block by block, unless an earlier run did it."""
        from isofold.blocks.write import check_written
        from isofold.tables import check_target
        from isofold.tables.map_files import STREAMED_ENDINGS
        from isofold.tables.write import PERMISSION

        def check(path: Path, force: bool, *, endings: Any, inputs: Any) -> None:  # noqa: FBT001
            overwrite = force or is_ours(path)
            if path.suffix.lower() == ".zarr" and ".zarr" in endings:
                check_written(path, overwrite=overwrite, inputs=inputs, permission=PERMISSION)
            else:
                check_target(path, overwrite, endings=endings, inputs=inputs)

        self._check_all(STREAMED_ENDINGS, inputs, check)

    def _check_all(
        self, map_endings: tuple[str, ...], inputs: tuple[Path, ...], check: Callable[..., Any]
    ) -> None:
        seen: set[Path] = set()
        kinds = ((self.map, map_endings), (self.model, (".iso",)), (self.page, (".html",)))
        for path, endings in kinds:
            if path is None:
                continue
            check(path, self.force, endings=endings, inputs=inputs)
            if path.resolve() in seen:
                msg = f"{path} is named twice: every output needs a file of its own."
                raise InvalidInputError(msg)
            seen.add(path.resolve())


def write_map(
    path: Path,
    Y: FloatArray,
    prepared: Prepared,
    *,
    file: Path,
    model: Any,
    overwrite: bool,
    distortion: Any = None,
) -> None:
    """Write a map of a file, or a copy of the file with the map in it."""
    from isofold.tables import write_annotated, write_embedding

    if _is_copy(path):
        write_annotated(
            path,
            Y,
            source=file,
            rows=prepared.rows,
            n_rows=prepared.n_rows,
            about=_about(model, prepared),
            overwrite=overwrite,
        )
        return
    write_embedding(
        path,
        Y,
        rows=prepared.rows,
        labels=prepared.labels,
        label_name=prepared.preprocessing.label or "label",
        names=prepared.names,
        distortion=distortion,
        overwrite=overwrite,
    )


def _is_copy(path: Path) -> bool:
    """Return whether a map is written into a copy of its data."""
    from isofold.tables import ANNOTATED_ENDING

    return path.suffix.lower() == ANNOTATED_ENDING


def _about(model: Any, prepared: Prepared) -> dict[str, str]:
    """Return what a file tells about its map: how it was made, and the findings as JSON."""
    import isofold
    from isofold._findings import Diagnosis, Severity
    from isofold.assessment.origin import describe_origin

    origin = describe_origin(model)
    findings = [
        {
            "code": finding.code,
            "severity": finding.severity.value,
            "value": finding.value if math.isfinite(finding.value) else None,
            "limit": finding.limit if math.isfinite(finding.limit) else None,
            "text": finding.text(),
        }
        for finding in getattr(model, "diagnosis_", Diagnosis())
        if finding.severity is not Severity.CHECKED
    ]
    return {
        "version": isofold.__version__,
        "matrix": prepared.preprocessing.key or "",
        "method": origin.method,
        "parameters": json.dumps(dict(origin.parameters)),
        "findings": json.dumps(findings),
    }
