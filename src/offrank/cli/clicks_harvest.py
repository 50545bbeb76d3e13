"""`offrank clicks harvest`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import (
    checkpoint_options,
    confidence,
    duplicates_option,
    page_options,
    queries_option,
    results_options,
    written_options,
)
from .running import run_verb


@command()
@written_options
@page_options
@results_options
@checkpoint_options
@option(
    "--method",
    type=click.Choice(["all_pairs", "adjacent_chain", "pivot_one"]),
    default="all_pairs",
    show_default=True,
    help="Compare every two ranks, each with the next, or each with the first.",
)
@queries_option
@duplicates_option
@confidence()
@option(
    "--seed", default=0, show_default=True, help="Seed of the intervals, a bootstrap of documents.", use="uncertainty"
)
def harvest(log: str | list[str], **options: Any) -> None:
    """How likely is each rank of LOG looked at? Without a model, from documents that were seen at several ranks.

    offrank clicks harvest log.parquet
    """
    run_verb(offrank.harvest_clicks, log, options)
