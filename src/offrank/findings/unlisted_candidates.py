"""`unlisted-candidates`: the propensities are of slates chosen from more items than the log knows."""

from ..sums.estimate import Severity
from .double_subsampling import counted_twice
from .evidence import LawEvidence, LogEvidence
from .odd_mean import refuted, refuting, rise
from .registry import Statement, finding


@finding(
    "unlisted-candidates",
    "Candidates",
    lambda log: log.unlisted and not counted_twice(log),
    cause="propensities",
    explains="mean weight",
)
def of_uniform(log: LogEvidence) -> Statement | None:
    """Propensities of slates chosen from more items give orders of those shown a mean weight above 1."""
    high, mean = rise(log), log.mean_weight
    if high is None or mean is None:
        return None
    return _of_more(mean.value, "serious" if high > refuting() else "warning")


@finding("unlisted-candidates", "Candidates", lambda law: law.unlisted, cause="propensities", explains="mean weight")
def of_law(law: LawEvidence) -> Statement | None:
    """The same of items, and of any other target."""
    worst = refuted(law)
    mean = None if worst is None else worst[1].mean_weight
    if worst is None or mean is None or mean.value < 1 or counted_twice(worst[1]):
        return None
    return _of_more(mean.value, "serious")


def _of_more(times: float, severity: Severity) -> Statement:
    """Say that the candidates are missing. times: the mean weight."""
    return Statement(
        severity,
        "The log does not list its candidates, so only the items shown count as candidates. On average, the "
        f"propensities are {times:.3g} times too small for orders of these items: the slates seem to be chosen from "
        "more items.",
        "List all items that could have been shown in a column `candidates` (in a long log: one row each, without "
        "a position if it was not shown). If there were no others, check that the propensities are those of the "
        "slates shown.",
    )
