"""Coordinates from distances and bounds: proteins and sensor networks."""
