"""Progress: stages, listeners, the bar, and the parameter `verbose`."""

import builtins
import inspect
import os
import pty
import re
import subprocess
import sys
import threading
import types
import warnings
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

import isofold
from isofold import IPA, MVU, OutOfSample
from isofold._parallel import ordered_map
from isofold._progress.bar import progress_bar
from isofold._progress.stages import LEAST_INTERVAL, Progress, fitting, progress, stage
from isofold.exceptions import InvalidInputError
from isofold.sdp import DenseSDP, GramSDP, LowRankSDP
from support.progress_cases import CLUSTERERS, EMBEDDERS, OTHERS, X, attributes_of, fit, result_of

VERBOSE = {**EMBEDDERS, **CLUSTERERS}
SOLVED = ("IPA", "MVU", "LandmarkMVU", "FastMVU", "ColoredMVU", "DisjointMVU", "EAT", "TesseraMap")
SOLVERS = {"stitch patches", "unfold", "place rigid groups", "interior point"}


def told(work):
    """Return all that a listener is told of some work."""
    seen = []
    with progress(seen.append):
        work()
    return seen


def runs_of(seen):
    """Return what is told of every run of a stage, by its names and its number."""
    runs, number = defaultdict(list), defaultdict(int)
    for event in seen:
        path = (*event.within, event.stage)
        runs[path, number[path]].append(event)
        number[path] += event.fraction == 1.0
    return runs


# Stages and listeners


def test_stages_tell_how_far_they_are():
    def work():
        with stage("outer", total=2) as outer:
            outer.advance(objective=3.0)
            with stage("inner") as inner:
                inner.advance()
            outer.advance()

    seen = told(work)
    assert [(event.stage, event.within) for event in seen] == [
        ("outer", ()),
        ("inner", ("outer",)),
        ("inner", ("outer",)),
        ("outer", ()),
    ]
    assert [event.fraction for event in seen] == [0.0, None, 1.0, 1.0]
    assert seen[-1].objective == 3.0
    assert all(event.seconds >= 0.0 for event in seen)


def test_a_stage_has_ended_when_it_says_so(monkeypatch):
    monkeypatch.setattr("isofold._progress.stages.LEAST_INTERVAL", 0.0)

    def work():
        with stage("work", total=2) as steps:
            for _ in range(4):
                steps.advance()

    fractions = [event.fraction for event in told(work)]
    assert fractions == sorted(fractions)
    assert fractions.count(1.0) == 1
    assert fractions[-1] == 1.0


def test_few_reports_of_many_steps():
    def work():
        with stage("work", total=100_000) as steps:
            for _ in range(100_000):
                steps.advance()

    seen = told(work)
    assert len(seen) <= 3 + seen[-1].seconds / LEAST_INTERVAL


def test_time_left():
    assert Progress("work", 0.25, None, 2.0).seconds_left == pytest.approx(6.0)
    assert Progress("work", None, None, 2.0).seconds_left is None
    assert Progress("work", 0.001, None, 2.0).seconds_left is None


def test_stages_that_fail_do_not_end():
    seen = []
    with progress(seen.append):
        with pytest.raises(RuntimeError), stage("work"):
            raise RuntimeError
        with stage("next"):
            pass
    assert [(event.stage, event.within, event.fraction) for event in seen] == [
        ("work", (), None),
        ("next", (), None),
        ("next", (), 1.0),
    ]


def test_a_listener_that_fails_at_once_leaves_no_stage_behind():
    def fail(_):
        raise RuntimeError

    with progress(fail), pytest.raises(RuntimeError), stage("work"):
        pass
    assert told(lambda: stage("next").__enter__())[0].within == ()


def test_several_listeners_are_told_the_same():
    first, second = [], []
    with progress(first.append), progress(second.append), stage("work"):
        pass
    assert first == second
    assert len(first) == 2


def test_outside_nobody_listens():
    seen = []
    with progress(seen.append):
        pass
    IPA(random_state=0).fit(X)
    assert seen == []


@pytest.mark.parametrize("listener", [3, "bar", []])
def test_listeners_must_be_functions(listener):
    with pytest.raises(InvalidInputError, match="must be a function"), progress(listener):
        pass


def test_maps_advance_with_their_results():
    def work():
        with stage("work", total=4) as steps:
            assert list(ordered_map(abs, range(4), n_jobs=2, steps=steps)) == [0, 1, 2, 3]
            assert steps.done == 4

    told(work)


def test_other_threads_tell_nothing():
    seen, places = [], []

    def work(_):
        with stage("inside"):
            places.append(threading.current_thread())

    with progress(seen.append):
        list(ordered_map(work, range(4), n_jobs=2))
    assert seen == []
    assert len(places) == 4


# Fits


@pytest.mark.parametrize("name", VERBOSE)
def test_every_fit_tells_its_stages(name, capfd):
    plain = fit(name, clone(VERBOSE[name]))
    seen, watched = [], clone(VERBOSE[name]).set_params(verbose=True)
    with progress(seen.append):
        fit(name, watched)
    # Here the streams are no terminal.
    assert capfd.readouterr() == ("", "")
    np.testing.assert_array_equal(result_of(watched), result_of(plain))
    assert len({event.stage for event in seen}) >= 2
    for run in runs_of(seen).values():
        fractions = [event.fraction for event in run]
        assert fractions[-1] == 1.0
        known = [fraction for fraction in fractions if fraction is not None]
        assert known == sorted(known)
        assert min(known) >= 0.0
    solved = [event for event in seen if event.stage in SOLVERS]
    assert bool(solved) == (name in (*SOLVED, "PLML", "OutOfSample", "Unfold"))
    ends = [event.objective for event in solved if event.fraction == 1.0]
    assert None not in ends
    assert np.isfinite(ends).all()


def test_objectives_are_those_of_the_solution():
    seen = []
    with progress(seen.append):
        mvu = fit("MVU", MVU(lengths="at_most", random_state=0))
    last = [event for event in seen if event.stage == "unfold"][-1]
    # The last iterate, as it is before duplicates and principal axes.
    assert last.objective == pytest.approx(mvu.solution_.primal, rel=1e-9)


@pytest.mark.parametrize("solver", [LowRankSDP(random_state=0), DenseSDP()])
def test_solvers_by_themselves_tell_their_stage(solver):
    problem = GramSDP.unfolding(3, [[0, 1], [1, 2]], [1.0, 1.0])
    seen = told(lambda: solver.solve(problem))
    assert SOLVERS & {event.stage for event in seen}
    # Two steps of length one, stretched: the variance about the mean is two.
    found = [event.objective for event in seen if event.stage in SOLVERS and event.fraction == 1.0]
    assert found == pytest.approx([2.0], rel=1e-2)


def test_stages_of_nested_fits_are_within_those_around():
    seen = told(lambda: fit("Unfold", clone(EMBEDDERS["Unfold"])))
    paths = {(*event.within, event.stage) for event in seen}
    assert ("embed samples", "stitch patches") in paths
    assert ("embed samples", "patches", "charts") in paths


@pytest.mark.parametrize("name", ["IPA", "MVU", "LDLC", "LocalSubspaceClassifier"])
def test_errors_of_listeners_end_the_fit(name):
    def fail(event):
        if event.fraction == 1.0:
            msg = "enough"
            raise RuntimeError(msg)

    estimator = clone({**VERBOSE, **OTHERS}[name])
    with progress(fail), pytest.raises(RuntimeError, match="enough"):
        fit(name, estimator)
    assert attributes_of(estimator) == set()
    before = attributes_of(fit(name, estimator))
    with progress(fail), pytest.raises(RuntimeError, match="enough"):
        fit(name, estimator)
    assert attributes_of(estimator) == before


# The parameter


@pytest.mark.parametrize("name", VERBOSE)
def test_verbose_is_the_last_of_few_parameters(name):
    parameters = list(inspect.signature(type(VERBOSE[name])).parameters)
    assert parameters[-1] == "verbose"
    assert len([name for name in parameters if name not in ("n_jobs", "verbose")]) <= 10
    assert clone(VERBOSE[name]).verbose is False
    assert "verbose : bool, default=False" in type(VERBOSE[name]).__doc__


@pytest.mark.parametrize("name", VERBOSE)
@pytest.mark.parametrize("verbose", [1, "yes", None])
def test_verbose_is_a_flag(name, verbose):
    with pytest.raises(InvalidInputError, match=f"verbose={verbose!r} must be True or False"):
        fit(name, clone(VERBOSE[name]).set_params(verbose=verbose))


# The bar


def on_terminal(code, *, term="xterm"):
    """Return what a program writes to a terminal."""
    main, side = pty.openpty()
    # As in the tests themselves.
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n{code}"
    environment = {**os.environ, "TERM": term, "COLUMNS": "120"}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(  # noqa: S603 - the tests' own code
        [sys.executable, "-c", code], stdout=side, stderr=side, stdin=side, env=environment
    )
    os.close(side)
    written = b""
    while True:
        try:
            block = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        written += block
    os.close(main)
    return child.wait(), written.decode()


@pytest.mark.slow  # the bar on a screen of cli is in every run
def test_verbose_fits_show_their_stages_on_a_terminal():
    code = """
from support.progress_cases import CLUSTERERS, EMBEDDERS, IPA, OutOfSample, fit
for name, estimator in {**EMBEDDERS, **CLUSTERERS}.items():
    print(f"<{name}>", flush=True)
    fit(name, estimator.set_params(verbose=True), 60)
print("<Within>", flush=True)
fit("OutOfSample", OutOfSample(IPA(verbose=True, random_state=0)), 60)
print("<end>", flush=True)
"""
    status, written = on_terminal(code)
    assert status == 0, written
    parts = dict(re.findall(r"<(\w+)>(.*?)(?=<\w+>)", written, flags=re.DOTALL))
    assert list(parts) == [*VERBOSE, "Within"]
    for name, shown in parts.items():
        # Drawn, the cursor hidden meanwhile and shown again at the end.
        assert re.search(r"[a-z]{4,}.*━", shown), name
        assert shown.rfind("\x1b[?25h") > shown.rfind("\x1b[?25l") >= 0, name


BAR = """
import sys, time
import isofold
from isofold._progress.bar import progress_bar
from isofold._progress.stages import fitting, progress, stage
def work(seconds, name="long work"):
    with stage(name, total=2) as steps:
        steps.began -= seconds  # as if it took so long, however busy the machine is
        steps.advance(objective=1.5)
"""


def test_longer_stages_leave_a_line():
    code = f"""{BAR}
isofold._progress.bar.WORTH_A_LINE = 3600.0
with progress():
    work(4000.0)
    work(0.0, "short work")
    with stage("around") as around:
        around.began -= 4000.0
        work(4000.0, "inside")
print("after")
"""
    status, written = on_terminal(code)
    assert status == 0, written
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    kept = re.findall(r"([a-z]+(?: [a-z]+)*): \d+\.\d s(.*)", drawn)
    assert [(name, more.strip()) for name, more in kept] == [
        ("long work", "objective 1.5"),
        ("around", ""),
    ]
    assert drawn.rstrip().endswith("after")


@pytest.mark.parametrize("after", [0.01, 3600.0])
def test_bars_that_wait_are_shown_late(after):
    code = f"""{BAR}
with progress_bar(after={after}) as bar, progress(bar), stage("long work"):
    while {after} < 1 and not bar._is_shown:
        time.sleep(0.01)
print("after")
"""
    status, written = on_terminal(code)
    assert status == 0, written
    assert ("long work" in written) == (after < 1)
    assert written.rstrip().endswith("after")


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_terminals_that_cannot_draw_are_left_alone(term):
    status, written = on_terminal(
        f"{BAR}\nwith progress():\n    work(0.3)\nprint('after')", term=term
    )
    assert (status, written.split()) == (0, ["after"])


def test_errors_leave_the_terminal_as_it_was():
    code = f"""{BAR}
try:
    with progress(), stage("work"):
        time.sleep(0.2)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print("after")
"""
    status, written = on_terminal(code)
    assert status == 0, written
    assert written.count("\x1b[?25h") == written.count("\x1b[?25l") == 1
    assert written.rfind("\x1b[?25h") < written.rfind("after")


def test_bars_within_bars_are_the_same():
    code = f"""{BAR}
with progress(), fitting(verbose=True), progress():
    work(0.3)
print("after")
"""
    status, written = on_terminal(code)
    assert status == 0, written
    assert written.count("\x1b[?25l") == 1
    assert len(re.findall(r"long work: \d", written)) == 1


def test_prints_go_above_the_bar():
    code = f"""{BAR}
with progress(), stage("work"):
    time.sleep(0.2)
    print("said")
    time.sleep(0.2)
print("after")
"""
    status, written = on_terminal(code)
    assert status == 0, written
    assert re.search(r"\x1b\[2K[^\n]*said", written)


def test_no_stream_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar() as bar, progress(bar), stage("work"):
        pass


class ZMQInteractiveShell:
    """What `get_ipython` returns in a notebook, as far as rich looks at it."""


def test_notebooks_without_widgets_get_lines(monkeypatch, capsys):
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.setattr("isofold._progress.bar.find_spec", lambda _: None)
    monkeypatch.setattr("isofold._progress.bar.WORTH_A_LINE", 0.0)
    with progress():
        with stage("work", total=2) as steps:
            steps.advance(objective=2.5)
            with stage("inside"):
                pass
        with pytest.raises(ZeroDivisionError), stage("failed"):
            _ = 1 / 0
    assert re.fullmatch(r"work: \d\.\d s  objective 2\.5\n", capsys.readouterr().err)


@pytest.mark.filterwarnings("ignore")  # filters set within threads are those of all
def test_fits_in_several_threads_do_not_hear_each_other():
    heard = {}

    def work(name):
        heard[name] = []
        with progress(heard[name].append) if name != "MVU" else nullcontext():
            return clone(EMBEDDERS[name]).fit(X).embedding_

    names = ["IPA", "MVU", "LocalMDS", "PLML"]
    with ThreadPoolExecutor(len(names)) as pool:
        together = dict(zip(names, pool.map(work, names), strict=True))
    heard_together = {name: stages_of(heard[name]) for name in names}
    for name in names:
        np.testing.assert_array_equal(together[name], work(name))
        assert heard_together[name] == stages_of(heard[name])
    assert heard_together["MVU"] == set()
    assert all(heard_together[name] for name in names if name != "MVU")


def stages_of(event):
    return {(*each.within, each.stage) for each in event}


def test_the_package_has_the_listener():
    assert isofold.progress is progress


def test_warnings_name_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        OutOfSample(IPA(n_neighbors=2, random_state=0)).fit(np.random.RandomState(0).rand(40, 3))
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_fits_may_be_asked_for_in_threads():
    found = []

    def work():
        with fitting():
            found.append(fit("MVU", clone(EMBEDDERS["MVU"])).embedding_)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], fit("MVU", clone(EMBEDDERS["MVU"])).embedding_)
