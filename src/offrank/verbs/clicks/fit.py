"""`clicks fit`: learn a click model from a log, save it to a file, and describe it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ...language import Say, silent
from ...language.argument import interval_level
from ...language.outputs import refuse_outputs
from ..deferred import arguments, click_evaluation, click_model, click_results, documents, metadata

if TYPE_CHECKING:
    from ...clicks.model import ClickModel
    from ...metrics.click_results import ClickFit
    from ...running.executors import Executor, Progress


def fit_clicks(
    log: Any,
    model: str | ClickModel,
    path: str | PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    format: Any = None,  # noqa: A002  as in `read_log`
    by: str | None = "auto",
    confidence: float = 0.95,
    overwrite: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
    say: Say = silent,
) -> ClickFit:
    """Fit a click model to a log, and write it to a file.

    Parameters:
        log: From `read_log`, or anything that it takes, with slates and clicks.
        model: pbm, ubm, dbn, ccm ... Or a `ClickModel`.
        path: The file to write. In JSON; packed, by a name that ends in `.npz`.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        format: parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.
        by: The queries; auto: `query` where there is one; none: items alone. A column; None in Python. Otherwise a
            document is a pair of query and item.
        confidence: Level of the intervals. Between 0 and 1.
        overwrite: Replace a file that is there, also one that offrank did not write.
        executor: What reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: Called with (parts done, all parts) of the log, as they are read.
        say: Called with a description of each step.

    Returns:
        The fitted model, how it was fitted, and cautions.

    Raises:
        UsageError: arguments that cannot work, or clicks that are not whole numbers.
        LogError: the log breaks a rule, has no clicks, or is empty.

    Examples:
        >>> learnt = offrank.fit_clicks("offrank-demo/log.parquet", "pbm", "pbm.json")
        >>> [round(float(rank), 1) for rank in learnt.fitted.examination()]
        [1.0, 0.5, 0.3, 0.2]
    """
    kind, source = click_model.click_model(model), arguments.source(log, columns, format)
    interval_level(confidence)
    if not os.access(Path(path).parent, os.W_OK):
        raise UsageError(f"there is no folder {str(Path(path).parent)!r} to write to", "create it first")
    refuse_outputs(path, log=[log, source], read=(), overwrite=overwrite)
    documents.grouping(source, by)  # report missing columns before reading anything
    fitted = kind.fit(source, by=by, executor=executor, progress=progress, say=say)
    fitted.save(path, overwrite)
    made = metadata.facts("click-model", f"{kind!r}, fitted to {source.describe()}", source, spelling=repr(kind))
    fit = click_evaluation.fit_to(fitted, source, confidence)
    return click_results.ClickFit(fitted, str(path), confidence, fit, facts=made)
