"""`clicks harvest`: the examination probability of each rank, without a click model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...language.argument import seed_number
from ..deferred import arguments, click_results, harvesting, metadata

if TYPE_CHECKING:
    from ...clicks.harvesting import Method, Weigh
    from ...metrics.click_results import Curve
    from ...running.executors import Executor, Progress


def harvest_clicks(
    log: Any,
    method: Method = "all_pairs",
    *,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    by: str | None = "auto",
    weigh: Weigh = "views",
    confidence: float = 0.95,
    replicates: int = 200,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Curve:
    """Estimate the examination curve of a log: anything that `read_log` takes, with slates and clicks.

    Parameters:
        log: Anything that `read_log` takes, with slates and clicks.
        method: Compare every two ranks, each with the next, or each with the first. `all_pairs` does so by maximum
            likelihood; `adjacent_chain` and `pivot_one` use less of the log.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        by: The queries; auto: `query` where there is one; none: items alone. A column; None in Python. Otherwise a
            document is a pair of query and item.
        weigh: Weigh documents by their views, or all alike. The weight of a document shown n and n' times at two ranks
            is n n' / (n + n') for `views`, or 1 as published (`equal`). Both are unbiased; the first has less variance.
        confidence: Level of the intervals. By a bootstrap of the documents.
        replicates: Replicates of the bootstrap.
        seed: Seed of the intervals, a bootstrap of documents.
        executor: What reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        Examination by rank, relative to the first, each with its interval.

    Raises:
        UsageError: an unknown method, or clicks that are not whole numbers.
        SupportError: no document was shown at the first and at another rank.
        LogError: the log breaks a rule, or is empty.

    Examples:
        >>> curve = offrank.harvest_clicks("offrank-demo/log.parquet")
        >>> [round(row["value"], 1) for row in curve.records()]
        [1.0, 0.5, 0.3, 0.2]
    """
    seed, source = seed_number(seed), arguments.source(log, columns, format)
    given: dict[str, Any] = {"by": by, "weigh": weigh, "confidence": confidence, "seed": seed}
    how: dict[str, Any] = {**given, "replicates": replicates, "executor": executor, "progress": progress}
    found = harvesting.harvest(source, method, **how)
    title = f"Examination of each rank of {source.describe()}"
    return click_results.Curve(found, facts=metadata.facts("examination", title, source, **given))
