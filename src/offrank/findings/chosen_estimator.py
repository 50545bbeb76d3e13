"""`chosen-estimator`: which estimator `auto` chose for a target, and why."""

from ..formatting import number, quote
from .advice import CLOSER
from .evidence import SelectorEvidence
from .registry import Statement, finding


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
