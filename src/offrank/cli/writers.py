"""The verbs that write a log, a policy, a query or a state: `convert`, `simulate`, `demo`, `learn`, `sql`, `merge`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import (
    FILE,
    arguments,
    column,
    html,
    json,
    output,
    overwrite,
    page_options,
    quiet,
    results_options,
    strict,
    with_options,
    worth_options,
    writable,
    written_options,
)
from .running import be_strict, deliver, require, result_of, saying, tell
from .spelled import SpelledType
from .streams import echo
from .verb_options import QuestionCommand


@command()
@written_options
@output("LOG.PARQUET|LOG.ARROW")
@option("--score", "scores", multiple=True, metavar="NAME", help="A score of the long layout; no other needs it.")
@quiet
def convert(log: str | list[str], **options: Any) -> None:
    """Write LOG once as Parquet (small) or Arrow (large, quickest to read) in the wide layout.

    offrank convert banners.txt.gz --format criteo_paper -o banners.parquet
    """
    made = result_of(offrank.convert, log, options)
    if not options["quiet"]:
        echo(str(made))


_COUNT = {"type": click.IntRange(1)}
_DRAWN = {"type": click.IntRange(0), "use": "question"}
_WORLD = {
    "path": {"metavar": "LOG.PARQUET|LOG.ARROW"},
    **dict.fromkeys(("sessions", "queries", "documents"), _COUNT),
    "data": {"metavar": "PATH"},
    "qrels": {"metavar": "PATH"},
    "slots": {"show_default": False},
    **dict.fromkeys(("seed", "world_seed"), _DRAWN),
}


@click.command(cls=QuestionCommand, verb="simulate", own=_WORLD, before=(), after=(json, quiet))
def simulate(**options: Any) -> None:
    """Write a log of a world whose truth is known: judged queries, a ranker that draws, a user who clicks.

    offrank simulate -o log.parquet --user dbn --sessions 1000000
    """
    made = result_of(offrank.simulate, None, options, say=saying(options))
    tell(made, options)


@command()
@click.argument("folder", default="offrank-demo")
@option("--impressions", default=200_000, show_default=True, type=click.IntRange(1000))
@option("--seed", default=7, show_default=True)
@overwrite
@quiet
def demo(**options: Any) -> None:
    """See what offrank is for: simulate a log into FOLDER, check it, judge a better and a worse ranker."""
    made = result_of(offrank.demo, None, options, say=saying(options), style="command line")
    tell(made, options)


_POLICY = {"path": {"metavar": "POLICY.NPZ"}, "test": None, "seed": {"use": "question"}}


@click.command(cls=QuestionCommand, verb="learn", own=_POLICY, after=(results_options, html))
def learn(log: str | list[str], **options: Any) -> None:
    """Learn a policy from a third of LOG, choose by another third, judge by the last.

    The last third says "better than the logged policy with probability 0.95", or "do not ship". LOG has a
    column `features`.

    offrank learn log.parquet --method poem -o policy.npz
    """
    made = result_of(offrank.learn, log, options, say=saying(options))
    tell(made, options)
    be_strict(made.usable, options)


@click.command(cls=QuestionCommand, verb="sql", own={"table": None}, before=(click.argument("table"), column), after=())
def sql(table: str, **options: Any) -> None:
    """Print the query by which a warehouse makes the sums of a question from TABLE; `offrank merge` reads its result.

    offrank sql logs --target 'written(slate=new_p)' --cluster user --dialect postgres > sums.sql
    """
    echo(offrank.sql(table, columns=options["columns"] or None, **arguments(offrank.sql, options)))


_OF_DAYS = "Another kind of interval than that of the states: anytime, the default of several days, or studentised."


@command()
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@option("--interval", use="uncertainty", type=SpelledType("kind of interval"), metavar="KIND", help=_OF_DAYS)
@option("--state", use="output", type=FILE, callback=writable, help="Write the merged state, to be merged again.")
@with_options(json, strict, require, quiet, page_options, worth_options)
def merge(states: tuple[str, ...], **options: Any) -> None:
    """One result from the STATEs that `evaluate` or `compare` has written with --state, such as a week from its days.

    A STATE may be the table of sums that the query of `offrank sql` has made.

    offrank merge monday.state tuesday.state --html week.html
    """
    given = {name: options[name] for name in ("interval", "state", "overwrite")}
    deliver(offrank.merge(states, **given), options)
