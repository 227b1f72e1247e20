"""The commands from a file to a map, its judgement, and new rows on it."""

import json
import shlex
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from isofold import IPA, LocalMDS, datasets, load, save
from isofold.cli.steps.scores import measure
from isofold.datasets import swiss_roll
from isofold.embedding.catalog import BY_SHELL_NAME
from isofold.neighbors import Bridged, Radius
from isofold.quality import procrustes_error, scorecard
from isofold.sdp import Soft
from isofold.survey import data
from support.command_runs import WORDS, read_csv, run, write_array, write_csv, write_roll

N_ROWS, GAPS = 400, (3, 77)

# Numbers are written with all digits, so that files lose nothing.
WRITTEN = 1e-12

# The charts of so few points bend, where the sheet of the roll is flat.
ROLL_ERROR = 0.05


@pytest.fixture(autouse=True)
def no_shapes(monkeypatch):
    # They have tests of their own, and take most of the time of so small fits.
    monkeypatch.setattr(data, "recognize_shapes", lambda *_, **__: ())


@pytest.fixture(scope="module")
def roll(tmp_path_factory):
    """A folder with a roll that has text and gaps, its map, model and page."""
    folder = tmp_path_factory.mktemp("roll")
    write_roll(folder / "roll.csv", N_ROWS, missing=GAPS)
    result = run(
        "embed", folder / "roll.csv", "-o", folder / "map.csv", "--label", "kind",
        "--method", "ipa", "--model", folder / "model.iso", "--report", folder / "page.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return folder, result


def coordinates(rows):
    return np.array([[float(row["x1"]), float(row["x2"])] for row in rows])


def test_embed_unfolds_a_table_with_text_and_gaps(roll):
    folder, result = roll
    rows = read_csv(folder / "map.csv")
    used = [i for i in range(N_ROWS) if i not in GAPS]
    assert [int(row["row"]) for row in rows] == used
    assert {row["kind"] for row in rows} == set(WORDS)
    truth = swiss_roll(N_ROWS, width=21.0, uniform=True, random_state=0).truth[used]
    assert procrustes_error(coordinates(rows), truth) < ROLL_ERROR
    assert result.stdout == ""


def test_embed_says_what_it_read_did_and_wrote(roll):
    folder, result = roll
    said = result.stderr
    assert "Read roll.csv: 400 rows, 398 of them used; 3 columns: 'x', 'y' and 'z'" in said
    assert "labels: 'kind'" in said
    assert "'name'" in said  # text is left out, and that is said
    assert "isometric patch alignment (ipa)" in said
    for words in ("How true is the map?", "trustworthiness", "continuity", "off by"):
        assert words in said
    for name in ("map.csv", "model.iso", "page.html"):
        assert any(line.startswith(f"  {folder / name} ") for line in said.splitlines())
    assert "Warning:" not in said
    assert "\x1b" not in said


def test_the_page_is_about_the_map(roll):
    page = (roll[0] / "page.html").read_text(encoding="utf-8")
    assert "<title>roll.csv" in page
    assert "IPA" in page
    assert "398" in page


def test_shell_and_page_give_the_same_verdict(roll):
    folder, result = roll
    told = json.loads(run("evaluate", folder / "roll.csv", folder / "map.csv", "--json").stdout)
    assert told["verdict"].startswith("You can read neighborhoods off this map")
    assert f">{told['verdict']}<" in (folder / "page.html").read_text(encoding="utf-8")
    assert told["verdict"] in " ".join(result.stderr.split())


def test_transform_puts_the_same_rows_to_the_same_places(roll, tmp_path):
    folder, _ = roll
    names = ("z", "kind", "y", "x")
    lines = [[row[name] for name in names] for row in read_csv(folder / "roll.csv")]
    write_csv(tmp_path / "new.csv", names, lines)  # other columns, in another order
    result = run("transform", folder / "model.iso", tmp_path / "new.csv", "-o", tmp_path / "n.csv")
    assert result.exit_code == 0, result.stderr
    before, after = read_csv(folder / "map.csv"), read_csv(tmp_path / "n.csv")
    assert [row["row"] for row in after] == [row["row"] for row in before]
    np.testing.assert_allclose(coordinates(after), coordinates(before), rtol=WRITTEN, atol=WRITTEN)
    assert "Placed 398 rows." in result.stderr
    assert "None lies far" in result.stderr


def test_transform_tells_of_rows_far_from_all_data(roll, tmp_path):
    write_csv(tmp_path / "far.csv", ["x", "y", "z"], [[300, 300, 300], [0, 500, 0]])
    result = run("transform", roll[0] / "model.iso", tmp_path / "far.csv", "-o", tmp_path / "f.npy")
    assert result.exit_code == 0, result.stderr
    assert "warning: 2 of 2 rows lie far from all rows" in result.stderr
    assert np.load(tmp_path / "f.npy").shape == (2, 2)


def test_transform_leads_points_of_the_map_back(roll, tmp_path):
    model, places = roll[0] / "model.iso", tmp_path / "places.csv"
    placed = coordinates(read_csv(roll[0] / "map.csv"))
    write_csv(places, ["x1", "x2"], [*placed.tolist(), [1e4, 1e4]])
    result = run("transform", model, places, "-o", tmp_path / "rows.csv", "--inverse")
    assert result.exit_code == 0, result.stderr
    assert "Led 399 points of the map back" in result.stderr
    assert "1 of 399 points lies where the map has no data" in result.stderr
    back = read_csv(tmp_path / "rows.csv")
    assert list(back[0]) == ["x", "y", "z", "outside"]
    assert back[-1]["outside"] == "true"
    rows = [row for i, row in enumerate(read_csv(roll[0] / "roll.csv")) if i not in GAPS]
    known, found = (np.array([[float(r[n]) for n in "xyz"] for r in t]) for t in (rows, back[:-1]))
    # In the units of the file, as far off as the charts of so few points are.
    assert np.sqrt(((found - known) ** 2).sum(axis=1).mean()) < ROLL_ERROR * known.std(axis=0).max()
    refused = run("transform", model, places, "-o", tmp_path / "rows.npy", "--inverse")
    assert refused.exit_code == 2
    assert ".parquet" in refused.stderr
    write_csv(places, ["x1", "x2", "x3"], [[0, 0, 0]])
    refused = run("transform", model, places, "-o", tmp_path / "r.csv", "--inverse")
    assert refused.exit_code == 2
    assert "3 columns" in refused.stderr
    np.save(tmp_path / "place.npy", placed[:1])
    result = run("transform", model, tmp_path / "place.npy", "-o", tmp_path / "r.csv", "--inverse")
    assert result.exit_code == 0, result.stderr
    assert read_csv(tmp_path / "r.csv") == back[:1]


def test_transform_by_a_model_that_python_saved(tmp_path):
    X = np.load(write_array(tmp_path / "sheet.npy"))
    model = IPA(random_state=0).fit(X)
    save(model, tmp_path / "model.iso")
    result = run(
        "transform", tmp_path / "model.iso", tmp_path / "sheet.npy", "-o", tmp_path / "m.npz"
    )
    assert result.exit_code == 0, result.stderr
    placed = np.load(tmp_path / "m.npz")["embedding"]
    np.testing.assert_array_equal(placed, model.transform(X))
    np.save(tmp_path / "wide.npy", np.ones((5, 4)) * np.arange(5)[:, None])
    result = run(
        "transform", tmp_path / "model.iso", tmp_path / "wide.npy", "-o", tmp_path / "w.npy"
    )
    assert result.exit_code == 2
    assert "made of 3 columns" in result.stderr


def test_evaluate_measures_what_python_does(roll):
    folder, _ = roll
    result = run("evaluate", folder / "roll.csv", folder / "map.csv", "--label", "kind", "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    rows = [row for row in read_csv(folder / "roll.csv") if row["x"]]
    X = np.array([[float(row[name]) for name in "xyz"] for row in rows])
    kinds = [row["kind"] for row in rows]
    card = scorecard(X, coordinates(read_csv(folder / "map.csv")), labels=kinds, random_state=0)
    assert {n: m["value"] for n, m in told["measures"].items()} == pytest.approx(
        {n: float(s) for n, s in card.items()}, rel=1e-9, abs=1e-9
    )


def test_evaluate_writes_tables_for_people_and_machines(roll):
    folder, _ = roll
    table = run("evaluate", folder / "roll.csv", folder / "map.csv").stdout
    assert table.startswith("398 points in 2-D, 12 neighbors")
    lines = run("evaluate", folder / "roll.csv", folder / "map.csv", "--csv", "-q")
    assert lines.stdout.splitlines()[0] == "measure,value,low,high,exact,best,meaning"
    assert lines.stderr == ""


def test_evaluate_takes_maps_of_other_tools(roll, tmp_path):
    folder, _ = roll
    Y = np.random.RandomState(0).rand(N_ROWS, 2)
    np.save(tmp_path / "all.npy", Y)  # of all rows
    write_csv(tmp_path / "used.csv", ["UMAP1", "UMAP2"], np.delete(Y, GAPS, axis=0))
    told = [
        json.loads(run("evaluate", folder / "roll.csv", tmp_path / name, "--json").stdout)
        for name in ("all.npy", "used.csv")
    ]
    assert told[0] == told[1]
    np.save(tmp_path / "few.npy", Y[:20])
    result = run("evaluate", folder / "roll.csv", tmp_path / "few.npy")
    assert result.exit_code == 2
    assert "20 rows" in result.stderr
    assert "400" in result.stderr


def test_evaluate_refuses_rows_that_are_not_in_the_data(roll, tmp_path):
    folder, _ = roll
    for numbers, words in (
        ((1, 1, 2), "each once"),
        ((0, 1, 900), "each once"),
        ((2, 3, 4), "1 row "),
    ):
        lines = [[number, i, i * i] for i, number in enumerate(numbers)]
        write_csv(tmp_path / "map.csv", ["row", "x1", "x2"], lines)
        result = run("evaluate", folder / "roll.csv", tmp_path / "map.csv")
        assert result.exit_code == 2
        assert words in result.stderr


def test_report_of_a_map_and_of_a_model(roll, tmp_path):
    folder, _ = roll
    for name, given in (
        ("map", [folder / "map.csv"]),
        ("model", ["--model", folder / "model.iso"]),
    ):
        page = tmp_path / f"{name}.html"
        result = run("report", folder / "roll.csv", *given, "-o", page, "--title", "A <b>roll</b>")
        assert result.exit_code == 0, result.stderr
        text = page.read_text(encoding="utf-8")
        assert "<title>A &lt;b&gt;roll" in text
        assert "How true is the map?" in result.stderr
    few = write_roll(tmp_path / "few.csv", 40)
    result = run("report", few, "--model", folder / "model.iso", "-o", tmp_path / "few.html")
    assert result.exit_code == 2
    assert "made of 398 rows" in result.stderr
    assert not (tmp_path / "few.html").exists()


@pytest.mark.parametrize("method", BY_SHELL_NAME)
def test_every_method_makes_a_map(method, tmp_path):
    path = write_csv(
        tmp_path / "sheet.csv",
        ["a", "b", "c", "group"],
        [
            [*row, "low" if row[2] < 0.5 else "high"]
            for row in np.load(write_array(tmp_path / "s.npy"))
        ],
    )
    result = run("embed", path, "-m", method, "-l", "group", "-o", tmp_path / "map.npy")
    assert result.exit_code == 0, result.stderr
    assert np.load(tmp_path / "map.npy").shape == (60, 2)


def test_auto_tells_its_decision_once(tmp_path):
    path = write_roll(tmp_path / "roll.csv", 120)
    result = run("embed", path, "-o", tmp_path / "map.csv", "--max-seconds", 5)
    assert result.exit_code == 0, result.stderr
    assert "The map of 2 dimensions was made by" in result.stderr
    assert result.stderr.count("trustworthiness") == 1
    assert "See decision_" not in result.stderr


def test_strict_fails_only_for_doubtful_maps(tmp_path):
    ball, outs = tmp_path / "ball.npy", [tmp_path / f"{i}.csv" for i in range(3)]
    np.save(ball, np.random.RandomState(0).randn(60, 12))
    plain = run("embed", ball, "-o", outs[0], "--max-seconds", 2)
    strict = run("embed", ball, "-o", outs[1], "-m", "ipa", "--strict", "--quiet")
    assert (plain.exit_code, strict.exit_code) == (0, 3)
    assert "does not keep distances" in plain.stderr
    assert all(line.startswith("warning: ") for line in strict.stderr.splitlines())
    assert strict.stderr
    assert all(len(read_csv(out)) == 60 for out in outs[:2])
    flat = write_array(tmp_path / "flat.npy")
    assert run("embed", flat, "-o", outs[2], "-m", "ipa", "--strict").exit_code == 0


def test_settings_reach_the_method(tmp_path):
    path = write_array(tmp_path / "sheet.npy", 120)
    model = tmp_path / "model.iso"
    result = run(
        "embed", path, "-m", "plml", "--model", model, "--seed", 7, "-k", 9,
        "--set", "refine=true", "--set", "cell_size=15", "--set", "merge=parallel",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    wanted = {"refine": True, "cell_size": 15, "merge": "parallel", "random_state": 7}
    parameters = load(model).get_params()
    assert {**wanted, "n_neighbors": 9}.items() <= parameters.items()


def test_the_balance_of_a_neighbor_map(tmp_path):
    path, model = write_array(tmp_path / "sheet.npy", 120), tmp_path / "model.iso"
    out, again = tmp_path / "map.csv", tmp_path / "again.csv"
    fit = ("embed", path, "-m", "neighbor-map", "-o", out, "--model", model, "-k", 9)
    result = run(*fit, "--set", "balance=0.2", "--set", "init=[[0,1]]")
    assert result.exit_code == 2
    assert "coordinates of shape (120, 2)" in result.stderr
    result = run(*fit, "--set", "balance=0.2", "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.stderr
    assert "The map keeps" in result.stderr + result.stdout
    assert load(model).get_params()["balance"] == 0.2
    assert "NeighborMap(balance=0.2, n_jobs=1, n_neighbors=9, random_state=0)" in (
        (tmp_path / "page.html").read_text(encoding="utf-8")
    )
    # Samples of the model keep their coordinates.
    assert run("transform", model, path, "-o", again).exit_code == 0
    np.testing.assert_allclose(
        coordinates(read_csv(again)), coordinates(read_csv(out)), rtol=WRITTEN
    )


def test_words_and_numbers_stand_for_objects(tmp_path):
    path, model = write_array(tmp_path / "sheet.npy"), tmp_path / "model.iso"
    for graph, made in (("bridged", Bridged()), ("0.9", Radius(0.9))):
        words = ("-m", "mvu", "--set", f"graph={graph}", "--set", "lengths=16")
        result = run("embed", path, "--model", model, "--force", *words)
        assert result.exit_code == 0, result.stderr
        parameters = load(model).get_params()
        assert (parameters["graph"], parameters["lengths"]) == (made, Soft(16.0))


def test_compare_goes_on_after_failures(tmp_path, monkeypatch):
    from isofold.cli import peers as _peers

    def fail(*_):
        msg = "no\nway"
        raise ArithmeticError(msg)

    absent = _peers.Peer(fail, "no_such_module", "no-such-package")
    monkeypatch.setitem(_peers.PEERS, "lle", _peers.Peer(fail))
    monkeypatch.setitem(_peers.PEERS, "umap", absent)
    path, table = write_array(tmp_path / "sheet.npy"), tmp_path / "table.csv"
    result = run("compare", path, "-m", "ipa,pca,lle,umap,colored-mvu", "-o", table)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["method", "ipa", "pca"]
    assert len({len(line) for line in lines[:3]}) == 1  # numbers end at the same place
    assert lines[3:] == [
        "lle: failed: no way",
        "umap: not installed (pip install no-such-package)",
        "colored-mvu: needs --label COLUMN",
    ]
    rows = {row["method"]: row for row in read_csv(table)}
    assert float(rows["ipa"]["length_error"]) < float(rows["pca"]["length_error"])
    assert rows["lle"]["length_error"] == ""


@pytest.mark.parametrize("peer", ["pca", "isomap", "tsne", "mds", "lle", "spectral"])
def test_scikit_learns_methods_run(peer, tmp_path):
    # Threads of OpenMP that wait for each other take long where cores are busy.
    with threadpool_limits(1):
        result = run("compare", write_array(tmp_path / "sheet.npy"), "-m", peer)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[1].split()[0] == peer


def test_compare_samples_where_a_method_would_not_end(tmp_path, monkeypatch):
    from dataclasses import replace

    from isofold.cli import peers as _peers

    monkeypatch.setitem(_peers.PEERS, "pca", replace(_peers.PEERS["pca"], most_rows=50))
    result = run("compare", write_array(tmp_path / "sheet.npy"), "-m", "pca")
    assert "pca was given 50 of 60 rows, drawn at random" in result.stderr


def test_dimension_of_a_sheet(tmp_path):
    path = write_roll(tmp_path / "roll.csv", 400)
    result = run("dimension", path)
    assert result.exit_code == 0, result.stderr
    assert "extend in about 2 of 3 directions" in result.stdout
    lines = result.stdout.splitlines()
    assert sum(line.startswith("dimension by ") for line in lines) == 6
    assert any(line.split() == ["median", "of", "all", "1.9"] for line in lines)
    told = json.loads(run("dimension", path, "--json").stdout)
    assert (told["rows"], told["columns"], told["suggested"]) == (400, 3, 2)
    assert told["median"] == np.median(list(told["estimates"].values()))


def test_demo_fills_a_folder_and_does_not_overwrite_it(tmp_path, monkeypatch):
    monkeypatch.setattr("isofold.cli.commands.demo.ROWS", 200)
    folder = tmp_path / "demo"
    result = run("demo", folder)
    assert result.exit_code == 0, result.stderr
    assert {path.name for path in folder.iterdir()} == {
        "roll.csv", "new.csv", "map.csv", "model.iso", "page.html",
    }  # fmt: skip
    tried = next(line for line in result.stderr.splitlines() if "isofold transform /" in line)
    assert run(*shlex.split(tried)[1:]).exit_code == 0
    assert len(read_csv(folder / "new-map.csv")) == 200
    again = run("demo", folder)
    assert again.exit_code == 2
    assert len(again.stderr.splitlines()) == 1


def test_datasets_are_listed_and_written(tmp_path, monkeypatch):
    listed = run("datasets").stdout.splitlines()
    names = [line.split()[0] for line in listed[1:]]
    assert set(datasets.SYNTHETIC) < set(names)
    assert "olive_oil" in names
    for name in datasets.SYNTHETIC:
        result = run("datasets", name, "-o", tmp_path / f"{name}.csv", "--rows", 20, "--noise", 0.1)
        assert result.exit_code == 0, result.stderr
        assert len(read_csv(tmp_path / f"{name}.csv")) == 20
    columns = set(read_csv(tmp_path / "swiss_roll.csv")[0])
    assert columns == {"x", "y", "z", "label", "true1", "true2"}
    monkeypatch.setenv("ISOFOLD_DATA", str(tmp_path))
    assert "olive_oil             real       absent" in run("datasets").stdout
    absent = run("datasets", "olive_oil", "-o", tmp_path / "olive.csv")
    assert absent.exit_code == 2
    assert "olive_oil.npz was not found" in absent.stderr
    assert len(absent.stderr.splitlines()) == 1


def test_datasets_suggests_a_line_that_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("datasets", "swiss_roll", "-o", "roll.csv", "--rows", 200).stderr
    line = next(line for line in said.splitlines() if line.startswith("Try: "))
    result = run(*shlex.split(line.removeprefix("Try: isofold ")), "-m", "ipa")
    assert result.exit_code == 0, result.stderr
    assert "3 columns: 'x', 'y' and 'z'" in result.stderr


def test_hostile_names_and_labels_stay_text(tmp_path):
    names = ["<script>alert(1)</script>", "a,b", 'q"uote', "=1+1", "\u202eback", "x\x1b[31m"]
    labels = ["<img src=x onerror=alert(1)>", "\U0001f600" * 10, "l" * 10_000]
    rng = np.random.RandomState(0)
    rows = [[*rng.rand(len(names)), labels[i % 3]] for i in range(60)]
    path = write_csv(tmp_path / "h.csv", [*names, "--force"], rows)
    result = run(
        "embed", path, "-o", tmp_path / "map.csv", "--label=--force", "-m", "ipa",
        "--report", tmp_path / "page.html", "--model", tmp_path / "m.iso",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "\x1b" not in result.stderr
    assert "\u202e" not in result.stderr
    assert max(map(len, result.stderr.splitlines())) < 2000
    assert {row["--force"] for row in read_csv(tmp_path / "map.csv")} == set(labels)
    again = run("transform", tmp_path / "m.iso", path, "-o", tmp_path / "again.csv")
    assert again.exit_code == 0, again.stderr
    chosen = run("embed", path, "-c", '"a,b",=1+1,q*', "-o", tmp_path / "c.csv", "-m", "ipa")
    assert chosen.exit_code == 0, chosen.stderr
    assert "3 columns" in chosen.stderr


def test_copies_can_be_measured(tmp_path):
    X = np.repeat(np.load(write_array(tmp_path / "sheet.npy")), 20, axis=0)
    scores = measure(X, X[:, :2], seed=0, jobs=1)
    assert scores == measure(X[::20], X[::20, :2], seed=0, jobs=1)
    assert np.isnan(measure(X[:1], X[:1, :2], seed=0, jobs=1).trustworthiness)


def test_figures_agree_between_commands(roll, tmp_path):
    folder, result = roll
    told = json.loads(run("evaluate", folder / "roll.csv", folder / "map.csv", "--json").stdout)
    value = told["measures"]["trustworthiness"]["value"]
    line = next(line for line in result.stderr.splitlines() if "trustworthiness" in line)
    assert f"{value:.3f}" in line
    table = tmp_path / "table.csv"
    run("compare", folder / "roll.csv", "-m", "ipa", "-o", table)
    assert float(read_csv(table)[0]["trustworthiness"]) == pytest.approx(value, rel=1e-9)


def test_a_warning_of_another_library_is_shown(tmp_path, monkeypatch):
    """Also one of the kind that isofold uses for its own findings, which are shown apart."""
    from sklearn.exceptions import ConvergenceWarning

    fit = LocalMDS.fit

    def warning_fit(self, X, y=None):
        warnings.warn("GaussianMixture did not converge.", ConvergenceWarning, stacklevel=1)
        return fit(self, X, y)

    monkeypatch.setattr(LocalMDS, "fit", warning_fit)
    write_roll(tmp_path / "roll.csv")
    done = run("embed", tmp_path / "roll.csv", "-o", tmp_path / "map.csv", "-m", "local-mds")
    assert "GaussianMixture did not converge." in done.stderr
