"""Unfold, which decides: rehearsal, trials, decision."""
