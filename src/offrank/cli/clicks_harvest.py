"""`offrank clicks harvest`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import column_or_none, confidence, page_options, queries_option, results_options, source, written_options
from .running import deliver, reading, safely


@click.command()
@written_options
@page_options
@results_options
@click.option(
    "--method",
    type=click.Choice(["all_pairs", "adjacent_chain", "pivot_one"]),
    default="all_pairs",
    show_default=True,
    help="Compare every two ranks, each with the next, or each with the first.",
)
@queries_option
@confidence()
@click.option("--seed", default=0, show_default=True, help="Seed of the intervals, a bootstrap of documents.")
@safely
def harvest(log: str, method: Any, by: str, **options: Any) -> None:
    """How likely is each rank of LOG looked at? Without a model, from documents that were seen at several ranks.

    offrank clicks harvest log.parquet
    """
    with reading(options) as (progress, executor):
        how: dict[str, Any] = {name: options[name] for name in ("confidence", "seed")}
        how |= {"by": column_or_none(by), "executor": executor, "progress": progress}
        result = offrank.harvest_clicks(source(log, options), method, **how)
    deliver(result, options)
