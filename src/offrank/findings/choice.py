"""Estimators that the data chose."""

from ..language.formatting import number, quote
from .advice import CLOSER
from .evidence import SelectedMemberEvidence, SelectorEvidence
from .registry import Statement, finding


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
