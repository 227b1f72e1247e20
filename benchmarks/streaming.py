"""Tables that are read block by block: from file to file, with the peak memory of all processes.

Rows of the holed roll are generated block by block into Parquet files, which are removed at the
end; block i has seed i, so that true coordinates of a sample can be made again. What a pass costs
at least is to read the file and to write one of two columns (pyarrow); a projection on principal
axes is what people with so many rows use today (scikit-learn's IncrementalPCA).
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Case
from benchmarks.ipa_data import Sheet, roll

ROWS = 500_000
"""Rows that are generated at a time."""

N_JUDGED = 10_000
"""Rows of the first and of the last block at which errors are taken."""

SIZES = (1_000_000, 10_000_000, 100_000_000)
LIFTED_SIZES = (1_000_000, 10_000_000)
N_FEATURES, NOISE = 20, 0.1
NOISES, SAMPLES, N_TRIED = (0.05, 0.1, 0.2, 0.4), (20_000, 80_000), 200_000
"""What more rows could gain under noise: a sample four times as large."""

OURS, SHELL, PCA, READING = "isofold IPA", "isofold embed", "IncrementalPCA", "pyarrow, copy only"


@dataclass(frozen=True, eq=False)
class Table:
    """A table in a file that is removed with it.

    Attributes
    ----------
    path : Path
        The file.
    n : int
        Its rows.
    make : callable
        Makes a block of n rows from a seed.
    """

    path: Path
    n: int
    make: Callable[[int, int], Sheet] = field(repr=False)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield seed and size of every block."""
        for number, start in enumerate(range(0, self.n, ROWS)):
            yield number, min(ROWS, self.n - start)

    def figures(self, output: Path) -> dict[str, Any]:
        """Return the error of a written map at some rows, and remove all files."""
        from isofold import read_blocks

        first, last = 0, (self.n - 1) // ROWS
        judged = [self.make(ROWS if last else self.n, first), self.make(self.n - last * ROWS, last)]
        images, start = {}, 0
        for part in read_blocks(output).parts():
            stop = start + int(part.n_rows or 0)
            for row in {0, last * ROWS}:
                if start <= row < stop:
                    rows = np.vstack(list(part.read()))[row - start :]
                    images[row] = rows[:N_JUDGED, -2:]
            start = stop
        truth = np.vstack([sheet.truth[:N_JUDGED] for sheet in judged])
        sheet = Sheet(truth, truth, judged[0].noise)
        shutil.rmtree(self.path.parent)
        found = np.vstack([images[0], images[last * ROWS]])
        return {"error": sheet.error(found), "floor": sheet.floor}


def _written(n: int, make: Callable[[int, int], Sheet]) -> Table:
    """Generate a table into a file."""
    import pyarrow as pa
    from pyarrow import parquet

    table = Table(Path(tempfile.mkdtemp(prefix="isofold-bench-")) / "rows.parquet", n, make)
    writer = None
    for seed, size in table.blocks():
        X = make(size, seed).X.astype(np.float32)
        batch = pa.record_batch(
            list(np.ascontiguousarray(X.T)), [f"f{i}" for i in range(X.shape[1])]
        )
        writer = parquet.ParquetWriter(table.path, batch.schema) if writer is None else writer
        writer.write_batch(batch)
    writer.close()
    return table


def _unfold(table: Table) -> dict[str, Any]:
    """Unfold a table from file to file, in Python."""
    from isofold import IPA, read_blocks
    from isofold.blocks import write_blocks

    output = table.path.with_name("map.parquet")
    model = IPA(random_state=0, n_jobs=-1)
    write_blocks(model.fit_transform(read_blocks(table.path)), output)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"process_mb": peak, "far": model.stream_.n_far, **table.figures(output)}


def _embed(table: Table) -> dict[str, Any]:
    """Unfold a table from file to file by the command line."""
    output = table.path.with_name("map.parquet")
    command = [sys.executable, "-m", "isofold", "embed", str(table.path), "-o", str(output)]
    options = ["--method", "ipa", "--memory", "2GB", "--jobs", "2"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"process_mb": peak, **table.figures(output)}


def _project(table: Table) -> dict[str, Any]:
    """Project a table on its principal axes."""
    from sklearn.decomposition import IncrementalPCA

    from isofold import read_blocks
    from isofold.blocks import MappedBlocks, write_blocks

    blocks, pca = read_blocks(table.path), IncrementalPCA(2)
    for block in blocks:
        pca.partial_fit(block.rows)
    output = table.path.with_name("map.parquet")
    write_blocks(MappedBlocks(blocks, pca.transform, 2), output)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"process_mb": peak, **table.figures(output)}


def _copy(table: Table) -> dict[str, Any]:
    """Read a table twice, and write two of its columns."""
    from pyarrow import parquet

    output = table.path.with_name("map.parquet")
    with parquet.ParquetFile(table.path) as file:
        for _ in file.iter_batches(ROWS):
            pass
        names = file.schema_arrow.names[:2]
        with parquet.ParquetWriter(
            output, file.schema_arrow.empty_table().select(names).schema
        ) as out:
            for batch in file.iter_batches(ROWS, columns=names):
                out.write_batch(batch)
    shutil.rmtree(table.path.parent)
    return {"process_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _noisy(n: int, seed: int) -> Sheet:
    """Return the roll in more features, the same ones for all blocks, with noise in each."""
    sheet, rng = roll(n, seed), np.random.default_rng(seed)
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(N_FEATURES, 3)))[0]
    X = sheet.X @ axes.T + rng.normal(0.0, NOISE, (n, N_FEATURES))
    return replace(sheet, X=X, noise=NOISE)


def _noisy_rows(noise: float) -> Sheet:
    """Return rows of the roll in more features, in memory."""
    sheet, rng = roll(N_TRIED, 0), np.random.default_rng(5)
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(N_FEATURES, 3)))[0]
    X = sheet.X @ axes.T + rng.normal(0.0, noise, (N_TRIED, N_FEATURES))
    return replace(sheet, X=X, noise=noise, judged=np.arange(N_TRIED) >= N_TRIED // 2)


def _try_sample(size: int, sheet: Sheet) -> dict[str, Any]:
    """Return how far above the floor of the noise a sample leaves rows that it does not hold."""
    from isofold import IPA, read_blocks

    half = read_blocks(sheet.X[: N_TRIED // 2])
    model = IPA(random_state=0, n_jobs=-1).fit(half, sample_size=size)
    return {"error_over_floor": sheet.error(model.transform(sheet.X)) / sheet.floor}


def _digits_written(n: int) -> Table:
    """Generate digits with noise into a file."""
    return _written(n, _digits)


def _digits(n: int, seed: int) -> Sheet:
    """Return blends of two near digits in 64 columns, with noise."""
    from sklearn.datasets import load_digits
    from sklearn.neighbors import NearestNeighbors

    digits, rng = load_digits().data, np.random.default_rng(seed)
    near = NearestNeighbors(n_neighbors=6).fit(digits).kneighbors(digits, return_distance=False)
    first = rng.integers(len(digits), size=n)
    second = near[first, rng.integers(1, 6, size=n)]
    part = rng.uniform(size=(n, 1))
    X = part * digits[first] + (1 - part) * digits[second] + rng.normal(0.0, 0.5, (n, 64))
    return Sheet(X, digits[first, :2])


def _map_digits(table: Table) -> dict[str, Any]:
    """Map digits by the method for data of more dimensions than the map."""
    from isofold import NeighborMap, read_blocks
    from isofold.blocks import write_blocks
    from isofold.quality import trustworthiness

    output, blocks = table.path.with_name("map.parquet"), read_blocks(table.path)
    model = NeighborMap(random_state=0, n_jobs=-1)
    images = model.fit_transform(blocks)
    write_blocks(images, output)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = next(iter(blocks)).rows[:5000]
    kept = trustworthiness(rows, next(iter(images)).rows[:5000], n_neighbors=12)
    shutil.rmtree(table.path.parent)
    stream = model.stream_
    return {
        "process_mb": peak,
        "trustworthiness": float(kept),
        "held_out": stream.held_out_error,
        "fitted": stream.fitted_error,
    }


def _roll_task(n: int) -> str:
    return f"holed roll, {n:,} x 3, file to file"


def _lifted_task(n: int) -> str:
    return f"roll in {N_FEATURES} features, noise {NOISE}, {n:,} rows"


_ROLLS: list[tuple[str, Callable[[Table], dict[str, Any]]]] = [
    (OURS, _unfold),
    (SHELL, _embed),
    (PCA, _project),
    (READING, _copy),
]

CASES = [
    *(
        Case(_roll_task(n), method, partial(_written, n, roll), run, is_slow=n > SIZES[0])
        for n in SIZES
        for method, run in _ROLLS
    ),
    *(
        Case(_lifted_task(n), OURS, partial(_written, n, _noisy), _unfold, is_slow=n > SIZES[0])
        for n in LIFTED_SIZES
    ),
    *(
        Case(
            f"roll in {N_FEATURES} features, noise {noise}, rows beyond the sample",
            f"isofold IPA, sample of {size:,}",
            partial(_noisy_rows, noise),
            partial(_try_sample, size),
            is_slow=True,
        )
        for noise in NOISES
        for size in SAMPLES
    ),
    *(
        Case(
            f"digits with noise, {n:,} x 64",
            "isofold NeighborMap",
            partial(_digits_written, n),
            _map_digits,
            is_slow=True,
        )
        for n in LIFTED_SIZES
    ),
]
