"""The result of `evaluate`: estimates by name, with ways to print and save them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..bounds.ends import NamedBounds, at_level
from ..errors import UsageError
from ..findings.gate import Guarded, Guardrail
from ..findings.release import Release
from ..language.argument import worth_of
from ..policies.base import Policy
from ..policies.registry import policy as named_policy
from ..report.document import Document
from ..report.printable import Printed
from ..sums.estimate import Interval
from .ab_test import ABTest
from .differences import Difference, winner
from .estimates import Asked, Named, ResultData, among
from .pages import evaluation
from .pages.evaluation import Plots

Side = tuple[str, str | None]
"""One side of a comparison: a target or `logged`, and an estimator or the verdict's own."""
LOGGED = "logged"
"""The name of the log itself in comparisons of targets."""
_OF_LEVEL = ("confidence", "logged", "ranks", "simultaneous", "diagnoses", "ab_test")
"""Parts of the metadata that depend on the confidence level."""


class KeptLog(Protocol):
    """The part of a log that a result keeps."""

    def at(self, confidence: float) -> Result:
        """Return the same at another confidence level."""

    def difference(self, one: Side, other: Side, *, relative: bool = False, group: str | None = None) -> Interval:
        """Return the difference of two targets, or to the logged mean; in the whole log or a group."""

    def comparison(self, target: str, against: str, confidence: float) -> Difference:
        """Return the verdict on the difference of two targets, with its interval at this level."""

    def ab_test(self, pairs: Iterable[tuple[str, str]], confidence: float) -> ABTest | None:
        """Return the arms of an A/B test and the differences of pairs of targets; None of another log."""

    def release(self, target: str, level: float, largest: float | None = None) -> Release:
        """Return whether a target may replace the logging policy, with probability `level`."""


@dataclass(frozen=True)
class Result(Printed, ResultData):
    """The estimated values of new rankings: `result["snips"].value`, or `result["name", "snips"]`.

    A mapping of the available estimates, as `estimates` is; `result.estimates.refused` has the others.

    Parameters:
        estimates: of the whole log.
        metadata: everything else in the reports, `facts` as plain values (see `to_dict`).
        groups: the same for each value of the `by` column.
        truths: by target name, the true value, where a simulation knows it.
        about_log: problems of the log that affect every estimate.
        verdicts: by target name, what is decided, how far to trust it, and the answer; for `check`, by `the log`.
        bounds: by target name, between what values it lies, under ever stronger assumptions; see `bounds=True`.
        group_bounds: the same for each value of the `by` column.
        comparisons: of `compare`, whether one target earns more than another.
        winner: who earns more than all others.
        cumulative: where groups are days, the estimates of all rows up to and with each of at most 14 days.
        at_one_look: the same with the intervals of one look, where those of `cumulative` hold at every look.
        outcomes: by name, the same for each outcome beside the reward.
        guardrails: what is shown of each, for each decision.
        reduced: the part of the log that is kept for other levels and for differences.
        read: the files that it was made of, which it is never written over.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> result = offrank.evaluate(log, "uniform", drawn_by, ["ips", "snips"])
        >>> for (target, estimator), estimate in result.items():
        ...     print(target, estimator, round(estimate.value, 2))
        uniform ips 0.55
        uniform snips 0.55
    """

    reduced: KeptLog | None = field(default=None, repr=False, compare=False)
    read: tuple[str, ...] = field(default=(), repr=False, compare=False)

    __repr__ = Printed.__str__

    def at(self, confidence: float) -> Result:
        """Return the same result with intervals at another level; the log is not read again.

        Parameters:
            confidence: the level, between 0 and 1.

        Returns:
            The result; estimates and cautions are the same.

        Raises:
            UsageError: a level outside (0, 1), or a result that keeps nothing of its log, such as that of `check`.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.at(0.99)["snips"].low < result["snips"].low
            True
        """
        found = self._kept().at(confidence)
        found = found.comparing(self.metadata.baseline) if self.comparisons else found
        new: dict[str, Any] = {name: getattr(found.metadata, name) for name in _OF_LEVEL}
        command = f"{self.metadata.command or 'result'}.at({confidence!r})"
        bounds = at_level(self.bounds, confidence)
        by_group = {group: at_level(each, confidence) for group, each in self.group_bounds.items()}
        metadata = replace(self.metadata, **new, command=command)
        return replace(found, truths=self.truths, metadata=metadata, read=self.read).with_bounds(bounds, by_group)

    def difference(
        self,
        one: Asked | Policy,
        other: Asked | Policy,
        *,
        estimator: Named | None = None,
        relative: bool = False,
        group: str | None = None,
    ) -> Interval:
        """Return how much more `one` earns than `other`, on the same rows.

        Two similar rankings have similar rewards in each row, so that their difference is far more precise than the two
        intervals suggest. The log is not read again; level, kind of interval and clusters are those of the result.

        Parameters:
            one: a target, or (target, estimator); of a single target, an estimator alone.
            other: the same, or "logged" for the logged mean.
            estimator: for both. The default is the estimator of the verdict on this difference, with its interval: the
                narrowest, widened to the least assuming one. If none is sound, the least assuming one that both have.
            relative: as a share of the mean of `other`.
            group: a value of the `by` column, by default the whole log.

        Returns:
            The difference with its interval, in units of the reward or as a share.

        Raises:
            KeyError: no such target, estimator or group. NoOverlapError: the log cannot give one of the estimates.
            SupportError: the mean of `other` is not clearly above 0, so that there is no share of it.
            UsageError: estimates of unlike outcomes, or a result that keeps nothing of its log, as that of `check`.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.difference("uniform", "logged").high < 0
            True
        """
        sides = self._side(one, estimator), self._side(other, estimator, logged=True)
        if group is not None and group not in self.groups:
            raise KeyError(f"no group {group!r}; there are: {list(self.groups)}")
        return self._kept().difference(*sides, relative=relative, group=group)

    def _kept(self) -> KeptLog:
        if self.reduced is None:
            raise UsageError("this result contains no counts of its log", "use the result of `evaluate` or `compare`")
        return self.reduced

    def _side(self, asked: Asked | Policy, estimator: Any, *, logged: bool = False) -> Side:
        """Resolve one side of a comparison to the names that results use."""
        targets = list(dict.fromkeys(target for target, _ in self.estimates.found))
        if logged and asked == LOGGED and LOGGED not in targets:
            return LOGGED, None if estimator is None else self.estimates.known((targets[0], estimator))[1]
        alone = None if isinstance(asked, tuple) else among(targets, asked, named_policy)
        if alone is None and not isinstance(asked, tuple) and len(targets) > 1:
            raise KeyError(f"no target {asked!r}; there are: {targets}")
        if alone is None:
            return self.estimates.known(asked)
        return alone, None if estimator is None else self.estimates.known((alone, estimator))[1]

    def release(self, target: str, level: float = 0.95, largest: float | None = None) -> Release:
        """Return whether a target may replace the policy that drew the log: a one-sided test at this level.

        The log is not read again. A target that was chosen by this very log looks better than it is: see `learn`.

        Parameters:
            target: its name.
            level: the probability of the test, at least 0.5.
            largest: a reward that is known to occur, if it is larger than those of this log.

        Returns:
            The decision, with the ends of the intervals that it is made from.

        Raises:
            KeyError: no such target. UsageError: a level that is not between 0.5 and 1, or only logged quantities.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.release("uniform").released
            False
        """
        if not 0.5 < level < 1:
            raise UsageError(f"the level is {level!r}", "give a level above 0.5 and below 1, such as 0.95")
        return self._kept().release(self._side(target, None)[0], level, largest)

    def with_bounds(self, whole: NamedBounds, groups: Mapping[str, NamedBounds]) -> Result:
        """Return the same result with the bounds of its targets, in the whole log and in each group.

        Parameters:
            whole: the bounds by target.
            groups: the same by group.

        Returns:
            The result.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.with_bounds({}, {}).verdict == result.verdict
            True
        """
        return replace(self, bounds=whole, group_bounds=groups)

    def with_truths(self, truths: Mapping[str, float]) -> Result:
        """Return the same result with the true values of its targets, which only simulations know.

        Parameters:
            truths: the mean reward of each target, by name.

        Returns:
            The result, whose page and plots mark the truth.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.with_truths({"uniform": 0.5}).truths
            {'uniform': 0.5}
        """
        return replace(self, truths=dict(truths))

    def with_facts(self, **facts: Any) -> Result:
        """Return the same result with facts for the report replaced.

        Parameters:
            facts: such as `title` and `command`.

        Returns:
            The result.

        Raises:
            UsageError: `worth` is no number above 0.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.with_facts(title="Any order").facts["title"]
            'Any order'
        """
        if facts.get("worth") is not None:
            facts["worth"] = worth_of(facts["worth"])
        return replace(self, metadata=replace(self.metadata, **facts))

    def comparing(self, baseline: str | Policy | None = None) -> Result:
        """Return the same result with comparisons of all targets with a baseline, as `offrank.compare` returns.

        The intervals hold together with the level of the result: of k comparisons each is at 1 - (1 - level) / k
        (Bonferroni). By the same intervals, also of two targets, `winner` earns more than each of the others.

        Parameters:
            baseline: a target or "logged"; by default the first target, or the log if there is only one.

        Returns:
            The result, with `comparisons`.

        Raises:
            UsageError: the baseline is not a target, or is the only one.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> [one.verdict.decision for one in result.comparing("logged").comparisons]
            ['worse']
        """
        targets = list(self.metadata.targets)
        against = compared_with(targets, baseline)
        others = [name for name in targets if name != against]
        level = 1 - (1 - self.metadata.confidence) / len(others)
        alone = bool(self.bounds) and not self.verdicts  # bounds of differences, and no estimates
        found = () if alone else tuple(self._kept().comparison(name, against, level) for name in others)
        best = None if alone else winner(found, lambda one, other: self._kept().comparison(one, other, level))
        kind = {"kind": "compare", "title": "Which ranking earns more?", "baseline": against}
        arms = self._kept().ab_test([(name, against) for name in others], level)
        compared = replace(self.with_facts(**kind, simultaneous=level, ab_test=arms), comparisons=found, winner=best)
        if not self.outcomes:
            return compared
        outcomes = {name: one.comparing(against) for name, one in self.outcomes.items()}
        return replace(compared, outcomes=outcomes).guarded([one.guardrail for one in self.guardrails])

    def guarded(self, guardrails: Iterable[Guardrail]) -> Result:
        """Return the same result with what it shows of guardrails, all of which hold together at its level.

        Parameters:
            guardrails: on the outcomes beside the reward. Of k each is at 1 - (1 - level) / k (Bonferroni).

        Returns:
            The result, with `guardrails`.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.guarded([]).guardrails
            ()
        """
        rails = tuple(dict.fromkeys(guardrails))
        level = 1 - (1 - self.metadata.confidence) / max(len(rails), 1)
        at = {name: self.outcomes[name].at(level).decisions for name in dict.fromkeys(one.outcome for one in rails)}
        found = (Guarded.of(rail, *each) for rail in rails for each in at[rail.outcome].items())
        return replace(self, guardrails=tuple(found))

    def to_document(self) -> Document:
        """Return the document for report and terminal."""
        return evaluation.document(self)

    def _printed(self) -> Document:
        return evaluation.document(self, page=False)

    @property
    def plot(self) -> Plots:
        """Return the plots: `result.plot.forest().save("forest.svg")`."""
        return Plots(self)


def compared_with(targets: list[str], baseline: str | Policy | None) -> str:
    """Return the name of the target, or `logged`, that all others are compared with.

    Raises:
        UsageError: the baseline is not a target, or is the only one.
    """
    asked = baseline or (targets[0] if len(targets) > 1 else LOGGED)
    against = among(targets, asked, named_policy) or (LOGGED if asked == LOGGED else None)
    if against is None:
        raise UsageError(f"the baseline {asked!r} is no target", f"use one of {', '.join([*targets, LOGGED])}")
    if targets == [against]:
        raise UsageError(f"there is nothing to compare {against} with", "name a second target")
    return against
