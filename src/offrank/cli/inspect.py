"""`offrank inspect`; with --ask, what is open about a table is asked of the person who sits there, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

import offrank

from .layout import command, option
from .options import FILE, json, quiet, read_by, reading_of, tell_unread, workers, writable, written_options
from .running import tell, working
from .spelled import SpelledType
from .streams import echo

_OTHER = "another column"


Look = Callable[[Mapping[str, str], str | None], Any]
"""Looks at a table by role -> column, and by the policy that drew it."""
_OPEN = "not contradicted", "unknown"


def settled(inspect: Look, said: Mapping[str, str]) -> Any:
    """Return the inspection of a table, after what is open was asked for. said: role -> column, as said before."""
    columns = dict(said)
    found = inspect(columns, None)
    while found.unsettled:
        columns |= _answer(found, found.unsettled[0])
        found = inspect(columns, None)
    by = found.logging
    if by is None or by.policy is None or by.status not in _OPEN:
        return found
    return inspect(columns, by.policy) if click.confirm(f"Did {by.policy} generate this log?") else found


def _answer(found: Any, asked: Any) -> Mapping[str, str]:
    """Ask one question, and return role -> column."""
    echo(f"It is not clear {asked.what}.")
    options = asked.columns
    said = [", ".join(f"{role} = {column}" for role, column in one.items()) for one in options]
    for number, words in enumerate([*said, _OTHER], 1):
        echo(f"  {number}  {words}")
    number = click.prompt("Which is it?", type=click.IntRange(1, len(options) + 1), default=1)
    if number <= len(options):
        return options[number - 1]
    role = next(iter(options[0]))
    columns = (column.name for column in found.columns)
    names = {name if name.isprintable() else repr(name): name for name in columns}  # which tells all of them apart
    return {role: names[click.prompt(f"Which column is the {role}?", type=click.Choice(list(names)))]}


def _bytes_or_none(text: str | None) -> dict[str, int | None]:
    """Return the argument that a number of bytes gives, where it was said; the word `none` means that there is none."""
    return {} if text is None else {"sample_above": None if text == "none" else click.INT(text)}


@command()
@written_options
@option("--save", use="output", metavar="MAPPING.TOML", type=FILE, callback=writable, help="Write a file for --config.")
@option(
    "--logging", metavar="POLICY", type=SpelledType("policy"), help="The policy that drew the log, where you know it."
)
@option(
    "--sample-above",
    use="log",
    metavar="BYTES",
    callback=read_by(_bytes_or_none),
    help="Files of more bytes, by default 268 MB, are described from a sample; none: all rows are read.",
)
@option("--ask", is_flag=True, help="Ask about what is not clear, one question at a time.")
@json
@workers
@quiet
def inspect(log: str | list[str], **options: Any) -> None:
    """How the table is read, whether it is random, and which command comes next.

    offrank inspect log.parquet --save mapping.toml
    """
    how = reading_of(options)
    tell_unread(log, options)

    def look(columns: Mapping[str, str], logging: str | None) -> Any:
        asked = how | {"columns": columns, "logging": logging, **options["sample_above"]}
        with working(options) as (progress, executor, _):
            return offrank.inspect(log, **asked, executor=executor, progress=progress)

    found = settled(look, how["columns"]) if options["ask"] else look(how["columns"], options["logging"])
    tell(found, options)
    if options["save"]:
        found.save(options["save"], options["overwrite"])
        if found.command and not options["quiet"] and options["json"] != "-":
            echo(f"or, by what was saved,\n  {found.command_with(options['save'])}")
