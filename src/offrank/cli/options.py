"""Options that several verbs share, and how their words are read."""

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

_NAMED = re.compile(r"^([A-Za-z][\w .-]*)=(.+)$", re.DOTALL)

FILE = click.Path(dir_okay=False, writable=True)
FILE_OR_DASH = click.Path(dir_okay=False, writable=True, allow_dash=True)


def writable(_context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse a place that cannot be written to before anything is read, not after hours."""
    if path is not None and not os.access(Path(path).parent, os.W_OK):
        raise click.BadParameter(f"there is no folder {str(Path(path).parent)!r} to write to", param=option)
    return path


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where a log is, how it is written, and who drew it."""
    drawn = click.option("--logging", default="logged", show_default=True, help="The policy that drew the log.")
    return written_options(drawn(command))


def written_options(command: Callable[..., None]) -> Callable[..., None]:
    """Where a log is and how it is written."""
    return with_options(
        command,
        click.argument("log"),
        click.option("--column", "columns", multiple=True, metavar="ROLE=NAME", help="The log's name of a column."),
        click.option(
            "--format",
            "kind",
            help="parquet, arrow, csv, tsv, json, or a reader of public data: 'open_bandit(n_items=34)'.",
        ),
        click.option("--gaps", type=click.Choice(["raise", "close"]), default="raise", help="Missing positions."),
        click.option("--top-k", type=click.IntRange(1), help="Keep the first slots of each slate."),
        click.option("--skip-invalid", is_flag=True, help="Leave out rows that break a rule, and count them."),
    )


def log_options(command: Callable[..., None]) -> Callable[..., None]:
    """What every command that judges by a log takes."""
    return source_options(results_options(page_options(command)))


def cluster_option(command: Callable[..., None]) -> Callable[..., None]:
    """Which rows depend on each other."""
    option = click.option(
        "--cluster",
        metavar="COLUMN",
        default="auto",
        show_default=True,
        help="Rows with the same value depend on each other; auto: query, user or session; none: independent rows.",
    )
    return option(command)


def page_options(command: Callable[..., None]) -> Callable[..., None]:
    """What every command takes that can write a page."""
    return with_options(
        command,
        click.option("--html", type=FILE, callback=writable, help="Write a report for people."),
        click.option("--title", help="The title of the report."),
    )


def worth_options(command: Callable[..., None]) -> Callable[..., None]:
    """What one unit of the log is called, and worth, in what is printed and in the report."""
    return with_options(
        command,
        click.option("--unit", metavar="WORDS", help="What is earned: 'EUR per impression'."),
        click.option("--worth", type=float, metavar="NUMBER", help="What one unit of the log is worth in it."),
    )


def results_options(command: Callable[..., None]) -> Callable[..., None]:
    """What every command takes that prints a result with its doubt."""
    return with_options(
        command,
        click.option(
            "--json", type=FILE_OR_DASH, callback=writable, help="Write everything for programs; -: print it."
        ),
        click.option("--strict", is_flag=True, help="Exit with 3 where a number should not be trusted."),
        click.option("--workers", type=click.IntRange(1), help="Threads; by default one per core."),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    )


def with_options(command: Callable[..., None], *options: Callable[..., Any]) -> Callable[..., None]:
    """A command with these options, in this order in its help."""
    for option in reversed(options):
        command = option(command)
    return command


def listed(texts: tuple[str, ...]) -> list[str]:
    """Estimators or metrics, also where several stand in one word: `-e "ips, clip(snips, 10)"`."""
    return [spelling for text in texts for spelling in split(text)]


def named_files(texts: tuple[str, ...]) -> dict[str, str]:
    """Files by name, `NAME=FILE`; a file without a name has that of the file.

    Raises:
        UsageError: two of one name.
    """
    named = [_NAMED.match(text) for text in texts]
    pairs = zip(named, texts, strict=True)
    found = [(match[1], match[2]) if match else (Path(text).stem, text) for match, text in pairs]
    return distinct(found, "models", "--model NAME=FILE")


def distinct(pairs: list[tuple[str, Any]], what: str, remedy: str) -> dict[str, Any]:
    """A dict of pairs whose names must differ.

    Raises:
        UsageError: two of one name.
    """
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two {what} are called {twice[0]!r}", f"give each another name: {remedy}")
    return dict(pairs)


def source(log: str, options: dict[str, Any]) -> Any:
    """The log that `written_options` describe."""
    columns = dict(_pair(text) for text in options["columns"])
    invalid: Any = "skip" if options["skip_invalid"] else "raise"
    return offrank.read_log(
        log, columns, format=options["kind"], invalid=invalid, gaps=options["gaps"], top_k=options["top_k"]
    )


def _pair(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not (role and equals and name):
        raise UsageError(f"--column {text!r}", "write --column role=name, such as --column slate=shown")
    return role, name
