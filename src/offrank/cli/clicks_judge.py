"""`offrank clicks judge`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import arguments, confidence, json, output, page_options, quiet, strict, with_options
from .running import deliver

_results = with_options(json, strict, quiet)


@command()
@click.argument("model")
@output("TABLE")
@option("--grades", default=5, show_default=True, type=click.IntRange(2), help="How many grades, from 0.")
@confidence()
@option(
    "--seed", default=0, show_default=True, help="Seed of the draws behind intervals of products.", use="uncertainty"
)
@page_options
@_results
def judge(model: str, **options: Any) -> None:
    """How relevant is each document to its query, by MODEL? TABLE is a .parquet or .csv.

    offrank clicks judge dbn.json -o judgements.parquet
    """
    deliver(offrank.judge_clicks(model, **arguments(options)), options)
