"""`chosen-estimator`: which estimator `auto` chose for a target, and why."""

from ..formatting import quote
from .advice import CLOSER
from .evidence import SelectorEvidence
from .registry import Statement, finding


@finding("chosen-estimator", "Estimator chosen by its error", cause="choice")
def chosen_estimator(found: SelectorEvidence) -> Statement:
    name, trusted = quote(found.chosen), quote(found.trusted or "")
    if found.error is None:
        message = f"This is {name}, which assumes least: none of {found.among} estimates can be used."
        return Statement("warning", message, f"Log more, or {CLOSER}.")
    message = f"This is {name}, chosen from {found.among} for the least estimated error, {found.error:.2g}"
    refuted = "".join(f" {quote(one)} disagrees with {quote(other)}." for one, other in found.refuted)
    if found.trusted is None:
        why = "Its standard error rests on few rows"
        if found.choice_refuted:
            why = "It disagrees with an estimate that assumes less, by more than its own standard error"
        message += f". {why}, and no other is reliable and unrefuted.{refuted}"
        return Statement("serious" if found.choice_refuted else "warning", message, f"Log more, or {CLOSER}.")
    if found.trusted == found.chosen:
        message += "; of those that can be trusted it also assumes least"
    else:
        least = f"which assumes least of those that can be trusted, is {found.trusted_error:.2g}"
        message += f"; that of {trusted}, {least}"
    unchecked = f" Nothing checks what {trusted} assumes." if found.unchecked else ""
    return Statement(
        "warning" if found.unchecked else "note",
        f"{message}.{refuted}{unchecked}",
        f"The same rows made the choice, so the interval spans that of {trusted} too. "
        "`offrank select estimators` shows every estimated error.",
    )
