"""Which shapes `isofold.survey.recognize_shapes` recognizes, and on which it stays silent.

``python -m experiments.shapes [NAME ...] --out FOLDER``; results in ``README.md`` beside this file.
"""
