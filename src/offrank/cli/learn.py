"""`offrank learn`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import FILE, confidence, quiet, source, source_options, workers, writable
from .running import reading, safely, saying


@click.command()
@source_options
@click.option(
    "--method",
    required=True,
    help="random, regression, ips, dro, poem, snpoem, dr-poem or plackett-luce.",
)
@click.option("-o", "path", metavar="POLICY.NPZ", required=True, help="The file to write.")
@click.option("--criterion", default="ips", show_default=True, help="Choose settings by ips, snips or lower.")
@click.option("--split", default="turn", show_default=True, help="Thirds by rows in turn, or by hash.")
@click.option("--interactions", is_flag=True, help="Cross the context's features with the candidates'.")
@click.option("--epochs", type=click.IntRange(1), help="The most passes; by default the method's own.")
@click.option("--bits", default=20, show_default=True, help="Weights are a table of 2^bits.")
@confidence()
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same policy.")
@click.option("--html", type=FILE, callback=writable, help="Write a report for people.")
@workers
@quiet
@safely
def learn(log: str, method: str, path: str, **options: Any) -> None:
    """Learn a linear policy from a third of LOG, choose by another third, judge by the last.

    LOG has a column `features`.

    offrank learn log.parquet --method poem -o policy.npz
    """
    how = ("logging", "criterion", "split", "interactions", "epochs", "bits", "confidence", "seed")
    with reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress}
        made = offrank.learn(source(log, options), method, path, say=saying(options), **given)
    if options["html"]:
        made.save_html(options["html"])
    if not options["quiet"]:
        click.echo(str(made))
        if made.tested is not None:
            made.tested.show()
