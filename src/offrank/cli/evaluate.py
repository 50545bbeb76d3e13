"""`offrank evaluate`."""

from __future__ import annotations

from collections.abc import Callable
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
    with_options,
    worth_options,
)
from .running import deliver, reading, safely

evaluation_options = with_options(
    log_options,
    target_options,
    interval_options,
    worth_options,
    click.option("--held-out", metavar="POLICY.NPZ", help="Read only the third of LOG that `learn` kept apart."),
)
"""What the verbs take that ask what targets would have earned."""


def evaluated(verb: Callable[..., Any], log: str, options: dict[str, Any], **more: Any) -> None:
    """Ask the verb what `evaluation_options` say, and deliver the result."""
    how = ("confidence", "interval", "by", "held_out", "replicates", "seed")
    with reading(options) as (progress, executor):
        result = verb(
            source(log, options),
            named_policies(options["targets"]),
            options["logging"],
            listed(options["estimators"]) or ("ips", "snips"),
            examination=examination(options["examination"]),
            cluster=column_or_none(options["cluster"]),
            executor=executor,
            progress=progress,
            **{name: options[name] for name in how},
            **more,
        )
    deliver(result, options)


@click.command()
@evaluation_options
@safely
def evaluate(log: str, **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    evaluated(offrank.evaluate, log, options)
