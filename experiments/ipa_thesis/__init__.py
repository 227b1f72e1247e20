"""Claims of chapter 5 of Khajehpour Tadavani's thesis (2013) about IPA, run again.

``python -m experiments.ipa_thesis [NAME ...] --out FOLDER``; results in ``README.md`` beside this
file.
"""
