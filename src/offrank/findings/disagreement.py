"""`disagreement`: an estimate that differs significantly from one with fewer assumptions about users."""

from statistics import NormalDist

from ..assumptions import in_words
from .evidence import DisagreementEvidence
from .registry import Statement, finding

FALSE_ALARMS = 0.001
"""Share of runs on healthy logs in which some estimates are reported to disagree, at most (Bonferroni)."""
VISIBLE = 0.25
"""Share of the width of the estimate's interval: smaller differences change no decision."""


@finding("disagreement", "Disagreement", cause="assumption")
def disagreement(found: DisagreementEvidence) -> Statement | None:
    """Hausman's test (1978): if the further assumption holds, both estimate the same value."""
    most = -NormalDist().inv_cdf(FALSE_ALARMS / max(found.pairs, 1) / 2)
    if not (abs(found.difference.value) > VISIBLE * found.width and found.deviations > most):
        return None
    far = f"{found.deviations:.1f}" if found.deviations < 1000 else "over 1,000"
    return Statement(
        "serious",
        f"The estimate differs from `{found.other}`, which assumes less about users, by {far} standard errors of "
        "their difference.",
        _remedy(found),
    )


def _remedy(found: DisagreementEvidence) -> str:
    more, nothing = in_words(found.further), in_words(frozenset())
    wrong = f"It also assumes {'more about users' if more == nothing else f'that {more}'}, which is wrong here"
    if found.other_assumes:
        return (
            f"{wrong}, or the log is: `{found.other}` assumes that {in_words(found.other_assumes)}. Check that each "
            "click is recorded for the item that was clicked, and compare with an estimator that assumes nothing "
            "about users."
        )
    if not found.other_sound:
        return f"{wrong}. But `{found.other}` cannot be trusted either: read its warnings first, or log more."
    return f"{wrong}: trust `{found.other}`."
