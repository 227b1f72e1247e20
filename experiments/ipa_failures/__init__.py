"""No silent failure: random data sets on which `isofold.IPA` may fail, and whether it says so.

``python -m experiments.ipa_failures --draws 500 --seed 0 --out draws.csv`` runs the draws,
``python -m experiments.ipa_failures.summarize draws.csv`` writes the tables.
"""
