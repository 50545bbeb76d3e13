"""Estimates as rows of words, the same for the page and for the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from offrank.report import facts, words
from offrank.report.answers import error_of
from offrank.report.facts import Document, Record

SIGNS = {"ok": "", "note": "i", "warning": "!", "serious": "!!"}


@dataclass(frozen=True)
class Row:
    """One estimate in words; `refusal` is empty or says why there are no numbers."""

    estimator: str
    group: str | None
    severity: str
    codes: tuple[str, ...]
    refusal: str
    value: str
    interval: str
    difference: str
    difference_interval: str
    change: str
    ess: str
    ess_share: str
    mean_weight: str
    mean_weight_interval: str
    max_weight_share: str
    tail_index: str
    truth: str

    @property
    def sign(self) -> str:
        """A mark for the worst warning that does not need colour."""
        return SIGNS[self.severity]

    @property
    def summary(self) -> str:
        """The value with its interval, or the reason why there is none."""
        return self.refusal or f"{self.value} ({self.interval})"


def row(estimate: Record) -> Row:
    """One estimate in words, its digits chosen from its standard error."""
    value, low, high = (estimate.get(key) for key in ("value", "low", "high"))
    places = words.decimals(value, error_of(estimate))
    mean_low, mean_high = estimate.get("mean_weight_low"), estimate.get("mean_weight_high")
    mean_places = words.decimals(estimate.get("mean_weight"), words.doubt(mean_low, mean_high))
    n, ess = estimate.get("n"), estimate.get("ess")
    return Row(
        estimator=estimate["estimator"],
        group=estimate.get("group"),
        severity=facts.severity(estimate),
        codes=tuple(dict.fromkeys(warning["code"] for warning in facts.warnings_of(estimate))),
        refusal=_refusal(estimate),
        value=words.number(value, places),
        interval=words.interval(low, high, places),
        **_difference(estimate),
        ess=words.count(ess),
        ess_share=words.percent(ess / n) if ess is not None and n else "",
        mean_weight=words.number(estimate.get("mean_weight"), mean_places),
        mean_weight_interval=words.interval(mean_low, mean_high, mean_places),
        max_weight_share=words.percent(estimate.get("max_weight_share")),
        tail_index=words.number(estimate.get("tail_index"), 2),
        truth=words.number(estimate.get("truth"), places),
    )


def rows(document: Document, target: str, group: str | None = None) -> list[Row]:
    """The estimates of one target in words, for the whole log or for one group."""
    return [row(estimate) for estimate in facts.estimates_of(document, target, group)]


def measured(check: Record) -> str:
    """What a check measured, with its interval where it has one."""
    low, high = check.get("low"), check.get("high")
    places = words.decimals(check.get("value"), words.doubt(low, high))
    text = words.number(check.get("value"), places)
    return text if low is None or high is None else f"{text} ({words.interval(low, high, places)})"


def _refusal(estimate: Record) -> str:
    error = estimate.get("error")
    return str(error["code"]).replace("-", " ") if error else ""


def _difference(estimate: Record) -> dict[str, str]:
    difference = estimate.get("difference") or {}
    value, low, high = (difference.get(key) for key in ("value", "low", "high"))
    earned = estimate.get("value")
    places = words.decimals(value, words.doubt(low, high))
    logged = None if value is None or earned is None else earned - value  # in the unit of this estimate, of this group
    change = words.percent(value / logged, signed=True) if logged else ""
    return {
        "difference": words.number(value, places, signed=True),
        "difference_interval": words.interval(low, high, places, signed=True),
        "change": change,
    }
