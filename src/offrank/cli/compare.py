"""The verb `compare`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .evaluate import evaluated, evaluation_options
from .running import safely


@click.command()
@evaluation_options
@click.option(
    "--baseline", metavar="NAME", help="What TARGETs are compared with: one of them, by default the first; logged."
)
@safely
def compare(log: str, baseline: str | None, **options: Any) -> None:
    """Which TARGET would have earned more? Paired differences, on the same impressions of LOG.

    offrank compare log.parquet --target 'a=top(a)' --target 'b=top(b)' --logging 'plackett_luce(old_score)'
    """
    evaluated(offrank.compare, log, options, baseline=baseline)
