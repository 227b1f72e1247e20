"""EAT and TesseraMap: maps that are affine in features of the data."""
