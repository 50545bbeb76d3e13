"""`offrank compare`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import evaluation_options, state
from .running import judge


@click.command()
@evaluation_options
@state
@click.option(
    "--baseline", metavar="NAME", help="What TARGETs are compared with: one of them, by default the first; logged."
)
def compare(log: str, **options: Any) -> None:
    """Which TARGET would have earned more? Paired differences, on the same impressions of LOG.

    offrank compare log.parquet --target 'a=top(a)' --target 'b=top(b)' --logging 'plackett_luce(old_score)'
    """
    judge(offrank.compare, log, options)
