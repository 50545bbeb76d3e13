"""The folds that the sums of the estimates are computed by."""

from __future__ import annotations

from ..estimators.fold import Layout
from ..estimators.marks import MARKS
from ..estimators.tails import largest_rewards
from ..folds.base import Tee
from ..folds.buckets import BUCKETS_OF_A_GROUP
from ..folds.group_by import with_groups
from ..folds.histogram import HistogramFold
from ..folds.largest import LargestFold
from ..folds.sums import MarksFold, Products, SumsFold
from ..inference.spec import IntervalSpec


def inner_fold(spec: IntervalSpec, layout: Layout, products: Products = (), *, grouped: bool = False) -> Tee:
    """Return the fold that computes the sums of the estimates; for many groups a smaller one, without histograms."""
    weights = tuple(one.weight for one in layout.pairs)
    third = layout.blocks
    always = {"worth": SumsFold(layout.effective_sizes.columns), "marks": MarksFold(MARKS)}
    whole = {**spec.folds(layout.columns, products, blocks=third), **always, "histogram": HistogramFold(weights)}
    each = {**spec.folds(layout.columns, products, BUCKETS_OF_A_GROUP, third), **always}
    groups = Tee({**each, **_largest(layout, weights, keep=256)}) if grouped else None
    return with_groups(Tee({**whole, **_largest(layout, weights, keep=1024)}), groups)


def _largest(layout: Layout, weights: tuple[int, ...], keep: int) -> dict[str, LargestFold]:
    return {"largest": LargestFold(weights, keep), "earned": largest_rewards(layout, keep)}
