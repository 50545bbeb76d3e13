"""The registry of readers of public data sets, which the modules beside it register, and what is declared of them.

What the publishers of a data set say of its tables stands in `declared.toml`, and is read by what all of them share.
A format of your own is a function from a path to a log, with `@READERS.register` above `@Reader`. A second function,
with `@NAME.recognised` above it, says by which options the format reads a source, so that it need not be named.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import LogError, OffrankError, UsageError
from ...language.registry import Registry
from ...language.spelling import spell
from .. import flat
from ..conversions import clicks_from_ids
from ..decode import Duplicates
from ..description import Description, Layout
from ..joining import OUTSIDE, ClicksBeside, ItemKeys, KeptRows
from ..long import LongLog
from ..opening import Beginning, open_table
from ..tables import Piece, Table, TableOver, first_piece, first_pieces, once_only, refuse_lacking
from ..unfolding import unfolded
from ..unfolding.table import Reshaped
from ..wide import Gaps, Invalid, WideLog

Recogniser = Callable[[Beginning], Mapping[str, Any] | None]
"""Returns the options by which a format reads a source, from its beginning; None if it is of another format.

It is certain of it: what could as well be something else is not recognised.
"""


class Reader:
    """A reader of a format: called with a path it returns the log, without one it keeps its options.

    `open_bandit("men", n_items=34)` is `read_log("men", format=open_bandit(n_items=34))`. layout: of the source.
    general: whether it is no standard of its own, so that one that knows the source as well is preferred.
    of_tables: whether its source may be a `Beginning`, for it opens that by `open_table` and `tables_of` alone.
    own: the columns by which it knows a table. begins: how the text of its files begins, as a pattern.
    """

    def __init__(
        self,
        read: Callable[..., WideLog | LongLog],
        options: Mapping[str, Any] | None = None,
        layout: Layout = "wide",
        *,
        general: bool = False,
        of_tables: bool = False,
        own: Collection[str] = (),
        begins: str = "",
    ) -> None:
        takes = inspect.signature(read).parameters
        if "invalid" not in takes and not any(one.kind == one.VAR_KEYWORD for one in takes.values()):
            raise UsageError(
                f"the reader {read.__name__} has no argument `invalid`", 'add `*, invalid="raise"`, which may be "skip"'
            )
        self.read, self.options, self.layout = read, dict(options or {}), layout
        self.general, self.of_tables = general, of_tables
        self.__name__, self.__doc__, self.__wrapped__ = read.__name__, read.__doc__, read
        self.__module__, self.__qualname__ = read.__module__, read.__qualname__
        self._recogniser: Recogniser | None = partial(_known, own, begins) if own or begins else None
        # the argument types that a spelling can hold
        held = [one for one in takes.values() if one.kind == one.KEYWORD_ONLY and one.name != "invalid"]
        self.__signature__ = inspect.Signature(held)

    @overload
    def __call__(self, path: None = None, **options: Any) -> Reader: ...
    @overload
    def __call__(self, path: Any, **options: Any) -> Any: ...
    def __call__(self, path: Any = None, **options: Any) -> Any:
        """Return the log at a path, or this reader with these options."""
        if path is not None:
            if self.__module__.startswith("offrank."):
                return self.read(path, **{**self.options, **options})
            told = str(path.source if isinstance(path, Beginning) else path), self.__name__
            with _told(*told):
                return _telling(self.read(path, **{**self.options, **options}), *told)
        self.__signature__.bind(**options)
        kinds: dict[str, Any] = {"general": self.general, "of_tables": self.of_tables}
        return Reader(self.read, {**self.options, **options}, self.layout, **kinds)

    @classmethod
    def of(cls, layout: Layout, **kinds: Any) -> Callable[[Callable[..., WideLog | LongLog]], Reader]:
        """Return a decorator that makes a reader of tables of this layout."""
        return partial(cls, layout=layout, **kinds)

    def recognised(self, recogniser: Recogniser) -> Recogniser:
        """Register the function that tells whether a source has this format, as a decorator."""
        self._recogniser = recogniser
        return recogniser

    def fitting(self, beginning: Beginning) -> Reader | None:
        """Return this reader with the options by which it reads a source, or None if it does not know its format."""
        found = None if self._recogniser is None else self._recogniser(beginning)
        return None if found is None else self(**found)

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={spell(value)}" for name, value in self.options.items())
        return f"{self.__name__}({words})" if words else self.__name__


@contextmanager
def _told(where: str, reader: str) -> Iterator[None]:
    """Raise whatever a reader of another package raises as one error, with where it read."""
    try:
        yield
    except OffrankError:
        raise
    except Exception as error:
        said = f"{where}: the reader {reader} ended with {type(error).__name__}: {error}".partition("\n")[0]
        raise LogError(said, "correct the reader, or what it reads") from error


def _telling(read: Any, where: str, reader: str) -> WideLog | LongLog:
    """Return what a reader of another package returned: a log that tells where its rows cannot be read."""
    if isinstance(read, WideLog | LongLog):
        return replace(read, stored=_OwnTable.over(read.stored, where, reader))
    raise UsageError(f"the reader {reader} returned {type(read).__name__}, not a log", "return what read_log returns")


@dataclass(frozen=True)
class _OwnTable(Reshaped):
    """A table as a reader of another package reads it: batch by batch, perhaps in other processes.

    where: what the reader was given.
    """

    table: Table
    where: str
    reader: str

    @classmethod
    def over(cls, table: Any, where: str, reader: str) -> Table:
        """Wrap a table, within those that are made of it."""
        inside = isinstance(table, Reshaped)
        return replace(table, table=cls.over(table.table, where, reader)) if inside else cls(table, where, reader)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        with _told(f"{self.where}, part {part} (the first is 0)", self.reader):
            yield from self.table.pieces(part, columns)

    def first(self, columns: tuple[str, ...], rows: int = 1) -> Iterator[Piece]:
        """Yield its first rows; see `first_pieces`."""
        with _told(self.where, self.reader):
            yield from first_pieces(self.table, columns, rows)


def _known(own: Collection[str], begins: str, beginning: Beginning) -> Mapping[str, Any] | None:
    """Recognise a source by the columns of its table, or by how its text begins."""
    return {} if ({*own} <= {*beginning.names} if own else re.match(begins, beginning.text)) else None


READERS: Registry[Reader] = Registry(str(__package__), "format")
"""The readers by the names of their formats."""


@cache
def _declarations() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("declared.toml").read_text(encoding="utf-8"))


class Declaration(ABC):
    """What the publishers of a data set say of it: its fields are those of its section in `declared.toml`.

    layout, of_tables: as a `Reader` has them.
    """

    layout: Layout
    of_tables: ClassVar[bool] = True

    @classmethod
    def of(cls, name: str) -> Self:
        """Return the declaration of a data set."""
        return cls(**{key: tuple(one) if isinstance(one, list) else one for key, one in _declarations()[name].items()})

    @classmethod
    def reader(cls, described: Callable[..., Any]) -> Reader:
        """Return the reader of the data set with the name of a function, which has its docstring; as a decorator."""
        told = cls.of(described.__name__)

        @wraps(described)
        def read(source: Any, **how: Any) -> WideLog | LongLog:
            return told.open(source, **how)

        made = Reader.of(told.layout, of_tables=told.of_tables)(read)
        made.recognised(told.recognised)
        return made

    @abstractmethod
    def open(self, source: Any, *, invalid: Invalid = "raise") -> WideLog | LongLog:
        """Open a source as a log, or raise why it is none."""

    @abstractmethod
    def recognised(self, beginning: Beginning) -> Mapping[str, Any] | None:
        """Recognise a source; see `Recogniser`."""


@dataclass(frozen=True)
class Declared(Declaration):
    """What the publishers of a data set say of its table.

    - own: columns by which it is known. source: where they are, which an error names. roles: role -> column.
    - kept: a column, and its values, as texts, in the rows that are read. others: the rule by which others are counted,
      empty where they are no impressions. without: what is said of a table `{}` without such rows, and what to do.
    - clicked: the column of the item of each list that was clicked; nothing: items that fill up a list, or stand for no
      click. clicks: the columns that name the list and the item in a table of clicks; the list has the first, too.
    - gaps, duplicates: how positions, and items that stand in a list twice, are read.
    - logging: the policy that drew the lists. lacks: why they can judge no other ranking.
    """

    layout: Layout
    own: tuple[str, ...]
    source: str
    roles: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    others: str = ""
    without: tuple[str, str] | None = None
    clicked: str = ""
    nothing: tuple[int, ...] = ()
    clicks: tuple[str, str] = ("", "")
    gaps: Gaps = "raise"
    duplicates: Duplicates = "raise"
    logging: str = ""
    lacks: str = ""

    def recognised(self, beginning: Beginning) -> Mapping[str, Any] | None:
        """Recognise a table by its columns."""
        return _known(self.own, "", beginning)

    def open(self, source: Any, *, invalid: Invalid = "raise", **how: Any) -> WideLog | LongLog:
        chosen = replace(self, **how)
        return chosen.long_log(source, invalid) if self.layout == "long" else chosen.log(source, invalid)

    def long_log(self, source: Any, invalid: Invalid) -> LongLog:
        """Open a table with a row per item as a log; see `rows`."""
        return LongLog(self.rows(source), self.roles, invalid, gaps=self.gaps, description=self._description())

    def log(self, source: Any, invalid: Invalid, clicks: Table | None = None) -> WideLog:
        """Open a table with a row per list as a log; see `rows`. clicks: the other table, of those on it."""
        table, slate = self.rows(source), self.roles["slate"]
        if self.clicked:
            table = ListClicks(table, slate, self.clicked, self.nothing)
        if clicks is not None:
            keys = ItemKeys(self.clicks[0], slate, listed=True), ItemKeys(*self.clicks)
            table = ClicksBeside(table, clicks, "clicks", *keys)
        told = self._description() if self.lacks or self.logging else Description()
        return WideLog(table, self.roles, invalid, duplicates=self.duplicates, description=told)

    def _description(self) -> Description:
        return Description(self.layout, logging=self.logging, lacks=self.lacks)

    def rows(self, source: Any) -> Table:
        """Return the rows that are read.

        Raises:
            ColumnError: a column is missing. LogError: none of its rows is read.
        """
        table = unfolded(open_table(source), {role: name for role, name in self.roles.items() if role == "slate"})
        refuse_lacking(table, self.own, f"use {self.source}")
        kept = KeptRows(table, self.kept[0], self.kept[1:], self.others) if self.kept else table
        if self.without is not None and not once_only(table) and first_piece(kept, self.kept[:1]) is None:
            raise LogError(self.without[0].format(table.describe()), self.without[1])
        return kept


@dataclass(frozen=True)
class ListClicks(TableOver):
    """A table of lists with a column `clicks`: 1 for the first place of the item that the row calls clicked.

    What is clicked outside of its list is counted. nothing: items that are none: they are taken out of the lists, those
    that hold nothing else are left out, and who clicked them clicked nothing.
    """

    table: Table
    slate: str
    clicked: str
    nothing: Sequence[int] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return ("clicks", *self.table.names)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        asked = [name for name in columns if name != "clicks"]
        if len(asked) == len(columns) and not self.nothing:
            yield from self.table.pieces(part, columns)
            return
        for piece in self.table.pieces(part, tuple(dict.fromkeys((*asked, self.clicked, self.slate)))):
            slate, clicked = (piece.data.column(name) for name in (self.slate, self.clicked))
            if self.nothing:
                slate, clicked = self._items(slate), pc.if_else(self._are_none(clicked), None, clicked)
            found, outside = clicks_from_ids(clicked, self.clicked, slate, self.slate)
            made = {"clicks": flat.lists_of(pa.array(found.values.astype(np.int8)), found.lengths), self.slate: slate}
            data = pa.record_batch({name: made[name] if name in made else piece.data.column(name) for name in columns})
            skipped = {**piece.skipped, OUTSIDE: int(outside.sum())} if outside.any() else piece.skipped
            full = (found.lengths > 0) | (not self.nothing)
            yield replace(piece, data=flat.kept_rows(data, full), rows=piece.rows[full], skipped=skipped)

    def _items(self, slate: pa.Array) -> pa.Array:
        """Return lists without the items that are none."""
        lists = flat.lists(slate, self.slate)
        shown = ~np.asarray(self._are_none(lists.values))
        return flat.lists_of(lists.values.filter(pa.array(shown)), np.bincount(lists.row[shown], minlength=len(slate)))

    def _are_none(self, items: pa.Array) -> pa.Array:
        return pc.is_in(items, pa.array(self.nothing).cast(items.type))
