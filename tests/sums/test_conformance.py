"""Every fold gives the same answer under any partition and order of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offrank.errors import AbilityError
from offrank.estimators import estimator
from offrank.estimators.fold import Layout, TermsFold
from offrank.policies import policy
from offrank.sums import BootstrapFold, BucketsFold, HistogramFold, LargestFold, MomentsFold, Tee
from offrank.sums.base import Fold, OptionalFold, PlusFold, Sample, Unavailable
from offrank.sums.counts import KeyedCountsFold, join
from offrank.sums.group_by import Grouping, by_column, by_slots, with_groups
from offrank.sums.totals import SumsFold
from offrank.testing import check_fold
from offrank.testing.strategies import samples
from tests.exact.worlds import EXAMINATION, world

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
SAMPLE_FOLDS: dict[str, Fold[Any, Sample, Any]] = {
    "moments": MomentsFold(3),
    "bootstrap": BootstrapFold(3, replicates=21, seed=5),
    "clusters": BucketsFold(3),
    "buckets": BucketsFold(3, buckets=4),
    "histogram": HistogramFold((0, 2)),
    "largest": LargestFold((1, 2), keep=7),
    "together": Tee({"moments": MomentsFold(3), "largest": LargestFold((0,), keep=200)}),
    "attempt": OptionalFold(MomentsFold(3)),
}
ORDERLESS = {"histogram", "largest"}


@pytest.mark.parametrize("name", SAMPLE_FOLDS)
@given(batch=samples(3), rng=seeds)
def test_folds_of_samples(name: str, batch: Sample, rng: np.random.Generator) -> None:
    check_fold(SAMPLE_FOLDS[name], batch, rng, tolerance=0.0 if name in ORDERLESS else 1e-11)


@given(batch=samples(1))
def test_counts(batch: Sample) -> None:
    keys, fold = join(batch.key.view(np.int64), 7), KeyedCountsFold()
    found = fold.add(fold.empty(), (keys, batch.values[:, 0]))
    for key in np.unique(keys):
        assert found.of(np.array([key])) == pytest.approx([batch.values[keys == key, 0].sum()], rel=1e-12)
    assert found.of(join(np.array([-5]), 7)) == [0.0]


LAYOUT = Layout(
    (policy("top(new)"), policy("plackett_luce(new)")),
    (
        estimator("ips"),  # type: ignore[arg-type]
        estimator("ipm"),  # type: ignore[arg-type]
        estimator("interpol(window=1)").with_examination(EXAMINATION),  # type: ignore[arg-type]
        estimator("rips"),  # type: ignore[arg-type]
    ),
    (estimator("ipm"), estimator("rips")),  # type: ignore[arg-type]
)
TERMS = TermsFold(LAYOUT, policy("plackett_luce(old)"), Tee({"moments": MomentsFold(LAYOUT.columns.width())}))


def by(groups: Grouping, each: Fold[Any, Sample, Any]) -> TermsFold:
    return replace(TERMS, inner=with_groups(TERMS.inner, each), by=groups)


LOG_FOLDS: dict[str, Fold[Any, Any, Any]] = {
    "terms": TERMS,
    "clustered": TermsFold(
        LAYOUT, policy("uniform"), BucketsFold(LAYOUT.columns.width(), "query"), clusters=("query",)
    ),
    "worth": TermsFold(LAYOUT, policy("uniform"), SumsFold(LAYOUT.summed.width())),
    "worth by column": by(by_column("situation"), SumsFold(LAYOUT.summed.width())),
    "by column": by(by_column("situation"), MomentsFold(LAYOUT.columns.width())),
    "by slots": by(by_slots, MomentsFold(LAYOUT.columns.width())),
}


@pytest.mark.parametrize("name", LOG_FOLDS)
def test_folds_of_logs(name: str) -> None:
    batch = world("top", "cascade").batch(policy("plackett_luce(old)"))
    for seed in range(3):
        check_fold(LOG_FOLDS[name], batch, np.random.default_rng(seed))


@dataclass(frozen=True)
class Refuses(MomentsFold):
    """Cannot take rows with the key 3."""

    def add(self, state: Any, batch: Sample) -> Any:
        if (batch.key == 3).any():
            raise AbilityError("three is too many")
        return super().add(state, batch)


@given(rng=seeds)
def test_a_refusal_is_never_lost(rng: np.random.Generator) -> None:
    batch = Sample(np.ones((12, 2)), np.arange(12, dtype=np.uint64))
    check_fold(OptionalFold(Refuses(2)), batch, rng)
    fold = OptionalFold(Refuses(2))
    assert fold.finish(fold.add(fold.empty(), batch)) == Unavailable("three is too many")


@dataclass(frozen=True)
class Last(MomentsFold):
    """No fold: remembers the last batch only."""

    def add(self, state: Any, batch: Sample) -> Any:
        return super().add(self.empty(), batch)


@dataclass(frozen=True)
class Careless(PlusFold):
    """No fold: merges into the left state."""

    def add(self, state: Any, batch: Any) -> Any:
        return super().add(state, batch.values.sum(axis=0))

    def merge(self, left: Any, right: Any) -> Any:
        left += right
        return left


@pytest.mark.parametrize("fold", [Last(2), Careless(np.zeros(2))])
def test_what_is_no_fold_is_found_out(fold: Fold[Any, Any, Any]) -> None:
    rng = np.random.default_rng(0)
    batch = Sample(rng.random((30, 2)), np.arange(30, dtype=np.uint64))
    with pytest.raises(AssertionError):
        check_fold(fold, batch, rng)
