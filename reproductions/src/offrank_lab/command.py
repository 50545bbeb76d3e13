"""The command `offrank plan`, an entry point: importing it must load nothing heavy."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from offrank.cli.command import protected
from offrank.cli.layout import option
from offrank.cli.options import named_options, page_options, results_options
from offrank.cli.running import deliver, result_of
from offrank.cli.spelled import ColumnType, SpelledType
from offrank.cli.verb_options import Own, QuestionCommand
from offrank.language.argument import first_sentence, parameter_docs

from .planning import plan as planned

_POLICY: dict[str, Any] = {"type": SpelledType("policy"), "metavar": "POLICY"}
_OWN: Own = {
    "target": {"multiple": False},
    "production": _POLICY,
    "designs": None,  # each is an option by itself
    "relevance": {"type": ColumnType(), "metavar": "COLUMN"},
    "slots": {"type": click.IntRange(1)},
    **{name: {"type": float} for name in ("clicks", "impressions_a_day", "days")},
}
_DESIGN = option(
    "--design", "designs", multiple=True, help=first_sentence(parameter_docs(planned)["designs"]), **_POLICY
)
_ASKED: dict[str, Any] = {"verb": planned, "own": _OWN, "more": (_DESIGN,)}


@protected
@click.command(cls=QuestionCommand, before=(named_options,), after=(results_options, page_options), **_ASKED)
def plan(log: str | list[str], **options: Any) -> None:
    """What to log, so that TARGET can be judged: designs, impressions until a difference is seen, and their cost.

    LOG is a table of candidates and scores, or an old log.

    offrank plan scores.parquet --target 'top(new_score)' --production 'top(old_score)' --impressions-a-day 100000
    """
    deliver(result_of(partial(planned, log, columns=options["columns"]), None, options), options)
