"""`offrank simulate`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import arguments, json, output, quiet
from .running import reading, saying, tell


@command()
@output("LOG.PARQUET|LOG.ARROW")
@option("--sessions", default=100_000, show_default=True, type=click.IntRange(1), help="How many.")
@option(
    "--user",
    default="pbm",
    show_default=True,
    help="dbn(gamma=0.9), carousel, trust ...; or a fitted model's file, M.json.",
)
@option(
    "--ranker",
    "rankers",
    multiple=True,
    default=["noisy_oracle"],
    show_default=True,
    help="lambdamart, noisy_oracle, uniform, lasso or tree; the first draws the log.",
)
@option("--temperature", default=0.1, show_default=True, help="Of Plackett-Luce; 0 sorts by score.")
@option("--data", default="generated", show_default=True, metavar="PATH", help="Judged queries in SVMlight.")
@option("--qrels", metavar="PATH", help="Judgments of TREC; --data is then a run of TREC.")
@option("--queries", type=click.IntRange(1), help="How many; by default all, or 1000 generated.")
@option("--documents", type=click.IntRange(1), help="Per query; by default 10, and 25 for a carousel.")
@option("--slots", default=0, help="How many are shown; by default all.")
@option(
    "--preset",
    type=click.Choice(["paper", "published-code"]),
    default="paper",
    show_default=True,
    help="Of everything.",
)
@option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the sessions.")
@option("--world-seed", default=0, show_default=True, type=click.IntRange(0), help="Of documents and rankers.")
@json
@quiet
def simulate(**options: Any) -> None:
    """Write a log of a world whose truth is known: judged queries, a ranker that draws, a user who clicks.

    offrank simulate -o log.parquet --user dbn --sessions 1000000
    """
    with reading(options) as (progress, _):
        made = offrank.simulate(**arguments(options), progress=progress, say=saying(options))
    tell(made, options)
