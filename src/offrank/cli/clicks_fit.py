"""`offrank clicks fit`."""

from __future__ import annotations

from typing import Any

import offrank

from .layout import command, option
from .options import (
    arguments,
    checkpoint_options,
    confidence,
    duplicates_option,
    output,
    page_options,
    queries_option,
    results_options,
    source,
    written_options,
)
from .running import deliver, working


@command()
@written_options
@option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@output("MODEL.JSON")
@queries_option
@duplicates_option
@page_options
@results_options
@checkpoint_options
@confidence()
def fit(log: str | list[str], **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    with working(options) as (progress, executor, say):
        how = {"executor": executor, "progress": progress, "say": say}
        made = offrank.fit_clicks(source(log, options), **arguments(options), **how)
    deliver(made, options)
