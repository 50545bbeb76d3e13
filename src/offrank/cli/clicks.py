"""Verbs of click models: clicks fit, clicks evaluate, clicks harvest."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import FILE, named_files, page_options, results_options, source, writable, written_options
from .running import deliver, learning, reading, safely


@click.group()
def clicks() -> None:
    """Click models: how slates are clicked, learnt from a log."""


@clicks.command()
@written_options
@click.option("--model", required=True, help="pbm, ubm, dbn, ccm, 'mixture(pbm, dbn)' ...")
@click.option("-o", "path", metavar="MODEL.JSON", required=True, type=FILE, callback=writable, help="What to write.")
@click.option(
    "--by", default="auto", metavar="COLUMN", help="The queries; `query` where there is one. none: items alone."
)
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--workers", type=click.IntRange(1), help="Threads; by default one per core.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@safely
def fit(log: str, model: str, path: str, by: str, **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    with learning(options) as (progress, executor, say):
        made = offrank.fit_clicks(
            source(log, options),
            model,
            path,
            by=None if by == "none" else by,
            confidence=options["confidence"],
            executor=executor,
            progress=progress,
            say=say,
        )
    if not options["quiet"]:
        click.echo(str(made), nl=False)


@clicks.command()
@written_options
@page_options
@results_options
@click.option(
    "--model", "models", multiple=True, required=True, metavar="FILE", help="What fit has written, or NAME=FILE."
)
@click.option("--ood", metavar="LOG", help="Another log, such as of another ranking policy: judge on both.")
@click.option("--labels", metavar="COLUMN", help="Grades beside the candidates (or the slate): nDCG.")
@click.option("--by", metavar="COLUMN", help="The queries of the grades; by default those of the models.")
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--cluster", metavar="COLUMN", help="Sessions with the same value depend on each other.")
@safely
def evaluate(log: str, models: tuple[str, ...], ood: str | None, **options: Any) -> None:
    """How well does each MODEL predict the clicks of LOG? Differences are to the first.

    offrank clicks evaluate log.parquet --model dbn.json --model pbm.json
    """
    with reading(options) as (progress, executor):
        result = offrank.evaluate_clicks(
            source(log, options),
            named_files(models),
            other=None if ood is None else source(ood, options),
            labels=options["labels"],
            by=options["by"],
            confidence=options["confidence"],
            cluster=options["cluster"],
            executor=executor,
            progress=progress,
        )
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
@click.option(
    "--by", default="auto", metavar="COLUMN", help="The queries; `query` where there is one. none: items alone."
)
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--seed", default=0, show_default=True, help="Seed of the intervals, a bootstrap of documents.")
@safely
def harvest(log: str, method: str, by: str, **options: Any) -> None:
    """How likely is each rank of LOG looked at? Without a model, from documents that were seen at several ranks.

    offrank clicks harvest log.parquet
    """
    with reading(options) as (progress, executor):
        result = offrank.harvest_clicks(
            source(log, options),
            method,  # type: ignore[arg-type]
            by=None if by == "none" else by,
            confidence=options["confidence"],
            seed=options["seed"],
            executor=executor,
            progress=progress,
        )
    deliver(result, options)
