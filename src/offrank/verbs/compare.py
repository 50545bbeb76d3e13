"""`compare`: which of several rankings earns more?"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from ..evaluation import arguments
from ..evaluation.result import Result, compared_with
from ..evaluation.state_file import State
from ..policies.base import Policy
from ..policies.propensities import AnyPolicy
from .evaluate import evaluate


def compare(
    log: Any,
    target: arguments.Target,
    logging: str | AnyPolicy = "logged",
    estimators: arguments.Estimators = ("ips", "snips"),
    *,
    baseline: str | Policy | None = None,
    state: str | PathLike[str] | None = None,
    **options: Unpack[arguments.Evaluation],
) -> Result:
    """Compare what target policies would have earned, on the same rows, in one pass over the log.

    Similar rankings have similar rewards in each row, so their paired difference is far more precise than two
    separate intervals suggest. `result.comparisons` has one for each target and the baseline, with its verdict and its
    interval, absolute and relative; all of them hold together at level `confidence` (Bonferroni: of k comparisons each
    interval is at level 1 - (1 - confidence) / k). `result.difference("b", "a")` gives that of any two.

    - target: a dict of policies by name, or a list of policies.
    - baseline: the target that all others are compared with, or "logged"; by default the first target, or the log
      if there is only one.
    - state: as in `evaluate`; what `offrank.merge` makes of such states is the comparison.
    - options, and everything else: as in `evaluate`.

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
    compared_with(list(arguments.targets(target)), baseline)  # before the log is read
    found = evaluate(log, target, logging, estimators, state=state, **options).comparing(baseline)
    if state is not None:
        State.load(Path(state)).comparing(str(found.background.baseline)).save(Path(state))
    call = str(found.background.command).replace("offrank.evaluate(", "offrank.compare(", 1).removesuffix(")")
    named = "" if baseline is None else f", baseline={found.background.baseline!r}"
    return found.with_facts(command=f"{call}{named})")
