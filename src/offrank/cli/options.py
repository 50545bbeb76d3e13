"""Options that several verbs share, each named like the argument in Python, and their parsing."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import offrank

from ..errors import UsageError
from ..language import from_text
from ..language.argument import worth_of
from ..language.registry import Later
from ..log.schema import check_renamed
from .config import COLUMNS, config_option
from .layout import option
from .spelled import LogType
from .streams import echo

opening, formatting = Later("..readers.opening", __package__), Later("..language.formatting", __package__)
rules = Later("..log.rules", __package__)

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
Callback = Callable[[click.Context, click.Parameter, Any], Any]

FILE = click.Path(dir_okay=False, writable=True)
FILE_OR_DASH = click.Path(dir_okay=False, writable=True, allow_dash=True)


def read_by(reader: Callable[[Any], Any]) -> Callback:
    """Return a callback that parses an option."""
    return lambda _context, _option, given: reader(given)


def writable(_context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse an unwritable path before anything is read, not after hours."""
    if path is None or os.access(folder := Path(path).parent, os.W_OK):
        return path
    wrong = "the folder {!r} may not be written to" if folder.is_dir() else "there is no folder {!r} to write to"
    raise click.BadParameter(wrong.format(str(folder)), param=option)


def column_or_none(name: str | None) -> str | None:
    """Parse a column name; the word `none` means no column."""
    return None if name == "none" else name


def _columns(context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Parse role -> column, from `--config` and from `--column`, which has priority."""
    pairs = [text.partition("=") for text in texts]
    for text, (role, _, name) in zip(texts, pairs, strict=True):
        if not (role and name):
            raise UsageError(f"--column {text!r}", "write --column role=name, such as --column slate=shown")
    columns: dict[str, str] = context.meta.get(COLUMNS, {}) | {role: name for role, _, name in pairs}
    check_renamed(columns)
    return columns


def output(metavar: str) -> Decorator:
    """Return the option of a verb's output file."""
    known: dict[str, Any] = {"metavar": metavar, "required": True, "type": FILE, "callback": writable}
    return option("-o", "path", **known, help="The file to write.", use="output")


workers = option("--workers", type=click.IntRange(1), help="Threads; by default one per core.", use="run")
quiet = option("--quiet", is_flag=True, help="Print nothing but errors.", use="output")
json = option(
    "--json", type=FILE_OR_DASH, callback=writable, help="Write the result as JSON; -: print it.", use="output"
)
html = option("--html", type=FILE, callback=writable, help="Write the result as a page with plots.", use="output")

duplicates_option = option(
    "--duplicates",
    use="log",
    type=click.Choice(["raise", "first", "each"]),
    help="A document twice in a list: refuse it, count its first place, or each place.",
)


def with_options(*options: Decorator) -> Decorator:
    """Add these options, in this order in the help."""

    def added(command: Callable[..., None]) -> Callable[..., None]:
        for one in reversed(options):
            command = one(command)
        return command

    return added


column = option(
    "--column",
    "columns",
    use="log",
    multiple=True,
    metavar="ROLE=NAME",
    callback=_columns,
    help="The log's name of a column.",
)
named_options = with_options(
    click.argument(
        "log", nargs=-1, required=True, callback=read_by(from_text.one_or_several), type=LogType(), metavar="LOG..."
    ),
    config_option,
    column,
)
"""Options of a table, and of what its columns are called."""

written_options = with_options(
    named_options,
    option(
        "--format",
        use="log",
        help="parquet, arrow, csv, tsv, json or a reader: 'open_bandit(n_items=34)'; by default told by the contents.",
    ),
    option(
        "--gaps",
        use="log",
        type=click.Choice(["raise", "close"]),
        default="raise",
        show_default=True,
        help="Missing positions: refuse them, or move later items up.",
    ),
    option("--where", use="log", metavar="FILTER", help="Read only rows such as 'explored = true and week in (1, 2)'."),
    option("--top-k", use="log", type=click.IntRange(1), help="Keep only the first slots of each slate."),
    option("--skip-invalid", use="log", is_flag=True, help="Leave out rows that break a rule, and count them."),
    option("--skip-broken-files", use="log", is_flag=True, help="Leave out files that cannot be read, and count them."),
)
"""Options of the log's location and format."""

page_options = with_options(html, option("--title", use="output", help="The title of the page."))
"""Options of every verb that can write a page."""

worth_options = with_options(
    option("--unit", metavar="WORDS", help="The unit of the reward: 'EUR per impression'.", use="output"),
    option(
        "--worth",
        use="output",
        type=float,
        metavar="NUMBER",
        callback=read_by(lambda given: None if given is None else worth_of(given)),
        help="How much one unit of the log is worth in it.",
    ),
)
"""Options of the name and worth of one reward unit in print and in the report."""

overwrite = option(
    "--overwrite", use="output", is_flag=True, help="Replace existing files, also those that offrank did not write."
)
strict = option("--strict", use="output", is_flag=True, help="Exit with code 3 if a number should not be trusted.")
results_options = with_options(json, strict, workers, quiet)
"""Options of every verb that prints a result with its interval."""

checkpoint_options = with_options(
    option(
        "--checkpoint",
        use="run",
        metavar="FOLDER",
        type=click.Path(file_okay=False),
        help="Keep in this folder what was counted so far, so that a killed run can go on.",
    ),
    option("--fresh", use="run", is_flag=True, help="Begin again, whatever --checkpoint has kept."),
)
"""Options of what can be taken up again."""


def arguments(verb: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are arguments of a verb in Python; by columns and format LOG is open."""
    known = inspect.signature(verb).parameters
    own = options.keys() - ({"columns", "format"} if "log" in known else {"columns"})
    return {name: options[name] for name in known if name in own}


def source(log: str | list[str], options: dict[str, Any]) -> Any:
    """Return the log that `written_options` describe."""
    how: dict[str, Any] = {
        "invalid": "skip" if options["skip_invalid"] else "raise",
        "duplicates": options.get("duplicates"),
    }
    found: Any = offrank.read_log(log, **how, **reading_of(options))
    told = None if options.get("quiet") else found.description
    for what in () if told is None else told.left_out:
        if not what.startswith(rules.NO_TABLE):  # which are told together
            echo(f"left out: {what}", err=True)
    if isinstance(log, list) or os.path.isdir(log):  # noqa: PTH112  a query may be longer than any name
        tell_unread(log, options)
    if told is not None and told.layout != "none":
        echo(told.said, err=True)
    return found


def tell_unread(log: str | list[str], options: dict[str, Any]) -> None:
    """Print which files of a folder are not read."""
    unread = [] if options.get("quiet") else opening.passed_over(log, options["format"])
    if unread:
        files = formatting.plural(len(unread), "file that is no table", "files that are no tables")
        echo(f"left out: {files} of this log: {formatting.listing(unread)}", err=True)


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the log's format and columns as arguments of `read_log`."""
    return {name: options[name] for name in ("columns", "format", "gaps", "top_k", "skip_broken_files", "where")}
