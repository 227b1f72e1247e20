"""IPA on real data, beside Isomap and UMAP: what comes out, and what its diagnosis says.

``python -m experiments.ipa_real [NAME ...] --out FOLDER``; results in ``README.md`` beside this
file.
"""
