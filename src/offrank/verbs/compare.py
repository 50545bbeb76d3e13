"""`compare`: which of several rankings earns more?"""

from __future__ import annotations

from ..argument import asks
from ..evaluation.answer import answered
from ..evaluation.bounding import bounds_of
from ..evaluation.question import TargetComparison
from ..evaluation.result import Result


@asks(TargetComparison)
def compare(question: TargetComparison) -> Result:
    """Compare what target policies would have earned, on the same rows, in one pass over the log.

    Similar rankings have similar rewards in each row, so their paired difference is far more precise than two
    separate intervals suggest. `result.comparisons` has one for each target and the baseline, with its verdict and its
    interval, absolute and relative; all of them hold together at level `confidence` (Bonferroni: of k comparisons each
    interval is at level 1 - (1 - confidence) / k). `result.difference("b", "a")` gives that of any two.

    Returns:
        The estimates, and in `comparisons` the paired differences to the baseline, each with its verdict.

    Raises:
        UsageError: arguments that cannot work, such as a baseline that is not a target.
        LogError: the log breaks a rule.
        NoOverlapError: no estimate can be given at all.

    Examples:
        >>> rankers = {"new": "top(new_score)", "naive": "top(naive_score)"}
        >>> result = offrank.compare("offrank-demo/log.parquet", rankers, "plackett_luce(old_score)", "ipm")
        >>> result.difference("new", "naive").low > 0
        True
    """
    bounds = bounds_of(question, question.against)
    found = answered(question).with_bounds(*bounds).comparing(question.against)
    return found.with_facts(command=question.command("compare"))
