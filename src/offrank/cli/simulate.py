"""The verb that makes a world: simulate."""

from __future__ import annotations

import json
from typing import Any

import click

import offrank

from ..files import write_text
from .options import FILE_OR_DASH, output, quiet, writable
from .running import reading, safely, saying


@click.command()
@output("LOG.PARQUET|LOG.ARROW")
@click.option("--sessions", default=100_000, show_default=True, type=click.IntRange(1), help="How many.")
@click.option(
    "--user",
    default="pbm",
    show_default=True,
    help="dbn(gamma=0.9), carousel, trust ...; or a fitted model's file, M.json.",
)
@click.option(
    "--ranker",
    "rankers",
    multiple=True,
    default=["noisy_oracle"],
    show_default=True,
    help="lambdamart, noisy_oracle, uniform, lasso or tree; the first draws the log.",
)
@click.option("--temperature", default=0.1, show_default=True, help="Of Plackett-Luce; 0 sorts by score.")
@click.option("--data", default="generated", show_default=True, metavar="PATH", help="Judged queries in SVMlight.")
@click.option("--queries", type=click.IntRange(1), help="How many; by default all, or 1000 generated.")
@click.option("--documents", type=click.IntRange(1), help="Per query; by default 10, and 25 for a carousel.")
@click.option("--slots", default=0, help="How many are shown; by default all.")
@click.option(
    "--preset",
    type=click.Choice(["paper", "published-code"]),
    default="paper",
    show_default=True,
    help="Of everything.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the sessions.")
@click.option("--world-seed", default=0, show_default=True, type=click.IntRange(0), help="Of documents and rankers.")
@click.option("--json", type=FILE_OR_DASH, callback=writable, help="Write the truths for programs; -: print them.")
@quiet
@safely
def simulate(path: str, **options: Any) -> None:
    """Write a log of a world whose truth is known: judged queries, a ranker that draws, a user who clicks.

    offrank simulate -o log.parquet --user dbn --sessions 1000000
    """
    how = {name: options.pop(name) for name in ("quiet", "json")}
    with reading(how) as (progress, _):
        made = offrank.simulate(path, progress=progress, say=saying(how), **options)
    if how["json"] == "-":
        click.echo(json.dumps(made.to_dict(), indent=2))
    elif how["json"]:
        write_text(how["json"], json.dumps(made.to_dict(), indent=2))
    if not how["quiet"] and how["json"] != "-":
        click.echo(f"{made}\nTry:")
        for line in made.next_steps:
            click.echo(f"  {line}")
