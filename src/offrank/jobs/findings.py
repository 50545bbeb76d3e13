"""What `check` found, in plain words: rows for the report, each with a stable code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..checks.actions import ActionsTest
from ..checks.impressions import Impressions
from ..checks.log import about_log, explained
from ..checks.slots import SlotsRow
from ..errors import NoOverlapError
from ..findings import kinds
from ..findings.evidence_log import OfLog
from ..findings.miscalibrated import unfit
from ..folds.estimate import Estimate
from ..log.batch import Floats
from ..policies.propensities import AnyPolicy
from .document import number
from .result import Estimates

Row = dict[str, Any]

_TITLES = {
    "low-ess": "Effective sample size",
    "small-ess-share": "Effective sample size",
    "large-weight": "Largest weight",
    "heavy-tail": "Tail of the weights",
    "counted-propensities": "Counted propensities",
}
_OF_LOG = {"duplicate-rows": "Rows written twice", "few-rows-per-context": "Counted propensities"}
_MEANS = {"ips": "Mean importance weight", "ipm": "Mean item weight"}
_ROUNDING = 1e-9
"""Weights that do not vary have an interval without width, beside 1 by what adding up loses."""
_OF_MEANS = ("mean-weight", "double-subsampling")


def row(code: str, title: str, status: str, message: str, remedy: str = "", **numbers: float | None) -> Row:
    """A finding: status is ok, note, warning, serious or skipped; numbers are value, low, high, expected."""
    known = {name: number(numbers.get(name)) for name in ("value", "low", "high", "expected")}
    return {"code": code, "title": title, "status": status, "message": message, "remedy": remedy, **known}


def of_log(log: OfLog) -> Iterator[Row]:
    """What is wrong with the log whatever the estimate; where nothing is, what was looked at."""
    found = {caution.code: caution for caution in about_log(log)}
    titles = {kind.code: kind.title for kind in kinds(OfLog)} | _OF_LOG
    for code, caution in found.items():
        if code not in _OF_MEANS:  # the mean weight of uniform has its own row
            yield row(code, titles[code], caution.severity, caution.message, caution.remedy)
    if "miscalibrated" not in found and log.fit is not None:
        message = "Items are shown as often as it says, as far as chance allows to tell."
        yield row("miscalibrated", titles["miscalibrated"], "ok", message)
    elif "fit" in log.unknown:
        yield row("miscalibrated", titles["miscalibrated"], "skipped", f"Not checked: {log.unknown['fit']}.")
    if log.compared and not log.apart:
        message = f"All {log.compared:,} are those of {log.logging}."
        yield row("propensity-mismatch", titles["propensity-mismatch"], "ok", message)


def of_weights(estimates: Estimates, target: AnyPolicy | None, reasons: Mapping[str, str], log: OfLog) -> Iterator[Row]:
    """The mean weight of slates and of items for uniform and the target, and every warning about their weights.

    What makes estimates of policies other than `target` hard says nothing against the log: at most a note. A mean
    weight that is off for a reason which was found before, or for slates as for items, is no second finding.
    """
    for name, title in (("slates", "Mean importance weight"), ("items", "Mean item weight")):
        if name in reasons:
            yield row("mean-weight", title, "skipped", f"Not checked: {reasons[name]}.")
    known, told = explained(about_log(log)), set[str]()
    for (name, spelled), found in estimates.found.items():
        asked = name == repr(target)
        if spelled not in _MEANS or not (asked or name == "uniform"):
            continue
        if isinstance(found, NoOverlapError):
            status = "serious" if asked else "note"
            yield row(found.code, f"Overlap with {name}", status, found.message, found.remedy)
            continue
        mean = _mean_weight(f"{_MEANS[spelled]} of {name}", found)
        if mean["status"] in ("warning", "serious"):
            if mean["code"] in known or name in told or (not asked and log.fit is not None):
                reason = "As for slates." if name in told else "What was found above would do this."
                if mean["code"] not in known and name not in told:
                    reason = f"What was shown fits {log.logging}: it hardly ever shows some of the slates."
                mean |= {"code": "mean-weight", "status": "note", "message": reason, "remedy": ""}
            told.add(name)
        yield mean
        if asked or (spelled, name) == ("ips", "uniform"):
            yield from _other_cautions(found, name, asked)


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
                f"{title}, {part.slots} slot{'s' if part.slots > 1 else ''}",
                "warning",
                f"The largest inverse propensity ({part.max_inverse_propensity:.3g}) exceeds the number of impressions "
                f"({part.estimated_impressions:,.0f}): one of them could outweigh all others.",
                "Do not trust normal intervals of whole-slate estimators here; use item-level ones.",
            )
    total = sum(part.estimated_impressions for part in slots)
    mean = sum(part.mean_inverse_propensity * part.estimated_impressions for part in slots) / total
    message = f"On average 1 / propensity is {mean:.4g}: about as many slates could have been shown per impression."
    yield row("inverse-propensity", title, "ok", message, value=mean)


def of_actions(tests: Mapping[str, ActionsTest] | None, reason: str | None, log: OfLog) -> Iterator[Row]:
    """The arithmetic and harmonic tests: they read every row, where a few would not show what is wrong."""
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
        status = "note" if unfit(log) else "serious"  # what a few rows show already is no second finding
        status = status if test.alarming else "ok"
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


def _mean_weight(title: str, estimate: Estimate) -> Row:
    found = estimate.mean_weight_interval
    numbers: dict[str, Any] = {} if found is None else {"value": found.value, "low": found.low, "high": found.high}
    if found is None or not math.isfinite(found.standard_error):
        return row("mean-weight", title, "skipped", "Not checked: one impression alone has no interval.")
    for caution in estimate.warnings:
        if caution.code in _OF_MEANS:
            return row(caution.code, title, caution.severity, caution.message, caution.remedy, expected=1.0, **numbers)
    status, message = "ok", "As expected where the propensities are right and the log supports the policy."
    if not found.low - _ROUNDING <= 1 <= found.high + _ROUNDING:
        status, message = "note", "The interval misses 1: by chance, as now and then, or for a tail that is too heavy."
    return row("mean-weight", title, status, message, expected=1.0, **numbers)


def _other_cautions(estimate: Estimate, name: str, asked: bool) -> list[Row]:
    """What is to be said of the weights besides their mean."""
    found = [caution for caution in estimate.warnings if caution.code in _TITLES]
    return [
        row(one.code, f"{_TITLES[one.code]}, {name}", one.severity if asked else "note", one.message, one.remedy)
        for one in found
    ]
