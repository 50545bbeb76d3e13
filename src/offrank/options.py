"""How a verb speaks to who asks: remedies name an argument in Python, an option on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Say = Callable[[str], object]
"""Called with what is being done, in words."""

_ASKED: list[str] = []
"""Who asks: of the whole process, for errors may be raised in any of its threads. Nobody: it is asked in Python."""


@contextmanager
def command_line() -> Iterator[None]:
    """Everything that is said herein is told to somebody on the command line."""
    _ASKED.append("command line")
    try:
        yield
    finally:
        _ASKED.pop()


def option(name: str, value: object = ...) -> str:
    """An option with its value: `interval="bootstrap"`, or `--interval bootstrap`; without, `interval=`."""
    if not _ASKED:
        return f"{name}=" if value is ... else f"{name}={value!r}".replace("'", '"')
    flag = f"--{name.replace('_', '-')}"
    if value is ...:
        return flag
    text = ",".join(f"{one:g}" for one in value) if isinstance(value, list | tuple) else str(value)
    text = "none" if value is None else text
    return f"{flag} {_quoted(text)}"


def estimator(spelled: str) -> str:
    """An estimator: `"clip(ips, 100)"`, or `-e 'clip(ips, 100)'`."""
    return f"-e {_quoted(spelled)}" if _ASKED else f'"{spelled}"'


def _quoted(text: str) -> str:
    return shlex.quote(text) if set(text) & set("()' ") else text


def column(role: str, name: str) -> str:
    """The log's name of a column: `columns={"clicks": "NAME"}`, or `--column clicks=NAME`."""
    return f"--column {role}={name}" if _ASKED else f'columns={{"{role}": "{name}"}}'


def verb(name: str) -> str:
    """A job: `offrank.check(...)`, or `offrank check`."""
    return f"`offrank {name}`" if _ASKED else f"`offrank.{name}(...)`"


def silent(_text: str) -> None:
    """A `Say` for who does not want to know."""
