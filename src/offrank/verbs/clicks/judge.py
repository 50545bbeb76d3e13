"""`clicks judge`: a table of what a click model makes of each document."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from ...language.argument import seed_number
from ...language.from_text import GRADES
from ...language.outputs import refuse_outputs
from ..deferred import click_results, given_models, judgement_lists, metadata

if TYPE_CHECKING:
    from ...metrics.click_results import ClickJudgements


def judge_clicks(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  as in `read_log`
    grades: int | Sequence[float] = GRADES,
    confidence: float = 0.95,
    seed: int = 0,
    overwrite: bool = False,
) -> ClickJudgements:
    """Judge every document of a click model's log: query, item, relevance with its interval, sessions and a grade.

    Parameters:
        model: A fitted click model, or a file that `clicks fit` has written.
        path: The file to write. `.parquet` or `.csv`, a table with every column; `.qrels` of TREC, or `.json`, the list
            that OpenSearch imports. By default the table is only returned.
        format: `table`, `qrels`, `opensearch`, or `quepid` for Quepid's CSV; by default as the suffix says.
        grades: How many grades, from 0. Or the relevances from which on grades 1, 2 ... are given; see
            `Fitted.judgements`.
        confidence: Level of the intervals. Between 0 and 1.
        seed: Seed of the draws behind intervals of products. Of models whose relevance is made of several tables.
        overwrite: Replace a file that is there.

    Returns:
        A row per query and item; see `offrank.clicks.Judgements`.

    Raises:
        UsageError: no such model, one without ids, a path of another kind, or ids that a format cannot hold.

    Examples:
        >>> model = offrank.clicks.PBM().fit("offrank-demo/log.parquet")
        >>> judged = offrank.judge_clicks(model, "judgements.parquet")
        >>> judged.to_arrow().column_names
        ['query', 'item', 'relevance', 'low', 'high', 'sessions', 'grade', 'certainty']
    """
    seed = seed_number(seed)
    if path is not None:
        form = judgement_lists.format_of(path, format)
        refuse_outputs(path, log=(), read=[model], overwrite=overwrite)
    ((name, fitted),) = given_models.models([model]).items()
    found = fitted.judgements(confidence, grades, seed=seed)
    if path is not None:
        judgement_lists.write_judgements(path, form, found, repr(fitted))
    title = f"Judgements by {fitted!r}, fitted to {fitted.source}"
    made = metadata.facts("click-judgements", title, fitted.source, model=name, seed=seed)
    return click_results.ClickJudgements(fitted, found, None if path is None else str(path), facts=made)
