"""`offrank select clicks`, `offrank select estimators`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .clicks_evaluate import judged_options
from .options import cluster_option, examination, listed, log_options, named_files, read_by, source, source_options
from .running import deliver, judge, reading


@click.group()
def select() -> None:
    """Which of several candidates to use."""


@select.command()
@source_options
@judged_options
@click.option("--labels", required=True, metavar="COLUMN", help="Grades beside the candidates (or the slate).")
@click.option("--strategy", help="'top-4 cmip, top-4 ppl: ndcg' ...; by default all nine of the paper.")
@click.option("--method", default="binned", show_default=True, help="Of CMIP: binned, classifier or paper.")
@click.option("--seed", default=0, show_default=True, help="Seed of CMIP.")
def clicks(log: str, models: tuple[str, ...], labels: str, **options: Any) -> None:
    """Which click MODEL will predict clicks on rankings of another policy? By perplexity, nDCG and CMIP.

    offrank select clicks log.parquet --model a.json --model b.json --labels grade --logging 'plackett_luce(score)'
    """
    how = ("strategy", "method", "by", "confidence", "cluster", "seed")
    with reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress}
        result = offrank.select_clicks(source(log, options), named_files(models), labels, options["logging"], **given)
    deliver(result, options)


@select.command()
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
