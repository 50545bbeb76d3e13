"""`select clicks`: which of several click models to use under another policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...language.argument import seed_number
from ..deferred import selected_models

if TYPE_CHECKING:
    from ...clicks.given_models import Models
    from ...metrics.cmip_models import Relevance
    from ...metrics.graded import GradesBy
    from ...policies.base import Policy
    from ...running.executors import Executor, Progress
    from ...selection.selected_models import Selected


def select_clicks(
    log: Any,
    model: Models,
    labels: str,
    logging: str | Policy = "logged",
    *,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    strategy: str | None = None,
    relevance: Relevance = "draws",
    by: str | None = None,
    grades_by: GradesBy = "error",
    confidence: float = 0.95,
    cluster: str | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Selected:
    """Choose among click models by perplexity, nDCG and CMIP: off-policy selection of paper cmip-debiasedness.

    Parameters:
        log: From `read_log`, or anything that it takes; best one not of their rows.
        model: A click model that `clicks fit` has written, or NAME=FILE. In Python fitted models or files of such, in a
            list or by name.
        labels: Grades beside the candidates (or the slate). A column.
        logging: The policy that drew the log. That from which the models were learnt: CMIP uses the policy's expected
            ranks; if it has none, the logged ranks.
        columns: As there.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        strategy: 'top-4 cmip, top-4 ppl: ndcg' ..., as published; by default all nine, among models that nothing
            convicts. One that is named chooses among all models. What convicts is a finding: `carries-policy`,
            `no-information`, `impossible-clicks`; where each is convicted, the choice is None.
        relevance: CMIP of posterior draws, or of point estimates (means) as in the paper. Of `draws` it is less what a
            right model would show (`Cmip.excess`); see `offrank.metrics.cmip_of`.
        by: The queries of the grades; by default those of the models. A column.
        grades_by: The grade of a document that was given several. Weighed by rows it is the lower `median`, or the
            `majority`; by default several are an error.
        confidence: Level of the intervals. Between 0 and 1.
        cluster: Sessions with the same value depend on each other. A column.
        seed: Seed of CMIP.
        executor: What reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The choice of each strategy, with the metrics of all models: `choice` is None where no model may be chosen.

    Raises:
        UsageError: arguments that cannot work. LogError: the log breaks a rule, or lacks a column.
        SupportError: a model has learnt what users look at, and the lists are sorted by their clicks.

    Examples:
        >>> simulated = offrank.simulate("log.parquet", sessions=2000, queries=50)
        >>> models = [offrank.fit_clicks("log.parquet", name, f"{name}.json").fitted for name in ("pbm", "dctr")]
        >>> list(offrank.select_clicks("log.parquet", models, "grade").cmip)
        ['pbm', 'dctr']
    """
    read: dict[str, Any] = {"executor": executor, "progress": progress}
    how: dict[str, Any] = {"relevance": relevance, "seed": seed_number(seed), "confidence": confidence}
    asked = selected_models.AskedModels(log, columns, format, model, logging, strategy, labels, by, grades_by, cluster)
    return selected_models.selected_clicks(asked, how, **read)
