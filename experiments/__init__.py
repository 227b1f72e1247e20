"""Experiments: studies and papers' figures, each in a folder with its configuration and results."""
