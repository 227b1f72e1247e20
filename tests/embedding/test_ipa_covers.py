"""IPA with the covers, charts and terms that a user may bring."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from isofold import IPA, Cover
from isofold.exceptions import InvalidInputError
from isofold.quality import procrustes_error
from isofold.sdp import Status
from isofold.stitching import StitchTerms
from support.helpers import cover_of
from support.ipa_cases import embed_quietly, grid, half_cylinder, rectangle
from support.quick import quick_first

# Clusters of area 4.7/20 on half a cylinder of radius 1, as expanded by a half, are .36 wide to
# either side. Lengths of flat charts lose (.36)²/6 of themselves; curved ones are wrong by the next
# order.
FLAT, CURVED = 0.022, 0.01
# Paths in a graph of six neighbors zigzag: they are a tenth or so too long.
ZIGZAG = 0.15
# Bounds are met to this relative error of lengths.
LENGTH = 1e-4


def model(**parameters):
    return IPA(**{"random_state": 0, "n_jobs": 1, **parameters})


@pytest.fixture(scope="module")
def sheet():
    """Return half a cylinder and the rectangle that it was."""
    flat = rectangle(500, (np.pi, 1.5))
    return half_cylinder(flat), flat


@pytest.fixture(scope="module")
def labels(sheet):
    return KMeans(20, n_init=1, random_state=0).fit_predict(sheet[0])


@pytest.fixture(scope="module")
def patches(sheet):
    """Return overlapping windows of the rectangle, each point in one at least."""
    flat, side = sheet[1], 0.5
    corners = np.arange(0.0, np.pi, side / 2), np.arange(0.0, 1.5, side / 2)
    centers = np.stack(np.meshgrid(*corners), axis=-1).reshape(-1, 2)
    inside = (np.abs(flat[:, None] - centers) <= side / 2).all(axis=2)
    windows = [np.flatnonzero(column) for column in inside.T]
    return [members for members in windows if len(members) >= 8]


def table_of(patches, n_points):
    table = np.zeros((n_points, len(patches)), dtype=int)
    for patch, members in enumerate(patches):
        table[members, patch] = 1
    return table


@pytest.mark.parametrize(
    "cover",
    ["kmeans", "ldlc", KMeans(20, n_init=1), AgglomerativeClustering(20)],
    ids=["kmeans", "ldlc", "KMeans", "AgglomerativeClustering"],
)
def test_clusters(sheet, cover):
    ipa = model(cover=cover, n_patches=20)
    Y = embed_quietly(ipa, sheet[0])
    assert procrustes_error(Y, sheet[1]) < CURVED
    assert ipa.cover_.by_overlap
    assert (ipa.component_ == 0).all()
    np.testing.assert_array_equal(ipa.transform(sheet[0]), Y)


@pytest.mark.parametrize("seed", range(3))
def test_thesis(sheet, seed):
    ipa = model(cover="kmeans", n_patches=20, chart="pca", random_state=seed)
    assert procrustes_error(ipa.fit_transform(sheet[0]), sheet[1]) < FLAT
    assert ipa.solution_.status is Status.CERTIFIED


class Choosy(KMeans):
    """Calls every tenth point noise, as density-based clusterers do."""

    def fit_predict(self, X, y=None):
        labels = super().fit_predict(X)
        labels[::10] = -1
        return labels


def test_clusterer_that_calls_some_points_noise(sheet):
    Y = embed_quietly(model(cover=Choosy(20, n_init=1, random_state=0)), sheet[0])
    assert procrustes_error(Y, sheet[1]) < CURVED


class Empty(KMeans):
    def fit_predict(self, X, y=None):
        return np.full(len(X), -1)


def test_clusterer_that_finds_nothing(sheet):
    with pytest.raises(InvalidInputError, match=r"Empty called all 500 points noise.*Loosen"):
        model(cover=Empty()).fit(sheet[0])


def test_labels_in_any_form(sheet, labels):
    first = embed_quietly(model(cover=Cover.labels(labels)), sheet[0])
    assert procrustes_error(first, sheet[1]) < CURVED
    # Order of the names is that of the numbers, so that patches are numbered alike.
    for same in (list(labels), 7 * labels - 100, np.array([f"{label:02d}" for label in labels])):
        np.testing.assert_array_equal(embed_quietly(model(cover=cover_of(same)), sheet[0]), first)


def test_table_in_any_form(sheet, patches):
    table = table_of(patches, 500)
    first = embed_quietly(model(cover=Cover.patches(table)), sheet[0])
    assert procrustes_error(first, sheet[1]) < CURVED
    for same in (
        table.astype(bool),
        table.astype(float),
        sp.csr_array(table),
        sp.csc_matrix(table),
    ):
        np.testing.assert_array_equal(embed_quietly(model(cover=cover_of(same)), sheet[0]), first)


def test_lists_of_members_are_a_table(sheet, patches):
    first = embed_quietly(model(cover=Cover.patches(table_of(patches, 500))), sheet[0])
    assert len({len(members) for members in patches}) > 1
    for same in (patches, [list(members) for members in patches], tuple(map(tuple, patches))):
        np.testing.assert_array_equal(embed_quietly(model(cover=cover_of(same)), sheet[0]), first)


def test_given_patches_are_used_as_they_are(sheet, patches):
    ipa = model(cover=Cover.patches(table_of(patches, 500)))
    embed_quietly(ipa, sheet[0])
    assert ipa.cover_.n_patches == len(patches)
    for patch, members in enumerate(patches):
        np.testing.assert_array_equal(ipa.node_samples_[ipa.cover_.members_of(patch)], members)


def test_labels_of_copies(sheet, labels):
    X, twice = np.concatenate([sheet[0], sheet[0]]), np.concatenate([labels, labels])
    Y = embed_quietly(model(cover=cover_of(twice)), X)
    np.testing.assert_array_equal(Y[:500], Y[500:])
    np.testing.assert_array_equal(
        Y[:500], embed_quietly(model(cover=Cover.labels(labels)), sheet[0])
    )


def test_cover_of_more_samples_than_are_drawn(monkeypatch, sheet, labels):
    monkeypatch.setattr("isofold.embedding.ipa.SAMPLE_SIZES", (300, 400))
    ipa = model(cover=Cover.labels(labels))
    Y = embed_quietly(ipa, sheet[0])
    assert len(ipa.node_samples_) <= 400
    assert procrustes_error(Y, sheet[1]) < CURVED


@pytest.mark.parametrize("n_patches", [80, 150, 300])
def test_number_of_balls(sheet, n_patches):
    ipa = model(n_patches=n_patches)
    Y = embed_quietly(ipa, sheet[0])
    assert n_patches / 2 < ipa.cover_.n_patches < 2 * n_patches
    assert procrustes_error(Y, sheet[1]) < CURVED


def test_number_of_clusters(sheet):
    ipa = model(cover="kmeans", n_patches=30)
    embed_quietly(ipa, sheet[0])
    # Clusters that a graph tears are split, tiny ones joined.
    assert 15 <= ipa.cover_.n_patches <= 45


@pytest.mark.parametrize(
    ("chart", "error"),
    quick_first([(PCA(2), FLAT), (Isomap(n_neighbors=6, n_components=2), ZIGZAG)]),
    ids=["PCA", "Isomap"],
)
def test_chart_by_an_embedder(sheet, labels, chart, error):
    ipa = model(chart=chart, cover=Cover.labels(labels))
    Y = embed_quietly(ipa, sheet[0])
    assert procrustes_error(Y, sheet[1]) < error
    np.testing.assert_array_equal(ipa.transform(sheet[0]), Y)
    # Charts by embedders lead nowhere back, but the neighbors on the map do.
    # The nodes know their images up to rounding.
    np.testing.assert_allclose(ipa.inverse_transform(Y), sheet[0], atol=1e-12)


def test_charts_by_principal_axes_are_those_of_the_embedder():
    # On flat data nothing is cut off, and both must be exact.
    flat = grid()
    X = np.pad(flat, ((0, 0), (0, 1)))
    for chart in ("pca", PCA(2)):
        assert procrustes_error(model(chart=chart).fit_transform(X), flat) < 1e-12


class Frozen(BaseEstimator):
    """Embeds a patch, but no other points."""

    def fit_transform(self, X, y=None):
        return PCA(2).fit_transform(X)


def test_chart_without_transform_is_refused_by_name(sheet):
    with pytest.raises(InvalidInputError, match=r"chart=Frozen\(\) cannot.*and transform"):
        embed_quietly(model(chart=Frozen()), sheet[0])


def test_chart_of_too_many_columns_is_refused(sheet):
    with pytest.raises(InvalidInputError, match=r"PCA.*3\) for a patch of.*1 to 2 columns"):
        embed_quietly(model(chart=PCA(3)), sheet[0])


class AsNeeded(PCA):
    """Takes the axes with more than a millionth of the variance, one or two."""

    def fit(self, X, y=None):
        variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
        self.n_components = int((variances > 1e-6 * variances[0]).sum())
        return super().fit(X, y)

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)


def flag_on_a_pole():
    """Return a plane flag at the end of a straight pole, in space."""
    flag = grid(10, 12) * 0.5
    pole = np.column_stack([np.linspace(-6.0, -0.1, 60), np.full(60, 2.0)])
    return np.pad(np.concatenate([flag, pole]), ((0, 0), (0, 1)))


@pytest.mark.parametrize("chart", ["quadratic", AsNeeded()], ids=["own", "embedder"])
def test_patches_of_different_dimension(chart):
    X = flag_on_a_pole()
    ipa = model(chart=chart)
    Y = embed_quietly(ipa, X)
    # The pole may turn about the point where it is fixed, but lengths along each part are kept.
    for part in (slice(0, 120), slice(120, None)):
        assert procrustes_error(Y[part], X[part, :2]) < 1e-6


# Further terms


@pytest.fixture(scope="module")
def strip():
    flat = grid(5, 24)
    return flat, half_cylinder(flat)


def ends_of(flat):
    first, last = int(flat[:, 0].argmin()), int(flat[:, 0].argmax())
    return first, last, float(np.linalg.norm(flat[first] - flat[last]))


@pytest.mark.parametrize("share", [0.9, 1.0, 1.1])
def test_fixed_distance(strip, share):
    flat, X = strip
    first, last, length = ends_of(flat)
    wanted = share * length
    ipa = model(terms=StitchTerms(pairs=[[first, last]], lower=wanted, upper=wanted))
    Y = embed_quietly(ipa, X)
    assert np.linalg.norm(Y[first] - Y[last]) == pytest.approx(wanted, rel=LENGTH)


@pytest.mark.parametrize(("kind", "share"), [("upper", 0.95), ("lower", 1.05)])
def test_bound_that_binds(strip, kind, share):
    flat, X = strip
    first, last, length = ends_of(flat)
    ipa = model(terms=StitchTerms(pairs=[[first, last]], **{kind: share * length}))
    Y = embed_quietly(ipa, X)
    assert np.linalg.norm(Y[first] - Y[last]) == pytest.approx(share * length, rel=LENGTH)


@pytest.mark.parametrize(("kind", "share"), [("upper", 2.0), ("lower", 0.5)])
def test_bound_that_is_kept_anyway_changes_nothing(strip, kind, share):
    flat, X = strip
    first, last, length = ends_of(flat)
    ipa = model(terms=StitchTerms(pairs=[[first, last]], **{kind: share * length}))
    # Doubts would be errors here.
    Y = ipa.fit_transform(X)
    assert procrustes_error(Y, model().fit_transform(X)) < LENGTH
    # The solver for mixed programs ends at a looser gap than that for stitchings alone.
    assert ipa.solution_.gap < 0.01


def test_variance_pulls(strip):
    _, X = strip
    spread = [
        embed_quietly(model(terms=StitchTerms(variance=pull)), X).var(axis=0).sum()
        for pull in (0.0, 1e-6, 1e-5)
    ]
    assert spread[0] < spread[1] < spread[2] < 1.1 * spread[0]


def test_too_much_variance_is_refused(strip):
    with pytest.raises(InvalidInputError, match=r"terms\.variance=1 pulls.*Try a tenth"):
        model(terms=StitchTerms(variance=1.0)).fit(strip[1])


def test_terms_of_samples_that_are_not_there(strip):
    with pytest.raises(InvalidInputError, match=r"names sample 120, but samples are 0 to 119"):
        model(terms=StitchTerms(pairs=[[0, 120]], upper=1.0)).fit(strip[1])


def test_terms_of_outliers_are_refused(strip):
    X = strip[1].copy()
    X[7] += 100.0
    with pytest.raises(InvalidInputError, match=r"terms\.pairs.* names.*outlier.*see outliers_"):
        model(terms=StitchTerms(pairs=[[0, 7]], upper=1.0)).fit(X)


def test_terms_across_pieces_are_refused(strip):
    X = np.concatenate([strip[1], strip[1] + 100.0])
    with pytest.raises(InvalidInputError, match=r"terms\.pairs.* names.*different components"):
        model(terms=StitchTerms(pairs=[[0, 130]], upper=1.0)).fit(X)


def test_terms_name_samples_not_nodes(strip):
    # Copies come first, so that samples and nodes are numbered differently.
    flat, X = strip
    first, last, length = ends_of(flat)
    copies = np.concatenate([X[40:70], X])
    pairs = [[first + 30, last + 30]]
    ipa = model(terms=StitchTerms(pairs=pairs, lower=0.95 * length, upper=0.95 * length))
    Y = embed_quietly(ipa, copies)[30:]
    assert np.linalg.norm(Y[first] - Y[last]) == pytest.approx(0.95 * length, rel=LENGTH)
