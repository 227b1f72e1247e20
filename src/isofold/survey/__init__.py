"""Survey: what the data look like before any map is made."""

from isofold.survey.data import (
    Survey,
    SurveyedPart,
    survey_graph,
    survey_neighbors,
    survey_samples,
    survey_shapes,
)
from isofold.survey.shapes import recognize_shapes

__all__ = [
    "Survey",
    "SurveyedPart",
    "recognize_shapes",
    "survey_graph",
    "survey_neighbors",
    "survey_samples",
    "survey_shapes",
]
