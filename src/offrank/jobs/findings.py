"""What `check` found, in plain words: rows for the report, each with a stable code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..checks.actions import ActionsTest
from ..checks.impressions import Impressions
from ..checks.slots import SlotsRow
from ..folds.estimate import Caution, Interval
from ..log.batch import Floats
from ..policies.base import Policy
from .document import number
from .result import Estimates

Row = dict[str, Any]

_TITLES = {
    "mean-weight": "Mean importance weight",
    "double-subsampling": "Sub-sampling corrected twice",
    "low-ess": "Effective sample size",
    "small-ess-share": "Effective sample size",
    "large-weight": "Largest weight",
    "heavy-tail": "Tail of the weights",
    "counted-propensities": "Counted propensities",
}


def row(code: str, title: str, status: str, message: str, remedy: str = "", **numbers: float | None) -> Row:
    """A finding: status is ok, note, warning, serious or skipped; numbers are value, low, high, expected."""
    known = {name: number(numbers.get(name)) for name in ("value", "low", "high", "expected")}
    return {"code": code, "title": title, "status": status, "message": message, "remedy": remedy, **known}


def of_weights(estimates: Estimates, target: Policy | None, reason: str | None) -> Iterator[Row]:
    """Per policy the mean weight, and every warning about its weights.

    What makes estimates of policies other than `target` hard says nothing against the log: at most a note.
    """
    if reason is not None:
        yield row("mean-weight", "Mean importance weight", "skipped", f"Not checked: {reason}.")
    seen: set[str] = set()
    said: set[tuple[str, str]] = set()  # policies between logging and uniform share their tail
    for (name, _), error in estimates.refused.items():
        if name not in seen:
            status = "serious" if name == repr(target) else "note"
            yield row("no-overlap", f"Overlap with {name}", status, error.message, error.remedy)
        seen.add(name)
    for (name, _), estimate in estimates.given.items():
        if name in seen:
            continue
        seen.add(name)
        found = estimate.mean_weight_interval
        about = [c for c in estimate.warnings if c.code in ("mean-weight", "double-subsampling")]
        yield _mean_weight(name, found, about[0] if about else None)
        for caution in estimate.warnings:
            if caution in about or caution.code not in _TITLES or (caution.code, caution.message) in said:
                continue
            said.add((caution.code, caution.message))
            title = f"{_TITLES[caution.code]}, {name}"
            status = caution.severity if name == repr(target) else "note"
            yield row(caution.code, title, status, caution.message, caution.remedy)


def of_slots(slots: Sequence[SlotsRow] | None, reason: str | None) -> Iterator[Row]:
    """Whether the inverse propensities can be averaged at all."""
    title = "Inverse propensities"
    if slots is None:
        yield row("inverse-propensity", title, "skipped", f"Not checked: {reason}.")
        return
    if all(part.max_inverse_propensity <= 1.0 + 1e-9 for part in slots):
        yield row(
            "no-randomness",
            title,
            "serious",
            "Every propensity is 1: the logging policy always showed the same slate for a context.",
            "Without randomness only a model of users can judge another ranking (pbm, click models).",
        )
        return
    for part in slots:
        if part.max_inverse_propensity > part.estimated_impressions:
            yield row(
                "huge-inverse-propensity",
                f"{title}, {part.slots} slots",
                "warning",
                f"The largest inverse propensity ({part.max_inverse_propensity:.3g}) exceeds the number of impressions "
                f"({part.estimated_impressions:,.0f}): one of them could outweigh all others.",
                "Do not trust normal intervals of whole-slate estimators here; use item-level ones.",
            )
    total = sum(part.estimated_impressions for part in slots)
    mean = sum(part.mean_inverse_propensity * part.estimated_impressions for part in slots) / total
    message = f"On average 1 / propensity is {mean:.4g}: about as many slates could have been shown per impression."
    yield row("inverse-propensity", title, "ok", message, value=mean)


def of_actions(tests: Mapping[str, ActionsTest] | None, reason: str | None) -> Iterator[Row]:
    """The arithmetic and harmonic tests."""
    title = "Items against their propensities"
    if tests is None:
        why = reason or "impressions have different candidates"
        yield row("actions", title, "skipped", f"Not checked: {why}.")
        return
    for name, test in tests.items():
        seen = "stood there" if name == "arithmetic" else "averages 1 / probability to"
        message = (
            f"The worst of {test.actions:,} (item, rank) pairs, item {test.item} at rank {test.rank}: {seen} "
            f"{test.observed:.6g} where {test.expected:.6g} is expected ({test.deviation:+.1f} standard errors)."
        )
        remedy = "The logged probabilities are not those with which these items were shown." if test.alarming else ""
        status = "serious" if test.alarming else "ok"
        numbers = {"value": test.observed, "expected": test.expected}
        yield row(name, f"{title}, {name} test", status, message, remedy, **numbers)


def of_support(shares: Floats | None, target: str, asked: bool, reason: str | None) -> Iterator[Row]:
    """What the target shows and the logging policy never does. asked: whether somebody wants to judge the target."""
    title = f"Support for {target}"
    if shares is None:
        yield row("support", title, "skipped", f"Not checked: {reason}.")
        return
    worst = float(shares.max(initial=0.0))
    ranks = ", ".join(f"{share:.1%} at rank {rank}" for rank, share in enumerate(shares, start=1) if share > 0)
    if worst == 0:
        yield row("support", title, "ok", "The logging policy shows every item at every rank that the target uses.")
        return
    yield row(
        "support",
        title,
        "serious" if asked and worst > 0.05 else "warning",
        f"The logging policy never shows what {target} would show: {ranks}.",
        "Estimates miss that share. Judge a policy closer to the logging one, widen interpol's window, or log more "
        "randomly.",
        value=worst,
        expected=0.0,
    )


def of_reading(impressions: Impressions) -> Iterator[Row]:
    """Rows that were left out."""
    for rule, count in sorted(impressions.skipped.items()):
        message = f"{count:,} left out for breaking the rule {rule!r}."
        yield row("skipped", "Left out while reading", "warning", message, "Look at why they break it.", value=count)


def _mean_weight(name: str, found: Interval | None, caution: Caution | None) -> Row:
    numbers: dict[str, Any] = {} if found is None else {"value": found.value, "low": found.low, "high": found.high}
    title = f"Mean importance weight of {name}"
    if found is not None and not math.isfinite(found.standard_error):
        return row("mean-weight", title, "skipped", "Not checked: one impression alone has no interval.")
    if caution is None:
        message = "As expected where the propensities are right and the log supports the policy."
        return row("mean-weight", title, "ok", message, expected=1.0, **numbers)
    return row(caution.code, title, caution.severity, caution.message, caution.remedy, expected=1.0, **numbers)
