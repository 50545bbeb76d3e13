"""`offrank demo`."""

from __future__ import annotations

from functools import partial

import click

import offrank

from .options import quiet
from .running import reading, safely


@click.command()
@click.argument("folder", default="offrank-demo")
@click.option("--impressions", default=200_000, show_default=True, type=click.IntRange(1000))
@click.option("--seed", default=7, show_default=True)
@quiet
@safely
def demo(folder: str, impressions: int, seed: int, quiet: bool) -> None:
    """See what offrank is for: simulate a log into FOLDER, check it, judge a better and a worse ranker."""
    say = len if quiet else partial(click.echo, err=True)
    with reading({"quiet": quiet, "workers": None}) as (progress, _):
        made = offrank.demo(folder, impressions=impressions, seed=seed, say=say, progress=progress)
    if not quiet:
        made.evaluated.show()
        click.echo(f"\nThe report: {made.report}\nTry it yourself:")
        for line in made.next_steps:
            click.echo(f"  {line}")
