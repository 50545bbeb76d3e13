"""The result of `evaluate`: estimates by name, with ways to print and save them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any, Protocol

from ..errors import NoOverlapError, UsageError
from ..estimators.base import Estimator
from ..estimators.named import estimator as named_estimator
from ..estimators.wrappers import SelfNormalised
from ..files import write_text
from ..findings.release import Release
from ..findings.verdict import Verdict
from ..folds.estimate import Caution, Estimate, Interval, PlacedCaution
from ..frames import Given, Tabular
from ..policies.base import Policy
from ..policies.named import policy as named_policy
from ..report import terminal
from ..report.document import Document
from . import document
from .pages import evaluation
from .pages.evaluation import Plots
from .paired import Difference

Key = tuple[str, str]
Side = tuple[str, str | None]
"""One side of a comparison: a target or `logged`, and an estimator or the verdict's own."""
Named = str | Estimator | SelfNormalised
Asked = Named | tuple[str | Policy, Named]
LOGGED = "logged"
"""The name of the log itself in comparisons of targets."""
_OF_LEVEL = ("confidence", "logged", "ranks", "comparisons", "simultaneous", "clip_path", "window_path", "heaviest")
"""Facts that depend on the confidence level."""


@dataclass(frozen=True)
class Estimates(Given[Estimate]):
    """Estimates by (target, estimator), or by estimator alone if there is one target.

    Both may be spelled in any equivalent way, or be the objects.
    """

    found: Mapping[Key, Estimate | NoOverlapError]

    headings = ("target", "estimator", "value", "difference", "ess", "mean_weight", "warnings", "error")

    def records(self) -> list[dict[str, Any]]:
        """A row per estimate."""
        return [document.estimate_row(key, None, value, None) for key, value in self.found.items()]

    def to_dict(self) -> dict[str, Any]:
        return {"estimates": self.records()}

    def known(self, key: Any) -> Key:
        """Return the key of an estimate, given or refused; the estimator may be any spelling, or the object itself."""
        targets = list(dict.fromkeys(target for target, _ in self.found))
        target, name = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        if target is None:
            if len(targets) > 1:
                raise KeyError(f"there are several targets: ask for result[name, estimator], name in {targets}")
            target = "".join(targets)
        known = among(targets, target, named_policy)
        if known is None:
            raise KeyError(f"no target {target!r}; there are: {targets}")
        names = [name for other, name in self.found if other == known]
        estimator = among(names, name, named_estimator)
        if estimator is None:
            raise KeyError(f"no estimate {name!r}; there are: {names}")
        return known, estimator


class KeptLog(Protocol):
    """The part of a log that a result keeps."""

    def at(self, confidence: float) -> Result:
        """Return the same at another confidence level."""

    def difference(self, one: Side, other: Side, *, relative: bool = False, group: str | None = None) -> Interval:
        """Return the difference of two targets, or to the logged mean; in the whole log or a group."""

    def comparison(self, target: str, against: str, confidence: float) -> Difference:
        """Return the verdict on the difference of two targets, with its interval at this level."""

    def release(self, target: str, level: float) -> Release:
        """Return whether a target may replace the logging policy, with probability `level`."""


@dataclass(frozen=True)
class Result(Mapping[Key, Estimate], Tabular):
    """What new rankings would have earned: `result["snips"].value`, or `result["name", "snips"]`.

    A mapping of the available estimates, as `estimates` is; `result.estimates.refused` has the others.

    - estimates: of the whole log.
    - groups: the same for each value of the `by` column.
    - about_log: problems of the log that affect every estimate.
    - facts: everything else in the reports (see `to_dict`).
    - verdicts: by target name, whether to use the answer, and the answer; for `check`, by `the log`.
    - comparisons: of `compare`, whether one target earns more than another.
    - reduced: the part of the log that is kept for other levels and for differences.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> result = offrank.evaluate(log, "uniform", drawn_by, ["ips", "snips"])
        >>> for (target, estimator), estimate in result.items():
        ...     print(target, estimator, round(estimate.value, 2))
        uniform ips 0.55
        uniform snips 0.55
    """

    estimates: Estimates
    groups: Mapping[str, Estimates] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    truths: Mapping[str, float] = field(default_factory=dict)
    about_log: tuple[Caution, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    comparisons: tuple[Difference, ...] = ()
    reduced: KeptLog | None = field(default=None, repr=False, compare=False)

    headings = (
        *("status", "title", "target", "against", "estimator", "group", "value", "difference", "relative", "truth"),
        *("ess", "mean_weight", "word", "decided", "rows_needed", "expected"),
        *("message", "warnings", "reasons", "error"),
    )

    def __getitem__(self, key: Asked) -> Estimate:
        return self.estimates[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        return terminal.render_text(self.sheet())

    __repr__ = __str__

    def show(self) -> None:
        """Print the tables, in colour on a terminal."""
        terminal.show(self.sheet())

    @property
    def trustworthy(self) -> bool:
        """Whether every estimate was given, without a serious finding.

        A check is judged by its findings alone: its estimates are of policies that the user did not request.
        """
        if any(row["status"] == "serious" for row in self.facts.get("checks", [])):
            return False
        if self.facts.get("kind") == "check":
            return True
        return not self.estimates.refused and all(e.trustworthy for e in self.estimates.given.values())

    @property
    def verdict(self) -> Verdict:
        """Return the only verdict: on the one target, or for `check` on the log.

        Raises:
            KeyError: there are several targets, or only logged quantities were requested.
        """
        names = list(self.verdicts)
        if len(names) > 1:
            raise KeyError(f"there are several targets: ask for result.verdicts[name], name in {names}")
        if not names:
            raise KeyError("there is no verdict: only what was logged was asked for")
        return self.verdicts[names[0]]

    @property
    def usable(self) -> bool:
        """Whether no verdict is `do not use`."""
        every = (*self.verdicts.values(), *(one.verdict for one in self.comparisons))
        return all(one.usable for one in every)

    def at(self, confidence: float) -> Result:
        """Return the same result with intervals at another level; the log is not read again.

        Raises:
            UsageError: a level outside (0, 1), or a result that keeps nothing of its log, such as that of `check`.
        """
        found = self._kept().at(confidence)
        found = found.comparing(self.facts["baseline"]) if self.comparisons else found
        facts = {name: found.facts[name] for name in _OF_LEVEL if name in found.facts}
        facts["command"] = f"{self.facts.get('command', 'result')}.at({confidence!r})"
        return replace(found, truths=self.truths, facts={**self.facts, **facts})

    def difference(
        self,
        one: Asked | Policy,
        other: Asked | Policy,
        *,
        estimator: Named | None = None,
        relative: bool = False,
        group: str | None = None,
    ) -> Interval:
        """Return how much more `one` earns than `other`, on the same rows: `result.difference("b", "a")`.

        Two similar rankings have similar rewards in each row, so that their difference is far more precise than the two
        intervals suggest. The log is not read again; level, kind of interval and clusters are those of the result.

        - one: a target, or (target, estimator); of a single target, an estimator alone.
        - other: the same, or "logged" for the logged mean.
        - estimator: for both. The default is the estimator of the verdict on this difference, with its interval: the
          least assuming one that decides. If none is sound, the least assuming one that both have.
        - relative: as a share of the mean of `other`.
        - group: a value of the `by` column, by default the whole log.

        Raises:
            KeyError: no such target, estimator or group. NoOverlapError: the log cannot give one of the estimates.
            SupportError: the mean of `other` is not clearly above 0, so that there is no share of it.
            UsageError: estimates of unlike outcomes, or a result that keeps nothing of its log, as that of `check`.
        """
        sides = self._side(one, estimator), self._side(other, estimator, logged=True)
        if group is not None and group not in self.groups:
            raise KeyError(f"no group {group!r}; there are: {list(self.groups)}")
        return self._kept().difference(*sides, relative=relative, group=group)

    def _kept(self) -> KeptLog:
        if self.reduced is None:
            raise UsageError("this result keeps nothing of its log", "ask the result of `evaluate` or `compare`")
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

    def release(self, target: str, level: float = 0.95) -> Release:
        """Return whether a target may replace the policy that drew the log: a one-sided test at this level.

        The log is not read again. A target that was chosen by this very log looks better than it is: see `learn`.

        Raises:
            KeyError: no such target. UsageError: a level that is not between 0.5 and 1, or only logged quantities.
        """
        if not 0.5 < level < 1:
            raise UsageError(f"the level is {level!r}", "give one above 0.5 and below 1, such as 0.95")
        return self._kept().release(self._side(target, None)[0], level)

    def with_truths(self, truths: Mapping[str, float]) -> Result:
        """Return the same result with the true values of its targets, which only simulations know."""
        return replace(self, truths=dict(truths))

    def with_facts(self, **facts: Any) -> Result:
        """Return the same result with facts for the report replaced (title, command)."""
        return replace(self, facts={**self.facts, **facts})

    def comparing(self, baseline: str | Policy | None = None) -> Result:
        """Return the same result with comparisons of all targets with a baseline, as `offrank.compare` returns.

        baseline: a target or "logged"; by default the first target, or the log if there is only one. The intervals hold
        together with the level of the result: of k comparisons each is at 1 - (1 - level) / k (Bonferroni).

        Raises:
            UsageError: the baseline is not a target, or is the only one.
        """
        targets = list(self.facts["targets"])
        asked = baseline or (targets[0] if len(targets) > 1 else LOGGED)
        against = among(targets, asked, named_policy) or (LOGGED if asked == LOGGED else None)
        if against is None:
            raise UsageError(f"the baseline {asked!r} is no target", f"take one of {', '.join([*targets, LOGGED])}")
        others = [name for name in targets if name != against]
        if not others:
            raise UsageError(f"there is nothing to compare {against} with", "name a second target")
        level = 1 - (1 - self.facts["confidence"]) / len(others)
        found = tuple(self._kept().comparison(name, against, level) for name in others)
        rows = [document.comparison_row(one) for one in found]
        facts = {"kind": "compare", "title": "Which ranking earns more?", "baseline": against, "comparisons": rows}
        return replace(self, facts={**self.facts, **facts, "simultaneous": level}, comparisons=found)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts and numbers (None for unknown values).

        For the estimate behind each verdict: `clip_path` has it under each of some clips of the weights,
        `heaviest` the impressions of largest weight, `window_path` all windows of the data's choice. `overlap` has
        the probability of the displayed item at its rank, under the target and the logging policy; `rankings` has the
        similarity of the target's rankings to the displayed ones: both for a random sample of rows, for policies with
        a law over any slate.
        """
        verdicts = {name: document.verdict_row(one) for name, one in self.verdicts.items()}
        log_findings = [asdict(caution) for caution in self.about_log]
        return {**self.facts, "verdicts": verdicts, "log_findings": log_findings, "estimates": self._rows()}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per estimate; for `check` per check, for `compare` per comparison."""
        rows = self.facts.get({"check": "checks", "compare": "comparisons"}.get(self.facts.get("kind", ""), ""))
        return self._rows() if rows is None else list(rows)

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """Return the problems of the log, of estimates and of group estimates; for `check`, its findings."""
        if self.facts.get("kind") == "check":
            bad = (row for row in self.facts["checks"] if row["status"] in ("note", "warning", "serious"))
            return tuple(PlacedCaution(Caution(r["code"], r["status"], r["message"], r["remedy"])) for r in bad)
        found = [PlacedCaution(caution) for caution in self.about_log]
        for group, estimates in ((None, self.estimates), *self.groups.items()):
            for (target, estimator), one in estimates.found.items():
                found += [PlacedCaution(each, target, estimator, group=group) for each in _cautions(one)]
        return tuple(found)

    def _lead(self) -> Iterator[str]:
        yield from super()._lead()
        yield from (str(one).partition("\n")[0] for one in self.verdicts.values())

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write the report: one self-contained HTML file."""
        write_text(path, self.sheet().render())

    def sheet(self) -> Document:
        """Return the document for report and terminal."""
        return evaluation.sheet(self.to_dict())

    @property
    def plot(self) -> Plots:
        """Return the plots as SVG: `result.plot.forest()`."""
        return Plots(self.to_dict())

    def _rows(self) -> list[dict[str, Any]]:
        parts = [(None, self.estimates), *self.groups.items()]
        found = [(key, group, one) for group, part in parts for key, one in part.found.items()]
        return [document.estimate_row(key, group, one, self.truths.get(key[0])) for key, group, one in found]


def refuse_empty(result: Result) -> Result:
    """Return the result, or raise if no estimate could be given at all.

    Raises:
        NoOverlapError: the first of the refusals.
    """
    refused = result.estimates.refused
    if refused and not result.estimates:
        raise next(iter(refused.values()))
    return result


def _cautions(found: Estimate | NoOverlapError) -> tuple[Caution, ...]:
    """Return the warnings about an estimate; a refusal is serious."""
    if isinstance(found, Estimate):
        return found.warnings
    return (Caution(found.code, "serious", found.message, found.remedy),)


def among(known: list[str], asked: object, read: Callable[[Any], object]) -> str | None:
    """Return the spelling that results use: `clip(ips, 10)` for `clip(ips, 1e1)`; None if there is no match."""
    if str(asked) in known:
        return str(asked)
    try:
        spelled = repr(read(asked))
    except UsageError:
        return None
    return spelled if spelled in known else None
