"""Bounds from above only: low-rank primal-dual interior point."""
