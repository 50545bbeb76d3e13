"""`offrank clicks fit`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import (
    column_or_none,
    confidence,
    output,
    page_options,
    queries_option,
    results_options,
    source,
    written_options,
)
from .running import deliver, learning, safely


@click.command()
@written_options
@click.option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@output("MODEL.JSON")
@queries_option
@page_options
@results_options
@confidence()
@safely
def fit(log: str, model: str, path: str, by: str, **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    with learning(options) as (progress, executor, say):
        how: dict[str, Any] = {"executor": executor, "progress": progress, "say": say}
        level = options["confidence"]
        result = offrank.fit_clicks(source(log, options), model, path, by=column_or_none(by), confidence=level, **how)
    deliver(result, options)
