"""What intervals count beside what the log shows: tails of rewards, hidden shares of targets, rare rewarded rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..findings.weights import RareEvidence
from ..inference.mean_intervals import Inference
from ..inference.rare_rewards import Rare, Tail, heaviest, heavy_tail, hides
from ..log.batch import Floats
from ..sums.estimate import Design, Interval
from ..sums.mean import Name, ratio
from ..sums.named_sums import Sums
from .effective_size import EffectiveSize
from .layout import CLICKS, REWARD, ROWS, SQUARES, Layout, Marks, TargetPair


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
    for at in summary.layout.pairs:
        if at.parts and (part := at.estimator.unknown) is not None:
            share = summary.sums.value(ratio(at.parts[part], ROWS))
            hidden += [((at.value,), at.weight, share)] if share > 0 else []
    for design, at in zip(summary.designs, summary.layout.pairs, strict=False):
        if design is None or not at.estimator.normalised or not summary.sums.total[at.weight] > 0:
            continue
        share = design.unsupported + design.hidden
        if not hides(share, design.visible, math.inf):  # whatever the rewards are: they take longer to ask
            continue
        if hides(share, design.visible, summary.effective_sizes.rewards(at) * summary.ess_ratio(at)):
            hidden.append((summary.layout.with_slots(at.value), at.weight, share))
    marks, tails = summary.effective_sizes.marks, found.tails
    if not marks.clicks or marks.unlike or marks.priced:  # clicks that are 0 or 1 have no tails
        tails = _tails(summary.layout, summary.sums, marks, summary.folded["earned"].values)
    return replace(found, tails=tails, nonnegative=summary.nonnegative, hidden=tuple(hidden), rare=rare)


def _tails(layout: Layout, sums: Sums, marks: Marks, largest: Floats) -> tuple[tuple[tuple[Name, ...], Tail], ...]:
    """The tails of the columns of rewards, where those of the log are heavy. largest: of each, without signs.

    Each with the columns of which one is in a mean that it affects, its own first. Clicks that are 0 or 1 have none.
    """
    bounded = (CLICKS, *(() if marks.unlike else (REWARD,))) if marks.clicks and not marks.priced else ()
    asked = [one for one in (REWARD, CLICKS) if one not in bounded]
    found: dict[Name, Tail] = {}
    lines = dict(zip(layout.rewards, largest, strict=True)) if asked else {}
    rows: dict[Name, float] = {REWARD: marks.rewarded, CLICKS: marks.clicked}
    outcomes: dict[Name, Name] = {one: one for one in asked} | {one.value: one.outcome for one in layout.pairs}
    for column, outcome in outcomes.items():
        if outcome != column and not (outcome in found and found[outcome].heavy > 0):  # bounded: weights tell the rest
            continue
        known = lines[column]
        count = rows[outcome] if known[-1] > 0 else float(np.count_nonzero(known > 0))
        if (tail := heavy_tail(known, count, column, sums)) is not None:
            found[column] = tail
    return tuple((layout.with_slots(column), tail) for column, tail in found.items())


def rare_evidence(found: Inference, values: Iterable[Name], *of: Interval | None) -> RareEvidence:
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
            summary.layout.with_slots(at.value) if summary.layout.per_slot else (at.value,),
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
