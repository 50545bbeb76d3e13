"""What `evaluate` returns: estimates by name, and ways to show and keep them."""

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
"""What is compared: a target, or `logged`, and an estimator, or the one that the verdict takes."""
Named = str | Estimator | SelfNormalised
Asked = Named | tuple[str | Policy, Named]
LOGGED = "logged"
"""What stands for the log itself where targets are compared."""
_OF_LEVEL = ("confidence", "logged", "ranks", "comparisons", "simultaneous", "clip_path", "window_path", "heaviest")
"""Facts that depend on the level of intervals."""


@dataclass(frozen=True)
class Estimates(Given[Estimate]):
    """Estimates by (target, estimator), or by estimator alone where there is one target.

    Both may be spelled in any way, or be the objects.
    """

    found: Mapping[Key, Estimate | NoOverlapError]

    headings = ("target", "estimator", "value", "difference", "ess", "mean_weight", "warnings", "error")

    def records(self) -> list[dict[str, Any]]:
        """A row per estimate."""
        return [document.estimate_row(key, None, value, None) for key, value in self.found.items()]

    def to_dict(self) -> dict[str, Any]:
        return {"estimates": self.records()}

    def known(self, key: Any) -> Key:
        """The key that is meant, found or refused: the estimator may be spelled in any way, or be the object itself."""
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
    """What a result keeps of its log."""

    def at(self, confidence: float) -> Result:
        """The same at another level."""

    def difference(self, one: Side, other: Side, *, relative: bool = False, group: str | None = None) -> Interval:
        """One target less another, or less what was logged; in the whole log or a group."""

    def comparison(self, target: str, against: str, confidence: float) -> Difference:
        """The verdict on the difference of two targets, its interval at this level."""


@dataclass(frozen=True)
class Result(Mapping[Key, Estimate], Tabular):
    """What new rankings would have earned: `result["snips"].value`, or `result["name", "snips"]`.

    A mapping of what could be estimated, as its `estimates` are; `result.estimates.refused` has the others.

    - estimates: of the whole log.
    - groups: the same for each value of the `by` column.
    - about_log: what is wrong with the log whatever the estimate.
    - facts: everything else that reports show (see `to_dict`).
    - verdicts: by the name of each target whether the answer is to be used, and the answer; of `check`, of `the log`.
    - comparisons: of `compare`, whether one target earns more than another.
    - reduced: what is kept of the log, for other levels and for differences.

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
        """Every estimate was given, and nothing serious was found.

        A check is judged by its findings alone: its estimates are of policies that nobody asked for.
        """
        if any(row["status"] == "serious" for row in self.facts.get("checks", [])):
            return False
        if self.facts.get("kind") == "check":
            return True
        return not self.estimates.refused and all(e.trustworthy for e in self.estimates.given.values())

    @property
    def verdict(self) -> Verdict:
        """The only verdict: of the one target, or of `check` on the log.

        Raises:
            KeyError: there are several targets, or none but what was logged was asked for.
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
        """The same with intervals at another level; the log is not read again.

        Raises:
            UsageError: a level outside (0, 1), or a result that keeps nothing of its log, as that of `check`.
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
        """By how much `one` earns more than `other`, on the same rows: `result.difference("b", "a")`.

        Two targets that rank alike earn much the same in each row, so that their difference is far surer than the two
        intervals suggest. The log is not read again; level, kind of interval and clusters are those of the result.

        - one: a target, or (target, estimator); of a single target, an estimator alone.
        - other: the same, or "logged" for what the log earned.
        - estimator: of both. By default that of the verdict on this very difference, with its interval: the least
          assuming one that decides. Where nothing is sound, the least assuming one that both have.
        - relative: as a share of what `other` earns.
        - group: a value of the `by` column, by default the whole log.

        Raises:
            KeyError: no such target, estimator or group. NoOverlapError: the log cannot give one of the estimates.
            SupportError: what `other` earns is not clearly above 0, so that there is no share of it.
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
        """What is meant, by the words that results use."""
        targets = list(dict.fromkeys(target for target, _ in self.estimates.found))
        if logged and asked == LOGGED and LOGGED not in targets:
            return LOGGED, None if estimator is None else self.estimates.known((targets[0], estimator))[1]
        alone = None if isinstance(asked, tuple) else among(targets, asked, named_policy)
        if alone is None and not isinstance(asked, tuple) and len(targets) > 1:
            raise KeyError(f"no target {asked!r}; there are: {targets}")
        if alone is None:
            return self.estimates.known(asked)
        return alone, None if estimator is None else self.estimates.known((alone, estimator))[1]

    def with_truths(self, truths: Mapping[str, float]) -> Result:
        """The same result beside the true values of its targets, known in simulations only."""
        return replace(self, truths=dict(truths))

    def with_facts(self, **facts: Any) -> Result:
        """The same result with facts for the report replaced (title, command)."""
        return replace(self, facts={**self.facts, **facts})

    def comparing(self, baseline: str | Policy | None = None) -> Result:
        """The same beside comparisons of all targets with one of them, which is what `offrank.compare` returns.

        baseline: a target or "logged"; by default the first target, of a single one the log. The intervals hold all
        together with the level of the result: of k comparisons each is at 1 - (1 - level) / k (Bonferroni).

        Raises:
            UsageError: the baseline is no target, or the only one.
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
        """Everything, as plain lists, dicts and numbers (None for what is not known).

        Behind the estimate that each verdict takes: `clip_path` has it with no weight beyond each of some clips,
        `heaviest` the impressions of largest weight; `window_path` all windows from which the data chose. `overlap` has
        the probability of the displayed item at its rank, under the target and the logging policy, and `rankings` how
        much of what was shown the target would show: both of a random sample of rows, for policies with a law over any
        slate.
        """
        verdicts = {name: document.verdict_row(one) for name, one in self.verdicts.items()}
        log_findings = [asdict(caution) for caution in self.about_log]
        return {**self.facts, "verdicts": verdicts, "log_findings": log_findings, "estimates": self._rows()}

    def records(self) -> list[dict[str, Any]]:
        """A row per estimate; of `check` per check, of `compare` per comparison."""
        rows = self.facts.get({"check": "checks", "compare": "comparisons"}.get(self.facts.get("kind", ""), ""))
        return self._rows() if rows is None else list(rows)

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """What speaks against the numbers: of the log, of estimates, of those of groups; of `check`, what it found."""
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
        """The report: one self-contained HTML file."""
        write_text(path, self.sheet().render())

    def sheet(self) -> Document:
        """What the report and the terminal show."""
        return evaluation.sheet(self.to_dict())

    @property
    def plot(self) -> Plots:
        """Its pictures as SVG: `result.plot.forest()`."""
        return Plots(self.to_dict())

    def _rows(self) -> list[dict[str, Any]]:
        parts = [(None, self.estimates), *self.groups.items()]
        found = [(key, group, one) for group, part in parts for key, one in part.found.items()]
        return [document.estimate_row(key, group, one, self.truths.get(key[0])) for key, group, one in found]


def refuse_empty(result: Result) -> Result:
    """The result, unless no estimate at all could be given.

    Raises:
        NoOverlapError: the first of the refusals.
    """
    refused = result.estimates.refused
    if refused and not result.estimates:
        raise next(iter(refused.values()))
    return result


def _cautions(found: Estimate | NoOverlapError) -> tuple[Caution, ...]:
    """What is said of an estimate; a refusal is serious."""
    if isinstance(found, Estimate):
        return found.warnings
    return (Caution(found.code, "serious", found.message, found.remedy),)


def among(known: list[str], asked: object, read: Callable[[Any], object]) -> str | None:
    """The spelling that results use for what is asked: `clip(ips, 10)` for `clip(ips, 1e1)`; None for what is none."""
    if str(asked) in known:
        return str(asked)
    try:
        spelled = repr(read(asked))
    except UsageError:
        return None
    return spelled if spelled in known else None
