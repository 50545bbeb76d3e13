"""Verbs that make something: convert, learn, demo, reproduce."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

import offrank

from .options import FILE, source, source_options, writable, written_options
from .running import reading, safely


@click.command()
@written_options
@click.option(
    "-o", "path", metavar="LOG.PARQUET|LOG.ARROW", required=True, type=FILE, callback=writable, help="What to write."
)
@click.option("--score", "scores", multiple=True, metavar="NAME", help="A score of the long layout; no other needs it.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@safely
def convert(log: str, path: str, scores: tuple[str, ...], **options: Any) -> None:
    """Write LOG once as Parquet (small) or Arrow (large, quickest to read) in the wide layout.

    offrank convert banners.txt.gz --format criteo_paper -o banners.parquet
    """
    with reading(options | {"workers": None}) as (progress, _):
        made = offrank.convert(source(log, options), path, scores=scores, progress=progress)
    if not options["quiet"]:
        click.echo(str(made))


@click.command()
@click.argument("method")
@source_options
@click.option("-o", "path", metavar="POLICY.NPZ", required=True, help="The file to write.")
@click.option("--criterion", default="ips", show_default=True, help="Choose settings by ips, snips or lower.")
@click.option("--split", default="turn", show_default=True, help="Thirds by rows in turn, or by hash.")
@click.option("--interactions", is_flag=True, help="Cross the context's features with the candidates'.")
@click.option("--epochs", type=click.IntRange(1), help="The most passes; by default the method's own.")
@click.option("--bits", default=20, show_default=True, help="Weights are a table of 2^bits.")
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same policy.")
@click.option("--html", type=FILE, callback=writable, help="Write a report for people.")
@click.option("--workers", type=click.IntRange(1), help="Threads; by default one per core.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@safely
def learn(method: str, log: str, path: str, **options: Any) -> None:
    """Learn a linear policy from a third of LOG, choose by another third, judge by the last.

    METHOD is random, regression, ips, dro, poem, snpoem, dr-poem or plackett-luce. LOG has a column `features`.

    offrank learn poem log.parquet -o policy.npz
    """
    how = ("logging", "criterion", "split", "interactions", "epochs", "bits", "confidence", "seed")
    say = len if options["quiet"] else partial(click.echo, err=True)
    with reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress, "say": say}
        made = offrank.learn(method, source(log, options), path, **given)
    if options["html"]:
        made.save_html(options["html"])
    if not options["quiet"]:
        click.echo(str(made), nl=False)


@click.command()
@click.argument("folder", default="offrank-demo")
@click.option("--impressions", default=200_000, show_default=True, type=click.IntRange(1000))
@click.option("--seed", default=7, show_default=True)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@safely
def demo(folder: str, impressions: int, seed: int, quiet: bool) -> None:
    """See what offrank is for: simulate a log into FOLDER, check it, judge a better and a worse ranker."""
    say = len if quiet else partial(click.echo, err=True)
    with reading({"quiet": quiet, "workers": None}) as (progress, _):
        made = offrank.demo(folder, impressions=impressions, seed=seed, say=say, progress=progress)
    if not quiet:
        click.echo(str(made), nl=False)


@click.command()
@click.argument("name")
@click.argument("log", required=False)
@click.option("--format", "kind", help="Of LOG, such as criteo_paper; else by suffix.")
@click.option("-o", "folder", metavar="FOLDER", help="Where to write; by default reproduce-NAME.")
@click.option("--scale", default="full", show_default=True, help="full (1), the published size; small; or a number.")
@click.option("--seed", default=4, show_default=True)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@safely
def reproduce(
    name: str, log: str | None, kind: str | None, folder: str | None, scale: str, seed: int, quiet: bool
) -> None:
    """Reproduce a paper: its tables, pictures and claims beside what is found here.

    NAME is interpol (windows between two click models), non-shuffled (ranking metrics on non-shuffled traffic),
    slates-math (the pseudoinverse estimator of slates), criteo-checks (propensities by number of slots),
    criteo-learning (learning from one-slot banners) or cmip (debiasedness of click models; cmip-published-code as
    its code has it). The criteo ones are of LOG, and cmip of judged queries (an MSLR fold, an SVMlight file), or of
    simulated ones. Interrupted, cmip goes on where it was when it is called again.
    """
    say = len if quiet else partial(click.echo, err=True)
    given = log if log is None or kind is None else offrank.read_log(log, format=kind)
    made = offrank.reproduce(name, folder, log=given, scale=scale, seed=seed, say=say)
    if not quiet:
        click.echo(str(made))
