import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isofold.patches.from_clusters import cover_from_memberships, shared_counts
from support.hypothesis_profiles import examples


@examples(60)
@given(seed=st.integers(0, 2**31 - 1), n_patches=st.integers(1, 8), share=st.floats(0.0, 0.6))
def test_as_patch_by_patch(seed, n_patches, share):
    rng = np.random.RandomState(seed)
    table = rng.rand(40, n_patches) < share
    table[np.arange(40), rng.randint(n_patches, size=40)] = True
    table[rng.choice(40, n_patches, replace=False), np.arange(n_patches)] = True
    cover = cover_from_memberships(40, table, rng.rand(40, 3))
    pairs, counts = shared_counts(cover.members, cover.patches, n_patches)
    common = table.astype(int).T @ table.astype(int)
    i, j = np.nonzero(np.triu(common, k=1))
    np.testing.assert_array_equal(pairs, i * n_patches + j)
    np.testing.assert_array_equal(counts, common[i, j])


def test_no_patches_share_nothing():
    nothing = np.empty(0, dtype=np.int64)
    pairs, counts = shared_counts(nothing, nothing, 3)
    assert len(pairs) == len(counts) == 0
