"""An independent judge of warnings: surfaces on which no limit of `IPA` or `Unfold` was set.

``python -m experiments.hostile.run ipa --draws 500 --seed 0 --out draws.csv`` runs the draws (also
``unfold``), ``python -m experiments.hostile.summarize draws.csv`` writes the tables.
"""
