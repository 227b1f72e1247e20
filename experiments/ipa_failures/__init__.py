"""No silent failure: random data sets on which `isofold.IPA` may fail, and whether it says so.

``python -m experiments.ipa_failures --out FOLDER`` runs the draws of the report and writes its
tables. ``python -m experiments.ipa_failures.run --draws 500 --seed 0 --out draws.csv`` runs others,
``python -m experiments.ipa_failures.summarize draws.csv`` writes their tables.
"""
