"""Options that several verbs share, each named like the argument in Python, and their parsing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import offrank

from ..errors import UsageError
from ..spelling import split
from .config import COLUMNS, config_option
from .require import require

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
Callback = Callable[[click.Context, click.Parameter, Any], Any]

_NAMED = re.compile(r"^([A-Za-z][\w .-]*?)\s*=\s*(.+)$", re.DOTALL)

FILE = click.Path(dir_okay=False, writable=True)
FILE_OR_DASH = click.Path(dir_okay=False, writable=True, allow_dash=True)


def read_by(reader: Callable[[Any], Any]) -> Callback:
    """Return a callback that parses an option."""
    return lambda _context, _option, given: reader(given)


def writable(_context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse an unwritable path before anything is read, not after hours."""
    if path is not None and not os.access(Path(path).parent, os.W_OK):
        raise click.BadParameter(f"there is no folder {str(Path(path).parent)!r} to write to", param=option)
    return path


def listed(texts: tuple[str, ...]) -> list[str]:
    """Parse estimators or metrics, also several in one word: `-e "ips, clip(snips, 10)"`."""
    return [spelling for text in texts for spelling in split(text)]


def column_or_none(name: str | None) -> str | None:
    """Parse a column name; the word `none` means no column."""
    return None if name == "none" else name


def examination(text: str | None) -> list[float] | str | None:
    """Parse numbers, or otherwise the name of a file.

    Raises:
        UsageError: the numbers cannot be parsed.
    """
    try:
        return None if text is None else [float(word) for word in split(text)]
    except ValueError as error:
        if text is not None and "," not in text:
            return text
        raise UsageError(f"--examination {text!r}", "write numbers with commas: 1,.5,.33") from error


def totals(text: str | None) -> dict[str, float] | None:
    """Parse numbers by name: `clicked=1200,all=50000`.

    Raises:
        UsageError: the numbers cannot be parsed.
    """
    pairs = [part.partition("=") for part in (text or "").split(",")]
    try:
        return None if text is None else {name.strip(): float(number) for name, _, number in pairs}
    except ValueError as error:
        raise UsageError(f"--totals {text!r}", "write numbers by name: --totals clicked=1200,all=50000") from error


def named_policies(texts: tuple[str, ...]) -> Any:
    """Parse one policy, or several by name, `NAME=POLICY`; without a name, the spelling is the name.

    Raises:
        UsageError: two policies have one name.
    """
    pairs = [_named(text, text) for text in texts]
    alone = len(texts) == 1 and pairs[0][0] == texts[0]
    return texts[0] if alone else _distinct(pairs, "targets", "--target NAME=POLICY")


def named_files(texts: tuple[str, ...]) -> dict[str, str]:
    """Parse files by name, `NAME=FILE`; without a name, the file's name is used.

    Raises:
        UsageError: two files have one name.
    """
    return _distinct([_named(text, Path(text).stem) for text in texts], "models", "--model NAME=FILE")


def _named(text: str, otherwise: str) -> tuple[str, str]:
    match = _NAMED.match(text)
    return (match[1], match[2]) if match else (otherwise, text)


def _distinct(pairs: list[tuple[str, str]], what: str, remedy: str) -> dict[str, str]:
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two {what} are called {twice[0]!r}", f"give each another name: {remedy}")
    return dict(pairs)


def _columns(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Parse role -> column, from `--config` and from `--column`, which has priority."""
    pairs = [text.partition("=") for text in texts]
    for text, (role, _, name) in zip(texts, pairs, strict=True):
        if not (role and name):
            raise UsageError(f"--column {text!r}", "write --column role=name, such as --column slate=shown")
    return context.meta.get(COLUMNS, {}) | {role: name for role, _, name in pairs}


def output(metavar: str) -> Decorator:
    """Return the option of a verb's output file."""
    return click.option(
        "-o", "path", metavar=metavar, required=True, type=FILE, callback=writable, help="What to write."
    )


def confidence(level: float = 0.95) -> Decorator:
    """Return the option of the confidence level."""
    return click.option("--confidence", default=level, show_default=True, help="Level of the intervals.")


workers = click.option("--workers", type=click.IntRange(1), help="Threads; by default one per core.")
quiet = click.option("--quiet", is_flag=True, help="Print nothing but errors.")
json = click.option("--json", type=FILE_OR_DASH, callback=writable, help="Write everything for programs; -: print it.")
html = click.option("--html", type=FILE, callback=writable, help="Write a report for people.")
state = click.option("--state", type=FILE, callback=writable, help="Write what was counted, for `offrank merge`.")

logging_option = click.option("--logging", default="logged", show_default=True, help="The policy that drew the log.")
cluster_option = click.option(
    "--cluster",
    metavar="COLUMN",
    default="auto",
    show_default=True,
    callback=read_by(column_or_none),
    help="Rows with the same value depend on each other; auto: query, user or session; none: independent rows.",
)
totals_option = click.option(
    "--totals",
    metavar="clicked=N,all=N",
    callback=read_by(totals),
    help="How many impressions there were: tests the rates in `inclusion`.",
)
sessions_cluster = click.option(
    "--cluster", metavar="COLUMN", help="Sessions with the same value depend on each other."
)
models_option = click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    metavar="FILE",
    help="A click model that `clicks fit` has written, or NAME=FILE.",
)
queries_option = click.option(
    "--by",
    default="auto",
    metavar="COLUMN",
    callback=read_by(column_or_none),
    help="The queries; `query` where there is one. none: items alone.",
)
duplicates_option = click.option(
    "--duplicates",
    type=click.Choice(["raise", "first", "each"]),
    help="A document twice in a list: refuse it, count its first place, or each place.",
)
grades_option = click.option(
    "--grades-by",
    type=click.Choice(["error", "median", "majority"]),
    default="error",
    show_default=True,
    help="The grade of a document that was given several.",
)
graded_by = click.option("--by", metavar="COLUMN", help="The queries of the grades; by default those of the models.")


def with_options(*options: Decorator) -> Decorator:
    """Add these options, in this order in the help."""

    def added(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return added


written_options = with_options(
    click.argument("log"),
    config_option,
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="ROLE=NAME",
        callback=_columns,
        help="The log's name of a column.",
    ),
    click.option(
        "--format", help="parquet, arrow, csv, tsv, json, or a reader of public data: 'open_bandit(n_items=34)'."
    ),
    click.option("--gaps", type=click.Choice(["raise", "close"]), default="raise", help="Missing positions."),
    click.option("--top-k", type=click.IntRange(1), help="Keep the first slots of each slate."),
    click.option("--skip-invalid", is_flag=True, help="Leave out rows that break a rule, and count them."),
    click.option("--skip-broken-files", is_flag=True, help="Leave out files that cannot be read, and count them."),
)
"""Options of the log's location and format."""

page_options = with_options(html, click.option("--title", help="The title of the report."))
"""Options of every verb that can write a page."""

worth_options = with_options(
    click.option("--unit", metavar="WORDS", help="What is earned: 'EUR per impression'."),
    click.option("--worth", type=float, metavar="NUMBER", help="What one unit of the log is worth in it."),
)
"""Options of the name and worth of one reward unit in print and in the report."""

source_options = with_options(written_options, logging_option)
"""The same options, and the logging policy."""

strict = click.option("--strict", is_flag=True, help="Exit with 3 where a number should not be trusted.")
results_options = with_options(
    json,
    strict,
    workers,
    quiet,
)
"""Options of every verb that prints a result with its interval."""

checkpoint_options = with_options(
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        type=click.Path(file_okay=False),
        help="Keep what was counted so far, so that a run that was killed goes on.",
    ),
    click.option("--fresh", is_flag=True, help="Begin again, whatever --checkpoint has kept."),
)
"""Options of what can be taken up again."""

log_options = with_options(source_options, results_options, checkpoint_options, page_options)
"""Options of every verb that evaluates with a log."""

interval_options = with_options(
    confidence(),
    click.option(
        "--interval", default="studentised", show_default=True, help="studentised, normal, bootstrap or bernstein."
    ),
    click.option("--replicates", default=200, show_default=True, help="Replicates of the bootstrap."),
    click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap."),
    cluster_option,
    click.option("--by", metavar="COLUMN", help="A table per value of this column."),
)
"""Options of the intervals and groups."""

evaluation_options = with_options(
    log_options,
    click.option(
        "--target",
        multiple=True,
        required=True,
        callback=read_by(named_policies),
        help="A new policy: top(new_score), or NAME=POLICY.",
    ),
    click.option(
        "-e",
        "--estimator",
        "estimators",
        multiple=True,
        default=("ips", "snips"),
        callback=read_by(listed),
        help="ips, snips, interpol(window=2), clip(ips, 10) ...",
    ),
    click.option(
        "--examination",
        metavar="P,P,...|MODEL",
        callback=read_by(examination),
        help="Probability that each rank is looked at, or a click model's file.",
    ),
    interval_options,
    worth_options,
    click.option("--held-out", metavar="POLICY.NPZ", help="Read only the third of LOG that `learn` kept apart."),
    totals_option,
    require,
)
"""Options of the verbs that estimate the value of targets."""

_OURS: tuple[str, ...] = ("columns", "format", "gaps", "top_k", "duplicates", "skip_invalid", "title", "unit", "worth")
_OURS += ("skip_broken_files", "html", "json", "strict", "require", "workers", "quiet", "checkpoint", "fresh")
"""Options of the command line only: how LOG is read, and what is printed and written."""


def arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the other options: those that are keywords of the verb in Python."""
    return {name: value for name, value in options.items() if name not in _OURS}


def source(log: str, options: dict[str, Any]) -> Any:
    """Return the log that `written_options` describe."""
    how: dict[str, Any] = {
        "invalid": "skip" if options["skip_invalid"] else "raise",
        "duplicates": options.get("duplicates"),
    }
    found = offrank.read_log(log, **how, **reading_of(options))
    for what in () if options.get("quiet") else getattr(found, "left_out", ()):
        click.echo(f"left out: {what}", err=True)
    return found


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the log's format and columns as arguments of `read_log`."""
    return {name: options[name] for name in ("columns", "format", "gaps", "top_k", "skip_broken_files")}
