"""`offrank demo`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import arguments, overwrite, quiet
from .running import reading, saying, tell


@command()
@click.argument("folder", default="offrank-demo")
@option("--impressions", default=200_000, show_default=True, type=click.IntRange(1000))
@option("--seed", default=7, show_default=True)
@overwrite
@quiet
def demo(**options: Any) -> None:
    """See what offrank is for: simulate a log into FOLDER, check it, judge a better and a worse ranker."""
    with reading(options) as (progress, _):
        made = offrank.demo(**arguments(options), say=saying(options), progress=progress, style="command line")
    tell(made, options)
