"""What there is to say about a map: measured, proved, found."""
