"""`offrank clicks ...` and `offrank select clicks`: click models are learnt, judged, used and chosen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

import offrank

from ..language import from_text
from .layout import option
from .options import arguments, column_or_none, duplicates_option, json, page_options, quiet, read_by, source, strict
from .running import deliver, result_of, run_verb
from .verb_options import QuestionCommand

_FILE, _TABLE, _QUERIES = {"metavar": "FILE"}, {"metavar": "TABLE"}, {"callback": read_by(column_or_none)}
_MODELS = {**_FILE, "multiple": True, "callback": read_by(from_text.named_files)}
_OWN: dict[str, dict[str, Any]] = {
    "fit": {"by": _QUERIES, "path": {"metavar": "MODEL.JSON"}},
    "evaluate": {"model": _MODELS, "other": None},
    "harvest": {
        "method": {"type": click.Choice(["all_pairs", "adjacent_chain", "pivot_one"])},
        "weigh": {"type": click.Choice(["views", "equal"])},
        "by": _QUERIES,
    },
    "judge": {
        "model": None,
        "path": _TABLE,
        "format": {"metavar": "FORMAT", "use": "output"},
        "grades": {"type": click.IntRange(2)},
    },
    "predict": {"model": _FILE, "path": _TABLE},
    "select": {"model": _MODELS},
}
"""Settings of options in one verb alone; see `verb_options.options_of`."""
_AT_ONCE = (page_options, json, strict, quiet)
"""What a command prints and writes that reads once, in one thread."""


def _command(name: str, verb: str, **known: Any) -> Callable[[Callable[..., Any]], QuestionCommand]:
    """Return the decorator that makes a command of a verb of click models."""
    return click.command(name, cls=QuestionCommand, verb=f"{verb}_clicks", own=_OWN[verb], **known)


@_command("fit", "fit", more=(duplicates_option,))
def fit_clicks(log: str | list[str], **options: Any) -> None:
    """Learn a click model from LOG: slates, clicks and, best, the query.

    offrank clicks fit log.parquet --model dbn -o dbn.json
    """
    run_verb(offrank.fit_clicks, log, options)


_OOD = option("--ood", metavar="LOG", use="log", help="Another log, such as of another ranking policy: judge on both.")


@_command("evaluate", "evaluate", more=(duplicates_option, _OOD))
def evaluate_clicks(log: str | list[str], ood: str | None, **options: Any) -> None:
    """How well does each MODEL predict the clicks of LOG? Differences are to the first.

    offrank clicks evaluate log.parquet --model dbn.json --model pbm.json
    """
    run_verb(offrank.evaluate_clicks, log, options, other=None if ood is None else source(ood, options))


@_command("harvest", "harvest", more=(duplicates_option,))
def harvest_clicks(log: str | list[str], **options: Any) -> None:
    """How likely is each rank of LOG looked at? Without a model, from documents that were seen at several ranks.

    offrank clicks harvest log.parquet
    """
    run_verb(offrank.harvest_clicks, log, options)


@_command("judge", "judge", before=(click.argument("model"),), after=_AT_ONCE)
def judge_clicks(model: str, **options: Any) -> None:
    """How relevant is each document to its query, by MODEL? TABLE is .parquet or .csv, .qrels of TREC, or .json.

    offrank clicks judge dbn.json -o judgements.parquet
    """
    deliver(offrank.judge_clicks(model, **arguments(offrank.judge_clicks, options)), options)


@_command("predict", "predict", more=(duplicates_option,), after=_AT_ONCE)
def predict_clicks(log: str | list[str], **options: Any) -> None:
    """How likely is each slot of LOG clicked, by MODEL? TABLE is a .parquet or .csv.

    offrank clicks predict log.parquet --model pbm.json -o predicted.parquet
    """
    run_verb(offrank.predict_clicks, log, options)


@_command("clicks", "select", more=(duplicates_option,))
def select_clicks(log: str | list[str], **options: Any) -> None:
    """Which click MODEL will predict clicks on rankings of another policy? By perplexity, nDCG and CMIP.

    offrank select clicks log.parquet --model a.json --model b.json --labels grade --logging 'plackett_luce(score)'
    """
    result = result_of(offrank.select_clicks, log, options)
    deliver(result, options)
    if result.choice is None:
        click.echo("no model is chosen: see what convicts each", err=True)
        sys.exit(3)
