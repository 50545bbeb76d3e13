"""Verbs that judge by a log: evaluate, check, metrics."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

import offrank

from ..errors import UsageError
from ..spelling import split
from .options import cluster_option, distinct, listed, log_options, source, with_options, worth_options
from .running import deliver, reading, safely

_NAMED = re.compile(r"^([A-Za-z][\w-]*)\s*=\s*(.+)$", re.DOTALL)


def evaluation_options(command: Callable[..., None]) -> Callable[..., None]:
    """What the verbs take that ask what targets would have earned."""
    return with_options(
        log_options(worth_options(command)),
        click.option(
            "--target", "targets", multiple=True, required=True, help="A new policy: top(new_score), or NAME=POLICY."
        ),
        click.option(
            "-e", "--estimator", "estimators", multiple=True, help="ips, snips, interpol(window=2), clip(ips, 10) ..."
        ),
        click.option(
            "--examination",
            metavar="P,P,...|MODEL",
            help="Probability that each rank is looked at, or a click model's file.",
        ),
        click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals."),
        click.option(
            "--interval", default="studentised", show_default=True, help="studentised, normal, bootstrap or bernstein."
        ),
        click.option("--replicates", default=200, show_default=True, help="Replicates of the bootstrap."),
        click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap."),
        cluster_option,
        click.option("--by", metavar="COLUMN", help="A table per value of this column."),
        click.option("--held-out", metavar="POLICY.NPZ", help="Read only the third of LOG that `learn` kept apart."),
    )


def evaluated(verb: Callable[..., Any], log: str, options: dict[str, Any], **more: Any) -> None:
    """Ask the verb what `evaluation_options` say, and deliver the result."""
    how = ("confidence", "interval", "by", "held_out", "replicates", "seed")
    with reading(options) as (progress, executor):
        result = verb(
            source(log, options),
            _targets(options["targets"]),
            options["logging"],
            listed(options["estimators"]) or ("ips", "snips"),
            examination=_examination(options["examination"]),
            cluster=None if options["cluster"] == "none" else options["cluster"],
            executor=executor,
            progress=progress,
            **{name: options[name] for name in how},
            **more,
        )
    deliver(result, options)


@click.command()
@evaluation_options
@safely
def evaluate(log: str, **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    evaluated(offrank.evaluate, log, options)


@click.command()
@log_options
@click.option("--target", help="A policy whose support in the log is of interest.")
@click.option("--confidence", default=0.99, show_default=True, help="Level of the intervals.")
@safely
def check(log: str, target: str | None, confidence: float, **options: Any) -> None:
    """Is LOG fit to judge other rankings by? Propensities, weights, support, sub-sampling."""
    with reading(options) as (progress, executor):
        result = offrank.check(
            source(log, options),
            options["logging"],
            target,
            confidence=confidence,
            executor=executor,
            progress=progress,
        )
    deliver(result, options)


@click.command()
@log_options
@click.option("--model", "models", multiple=True, required=True, help="A score column; differences are to the first.")
@click.option(
    "-m", "--metric", "names", multiple=True, help="counterfactual_disagreement, pairwise_loss, banner_ndcg ..."
)
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option(
    "--interval", default="studentised", show_default=True, help="studentised, normal, bootstrap or bernstein."
)
@cluster_option
@click.option("--by", metavar="COLUMN", help="Rows per value of this column.")
@safely
def metrics(log: str, models: tuple[str, ...], names: tuple[str, ...], **options: Any) -> None:
    """Which MODEL agrees best with the clicks of LOG, whatever stood at the top?

    offrank metrics log.parquet --model new_score --model old_score --logging 'plackett_luce(old_score)'
    """
    with reading(options) as (progress, executor):
        result = offrank.measure(
            source(log, options),
            models,
            options["logging"],
            listed(names) or ["counterfactual_disagreement"],
            confidence=options["confidence"],
            interval=options["interval"],
            cluster=None if options["cluster"] == "none" else options["cluster"],
            by=options["by"],
            executor=executor,
            progress=progress,
        )
    deliver(result, options)


def _targets(texts: tuple[str, ...]) -> Any:
    named = [_NAMED.match(text) for text in texts]
    if len(texts) == 1 and named[0] is None:
        return texts[0]
    found = [(match[1], match[2]) if match else (text, text) for match, text in zip(named, texts, strict=True)]
    return distinct(found, "targets", "--target NAME=POLICY")


def _examination(text: str | None) -> list[float] | str | None:
    """Numbers, or else the name of a file."""
    try:
        return None if text is None else [float(word) for word in split(text)]
    except ValueError as error:
        if text is not None and "," not in text:
            return text
        raise UsageError(f"--examination {text!r}", "write numbers with commas: 1,.5,.33") from error
