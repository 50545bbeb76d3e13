"""`select estimators`: which estimator to believe for a log and a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..language.argument import plain_argument
from ..language.from_text import CANDIDATE_ESTIMATORS
from .deferred import arguments, metadata, policies, reproducibility, selected_estimators, selector

if TYPE_CHECKING:
    from ..evaluation.arguments import Estimators, Examination
    from ..policies.base import Policy
    from ..running.executors import Executor, Progress
    from ..selection.selected_estimators import SelectedEstimators


def select_estimators(
    log: Any,
    target: str | Policy,
    logging: str | Policy = "logged",
    estimators: Estimators = CANDIDATE_ESTIMATORS,
    *,
    examination: Examination | None = None,
    cluster: str | None = "auto",
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SelectedEstimators:
    """Choose the estimator with the smallest estimated error for a log and a target.

    The bias of each candidate shows in its differences to estimates that assume less, for the target and for
    pseudo-targets that the log tells about more precisely; docs/concepts/which-estimator.md has the rule and how often
    it is right. `evaluate(..., "auto")` uses the choice.

    Parameters:
        log: The log: from `read_log`, or anything that it takes.
        target: A new policy: top(new_score).
        logging: The policy that drew the log. `logged` uses the propensities written in it.
        estimators: Candidates; by default all that the log and the policies allow.
        examination: Probability that each rank is examined, or a click model's file. For pbm and interpol. In Python
            numbers, a fitted click model, the file that it was saved to, or what `offrank.harvest_clicks` found.
        cluster: Rows with the same value depend on each other; auto: query, user or session; none: independent rows.
            auto takes the one of them, with at least five values, that has the strongest dependence.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The chosen estimator, and the estimated errors of all candidates in units of the reward.

    Raises:
        UsageError: arguments that cannot work. LogError: the log breaks a rule.
        NoOverlapError: no candidate has an estimate.

    Examples:
        >>> simulated = offrank.simulate("log.parquet", sessions=5000, queries=50, slots=3, temperature=1.0)
        >>> target, logging = (f"plackett_luce(noisy_oracle, temperature={t}, log=True)" for t in (0.5, 1))
        >>> offrank.select_estimators("log.parquet", target, logging, ["snips", "snipm"]).chosen
        'snips'
    """
    drawn, wanted = policies.policy(logging), arguments.only_policy(target)
    candidates, trained = arguments.candidate_estimators(estimators), arguments.examination(examination)
    source = arguments.source(log, columns, format)
    choice = selector.selected_for(source, drawn, wanted, candidates, trained.curve, cluster, executor, progress)
    asked = {
        "target": wanted,
        "logging": drawn,
        "estimators": candidates,
        "examination": trained.curve,
        "cluster": None if cluster == "none" else cluster,
    }
    opened = {"columns": columns or None, "format": format}
    call = reproducibility.call(select_estimators, log, opened | asked)
    title = f"Which estimator for {wanted!r}?"
    facts = metadata.facts("estimator-selection", title, source, **plain_argument(asked), command=call)
    return selected_estimators.SelectedEstimators(choice, facts=facts)
