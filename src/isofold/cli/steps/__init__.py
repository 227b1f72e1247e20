"""What several commands do: read, map, write, report."""
