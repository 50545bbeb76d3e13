"""What intervals count beside what the log shows: the tails of its rewards, and hidden shares of the targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from ..estimators.base import Estimator
from ..estimators.fold import Layout
from ..estimators.tails import columns_of
from ..findings.hidden_mass import hides
from ..folds.estimate import Design
from ..folds.moments import Moments
from ..inference.spread import Inference
from ..inference.unseen import Tail


class CountsOfLog(Protocol):
    """What is asked of a reduced log, as in `Counts`."""

    @property
    def layout(self) -> Layout: ...

    @property
    def moments(self) -> Moments: ...

    @property
    def designs(self) -> tuple[Design | None, ...]: ...

    @property
    def nonnegative(self) -> bool: ...

    def effective_rewards(self, estimator: Estimator, value: int) -> float: ...

    def ess_ratio(self, design: Design | None, index: int, weight: int) -> float: ...


def with_unseen(summary: CountsOfLog, found: Inference, tails: Mapping[int, Tail]) -> Inference:
    """Return the inference of a log with what the log is too short to show. tails: of the columns of rewards."""
    width = len(summary.moments.mean)
    heavy = tuple((columns_of(summary.layout, column, width), tail) for column, tail in tails.items())
    return replace(found, tails=heavy, nonnegative=summary.nonnegative, hidden=tuple(_hidden(summary, width)))


def _hidden(summary: CountsOfLog, width: int) -> Iterator[tuple[tuple[int, ...], int, float]]:
    """Yield the share of each estimate that the log cannot show, where it may be more than the standard error."""
    for index, (design, pair) in enumerate(zip(summary.designs, summary.layout.pairs(), strict=False)):
        _, weighting, value, weight = pair
        if design is None or not weighting.normalised or not summary.moments.sums[weight] > 0:
            continue
        share = design.unsupported + design.hidden
        rewards = (
            summary.effective_rewards(weighting, value) * summary.ess_ratio(design, index, weight) if share else 0.0
        )
        if hides(share, design.visible, rewards):
            yield columns_of(summary.layout, value, width), weight, share
