"""The text of every finding: what was seen and what it means, and what to do about it.

Findings are worded only here. A text is a template: ``{p.n_neighbors}`` names a
parameter and ``{a.bridges_}`` an attribute in the vocabulary of the reader, ``{n:#sample}`` counts,
``{n:?is|are}`` agrees with a number, ``{f:part}`` names a part of the data by its fraction, and all
other placeholders are figures of the finding. A code with several texts has forms, ``code/form``.
"""

from isofold._findings.texts.assessment import ASSESSMENT_TEXTS
from isofold._findings.texts.data import DATA_TEXTS
from isofold._findings.texts.decision import DECISION_TEXTS
from isofold._findings.texts.fits import FIT_TEXTS
from isofold._findings.texts.structure import STRUCTURE_TEXTS
from isofold._findings.texts.text import CONVERGENCE, DISCONNECTED, DOUBTFUL, INTERRUPTED, Text

__all__ = ["CONVERGENCE", "DISCONNECTED", "DOUBTFUL", "INTERRUPTED", "TEXTS", "Text"]

TEXTS: dict[str, Text] = {
    **FIT_TEXTS,
    **DATA_TEXTS,
    **DECISION_TEXTS,
    **ASSESSMENT_TEXTS,
    **STRUCTURE_TEXTS,
}
