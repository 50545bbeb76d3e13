"""Paired differences between one target and another, or the log, on the same rows, and their verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..checks.log_problems import OF_ROWS, of_rows
from ..errors import SupportError, UsageError
from ..estimators.base import Estimator
from ..estimators.unseen_rewards import rare_evidence
from ..findings import cautions_for, has_cause
from ..findings.assumptions import GuessedEvidence
from ..findings.reasons import Facts
from ..findings.row import EstimatorKind, Row
from ..findings.verdict import Verdict, verdict
from ..language.assumptions import NEIGHBOURS
from ..policies.base import Policy
from ..sums.estimate import Caution, Interval
from ..sums.mean import Mean
from ..wording import Attributed
from .ab_test import BY_HISTORY, ArmsPair, difference_estimate
from .candidates import Rows, span
from .counts import Counts

_ORDER = {"serious": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Difference(Attributed):
    """Whether one target earns more than another.

    Parameters:
        target: the name of the one.
        against: the name of the other; `logged` for the logged mean.
        verdict: on the difference, with its interval, absolute and relative; with trust `none` no claim is made.
        rows: impressions that were read.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> [one.decided for one in offrank.compare(log, "uniform", drawn_by, "snips").comparisons]
        [True]
    """

    target: str
    against: str
    verdict: Verdict
    rows: int

    @property
    def decided(self) -> bool:
        """Whether one of them is shown to earn more."""
        return self.verdict.decision in ("better", "worse")

    @property
    def rows_needed(self) -> int | None:
        """Return how many such rows would decide with power 80 %, if the true difference is the estimated one.

        Errors fall with the square root of the rows. None if it is decided already, or if more rows would not help.
        """
        away, least = self.verdict.difference, self.verdict.detectable
        if self.decided or away is None or least is None or not least > abs(away.value) > 0:
            return None
        return math.ceil(self.rows * (least / away.value) ** 2)


Side = tuple[Policy, Rows]


@dataclass(frozen=True)
class Pair:
    """The difference between two targets, by each estimator that both have.

    summary: at the level of the intervals. one, other: a target and what the estimators say of it, beside the log;
    None for the logged mean. names: of the two targets. arms: those that served them in an A/B test. facts: of the log
    and both, by which assumptions are chosen.
    """

    summary: Counts
    one: Side
    other: Side | None
    names: tuple[str, str]
    arms: ArmsPair | None = None
    facts: Facts | None = None

    def verdict(self, about_log: Sequence[Caution]) -> Verdict | None:
        """Return the verdict on the difference, as on one target; its `value` is the difference too.

        An estimate of a difference is as sound as both of its parts, and has the warnings of both.
        None if only logged quantities were requested.
        """
        name = " - ".join(self.names)
        own, known = self._candidates, self.summary
        if self.arms is not None:
            about_log = [one for one in about_log if not has_cause(one, "level")]
            own = self.arms.candidates([one for one in about_log if has_cause(one, "arms", *OF_ROWS)])
            if any(one.severity == "serious" and one not in of_rows(about_log) for one in about_log):
                own = [replace(one, asked=True) for one in own if one.kind.logging is None]  # the means need no law
        found = verdict(name, own, about_log, nonnegative=known.nonnegative, facts=self.facts)
        return found and replace(found, value=found.difference)  # a difference may be below 0, unlike a mean

    def least_assuming(self) -> str:
        """Return the least assuming estimator that both have, a sound one if possible, for when no verdict chooses.

        Raises:
            SupportError: they have no estimator in common.
        """
        found = [one for one in self._candidates if one.asked and one.refusal is None]
        if not found:
            raise SupportError(
                f"no estimator has estimates of both {self.names[0]} and {self.names[1]} from this log",
                "name an estimator for each: difference((target, estimator), (target, estimator))",
            )
        return min(found, key=lambda one: (not one.sound, len(one.kind.assumes), one.warned, one.name)).name

    def difference(self, mine: str, theirs: str | None = None) -> Interval:
        """Return the difference by these estimators, by default one for both; if the data chose, span all intervals."""
        first, *more = (self.summary.inference.difference(*means) for means in self._means(mine, theirs or mine))
        return self._widened(first, more)

    def relative(self, mine: str, theirs: str | None = None) -> Interval | None:
        """Return the difference as a share of the second mean; None if that is not clearly above 0."""
        found = [self.summary.relative(*means) for means in self._means(mine, theirs or mine)]
        known = [one for one in found if one is not None]
        return self._widened(known[0], known[1:]) if len(known) == len(found) else None

    def _widened(self, found: Interval, more: Sequence[Interval]) -> Interval:
        for one in more:
            found = span(one, found) or found
        return found

    def _means(self, mine: str, theirs: str) -> Iterator[tuple[Mean, Mean]]:
        """Return the means to subtract: by the estimators, then by those of their anchors."""
        target, first = self.one[0], self.one[1][mine].alternatives
        second = (None, None) if self.other is None else self.other[1][theirs].alternatives
        for one, other in dict.fromkeys(zip(first, second, strict=True)):
            yield self.summary.mean(target, one), self._second(one, other)

    def _second(self, one: Estimator, other: Estimator | None) -> Mean:
        """Return the mean to subtract: of the second target, or of the log."""
        if self.other is None or other is None:
            return self.summary.layout.logged(one.unnormalised)
        earned = [each.kind.outcome for each in (one, other)]
        if earned[0] != earned[1] and not self.summary.rewards_are_clicks:
            raise UsageError(
                f"`{one!r}` estimates {earned[0]}, but `{other!r}` estimates {earned[1]}",
                "compare estimates of the same outcome",
            )
        return self.summary.mean(self.other[0], other)

    @cached_property
    def _candidates(self) -> list[Row]:
        """Return the possible answers: the difference by each estimator that both have."""
        mine, theirs = self.one[1], self.one[1] if self.other is None else self.other[1]
        both = (name for name in mine if name in theirs and mine[name].kind.weighs != "logged")
        return [*(self._candidate(mine[name], theirs[name]) for name in both), *self._by_clicks()]

    def _by_clicks(self) -> Iterator[Row]:
        """Yield the difference by a model of the clicks on merged lists, of rankers that it judges."""
        summary, learnt = self.summary, self.summary.layout.history
        both = [self.one, *([] if self.other is None else [self.other])]
        numbers = [] if learnt is None else [place for one, _ in both if (place := learnt.number(one)) is not None]
        if learnt is None or learnt.guessed is None or len(numbers) < 2:
            return
        one, other = map(summary.layout.history_mean, numbers)
        shares = dict(zip(self.names, learnt.guessed[numbers].tolist(), strict=True))
        found = difference_estimate(summary, summary.inference.difference(one, other), ())
        found = replace(found, warnings=cautions_for(GuessedEvidence(shares=shares)))
        kind, first = EstimatorKind(logging="log_prob", assumes=NEIGHBOURS), next(iter(self.one[1].values()))
        yield Row(BY_HISTORY, first.estimator, kind, found, relative=summary.relative(one, other))

    def _candidate(self, mine: Row, theirs: Row) -> Row:
        name = mine.name
        if refusal := mine.refusal or theirs.refusal:
            return replace(mine, refusal=refusal, logged=None, relative=None)
        away = self.difference(name)
        each = (self.one, self.other) if self.other else (self.one,)
        error_ratio = max(self.summary.error_ratio(target, rows[name].estimator) for target, rows in each)
        error = max(mine.estimate.standard_error, theirs.estimate.standard_error)
        finite = mine.sound and theirs.sound
        estimate = replace(
            mine.estimate,
            value=away.value if finite else math.nan,
            low=away.low,
            high=away.high,
            standard_error=away.standard_error,
            difference=away,
            detectable=self.summary.detectable(away, error, error_ratio**-2),
            warnings=self._of_difference(away, self._cautions(mine, theirs), mine, theirs),
        )
        return replace(
            mine,
            kind=replace(
                mine.kind,
                assumes=mine.kind.assumes | theirs.kind.assumes,
                logging=mine.kind.logging or theirs.kind.logging,
            ),
            estimate=estimate,
            logged=None,
            relative=self.relative(name),
        )

    def _of_difference(self, away: Interval, known: tuple[Caution, ...], *both: Row) -> tuple[Caution, ...]:
        """Return the warnings about both targets, and those about their difference alone."""
        if self.other is None:
            return known
        sides = zip((self.one, self.other), both, strict=True)
        values = [self.summary.columns(target, row.estimator).value for (target, _), row in sides]
        codes = {one.code for one in known}
        found = cautions_for(rare_evidence(self.summary.inference, values, away))
        return (*(one for one in found if one.code not in codes), *known)

    def _cautions(self, mine: Row, theirs: Row) -> tuple[Caution, ...]:
        """Return the warnings about both, the worst first; a warning about one names it.

        Where the second is too low the difference is too high; an error of both may move it either way.
        """
        if self.other is None:
            return mine.cautions
        both = set(mine.cautions) & set(theirs.cautions)
        found = dict.fromkeys(
            replace(one, missing=math.nan if one.missing else 0.0)
            if one in both
            else replace(one, message=f"Of `{name}`: {one.message}", missing=sign * one.missing)
            for name, sign, some in zip(self.names, (1, -1), (mine.cautions, theirs.cautions), strict=True)
            for one in some
        )
        return tuple(sorted(found, key=lambda one: _ORDER[one.severity]))


def winner(found: Sequence[Difference], compare: Callable[[str, str], Difference]) -> str | None:
    """Return who earns more than all others: one of the targets, or what they are compared with; None if nobody does.

    found: the comparisons that are shown; what they decide is not asked again, so the baseline wins if and only if all
    of them say worse. compare: the verdict on the difference of two targets, at the level of those in `found`. Of k
    targets and a baseline each is at 1 - (1 - level) / k: whoever is named falsely has won falsely against the best,
    which stands in k pairs only (comparisons with the best: Hsu 1981).
    """
    [against] = {one.against for one in found}
    if all(one.verdict.decision == "worse" for one in found):
        return against
    better = {one.target: one.verdict.difference for one in found if one.verdict.decision == "better"}
    best = max(better, key=lambda name: one.value if (one := better[name]) else -math.inf, default=None)
    rivals = [one.target for one in found if one.target != best and one.verdict.decision != "worse"]
    if best is None or any(compare(best, rival).verdict.decision != "better" for rival in rivals):
        return None
    return best
