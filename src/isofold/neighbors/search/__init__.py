"""Searches for nearest neighbors: one protocol, exact and approximate."""
