"""Names of options in messages: remedies name an argument in Python, an option on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

Say = Callable[[str], object]
"""A function called with a description of each step."""

_ASKED: list[str] = []
"""The interface in use, for the whole process, since any of its threads may raise errors. Empty: Python."""


@contextmanager
def command_line() -> Iterator[None]:
    """Within this context, messages are written for the command line."""
    _ASKED.append("command line")
    try:
        yield
    finally:
        _ASKED.pop()


def option(name: str, value: object = ...) -> str:
    """Format an option with its value: `interval="bootstrap"`, or `--interval bootstrap`; without, `interval=`."""
    if not _ASKED:
        return f"{name}=" if value is ... else f"{name}={value!r}".replace("'", '"')
    flag = f"--{name.replace('_', '-')}"
    if value is ...:
        return flag
    text = ",".join(f"{one:g}" for one in value) if isinstance(value, list | tuple) else str(value)
    if isinstance(value, dict):
        text = ",".join(f"{key}={one}" for key, one in value.items())
    text = "none" if value is None else text
    return f"{flag} {_quoted(text)}"


def estimator(spelled: str) -> str:
    """Format an estimator: `"clip(ips, 100)"`, or `-e 'clip(ips, 100)'`."""
    return f"-e {_quoted(spelled)}" if _ASKED else f'"{spelled}"'


def _quoted(text: str) -> str:
    return shlex.quote(text) if set(text) & set("()' ") else text


def column(role: str, name: str) -> str:
    """Format the log's name of a column: `columns={"clicks": "NAME"}`, or `--column clicks=NAME`."""
    return f"--column {role}={name}" if _ASKED else f'columns={{"{role}": "{name}"}}'


def columns(named: Mapping[str, str]) -> str:
    """Format the log's names of several columns."""
    if _ASKED:
        return " ".join(column(role, name) for role, name in named.items())
    return f"columns={dict(named)!r}".replace("'", '"')


def verb(name: str) -> str:
    """Format a job: `offrank.check(...)`, or `offrank check`."""
    return f"`offrank {name}`" if _ASKED else f"`offrank.{name}(...)`"


def silent(_text: str) -> None:
    """A `Say` that does nothing."""
