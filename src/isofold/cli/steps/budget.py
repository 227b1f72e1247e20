"""How much memory a table that is read block by block may take: sample and blocks that fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import click

from isofold._format import bytes_text
from isofold._memory import BLOCK_BYTES
from isofold.embedding.catalog import BY_CLASS

if TYPE_CHECKING:
    from isofold.embedding.streaming import StreamedFit

__all__ = ["BudgetRules", "plan_blocks", "plan_fit"]

MB = 10**6


@dataclass(frozen=True)
class BudgetRules:
    """What a run takes, in bytes.

    Attributes
    ----------
    base : int
        Python with all libraries.
    fit, ipa_fit : int
        A fit, whatever the size of its sample: of `IPA`, and of methods that may compute dense
        matrices. On noise without structure, the worst case, 20,000 rows take 531 MB in all by
        `IPA` and 778 MB by `LocalMDS`; on a rolled sheet 306 MB.
    fitted_row, fitted_number : int
        A fit, for every row and for every number in it.
    held_row, held_number : int
        Sample and model while blocks are read, for every fitted row and every number in it.
    pair : int
        For every pair of fitted rows, of methods that are made for some thousand rows.
    column : int
        For every column: exact sums of its numbers, of a block and of all rows.
    block_copies : int
        Copies of a block in double precision.
    least_block : int
        Bytes of the smallest block that is worth reading.
    most_rows : int
        Rows of a block, so that few are lost with it, and its end is seen after a second or so.
    written : int
        A row group of the map, while it is written.
    model_copies : int
        How many times larger a model is in memory than in its file.
    """

    base: int = 260 * MB
    fit: int = 420 * MB
    ipa_fit: int = 150 * MB
    fitted_row: int = 6000
    fitted_number: int = 48
    held_row: int = 2000
    held_number: int = 32
    pair: int = 64
    column: int = 270_000
    block_copies: int = 9
    least_block: int = MB
    most_rows: int = 2**18
    written: int = 90 * MB
    model_copies: int = 8


RULES = BudgetRules()


def plan_fit(
    work: StreamedFit, memory: int | None, n_columns: int, rules: BudgetRules = RULES
) -> tuple[StreamedFit, int]:
    """Return a fit with samples that fit into memory, and the rows of blocks that do."""
    if memory is None:
        return work, _rows(BLOCK_BYTES * rules.block_copies, n_columns, rules)
    is_quadratic = BY_CLASS[type(work.embedder).__name__].most_rows is not None

    own = rules.ipa_fit if type(work.embedder).__name__ == "IPA" else rules.fit
    smallest = rules.block_copies * rules.least_block

    def held(size: int) -> int:
        rows = size + work.rules.n_held_out
        return _fixed(n_columns, rules) + rows * (rules.held_row + rules.held_number * n_columns)

    def taken(size: int) -> int:
        rows = size + work.rules.n_held_out
        pairs = rules.pair * size**2 if is_quadratic else 0
        by_row = rules.fitted_row + rules.fitted_number * n_columns
        return max(rules.base + own + rows * by_row + pairs, held(size) + smallest)

    if taken(work.sizes[0]) > memory:
        _refuse(memory, taken(work.sizes[0]), f"a sample of {work.sizes[0]:,} rows")
    largest = work.sizes[-1]
    while taken(largest) > memory:
        largest = max(work.sizes[0], largest - 1000)
    sizes = (*(size for size in work.sizes if size < largest), largest)
    return replace(work, sizes=sizes), _rows(memory - held(largest), n_columns, rules)


def plan_blocks(
    memory: int | None, n_columns: int, model_bytes: int, rules: BudgetRules = RULES
) -> int:
    """Return the rows of blocks that fit into memory beside a model, or refuse too little."""
    if memory is None:
        return _rows(BLOCK_BYTES * rules.block_copies, n_columns, rules)
    fixed = _fixed(n_columns, rules) + rules.model_copies * model_bytes
    smallest = rules.block_copies * rules.least_block
    if fixed + smallest > memory:
        _refuse(memory, fixed + smallest, "the model")
    return _rows(memory - fixed, n_columns, rules)


def _fixed(n_columns: int, rules: BudgetRules) -> int:
    return rules.base + rules.written + rules.column * n_columns


def _rows(room: int, n_columns: int, rules: BudgetRules) -> int:
    size = min(BLOCK_BYTES, max(rules.least_block, room // rules.block_copies))
    return max(1, min(rules.most_rows, size // (8 * n_columns)))


def _refuse(memory: int, least: int, what: str) -> NoReturn:
    needed = -(-least // (10 * MB)) * 10 * MB
    msg = (
        f"--memory {bytes_text(memory)} is too little: with {what} and the libraries at least "
        f"{bytes_text(needed)} are needed."
    )
    raise click.UsageError(msg, click.get_current_context(silent=True))
