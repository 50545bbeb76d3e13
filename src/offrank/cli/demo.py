"""`offrank demo`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import quiet
from .running import reading, safely, saying


@click.command()
@click.argument("folder", default="offrank-demo")
@click.option("--impressions", default=200_000, show_default=True, type=click.IntRange(1000))
@click.option("--seed", default=7, show_default=True)
@quiet
@safely
def demo(folder: str, impressions: int, seed: int, **options: Any) -> None:
    """See what offrank is for: simulate a log into FOLDER, check it, judge a better and a worse ranker."""
    with reading(options) as (progress, _):
        made = offrank.demo(folder, impressions=impressions, seed=seed, say=saying(options), progress=progress)
    if not options["quiet"]:
        click.echo(str(made), nl=False)
