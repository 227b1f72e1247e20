"""Maps of sequences, molecules, shapes and texts, made of a kernel or a distance."""
