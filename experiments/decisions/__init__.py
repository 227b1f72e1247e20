"""Whether `isofold.Unfold` decides well: on sheets, on sheets in pieces, and on anything else."""
