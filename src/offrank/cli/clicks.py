"""`offrank clicks ...` and `offrank select clicks`: click models are learnt, judged, used and chosen."""

from __future__ import annotations

import sys
from typing import Any

import click

import offrank

from .layout import command, option
from .options import (
    arguments,
    checkpoint_options,
    confidence,
    duplicates_option,
    graded_by,
    grades_option,
    json,
    models_option,
    output,
    page_options,
    queries_option,
    quiet,
    results_options,
    sessions_cluster,
    source,
    source_options,
    strict,
    with_options,
    written_options,
)
from .running import deliver, result_of, run_verb


@command("fit")
@written_options
@option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@output("MODEL.JSON")
@queries_option
@duplicates_option
@page_options
@results_options
@checkpoint_options
@confidence()
def fit_clicks(log: str | list[str], **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    run_verb(offrank.fit_clicks, log, options)


judged_options = with_options(
    page_options,
    results_options,
    checkpoint_options,
    models_option,
    graded_by,
    grades_option,
    duplicates_option,
    confidence(),
    sessions_cluster,
)
"""Options of every verb that evaluates click models on a log."""


@command("evaluate")
@written_options
@judged_options
@option("--ood", metavar="LOG", use="log", help="Another log, such as of another ranking policy: judge on both.")
@option("--labels", metavar="COLUMN", help="Grades beside the candidates (or the slate): nDCG.")
def evaluate_clicks(log: str | list[str], ood: str | None, **options: Any) -> None:
    """How well does each MODEL predict the clicks of LOG? Differences are to the first.

    offrank clicks evaluate log.parquet --model dbn.json --model pbm.json
    """
    run_verb(offrank.evaluate_clicks, log, options, other=None if ood is None else source(ood, options))


@command("harvest")
@written_options
@page_options
@results_options
@checkpoint_options
@option(
    "--method",
    type=click.Choice(["all_pairs", "adjacent_chain", "pivot_one"]),
    default="all_pairs",
    show_default=True,
    help="Compare every two ranks, each with the next, or each with the first.",
)
@queries_option
@duplicates_option
@confidence()
@option(
    "--seed", default=0, show_default=True, help="Seed of the intervals, a bootstrap of documents.", use="uncertainty"
)
def harvest_clicks(log: str | list[str], **options: Any) -> None:
    """How likely is each rank of LOG looked at? Without a model, from documents that were seen at several ranks.

    offrank clicks harvest log.parquet
    """
    run_verb(offrank.harvest_clicks, log, options)


@command("judge")
@click.argument("model")
@output("TABLE")
@option("--grades", default=5, show_default=True, type=click.IntRange(2), help="How many grades, from 0.")
@confidence()
@option(
    "--seed", default=0, show_default=True, help="Seed of the draws behind intervals of products.", use="uncertainty"
)
@page_options
@with_options(json, strict, quiet)
def judge_clicks(model: str, **options: Any) -> None:
    """How relevant is each document to its query, by MODEL? TABLE is a .parquet or .csv.

    offrank clicks judge dbn.json -o judgements.parquet
    """
    deliver(offrank.judge_clicks(model, **arguments(offrank.judge_clicks, options)), options)


@command("predict")
@written_options
@option("--model", required=True, metavar="FILE", help="A click model that `clicks fit` has written.")
@output("TABLE")
@duplicates_option
@page_options
@with_options(json, strict, quiet)
def predict_clicks(log: str | list[str], **options: Any) -> None:
    """How likely is each slot of LOG clicked, by MODEL? TABLE is a .parquet or .csv.

    offrank clicks predict log.parquet --model pbm.json -o predicted.parquet
    """
    run_verb(offrank.predict_clicks, log, options)


@command("clicks")
@source_options
@judged_options
@option("--labels", required=True, metavar="COLUMN", help="Grades beside the candidates (or the slate).")
@option(
    "--strategy",
    help="'top-4 cmip, top-4 ppl: ndcg' ..., as published; by default all nine, among models that nothing convicts.",
)
@option("--method", default="binned", show_default=True, help="Of CMIP: binned, classifier or paper.")
@option(
    "--relevance",
    default="draws",
    show_default=True,
    help="CMIP of posterior draws, or of point estimates (means) as in the paper.",
)
@option("--seed", default=0, show_default=True, help="Seed of CMIP.", use="uncertainty")
def select_clicks(log: str | list[str], **options: Any) -> None:
    """Which click MODEL will predict clicks on rankings of another policy? By perplexity, nDCG and CMIP.

    offrank select clicks log.parquet --model a.json --model b.json --labels grade --logging 'plackett_luce(score)'
    """
    result = result_of(offrank.select_clicks, log, options)
    deliver(result, options)
    if result.choice is None:
        click.echo("no model is chosen: see what convicts each", err=True)
        sys.exit(3)
