"""`chosen`: which of several estimators the data selected, and why not a later one."""

from .advice import CLOSER
from .evidence import SelectedMemberEvidence
from .registry import Statement, finding


@finding("chosen", "Estimator chosen", cause="choice")
def chosen(found: SelectedMemberEvidence) -> Statement:
    return _window(found) if found.bias is None else _bound(found, found.bias)


def _window(found: SelectedMemberEvidence) -> Statement:
    names, trusted = found.names, found.trusted
    if trusted is None:
        message = f"This is `{names[0]}`, which assumes least: none of {len(names)} estimates can be trusted."
        return Statement("note", message, f"Log more, or {CLOSER}.")
    reason = f"of {len(names)} estimates that all agree it has the least standard error"
    if found.refuted is not None:
        refuted = names[found.refuted]
        reason = f"it has the least standard error of those before `{refuted}`, which does not agree with them"
    unchecked = f" Nothing before `{names[trusted]}` can be trusted, so what that one assumes is not checked."
    return Statement(
        "warning" if trusted else "note",
        f"This is `{names[found.chosen]}`: {reason} (SLOPE: values +- 2 standard errors must meet)."
        + (unchecked if trusted else ""),
        f"Which one is right no log can tell for sure, so the interval spans that of `{names[trusted]}` too.",
    )


def _bound(found: SelectedMemberEvidence, bias: float) -> Statement:
    free, chosen, sound = f"`{found.names[0]}`", found.names[found.chosen], found.trusted == 0
    several = len(found.names) > 1
    reason = f"no bound on its weights, of {len(found.names) - 1}, has a smaller estimated squared error."
    reason = reason if several else "under every bound of the grid nothing is left of its weights."
    remedy = "Its interval is that without a choice."
    if found.chosen:
        reason = (
            f"of {len(found.names)} bounds on the weights it has the least estimated squared error, with a bias of "
            f"about {bias:.2g} from the weight that it removes."
        )
        remedy = f"What this weight would have earned no log can tell for sure: the interval spans that of {free} too."
    unchecked = "" if sound else f" The error of {free} is not known: the interval may be too narrow all the same."
    return Statement("note" if sound else "warning", f"This is `{chosen}`: {reason}{unchecked}", remedy)
