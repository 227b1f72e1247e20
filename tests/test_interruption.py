"""Ctrl-C: loops end with the best they have, all else raises and leaves no trace."""

import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from isofold import (
    EAT,
    MPPCA,
    MVU,
    FastMVU,
    LandmarkMVU,
    LocalMDS,
    NeighborMap,
    Unfold,
)
from isofold._parallel import ordered_map
from isofold._progress.stages import (
    closing,
    fitting,
    interrupt,
    interrupted,
    interruptible,
    progress,
    until_interrupted,
)
from isofold.clustering.localized.restarts import _clustering
from isofold.exceptions import EarlyInterrupt, InterruptedFitWarning
from isofold.quality import trustworthiness
from isofold.sdp import DenseSDP, GramSDP, LowRankSDP, Soft, Status
from support.progress_cases import CLUSTERERS, EMBEDDERS, FEW, SIDE, X, attributes_of, half_pipe

pytestmark = [
    pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

CASES = {**EMBEDDERS, **CLUSTERERS}
LOOPS = {
    "IPA": "stitch patches",
    "MVU": "unfold",
    "LandmarkMVU": "unfold",
    "FastMVU": "unfold",
    "ColoredMVU": "unfold",
    "DisjointMVU": "unfold",
    "PLML": "stitch patches",
    "LocalMDS": "relax points",
    "NeighborMap": "place neighbors",
    "TwinKernelEmbedding": "match kernels",
    "OutOfSample": "stitch patches",
    "Unfold": "stitch patches",
    "LDLC": "lower the objective",
    "VQPCA": "lower the objective",
    "MPPCA": "raise the likelihood",
    "GeodesicKMedoids": "lower the objective",
}
"""What the methods with a best state are doing when they are interrupted."""


def press():
    """Press Ctrl-C; Python runs the handler before the next line."""
    signal.raise_signal(signal.SIGINT)


class Presser:
    """A listener that presses Ctrl-C at a stage, at the n-th event of that stage."""

    def __init__(self, name, *, at=1, times=1):
        self.name, self.at, self.left, self.seen = name, at, times, 0
        self.later = []

    def __call__(self, event):
        if self.left < 1:
            self.later.append(event)
        elif event.stage == self.name:
            self.seen += 1
            if self.seen >= self.at:
                self.left -= 1
                press()


@pytest.fixture(autouse=True)
def handlers(monkeypatch, ctrl_c):
    """Every listener hears all, and handlers are those of Python before and after."""
    monkeypatch.setattr("isofold._progress.stages.LEAST_INTERVAL", 0.0)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not interrupted()


def data_of(name):
    rows = slice(0, FEW.get(name, len(X)))
    return X[rows], SIDE[rows]


# The mechanism


def test_the_first_asks_and_the_second_raises():
    with fitting_interrupted() as seen:
        with interruptible():
            press()
            seen.append(interrupted())
            with interruptible():
                seen.append(interrupted())
        with pytest.raises(KeyboardInterrupt):
            press()
    assert seen == [True, True]


def fitting_interrupted():
    """Surround what is to end with the warning."""

    class Fit:
        def __enter__(self):
            self.warned = pytest.warns(InterruptedFitWarning, match="best found until then")
            self.fit = fitting()
            self.warned.__enter__()
            self.fit.__enter__()
            return []

        def __exit__(self, *error):
            self.fit.__exit__(*error)
            self.warned.__exit__(*error)

    return Fit()


def test_the_second_raises_within_the_same_loop():
    def press_twice():
        with fitting(), interruptible():
            press()
            press()

    with pytest.raises(KeyboardInterrupt):
        press_twice()


def test_elsewhere_it_raises_at_once():
    with pytest.raises(KeyboardInterrupt), fitting():
        press()


def test_loops_without_a_fit():
    with interruptible():
        assert not interrupted()
        press()
        assert interrupted()
    assert not interrupted()


def test_a_handler_of_the_user_stays():
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    try:
        with interruptible():
            press()
            assert not interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed == [1]


def test_what_is_ignored_stays_ignored():
    # As in the background of a shell: Ctrl-C is meant for the program in front.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with fitting(), interruptible():
            press()
            assert not interrupted()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_install_nothing():
    found = []

    def work():
        with fitting(), interruptible():
            found.append((signal.getsignal(signal.SIGINT), interrupted()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(signal.default_int_handler, False)]


def test_an_end_may_be_put_off():
    with fitting_interrupted() as seen:
        interrupt()
        with closing():
            seen.append(interrupted())
            with interruptible(), pytest.raises(KeyboardInterrupt):
                press()
        seen.append(interrupted())
    assert seen == [False, True]


def test_the_first_result_in_any_case():
    assert list(until_interrupted(range(3))) == [0, 1, 2]
    with fitting_interrupted():
        interrupt()
        assert list(until_interrupted(range(3))) == [0]


def test_the_warning_comes_once():
    with pytest.warns(InterruptedFitWarning) as caught, fitting(), fitting():
        interrupt()
    assert len(caught) == 1
    assert caught[0].filename == __file__


# Fits with a best state


@pytest.mark.parametrize("name", LOOPS)
def test_fits_end_with_the_best_they_have(name):
    estimator = clone(CASES[name])
    data, side = data_of(name)
    # The first point of landmarks is a random one.
    presser = Presser(LOOPS[name], at=8 if name == "LandmarkMVU" else 2)
    with progress(presser), pytest.warns(InterruptedFitWarning) as caught:
        estimator.fit(data, side)
    assert presser.left == 0
    assert sum(warning.category is InterruptedFitWarning for warning in caught) == 1
    if name in EMBEDDERS:
        assert np.isfinite(estimator.embedding_).all()
        assert estimator.embedding_.shape == (len(data), 2)
        assert np.isfinite(estimator.transform(data[:5] + 0.01)).all()
        # No noise: an unfolded sheet has about 1, and a random map a half.
        assert trustworthiness(data, estimator.embedding_, n_neighbors=8) > 0.7
    else:
        np.testing.assert_array_equal(estimator.predict(data), estimator.labels_)
        assert len(np.unique(estimator.labels_)) == 6
    # The next fit knows nothing of it.
    again = clone(estimator).set_params(**CASES[name].get_params(deep=False))
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterruptedFitWarning)
        again.fit(data, side)


@pytest.mark.parametrize("name", ["MVU", "LocalMDS", "NeighborMap", "LDLC", "Unfold"])
def test_a_second_one_raises(name):
    estimator = clone(CASES[name])
    data, side = data_of(name)
    with progress(Presser(LOOPS[name], at=2, times=2)), pytest.raises(KeyboardInterrupt):
        estimator.fit(data, side)
    assert attributes_of(estimator) == set()


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("IPA", "neighbor graph"),
        ("IPA", "charts"),
        ("MVU", "neighbor graph"),
        ("LocalMDS", "shortest paths"),
        ("Unfold", "survey"),
        ("LDLC", "neighbor graph"),
        ("EAT", "kernel"),
    ],
)
def test_stages_without_a_state_raise_at_once(name, where):
    estimator = clone(CASES[name])
    data, side = data_of(name)
    for fitted in (False, True):
        if fitted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                estimator.fit(data, side)
        before = dict(vars(estimator))
        presser = Presser(where)
        with progress(presser), pytest.raises(KeyboardInterrupt):
            estimator.fit(data, side)
        assert presser.later == []
        assert vars(estimator) == before


def test_sweeps_so_far_are_kept():
    # As many sweeps as were made, and none that was not.
    presser = Presser("relax points", at=4)
    with progress(presser), pytest.warns(InterruptedFitWarning):
        short = LocalMDS(n_epochs=200, random_state=0).fit(X)
    sweeps = [event for event in presser.later if event.stage == "relax points"]
    assert [event.fraction for event in sweeps] == [1.0]
    assert short.length_errors_.median < 1.0


@pytest.mark.parametrize("where", ["place neighbors", "keep lengths"])
def test_either_phase_of_a_neighbor_map_may_be_cut_short(where):
    presser = Presser(where, at=20)
    with progress(presser), pytest.warns(InterruptedFitWarning):
        short = NeighborMap(random_state=0).fit(X)
    assert "interrupted" in short.diagnosis_.codes
    # The later phase does not begin anew: its first sweep is not made.
    sweeps = [event for event in presser.later if event.stage == "keep lengths"]
    assert [event.fraction for event in sweeps][-1] == 1.0
    assert len(sweeps) <= 2
    np.testing.assert_array_equal(short.transform(X), short.embedding_)
    assert trustworthiness(X, short.embedding_, n_neighbors=8) > 0.7


def test_the_best_restart_so_far_is_kept():
    # Pressed in the third run: one of the first two, or the third as far as it got.
    plain = [MPPCA(n_clusters=6, n_init=k, random_state=0).fit(X).log_likelihood_ for k in (1, 2)]
    ends = []

    def listen(event):
        if event.stage == "clusters":
            ends.append(event)
        elif len(ends) == 3 and event.stage == "raise the likelihood" and not listen.is_pressed:
            listen.is_pressed = True
            press()

    listen.is_pressed = False
    with progress(listen), pytest.warns(InterruptedFitWarning):
        cut = MPPCA(n_clusters=6, n_init=50, random_state=0).fit(X)
    assert listen.is_pressed
    assert cut.log_likelihood_ >= max(plain) - 1e-9 * abs(max(plain))


def test_threads_end_too():
    X = half_pipe(400)
    presser = Presser("clusters", at=1)
    with progress(presser), pytest.warns(InterruptedFitWarning):
        cut = MPPCA(n_clusters=20, n_init=40, n_jobs=2, tol=1e-12, random_state=0).fit(X)
    assert cut.n_iter_ < 200


def test_processes_that_the_signal_breaks(monkeypatch):
    # Ctrl-C on a terminal goes to all processes of a program.
    class Broken:
        def __init__(self, **_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def __call__(self, _):
            raise BrokenProcessPool

    monkeypatch.setattr("isofold._parallel.Parallel", Broken)
    with pytest.raises(BrokenProcessPool):
        list(ordered_map(len, ["a", "b"], n_jobs=2, processes=True))
    with fitting_interrupted():
        interrupt()
        with pytest.raises(EarlyInterrupt):
            list(ordered_map(len, ["a", "b"], n_jobs=2, processes=True))


@pytest.mark.parametrize(
    ("n_jobs", "n_points", "ends_early"), [(1, 9, 1), (2, 9, 0), (2, 10**4, 1)]
)
def test_restarts_in_processes_have_no_state_to_end_with(n_jobs, n_points, ends_early):
    problem = SimpleNamespace(points=np.empty((n_points, 0)))
    with _clustering(problem, [None] * 32, n_jobs):
        asks = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert asks == ends_early


def test_no_more_rehearsals():
    presser = Presser("rehearsal", at=3)
    cloud = np.random.RandomState(0).normal(size=(80, 6))
    with progress(presser), pytest.warns(InterruptedFitWarning):
        unfold = Unfold(random_state=0).fit(cloud)
    rehearsals = [event for event in presser.later if event.stage == "rehearsal"]
    assert [event.fraction for event in rehearsals] == [1.0]
    # What was tried, and the best of it.
    scores = {c.method: c.score for c in unfold.decision_.candidates}
    assert unfold.decision_.method == max(scores, key=scores.__getitem__)
    assert len(unfold.fitted_samples_) <= len(cloud)


def test_what_could_be_rehearsed_is_a_state():
    # Charts of all samples are none by themselves, but a map of most of them is soon made.
    is_last = []

    def listen(event):
        if event.within[:1] == ("embed samples",) and event.stage == "charts" and not is_last:
            is_last.append(True)
            press()

    with progress(listen), pytest.warns(InterruptedFitWarning):
        unfold = Unfold(random_state=0).fit(X)
    assert is_last
    assert unfold.decision_.method == "ipa"
    # A fifth was held out.
    assert len(unfold.fitted_samples_) == len(X) - len(X) // 5
    assert trustworthiness(X, unfold.embedding_, n_neighbors=8) > 0.9


def test_no_more_dimensions():
    cloud = np.random.RandomState(0).normal(size=(80, 4))
    with progress(Presser("rehearsal", at=2)), pytest.warns(InterruptedFitWarning):
        unfold = Unfold(n_components="auto", random_state=0).fit(cloud)
    assert unfold.n_components_ == 1
    assert any("Interrupted" in reason for reason in unfold.decision_.reasons)


# Solvers


PROBLEMS = {
    "equal": (MVU(lengths="equal"), "unfold"),
    "at most": (MVU(lengths="at_most"), "unfold"),
    "soft": (MVU(lengths=Soft(16.0)), "unfold"),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_solutions_say_that_they_were_interrupted(kind):
    model, where = PROBLEMS[kind]
    model = clone(model).set_params(random_state=0)
    with progress(Presser(where, at=3)), pytest.warns(InterruptedFitWarning):
        model.fit(X)
    solution = model.solution_
    assert solution.status is Status.ITERATION_LIMIT
    assert "interrupted by the user" in solution.message
    # A maximum: the bound is above, if there is one.
    assert solution.primal <= solution.dual * (1 + 1e-9)


def test_landmarks_and_functions_end_at_once():
    with progress(Presser("unfold", at=2)), pytest.warns(InterruptedFitWarning):
        fast = FastMVU(n_functions=5, random_state=0).fit(X)
    # The coarse solution was cut, and the refinement ended at its start.
    assert "interrupted by the user" in fast.coarse_solution_.message
    assert "interrupted by the user" in fast.solution_.message
    with progress(Presser("unfold", at=2)), pytest.warns(InterruptedFitWarning):
        landmark = LandmarkMVU(n_landmarks=20, random_state=0).fit(X)
    assert "interrupted by the user" in landmark.solution_.message


def test_a_solver_by_itself_returns_without_a_warning():
    problem = GramSDP.unfolding(60, [[k, k + 1] for k in range(59)], [1.0] * 59)
    with progress(Presser("unfold", at=2)):
        solution = LowRankSDP(random_state=0).solve(problem)
    assert solution.status is Status.ITERATION_LIMIT
    assert "interrupted by the user" in solution.message


def test_the_start_of_an_interior_point_is_no_state():
    problem = GramSDP.unfolding(20, [[k, k + 1] for k in range(19)], [1.0] * 19)
    with progress(Presser("interior point", at=2)), pytest.raises(EarlyInterrupt):
        DenseSDP().solve(problem)
    assert issubclass(EarlyInterrupt, KeyboardInterrupt)


def test_near_its_end_it_is():
    problem = GramSDP.unfolding(20, [[k, k + 1] for k in range(19)], [1.0] * 19)
    steps = []
    with progress(steps.append):
        whole = DenseSDP().solve(problem)
    n_steps = sum(event.stage == "interior point" for event in steps)
    with progress(Presser("interior point", at=n_steps - 3)):
        cut = DenseSDP().solve(problem)
    assert cut.status is Status.ITERATION_LIMIT
    assert "interrupted by the user" in cut.message
    assert cut.primal == pytest.approx(whole.primal, rel=0.2)


def test_earlier_programs_of_a_stretch_are_states():
    # Early in the last program those with smaller weights are there.
    X, _ = data_of("EAT")
    steps = []
    with progress(steps.append):
        whole = EAT(slack=0.0).fit(X)
    ends = [event.fraction == 1.0 for event in steps if event.stage == "interior point"]
    last_but_one = np.flatnonzero(ends)[-2] + 1
    presser = Presser("interior point", at=last_but_one + 2)
    with progress(presser), pytest.warns(InterruptedFitWarning):
        cut = EAT(slack=0.0).fit(X)
    assert np.isfinite(cut.embedding_).all()
    assert cut.weight_ < whole.weight_


# The whole way, with a signal from outside


def test_a_signal_to_a_process():
    code = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from isofold import MVU
from isofold._progress.stages import progress
from support.progress_cases import half_pipe
def listen(event):
    if event.stage == "unfold" and event.objective is not None and not pressed.is_set():
        pressed.set()
pressed = threading.Event()
def press():
    pressed.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
with progress(listen):
    mvu = MVU(n_neighbors=8, lengths="at_most", random_state=0).fit(half_pipe(500))
print(mvu.solution_.status.name, mvu.embedding_.shape)
"""
    run = subprocess.run(  # noqa: S603 - the tests' own code
        [sys.executable, "-c", code, os.path.dirname(__file__)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split(maxsplit=1) == ["ITERATION_LIMIT", "(500, 2)\n"]
    assert "InterruptedFitWarning" in run.stderr


def test_an_interruption_is_a_finding():
    presser = Presser("relax points", at=4)
    with progress(presser), pytest.warns(InterruptedFitWarning) as caught:
        short = LocalMDS(n_epochs=200, random_state=0).fit(X)
    assert "interrupted" in short.diagnosis_.codes
    # It is warned of once, and a fit that ends by itself has no such finding.
    assert len(caught) == 1
    assert "interrupted" not in LocalMDS(n_epochs=20, random_state=0).fit(X).diagnosis_
