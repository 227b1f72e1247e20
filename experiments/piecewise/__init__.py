"""Tables and figures of Strange's thesis (2011) on piecewise-linear manifold learning, run again.

``python -m experiments.piecewise [NAME ...] --out FOLDER``; results in ``README.md`` beside this
file.
"""
