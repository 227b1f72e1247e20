"""The files that a command writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isofold._format import size_of
from isofold.exceptions import InvalidInputError

__all__ = ["Outputs"]


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
        kinds = ((self.map, MAP_ENDINGS), (self.model, (".iso",)), (self.page, (".html",)))
        for path, endings in kinds:
            if path is None:
                continue
            check_target(path, self.force, endings=endings, inputs=inputs)
            if path.resolve() in seen:
                msg = f"{path} is named twice: every output needs a file of its own."
                raise InvalidInputError(msg)
            seen.add(path.resolve())
