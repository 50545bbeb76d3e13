"""The check of every verb's outputs before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

import click

from ..outputs import refuse_inside, refuse_output
from .config import CONFIG
from .options import OVERWRITE, QuestionCommand, overwrite, writable

_WORDS = ("title", "unit", "worth")
"""Options that name no file."""


def protected(verb: click.Command) -> click.Command:
    """Make a verb refuse to write to what it reads; with `--overwrite` it replaces files of others."""
    inner = verb.callback
    assert inner is not None
    if not isinstance(verb, QuestionCommand) and any(one.callback is writable for one in verb.params):
        overwrite(verb)

    @wraps(inner)
    def checked(*given: Any, **options: Any) -> Any:
        _check(click.get_current_context())
        return inner(*given, **options)

    verb.callback = checked
    return verb


def _check(context: click.Context) -> None:
    """Compare each output with the files that the other options may name."""
    outputs: list[str] = []
    read: list[Any] = [context.meta.get(CONFIG)]
    folders: list[str] = []
    for one in context.command.params:
        value = context.params.get(str(one.name))
        if one.callback is writable:
            outputs += [value] if value not in (None, "-") else []
        elif one.name not in _WORDS:
            read.append(value)
            folders += _texts(value) if isinstance(one, click.Argument) else []
    for number, path in enumerate(outputs):
        refuse_output(path, [*_texts(read), *outputs[:number]], context.meta.get(OVERWRITE, False))
        for folder in folders:
            refuse_inside(path, folder)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of an option, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, Iterable):
        for one in value:
            yield from _texts(one)
