from isofold._typing import FloatArray, IntArray

def lengths(
    first: int,
    last: int,
    points: FloatArray,
    rows: IntArray,
    partners: IntArray,
    out: FloatArray,
) -> None: ...
def compare_ranks(
    before: FloatArray,
    after: FloatArray,
    own: IntArray,
    stands_for: FloatArray,
    weight: FloatArray,
    original: IntArray,
    embedded: IntArray,
    kept: IntArray,
    areas: FloatArray,
    histogram: FloatArray,
) -> None: ...
def ratio_sums(before: FloatArray, after: FloatArray, out: FloatArray) -> None: ...
def moments(before: FloatArray, after: FloatArray, own: IntArray, out: FloatArray) -> None: ...
def count_bins(
    squared: FloatArray, unit: float, weights: FloatArray, counts: FloatArray
) -> None: ...
def rank_moments(
    before: FloatArray,
    after: FloatArray,
    own: IntArray,
    units: FloatArray,
    mean_ranks: FloatArray,
    out: FloatArray,
) -> None: ...
def kept_order(before: FloatArray, after: FloatArray, own: IntArray, out: FloatArray) -> None: ...
