from isofold._typing import FloatArray, IntArray

def pack(
    rows: FloatArray,
    centers: FloatArray,
    sizes: IntArray,
    panels: FloatArray,
    norms: FloatArray,
) -> None: ...
def scan(
    queries: FloatArray,
    probes: IntArray,
    centers: FloatArray,
    starts: IntArray,
    first_panels: IntArray,
    entries: IntArray,
    panels: FloatArray,
    norms: FloatArray,
    squares: FloatArray,
    found: IntArray,
) -> None: ...
def rank(
    queries: FloatArray,
    points: FloatArray,
    candidates: IntArray,
    distances: FloatArray,
    indices: IntArray,
) -> None: ...
def screen(
    queries: FloatArray,
    points: FloatArray,
    rows: FloatArray,
    row_norms: FloatArray,
    panels: FloatArray,
    norms: FloatArray,
    unit: float,
    distances: FloatArray,
    indices: IntArray,
) -> None: ...
