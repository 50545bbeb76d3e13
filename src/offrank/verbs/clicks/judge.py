"""`clicks judge`: a table of what a click model makes of each document."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from ...language.argument import seed_number
from ...language.from_text import GRADES
from ...language.outputs import refuse_outputs
from ..deferred import click_results, frames, given_models, metadata

if TYPE_CHECKING:
    from ...metrics.click_results import ClickJudgements


def judge_clicks(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    grades: int | Sequence[float] = GRADES,
    confidence: float = 0.95,
    seed: int = 0,
    overwrite: bool = False,
) -> ClickJudgements:
    """Judge every document of a click model's log: query, item, relevance with its interval, sessions and a grade.

    Parameters:
        model: A fitted click model, or a file that `clicks fit` has written.
        path: The file to write. `.parquet` or `.csv`; by default the table is only returned.
        grades: How many grades, from 0. Or the relevances from which on grades 1, 2 ... are given; see
            `Fitted.judgements`.
        confidence: Level of the intervals. Between 0 and 1.
        seed: Seed of the draws behind intervals of products. Of models whose relevance is made of several tables.
        overwrite: Replace a file that is there.

    Returns:
        A row per query and item; see `offrank.clicks.Judgements`.

    Raises:
        UsageError: no such model, one without ids, or a path of another kind.

    Examples:
        >>> model = offrank.clicks.PBM().fit("offrank-demo/log.parquet")
        >>> judged = offrank.judge_clicks(model, "judgements.parquet")
        >>> judged.to_arrow().column_names
        ['query', 'item', 'relevance', 'low', 'high', 'sessions', 'grade', 'certainty']
    """
    seed = seed_number(seed)
    if path is not None:
        frames.check_table_path(path)
        refuse_outputs(path, log=(), read=[model], overwrite=overwrite)
    ((name, fitted),) = given_models.models([model]).items()
    found = fitted.judgements(confidence, grades, seed=seed)
    if path is not None:
        frames.write_table(path, found.to_arrow().combine_chunks().to_batches())
    title = f"Judgements by {fitted!r}, fitted to {fitted.source}"
    made = metadata.facts("click-judgements", title, fitted.source, model=name, seed=seed)
    return click_results.ClickJudgements(fitted, found, None if path is None else str(path), facts=made)
