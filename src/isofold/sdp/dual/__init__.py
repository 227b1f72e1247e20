"""The only makers of bounds and certificates."""
