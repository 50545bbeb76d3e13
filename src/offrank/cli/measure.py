"""`offrank measure`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import interval_options, listed, log_options, read_by
from .running import judge


@click.command()
@log_options
@click.option("--score", multiple=True, required=True, help="A model's scores; differences are to the first.")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    default=("counterfactual_disagreement",),
    callback=read_by(listed),
    help="counterfactual_disagreement, pairwise_loss, banner_ndcg ...",
)
@interval_options
def measure(log: str, **options: Any) -> None:
    """Which model's SCORE agrees best with the clicks of LOG, whatever stood at the top?

    offrank measure log.parquet --score new_score --score old_score --logging 'plackett_luce(old_score)'
    """
    judge(offrank.measure, log, options)
