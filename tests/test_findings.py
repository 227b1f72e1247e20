"""Findings: data that can be asked, one text for each code, and vocabularies."""

import ast
import re
import string
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import isofold
from isofold._findings import (
    PYTHON,
    SHELL,
    Diagnosis,
    Finding,
    Severity,
    emit,
    parameter,
    setting,
    speaking,
    tells_findings,
)
from isofold._findings.finding import GIVEN
from isofold._findings.texts import TEXTS
from isofold._findings.texts.assessment import ASSESSMENT_TEXTS
from isofold._findings.texts.data import DATA_TEXTS
from isofold._findings.texts.decision import DECISION_TEXTS
from isofold._findings.texts.fits import FIT_TEXTS
from isofold._findings.texts.structure import STRUCTURE_TEXTS
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.sdp import SDPSolution, Status

SOURCE = Path(isofold.__file__).parent


def finding(code, value, limit, patches=()):
    return Finding.checked(code, value, limit, is_raised=value > limit, patches=patches)


@pytest.fixture
def diagnosis():
    return Diagnosis((finding("misfit", 0.05, 0.1), finding("noise", 0.4, 0.1, [2, 5])))


def test_doubts_are_found_by_code(diagnosis):
    assert [doubt.code for doubt in diagnosis.raised] == ["noise"]
    assert diagnosis.codes == {"noise"}
    assert not diagnosis.is_sound
    np.testing.assert_array_equal(diagnosis["noise"].patches, [2, 5])
    assert diagnosis["misfit"].value == 0.05
    assert len(diagnosis["misfit"].patches) == 0
    assert [each.code for each in diagnosis] == ["misfit", "noise"]
    assert "misfit" in diagnosis
    assert "noize" not in diagnosis


def test_an_unknown_code_names_the_known_ones(diagnosis):
    with pytest.raises(KeyError, match=r"no finding 'noize'.*misfit, noise"):
        diagnosis["noize"]


def test_the_summary_has_the_doubts_with_advice(diagnosis):
    summary = diagnosis.summary()
    assert summary.startswith("Inspect this map before relying on it.")
    assert "40% of the points are in patches whose tangent is hidden by noise." in summary
    assert "fewer n_components" in summary
    assert "disagree" not in summary
    assert "fewer --n-components" in diagnosis.summary(SHELL)


def test_the_table_has_all_findings(diagnosis):
    header, misfit, noise = str(diagnosis).splitlines()
    assert header.split() == ["finding", "value", "limit"]
    assert misfit.split() == ["misfit", "0.05", "0.1"]
    assert noise.split()[:4] == ["noise", "0.4", "0.1", "!"]


def test_a_sound_diagnosis():
    sound = Diagnosis((finding("misfit", 0.05, 0.1), Finding.of("placed_outliers", n=3)))
    assert sound.is_sound
    assert sound.raised == ()
    assert [note.code for note in sound.notes] == ["placed_outliers"]
    assert sound.summary() == "No doubt about this map was found."
    assert "!" not in str(sound)


@pytest.mark.parametrize(
    ("vocabulary", "expected"),
    [
        (PYTHON, "n_components=3 keeps the lengths."),
        (SHELL, "--n-components 3 keeps the lengths."),
    ],
)
def test_settings_are_named_as_the_reader_types_them(vocabulary, expected):
    closure = Finding.checked("closure", 2.0, 1.5, is_raised=True, needed=3)
    assert closure.advice(vocabulary) == expected


def test_other_parameters_of_the_shell_are_set():
    loose = Finding.of(
        "loose_graph",
        form="angles",
        value=0.2,
        before=0.1,
        rank=5,
        dimension=2,
        discarded=0.3,
    )
    assert "angles=True or more n_components" in loose.advice()
    assert "--set angles=true or more --n-components" in loose.advice(SHELL)
    assert SHELL.setting("lengths", "at_most") == "--set lengths=at_most"
    assert PYTHON.setting("lengths", "at_most") == "lengths='at_most'"


def test_attributes_are_those_of_the_model_in_python():
    outliers = finding("outliers", 0.2, 0.05)
    assert outliers.advice() == "See outliers_."
    assert outliers.advice(SHELL) == "See outliers_ of the model in Python."


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, "1 outlier was placed on the map but not used to fit it."),
        (3, "3 outliers were placed on the map but not used to fit it."),
        (1234, "1,234 outliers were placed on the map but not used to fit it."),
    ],
)
def test_numbers_and_verbs_agree(n, expected):
    assert Finding.of("placed_outliers", n=n).text() == expected


def test_long_lists_are_cut():
    sizes = (9, 8, 7, 6, 5, 4)
    components = Finding.checked("components", 6, 1, is_raised=True, sizes=sizes)
    assert "6 components of 9, 8, 7, 6, 5, … points" in components.message()


@pytest.mark.parametrize(("part", "expected"), [(0.97, "the data"), (0.5, "a part with 50% of")])
def test_a_part_is_named_by_its_size(part, expected):
    curve = Finding.checked("closed_curve", 70.0, 16.0, is_raised=True, part=part, length=6.28)
    assert f"the points of {expected}" in curve.message()


def test_one_warning_for_each_kind():
    doubts = (
        finding("noise", 0.4, 0.1),
        finding("misfit", 0.4, 0.1),
        Finding.of("bridges", Severity.DOUBT, n=2),
        Finding.of("not_certified", Severity.DOUBT, message="Stopped early."),
        Finding.of("placed_outliers", n=3),
        finding("bending", 0.1, 1.0),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        emit(doubts)
    kinds = [warning.category for warning in caught]
    assert kinds == [DisconnectedGraphWarning, ConvergenceWarning, DoubtfulMapWarning]
    doubtful = str(caught[-1].message)
    assert doubts[0].text() in doubtful
    assert doubts[1].text() in doubtful
    assert str(caught[1].message) == "Stopped early."


def test_a_warning_of_ours_is_known_from_one_of_another_library():
    uncertified = Finding.of("not_certified", Severity.DOUBT, message="Stopped early.")
    with pytest.warns(ConvergenceWarning) as caught:
        emit((uncertified,))
    assert caught[0].message.findings == (uncertified,)
    assert tells_findings(caught[0].message)
    assert not tells_findings(ConvergenceWarning("GaussianMixture did not converge."))


def test_nothing_is_warned_of_a_sound_fit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        emit((finding("misfit", 0.05, 0.1), Finding.of("placed_outliers", n=3)))


def test_errors_speak_the_vocabulary_of_the_caller():
    assert (parameter("n_neighbors"), setting("n_components", 3)) == (
        "n_neighbors",
        "n_components=3",
    )
    with speaking(SHELL):
        assert parameter("n_neighbors") == "--n-neighbors"
        assert setting("n_components", 3) == "--n-components 3"
        assert setting("angles", True) == "--set angles=true"
    assert parameter("n_neighbors") == "n_neighbors"


def test_the_status_of_a_solution_is_a_finding():
    known = {"min_dual_eigenvalue": 0.0, "max_violation": 0.0, "rank": 1, "n_iter": 3}
    for status, is_raised in ((Status.CERTIFIED, False), (Status.RANK_LIMIT, True)):
        solution = SDPSolution(
            coordinates=np.zeros((2, 1)),
            status=status,
            message="What was seen.",
            primal=1.0,
            dual=2.0,
            gap=0.5,
            seconds=0.0,
            certificate=None,
            **known,
        )
        found = solution.finding
        assert (found.is_raised, found.value, found.text()) == (is_raised, 0.5, "What was seen.")


def made_codes():
    """Return the codes of all findings that the package makes, by file."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and node.func.attr in ("of", "checked") and node.args:
                owner, first = node.func.value, node.args[0]
                is_finding = isinstance(owner, ast.Name) and owner.id == "Finding"
                if is_finding and isinstance(first, ast.Constant):
                    found.setdefault(first.value, path.name)
    return found


def test_every_finding_has_a_text():
    codes = {key.partition("/")[0] for key in TEXTS}
    assert set(made_codes()) - codes == set()


def test_no_two_rooms_word_one_finding():
    rooms = (FIT_TEXTS, DATA_TEXTS, DECISION_TEXTS, ASSESSMENT_TEXTS, STRUCTURE_TEXTS)
    assert sum(map(len, rooms)) == len(TEXTS)


def test_texts_are_sentences():
    for key, text in TEXTS.items():
        for part in (text.message, text.advice):
            assert part == part.strip(), key
            assert "  " not in part, key
        assert text.message.endswith((".", "{message}")), key
        assert text.advice.endswith((".", "{advice}")) or not text.advice, key


def test_texts_use_the_words_of_the_field():
    private = r"\b(share|pieces?|strays?|arrows?|told|flags?|ways?|foreign|rough|turns?)\b"
    worded = {key: f"{text.message} {text.advice}" for key, text in TEXTS.items()}
    found = {key: re.findall(private, text) for key, text in worded.items()}
    # Points are shared by patches; that is the usual verb.
    for key in ("hinges", "hinges/flip"):
        found[key] = [word for word in found[key] if word != "share"]
    assert {key: words for key, words in found.items() if words} == {}


def figures_of(template):
    """Return the figures that a template asks for."""
    fields = [name for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    nested = [spec for _, _, spec, _ in string.Formatter().parse(template) if spec and "{" in spec]
    own = {re.split(r"[.\[]", name)[0] for name in fields} - {"p", "a", "value", "limit"}
    return own.union(*(figures_of(spec) for spec in nested))


def calls_of_findings():
    """Yield code, possible forms and figures of every finding that the package makes."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if not is_call or node.func.attr not in ("of", "checked") or not node.args:
                continue
            if not isinstance(node.func.value, ast.Name) or node.func.value.id != "Finding":
                continue
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            codes = [c.value for c in ast.walk(node.args[0]) if isinstance(c, ast.Constant)]
            form = given.get("form")
            constants = [] if form is None else ast.walk(form)
            words = {c.value for c in constants if isinstance(c, ast.Constant)}
            forms = {word for word in words if isinstance(word, str)} or {""}
            for code in filter(lambda code: isinstance(code, str), codes):
                where = f"{path.relative_to(SOURCE)}:{node.lineno}"
                yield where, code, forms, given.keys()


def test_findings_bring_the_figures_that_their_texts_ask_for():
    missing = {}
    for where, code, forms, given in calls_of_findings():
        if None in given or forms == {GIVEN}:
            # Figures that are handed on, and texts of others, are known only when they are made.
            continue
        for form in forms:
            text = TEXTS.get(f"{code}/{form}" if form else code)
            if text is None:
                missing[where, code, form] = "no text"
                continue
            wanted = figures_of(text.message) | figures_of(text.advice)
            if wanted - set(given):
                missing[where, code, form] = wanted - set(given)
    assert missing == {}
