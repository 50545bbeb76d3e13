"""`offrank clicks fit`, `clicks evaluate` and `clicks harvest`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import (
    arguments,
    confidence,
    graded_by,
    models_option,
    named_files,
    output,
    page_options,
    queries_option,
    results_options,
    sessions_cluster,
    source,
    with_options,
    written_options,
)
from .running import deliver, judge, reading, working

judged_options = with_options(page_options, results_options, models_option, graded_by, confidence(), sessions_cluster)
"""Options of every verb that evaluates click models on a log."""


@click.group()
def clicks() -> None:
    """Click models: how slates are clicked, learnt from a log."""


@clicks.command()
@written_options
@click.option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@output("MODEL.JSON")
@queries_option
@page_options
@results_options
@confidence()
def fit(log: str, **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    with working(options) as (progress, executor, say):
        how = {"executor": executor, "progress": progress, "say": say}
        made = offrank.fit_clicks(source(log, options), **arguments(options), **how)
    deliver(made, options)


@clicks.command()
@written_options
@judged_options
@click.option("--ood", metavar="LOG", help="Another log, such as of another ranking policy: judge on both.")
@click.option("--labels", metavar="COLUMN", help="Grades beside the candidates (or the slate): nDCG.")
def evaluate(log: str, models: tuple[str, ...], ood: str | None, **options: Any) -> None:
    """How well does each MODEL predict the clicks of LOG? Differences are to the first.

    offrank clicks evaluate log.parquet --model dbn.json --model pbm.json
    """
    how = ("labels", "by", "confidence", "cluster")
    with reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress}
        other = None if ood is None else source(ood, options)
        result = offrank.evaluate_clicks(source(log, options), named_files(models), other=other, **given)
    deliver(result, options)


@clicks.command()
@written_options
@page_options
@results_options
@click.option(
    "--method",
    type=click.Choice(["all_pairs", "adjacent_chain", "pivot_one"]),
    default="all_pairs",
    show_default=True,
    help="Compare every two ranks, each with the next, or each with the first.",
)
@queries_option
@confidence()
@click.option("--seed", default=0, show_default=True, help="Seed of the intervals, a bootstrap of documents.")
def harvest(log: str, **options: Any) -> None:
    """How likely is each rank of LOG looked at? Without a model, from documents that were seen at several ranks.

    offrank clicks harvest log.parquet
    """
    judge(offrank.harvest_clicks, log, options)
