"""`offrank clicks fit`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import arguments, confidence, output, queries_option, quiet, source, workers, written_options
from .running import working


@click.command()
@written_options
@click.option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@output("MODEL.JSON")
@queries_option
@confidence()
@workers
@quiet
def fit(log: str, **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    with working(options) as (progress, executor, say):
        how = {"executor": executor, "progress": progress, "say": say}
        made = offrank.fit_clicks(source(log, options), **arguments(options), **how)
    if not options["quiet"]:
        click.echo(str(made), nl=False)
