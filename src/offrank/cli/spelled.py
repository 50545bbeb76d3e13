"""Spellings and columns: a misspelt name is refused before anything is imported that reads logs or evaluates.

A column is misspelt for certain if its letters stand nowhere in the footer of a Parquet file or at the top of a table
in text, and a column has nearly this name. All else is left to the readers, which know more names: those of formats,
and of what they unfold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..language.from_text import split_name
from ..language.registry import extended, homes_written
from ..language.spelling import refuse_unknown, split, words_within
from ..log.schema import LONG_ROLES, ROLES, Columns
from ..wording import nearest

_PACKAGES = {"policy": ("policies",), "estimator": ("estimators", "reward_models"), "kind of interval": ("inference",)}
_UNREGISTERED = {"estimator": ("auto", "dm")}
"""`auto` stands for the estimator that the log chooses, `dm` is another name of `direct`."""


def names_of(kind: str) -> list[str]:
    """Return the names that a spelling of this kind may begin with: of a policy, an estimator, a kind of interval."""
    return sorted(
        {*(name for one in _PACKAGES[kind] for name in homes_written(f"offrank.{one}")), *_UNREGISTERED.get(kind, ())}
    )


class SpelledType(click.ParamType):  # type: ignore[type-arg]  # no generic type before click 8.4
    """The type of an option that spells a policy, an estimator (or several, `ips, snips`), or a kind of interval."""

    def __init__(self, kind: str) -> None:
        self.name, self._many = kind, kind == "estimator"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text as it is.

        Raises:
            SpellingError: it begins with a name that nothing has.
        """
        whole = str(value)
        for text in split(whole) if self._many else [split_name(whole, whole)[1]]:
            refuse_unknown(text, lambda: names_of(self.name), self.name, extended, within=self.name == "policy")
        return whole

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        name, equals, begun = incomplete.rpartition("=")
        return [CompletionItem(f"{name}{equals}{one}") for one in names_of(self.name) if one.startswith(begun)]


class ColumnType(click.ParamType):  # type: ignore[type-arg]
    """The type of an option that names a column of the log: see `refuse_misspelt`."""

    name = "column"


class LogType(click.ParamType):  # type: ignore[type-arg]  # no generic type before click 8.4
    """The type of LOG: anything that `read_log` takes as a text; a shell completes it as a file."""

    name = "log"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Let the shell name files."""
        return [CompletionItem(incomplete, type="file")]


_TOP = 1 << 16
"""Bytes at the top of a text that are searched."""
_LARGEST = 1 << 23
"""Bytes of a footer that is searched."""
_PARQUET, _TAIL = b"PAR1", 8
"""How Parquet files begin and end; the length of the footer, and this mark after it."""
_TABLE = re.compile(rb"[\w \"'.:/-]+[,;\t|]")
"""How a table in text begins: with a name and a delimiter."""


def refuse_misspelt(context: click.Context) -> None:
    """Raise if an option names a column that LOG cannot have.

    Raises:
        ColumnError: it does, with the nearest name.
    """
    log = context.params.get("log")
    if not isinstance(log, str) or context.params.get("format") or not os.path.isfile(log):  # noqa: PTH113  a query may be too long for a path
        return
    renamed = context.params.get("columns") or {}
    asked = [*((name, role) for role, name in renamed.items()), *((name, None) for name in _asked(context))]
    schema = _schema(Path(log)) if asked else b""
    for name, role in asked:
        pieces = name.split(".")
        plain = name not in {**ROLES, **LONG_ROLES} and all(one.isidentifier() for one in pieces)
        if schema and plain and any(one.encode() not in schema for one in pieces):
            names = tuple(_names(Path(log), schema))
            if nearest(name, names):
                Columns(names, renamed, log).named(name, role)


def _asked(context: click.Context) -> Iterator[str]:
    """Yield the columns that the options name, by themselves or within a policy."""
    for one in context.command.params:
        value = context.params.get(str(one.name))
        if isinstance(one.type, ColumnType):
            yield from (str(name) for name in _each(value) if name != one.default)
        elif isinstance(one.type, SpelledType) and one.type.name == "policy":
            policies = names_of("policy")
            for text in _each(value):
                yield from (word for word in words_within(text) if word not in policies and word != "inf")


def _each(value: Any) -> Iterable[str]:
    """Return the texts of an option, which may have names before them."""
    several = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    return [text for text in several if isinstance(text, str)]


def _schema(path: Path) -> bytes:
    """Return bytes that hold the name of every column; none where that is not certain."""
    with path.open("rb") as file:
        top = file.read(_TOP)
        if top.startswith(_PARQUET):
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            length = int.from_bytes(file.read()[:4], "little") + _TAIL
            file.seek(size - length if length <= min(size, _LARGEST) else size)
            return file.read()
    return top if _TABLE.match(top) and b"\0" not in top else b""


def _names(path: Path, schema: bytes) -> list[str]:
    """Return the columns as they can be named, those of structs as `struct.field`."""
    if not schema.endswith(_PARQUET):
        line = schema.splitlines()[0].decode(errors="replace")
        return [name.strip("\"' ") for name in re.split("[,;\t|]", line)]
    import pyarrow.parquet as pq  # only for the error: a look into the file takes no library

    return [name for field in pq.read_schema(path) for name in _within(field, field.name)]


def _within(field: Any, name: str) -> Iterator[str]:
    yield name
    for inner in field.type if str(field.type).startswith("struct<") else ():
        yield from _within(inner, f"{name}.{inner.name}")
