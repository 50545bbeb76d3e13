"""What intervals count beside what the log shows: the tails of its rewards, and hidden shares of the targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from ..estimators.base import Estimator
from ..estimators.fold import Layout, PairColumns
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

    def ess_ratio(self, at: PairColumns) -> float: ...


def with_unseen(summary: CountsOfLog, found: Inference, tails: Mapping[int, Tail]) -> Inference:
    """Return the inference of a log with what the log is too short to show. tails: of the columns of rewards."""
    width = len(summary.moments.mean)
    heavy = tuple((columns_of(summary.layout, column, width), tail) for column, tail in tails.items())
    return replace(found, tails=heavy, nonnegative=summary.nonnegative, hidden=tuple(_hidden(summary, width)))


def _hidden(summary: CountsOfLog, width: int) -> Iterator[tuple[tuple[int, ...], int, float]]:
    """Yield the share of each estimate that the log cannot show, where it may be more than the standard error."""
    for design, at in zip(summary.designs, summary.layout.pairs, strict=False):
        if design is None or not at.estimator.normalised or not summary.moments.sums[at.weight] > 0:
            continue
        share = design.unsupported + design.hidden
        rewards = summary.effective_rewards(at.estimator, at.value) * summary.ess_ratio(at) if share else 0.0
        if hides(share, design.visible, rewards):
            yield columns_of(summary.layout, at.value, width), at.weight, share
