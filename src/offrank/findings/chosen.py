"""`chosen`: which of several estimators the data selected, and why not a later one."""

from .advice import CLOSER
from .evidence import OfChoice
from .registry import Said, finding


@finding("chosen", "Estimator chosen")
def chosen(found: OfChoice) -> Said:
    names, trusted = found.names, found.trusted
    if trusted is None:
        message = f"This is `{names[0]}`, which assumes least: none of {len(names)} estimates can be trusted."
        return Said("note", message, f"Log more, or {CLOSER}.")
    reason = f"of {len(names)} estimates that all agree it has the least standard error"
    if found.refuted is not None:
        refuted = names[found.refuted]
        reason = f"it has the least standard error of those before `{refuted}`, which does not agree with them"
    unchecked = f" Nothing before `{names[trusted]}` can be trusted, so what that one assumes is not checked."
    return Said(
        "warning" if trusted else "note",
        f"This is `{names[found.chosen]}`: {reason} (SLOPE: values +- 2 standard errors must meet)."
        + (unchecked if trusted else ""),
        f"Which one is right no log can tell for sure, so the interval spans that of `{names[trusted]}` too.",
    )
