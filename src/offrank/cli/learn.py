"""`offrank learn`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import arguments, confidence, html, output, results_options, source, source_options
from .running import be_strict, reading, saying, tell


@command()
@source_options
@option(
    "--method",
    required=True,
    help="random, regression, ips, dro, poem, snpoem, dr-poem, plackett-luce or pl-rank (linear); pi-opt, sup or "
    "lambdamart (boosted trees).",
)
@output("POLICY.NPZ")
@option("--criterion", help="Choose settings by ips, snips, lower, pi (default of pi-opt) or ipm (of pl-rank).")
@option("--labels", metavar="COLUMN", help="Grades beside the candidates, for sup and lambdamart.")
@option("--split", default="turn", show_default=True, help="Thirds by rows in turn, or by hash.")
@option("--interactions", is_flag=True, help="Cross the context's features with the candidates'.")
@option("--epochs", type=click.IntRange(1), help="The most passes; by default the method's own.")
@option("--bits", default=20, show_default=True, help="Weights are a table of 2^bits.")
@confidence()
@option("--seed", default=0, show_default=True, help="The same seed gives the same policy.")
@results_options
@html
def learn(log: str | list[str], **options: Any) -> None:
    """Learn a policy from a third of LOG, choose by another third, judge by the last.

    The last third says "better than the logged policy with probability 0.95", or "do not ship". LOG has a
    column `features`.

    offrank learn log.parquet --method poem -o policy.npz
    """
    with reading(options) as (progress, executor):
        how = {"executor": executor, "progress": progress, "say": saying(options)}
        made = offrank.learn(source(log, options), **arguments(options), **how)
    tell(made, options)
    be_strict(made.usable, options)
