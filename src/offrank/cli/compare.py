"""`offrank compare`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import QuestionCommand, worth_options
from .require import require
from .running import run_verb


@click.command(
    cls=QuestionCommand,
    question="evaluation.question:TargetComparison",
    more=(
        worth_options,
        require,
    ),
)
def compare(log: str | list[str], **options: Any) -> None:
    """Which TARGET would have earned more? Paired differences, on the same impressions of LOG.

    offrank compare log.parquet --target 'a=top(a)' --target 'b=top(b)' --logging 'plackett_luce(old_score)'
    """
    run_verb(offrank.compare, log, options)
