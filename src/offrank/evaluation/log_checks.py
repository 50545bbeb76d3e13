"""The checks of a log: each with a stable code, what was measured, and what it means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..checks.actions import ActionsTest
from ..checks.propensities import SlotsRow
from ..checks.rows import Impressions
from ..errors import NoOverlapError
from ..findings import cautions_for, explained, has_cause, title_of
from ..findings.assumptions import SupportEvidence
from ..findings.log import UNLIKELY, LogEvidence, PropensitiesEvidence, unfit, untested_fit
from ..findings.rows import SkippedEvidence
from ..language.formatting import apart, finite, rough
from ..log.batch import Floats
from ..log.rules import BROKEN_FILE, NO_TABLE
from ..policies.base import Policy
from ..sums.estimate import Caution, Estimate
from .estimates import Estimates
from .metadata import Check, Status

_MEANS = {"ips": "Mean importance weight", "ipm": "Mean item weight"}
_ROUNDING = 1e-9
"""Constant weights have an interval of zero width, which misses 1 by a rounding error of at most this."""


def check(code: str, title: str, status: Status, message: str, remedy: str = "", **numbers: float | None) -> Check:
    """Return a check. numbers: value, low, high and expected, as far as they are known."""
    known = (finite(numbers.get(name)) for name in ("value", "low", "high", "expected"))
    return Check(code, title, status, message, remedy, *known)


def of_log(log: LogEvidence, known: Sequence[Caution]) -> Iterator[Check]:
    """Return the problems of the log that affect every estimate, which are known; if there are none, what was checked.

    Mean weights have rows of their own.
    """
    yield from of_cautions(caution for caution in known if not has_cause(caution, "mean weight"))
    fits, same = title_of("miscalibrated"), title_of("propensity-mismatch")
    if log.fit is not None and log.fit.chance < UNLIKELY and not unfit(log):
        yield check("miscalibrated", fits, "skipped", "Not checked: rows repeat what others show.")
    elif log.fit is not None and not unfit(log):
        message = f"Items are shown as often as this policy says, within chance.{untested_fit(log.fit)}"
        yield check("miscalibrated", fits, "ok", message)
    elif "fit" in log.unknown:
        yield check("miscalibrated", fits, "skipped", f"Not checked: {log.unknown['fit']}.")
    if log.compared and not log.apart:
        yield check("propensity-mismatch", same, "ok", f"All {log.compared:,} match those of {log.logging}.")


def of_weights(
    estimates: Estimates, target: Policy | None, reasons: Mapping[str, str], log: LogEvidence, of_log: Sequence[Caution]
) -> Iterator[Check]:
    """Return the mean weight of slates and items for uniform and the target, and all warnings about their weights.

    Difficulties with policies other than `target` are no fault of the log, and give a note at most. A mean weight
    that is off for a reason already found, or for slates as for items, is not reported again; one that refutes the
    logging policy is as severe as that. of_log: the problems of the log.
    """
    for name, title in (("slates", "Mean importance weight"), ("items", "Mean item weight")):
        if name in reasons:
            yield check("mean-weight", title, "skipped", f"Not checked: {reasons[name]}.")
    off = set[str]()
    given = set[tuple[str, str]]()  # for slates of one slot, the same as for items
    for (name, spelled), found in estimates.found.items():
        asked = name == repr(target)
        if spelled not in _MEANS or not (asked or name == "uniform"):
            continue
        if isinstance(found, NoOverlapError):
            status: Status = "serious" if asked else "note"
            yield check(found.code, f"Overlap with {name}", status, found.message, found.remedy)
            continue
        mean = _mean_weight(f"{_MEANS[spelled]} of {name}", found)
        if mean.status in ("warning", "serious"):
            mean = _said_once(mean, log, of_log, asked=asked, again=name in off)
            off.add(name)
        yield mean
        if asked or (spelled, name) == ("ips", "uniform"):
            about = [one for one in found.warnings if has_cause(one, "weights")]  # other than their mean
            about = about if asked else [replace(one, severity="note") for one in about]
            others = {(one.code, one.message): one for one in of_cautions(about, f", {name}")}
            yield from (one for key, one in others.items() if key not in given)
            given |= others.keys()


def of_slots(slots: Sequence[SlotsRow] | None, reason: str | None) -> Iterator[Check]:
    """Say whether the inverse propensities can be averaged at all."""
    title = "Inverse propensities"
    if slots is None:
        yield check("inverse-propensity", title, "skipped", f"Not checked: {reason}.")
        return
    if none := cautions_for(PropensitiesEvidence(largest=max(part.max_inverse_propensity for part in slots))):
        yield from of_cautions(none)
        return
    total = sum(part.estimated_impressions for part in slots)
    mean = sum(part.mean_inverse_propensity * part.estimated_impressions for part in slots) / total
    message = f"The mean of 1 / propensity is {rough(mean)}: so many different slates are possible per impression."
    yield check("inverse-propensity", title, "ok", message, value=mean)


def of_actions(tests: Mapping[str, ActionsTest] | None, reason: str | None, log: LogEvidence) -> Iterator[Check]:
    """Return the arithmetic and harmonic tests: they read every row, since a few rows would not show the error."""
    title = "Items against their propensities"
    if tests is None:
        why = reason or "impressions have different candidates"
        yield check("actions", title, "skipped", f"Not checked: {why}.")
        return
    for name, test in tests.items():
        seen = "observed" if name == "arithmetic" else "mean of 1 / probability"
        value, expected = apart(test.observed, test.expected)
        message = (
            f"Of {test.actions:,} pairs of item and rank, the worst is item {test.name or test.item} at rank "
            f"{test.rank}: {seen} {value}, expected {expected} ({test.deviation:+.1f} standard "
            "errors)."
        )
        remedy = "These items were not shown with the logged probabilities." if test.alarming else ""
        alarm: Status = "note" if unfit(log) else "serious"  # no second finding for what a few rows show already
        status: Status = alarm if test.alarming else "ok"
        numbers = {"value": test.observed, "expected": test.expected}
        yield check(name, f"{title}, {name} test", status, message, remedy, **numbers)


def of_support(shares: Floats | None, target: str, asked: bool, reason: str | None) -> Iterator[Check]:
    """Return the target's actions without logging support. asked: whether the user wants to evaluate the target."""
    title = f"Support for {target}"
    if shares is None:
        yield check("support", title, "skipped", f"Not checked: {reason}.")
        return
    found = cautions_for(SupportEvidence(target=target, shares=tuple(shares.tolist()), asked=asked))
    if not found:
        yield check("support", title, "ok", "The logging policy shows every item at every rank that the target uses.")
    yield from of_cautions(found, f" for {target}", value=float(shares.max(initial=0.0)), expected=0.0)


def of_cautions(cautions: Iterable[Caution], whose: str = "", **numbers: float | None) -> Iterator[Check]:
    """Return the warnings with their title and subject; empty if there are none."""
    for one in cautions:
        yield check(one.code, title_of(one.code) + whose, one.severity, one.message, one.remedy, **numbers)


def of_reading(impressions: Impressions) -> Iterator[Check]:
    """Report rows and files that were left out."""
    of_files = BROKEN_FILE, NO_TABLE
    rules = {rule: count for rule, count in impressions.skipped.items() if not rule.startswith(of_files)}
    found = [SkippedEvidence(rule=rule, count=count) for rule, count in sorted(rules.items())]
    for code in of_files:
        named = sorted(rule for rule in impressions.skipped if rule.startswith(code))
        files = tuple(rule.removeprefix(f"{code} ") for rule in named)
        found.append(SkippedEvidence(rule=code, count=len(files), files=files))
    for one in found:
        yield from of_cautions(cautions_for(one), value=one.count)


def _mean_weight(title: str, estimate: Estimate) -> Check:
    found = estimate.mean_weight_interval
    if found is None or not math.isfinite(found.standard_error):
        return check("mean-weight", title, "skipped", "Not checked: a single impression has no interval.")
    numbers: dict[str, Any] = {"value": found.value, "low": found.low, "high": found.high, "expected": 1.0}
    for caution in estimate.warnings:
        if has_cause(caution, "mean weight"):
            return check(caution.code, title, caution.severity, caution.message, caution.remedy, **numbers)
    status: Status = "ok"
    message = "As expected if the propensities are correct and the log supports the policy."
    if not found.low - _ROUNDING <= 1 <= found.high + _ROUNDING:
        status = "note"
        message = "The interval misses 1. This happens by chance now and then, or because of a heavy tail."
    return check("mean-weight", title, status, message, **numbers)


def _said_once(mean: Check, log: LogEvidence, of_log: Sequence[Caution], *, asked: bool, again: bool) -> Check:
    """Return the row of a mean weight that is off: a note where it is explained, or as severe as for the log."""
    known = {one.code: one.severity for one in of_log}
    reason = None
    if again:
        reason = "The same as for slates."
    elif mean.code in explained(of_log):
        reason = "The problems found above explain this."
    elif mean.code in known:
        return replace(mean, status=known[mean.code])
    elif not asked and log.fit is not None:
        reason = f"The shown items fit {log.logging}, which rarely shows some of the slates."
    return mean if reason is None else replace(mean, code="mean-weight", status="note", message=reason, remedy="")
