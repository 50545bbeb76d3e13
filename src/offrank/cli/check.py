"""`offrank check`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import QuestionCommand
from .running import run_verb


@click.command(cls=QuestionCommand, question="evaluation.question:LogCheck")
def check(log: str | list[str], **options: Any) -> None:
    """Is LOG fit to judge other rankings by? Propensities, weights, support, sub-sampling."""
    run_verb(offrank.check, log, options)
