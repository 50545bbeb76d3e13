"""`clicks predict`: the click probability and the relevance of every slot of a log, written to a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from ...language.outputs import refuse_outputs
from ..deferred import arguments, click_results, frames, given_models, metadata

if TYPE_CHECKING:
    import pyarrow as pa

    from ...metrics.click_results import PredictedClicks
    from ...running.executors import Progress


def predict_clicks(
    log: Any,
    model: Any,
    path: str | PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PredictedClicks:
    """Write a table with a row per slot of a log: row, query, item, rank, click_probability, relevance.

    It is read and written batch by batch, so that memory does not grow with the log; rows of slates of very different
    length may stand in another order than in the log. See `Fitted.predict`.

    Parameters:
        log: From `read_log`, or anything that it takes.
        model: A click model that `clicks fit` has written. In Python also a fitted one.
        path: The file to write. `.parquet` or `.csv`.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        overwrite: Replace a file that is there.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The path of the table, its rows, and cautions.

    Raises:
        UsageError: no such model, or a path of another kind. LogError: the log breaks a rule, or is empty.

    Examples:
        >>> model = offrank.clicks.DCTR().fit("offrank-demo/log.parquet")
        >>> offrank.predict_clicks("offrank-demo/log.parquet", model, "predicted.parquet").rows
        800000
    """
    frames.check_table_path(path)
    ((name, fitted),) = given_models.models([model]).items()
    refuse_outputs(path, log=log, read=[model], overwrite=overwrite)
    source, total = arguments.source(log, columns, format), [0.0]

    def summed() -> Iterator[pa.RecordBatch]:
        for batch in fitted.predictions(source, progress):
            total[0] += float(batch.column("click_probability").to_numpy().sum())
            yield batch

    rows = frames.write_table(path, summed())
    title = f"Predictions of {fitted!r} for {source.describe()}"
    made = metadata.facts("click-predictions", title, source, model=name)
    return click_results.PredictedClicks(fitted, str(path), rows, total[0] / rows, facts=made)
