"""What intervals count beside what the log shows: tails of rewards, hidden shares of targets, rare rewarded rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ..estimators.effective_size import EffectiveSize
from ..estimators.layout import REWARD, ROWS, SQUARES, Layout, TargetPair
from ..estimators.tails import columns_of
from ..findings.weights import RareEvidence
from ..inference.mean_intervals import Inference
from ..inference.rare_rewards import Rare, heaviest, hides
from ..sums.estimate import Design, Interval
from ..sums.mean import Name
from ..sums.named_sums import Sums


class CountsOfLog(Protocol):
    """What is asked of a reduced log, as in `Counts`."""

    @property
    def layout(self) -> Layout: ...

    @property
    def sums(self) -> Sums: ...

    @property
    def designs(self) -> tuple[Design | None, ...]: ...

    @property
    def nonnegative(self) -> bool: ...

    @property
    def folded(self) -> Mapping[str, Any]: ...

    @property
    def effective_sizes(self) -> EffectiveSize: ...

    def ess_ratio(self, at: TargetPair) -> float: ...


def with_unseen_rewards(summary: CountsOfLog, found: Inference) -> Inference:
    """Return the inference of a log with what the log is too short to show."""
    rare, hidden = tuple(_rare(summary)), list[tuple[tuple[Name, ...], Name, float]]()
    for design, at in zip(summary.designs, summary.layout.pairs, strict=False):
        if design is None or not at.estimator.normalised or not summary.sums.total[at.weight] > 0:
            continue
        share = design.unsupported + design.hidden
        if not hides(share, design.visible, math.inf):  # whatever the rewards are: they take longer to ask
            continue
        if hides(share, design.visible, summary.effective_sizes.rewards(at) * summary.ess_ratio(at)):
            hidden.append((columns_of(summary.layout, at.value), at.weight, share))
    return replace(found, nonnegative=summary.nonnegative, hidden=tuple(hidden), rare=rare)


def rare_rewards(found: Inference, values: Iterable[Name], *of: Interval | None) -> RareEvidence:
    """Return the evidence that rewards are too rare for their weights. values: their columns; of: intervals."""
    seen, columns = min((one.seen for one in of if one is not None), default=1.0), set(values)
    rare = min((one for one in found.rare if columns & set(one.values)), key=lambda one: one.expected, default=None)
    return RareEvidence() if rare is None else RareEvidence(found.sums.n, seen, rare.weight, rare.expected)


def _rare(summary: CountsOfLog) -> Iterator[Rare]:
    """Yield the heaviest rows for each weighted outcome.

    Rewarded rows may be kept more often than others; then the heaviest rows are rather those of others.
    """
    sums, marks = summary.sums, summary.effective_sizes.marks
    for at in summary.layout.pairs:
        count = marks.rewarded if at.outcome == REWARD else marks.clicked
        total, squares = float(sums.total[at.outcome]), float(sums.squares[at.outcome])
        weighed = float(summary.effective_sizes.more[SQUARES[at.outcome]])
        if at.weighted is None or not (count and weighed and sums.total[at.weight] > 0):
            continue
        inverse = squares / weighed  # mean 1 / inclusion of the rewarded
        mean, square = total / count / inverse, weighed / count / inverse
        typical = float(sums.total[ROWS] / sums.squares[ROWS])
        slots, heavy = 1.0, 1.0
        if summary.layout.summed.in_blocks:
            slots, heavy = summary.effective_sizes.heavy_slots(at)
        known = heaviest(summary.folded["largest"].values[at.number], sums.n, count / sums.n * heavy / slots)
        yield Rare(
            columns_of(summary.layout, at.value) if summary.layout.per_slot else (at.value,),
            at.weight,
            (at.outcome, ROWS),
            known[0],
            known[1] * slots / heavy * inverse * typical,
            known[2],
            mean,
            square,
            inverse,
            signed=at.outcome == REWARD and not summary.nonnegative,
            whole=abs(slots - 1) < 1e-9,
        )
