"""Transcripts of the command line: exit codes and numbers to the last bit, words as texts."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from contract.freeze import SOURCE, Taken
from contract.frozen_pages import masked, read_page
from contract.frozen_stored import members
from support.command_runs import PATIENCE, write_array, write_csv, write_roll
from support.valid_files import valid_files

ENVIRONMENT = {
    "COLUMNS": "100",
    "ISOFOLD_DATA": "data",
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONPATH": str(SOURCE),
    "TERM": "dumb",
}
KEPT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")

MODEL = "embed roll.csv -m ipa -l kind -o map.csv --model model.iso"

# By name: command lines that run one after the other in a folder of their own.
TRANSCRIPTS = {
    "help": ["--help"],
    "version": ["--version"],
    "help embed": ["embed --help"],
    "help transform": ["transform --help"],
    "help evaluate": ["evaluate --help"],
    "help report": ["report --help"],
    "help compare": ["compare --help"],
    "help dimension": ["dimension --help"],
    "help demo": ["demo --help"],
    "help datasets": ["datasets --help"],
    "help completion": ["completion --help"],
    "embed auto": ["embed roll.csv -o map.csv --max-seconds 100000 --model model.iso"],
    "embed label report": [f"{MODEL} --report page.html"],
    "embed gaps": [
        "embed gaps.csv -m ipa -o map.csv",
        "embed gaps.csv -m ipa -o f.npy --missing median",
    ],
    "embed npy": ["embed sheet.npy -m mvu -o map.npy --strict"],
    "embed parquet": ["embed table.parquet -m local-mds -l color -o map.parquet --scale standard"],
    "embed h5ad": ["embed table.h5ad -m local-mds -l color -o map.tsv -k 7 --seed 5"],
    "embed npz": ["embed table.npz --key X -m local-mds -o map.npz --set n_epochs=40"],
    "embed columns": [
        "embed roll.csv -c x,z -m ipa -o map.csv",
        "embed roll.csv -x y -m ipa -o m.npy",
    ],
    "embed space": ["embed table.csv -d 3 -m local-mds -o map.csv"],
    "embed semicolons": ["embed plain.txt.csv --delimiter ';' --no-header -m plml -o map.csv"],
    "embed landmark mvu": ["embed roll.csv -m landmark-mvu -o map.npy --report page.html"],
    "embed fast mvu": ["embed sheet.npy -m fast-mvu -o map.npy"],
    "embed colored mvu": ["embed sheet.csv -m colored-mvu -l group -o map.csv --report page.html"],
    "embed disjoint mvu": ["embed sheet.csv -m disjoint-mvu -k 6 -o map.csv"],
    "embed eat": ["embed sheet.csv -m eat -o map.csv --set slack=0.01"],
    "embed tesseramap": ["embed roll.csv -m tesseramap -o map.csv --model model.iso"],
    "embed plml": ["embed roll.csv -m plml --set refine=true --set cell_size=15 -o map.csv"],
    "embed doubtful": [
        "embed ball.npy -m ipa -o map.csv --strict",
        "embed ball.npy -o auto.csv --max-seconds 100000 --quiet",
    ],
    "embed jobs": ["embed roll.csv -m ipa --set n_patches=10 --jobs 2 --seed 3 -o map.csv"],
    "transform": [MODEL, "transform model.iso new.csv -o new-map.csv"],
    "transform far": [MODEL, "transform model.iso far.csv -o far.npy"],
    "evaluate": [
        MODEL,
        "evaluate roll.csv map.csv -l kind",
        "evaluate roll.csv map.csv --json -k 8",
    ],
    "evaluate csv": ["evaluate sheet.npy flat.npy --csv", "evaluate sheet.npy flat.npy -q"],
    "report": [
        MODEL,
        "report roll.csv map.csv -o page.html -l kind --title 'A <b>roll</b>'",
        "report roll.csv --model model.iso -o model.html",
    ],
    "compare": ["compare sheet.csv -m ipa,pca,mvu,colored-mvu -l group -o scores.csv"],
    "compare without label": ["compare sheet.npy -m plml,isomap,colored-mvu"],
    "dimension": ["dimension roll.csv", "dimension ball.npy --json", "dimension table.csv --json"],
    "demo": ["demo there", "demo there"],
    "datasets": ["datasets"],
    "datasets written": [
        "datasets swiss_roll -o roll2.csv --rows 50 --noise 0.1 --seed 2",
        "datasets four_moons -o moons.parquet --rows 40",
    ],
    "datasets absent": ["datasets olive_oil -o olive.csv", "datasets unheard"],
    "completion": ["completion bash", "completion zsh", "completion fish", "completion ksh"],
    "wrong usage": [
        "embed",
        "embed roll.csv",
        "embed roll.csv --bad",
        "embed roll.csv -o b.csv -m best",
        "embed roll.csv -o b.csv -d auto -m mvu",
        "embed roll.csv -o b.csv -m ipa --max-seconds 3",
        "embed roll.csv -o b.csv -m colored-mvu",
    ],
    "wrong settings": [
        "embed roll.csv -o b.csv --set tolerance",
        "embed roll.csv -o b.csv --set nothing=3",
        "embed roll.csv -o b.csv -m mvu --set lengths=9z",
        "embed roll.csv -o b.csv -m mvu --set graph=loose",
        "embed roll.csv -o b.csv -m plml --set merge=glue",
        "embed roll.csv -o b.csv -c a,b",
    ],
    "wrong files": [
        "embed absent.csv -o b.csv",
        "embed roll.csv -o roll.csv -m ipa",
        "embed roll.csv -o b.txt",
        "embed gaps.csv -m ipa -o b.csv --missing error",
        "evaluate roll.csv flat.npy",
        "transform roll.csv roll.csv -o b.csv",
        "report roll.csv -o p.html",
        "compare roll.csv -m pca,magic",
        "embd",
    ],
    "wrong model": [MODEL, "transform model.iso ball.npy -o b.csv"],
    "mvu in pieces": ["embed moons.csv -m mvu -k 4 -o map.csv"],
}


def write_inputs(folder):
    """Write small files of all formats."""
    write_roll(folder / "roll.csv", 150)
    write_roll(folder / "gaps.csv", 150, seed=1, missing=(3, 77))
    write_roll(folder / "new.csv", 30, seed=2)
    write_csv(folder / "far.csv", ["x", "y", "z"], [[300, 300, 300], [0, 500, 0], [1, 2, 3]])
    sheet = np.load(write_array(folder / "sheet.npy"))
    rows = [[*row, "low" if row[2] < 0.5 else "high"] for row in sheet]
    write_csv(folder / "sheet.csv", ["a", "b", "c", "group"], rows)
    text = "\n".join(
        ";".join(map(repr, map(float, row))) for row in np.vstack([sheet, sheet + 0.01])
    )
    (folder / "plain.txt.csv").write_text(text + "\n", encoding="utf-8")
    np.save(folder / "flat.npy", sheet[:, 1:])
    np.save(folder / "ball.npy", np.random.RandomState(0).randn(60, 12))
    pieces = np.vstack([sheet, sheet + 50.0])
    write_csv(folder / "moons.csv", ["a", "b", "c"], pieces.tolist())
    for ending, content in valid_files().items():
        (folder / f"table.{ending}").write_bytes(content)


def columns_of(names, rows):
    """Return the columns of a table of texts as float64 where they are numbers, but for times."""
    found = {}
    for number, name in enumerate(names):
        column = np.array([row[number] for row in rows], dtype=str)
        if name == "seconds":
            continue
        try:
            found[name] = column.astype(np.float64)
        except ValueError:
            found[name] = column
    return found


def read_output(path):
    """Return the numbers of a file that a command wrote, and its texts."""
    if path.suffix in (".csv", ".tsv"):
        text = path.read_text(encoding="utf-8")
        names, *rows = csv.reader(
            io.StringIO(text), delimiter="\t" if path.suffix == ".tsv" else ","
        )
        return Taken(columns_of(names, rows))
    if path.suffix == ".npy":
        return Taken({"array": np.load(path)})
    if path.suffix == ".npz":
        with np.load(path) as file:
            return Taken({name: file[name] for name in file.files})
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return Taken({name: np.array(table[name].to_pylist()) for name in table.column_names})
    if path.suffix == ".iso":
        return members(path)
    if path.suffix == ".html":
        return read_page(path.read_text(encoding="utf-8"))
    return Taken({"bytes": np.frombuffer(path.read_bytes(), dtype=np.uint8)})


def numbers_told(words, stdout):
    """Return the numbers that a command wrote for machines."""
    if "--json" in words and stdout:
        return leaves(json.loads(stdout), "json")
    if "--csv" in words and stdout:
        names, *rows = csv.reader(io.StringIO(stdout))
        return {f"csv {name}": column for name, column in columns_of(names, rows).items()
                if name not in ("best", "meaning")}  # fmt: skip
    return {}


def leaves(value, where):
    """Return the numbers of a structure by their place in it."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        found = {}
        for key, part in pairs:
            found.update(leaves(part, f"{where} {key}"))
        return found
    is_number = isinstance(value, int | float)
    return {where: np.asarray(value)} if is_number else {}


def said(words, text, folder):
    """Return what a command said, without durations, sizes and the place of its folder."""
    text = masked(text.replace(str(folder), "<folder>").replace(str(SOURCE), "<source>"))
    text = re.sub(r" +<size>", " <size>", text)
    if words[0] == "compare":
        # The last column of the table is the time.
        text = re.sub(r"(?m) +\d+\.\d$", " <time>", text)
        text = re.sub(r" {2,}", "  ", text)
    return text


def run_line(words, folder):
    """Run a command line as a program of its own."""
    return subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-m", "isofold", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={name: os.environ[name] for name in KEPT if name in os.environ} | ENVIRONMENT,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
    )


def take(lines):
    """Run command lines and return what came of them."""
    arrays, texts = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_inputs(folder)
        given = {path: path.read_bytes() for path in folder.iterdir()}
        for number, line in enumerate(lines):
            words = shlex.split(line)
            result = run_line(words, folder)
            arrays[f"{number} exit code"] = np.array(result.returncode)
            told = numbers_told(words, result.stdout)
            arrays.update({f"{number} {place}": value for place, value in told.items()})
            texts[f"{number} stdout"] = said(words, result.stdout, folder)
            texts[f"{number} stderr"] = said(words, result.stderr, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        made = [path for path in files if given.get(path) != path.read_bytes()]
        arrays["files"] = np.array([str(path.relative_to(folder)) for path in made], dtype=str)
        for path in made:
            output, where = read_output(path), path.relative_to(folder)
            arrays.update({f"{where} {key}": value for key, value in output.arrays.items()})
            texts.update({f"{where} {key}": text for key, text in output.texts.items()})
    return Taken(arrays, texts)


def cases():
    """Return all transcripts by name."""
    return {name: partial(take, lines) for name, lines in TRANSCRIPTS.items()}
