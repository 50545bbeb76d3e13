"""The check of every verb's outputs before anything is read."""

from __future__ import annotations

from functools import wraps
from typing import Any

import click

from ..language.outputs import inputs_in, refuse_inside, refuse_output
from .columns import refuse_misspelt
from .config import CONFIG
from .options import overwrite, writable
from .questions import QuestionCommand

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
        refuse_misspelt(click.get_current_context())
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
        if one.callback is writable or one.name == "checkpoint":
            outputs += [value] if value not in (None, "-") else []
        elif one.name not in _WORDS:
            read.append(value)
            folders += inputs_in(value) if isinstance(one, click.Argument) else []
    for number, path in enumerate(outputs):
        refuse_output(path, [*inputs_in(read), *outputs[:number]], bool(context.params.get("overwrite")))
        for folder in folders:
            refuse_inside(path, folder)
