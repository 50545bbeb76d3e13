"""What each fold reduces to, once more in plain NumPy."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from offrank.errors import UsageError
from offrank.log.batch import Labels
from offrank.sums import (
    BucketsFold,
    GroupBy,
    Histogram,
    HistogramFold,
    LargestFold,
    MomentsFold,
    NamedColumns,
    Sample,
    Sums,
)
from offrank.sums import group_by as group_by_module
from offrank.sums.base import Unavailable, total
from offrank.sums.clusters import Clusters, ClusterSums
from tests.strategies import weighted_samples


def keyed(values: np.ndarray) -> Sample:
    return Sample.of(values, np.arange(len(values), dtype=np.uint64))


def test_sums_pad_what_is_shorter_and_change_neither() -> None:
    short, wide = np.ones((1, 3)), np.full((2, 2), 2.0)
    assert total(short, wide).tolist() == total(wide, short).tolist() == [[3.0, 3.0, 1.0], [2.0, 2.0, 0.0]]
    assert short.tolist() == [[1.0, 1.0, 1.0]]
    assert total({"a": 1}, {"b": 2, "a": 3}) == {"a": 4, "b": 2}
    assert total(None, short) is total(short, None) is short
    assert total(None, None) is None
    assert total(Unavailable("why"), short) == total(short, Unavailable("why")) == Unavailable("why")


@given(batch=weighted_samples(3))
def test_moments(batch: Sample) -> None:
    found, x = MomentsFold().of(batch), batch.values
    assert found.n == len(x)
    if not len(x):
        return
    scale = np.abs(x).max(initial=0.0)
    assert found.mean == pytest.approx(x.mean(axis=0), rel=1e-12, abs=1e-12 * scale)
    centred = x - x.mean(axis=0)
    assert found.comoment == pytest.approx(centred.T @ centred, rel=1e-11, abs=1e-11 * scale**2 * len(x))
    assert found.sums == pytest.approx(x.sum(axis=0), rel=1e-12)
    named = NamedColumns(tuple(range(x.shape[1])))
    assert Sums(named, found).squares.array == pytest.approx((x**2).sum(axis=0), rel=1e-10)
    assert (found.least == x.min(axis=0)).all()
    assert (found.largest == x.max(axis=0)).all()


def test_moments_keep_a_small_variance_beside_a_large_mean() -> None:
    x = 1e4 + 1e-4 * np.random.default_rng(0).standard_normal((20_000, 1))
    fold = MomentsFold()
    state = None
    for part in np.array_split(x, 13):
        state = fold.add(state, keyed(part))
    assert state.comoment[0, 0] / (len(x) - 1) == pytest.approx(x[:, 0].var(ddof=1), rel=1e-6)


@given(batch=weighted_samples(2))
def test_histogram(batch: Sample) -> None:
    fold = HistogramFold((1, 0))
    for column, found in zip((1, 0), map(Histogram.of, fold.of(batch)), strict=True):
        x = batch.values[:, column]
        assert found.zeros == (x == 0).sum()
        signs = [(x[x > 0], found.edges, found.counts), (-x[x < 0], found.negative_edges, found.negative_counts)]
        for sizes, edges, counts in signs:
            assert counts.sum() == len(sizes)
            if len(sizes):
                assert edges[0] <= sizes.min()
                assert sizes.max() < edges[-1]
                between = (sizes[:, None] >= edges[:-1]) & (sizes[:, None] < edges[1:])
                assert (counts == between.sum(axis=0)).all()
                assert min(counts[0], counts[-1]) > 0


def test_histogram_edges_are_powers_of_two_and_halves_between() -> None:
    fold = HistogramFold((0,))
    batch = keyed(np.array([[0.0], [0.75], [1.0], [1.49], [1.5], [2.0], [5.0]]))
    found = Histogram.of(fold.of(batch)[0])
    assert found.zeros == 1
    assert found.edges.tolist() == [0.75, 1, 1.5, 2, 3, 4, 6]
    assert found.counts.tolist() == [1, 2, 1, 1, 0, 1]


def test_histogram_has_negative_values_on_their_own_side() -> None:
    fold = HistogramFold((0,))
    batch = keyed(np.array([[-0.0], [0.0], [-1.0], [-1.4], [-3.0], [-4.0], [1.0]]))
    found = Histogram.of(fold.of(batch)[0])
    assert found.zeros == 2
    assert (found.edges.tolist(), found.counts.tolist()) == ([1, 1.5], [1])
    assert found.negative_edges.tolist() == [1, 1.5, 2, 3, 4, 6]
    assert found.negative_counts.tolist() == [2, 0, 0, 1, 1]


def test_histogram_of_nothing_positive() -> None:
    fold = HistogramFold((0,))
    found = Histogram.of(fold.of(keyed(np.zeros((4, 1))))[0])
    assert (found.zeros, len(found.edges), len(found.counts)) == (4, 0, 0)


@given(batch=weighted_samples(2, most=40))
def test_largest(batch: Sample) -> None:
    fold = LargestFold((1, 0, 1), keep=6)
    found = fold.of(batch)
    for line, column in enumerate((1, 0, 1)):
        best = np.sort(batch.values[:, column])[::-1][:6]
        assert found.values[line].tolist() == [*best.tolist(), *[-np.inf] * (6 - len(best))]


@pytest.mark.parametrize(("absolute", "kept"), [(False, [3.0, 1.0]), (True, [5.0, 3.0])])
def test_the_largest_values_count_by_their_size_where_signs_do_not(absolute: bool, kept: list[float]) -> None:
    fold = LargestFold((0,), keep=2, absolute=absolute)
    assert fold.of(keyed(np.array([[3.0], [-5.0], [1.0]]))).values.tolist() == [kept]


@given(batch=weighted_samples(2))
def test_every_cluster_has_sums_of_its_own(batch: Sample) -> None:
    fold = BucketsFold()
    found = fold.of(batch)
    assert found.codes is not None
    assert found.codes.tolist() == sorted({*batch.key.tolist()})
    for key, sums in zip(found.codes, found.sums, strict=True):
        own = batch.key == key
        assert sums == pytest.approx([own.sum(), *batch.values[own].sum(axis=0)], rel=1e-12, abs=1e-12)


@given(batch=weighted_samples(2))
def test_buckets_add_up_the_rows_of_a_key(batch: Sample) -> None:
    fold = BucketsFold(buckets=2)
    found = fold.of(batch)
    distinct = len(np.unique(batch.key))
    assert (found.codes is None) == (distinct > 2)
    assert Clusters.of("user", found).buckets == (2 if distinct > 2 else math.inf)
    assert found.sums[:, 0].sum() == len(batch)
    assert found.sums[:, 1:].sum(axis=0) == pytest.approx(batch.values.sum(axis=0), rel=1e-12)
    for key in np.unique(batch.key):
        own = batch.key == key
        alone = total(fold.of(Sample.of(batch.values[own], batch.key[own])), full(2))
        lines = np.flatnonzero(alone.sums[:, 0] > full(2).sums[:, 0])
        assert len(lines) == 1
        if found.codes is None:
            assert found.sums[lines[0], 0] >= own.sum()


def full(buckets: int) -> ClusterSums:
    """The sums of more clusters than there are buckets, of no value."""
    fold, keys = BucketsFold(buckets=buckets), np.arange(buckets + 1, dtype=np.uint64)
    return fold.of(Sample.of(np.zeros((buckets + 1, 2)), keys))


@pytest.mark.parametrize(("clusters", "own"), [(4096, True), (4097, False)])
def test_as_many_clusters_as_buckets_have_sums_of_their_own(clusters: int, own: bool) -> None:
    found = BucketsFold().of(keyed(np.ones((clusters, 1))))
    assert (found.codes is not None) == own
    assert (np.count_nonzero(found.sums[:, 0]) == clusters) == own


def test_buckets_spread_keys_evenly() -> None:
    found = BucketsFold().of(keyed(np.ones((409_600, 1)))).sums
    assert (found[:, 0].min(), found[:, 0].max()) == pytest.approx((100, 100), abs=45)
    assert found[:, 0].var() == pytest.approx(100, rel=0.2)


@given(batch=weighted_samples(1))
def test_groups_add_up(batch: Sample) -> None:
    groups = GroupBy(MomentsFold())
    names = ["odd", "even", "never"]
    codes = (batch.key % np.uint64(2)).astype(np.int64)
    found = groups.result(groups.of(replace(batch, groups=Labels(codes, tuple(names)))))
    assert set(found) == {names[code] for code in codes}
    for name, moments in found.items():
        own = codes == names.index(name)
        assert moments.n == own.sum()
        assert moments.sums == pytest.approx(batch.values[own].sum(axis=0), rel=1e-12)


def test_too_many_groups_are_refused() -> None:
    most = group_by_module.MOST_GROUPS
    groups, names = GroupBy(MomentsFold()), [str(code) for code in range(most + 1)]
    batch = keyed(np.ones((most + 1, 1)))
    with pytest.raises(UsageError, match=f"more than {most} values"):
        groups.of(replace(batch, groups=Labels(np.arange(most + 1), tuple(names))))
