"""Tables of the thesis on disjoint manifolds: the printed numbers, and a small run of ours."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from experiments.disjoint_manifolds import paper
from experiments.disjoint_manifolds.cases import artificial
from experiments.disjoint_manifolds.methods import N_NEIGHBORS, OURS, PEERS, Method
from experiments.disjoint_manifolds.run import attempt, run_case, trials
from experiments.disjoint_manifolds.strategies import describe
from experiments.disjoint_manifolds.tables import read_measures, write_tables
from sklearn.base import BaseEstimator

from isofold import DisjointMVU
from isofold.neighbors import build_graph, connected_components
from isofold.quality import one_nn_error
from isofold.sdp import LowRankSDP

PIECES = {"BSC": 4, "SR1": 2, "SR2": 2, "FM": 4}
FEW = 200
# The goal of documentation and issue for maps that keep the shape of their component.
RIGID = 1e-3
TABLES = (paper.ONE_NN_ERROR, paper.TRUSTWORTHINESS, paper.CONTINUITY)


class Refusing(BaseEstimator):
    def fit_transform(self, X):
        msg = "never"
        raise ValueError(msg)


@pytest.mark.parametrize("table", TABLES)
def test_tables_have_a_row_a_method_and_a_column_a_data_set(table):
    assert set(table) == {method.name for method in (*PEERS, *OURS)}
    assert {len(row) for row in table.values()} == {len(paper.DATA)}
    assert all(0 <= value <= 100 for row in table.values() for value in row)


def test_printed_numbers():
    def printed(table, method, data):
        return table[method][paper.DATA.index(data)]

    assert printed(paper.ONE_NN_ERROR, "MVU-DM", "COIL20") == 4.38
    assert printed(paper.ONE_NN_ERROR, "HLLE", "SR1") == 7.55
    assert printed(paper.TRUSTWORTHINESS, "MVU-DM", "SR1") == 99.90
    assert printed(paper.TRUSTWORTHINESS, "K-PCA", "FM") == 100.00
    assert printed(paper.CONTINUITY, "LE", "FM") == 80.30
    assert set(paper.SPEED_UP) == set(N_NEIGHBORS)
    assert paper.SPEED_UP[15][paper.DATA.index("FM")] == 15.94


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("k", N_NEIGHBORS)
def test_components_are_the_pieces(name, k):
    case = artificial(name)
    components = connected_components(build_graph(case.X, n_neighbors=k))
    assert components.n_components == PIECES[name]
    pairs = np.unique(np.stack([components.labels, case.pieces]), axis=1)
    assert pairs.shape[1] == PIECES[name]


@pytest.mark.parametrize("name", ["BSC", "SR1", "SR2"])
def test_squares_are_two_classes_that_neighbors_share(name):
    case = artificial(name)
    share = case.checkerboard.mean()
    assert 0.4 < share < 0.6
    # Squares have dozens of points, so that few have their neighbor in another one.
    assert float(one_nn_error(case.truth + 100.0 * case.pieces[:, None], case.checkerboard)) < 0.1


@pytest.mark.slow
def test_small_run_end_to_end(tmp_path):
    case = artificial("FM", FEW)
    chosen = [method for method in PEERS if method.name in {"Isomap+ENG", "K-PCA"}]
    ours = [replace(method, n_neighbors=(10,)) for method in OURS]
    run_case(case, chosen, "peers", tmp_path)
    run_case(case, ours, "ours", tmp_path)
    measures = read_measures(tmp_path)
    assert len(measures) == len(N_NEIGHBORS) + 1 + len(OURS)
    assert {line["failure"] for line in measures} == {""}
    assert float(measures[-1]["error"]) == 0.0
    assert float(measures[-1]["trustworthiness"]) >= float(measures[-3]["trustworthiness"])
    write_tables(tmp_path)
    table = (tmp_path / "disjoint_table_4_2.md").read_text(encoding="utf-8").splitlines()
    assert len(table) == 2 + len(PEERS) + len(OURS)
    assert "(100.00)" in next(line for line in table if "K-PCA" in line)
    assert list(tmp_path.glob("*.png"))


def test_global_stages_are_told_apart():
    case = artificial("SR1", FEW)

    # Shapes need not be accurate to be moved rigidly or not.
    def make(_case, q, k, how):
        solver = LowRankSDP(max_iter=2)
        return DisjointMVU(
            n_components=q, n_neighbors=k, placement=how, solver=solver, random_state=0
        )

    rigid, affine = (
        describe(case, attempt(case, Method(how, partial(make, how=how)), 2, 8))
        for how in ("rigid", "affine")
    )
    assert rigid["components"] == affine["components"] == PIECES["SR1"]
    assert abs(rigid["smallest singular value"] - 1) < RIGID
    assert abs(rigid["largest singular value"] - 1) < RIGID
    # One link leaves the second roll free to turn about it, out of the plane.
    assert affine["smallest singular value"] < 1 - RIGID


def test_refusals_are_kept():
    case = artificial("FM", FEW)
    (trial,) = trials(case, [Method("none", lambda *_: Refusing(), (None,))])
    assert trial.outcome is None
    assert trial.failure == "ValueError: never"
    assert describe(case, trial)["failure"] == trial.failure
