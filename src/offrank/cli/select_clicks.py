"""`offrank select clicks`."""

from __future__ import annotations

import sys
from typing import Any

import click

import offrank

from ..language.from_text import named_files
from .clicks_evaluate import judged_options
from .layout import command, option
from .options import source, source_options
from .running import deliver, reading


@command()
@source_options
@judged_options
@option("--labels", required=True, metavar="COLUMN", help="Grades beside the candidates (or the slate).")
@option(
    "--strategy",
    help="'top-4 cmip, top-4 ppl: ndcg' ..., as published; by default all nine, among models that nothing convicts.",
)
@option("--method", default="binned", show_default=True, help="Of CMIP: binned, classifier or paper.")
@option(
    "--relevance",
    default="draws",
    show_default=True,
    help="CMIP of posterior draws, or of point estimates (means) as in the paper.",
)
@option("--seed", default=0, show_default=True, help="Seed of CMIP.", use="uncertainty")
def clicks(log: str | list[str], models: tuple[str, ...], labels: str, **options: Any) -> None:
    """Which click MODEL will predict clicks on rankings of another policy? By perplexity, nDCG and CMIP.

    offrank select clicks log.parquet --model a.json --model b.json --labels grade --logging 'plackett_luce(score)'
    """
    how = ("strategy", "method", "relevance", "by", "grades_by", "confidence", "cluster", "seed")
    with reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress}
        result = offrank.select_clicks(source(log, options), named_files(models), labels, options["logging"], **given)
    deliver(result, options)
    if result.choice is None:
        click.echo("no model is chosen: see what convicts each", err=True)
        sys.exit(3)
