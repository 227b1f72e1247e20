"""Report pages: one HTML file shows a map or a structure, says what was lost, can be explored."""

from isofold.reports.builder import Report, make_report, report
from isofold.reports.structure import StructureView, structure_report

__all__ = ["Report", "StructureView", "make_report", "report", "structure_report"]
