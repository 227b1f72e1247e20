"""Row blocks: tables that are read block by block, because they do not fit into memory."""

from isofold.blocks.paired import PairedBlocks, pair_blocks
from isofold.blocks.protocol import Block, MappedBlocks, RowBlocks
from isofold.blocks.read import read_blocks
from isofold.blocks.sample import KeyedSample, draw_sample
from isofold.blocks.statistics import ColumnStatistics
from isofold.blocks.write import write_blocks

__all__ = [
    "Block",
    "ColumnStatistics",
    "KeyedSample",
    "MappedBlocks",
    "PairedBlocks",
    "RowBlocks",
    "draw_sample",
    "pair_blocks",
    "read_blocks",
    "write_blocks",
]
