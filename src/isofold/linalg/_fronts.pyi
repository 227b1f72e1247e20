from isofold._typing import FloatArray, IntArray

def factor(
    data: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    order: IntArray,
    place: IntArray,
    columns: IntArray,
    rows: IntArray,
    row_starts: IntArray,
    parent: IntArray,
    panel_starts: IntArray,
    panels: FloatArray,
) -> bool: ...
def solve(
    panels: FloatArray,
    columns: IntArray,
    rows: IntArray,
    row_starts: IntArray,
    panel_starts: IntArray,
    right: FloatArray,
) -> None: ...
def row_sums(
    panels: FloatArray,
    columns: IntArray,
    rows: IntArray,
    row_starts: IntArray,
    panel_starts: IntArray,
    sums: FloatArray,
) -> None: ...
