"""`offrank clicks fit`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import column_or_none, confidence, output, queries_option, quiet, source, workers, written_options
from .running import learning, safely


@click.command()
@written_options
@click.option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@output("MODEL.JSON")
@queries_option
@confidence()
@workers
@quiet
@safely
def fit(log: str, model: str, path: str, by: str, **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    with learning(options) as (progress, executor, say):
        made = offrank.fit_clicks(
            source(log, options),
            model,
            path,
            by=column_or_none(by),
            confidence=options["confidence"],
            executor=executor,
            progress=progress,
            say=say,
        )
    if not options["quiet"]:
        click.echo(str(made), nl=False)
