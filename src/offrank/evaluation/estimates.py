"""The numbers of a result by name, and their plain form; `result` adds what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from ..bounds.ends import NamedBounds
from ..errors import NoOverlapError, OffrankError, UsageError
from ..estimators.base import Estimator
from ..estimators.named import estimator as named_estimator
from ..findings.gate import Gate, Guarded, Required
from ..findings.verdict import Verdict
from ..frames import Given, Tabular, plain
from ..language.assumptions import in_words
from ..language.formatting import finite
from ..policies.base import Policy
from ..policies.registry import policy as named_policy
from ..sums.estimate import Caution, Estimate, PlacedCaution, cautions
from ..wording import Attributed
from .differences import Difference
from .metadata import ResultMetadata

NOT_CHECKED = "Numbers alone: the log was not checked. `evaluate` checks it, and says what follows."
_SHOWN = (
    *("target", "estimator", "group", "n", "value", "low", "high", "standard_error", "ess", "difference"),
    *("cluster", "error"),
)
_OF_ESTIMATE = ("value", "low", "high", "standard_error", "ess", "mean_weight")
_OF_WEIGHTS = ("max_weight_share", "tail_index", "design_effect", "effective_clusters", "detectable")
_OF_DESIGN = {"design_ess": "effective", "largest_possible_weight": "largest"}
_OF_DESIGN |= {"unsupported": "unsupported", "hidden": "hidden"}
_OF_VERDICT = (
    *("decision", "trust", "assumes", "assumes_in_words", "detectable", "anchor", "reasons"),
    *("assumptions", "outcome"),
)

R = TypeVar("R", bound="EstimatesByGroup")
Key = tuple[str, str]
Named = str | Estimator
Asked = Named | tuple[str | Policy, Named]
Found = Estimate | NoOverlapError
"""An estimate, or the reason why the log cannot give it."""


@dataclass(frozen=True)
class Estimates(Given[Estimate]):
    """Estimates by (target, estimator), or by estimator alone if there is one target.

    Both may be spelled in any equivalent way, or be the objects.
    """

    found: Mapping[Key, Found]

    headings = ("target", "estimator", "difference", "value", "ess", "mean_weight", "warnings", "error")

    def records(self) -> list[dict[str, Any]]:
        """A row per estimate."""
        return [estimate_row(key, None, value, None) for key, value in self.found.items()]

    def to_dict(self) -> dict[str, Any]:
        return {"estimates": self.records()}

    def of(self, target: str) -> dict[str, Found]:
        """Return the estimates of one target by estimator."""
        return {name: found for (other, name), found in self.found.items() if other == target}

    def known(self, key: Any) -> Key:
        """Return the key of an estimate, given or refused; the estimator may be any spelling, or the object itself."""
        targets = list(dict.fromkeys(target for target, _ in self.found))
        target, name = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        if target is None:
            if len(targets) > 1:
                raise KeyError(f"there are several targets: use result[name, estimator], with a name from {targets}")
            target = "".join(targets)
        known = among(targets, target, named_policy)
        if known is None:
            raise KeyError(f"no target {target!r}; there are: {targets}")
        names = list(self.of(known))
        estimator = among(names, name, named_estimator)
        if estimator is None:
            raise KeyError(f"no estimate {name!r}; there are: {names}")
        return known, estimator


class EstimatesByGroup(Attributed, Mapping[Key, Estimate], Tabular):
    """The estimates of a log, a mapping of them, and those of its groups."""

    estimates: Estimates
    groups: Mapping[str, Estimates]

    def __getitem__(self, key: Asked) -> Estimate:
        return self.estimates[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def _parts(self) -> Mapping[str, Any]:
        """Return one estimate, by its key."""
        alone = len({target for target, _ in self.estimates.found}) == 1
        first = [(key[1:] if alone else key, estimate) for key, estimate in self.items()][:1]
        return {f"[{', '.join(map(repr, key))}]": estimate for key, estimate in first}

    def _rows(self, truths: Mapping[str, float]) -> list[dict[str, Any]]:
        """Return the estimates of the whole log, then of each group."""
        parts = (None, self.estimates), *self.groups.items()
        each = ((group, key, one) for group, part in parts for key, one in part.found.items())
        return [estimate_row(key, group, one, truths.get(key[0])) for group, key, one in each]


@dataclass(frozen=True)
class Numbers(EstimatesByGroup):
    """Estimates by (target, estimator), or by estimator alone: `numbers["snips"].value`. Nothing of the log is checked.

    Parameters:
        estimates: of the whole log.
        groups: the same for each value of the `by` column.

    Examples:
        >>> numbers = offrank.estimate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
        >>> round(numbers["snips"].value, 2), numbers["snips"].checked
        (0.55, False)
    """

    estimates: Estimates
    groups: Mapping[str, Estimates] = field(default_factory=dict)

    headings = ("target", "estimator", "group", "difference", "value", "ess", "error")

    def __repr__(self) -> str:
        return f"{NOT_CHECKED}\n{self.to_markdown()}"

    def _lead(self) -> Iterator[str]:
        yield NOT_CHECKED

    def records(self) -> list[dict[str, Any]]:
        """Return a row per estimate, each of which says that it was not checked."""
        return [{**{name: row[name] for name in _SHOWN}, "checked": False} for row in self._rows({})]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain lists, dicts and numbers (None for unknown values)."""
        return {"checked": False, "message": NOT_CHECKED, "estimates": plain(self.records())}


@dataclass(frozen=True)
class ResultData(EstimatesByGroup):
    """The numbers of `Result`, which documents the fields."""

    estimates: Estimates
    metadata: ResultMetadata
    groups: Mapping[str, Estimates] = field(default_factory=dict)
    truths: Mapping[str, float] = field(default_factory=dict)
    about_log: tuple[Caution, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    bounds: NamedBounds = field(default_factory=dict)
    group_bounds: Mapping[str, NamedBounds] = field(default_factory=dict)
    comparisons: tuple[Difference, ...] = ()
    winner: str | None = None
    cumulative: Mapping[str, Estimates] = field(default_factory=dict)
    at_one_look: Mapping[str, Estimates] = field(default_factory=dict)
    outcomes: Mapping[str, Self] = field(default_factory=dict)
    guardrails: tuple[Guarded, ...] = ()

    headings = (
        *("status", "title", "target", "against", "estimator", "group", "relative", "difference", "value", "truth"),
        *("ess", "mean_weight", "decision", "trust", "decided", "rows_needed", "expected"),
        *("message", "warnings", "reasons", "error"),
    )

    def _parts(self) -> Mapping[str, Any]:
        compared = {f".comparisons[{at}].verdict": one.verdict for at, one in enumerate(self.comparisons)}
        alone = len(self.verdicts) == 1
        of_targets = {f".verdict{'' if alone else f's[{name!r}]'}": one for name, one in self.verdicts.items()}
        return {**compared, **super()._parts(), **of_targets}

    @property
    def facts(self) -> dict[str, Any]:
        """Return everything in the reports beside estimates and verdicts (see `to_dict`), as plain values."""
        facts = plain(self.metadata)
        if self.comparisons:
            compared = list(map(comparison_row, self.comparisons))
            facts |= {"winner": self.winner, "comparisons": compared}
        if self.bounds:
            every = (self.bounds, *self.group_bounds.values())
            facts |= {"bounds": [one.to_dict() for named in every for each in named.values() for one in each]}
        if self.outcomes:
            facts |= {"outcomes": {name: one._decided() for name, one in self.outcomes.items()}}
            facts |= {"guardrails": [one.to_dict() for one in self.guardrails]}
        return facts

    def _decided(self) -> dict[str, Any]:
        """Return what is decided of an outcome beside the reward, as plain values."""
        found = {"unit": self.metadata.unit} | {name: verdict_row(one) for name, one in self.decisions.items()}
        return found | ({"estimates": self._rows({})} if self.groups else {})

    @property
    def trustworthy(self) -> bool:
        """Whether every estimate was given, without a serious finding.

        A check is judged by its findings alone: its estimates are of policies that the user did not request.
        """
        if any(check.status == "serious" for check in self.metadata.checks):
            return False
        if self.metadata.kind == "check":
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
            raise KeyError(f"there are several targets: use result.verdicts[name], with a name from {names}")
        if not names:
            raise KeyError("there is no verdict: only the logged ranking was evaluated")
        return self.verdicts[names[0]]

    @property
    def usable(self) -> bool:
        """Whether every verdict has an answer, whichever it is."""
        every = (*self.verdicts.values(), *(one.verdict for one in self.comparisons))
        return all(one.usable for one in every)

    @property
    def decisions(self) -> dict[str, Verdict]:
        """Return the verdicts that decide: of `compare` on the comparisons, else on the targets against the log."""
        if self.comparisons:
            return {f"{one.target} - {one.against}": one.verdict for one in self.comparisons}
        return {} if self.metadata.kind == "check" else dict(self.verdicts)

    def meets(self, required: Required, margin: str | float | None = None) -> bool:
        """Whether a gate may let all targets pass, each with sound trust, and all guardrails with it.

        Parameters:
            required: "better": the interval of the difference is above 0. "not-worse": it is above minus the margin.
            margin: for "not-worse", how much worse a target may be: "1%" of what it is compared with, by the interval
                of the relative change, or 0.01 in units of the reward, by that of the difference.

        Returns:
            True if all may pass.

        Raises:
            UsageError: something else is required, the margin is missing, or there is no use for it.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.meets("not-worse", margin="5%")
            False
        """
        gate, every = Gate.of(required, margin), self.decisions.values()
        return bool(every) and all(map(gate.passes, every)) and all(one.passes for one in self.guardrails)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts and numbers (None for unknown values).

        For the estimate behind each verdict: `clip_path` has it under each of some clips of the weights,
        `heaviest` the impressions of largest weight, `window_path` all windows of the data's choice. `overlap` has
        the probability of the displayed item at its rank, under the target and the logging policy; `rankings` has the
        similarity of the target's rankings to the displayed ones: both for a random sample of rows, for policies with
        a law over any slate.
        """
        verdicts = {name: verdict_row(one) for name, one in self.verdicts.items()}
        return {
            **self.facts,
            "verdicts": verdicts,
            "log_findings": plain(self.about_log),
            "estimates": self._rows(self.truths),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row per estimate; for `check` per check, for `compare` per comparison."""
        if self.comparisons:
            return list(map(comparison_row, self.comparisons))
        return plain(self.metadata.checks) if self.metadata.kind == "check" else self._rows(self.truths)

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """Return the problems of the log, of estimates and of group estimates; for `check`, its findings."""
        if self.metadata.kind == "check":
            return tuple(PlacedCaution(one.caution) for one in self.metadata.checks if one.caution is not None)
        placed = [PlacedCaution(caution) for caution in self.about_log]
        for group, estimates in ((None, self.estimates), *self.groups.items()):
            for (target, estimator), one in estimates.found.items():
                placed += [PlacedCaution(each, target, estimator, group=group) for each in cautions(one)]
        return tuple(placed)

    def _lead(self) -> Iterator[str]:
        yield from super()._lead()
        yield from (str(one).partition("\n")[0] for one in self.verdicts.values())


def refuse_empty(result: R) -> R:
    """Return the result, or raise if no estimate could be given at all.

    Raises:
        NoOverlapError: the first of the refusals.
    """
    refused = [one for one in result.estimates.found.values() if isinstance(one, NoOverlapError)]
    if refused and len(refused) == len(result.estimates.found):
        raise refused[0]
    return result


def among(known: list[str], asked: object, read: Callable[[Any], object]) -> str | None:
    """Return the spelling that results use: `clip(ips, 10)` for `clip(ips, 1e1)`; None if there is no match."""
    if str(asked) in known:
        return str(asked)
    try:
        spelled = repr(read(asked))
    except UsageError:
        return None
    return spelled if spelled in known else None


def estimate_row(
    key: tuple[str, str], group: str | None, found: Estimate | OffrankError, truth: float | None
) -> dict[str, Any]:
    """Return the row of one estimate, or the reason why it is missing: then it has no numbers."""
    known = vars(found) if isinstance(found, Estimate) else {}
    weight, design = (vars(one) if (one := known.get(name)) else {} for name in ("mean_weight_interval", "design"))
    row = {
        **dict(zip(("target", "estimator", "group"), (*key, group), strict=True)),
        "n": known.get("n"),
        **{name: known.get(name) for name in _OF_ESTIMATE},
        **{f"mean_weight_{end}": weight.get(end) for end in ("low", "high")},
        **{name: known.get(name) for name in _OF_WEIGHTS},
        **{name: design.get(moment) for name, moment in _OF_DESIGN.items()},
        "difference": known.get("difference"),
        "warnings": known.get("warnings", ()),
        "error": found if isinstance(found, OffrankError) else None,
        "chosen": known.get("chosen"),
        "cluster": known.get("cluster"),
        "truth": None if truth is None else finite(truth),
    }
    return {name: plain(one) for name, one in row.items()}


def verdict_row(found: Verdict) -> dict[str, Any]:
    """Return the row of a verdict: decision, trust, its source, the numbers, the reasons and what it rests on."""
    return {
        "decision": found.decision,
        "trust": found.trust,
        "estimator": found.estimator,
        "assumes": sorted(found.assumes),
        "assumes_in_words": in_words(found.assumes),
        "relative_change": plain(found.relative),
        "difference": plain(found.difference),
        "value": plain(found.value),
        "logged": plain(found.logged),
        "detectable": finite(found.detectable),
        "anchor": None if found.anchor_name is None else {"estimator": found.anchor_name, "spans": found.spans},
        "reasons": plain(found.reasons),
        "assumptions": plain(found.assumptions),
        "outcome": found.outcome,
    }


def comparison_row(found: Difference) -> dict[str, Any]:
    """Return whether one target earns more than another; with trust `none` no claim is made."""
    row, none = verdict_row(found.verdict), dict.fromkeys(("value", "low", "high", "standard_error"))
    return {
        "target": found.target,
        "against": found.against,
        "estimator": row["estimator"],
        "difference": row["difference"] or none,
        "relative": row["relative_change"],
        "decided": found.decided,
        "rows_needed": found.rows_needed,
        **{name: row[name] for name in _OF_VERDICT},
    }
