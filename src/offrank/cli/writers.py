"""The verbs that write a log, a policy or a state: `convert`, `simulate`, `demo`, `learn` and `merge`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import (
    FILE,
    confidence,
    html,
    json,
    output,
    overwrite,
    page_options,
    quiet,
    results_options,
    source_options,
    strict,
    with_options,
    worth_options,
    writable,
    written_options,
)
from .running import be_strict, deliver, require, result_of, saying, tell
from .streams import echo


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


@command()
@output("LOG.PARQUET|LOG.ARROW")
@option("--sessions", default=100_000, show_default=True, type=click.IntRange(1), help="How many.")
@option(
    "--user",
    default="pbm",
    show_default=True,
    help="dbn(gamma=0.9), carousel, trust ...; or a fitted model's file, M.json.",
)
@option(
    "--ranker",
    "rankers",
    multiple=True,
    default=["noisy_oracle"],
    show_default=True,
    help="lambdamart, noisy_oracle, uniform, lasso or tree; the first draws the log.",
)
@option("--temperature", default=0.1, show_default=True, help="Of Plackett-Luce; 0 sorts by score.")
@option("--data", default="generated", show_default=True, metavar="PATH", help="Judged queries in SVMlight.")
@option("--qrels", metavar="PATH", help="Judgments of TREC; --data is then a run of TREC.")
@option("--queries", type=click.IntRange(1), help="How many; by default all, or 1000 generated.")
@option("--documents", type=click.IntRange(1), help="Per query; by default 10, and 25 for a carousel.")
@option("--slots", default=0, help="How many are shown; by default all.")
@option(
    "--preset",
    type=click.Choice(["paper", "published-code"]),
    default="paper",
    show_default=True,
    help="Of everything.",
)
@option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the sessions.")
@option("--world-seed", default=0, show_default=True, type=click.IntRange(0), help="Of documents and rankers.")
@json
@quiet
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


@command()
@source_options
@option(
    "--method",
    required=True,
    help="random, regression, ips, dro, poem, snpoem, dr-poem, plackett-luce or pl-rank (linear); pi-opt, sup or "
    "lambdamart (boosted trees).",
)
@output("POLICY.NPZ")
@option("--criterion", help="Choose settings by ips, snips, lower, pi (default of pi-opt) or ipm (of pl-rank).")
@option("--labels", metavar="COLUMN", help="Grades beside the candidates, for sup and lambdamart.")
@option("--split", default="turn", show_default=True, help="Thirds by rows in turn, or by hash.")
@option("--interactions", is_flag=True, help="Cross the context's features with the candidates'.")
@option("--epochs", type=click.IntRange(1), help="The most passes; by default the method's own.")
@option("--bits", default=20, show_default=True, help="Weights are a table of 2^bits.")
@confidence()
@option("--seed", default=0, show_default=True, help="The same seed gives the same policy.")
@results_options
@html
def learn(log: str | list[str], **options: Any) -> None:
    """Learn a policy from a third of LOG, choose by another third, judge by the last.

    The last third says "better than the logged policy with probability 0.95", or "do not ship". LOG has a
    column `features`.

    offrank learn log.parquet --method poem -o policy.npz
    """
    made = result_of(offrank.learn, log, options, say=saying(options))
    tell(made, options)
    be_strict(made.usable, options)


@command()
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@option("--state", use="output", type=FILE, callback=writable, help="Write the merged state, to be merged again.")
@with_options(json, strict, require, quiet, page_options, worth_options)
def merge(states: tuple[str, ...], **options: Any) -> None:
    """One result from the STATEs that `evaluate` or `compare` has written with --state, such as a week from its days.

    offrank merge monday.state tuesday.state --html week.html
    """
    deliver(offrank.merge(states, state=options["state"], overwrite=options["overwrite"]), options)
