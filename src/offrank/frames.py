"""Conversion of results to tables of other libraries: Arrow, pandas, Polars, Markdown, HTML in notebooks, JSON."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from .errors import LogError, MissingExtraError, NoOverlapError, UsageError
from .language.files import atomic_write, write_text
from .language.formatting import Span, number, printable
from .language.outputs import refuse_result
from .wording import Style, worded

Record = Mapping[str, Any]
Key = tuple[str, str]
N = TypeVar("N")

_SPANS = ("difference", "relative", "a", "b", "favours_a", "favours_b")
"""Columns that hold a number with its interval, or None."""
_NAMED = {"warnings": "code", "reasons": "code", "assumptions": "code", "error": "code", "anchor": "estimator"}
"""Columns that hold records, and by what a table calls these."""
_MARKUP = re.compile(r"[|`]|<(?=[A-Za-z/!?])|(?<=\])\(")
"""What Markdown would take for markup or a link, whatever an id or a group is called."""
_ENDS = ("value", "low", "high", "standard_error")
_TEXT = {
    *("target", "against", "estimator", "group", "chosen", "cluster", "model", "metric", "quantity", "anchor"),
    *("decision", "trust", "design", "assumes_in_words", "error", "code", "title", "status", "message", "remedy"),
}
_WHOLE = ("n", "impressions", "sessions", "rank", "rows_needed")
_TYPES: dict[str, Any] = {
    **dict.fromkeys(_TEXT, pa.string()),
    **dict.fromkeys(_WHOLE, pa.int64()),
    **dict.fromkeys(("warnings", "reasons", "assumes", "assumptions"), pa.list_(pa.string())),
    "decided": pa.bool_(),
    "outcome": pa.string(),
}
"""Types of columns; all others are numbers."""


FLAT = {"flat": True}
"""Metadata of a dataclass field whose own fields `plain` puts beside the others."""


def plain(value: Any) -> Any:
    """Return a value in JSON types; numbers that are not finite become None.

    A dataclass becomes a dict of its fields, without those optional ones (default None) that are None; an object with
    a method `to_dict` says itself what it becomes, and what else JSON lacks is spelled.
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass in JSON types, see `plain`; for those whose `to_dict` says more."""
    found: dict[str, Any] = {}
    for one in fields(value):
        part = plain(getattr(value, one.name))
        if part is not None or one.default is not None:
            found |= part if one.metadata == FLAT else {one.name: part}
    return found


def write_table(path: str | PathLike[str], batches: Iterable[pa.RecordBatch]) -> int:
    """Write record batches of one schema as Parquet or CSV, by the suffix, atomically; return the number of rows.

    Raises:
        UsageError: another suffix. LogError: a column is text in some of the batches only.
    """
    final, rows = check_table_path(path), 0
    with atomic_write(final) as temporary, ExitStack() as open_files:
        writer = None
        for batch in batches:
            if writer is None:
                open_writer = pq.ParquetWriter if final.suffix == ".parquet" else csv.CSVWriter
                writer = open_files.enter_context(open_writer(str(temporary), batch.schema))
                schema = batch.schema
            try:
                writer.write_batch(batch.cast(schema))
            except pa.ArrowInvalid as error:
                message = f"a column has another type in row {rows:,} and below: {error}"
                raise LogError(message, "use the same type for all ids of the log") from error
            rows += len(batch)
    return rows


def check_table_path(path: str | PathLike[str], further: Collection[str] = ()) -> Path:
    """Return the path of a table, whose suffix says how it is written. further: suffixes beside .parquet and .csv.

    Raises:
        UsageError: the suffix is none of them, or the folder cannot be written to.
    """
    final, more = Path(path), "".join(f", or {suffix}" for suffix in further)
    if final.suffix not in (".parquet", ".csv", *further):
        remedy = f"use the suffix .parquet or .csv{more}"
        raise UsageError(f"the suffix of {str(path)!r} does not name a format", remedy)
    if not os.access(final.parent, os.W_OK):
        raise UsageError(f"there is no folder {str(final.parent)!r} to write to", "create it first")
    return final


class Plain(ABC):
    """A result that can be had as plain lists, dicts and numbers."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts and numbers (None for unknown values).

        Returns:
            What `to_json` writes.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> [row["n"] for row in result.to_dict()["estimates"]]
            [200000]
        """

    def to_json(
        self,
        path: str | PathLike[str] | None = None,
        indent: int | None = 2,
        style: Style = "python",
        overwrite: bool = False,
    ) -> str:
        """Return everything as JSON text; written to `path` if given.

        Parameters:
            path: the file to write; none by default.
            indent: spaces of each level; None for one line.
            style: whether advice names arguments or command-line options.
            overwrite: replace a file that is there, also one that offrank did not write.

        Returns:
            The text.

        Raises:
            UsageError: `path` is what the result was made of, or a file of others.

        Examples:
            >>> result = offrank.check("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)")
            >>> result.to_json("check.json").startswith("{")
            True
        """
        text = json.dumps(worded(self.to_dict(), style), indent=indent, allow_nan=False)
        if path is not None:
            refuse_result(path, self, overwrite)
            write_text(path, text)
        return text


class Tabular(Plain):
    """A result with numbers and their intervals that can be converted to rows.

    A column `difference` becomes `difference_value`, `difference_low` and so on; warnings are given by their codes.
    """

    headings: ClassVar[tuple[str, ...]] = ()
    """The columns for readers; a number has its interval beside it."""

    @abstractmethod
    def records(self) -> Sequence[Record]:
        """Return a row per number with its interval, as in `to_dict`.

        Returns:
            The rows, each by names of columns.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> [row["estimator"] for row in result.records()]
            ['snips']
        """

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, with every digit.

        Returns:
            A table with a row per number.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)")
            >>> result.to_arrow().column("estimator").to_pylist()
            ['ips', 'snips']
        """
        rows = [dict(_flat(row)) for row in self.records()]
        names = dict.fromkeys(name for row in rows for name in row)
        types = {name: _TYPES.get(name, pa.float64()) for name in names}
        types |= {name: pa.bool_() for name in names if rows and all(isinstance(row.get(name), bool) for row in rows)}
        return pa.Table.from_pylist(rows, pa.schema(list(types.items())))

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame.

        Returns:
            A frame with a row per number.

        Raises:
            MissingExtraError: pandas is not installed.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)")
            >>> list(result.to_pandas()["estimator"])
            ['ips', 'snips']
        """
        _library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return the rows as a Polars DataFrame.

        Returns:
            A frame with a row per number.

        Raises:
            MissingExtraError: Polars is not installed.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)")
            >>> result.to_polars()["estimator"].to_list()
            ['ips', 'snips']
        """
        return _library("polars").from_arrow(self.to_arrow())

    def to_markdown(self) -> str:
        """Return a table for readers, in Markdown.

        Returns:
            The table, as lines with bars.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.to_markdown().count("uniform")
            1
        """
        names, rows = self._cells()
        lines = [names, ["---"] * len(names), *rows]
        safe = ((_MARKUP.sub(r"\\\g<0>", cell) for cell in line) for line in lines)
        return "\n".join("| " + " | ".join(line) + " |" for line in safe) + "\n"

    def _repr_html_(self) -> str:
        """Return the same table as HTML, for notebooks."""
        names, rows = self._cells()
        head = "".join(f"<th>{escape(printable(name))}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in row) + "</tr>" for row in rows
        )
        lead = "".join(f"<p>{escape(printable(line))}</p>" for line in self._lead())
        return f"{lead}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _lead(self) -> Iterator[str]:
        """Return the text above the table."""
        facts = getattr(self, "facts", {})
        if facts.get("title"):
            yield str(facts["title"])

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the headings that have content, and the cells as text."""
        rows = self.records()
        cells = {name: [printable(_cell(row, name)) for row in rows] for name in self.headings}
        kept = {name: column for name, column in cells.items() if any(column)}
        return [name.replace("_", " ") for name in kept], [list(row) for row in zip(*kept.values(), strict=True)]


class Given(Mapping[Key, N], Tabular):
    """Numbers by two names, some of which the log may be unable to give.

    It holds the available numbers (`given`); any other key raises NoOverlapError, which is a KeyError; `refused`
    has those with their reasons.
    """

    found: Mapping[Key, N | NoOverlapError]

    @abstractmethod
    def known(self, key: Any) -> Key:
        """Return the full key, given or refused, that a key stands for.

        Parameters:
            key: a full key, or the part of it that is enough.

        Returns:
            The key.

        Raises:
            KeyError: there is none, or the key is ambiguous.

        Examples:
            >>> found = offrank.measure("offrank-demo/log.parquet", "new_score", "plackett_luce(old_score)")
            >>> found.known("new_score")
            ('new_score', 'counterfactual_disagreement')
        """

    def __getitem__(self, key: Any) -> N:
        value = self.found[self.known(key)]
        if isinstance(value, NoOverlapError):
            raise value
        return value

    def __iter__(self) -> Iterator[Key]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    @property
    def refused(self) -> dict[Key, NoOverlapError]:
        """The entries that the log cannot give."""
        return {key: value for key, value in self.found.items() if isinstance(value, NoOverlapError)}

    @property
    def given(self) -> dict[Key, N]:
        """The entries that the log can give."""
        return {key: value for key, value in self.found.items() if not isinstance(value, NoOverlapError)}


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(f"to_{name}() needs {name}, which is missing", f"pip install {name}") from error


def _flat(row: Record) -> Iterator[tuple[str, Any]]:
    """Flatten a row into columns."""
    for name, value in row.items():
        if name in _SPANS:
            yield from ((f"{name}_{end}", (value or {}).get(end)) for end in _ENDS)
        elif name in _NAMED and value is not None:
            yield name, [one[_NAMED[name]] for one in value] if isinstance(value, list) else value[_NAMED[name]]
        else:
            yield name, value


def _cell(row: Record, name: str) -> str:
    """Format a cell; empty for an unknown value."""
    if (value := row.get(name)) is None:
        return ""
    if name in ("value", *_SPANS):
        span = row if name == "value" else value
        if not span or span["value"] is None:
            return ""
        return Span(*(span.get(one) for one in _ENDS)).text()
    if name in _NAMED:
        value = dict(_flat({name: value}))[name]
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if type(value) is int else str(value)
