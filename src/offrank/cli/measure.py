"""`offrank measure`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import column_or_none, interval_options, listed, log_options, source
from .running import deliver, reading, safely


@click.command()
@log_options
@click.option("--score", "scores", multiple=True, required=True, help="A model's scores; differences are to the first.")
@click.option(
    "-m", "--metric", "names", multiple=True, help="counterfactual_disagreement, pairwise_loss, banner_ndcg ..."
)
@interval_options
@safely
def measure(log: str, scores: tuple[str, ...], names: tuple[str, ...], **options: Any) -> None:
    """Which model's SCORE agrees best with the clicks of LOG, whatever stood at the top?

    offrank measure log.parquet --score new_score --score old_score --logging 'plackett_luce(old_score)'
    """
    how = ("confidence", "interval", "by", "replicates", "seed")
    with reading(options) as (progress, executor):
        result = offrank.measure(
            source(log, options),
            scores,
            options["logging"],
            listed(names) or ["counterfactual_disagreement"],
            cluster=column_or_none(options["cluster"]),
            executor=executor,
            progress=progress,
            **{name: options[name] for name in how},
        )
    deliver(result, options)
