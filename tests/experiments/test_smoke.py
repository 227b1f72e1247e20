"""Every experiment runs through on few points and writes whole tables.

Real data are replaced by made-up files of the same form. Pictures are drawn but not rendered: that
is matplotlib's work, and half of the time.
"""

import csv
import pkgutil
import re
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path

import pytest
from experiments.__main__ import PACKAGES
from experiments.__main__ import main as run_packages
from experiments.harness import LEAST_POINTS, Size, command, run, write_table
from experiments.real_data.methods import METHODS, available
from matplotlib.figure import Figure

import experiments
import isofold
from isofold.datasets import lift, swiss_roll
from support.stand_ins import write_stand_ins

FEW = Size(LEAST_POINTS)

UMAP, OPENTSNE = (int(find_spec(name) is not None) for name in ("umap", "openTSNE"))
"""Peers that are run where they are installed."""
NEIGHBOR_MAP = int(hasattr(isofold, "NeighborMap"))
REAL = len(list(available(METHODS)))
DOMINANCE = len(list(available(("UMAP", "PaCMAP", "densMAP", "TriMap", "PHATE", "NeighborMap"))))
"""Methods of the experiment on real data that may be missing."""


def where_any(name, n_rows):
    """Return the table, or none where it has no row."""
    return {name: n_rows} if n_rows else {}


# Rows of each table in a rehearsal: methods times data sets times settings, of which there are the
# first and the last. Experiments that read what others wrote come after them.
TABLES = {
    ("ipa_thesis", "hole"): {"thesis_hole": 8},
    ("ipa_thesis", "neighbors"): {"thesis_neighbors": 2 * 3 * 9},
    ("ipa_thesis", "star"): {"thesis_star": 5},
    ("ipa_thesis", "simple"): {"thesis_simple": 3 * 7},
    ("ipa_thesis", "million"): {"thesis_million": 5},
    ("ipa_thesis", "bridged"): {"thesis_bridged": 2},
    ("ipa_thesis", "spectra"): {"thesis_spectra": 2 * 2},
    ("ipa_thesis", "frey"): {"thesis_frey": 3},
    ("ipa_thesis", "mnist"): {"thesis_mnist": 5 + 4 + 3},
    ("ipa_real", "faces"): {"real_faces": 2 * (3 + UMAP)},
    ("ipa_real", "digits"): {"real_digits": 2 * (3 + UMAP)},
    ("ipa_real", "olive"): {"real_olive": 2 * (3 + UMAP)},
    ("ipa_real", "frey"): {"real_frey": 2 * (3 + UMAP)},
    ("ipa_real", "cities"): {"real_cities": 3 + UMAP},
    ("ipa_real", "every_dimension"): {"real_every_dimension": 2 * 2 * 2 * 2},
    ("ipa_failures", "draws", "tables"): {"ipa_failures": 2},
    ("hostile", "ipa", "unfold", "tables"): {"hostile_ipa": 2, "hostile_unfold": 2},
    ("hostile", "layers"): {"hostile_layers_single": 4, "hostile_layers_double": 2 * 4},
    ("disjoint_manifolds", "peers", "ours", "tables"): {
        "disjoint_BSC_peers": 8,
        "disjoint_Olivetti_peers": 2 * 8,
        "disjoint_BSC_ours": 3,
        "disjoint_Olivetti_ours": 2 * 3,
        "disjoint_table_4_1": 8 + 3,
        "disjoint_table_4_1_pieces": 8 + 3,
        "disjoint_table_4_2": 8 + 3,
        "disjoint_table_4_3": 8 + 3,
        "disjoint_table_4_4": 3,
        "disjoint_table_shape": 8 + 3,
    },
    ("disjoint_manifolds", "strategies"): {
        "disjoint_BSC_strategies": 2 * 2,
        "disjoint_COIL20_strategies": 2 * 2,
    },
    ("colored_mvu", "labels"): {"colored_mvu": 2 * 2 * 2},
    ("ldlc", "toys"): {"ldlc_toys": 2 * 6},
    ("ldlc", "twin_peaks"): {"ldlc_twin_peaks": 3 * 9, "ldlc_twin_peaks_neighbors": 3 * 2},
    ("ldlc", "olive_oil"): {"ldlc_olive_oil": 2 * 5, "ldlc_olive_oil_raw": 2 * 5},
    ("ldlc", "wine_quality"): {"ldlc_wine_quality": 2 * 3},
    ("ldlc", "wine_type"): {"ldlc_wine_type": 5},
    ("ldlc", "mnist_recognition"): {"ldlc_mnist_recognition": 3},
    ("ldlc", "frey_locality"): {"ldlc_frey_locality": 5},
    ("ldlc", "swiss_roll"): {"ldlc_swiss_roll": 6 * 3},
    ("ldlc", "mnist_patches"): {"ldlc_mnist_patches": 6},
    ("ldlc", "few_patches"): {"ldlc_few_patches": 2 * 2 * 2 * 4},
    ("unfolding", "v_shape"): {"eat_v_shape": 6},
    ("unfolding", "swiss_roll"): {"eat_swiss_roll": 2 * 4},
    ("unfolding", "half_globe"): {"eat_half_globe": 2},
    ("unfolding", "isomap_faces"): {"eat_isomap_faces": 2 * (4 + 1)},
    ("unfolding", "olivetti"): {"eat_olivetti": 6},
    ("unfolding", "kernels"): {"eat_kernels": 5 * 2 + 1},
    ("unfolding", "semi_supervised"): {"eat_semi_supervised": 2 * 2 * 4},
    ("unfolding", "thousand"): {"eat_thousand": 2},
    ("unfolding", "dual_spiral"): {"tessera_dual_spiral": 10},
    ("unfolding", "tessera_roll"): {"tessera_roll": 3, "tessera_roll_stages": 2},
    ("unfolding", "cities"): {"tessera_cities": 6},
    ("unfolding", "frey"): {"tessera_frey": 6},
    ("unfolding", "mnist"): {"tessera_mnist": 2 * 5},
    ("unfolding", "star"): {"tessera_star": 8},
    ("piecewise", "density"): {
        "density": 2 * 7,
        "density_by_k": 2 * 4,
        "density_short_cuts": 2,
    },
    ("piecewise", "noise"): {"noise": 2 * 7, "noise_by_k": 2 * 4},
    ("piecewise", "pieces_and_noise"): {"pieces_and_noise": 2},
    ("piecewise", "starts"): {"starts": 15, "starts_summary": 2 * 4},
    ("piecewise", "parallel_projections"): {"parallel_projections": 7 + 3},
    ("piecewise", "variants"): {"variants": 9},
    ("piecewise", "helix"): {"helix": 2 * 8},
    ("piecewise", "broken_roll"): {"broken_roll": 7},
    ("piecewise", "frey"): {"frey": 7},
    ("piecewise", "sculpture"): {"sculpture": 2 * 4},
    ("piecewise", "turntable"): {"turntable": 4, "objects": 2},
    ("piecewise", "refine"): {"refine": 2 * 3},
    ("out_of_sample", "table51"): {"table51": 5 * 8},
    ("out_of_sample", "neighbors_curve"): {"neighbors_curve": 2 * 4},
    ("out_of_sample", "scalings"): {"scalings": 2 * 5},
    ("out_of_sample", "bengio"): {"bengio": 8 + 9},
    ("out_of_sample", "faces"): {"faces": 3 * 7},
    ("out_of_sample", "border"): {"border": 6, "outside": 12},
    ("out_of_sample", "mvu"): {"mvu": (2 + 2) * 7},
    ("out_of_sample", "tsne"): {"tsne": 9},
    ("non_vector", "proteins"): {"non_vector_proteins": 2 * 12},
    ("non_vector", "molecules"): {"non_vector_molecules": 2 * 12},
    ("non_vector", "digits"): {"non_vector_digits": 3 * 12},
    ("non_vector", "zeros_and_ones"): {"non_vector_zeros_and_ones": 3 * 12},
    ("non_vector", "texts"): {"non_vector_texts": 2 * 12},
    ("non_vector", "doors"): {"non_vector_doors": 6 * 8 + 3 * 5},
    ("structure", "network"): {
        "structure_network": 2 * 2 * 7,
        "structure_network_growth": 2 * 3,
    },
    ("structure", "network_shapes"): {"structure_network_shapes": 2 * 5 * 7},
    ("structure", "network_sdp"): {"structure_network_sdp": 2},
    ("structure", "thesis"): {"proteins_thesis": 2 * 4, "proteins_thesis_runs": 2 * 2 * 4},
    ("structure", "template"): {"proteins_template": 2 * 4, "proteins_template_runs": 2 * 2 * 4},
    ("structure", "harder"): {
        "proteins_harder": 2 * 2,
        "proteins_harder_runs": 2 * 2 * 2,
        "proteins_harder_flags": 2 + 1,
    },
    ("structure", "sparse"): {
        "proteins_sparse": 2 * 2,
        "proteins_sparse_runs": 2 * 2 * 2,
        "proteins_sparse_flags": 2 + 1,
    },
    ("structure", "sizes"): {"proteins_sizes": 2, "proteins_indole": 1},
    ("structure", "certificates"): {"proteins_certificates": 2 * 2},
    ("shapes", "confusion"): {"shapes_by_case": 2, "shapes_by_code": 8},
    ("shapes", "graph_only"): {
        "shapes_graph_only_by_case": 2,
        "shapes_graph_only_by_code": 3,
    },
    ("shapes", "real"): {"shapes_real": 2 + 2},
    ("decisions", "surfaces"): {"decisions_surfaces": 2 * 2},
    ("decisions", "large"): {"decisions_large": 2},
    ("decisions", "pieces"): {"decisions_pieces": 2 * 2},
    ("decisions", "draws"): {"decisions_draws": 2, "decisions_draws_log": 2},
    ("decisions", "fresh"): {"decisions_fresh": 2, "decisions_fresh_log": 2},
    ("real_data", "tables"): {
        "real_data_2d": 2 * REAL,
        "real_data_2d_summary": 2,
        "real_data_2d_claims_LocalMDS": 2,
        "real_data_2d_claims_Unfold": 2,
        "real_data_2d_best_scale_LocalMDS": 2,
        "real_data_2d_best_scale_Unfold": 2,
        "real_data_own": 2 * (5 + UMAP),
        "real_data_own_summary": 2,
        "real_data_own_claims_LocalMDS": 2,
        "real_data_own_claims_Unfold": 2,
    },
    ("real_data", "dominance"): {
        "real_data_dominance": 4 * (3 + DOMINANCE),
        "real_data_dominance_summary": 4,
        "real_data_dominance_further": 4,
        "real_data_dominance_Unfold": 4,
        **where_any("real_data_dominance_NeighborMap", 4 * NEIGHBOR_MAP),
    },
    ("real_data", "pictures"): {},
    ("real_data", "choices"): {"real_data_choices": 4},
    ("real_data", "stability"): {"real_data_stability": 2 * (4 + UMAP + OPENTSNE + NEIGHBOR_MAP)},
    ("real_data", "seeds"): {"real_data_seeds": 2 + 1},
    ("real_data", "faces"): {"real_data_faces": 5 + UMAP},
    ("real_data", "mnist"): {"real_data_mnist": 2},
    ("real_data", "speed"): where_any("real_data_speed", 2 * (NEIGHBOR_MAP + UMAP)),
    ("real_data", "growth"): where_any("real_data_growth", 2 * (NEIGHBOR_MAP + UMAP)),
    ("real_data", "heldout"): where_any("real_data_heldout", 3 * (NEIGHBOR_MAP + UMAP + OPENTSNE)),
}

SLOW = {
    ("ipa_thesis", "hole"),
    ("ipa_thesis", "neighbors"),
    ("ipa_thesis", "star"),
    ("ipa_thesis", "simple"),
    ("ipa_thesis", "mnist"),
    ("ipa_thesis", "million"),
    ("ipa_real", "faces"),
    ("ipa_real", "digits"),
    ("ipa_real", "frey"),
    ("ipa_real", "cities"),
    ("ipa_real", "every_dimension"),
    ("hostile", "ipa", "unfold", "tables"),
    ("disjoint_manifolds", "peers", "ours", "tables"),
    ("ldlc", "twin_peaks"),
    ("ldlc", "mnist_recognition"),
    ("ldlc", "frey_locality"),
    ("ldlc", "swiss_roll"),
    ("ldlc", "mnist_patches"),
    ("ldlc", "few_patches"),
    ("ldlc", "toys"),
    ("ldlc", "olive_oil"),
    ("ldlc", "wine_type"),
    ("unfolding", "swiss_roll"),
    ("unfolding", "half_globe"),
    ("unfolding", "isomap_faces"),
    ("unfolding", "olivetti"),
    ("unfolding", "kernels"),
    ("unfolding", "semi_supervised"),
    ("unfolding", "tessera_roll"),
    ("unfolding", "cities"),
    ("unfolding", "frey"),
    ("unfolding", "mnist"),
    ("unfolding", "star"),
    ("unfolding", "thousand"),
    ("unfolding", "dual_spiral"),
    ("piecewise", "density"),
    ("piecewise", "noise"),
    ("piecewise", "starts"),
    ("piecewise", "parallel_projections"),
    ("piecewise", "broken_roll"),
    ("piecewise", "frey"),
    ("piecewise", "sculpture"),
    ("piecewise", "turntable"),
    ("piecewise", "pieces_and_noise"),
    ("piecewise", "variants"),
    ("piecewise", "refine"),
    ("out_of_sample", "neighbors_curve"),
    ("out_of_sample", "faces"),
    ("out_of_sample", "border"),
    ("out_of_sample", "mvu"),
    ("out_of_sample", "tsne"),
    ("non_vector", "molecules"),
    ("non_vector", "digits"),
    ("non_vector", "zeros_and_ones"),
    ("non_vector", "texts"),
    ("non_vector", "doors"),
    ("structure", "network"),
    ("structure", "network_shapes"),
    ("structure", "network_sdp"),
    ("structure", "template"),
    ("structure", "harder"),
    ("structure", "sparse"),
    ("structure", "certificates"),
    ("structure", "thesis"),
    ("shapes", "confusion"),
    ("shapes", "real"),
    ("decisions", "large"),
    ("decisions", "pieces"),
    ("decisions", "draws"),
    ("decisions", "fresh"),
    ("real_data", "tables"),
    ("real_data", "dominance"),
    ("real_data", "pictures"),
    ("real_data", "choices"),
    ("real_data", "stability"),
    ("real_data", "seeds"),
    ("real_data", "mnist"),
    ("real_data", "speed"),
    ("real_data", "growth"),
    ("real_data", "heldout"),
}
"""Long rehearsals of methods that shorter ones of the same package rehearse, too."""

WHERE_WRONG = {"shapes_errors", "shapes_graph_only_errors"}
"""Tables of errors, which are written where there are some."""

WORDS = ("warnings", "failure")
"""Columns with what methods say, in their own words."""


def registry(name):
    """Return the experiments of a package or module; None if it only helps others."""
    spec = find_spec(f"experiments.{name}")
    if spec.submodule_search_locations is not None:
        return import_module(f"experiments.{name}.__main__").EXPERIMENTS
    return getattr(import_module(f"experiments.{name}"), "EXPERIMENTS", None)


REGISTRIES = {
    module.name: found
    for module in pkgutil.iter_modules(experiments.__path__)
    if module.name != "__main__" and (found := registry(module.name)) is not None
}


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_stand_ins(folder)
    return folder


@pytest.fixture
def workplace(stand_ins, tmp_path, monkeypatch):
    monkeypatch.setenv("ISOFOLD_DATA", str(stand_ins))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Figure, "savefig", lambda _, path, **options: Path(path).touch())
    return tmp_path


def read_tables(folder):
    tables = {}
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            tables[path.stem] = list(csv.DictReader(file))
    return tables


def numbers(row):
    for cell in row.values():
        with suppress(ValueError):
            yield float(cell)


def assert_whole(rows):
    """Numbers are in every row, and none that is infinite or missing, not even among words."""
    for row in rows:
        found = list(numbers(row))
        text = " ".join(cell for key, cell in row.items() if key not in WORDS)
        assert all(map(isfinite, found)), row
        assert not re.search(r"\b(nan|inf)\b", text), row
        assert found or re.search(r"\d", text), row


@pytest.mark.parametrize(
    "chain",
    [pytest.param(chain, marks=[pytest.mark.slow] * (chain in SLOW)) for chain in TABLES],
    ids=" ".join,
)
def test_experiment_writes_whole_tables(chain, workplace):
    package, *names = chain
    out = workplace / "out"
    chosen = {name: REGISTRIES[package][name] for name in names}
    assert run(chosen, out, FEW) == []
    tables = read_tables(out)
    found = {name: len(rows) for name, rows in tables.items() if name not in WHERE_WRONG}
    assert found == TABLES[chain]
    for rows in tables.values():
        assert_whole(rows)
    assert list(workplace.iterdir()) == [out]


def test_every_experiment_is_tested():
    tested = {(package, name) for package, *names in TABLES for name in names}
    assert tested == {(package, name) for package, own in REGISTRIES.items() for name in own}


def test_every_package_is_rehearsed_in_every_run():
    assert set(TABLES) >= SLOW
    assert {package for package, *_ in set(TABLES) - SLOW} == set(REGISTRIES)


def test_every_package_is_run():
    assert sorted(PACKAGES) == sorted(REGISTRIES)
    makefile = (Path(experiments.__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    assert "-m experiments --out experiment-output" in makefile


def test_no_two_experiments_write_the_same_table():
    names = [name for tables in TABLES.values() for name in tables]
    assert len(set(names)) == len(names)


def test_one_failure_does_not_stop_the_others(tmp_path, capsys):
    def fails(folder, size):
        msg = "no such thing"
        raise ValueError(msg)

    def works(folder, size):
        write_table([{"points": size.points(500)}], folder / "works")

    own = {"first": fails, "second": works}
    arguments = ["--points", "99", "--out", str(tmp_path / "new" / "out")]
    with pytest.raises(SystemExit, match="1 of 2 failed: first"):
        command(own, "", arguments)
    assert read_tables(tmp_path / "new" / "out") == {"works": [{"points": "99"}]}
    assert "ValueError: no such thing" in capsys.readouterr().out
    command(own, "", ["second", *arguments])


def test_failing_packages_are_named(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", str(Path(experiments.__file__).parents[1]))
    arguments = ["--points", "99", "--out", str(tmp_path)]
    with pytest.raises(SystemExit, match="2 of 2 packages failed: missing, absent"):
        run_packages(arguments, packages=("missing", "absent"))
    assert "No module named experiments.missing" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [["--points", "5"], ["nonsense"]])
def test_wrong_arguments_are_refused(arguments, tmp_path, capsys):
    with pytest.raises(SystemExit) as refusal:
        command({}, "", [*arguments, "--out", str(tmp_path)])
    assert refusal.value.code == 2


@pytest.mark.parametrize("package", REGISTRIES)
def test_help_names_every_experiment(package, capsys):
    with pytest.raises(SystemExit) as end:
        command(REGISTRIES[package], "", ["--help"])
    assert end.value.code == 0
    shown = re.sub(r"\s+", "", capsys.readouterr().out)
    assert all(name in shown for name in REGISTRIES[package])
    assert "--points" in shown


def test_parts_of_data_keep_their_rows_together():
    roll = lift(swiss_roll(500, random_state=0), 5, random_state=0)
    part = Size(100).part(roll)
    assert part.X.shape == (100, 5)
    rows = [int(abs(roll.X - x).sum(axis=1).argmin()) for x in part.X]
    assert (rows[0], rows[-1], sorted(set(rows))) == (0, 499, rows)
    assert (part.truth == roll.truth[rows]).all()
    assert (Size().part(roll).X == roll.X).all()
