"""`offrank evaluate`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import evaluation_options, state
from .running import judge


@click.command()
@evaluation_options
@state
def evaluate(log: str, **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    judge(offrank.evaluate, log, options)
