"""The command line: the same words as in Python.

Exit codes: 0 fine, 1 error, 2 usage, 3 not to be trusted (with --strict).
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

import offrank

from .log.errors import OffrankError, UsageError

_FILE = click.Path(dir_okay=False, writable=True)
_NAMED = re.compile(r"^([A-Za-z][\w-]*)\s*=\s*(.+)$", re.DOTALL)


class _Group(click.Group):
    """Remembers the words that it was called with, for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["offrank.words"] = list(args)
        return super().parse_args(ctx, args)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(offrank.__version__, prog_name="offrank")
def main() -> None:
    """What would a new ranking have earned, judged from the logs you already have?"""


def _safely(command: Callable[..., None]) -> Callable[..., None]:
    """Errors as one message and an exit code, without a traceback."""

    @wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except OffrankError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(2 if isinstance(error, UsageError) else 1)
        except BrokenPipeError:
            raise  # the reader of the output has left: nothing to tell it
        except OSError as error:
            click.echo(f"error: {error.filename or 'input or output'}: {error.strerror or error}", err=True)
            sys.exit(1)
        except KeyboardInterrupt:
            click.echo("interrupted; nothing was left half-written", err=True)
            sys.exit(130)

    return guarded


def _writable(_context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse a place that cannot be written to before anything is read, not after hours."""
    if path is not None and not os.access(Path(path).parent, os.W_OK):
        raise click.BadParameter(f"there is no folder {str(Path(path).parent)!r} to write to", param=option)
    return path


def _source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where a log is, how it is written, and who drew it."""
    drawn = click.option("--logging", default="logged", show_default=True, help="The policy that drew the log.")
    return _written_options(drawn(command))


def _written_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where a log is and how it is written."""
    return _with(
        command,
        click.argument("log"),
        click.option("--column", "columns", multiple=True, metavar="ROLE=NAME", help="The log's name of a column."),
        click.option("--format", "kind", help="parquet, arrow, csv, criteo, criteo_paper, open_bandit or yandex."),
        click.option("--skip-invalid", is_flag=True, help="Leave out rows that break a rule, and count them."),
    )


def _log_options(command: Callable[..., None]) -> Callable[..., None]:
    """What every command that judges by a log takes."""
    judged = _with(
        command,
        click.option("--html", type=_FILE, callback=_writable, help="Write a report for people."),
        click.option("--json", type=_FILE, callback=_writable, help="Write everything for programs."),
        click.option("--strict", is_flag=True, help="Exit with 3 where a number should not be trusted."),
        click.option("--workers", type=click.IntRange(1), help="Threads; by default one per core."),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    )
    return _source_options(judged)


def _with(command: Callable[..., None], *options: Callable[..., Any]) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command


@main.command()
@_log_options
@click.option("--target", "targets", multiple=True, required=True, help="A new policy: top(new_score), or NAME=POLICY.")
@click.option(
    "-e", "--estimator", "estimators", multiple=True, help="ips, snips, interpol(window=2), clip(ips, 10) ..."
)
@click.option("--examination", metavar="P,P,...", help="Probability that each rank is looked at, for pbm and interpol.")
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--interval", default="normal", show_default=True, help="normal, bootstrap or bernstein.")
@click.option("--replicates", default=200, show_default=True, help="Replicates of the bootstrap.")
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--cluster", metavar="COLUMN", help="Rows with the same value depend on each other.")
@click.option("--by", metavar="COLUMN", help="A table per value of this column.")
@_safely
def evaluate(log: str, targets: tuple[str, ...], estimators: tuple[str, ...], **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    with _reading(options) as (progress, executor):
        result = offrank.evaluate(
            _source(log, options),
            _targets(targets),
            options["logging"],
            _listed(estimators) or ("ips", "snips"),
            examination=_examination(options["examination"]),
            confidence=options["confidence"],
            interval=options["interval"],
            cluster=options["cluster"],
            by=options["by"],
            replicates=options["replicates"],
            seed=options["seed"],
            executor=executor,
            progress=progress,
        )
    _deliver(result, options)


@main.command()
@_log_options
@click.option("--target", help="A policy whose support in the log is of interest.")
@click.option("--confidence", default=0.99, show_default=True, help="Level of the intervals.")
@_safely
def check(log: str, target: str | None, confidence: float, **options: Any) -> None:
    """Is LOG fit to judge other rankings by? Propensities, weights, support, sub-sampling."""
    with _reading(options) as (progress, executor):
        result = offrank.check(
            _source(log, options),
            options["logging"],
            target,
            confidence=confidence,
            executor=executor,
            progress=progress,
        )
    _deliver(result, options)


@main.command()
@_log_options
@click.option("--model", "models", multiple=True, required=True, help="A score column; differences are to the first.")
@click.option(
    "-m", "--metric", "names", multiple=True, help="counterfactual_disagreement, pairwise_loss, banner_ndcg ..."
)
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--interval", default="normal", show_default=True, help="normal, bootstrap or bernstein.")
@click.option("--cluster", metavar="COLUMN", help="Rows with the same value depend on each other.")
@click.option("--by", metavar="COLUMN", help="Rows per value of this column.")
@_safely
def metrics(log: str, models: tuple[str, ...], names: tuple[str, ...], **options: Any) -> None:
    """Which MODEL agrees best with the clicks of LOG, whatever stood at the top?

    offrank metrics log.parquet --model new_score --model old_score --logging 'plackett_luce(old_score)'
    """
    with _reading(options) as (progress, executor):
        result = offrank.measure(
            _source(log, options),
            models,
            options["logging"],
            _listed(names) or ["counterfactual_disagreement"],
            confidence=options["confidence"],
            interval=options["interval"],
            cluster=options["cluster"],
            by=options["by"],
            executor=executor,
            progress=progress,
        )
    _deliver(result, options)


@main.command()
@_written_options
@click.option(
    "-o", "path", metavar="LOG.PARQUET|LOG.ARROW", required=True, type=_FILE, callback=_writable, help="What to write."
)
@click.option("--score", "scores", multiple=True, metavar="NAME", help="A score of the long layout; no other needs it.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@_safely
def convert(log: str, path: str, scores: tuple[str, ...], **options: Any) -> None:
    """Write LOG once as Parquet (small) or Arrow (large, quickest to read) in the wide layout.

    offrank convert banners.txt.gz --format criteo_paper -o banners.parquet
    """
    with _reading(options | {"workers": None}) as (progress, _):
        made = offrank.convert(_source(log, options), path, scores=scores, progress=progress)
    if not options["quiet"]:
        click.echo(str(made))


@main.command()
@click.argument("method")
@_source_options
@click.option("-o", "path", metavar="POLICY.NPZ", required=True, help="The file to write.")
@click.option("--criterion", default="ips", show_default=True, help="Choose settings by ips, snips or lower.")
@click.option("--split", default="turn", show_default=True, help="Thirds by rows in turn, or by hash.")
@click.option("--interactions", is_flag=True, help="Cross the context's features with the candidates'.")
@click.option("--epochs", type=click.IntRange(1), help="The most passes; by default the method's own.")
@click.option("--bits", default=20, show_default=True, help="Weights are a table of 2^bits.")
@click.option("--confidence", default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same policy.")
@click.option("--workers", type=click.IntRange(1), help="Threads; by default one per core.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@_safely
def learn(method: str, log: str, path: str, **options: Any) -> None:
    """Learn a linear policy from a third of LOG, choose by another third, judge by the last.

    METHOD is random, regression, ips, dro, poem, snpoem, dr-poem or plackett-luce. LOG has a column `features`.

    offrank learn poem log.parquet -o policy.npz
    """
    how = ("logging", "criterion", "split", "interactions", "epochs", "bits", "confidence", "seed")
    say = len if options["quiet"] else partial(click.echo, err=True)
    with _reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress, "say": say}
        made = offrank.learn(method, _source(log, options), path, **given)
    if not options["quiet"]:
        click.echo(str(made))
        if made.tested is not None:
            made.tested.show()


@main.command()
@click.argument("folder", default="offrank-demo")
@click.option("--impressions", default=200_000, show_default=True, type=click.IntRange(1000))
@click.option("--seed", default=7, show_default=True)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@_safely
def demo(folder: str, impressions: int, seed: int, quiet: bool) -> None:
    """See what offrank is for: simulate a log into FOLDER, check it, judge a better and a worse ranker."""
    say = len if quiet else partial(click.echo, err=True)
    with _reading({"quiet": quiet, "workers": None}) as (progress, _):
        made = offrank.demo(folder, impressions=impressions, seed=seed, say=say, progress=progress)
    if not quiet:
        made.evaluated.show()
        click.echo(f"\nThe report: {made.report}\nTry it yourself:")
        for line in made.next_steps:
            click.echo(f"  {line}")


@main.command()
@click.argument("name")
@click.argument("log", required=False)
@click.option("--format", "kind", help="Of LOG, such as criteo_paper; else by suffix.")
@click.option("-o", "folder", metavar="FOLDER", help="Where to write; by default reproduce-NAME.")
@click.option("--scale", default=1.0, show_default=True, help="1 for the published size, less for a quick look.")
@click.option("--seed", default=4, show_default=True)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@_safely
def reproduce(
    name: str, log: str | None, kind: str | None, folder: str | None, scale: float, seed: int, quiet: bool
) -> None:
    """Reproduce a paper: its tables, pictures and claims beside what is found here.

    NAME is interpol (windows between two click models), non-shuffled (ranking metrics on non-shuffled traffic),
    slates-math (the pseudoinverse estimator of slates), criteo-checks (propensities by number of slots) or
    criteo-learning (learning from one-slot banners); the last two on LOG, or on a simulated one.
    """
    say = len if quiet else partial(click.echo, err=True)
    given = None if log is None else offrank.read_log(log, format=kind)
    made = offrank.reproduce(name, folder, log=given, scale=scale, seed=seed, say=say)
    if not quiet:
        click.echo(str(made))


def _listed(texts: tuple[str, ...]) -> list[str]:
    """Estimators or metrics, also where several stand in one word: `-e ips,snips`."""
    return [word.strip() for text in texts for word in re.split(r",(?![^(\[]*[)\]])", text) if word.strip()]


def _source(log: str, options: dict[str, Any]) -> Any:
    columns = dict(_pair(text) for text in options["columns"])
    return offrank.read_log(
        log, columns, format=options["kind"], invalid="skip" if options["skip_invalid"] else "raise"
    )


def _pair(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not (role and equals and name):
        raise UsageError(f"--column {text!r}", "write --column role=name, such as --column slate=shown")
    return role, name


def _targets(texts: tuple[str, ...]) -> Any:
    named = [_NAMED.match(text) for text in texts]
    if len(texts) == 1 and named[0] is None:
        return texts[0]
    found = [(match[1], match[2]) if match else (text, text) for match, text in zip(named, texts, strict=True)]
    names = [name for name, _ in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two targets are called {twice[0]!r}", "give each another name: --target NAME=POLICY")
    return dict(found)


def _examination(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(word) for word in text.split(",")]
    except ValueError as error:
        raise UsageError(f"--examination {text!r}", "write numbers with commas: 1,.5,.33") from error


@contextmanager
def _reading(options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """A progress bar on a terminal, and the executor that was asked for."""
    from concurrent.futures import ThreadPoolExecutor

    from rich.console import Console
    from rich.progress import Progress

    executor = ThreadPoolExecutor(options["workers"]) if options["workers"] else None
    try:
        if options["quiet"] or not sys.stderr.isatty():
            yield None, executor
            return
        with Progress(console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task("reading", total=None)
            yield (lambda done, total: bars.update(task, completed=done, total=total)), executor
    finally:
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


def _deliver(result: Any, options: dict[str, Any]) -> None:
    """Print, write, and exit with what the result is worth."""
    words = click.get_current_context().meta["offrank.words"]
    result = result.with_facts(command=shlex.join(["offrank", *words]))
    if not options["quiet"]:
        result.show()
    if options["html"]:
        result.save_html(options["html"])
    if options["json"]:
        result.to_json(options["json"])
    if refused := _refusals(result):
        click.echo("\n".join(refused), err=True)
        sys.exit(1)
    if options["strict"] and not result.trustworthy:
        click.echo("not to be trusted: see the serious warnings above (--strict)", err=True)
        sys.exit(3)


def _refusals(result: Any) -> list[str]:
    """Estimates that were asked for and cannot be given; a check has found that out, not failed."""
    if result.facts.get("kind") == "check":
        return []
    refused = list(result.estimates.refused.values())
    remedies = dict.fromkeys(f"  what to do: {error.remedy}" for error in refused)
    return [*(f"error: {error.message}" for error in refused), *remedies]
