"""`offrank compare`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from ..errors import UsageError
from .options import QuestionCommand, worth_options
from .require import require
from .running import run_verb
from .spelled import names_of


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
    targets, baseline = options["target"], options["baseline"] or ""
    names = [*targets] if isinstance(targets, dict) else [targets]
    plain = baseline.isidentifier() and baseline not in {*names, "logged", *names_of("policy")}
    if targets and plain:  # said before anything is imported that compares
        raise UsageError(f"the baseline {baseline!r} is no target", f"use one of {', '.join([*names, 'logged'])}")
    run_verb(offrank.compare, log, options)
