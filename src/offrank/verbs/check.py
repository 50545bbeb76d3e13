"""`check`: can the log be used to evaluate other policies?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..language import from_text
from .deferred import arguments, check_pass, clusters_and_level, policies, reproducibility

if TYPE_CHECKING:
    from ..evaluation.result import Result
    from ..policies.base import Policy
    from ..running.executors import Executor, Progress


def check(
    log: Any,
    target: str | Policy | None = None,
    logging: str | Policy = "logged",
    *,
    confidence: float = 0.99,
    totals: Mapping[str, float] | None = None,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Result:
    """Check a log for problems that would make estimates from it wrong.

    For policies between the logging one and uniform (and `target`, if given) the mean importance
    weight must be 1 (paper criteo-test-bed, section 3), of slates and of items. The log's propensities must be
    those of the policy that is named as the logging policy. Where all impressions have the same candidates,
    how often each item stood at each rank is compared with what the logging policy says. Further: the
    effective sample size, the weights' tail, inverse propensities per slot count, and the share of the
    target (or of uniform) that the logging policy never shows, per rank.

    `result.facts["checks"]` holds the findings; each check that was impossible is listed with the reason.

    Parameters:
        log: The log: from `read_log`, or anything that it takes.
        target: A policy whose support in the log is of interest.
        logging: The policy that drew the log. `logged` uses the propensities written in it.
        confidence: Level of the intervals.
        totals: How many impressions there were: tests the rates in `inclusion`. In Python `{"clicked": 1200, "all":
            50000}`.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        What was looked at, and the verdict on the log: `trustworthy`, `findings`, `facts`.

    Raises:
        LogError: the log breaks a rule.
        UsageError: arguments that cannot work.

    Examples:
        >>> offrank.check("offrank-demo/log.parquet", "plackett_luce(old_score)").trustworthy
        True
    """
    source = arguments.source(log, columns, format)
    wanted, drawn = None if target is None else policies.policy(target), policies.policy(logging)
    level = clusters_and_level.IntervalSpec(confidence=confidence)
    known = from_text.impression_totals(totals)
    result = check_pass.check_log(source, drawn, wanted, level, known, executor, progress)
    asked = {"columns": columns or None, "format": format, "target": wanted, "logging": drawn, "totals": known}
    asked |= {"confidence": confidence}
    return result.with_facts(command=reproducibility.call(check, log, asked))
