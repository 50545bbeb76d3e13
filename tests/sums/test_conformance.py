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
from offrank.estimators.effective_size import SumsFold
from offrank.estimators.fold import TermsFold
from offrank.estimators.layout import Layout
from offrank.policies import policy
from offrank.sums import BootstrapFold, BucketsFold, HistogramFold, LargestFold, MomentsFold, Tee
from offrank.sums.base import Fold, OptionalFold, Sample, Unavailable
from offrank.sums.counts import KeyedCounts, join, summed
from offrank.sums.group_by import Grouping, by_column, by_slots, with_groups
from offrank_testing import check_fold
from tests.exact.worlds import EXAMINATION, world
from tests.strategies import weighted_samples

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
SAMPLE_FOLDS: dict[str, Fold] = {
    "moments": MomentsFold(),
    "bootstrap": BootstrapFold(replicates=21, seed=5),
    "clusters": BucketsFold(),
    "buckets": BucketsFold(buckets=4),
    "histogram": HistogramFold((0, 2)),
    "largest": LargestFold((1, 2), keep=7),
    "together": Tee({"moments": MomentsFold(), "largest": LargestFold((0,), keep=200)}),
    "attempt": OptionalFold(MomentsFold()),
}
ORDERLESS = {"histogram", "largest"}


@pytest.mark.parametrize("name", SAMPLE_FOLDS)
@given(batch=weighted_samples(3), rng=seeds)
def test_folds_of_samples(name: str, batch: Sample, rng: np.random.Generator) -> None:
    check_fold(SAMPLE_FOLDS[name], batch, rng, tolerance=0.0 if name in ORDERLESS else 1e-11)


@given(batch=weighted_samples(1))
def test_counts(batch: Sample) -> None:
    keys = join(batch.key.view(np.int64), 7)
    found = KeyedCounts(*summed([keys], [batch.values[:, 0]]))
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
TERMS = TermsFold(LAYOUT, policy("plackett_luce(old)"), Tee({"moments": MomentsFold()}))


def by(groups: Grouping, each: Fold) -> TermsFold:
    return replace(TERMS, sums=with_groups(TERMS.sums, each), by=groups)


LOG_FOLDS: dict[str, Fold] = {
    "terms": TERMS,
    "clustered": TermsFold(LAYOUT, policy("uniform"), BucketsFold("query"), clusters=("query",)),
    "worth": TermsFold(LAYOUT, policy("uniform"), SumsFold()),
    "worth by column": by(by_column("situation"), SumsFold()),
    "by column": by(by_column("situation"), MomentsFold()),
    "by slots": by(by_slots, MomentsFold()),
}


@pytest.mark.parametrize("name", LOG_FOLDS)
def test_folds_of_logs(name: str) -> None:
    batch = world("top", "cascade").batch(policy("plackett_luce(old)"))
    for seed in range(3):
        check_fold(LOG_FOLDS[name], batch, np.random.default_rng(seed))


@dataclass(frozen=True)
class Refuses(MomentsFold):
    """Cannot take rows with the key 3."""

    def of(self, batch: Sample) -> Any:
        if (batch.key == 3).any():
            raise AbilityError("three is too many")
        return super().of(batch)


@given(rng=seeds)
def test_a_refusal_is_never_lost(rng: np.random.Generator) -> None:
    batch = Sample.of(np.ones((12, 2)), np.arange(12, dtype=np.uint64))
    check_fold(OptionalFold(Refuses()), batch, rng)
    fold = OptionalFold(Refuses())
    assert fold.result(fold.of(batch)) == Unavailable("three is too many")


@dataclass(frozen=True)
class Last(MomentsFold):
    """No fold: remembers the last batch only."""

    def add(self, part: Any, batch: Sample) -> Any:
        return self.of(batch)


@dataclass(frozen=True)
class Grown:
    """What changes when something is added to it."""

    values: np.ndarray

    def __add__(self, other: Grown) -> Grown:
        np.add(self.values, other.values, out=self.values)
        return self


@dataclass(frozen=True)
class Careless(Fold):
    """No fold: adds into the left part."""

    def of(self, batch: Any) -> Any:
        return Grown(batch.values.sum(axis=0))


@pytest.mark.parametrize("fold", [Last(), Careless()])
def test_what_is_no_fold_is_found_out(fold: Fold) -> None:
    rng = np.random.default_rng(0)
    batch = Sample.of(rng.random((30, 2)), np.arange(30, dtype=np.uint64))
    with pytest.raises(AssertionError):
        check_fold(fold, batch, rng)
