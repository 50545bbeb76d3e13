"""`offrank evaluate`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import (
    column_or_none,
    examination,
    interval_options,
    listed,
    log_options,
    named_policies,
    source,
    target_options,
)
from .running import deliver, reading, safely


@click.command()
@log_options
@target_options
@interval_options
@click.option("--held-out", metavar="POLICY.NPZ", help="Read only the third of LOG that `learn` kept apart.")
@safely
def evaluate(log: str, targets: tuple[str, ...], estimators: tuple[str, ...], **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    how = ("confidence", "interval", "by", "held_out", "replicates", "seed")
    with reading(options) as (progress, executor):
        result = offrank.evaluate(
            source(log, options),
            named_policies(targets),
            options["logging"],
            listed(estimators) or ("ips", "snips"),
            examination=examination(options["examination"]),
            cluster=column_or_none(options["cluster"]),
            executor=executor,
            progress=progress,
            **{name: options[name] for name in how},
        )
    deliver(result, options)
