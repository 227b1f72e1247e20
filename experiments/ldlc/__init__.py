"""Claims of chapter 4 of Khajehpour Tadavani's thesis (2013) about LDLC, run again.

``python -m experiments.ldlc [NAME ...] --out FOLDER``; results in ``README.md`` beside this file.
"""
