"""Maps of data with more dimensions than the map, by local stress."""
