"""`offrank select estimators`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import cluster_option, examination, listed, log_options, read_by
from .running import judge


@click.command()
@log_options
@click.option("--target", required=True, help="A new policy: top(new_score).")
@click.option(
    "-e",
    "--estimator",
    "estimators",
    multiple=True,
    callback=read_by(listed),
    help="Candidates; by default all that the log and the policies allow.",
)
@click.option(
    "--examination",
    metavar="P,P,...|MODEL",
    callback=read_by(examination),
    help="Probability that each rank is looked at, or a click model's file.",
)
@cluster_option
@click.option("--worlds", default=10, show_default=True, help="Simulated logs of each kind of users; 0: none.")
def estimators(log: str, **options: Any) -> None:
    """Which estimator has the least error for LOG and TARGET?

    offrank select estimators log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)'
    """
    if not options["estimators"]:
        del options["estimators"]
    judge(offrank.select_estimators, log, options)
