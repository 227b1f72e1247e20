"""The page of a structure: points and bonds in 3-D, what is violated and what is not determined."""

from isofold.reports.structure.page import structure_report
from isofold.reports.structure.view import StructureView

__all__ = ["StructureView", "structure_report"]
