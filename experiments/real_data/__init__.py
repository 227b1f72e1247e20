"""Real data: isofold's methods beside their peers, in two dimensions and in more.

``python -m experiments.real_data [NAME ...] --out FOLDER``; results in ``README.md`` beside this
file.
"""
