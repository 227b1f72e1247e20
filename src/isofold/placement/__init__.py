"""Components of the data in one frame."""
