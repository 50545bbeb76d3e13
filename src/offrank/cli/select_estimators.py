"""`offrank select estimators`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import QuestionCommand
from .running import run_verb


@click.command(cls=QuestionCommand, question="evaluation.selection_question:EstimatorSelection")
def estimators(log: str | list[str], **options: Any) -> None:
    """Which estimator has the least error for LOG and TARGET?

    offrank select estimators log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)'
    """
    run_verb(offrank.select_estimators, log, options)
