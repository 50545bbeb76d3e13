"""What a model of the history of clicks expects of each ranker of an A/B test, learnt from all rows of its log.

Each row has a term for each arm, whose mean over the log is what the arm's ranker earns: what the model expects of its
list, and how the row's clicks move the model (one step of Newton's method; van der Vaart 1998, section 5.7). So the
errors of the model count in the spread of the terms, by rows or clusters, and rows that it was not learnt from still
have their say. Rows whose lists hold items that were hardly shown are judged by the means of the arms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..clicks.documents import shown_keys
from ..clicks.history import DISTINCT_RANKS, ClickedLists, ClickHistory, click_history
from ..errors import AbilityError, ColumnError
from ..language.formatting import percent
from ..log.batch import Contexts, Floats, Integers, LogBatch
from ..log.hashing import hashed, hashes
from ..log.source import Needs, Source, has, is_read_once
from ..policies.base import Policy
from ..policies.by import By
from ..running.executors import Executor, Progress, run
from ..sums.base import Fold

SHOWN = 5
"""Times that each item of a row's lists has to be shown, by any arm, in its query."""
LEAST_JUDGED = 0.2
"""Share of the impressions in which that has to be so."""
WIDER = 1.1
"""By how much the part of the error that comes from the model is widened: it is taken at the numbers that were learnt
from the same rows, which is too small (measured: benchmarks/ab_tests.py)."""
LEARNT_BY = "query"
"""The column by which the attraction of an item is learnt: it is the same wherever that is."""
LEARNT_FROM = 200_000
"""Different rows to learn from: of a log with more of them, rows with the smallest hashes of their numbers."""
PAD = np.iinfo(np.int64).min
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class MergedRankers:
    """Rankers in place of the arms of a test: the two whose lists a log merges, and others that are judged by it.

    by: the column by which the attraction of an item is learnt; None: it follows from the ranks that both give it.
    """

    policies: Mapping[str, Policy]
    by: str | None
    column_read: ClassVar[Needs] = Needs()

    @classmethod
    def of(cls, merged: Sequence[Policy], targets: Sequence[Policy], source: Source) -> MergedRankers:
        """The rankers of a log, and those targets that sort."""
        found = {repr(one): one for one in (*merged, *targets) if one.always_sorts}
        return cls(found, LEARNT_BY if has(source, Needs(keys=frozenset([LEARNT_BY]))) else None)

    def arms(self, contexts: Contexts) -> Integers:
        """[n] who served each row: none of them alone."""
        return np.full(len(contexts), -1)

    def refuse_unknown(self, batch: LogBatch) -> None:
        """Refuse nothing: no column names a ranker."""


@dataclass(frozen=True)
class ArmRows:
    """Rows of an A/B test.

    key [n]: their hashes. times [n]: how many rows of the log each stands for. arm [n]: who served. weight [n]: the sum
    of 1 / inclusion. reward [n]. sure [n]: whether all rankers are sure of their lists. documents [n, 1 + a, k]: keys
    of what was shown, and of what the ranker of each arm shows, PAD after the last. clicks [n, k].
    """

    key: NDArray[np.uint64]
    times: Integers
    arm: Integers
    weight: Floats
    reward: Floats
    sure: NDArray[np.bool_]
    documents: Integers
    clicks: Floats

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of(cls, arms: By | MergedRankers, batch: LogBatch) -> ArmRows:
        """The rows of a batch."""
        contexts, lists = batch.contexts, [batch.slates[:, : batch.contexts.slots]]
        by = arms.by if isinstance(arms, MergedRankers) else LEARNT_BY
        sure = np.ones(len(batch), np.bool_)
        for policy in (one.law("log_prob") for one in arms.policies.values()):
            certainly, slates = policy.sure_slates(contexts)
            lists.append(np.where(certainly[:, None], slates, -1))
            sure &= certainly
        documents = [np.where(one >= 0, shown_keys(contexts, one, by), PAD) for one in lists]
        clicks = np.zeros(lists[0].shape) if batch.clicks is None else batch.clicks[:, : contexts.slots]
        known = arms.arms(contexts), 1 / batch.inclusion, batch.reward, sure
        return cls(hashed(batch.row), np.ones(len(batch), np.int64), *known, np.stack(documents, axis=1), clicks)

    def take(self, rows: NDArray[Any]) -> ArmRows:
        """Some of the rows."""
        return ArmRows(*(values[rows] for values in vars(self).values()))

    @property
    def odd(self) -> bool:
        """Whether a click is neither 0 nor 1, or a reward is not the sum of the clicks."""
        whole = (self.clicks == 0) | (self.clicks == 1)
        return not whole.all() or bool((self.reward != self.clicks.sum(axis=1)).any())

    @staticmethod
    def of_parts(parts: Sequence[ArmRows]) -> ArmRows:
        """The rows of all parts, one after another."""
        slots = max(one.clicks.shape[1] for one in parts)
        wide = [vars(one if one.clicks.shape[1] == slots else one.padded(slots)).values() for one in parts]
        return ArmRows(*map(np.concatenate, zip(*wide, strict=True)))

    def joined(self) -> ArmRows:
        """Equal rows as one, whose key is of what they hold, in the order of the keys."""
        held = self.documents, self.clicks + 0.0, self.arm, self.sure.astype(np.int64), self.reward + 0.0
        every = (one.reshape(len(self), -1).view(np.int64) for one in (*held, self.weight / self.times))
        keys, first, of = np.unique(hashes(np.hstack([*every])), return_index=True, return_inverse=True)
        times, weight = (np.bincount(of, one, len(keys)) for one in (self.times, self.weight))
        summed: dict[str, Any] = {"key": keys, "times": times.astype(np.int64), "weight": weight}
        return replace(self.take(first), **summed)

    def padded(self, slots: int) -> ArmRows:
        """The same with lists of so many slots."""
        more = (0, slots - self.clicks.shape[1])
        documents = np.pad(self.documents, [(0, 0), (0, 0), more], constant_values=PAD)
        return replace(self, documents=documents, clicks=np.pad(self.clicks, [(0, 0), more]))


@dataclass(frozen=True)
class ArmRowsState:
    """Pieces of rows, of which those with a hash from `limit` on are dropped. odd: whether any row read is so.

    different: pieces of all rows, equal ones as one; None if there are too many.
    """

    pieces: tuple[ArmRows, ...] = ()
    odd: bool = False
    limit: np.uint64 = field(default=_ALL)
    most: int = LEARNT_FROM
    different: tuple[ArmRows, ...] | None = ()

    def __add__(self, other: ArmRowsState) -> ArmRowsState:
        pieces, limit = (*self.pieces, *other.pieces), min(self.limit, other.limit)
        different = None if self.different is None or other.different is None else (*self.different, *other.different)
        both = ArmRowsState(pieces, self.odd or other.odd, limit, self.most, different)
        return both.cut() if max(sum(map(len, one)) for one in (pieces, different or ())) > 2 * self.most else both

    @property
    def rows(self) -> tuple[ArmRows, ...]:
        """The rows to learn from: different ones, unless there are too many."""
        return self.different or self.pieces

    def cut(self) -> ArmRowsState:
        """The same with the rows of the smallest hashes only, and with different ones if they are few, in one piece."""
        rows, limit = ArmRows.of_parts(self.pieces), self.limit
        if len(rows) > self.most:
            limit = min(limit, np.partition(rows.key, self.most)[self.most])
        different = ArmRows.of_parts(self.different).joined() if self.different else rows
        few = bool(self.different) and len(different) <= self.most
        kept = (rows.take(rows.key < limit),)
        return replace(self, pieces=kept, limit=limit, different=(different,) if few else None)


@dataclass(frozen=True)
class ArmRowsFold(Fold):
    """Keeps the different rows of an A/B test; if they are too many, rows whose numbers have the smallest hashes."""

    arms: By | MergedRankers
    most: int = LEARNT_FROM

    def needs(self) -> Needs:
        """The columns to read."""
        by = self.arms.by if isinstance(self.arms, MergedRankers) else LEARNT_BY
        own = Needs(frozenset(["clicks", "reward"]), keys=frozenset([by] if by else []))
        laws = (one.law("log_prob").reads("log_prob") for one in self.arms.policies.values())
        return reduce(Needs.__or__, laws, own | self.arms.column_read)

    def add(self, part: ArmRowsState | None, batch: LogBatch) -> ArmRowsState:
        state = ArmRowsState(most=self.most) if part is None else part
        if not len(batch):
            return state
        self.arms.refuse_unknown(batch)
        rows = ArmRows.of(self.arms, batch)
        different = None if state.different is None else (rows.joined(),)
        return state + ArmRowsState((rows.take(rows.key < state.limit),), rows.odd, _ALL, self.most, different)

    def result(self, part: ArmRowsState) -> ArmRowsState:
        if not part.pieces:
            return part
        kept = part.cut()
        (rows,) = kept.pieces
        in_order = np.argsort(rows.key, kind="stable")  # the same in whatever order they came
        return replace(kept, pieces=(rows.take(in_order),))


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
    - kinds: of merged rankers, the number of what stands for items that were hardly shown, by the ranks of both;
      guessed: [a] the share of each list whose ranks were hardly shown either, so that the nearest ones stand for it.
    """

    arms: By | MergedRankers
    model: ClickHistory
    keys: Integers
    directions: Floats
    moves: Floats
    rare: RareMeans
    known: float
    kinds: Integers | None = None
    guessed: Floats | None = None

    def number(self, ranker: Policy) -> int | None:
        """The number of a ranker; None if it is not judged."""
        return next((number for number, one in enumerate(self.arms.policies.values()) if one == ranker), None)

    def needs(self) -> Needs:
        """The columns to read."""
        return ArmRowsFold(self.arms).needs()

    def terms(self, batch: LogBatch) -> Floats:
        """[n, a] the term of each row for each arm."""
        rows = ArmRows.of(self.arms, batch)
        found, (lists, judged) = np.empty((len(rows), len(self.directions))), _numbered(rows, self.keys, self.kinds)
        for arm in range(len(self.directions)):
            served = (rows.arm == arm) & ~judged
            found[:, arm] = self.rare.mean[arm]
            found[served, arm] += (rows.reward[served] - self.rare.mean[arm]) / self.rare.share[arm]
            found[judged, arm] = self.model.expected(lists[judged, 1 + arm])[0] + self.moves[arm]
        shown, clicks = lists[judged, 0], rows.clicks[judged].astype(np.int64)
        found[judged] += self.model.scores(shown, clicks, self.directions)
        return found


class LearntHistory(NamedTuple):
    """What was learnt from an A/B test, or why nothing was, as the rest of a sentence."""

    found: ArmsHistory | None = None
    left_out: str | None = None


def learnt_history(
    arms: By | MergedRankers, source: Source, executor: Executor | None = None, progress: Progress | None = None
) -> LearntHistory:
    """Learn it from a log, in one pass, or say why not."""
    if is_read_once(source):
        return LearntHistory(
            left_out="the log can be read only once, and the model of the clicks would be learnt from it first"
        )
    fold = ArmRowsFold(arms)
    try:
        chosen = source.select(fold.needs())
    except (AbilityError, ColumnError):
        return LearntHistory(
            left_out=f"it needs clicks by rank and the column `{LEARNT_BY}`, to learn what each item attracts"
        )
    return history_of(arms, run(chosen, fold, executor, progress))


def history_of(arms: By | MergedRankers, state: ArmRowsState) -> LearntHistory:
    """What was learnt from rows, or why nothing was."""
    if state.odd or not state.pieces:
        return LearntHistory(left_out="it needs clicks of 0 or 1 that add up to the reward")
    [rows], count = state.rows, len(arms.policies)
    row, slot = np.nonzero(rows.documents[:, 0] != PAD)
    keys, of = np.unique(rows.documents[row, 0, slot], return_inverse=True)
    keys = keys[np.bincount(of, rows.times[row], len(keys)) >= SHOWN]
    kinds, guessed = None, None
    if isinstance(arms, MergedRankers):
        keys = keys if arms.by else keys[:0]
        kinds, guessed = _kinds(rows, keys)
    lists, judged = _numbered(rows, keys, kinds)
    known = float(rows.weight[judged].sum() / rows.weight.sum())
    if known < LEAST_JUDGED:
        often = f"shown at least {SHOWN} times for the query in only {percent(known)} of the impressions"
        return LearntHistory(left_out=f"all items of the rankers' lists were {often}")
    sessions = _alike(lists[judged, 0], rows.clicks[judged].astype(np.int64), rows.weight[judged])
    documents = len(keys) if kinds is None else len(keys) + 1 + int(kinds.max())
    model = click_history(sessions, documents, compares=kinds is not None)
    every = [_alike(lists[judged, 1 + arm], lists[judged, 1 + arm][:, :0], rows.weight[judged]) for arm in range(count)]
    slopes = [model.expected(one.lists, one.weight)[1] for one in every]
    directions = np.stack([model.direction(sessions, slope) for slope in slopes])
    directions *= _widened(model, sessions, np.stack(slopes), directions)
    moves = directions[:, model.free] @ model.prior[1][model.free] / sessions.weight.sum()
    rare = _rare(rows, judged, count)
    if kinds is not None:  # no ranker served a row alone
        means = [float(np.average(model.expected(one.lists)[0], weights=one.weight)) for one in every]
        rare = RareMeans(np.array(means), np.ones(count))
    found = ArmsHistory(arms, model, keys, directions, moves, rare, known, kinds, guessed)
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


def _kinds(rows: ArmRows, keys: Integers) -> tuple[Integers, Floats]:
    """The number of what stands for a rare document, by its `_kind`: of the nearest ranks that were shown often enough.

    [a] the share of each ranker's list that has to take another's.
    """
    rare, kind = (rows.documents != PAD) & ~np.isin(rows.documents, keys), _kind(rows)
    times = np.bincount(
        kind[:, 0][rare[:, 0]], (rows.times[:, None] * rare[:, 0])[rare[:, 0]], (DISTINCT_RANKS + 1) ** 2
    )
    often = np.flatnonzero(times >= min(SHOWN, max(times.max(), 1)))
    if not len(often):
        often = np.arange(1)
    away = np.log1p(np.stack(np.divmod(np.arange(len(times)), DISTINCT_RANKS + 1)))
    nearest = ((away[:, :, None] - away[:, None, often]) ** 2).sum(axis=0).argmin(axis=1)
    guess, weight = rare & (times[kind] < SHOWN), rows.weight[:, None] * (rows.documents != PAD).swapaxes(0, 1)
    return nearest, np.asarray((guess.swapaxes(0, 1) * weight).sum(axis=(1, 2)) / weight.sum(axis=(1, 2)))[1:]


def _kind(rows: ArmRows) -> Integers:
    """[n, 1 + a, k] the ranks that the two merged rankers give to each document, as one number."""
    found = np.zeros(rows.documents.shape, np.int64)
    for ranker in (1, 2):
        rank = np.full(found.shape, DISTINCT_RANKS)
        for place, document in enumerate(rows.documents[:, ranker].T):
            rank[rows.documents == document[:, None, None]] = min(place, DISTINCT_RANKS - 1)
        found = found * (DISTINCT_RANKS + 1) + rank
    return found


def _numbered(rows: ArmRows, keys: Integers, kinds: Integers | None = None) -> tuple[Integers, NDArray[np.bool_]]:
    """[n, 1 + a, k] the documents by number, -1 where there is none; [n] whether all of a row have one.

    kinds: what stands for those that are not among the keys.
    """
    place = np.minimum(np.searchsorted(keys, rows.documents), max(len(keys) - 1, 0))
    pad = rows.documents == PAD
    known = (keys[place] == rows.documents) if len(keys) else np.zeros(pad.shape, np.bool_)
    if kinds is not None:
        place, known = np.where(known, place, len(keys) + kinds[_kind(rows)]), ~pad
    return np.where(known & ~pad, place, -1), rows.sure & (known | pad).all(axis=(1, 2))


def _alike(lists: Integers, clicks: Integers, weight: Floats) -> ClickedLists:
    """Different sessions once, in an order that follows from what they hold; each with the sum of its weights."""
    both, of = np.unique(np.concatenate([lists, clicks], axis=1), axis=0, return_inverse=True)
    slots = lists.shape[1]
    one, other = (np.ascontiguousarray(part) for part in (both[:, :slots], both[:, slots:]))
    # Rounded, so that no order of the rows changes the last bits, which many steps of learning would magnify.
    return ClickedLists(one, other, np.round(np.bincount(of.ravel(), weight, len(both)), 9))
