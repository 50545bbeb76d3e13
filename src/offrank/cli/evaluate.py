"""`offrank evaluate`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import QuestionCommand, worth_options
from .require import require
from .running import run_verb


@click.command(
    cls=QuestionCommand,
    question="evaluation.question:WithBounds",
    more=(
        worth_options,
        require,
    ),
)
def evaluate(log: str | list[str], **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    run_verb(offrank.evaluate, log, options)
