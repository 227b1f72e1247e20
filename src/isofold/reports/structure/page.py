"""The page of a structure: one HTML file that works offline."""

from __future__ import annotations

from typing import Any

import isofold
from isofold._files import check_path
from isofold._progress.stages import stage
from isofold._validation import check_points
from isofold.exceptions import InvalidInputError
from isofold.plot.palette import CLASSES_DARK, CLASSES_LIGHT, SEQUENTIAL
from isofold.reports.builder import Report
from isofold.reports.packing import Packer
from isofold.reports.page import fill_template, policy, read_asset, read_script
from isofold.reports.sections import doubt_box, note_box, notes
from isofold.reports.structure import sections
from isofold.reports.structure.payload import fill_structure
from isofold.reports.structure.superposition import superimpose
from isofold.reports.structure.view import StructureView, read_view
from isofold.reports.text import json_for_script, markup
from isofold.structure import Structure

__all__ = ["structure_report"]

SCRIPTS = (
    "decode",
    "format",
    "parts",
    "view",
    "colors",
    "legend",
    "pointer",
    "structure/scene",
    "structure/paint",
    "structure/overlay",
    "structure/panels",
    "structure/keys",
    "structure/main",
)
"""Parts of the viewer, in the order in which they need each other."""

MOST_DIMENSIONS = 3


def structure_report(
    structure: Structure,
    path: Any = None,
    *,
    view: StructureView | None = None,
    title: str | None = None,
) -> Report:
    """Make a page that shows a structure in space and says what of it can be relied upon.

    The page is one HTML file without any request to the network. The structure can be rotated,
    compared with a reference, and colored by element, rigid cluster, error or violation. Violated
    distances are drawn, what is not determined is marked, and every figure is explained. All texts
    are shown as text, whatever they contain.

    Parameters
    ----------
    structure : Structure
        What was found: molecule, linkage or sensor network in up to three dimensions.
    path : str or path-like or None, default=None
        Where to save the page, if anywhere. A file that is there already is not replaced: see
        `Report.save`.
    view : StructureView or None, default=None
        Bonds, elements, names, a reference, and what else is to be shown.
    title : str or None, default=None
        Title of the page.

    Returns
    -------
    Report
        The page; it shows itself in a notebook.

    Raises
    ------
    InvalidInputError
        If the view does not belong to the structure, or it has more than three dimensions.

    Notes
    -----
    A reference is superimposed by a rotation and a shift, component by component, unless anchors
    fix the frame. It is mirrored only if nothing given tells the hand.

    Examples
    --------
    >>> from isofold.reports import StructureView, structure_report
    >>> from isofold.structure import StructureFromBounds, StructureProblem
    >>> pairs = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    >>> square = StructureProblem(4).with_distances(pairs, [1, 1, 1, 1, 2**0.5, 2**0.5])
    >>> fit = StructureFromBounds(n_components=2, random_state=0).fit(square)
    >>> page = structure_report(fit.structure_, view=StructureView(bonds=pairs), title="A square")
    >>> "Nothing that was given is violated." in page.html
    True
    """
    if path is not None:
        permission = "structure_report(...).save(path, overwrite=True)"
        check_path(path, overwrite=False, permission=permission)
    dims = check_points(structure.coordinates, name="coordinates", min_samples=1).shape[1]
    if dims > MOST_DIMENSIONS:
        msg = (
            f"The structure has {dims} dimensions, but a page can show three at most. Pass "
            f"n_components=3 to the fit."
        )
        raise InvalidInputError(msg)
    page = _page(structure, read_view(view, structure), title)
    if path is not None:
        page.save(path)
    return page


def _page(structure: Structure, view: StructureView, title: str | None) -> Report:
    """Return the page made of its parts."""
    with stage("write the page"):
        known = superimpose(structure, view)
        packer = Packer()
        manifest, left_out = fill_structure(packer, structure, view, known)
        manifest["palette"] = {
            "light": CLASSES_LIGHT,
            "dark": CLASSES_DARK,
            "sequential": SEQUENTIAL,
        }
        style = read_asset("page.css") + read_asset("structure/page.css")
        theme_script, script = read_asset("theme.js"), read_script(SCRIPTS)
        dims, others = structure.coordinates.shape[1], sections.other_findings(structure)
        parts = {
            "policy": markup(policy((theme_script, script), style), 1000),
            "version": markup(isofold.__version__),
            "title": markup(title or f"Structure of {structure.problem.n_points:,} points"),
            "dims": "flat" if dims < MOST_DIMENSIONS else "space",
            "subject": sections.subject(structure),
            "verdict": sections.verdict(structure, view.unit),
            "badges": sections.badges(structure),
            "undetermined": sections.undetermined(structure),
            "doubts": doubt_box(others, what="structure"),
            "findings": note_box(others.notes),
            "reading": sections.reading(structure),
            "notes": notes(left_out),
            "worst": sections.worst_pairs(structure, view),
            "kinds": sections.kinds(structure, view.unit),
            "figures": sections.figures(structure, view, known),
            "proof": sections.proof(structure),
            "manifest": json_for_script(manifest),
            "blocks": packer.html(),
            "style": style,
            "theme_script": theme_script,
            "script": script,
        }
        return Report(fill_template(read_asset("structure/page.html"), parts))
