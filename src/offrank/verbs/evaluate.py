"""`evaluate`: what would new rankings have earned?"""

from __future__ import annotations

from ..argument import asks
from ..evaluation.answer import answered
from ..evaluation.bounding import bounds_of
from ..evaluation.question import WithBounds
from ..evaluation.result import Result


@asks(WithBounds)
def evaluate(question: WithBounds) -> Result:
    """Estimate what target policies would have earned per impression, in one pass over the log.

    Returns:
        The estimates by target and estimator, each with its interval in units of the reward, and the verdict.

    Raises:
        UsageError: arguments that cannot work, or a policy that lacks what an estimator requires.
        LogError: the log breaks a rule. NoOverlapError: no estimate can be given at all.

    Examples:
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "top(new_score)", "plackett_luce(old_score)", "snips")
        >>> print(result.verdict)
        better: top(new_score) 0.8187 (0.7594 to 0.8777) by snips; trust: sound
    """
    bounds = bounds_of(question)
    return answered(question).with_bounds(*bounds).with_facts(command=question.command("evaluate"))
