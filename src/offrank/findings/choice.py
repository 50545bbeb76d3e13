"""Estimators that the data chose."""

from __future__ import annotations

from dataclasses import dataclass

from ..language.formatting import number, quote
from .registry import Statement, finding
from .weights import CLOSER


@dataclass(frozen=True, kw_only=True)
class SelectedMemberEvidence:
    """The choice between several estimators by the data; the first of them assumes least.

    chosen: its index in names. refuted: the first that contradicts those before it. trusted: the first whose error is
    known. bias: the estimated one of the chosen bound on weights; None where SLOPE chose.
    """

    names: tuple[str, ...]
    chosen: int = 0
    refuted: int | None = None
    trusted: int | None = 0
    bias: float | None = None


@dataclass(frozen=True, kw_only=True)
class SelectorEvidence:
    """The choice of an estimator by its estimated error.

    chosen, error: its spelling and its estimated error, None if no candidate can be used. among: number of candidates.
    trusted, trusted_error: the least assuming one with a reliable standard error that is not refuted, or None.
    refuted: candidates that are off by more than their standard error, each with the less assuming one that shows it.
    unchecked: whether the trusted one assumes anything. choice_refuted: whether the chosen one is off so far itself.
    """

    chosen: str = "ips"
    error: float | None = 0.0
    among: int = 1
    trusted: str | None = "ips"
    trusted_error: float = 0.0
    refuted: tuple[tuple[str, str], ...] = ()
    unchecked: bool = False
    choice_refuted: bool = False


@finding("chosen", "Estimator chosen", cause="choice")
def chosen(found: SelectedMemberEvidence) -> Statement:
    return _window(found) if found.bias is None else _bound(found, found.bias)


def _window(found: SelectedMemberEvidence) -> Statement:
    names, trusted = found.names, found.trusted
    if trusted is None:
        message = f"This is `{names[0]}`, which assumes the least: none of the {len(names)} estimates can be trusted."
        return Statement("note", message, f"Log more, or {CLOSER}.")
    reason = f"all {len(names)} estimates agree, and it has the smallest standard error"
    if found.refuted is not None:
        refuted = names[found.refuted]
        reason = f"it has the smallest standard error of the estimates before `{refuted}`, which disagrees with them"
    unchecked = f" No estimate before `{names[trusted]}` can be trusted, so its assumptions are not checked."
    return Statement(
        "warning" if trusted else "note",
        f"This is `{names[found.chosen]}`: {reason} (SLOPE: the ranges of value +- 2 standard errors must overlap)."
        + (unchecked if trusted else ""),
        f"No log can tell for sure which estimate is right, so the interval also contains that of `{names[trusted]}`.",
    )


def _bound(found: SelectedMemberEvidence, bias: float) -> Statement:
    free, chosen, sound = f"`{found.names[0]}`", found.names[found.chosen], found.trusted == 0
    several = len(found.names) > 1
    reason = f"none of {len(found.names) - 1} bounds on its weights has a smaller estimated squared error."
    reason = reason if several else "every bound in the grid leaves nothing of its weights."
    remedy = "Its interval is the one without a choice."
    if found.chosen:
        reason = (
            f"of {len(found.names)} bounds on the weights, it has the smallest estimated squared error. The weight "
            f"that it removes causes a bias of about {bias:.2g}."
        )
        remedy = (
            "No log can tell for sure what the removed weight would have earned, so the interval also "
            f"contains that of {free}."
        )
    unchecked = "" if sound else f" The error of {free} is unknown, so the interval may still be too narrow."
    return Statement("note" if sound else "warning", f"This is `{chosen}`: {reason}{unchecked}", remedy)


@finding("chosen-estimator", "Estimator chosen by its error", cause="choice")
def chosen_estimator(found: SelectorEvidence) -> Statement:
    name, trusted = quote(found.chosen), quote(found.trusted or "")
    if found.error is None:
        message = f"This is {name}, which assumes the least: none of the {found.among} estimates can be used."
        return Statement("warning", message, f"Log more, or {CLOSER}.")
    message = (
        f"This is {name}: its estimated error of {number(found.error)} is the smallest of {found.among} candidates"
    )
    refuted = "".join(f" {quote(one)} disagrees with {quote(other)}." for one, other in found.refuted)
    if found.trusted is None:
        why = "Its standard error is based on few rows"
        if found.choice_refuted:
            why = "It differs from an estimate that assumes less by more than its own standard error"
        message += f". {why}, and every other candidate is unreliable or contradicted.{refuted}"
        return Statement("serious" if found.choice_refuted else "warning", message, f"Log more, or {CLOSER}.")
    if found.trusted == found.chosen:
        message += ", and it assumes the least of the reliable ones"
    else:
        least = f"the reliable candidate that assumes the least, has {number(found.trusted_error)}"
        message += f"; {trusted}, {least}"
    unchecked = f" The assumptions of {trusted} are not checked." if found.unchecked else ""
    return Statement(
        "warning" if found.unchecked else "note",
        f"{message}.{refuted}{unchecked}",
        f"The choice was made on the same rows, so the interval also contains that of {trusted}. `offrank select "
        "estimators` lists all estimated errors.",
    )
