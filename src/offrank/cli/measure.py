"""`offrank measure`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import QuestionCommand
from .running import run_verb


@click.command(cls=QuestionCommand, question="metrics.question:MetricsQuestion")
def measure(log: str | list[str], **options: Any) -> None:
    """Which model's SCORE agrees best with the clicks of LOG, whatever stood at the top?

    offrank measure log.parquet --score new_score --score old_score --logging 'plackett_luce(old_score)'
    """
    run_verb(offrank.measure, log, options)
