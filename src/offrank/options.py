"""How remedies name an option: as an argument in Python, as an option on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND_LINE: ContextVar[bool] = ContextVar("_COMMAND_LINE", default=False)


@contextmanager
def command_line() -> Iterator[None]:
    """Everything that is found herein is told to somebody on the command line."""
    before = _COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _COMMAND_LINE.reset(before)


def option(name: str, value: object) -> str:
    """An option with its value: `interval="bootstrap"`, or `--interval bootstrap`."""
    if not _COMMAND_LINE.get():
        return f"{name}={value!r}".replace("'", '"')
    text = "none" if value is None else str(value)
    return f"--{name.replace('_', '-')} " + (f"'{text}'" if set(text) & set("(), ") else text)


def estimator(spelled: str) -> str:
    """An estimator: `"clip(ips, 100)"`, or `-e 'clip(ips, 100)'`."""
    return f"-e '{spelled}'" if _COMMAND_LINE.get() else f'"{spelled}"'


def column(role: str, name: str) -> str:
    """The log's name of a column: `columns={"clicks": "NAME"}`, or `--column clicks=NAME`."""
    return f"--column {role}={name}" if _COMMAND_LINE.get() else f'columns={{"{role}": "{name}"}}'


def verb(name: str) -> str:
    """A job: `offrank.check(...)`, or `offrank check`."""
    return f"`offrank {name}`" if _COMMAND_LINE.get() else f"`offrank.{name}(...)`"
