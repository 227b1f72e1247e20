"""Saved models: files of numbers and JSON that any later version reads and that run no code."""

from isofold.storage.model_file import load, load_with_notes, save

__all__ = ["load", "load_with_notes", "save"]
