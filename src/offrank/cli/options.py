"""Options that several verbs share, each named like the argument in Python, and their parsing."""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import offrank

from ..argument import Argument, Arguments, arguments_of
from ..errors import UsageError
from .config import COLUMNS, config_option

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


def one_or_several(paths: tuple[str, ...]) -> str | list[str]:
    """Return the only path, or all of them: files of one log, or its impressions and the clicks on them."""
    return paths[0] if len(paths) == 1 else list(paths)


def options_of(kind: type[Arguments]) -> Decorator:
    """Return the options of a verb's arguments, one for each field."""
    known, fields = arguments_of(kind), {one.name: one for one in dataclasses.fields(kind)}
    return with_options(*(_option(fields[name], one) for name, one in known.items() if one.part != "run"))


def _option(field: dataclasses.Field[Any], known: Argument) -> Decorator:
    required, default = field.default is dataclasses.MISSING, field.default
    settings: dict[str, Any] = {"help": known.says, "metavar": known.metavar, "type": known.type}
    settings |= {"multiple": known.many, "required": required}
    if not required:
        settings |= {"default": default, "show_default": not known.many and default is not None}
    if default is False:
        settings["is_flag"] = True
    if known.read is not None:
        settings["callback"] = read_by(known.read)
    if known.output:
        settings |= {"type": FILE, "callback": writable}
    flags = known.flags or (f"--{field.name.replace('_', '-')}",)
    return click.option(*flags, field.name, **settings)


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

logging_option = click.option("--logging", default="logged", show_default=True, help="The policy that drew the log.")
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
    click.argument("log", nargs=-1, required=True, callback=read_by(one_or_several), metavar="LOG..."),
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

overwrite = click.option(
    "--overwrite", is_flag=True, help="Replace files that are there, also those that offrank did not write."
)
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


class QuestionCommand(click.Command):
    """A verb whose options are the arguments of a question, made when first needed: that imports what it evaluates by.

    question: `module:class` in offrank. more: options of the command line only.
    """

    def __init__(self, *given: Any, question: str, more: tuple[Decorator, ...] = (), **known: Any) -> None:
        self._made: list[click.Parameter] | None = None
        self._question, self._more = question, more
        super().__init__(*given, **known)

    @property
    def params(self) -> list[click.Parameter]:
        """The options: the log's location, what is asked, and what is written."""
        if self._made is None:
            module, name = self._question.split(":")
            asked = options_of(getattr(importlib.import_module(f"offrank.{module}"), name))
            last = (results_options, checkpoint_options, page_options, overwrite)
            self._made = _made_by(written_options, asked, *self._more, *last)
        return self._made

    @params.setter
    def params(self, _given: list[click.Parameter]) -> None:
        """Ignore what a decorator gives: there is none."""


def _made_by(*options: Decorator) -> list[click.Parameter]:
    """Return the options that these decorators add to a command."""

    def command() -> None: ...

    with_options(*options)(command)
    return command.__click_params__[::-1]  # type: ignore[attr-defined]


_OURS: tuple[str, ...] = ("columns", "format", "gaps", "top_k", "duplicates", "skip_invalid", "title", "unit", "worth")
_OURS += ("skip_broken_files", "html", "json", "strict", "require", "workers", "quiet", "checkpoint", "fresh")
"""Options of the command line only: how LOG is read, and what is printed and written."""
_WRITTEN = {"path", "state", "folder"}
"""What a verb writes by itself in Python too, and may be told to overwrite."""


def arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the other options: those that are keywords of the verb in Python."""
    left_out = _OURS if options.keys() & _WRITTEN else (*_OURS, "overwrite")
    return {name: value for name, value in options.items() if name not in left_out}


def source(log: str | list[str], options: dict[str, Any]) -> Any:
    """Return the log that `written_options` describe."""
    how: dict[str, Any] = {
        "invalid": "skip" if options["skip_invalid"] else "raise",
        "duplicates": options.get("duplicates"),
    }
    found = offrank.read_log(log, **how, **reading_of(options))
    for what in () if options.get("quiet") else getattr(found, "left_out", ()):
        click.echo(f"left out: {what}", err=True)
    described = getattr(found, "description", None)
    if described is not None and not options.get("quiet"):
        click.echo(described.said, err=True)
    return found


def reading_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the log's format and columns as arguments of `read_log`."""
    return {name: options[name] for name in ("columns", "format", "gaps", "top_k", "skip_broken_files")}
