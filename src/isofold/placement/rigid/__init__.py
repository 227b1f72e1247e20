"""Components moved as rigid bodies."""
