"""What intervals count beside what the log shows: tails of rewards, hidden shares of targets, rare rewarded rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ..estimators.base import Estimator
from ..estimators.effective_size import EffectiveSize
from ..estimators.fold import CLICKS, REWARD, ROWS, Layout, PairColumns, outcome_index
from ..estimators.marks import Marks
from ..estimators.tails import columns_of
from ..findings.evidence_rows import RareEvidence
from ..findings.hidden_mass import hides
from ..folds.estimate import Design, Interval
from ..folds.moments import Moments
from ..inference.spread import Inference
from ..inference.unseen import Rare, Tail, heaviest


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

    @property
    def marks(self) -> Marks: ...

    @property
    def folded(self) -> Mapping[str, Any]: ...

    @property
    def effective_sizes(self) -> EffectiveSize: ...

    def effective_rewards(self, estimator: Estimator, value: int) -> float: ...

    def ess_ratio(self, at: PairColumns) -> float: ...


def with_unseen_rewards(summary: CountsOfLog, found: Inference, tails: Mapping[int, Tail]) -> Inference:
    """Return the inference of a log with what the log is too short to show. tails: of the columns of rewards."""
    width = len(summary.moments.mean)
    heavy = tuple((columns_of(summary.layout, column, width), tail) for column, tail in tails.items())
    rare = tuple(_rare(summary, width))
    hidden = tuple(_hidden(summary, width))
    return replace(found, tails=heavy, nonnegative=summary.nonnegative, hidden=hidden, rare=rare)


def rare_rewards(found: Inference, values: Iterable[int], *of: Interval | None) -> RareEvidence:
    """Return the evidence that rewards are too rare for their weights. values: their columns; of: intervals."""
    seen, columns = min((one.seen for one in of if one is not None), default=1.0), set(values)
    rare = min((one for one in found.rare if columns & set(one.values)), key=lambda one: one.expected, default=None)
    return RareEvidence() if rare is None else RareEvidence(found.moments.n, seen, rare.weight, rare.expected)


def _rare(summary: CountsOfLog, width: int) -> Iterator[Rare]:
    """Yield the heaviest rows for each weighted outcome.

    Rewarded rows may be kept more often than others; then the heaviest rows are rather those of others.
    """
    moments, marks = summary.moments, summary.marks
    for at in summary.layout.pairs:
        outcome = outcome_index(at.estimator)
        column, count = ((REWARD, marks.rewarded), (CLICKS, marks.clicked))[outcome]
        total, squares = (float(each[column]) for each in (moments.sums, moments.squares))
        weighed = float(summary.folded["worth"][outcome])
        if at.estimator.weighting is None or not (count and weighed and moments.sums[at.weight] > 0):
            continue
        inverse = squares / weighed  # mean 1 / inclusion of the rewarded
        mean, square = total / count / inverse, weighed / count / inverse
        typical = float(moments.sums[ROWS] / moments.squares[ROWS])
        slots, heavy = 1.0, 1.0
        if summary.layout.effective_sizes.slotted[at.number]:
            slots, heavy = summary.effective_sizes.heavy_slots(at.number, float(moments.squares[at.weight]) * typical)
        known = heaviest(summary.folded["largest"][at.number], moments.n, count / moments.n * heavy / slots)
        yield Rare(
            columns_of(summary.layout, at.value, width) if summary.layout.per_slot else (at.value,),
            at.weight,
            (column, ROWS),
            known[0],
            known[1] * slots / heavy * inverse * typical,
            known[2],
            mean,
            square,
            inverse,
            signed=outcome == 0 and not summary.nonnegative,
            whole=abs(slots - 1) < 1e-9,
        )


def _hidden(summary: CountsOfLog, width: int) -> Iterator[tuple[tuple[int, ...], int, float]]:
    """Yield the share of each estimate that the log cannot show, where it may be more than the standard error."""
    for design, at in zip(summary.designs, summary.layout.pairs, strict=False):
        if design is None or not at.estimator.normalised or not summary.moments.sums[at.weight] > 0:
            continue
        share = design.unsupported + design.hidden
        rewards = summary.effective_rewards(at.estimator, at.value) * summary.ess_ratio(at) if share else 0.0
        if hides(share, design.visible, rewards):
            yield columns_of(summary.layout, at.value, width), at.weight, share
