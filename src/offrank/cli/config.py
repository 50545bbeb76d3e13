"""`--config mapping.toml`: options of a log in a file, for every verb. The command line has priority."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..language.registry import Later
from ..wording import nearest
from .layout import option

formatting = Later("..language.formatting", __package__)

SHARED = ("columns", "format", "logging", "cluster", "skip_invalid", "skip_broken_files", "where")
"""Options that describe a log for every verb; a verb ignores those that it does not use."""
COLUMNS = "offrank.columns"
"""Where the columns of a mapping wait for those named on the command line."""
CONFIG = "offrank.config"
"""Where the path of the mapping waits for the check of what is written."""


def config_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option that reads options from a file, by their names without leading dashes."""
    adds = option(
        "--config",
        use="log",
        type=click.Path(dir_okay=False),
        metavar="MAPPING.TOML",
        is_eager=True,
        expose_value=False,
        callback=_read,
        help="Options from a file, as `offrank inspect --save` writes; options of the command line have priority.",
    )
    return adds(command)


def _read(context: click.Context, _option: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    context.meta[CONFIG] = path
    named = formatting.printable(path)
    try:
        said = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise click.BadParameter(f"{named} cannot be read as TOML: {reason}") from error
    options = {_key(option): option for option in context.command.params if isinstance(option, click.Option)}
    known = sorted({*SHARED, *options} - {"config", "save"} - {"column"})
    for key in said:
        if key not in known:
            near = nearest(key, known)
            hint = f"; did you mean {near}?" if near else ""
            raise click.BadParameter(f"{named}: unknown key {key!r}{hint} Known are {', '.join(known)}.")
    columns = said.pop("columns", {})
    if not (isinstance(columns, dict) and all(isinstance(name, str) for name in columns.values())):
        raise click.BadParameter(
            f'{named}: columns is {columns!r}; write a table of names: columns = {{slate = "shown"}}'
        )
    context.meta[COLUMNS] = columns
    given = {options[key]: value for key, value in said.items() if key in options}
    context.default_map = {str(option.name): _value(context, option, value, named) for option, value in given.items()}


def _key(option: click.Option) -> str:
    """Return the name of an option in a mapping: `--skip-invalid` is skip_invalid."""
    return max(option.opts, key=len).lstrip("-").replace("-", "_")


def _value(context: click.Context, option: click.Option, value: Any, path: str) -> Any:
    every = value if isinstance(value, list) else [value]
    known = (bool,) if option.is_flag else (str, int, float)
    if not all(isinstance(one, known) for one in every) or (isinstance(value, list) and not option.multiple):
        kind = "true or false" if option.is_flag else "one text, number or true or false"
        raise click.BadParameter(f"{path}: {_key(option)} is {value!r}; write {kind}")
    try:
        option.type_cast_value(context, every if option.multiple else value)
    except (click.BadParameter, OverflowError) as error:  # of an infinite number as a whole one
        wrong = getattr(error, "message", error)
        raise click.BadParameter(f"{wrong} [{path}]", context, option) from error
    return every if option.multiple else value
