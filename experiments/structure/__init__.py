"""Structures from rigid groups, distances and bounds: proteins and sensor networks."""
