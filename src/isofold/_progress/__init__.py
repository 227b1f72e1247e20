"""Progress of a fit: stages, their bar, and Ctrl-C."""
