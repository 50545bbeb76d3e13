"""`inspect --ask`: what is open about a table is asked of the person who sits there, one question at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

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
