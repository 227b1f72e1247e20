"""Claims of chapters 2 and 3 of Khajehpour Tadavani's thesis (2013), run again: EAT, TesseraMap.

``python -m experiments.unfolding [NAME ...] --out FOLDER``; results in ``README.md`` beside this
file.
"""
