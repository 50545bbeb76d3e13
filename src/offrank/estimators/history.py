"""What a model of the history of clicks expects of each ranker of an A/B test, learnt from all rows of its log.

Each row has a term for each arm, whose mean over the log is what the arm's ranker earns: what the model expects of its
list, and how the row's clicks move the model (one step of Newton's method; van der Vaart 1998, section 5.7). So the
errors of the model count in the spread of the terms, by rows or clusters, and rows that it was not learnt from still
have their say. Rows whose lists hold items that were hardly shown are judged by the means of the arms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..clicks.history import ClickedLists, ClickHistory, click_history
from ..errors import AbilityError, ColumnError
from ..formatting import percent
from ..log.batch import Floats, Integers, LogBatch
from ..log.source import Needs, Source, is_read_once
from ..policies.by import By
from ..running.executors import Executor, Progress, run
from .arm_rows import LEARNT_BY, PAD, ArmRows, ArmRowsFold, ArmRowsState

SHOWN = 5
"""Times that each item of a row's lists has to be shown, by any arm, in its query."""
LEAST_JUDGED = 0.2
"""Share of the impressions in which that has to be so."""
WIDER = 1.1
"""By how much the part of the error that comes from the model is widened: it is taken at the numbers that were learnt
from the same rows, which is too small (measured: benchmarks/ab_tests.py)."""


class RareMeans(NamedTuple):
    """Of the rows that are judged by means: the mean reward [a], and the share of the impressions [a], of each arm."""

    mean: Floats
    share: Floats


@dataclass(frozen=True, eq=False)
class ArmsHistory:
    """What was learnt from an A/B test.

    - keys: [d] of the documents that were shown often enough, ascending; documents are numbered by it.
    - directions: [a, p] how the model's numbers move with what each arm earns; moves: [a] what the prior adds.
    - known: the share of the impressions that the model judges.
    """

    arms: By
    model: ClickHistory
    keys: Integers
    directions: Floats
    moves: Floats
    rare: RareMeans
    known: float

    @property
    def needs(self) -> Needs:
        """The columns to read."""
        return ArmRowsFold(self.arms).needs

    def terms(self, batch: LogBatch) -> Floats:
        """[n, a] the term of each row for each arm."""
        rows = ArmRows.of(self.arms, batch)
        found, (lists, judged) = np.empty((len(rows), len(self.directions))), _numbered(rows, self.keys)
        for arm in range(len(self.directions)):
            served = (rows.arm == arm) & ~judged
            found[:, arm] = self.rare.mean[arm]
            found[served, arm] += (rows.reward[served] - self.rare.mean[arm]) / self.rare.share[arm]
            found[judged, arm] = self.model.expected(lists[judged, 1 + arm])[0] + self.moves[arm]
        shown, clicks = lists[judged, 0], rows.clicks[judged].astype(np.int64)
        found[judged] += self.model.scores(shown, clicks, self.directions)
        return found


class LearntHistory(NamedTuple):
    """What was learnt from an A/B test, or why nothing was, as the rest of a sentence; neither of another log."""

    found: ArmsHistory | None = None
    left_out: str | None = None


NO_HISTORY = LearntHistory()
OF_STATE = LearntHistory(left_out="a state holds sums of rows, and no model that two logs could share")


def learnt_history(
    arms: By, source: Source, executor: Executor | None = None, progress: Progress | None = None
) -> LearntHistory:
    """Learn it from a log, in one pass, or say why not."""
    if is_read_once(source):
        return LearntHistory(
            left_out="the log can be read only once, and the model of the clicks would be learnt from it first"
        )
    fold = ArmRowsFold(arms)
    try:
        chosen = source.select(fold.needs)
    except (AbilityError, ColumnError):
        return LearntHistory(
            left_out=f"it needs clicks by rank and the column `{LEARNT_BY}`, to learn what each item attracts"
        )
    return history_of(arms, run(chosen, fold, executor, progress))


def history_of(arms: By, state: ArmRowsState) -> LearntHistory:
    """What was learnt from rows, or why nothing was."""
    if state.odd or not state.pieces:
        return LearntHistory(left_out="it needs clicks of 0 or 1 that add up to the reward")
    [rows], count = state.pieces, len(arms.policies)
    keys, times = np.unique(rows.documents[:, 0][rows.documents[:, 0] != PAD], return_counts=True)
    keys = keys[times >= SHOWN]
    lists, judged = _numbered(rows, keys)
    known = float(rows.weight[judged].sum() / rows.weight.sum())
    if known < LEAST_JUDGED:
        often = f"shown at least {SHOWN} times for the query in only {percent(known)} of the impressions"
        return LearntHistory(left_out=f"all items of the rankers' lists were {often}")
    sessions = _alike(lists[judged, 0], rows.clicks[judged].astype(np.int64), rows.weight[judged])
    model = click_history(sessions, len(keys))
    every = [_alike(lists[judged, 1 + arm], lists[judged, 1 + arm][:, :0], rows.weight[judged]) for arm in range(count)]
    slopes = [model.expected(one.lists, one.weight)[1] for one in every]
    directions = np.stack([model.direction(sessions, slope) for slope in slopes])
    directions *= _widened(model, sessions, np.stack(slopes), directions)
    moves = directions[:, model.free] @ model.prior[1][model.free] / sessions.weight.sum()
    found = ArmsHistory(arms, model, keys, directions, moves, _rare(rows, judged, count), known)
    return LearntHistory(found)


def _widened(model: ClickHistory, sessions: ClickedLists, slopes: Floats, directions: Floats) -> float:
    """The factor of the errors that come from the model: the larger of the posterior's and those of the scores."""
    away, moved = slopes - slopes[0], directions - directions[0]
    spread = sessions.weight @ model.scores(sessions.lists, sessions.clicks, moved) ** 2
    posterior = np.einsum("ap,ap->a", away, moved)
    ratio = np.divide(posterior, spread, out=np.ones(len(spread)), where=spread > 0)
    return float(WIDER * np.sqrt(max(ratio.max(), 1.0)))


def _rare(rows: ArmRows, judged: NDArray[np.bool_], count: int) -> RareMeans:
    """The means of the arms in the rows that the model does not judge, of all rows where an arm has none there."""
    mean, share = np.zeros(count), np.ones(count)
    for arm in range(count):
        served = rows.arm == arm
        here = served & ~judged
        some = here if here.any() else served
        mean[arm] = np.average(rows.reward[some], weights=rows.weight[some]) if some.any() else 0.0
        among = ~judged if here.any() else np.ones(len(rows), np.bool_)
        share[arm] = rows.weight[some].sum() / rows.weight[among].sum() if some.any() else 1.0
    return RareMeans(mean, share)


def _numbered(rows: ArmRows, keys: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """[n, 1 + a, k] the documents by number, -1 where there is none; [n] whether all of a row are among the keys."""
    place = np.minimum(np.searchsorted(keys, rows.documents), max(len(keys) - 1, 0))
    pad = rows.documents == PAD
    known = (keys[place] == rows.documents) if len(keys) else np.zeros(pad.shape, np.bool_)
    return np.where(known & ~pad, place, -1), rows.sure & (known | pad).all(axis=(1, 2))


def _alike(lists: Integers, clicks: Integers, weight: Floats) -> ClickedLists:
    """Different sessions once, in an order that follows from what they hold; each with the sum of its weights."""
    both, of = np.unique(np.concatenate([lists, clicks], axis=1), axis=0, return_inverse=True)
    slots = lists.shape[1]
    one, other = (np.ascontiguousarray(part) for part in (both[:, :slots], both[:, slots:]))
    # Rounded, so that no order of the rows changes the last bits, which many steps of learning would magnify.
    return ClickedLists(one, other, np.round(np.bincount(of.ravel(), weight, len(both)), 9))
