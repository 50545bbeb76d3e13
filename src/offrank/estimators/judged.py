"""Clicks and judgements together: what was logged by its clicks, what was never logged by its grades."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..errors import UsageError
from ..findings.row import EstimatorKind, JudgedEvidence
from ..inference.mean_intervals import Inference
from ..language.assumptions import GRADES_ALIKE, ITEM_POSITION
from ..language.spelling import File
from ..log.batch import Floats, Integers, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs, Source, refuse_once
from ..policies.base import Fits, Policy, all_items
from ..policies.propensities import Propensities, propensities
from ..reward_models.calibration import QUERY_PARTS, Calibration, bin_of, calibrated
from ..reward_models.grades import JUDGED_BY, Grades, grades_of
from ..running.executors import Executor, run
from ..sums.base import Fold
from ..sums.mean import Mean, combined, ratio
from .base import Estimator, Terms, Weighted, Weights, refuse_impossible
from .items import IPM
from .layout import BLOCKS, ROWS, TargetPair
from .registry import ESTIMATORS

_PLAIN = IPM()


@dataclass(frozen=True, repr=False)
class _OfClicks(Weighted):
    """The weights of the clicks behind `judged`: how they are distributed does not follow from the policies alone."""

    name: ClassVar[str] = "judged clicks"
    kind: ClassVar[EstimatorKind] = replace(_PLAIN.kind, follows=None, assumes=ITEM_POSITION | GRADES_ALIKE)

    def weigh(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Weights:
        return _PLAIN.weigh(batch, logging, target)


@dataclass(frozen=True, eq=False)
class _Exposure:
    """What a target shows of a batch. items: [n, q] candidates. chance: [n, q, k] of each at each rank.

    logged: [n, q, k] whether logging may show it there. level: [n, q] of its grade. weight: [n, k] of logged slots, as
    in `ipm`; own: [n, k] the levels of their items.
    """

    items: Integers
    chance: Floats
    logged: Any
    level: Integers
    weight: Floats
    own: Integers

    @classmethod
    def of(cls, grades: Grades, batch: LogBatch, logging: Propensities, target: Propensities) -> _Exposure:
        found = _PLAIN.weigh(batch, logging, target)
        refuse_impossible(batch, found.impossible, logging)
        contexts = batch.contexts
        sure, slates = target.policy.sure_slates(contexts)
        if sure.all():
            items = slates
            chance = np.where((items >= 0)[:, :, None], np.eye(items.shape[1], batch.slates.shape[1]), 0.0)
        else:
            items, chance = all_items(contexts), target.candidate_ranks
        logged: Any = np.ones((1, 1, 1), np.bool_)
        if not logging.policy.shows_all(contexts).all():
            logged = logging.policy.law("rank_probs").rank_probs(contexts, items) > 0
        every = grades.level_of(batch)
        level, own = (np.take_along_axis(every, np.maximum(one, 0), axis=1) for one in (items, batch.slates))
        return cls(items, chance, logged, level, found.weight, own)


@ESTIMATORS.register
@dataclass(frozen=True, repr=False)
class JudgedClicks(Estimator, Fits):
    """Weighted clicks where the log may show what the target shows, and grades, calibrated on them, where it cannot.

    sum_k w c + sum over (item, rank) never logged of P(item at rank | target) m(grade, rank), with the weights w of
    `ipm` and the rate m of a grade at a rank, learnt from weighted clicks of other queries and never falling as grades
    rise. A logged click also stands for items of its grade that were never logged, so that the error of m is corrected,
    and counts in the interval. Where all is logged, grades only sharpen: what they and ranks expect is a control
    variate, with the multiple of least variance, as in prediction-powered inference (Angelopoulos and others 2023).

    Unbiased where a click depends only on the item and its rank, and items of a grade earn alike, logged or not.

    Parameters:
        grades: a file of judgements (query, item, grade, and who and when), or a table of them. Of several graders of
            an item the mean counts.
        ungraded: what items earn that were neither logged nor judged: `bound` counts them as 0, and widens the interval
            to twice what the rest earns; `alike` takes logged items without a grade for them.
        learnt: what was learnt of a log for each target: `evaluate` does so.

    Raises:
        UsageError: another word for `ungraded`.

    Examples:
        >>> judgements = [{"query": "shoes", "item": "a", "grade": 3}, {"query": "shoes", "item": "b", "grade": 0}]
        >>> offrank.estimators.JudgedClicks(judgements).grades.values.tolist()
        [0.0, 3.0]
    """

    name: ClassVar[str] = "judged"
    kind: ClassVar[EstimatorKind] = EstimatorKind(
        logging="rank_law",
        target="rank_probs",
        assumes=ITEM_POSITION | GRADES_ALIKE,
        weighs="items",
        predicts=True,
    )
    weighting: ClassVar[Weighted] = _OfClicks()
    normalised: ClassVar[bool] = False
    parts: ClassVar[tuple[str, ...]] = (
        *("by grade", "by rank", "never logged", "share", "ungraded", "rare clicks", "rare expected"),
    )
    grades: File | Any
    ungraded: Literal["bound", "alike"] = field(default="bound", kw_only=True)
    learnt: Any = field(default=(), kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.ungraded not in ("bound", "alike"):
            raise UsageError(f"ungraded is {self.ungraded!r}", "use bound or alike")
        if not isinstance(self.grades, str | Grades):
            object.__setattr__(self, "grades", Grades.of(self.grades))

    @property
    def unknown(self) -> str | None:
        return "ungraded" if self.ungraded == "bound" else None

    @property
    def table(self) -> Grades:
        """The grades, read on first use; a file is read only once."""
        return self.grades if isinstance(self.grades, Grades) else grades_of(self.grades)

    def needs(self, target: Policy) -> Needs:
        return self.table.needs()

    def fit(self, source: Source, executor: Executor | None = None) -> JudgedClicks:
        """The estimator itself: what grades earn depends on the target, and is learnt by `learnt_for`."""
        return self

    def learnt_for(
        self, targets: Iterable[Policy], logging: Policy, source: Source, executor: Any = None, progress: Any = None
    ) -> Self:
        """The same with the rates of grades for some targets, from one pass over the log.

        Raises:
            UsageError: no query of the log was judged.
        """
        refuse_once(source, "what grades earn is learnt from it first")
        fold = _CellsFold(self.table, tuple(dict.fromkeys(targets)), logging)
        needed = self.needs(logging) | Needs(frozenset(["clicks"])) | logging.reads("rank_probs")
        for one in fold.targets:
            needed |= one.reads("rank_probs")
        found = run(source.select(needed), fold, executor, progress)
        if not found["known"].any():
            raise UsageError(
                f"none of the queries in {self.table.where} is a query of {source.describe()}",
                "give the table the ids of queries that the log has in its column `query`",
            )
        some = found["seen"], found["known"]
        learnt = tuple(
            (one, calibrated(found[f"cells {at}"], found[f"bins {at}"], *some, ungraded=self.ungraded == "alike"))
            for at, one in enumerate(fold.targets)
        )
        return replace(self, learnt=learnt)

    def calibration(self, target: Policy) -> Calibration:
        """What was learnt for a target.

        Raises:
            UsageError: nothing was.
        """
        for one, found in self.learnt:
            if one == target:
                return found
        raise UsageError(f"{self!r} has not been fitted to a log", "use it in evaluate, which fits it first")

    def terms(self, batch: LogBatch, logging: Propensities, target: Propensities) -> Terms:
        known, shown = self.calibration(target.policy), _Exposure.of(self.table, batch, logging, target)
        part, slots = _part(batch)[:, None], shown.weight.shape[1]
        rank = np.minimum(np.arange(slots), BLOCKS - 1)
        rate, omega = (np.stack([_wide(getattr(one, name), rank) for one in known.folds]) for name in ("rate", "omega"))
        by_rank = np.stack([one.by_rank[np.minimum(rank, len(one.by_rank) - 1)] for one in known.folds])
        last = len(self.table.values)
        graded = (shown.level < last) | (self.ungraded == "alike")
        expected = shown.chance * rate[part, shown.level]
        never = np.where(shown.logged, 0.0, shown.chance)
        own_rate, own_omega = (each[part, shown.own, np.arange(slots)] for each in (rate, omega))
        assert batch.clicks is not None
        weight, clicks, hidden = shown.weight, batch.clicks, never.sum(axis=1)
        of_slots, length = weight * own_rate, np.maximum(batch.contexts.length, 1)
        logged = np.where(shown.logged, shown.chance, 0.0).sum(axis=1)
        unlogged = (np.where(shown.logged, 0.0, expected).sum(axis=2) * graded).sum(axis=1)
        unlogged += (weight * own_omega * (clicks - own_rate)).sum(axis=1)
        at_all = logging.rank_law.written_out(batch.contexts.length).sum(axis=2)
        rare = (bin_of(at_all) >= bin_of(np.array(known.rare))) & (shown.own < last)
        values = (
            np.where(shown.logged, expected, 0.0).sum(axis=(1, 2)) - of_slots.sum(axis=1),
            (by_rank[part[:, 0]] * (logged - weight)).sum(axis=1),
            unlogged,
            hidden.sum(axis=1) / length,
            (never.sum(axis=2) * (shown.level == last)).sum(axis=1) / length,
            (weight * clicks * rare).sum(axis=1),
            (of_slots * rare).sum(axis=1),
        )
        control = weight + hidden
        weights = Weights(weight * (1 + own_omega), control)
        value = (weight * clicks).sum(axis=1) + unlogged
        return Terms(value, control.sum(axis=1) / length, weights, dict(zip(self.parts, values, strict=True)))

    def mean(self, at: TargetPair, inference: Inference) -> Mean:
        """The estimate less the multiples of both control variates that give it the least variance."""
        plain, *controls = (ratio(one, ROWS) for one in (at.value, at.parts["by grade"], at.parts["by rank"]))
        slopes = inference.best_slopes(plain, controls)
        parts = [(plain, 1.0), *((one, -slope) for one, slope in zip(controls, slopes, strict=True))]
        return replace(combined(parts), lacks=self.unknown is not None)

    def evidence(self, at: TargetPair, mean: Mean, logged: Mean, inference: Inference) -> JudgedEvidence:
        """What findings read: how much rests on grades, and how much less these items may earn."""
        named, sums, table = at.parts, inference.sums, self.table
        of_grades, *shares = (ratio(named[one], ROWS) for one in ("never logged", "share", "ungraded"))
        known, (share, ungraded), value = self.calibration(at.target), map(sums.value, shares), sums.value(mean)
        differs, less = tipping(mean, of_grades, logged, inference)
        clicks, expected = named["rare clicks"], named["rare expected"]
        return JudgedEvidence(
            share=share,
            ungraded=ungraded,
            alike=self.ungraded == "alike",
            part=sums.value(of_grades) / value if value else 0.0,
            differs=differs,
            less=less,
            rare=inference.interval(ratio(clicks, expected)) if sums.total[expected] > 0 else None,
            grades=known.rows(table.values, float(sums.total[ROWS])),
            judged=len(table.pairs),
            unseen=int((known.known > 0).sum() - (known.seen > 0).sum()),
            elsewhere=int((known.known == 0).sum()),
            several=table.several,
            unlike=table.unlike,
        )


def tipping(mean: Mean, part: Mean, logged: Mean, inference: Inference) -> tuple[int, float | None]:
    """Whether a mean is above what was logged (1), below (-1), or nobody knows (0).

    And the share by which a part of it may earn less (more, if it is below 0) until nobody knows; None if it may earn
    nothing, or twice as much.
    """

    def decided(less: float) -> int:
        away = inference.difference(combined([(mean, 1.0), (part, -less)]), logged)
        return int(away.low > 0) - int(away.high < 0)

    first = decided(0.0)
    if not first or decided(float(first)) == first:
        return first, None
    near, far = 0.0, float(first)
    for _ in range(12):
        middle = (near + far) / 2
        near, far = (middle, far) if decided(middle) == first else (near, middle)
    return first, near


@dataclass(frozen=True)
class _CellsFold(Fold):
    """Sums of weighted clicks and of exposure by part of the queries, level and rank, for each target."""

    grades: Grades
    targets: tuple[Policy, ...]
    logging: Policy

    def of(self, batch: LogBatch) -> dict[str, Floats]:
        found = dict[str, Any]()
        if not len(batch):
            return found
        pair, known = self.grades.pair_of(batch), np.unique(batch.contexts.keys[JUDGED_BY])
        seen = np.zeros(len(self.grades.pairs))
        seen[pair[pair >= 0]] = 1
        found["seen"], found["known"] = seen, np.isin(self.grades.query, self.grades.queries.places(known)) * 1.0
        logging, part = propensities(self.logging, batch), _part(batch)
        rank = np.minimum(np.arange(batch.slates.shape[1]), BLOCKS - 1)
        assert batch.clicks is not None
        for number, one in enumerate(self.targets):
            shown = _Exposure.of(self.grades, batch, logging, propensities(one, batch))
            shape = QUERY_PARTS, len(self.grades.values) + 1, int(rank[-1]) + 1
            weight = shown.weight / batch.inclusion[:, None]
            chance = shown.chance / batch.inclusion[:, None, None]
            own = np.ravel_multi_index((part[:, None], shown.own, rank), shape)
            cell = np.ravel_multi_index((part[:, None, None], shown.level[:, :, None], rank), shape)
            sums = [
                *((own, weight * batch.clicks), (own, weight)),
                *((cell, np.where(shown.logged, chance, 0.0)), (cell, np.where(shown.logged, 0.0, chance))),
            ]
            size = int(np.prod(shape))
            each = [np.bincount(at.ravel(), much.ravel(), size).reshape(shape) for at, much in sums]
            found[f"cells {number}"] = np.stack(each, axis=1)
            at_all = logging.rank_law.written_out(batch.contexts.length).sum(axis=2)
            graded = weight * (shown.own < len(self.grades.values))
            found[f"bins {number}"] = np.bincount(bin_of(at_all).ravel(), graded.ravel())
        return found

    def result(self, found: dict[str, Floats]) -> dict[str, Floats]:
        """Return the sums; of each pair and query, 1 if there is any such row."""
        return {name: np.minimum(one, 1.0) if name in ("seen", "known") else one for name, one in found.items()}


def _part(batch: LogBatch) -> Integers:
    """[n] the part of each row, by its query."""
    found: Integers = (hashed(batch.contexts.keys[JUDGED_BY].view(np.uint64)) % np.uint64(QUERY_PARTS)).astype(np.int64)
    return found


def _wide(cells: Floats, rank: Integers) -> Floats:
    """[l, k] cells of blocks of ranks at all ranks; 0 at ranks that no logged slate had."""
    wide = np.pad(cells, ((0, 0), (0, max(int(rank.max(initial=0)) + 1 - cells.shape[1], 0))))
    return np.asarray(wide[:, rank])
