"""`offrank check`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import confidence, log_options, source
from .running import deliver, reading, safely


@click.command()
@log_options
@click.option("--target", help="A policy whose support in the log is of interest.")
@confidence(0.99)
@safely
def check(log: str, target: str | None, **options: Any) -> None:
    """Is LOG fit to judge other rankings by? Propensities, weights, support, sub-sampling."""
    with reading(options) as (progress, executor):
        result = offrank.check(
            source(log, options),
            options["logging"],
            target,
            confidence=options["confidence"],
            executor=executor,
            progress=progress,
        )
    deliver(result, options)
