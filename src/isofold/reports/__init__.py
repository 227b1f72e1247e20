"""The report page: one HTML file that shows a map, says what was lost, and can be explored."""

from isofold.reports.builder import Report, make_report, report

__all__ = ["Report", "make_report", "report"]
