"""Clicks of the Sogou query log (SogouQ).

    time TAB user TAB [query] TAB rank TAB order TAB url

In the edition of 2008 a space stands between rank and order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ...errors import UsageError
from ..beginning import Beginning
from ..files import expand
from ..text import Impression, TextTable, lines, malformed
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_SCHEMA = pa.schema(
    {
        "slate": pa.list_(pa.string()),
        "clicks": pa.list_(pa.float64()),
        "query": pa.string(),
        "user": pa.string(),
        "time": pa.string(),
    }
)
_CLICK = re.compile(r"([^\t]*)\t([^\t]+)\t([^\t]*)\t(\d{1,18})[\t ](\d+)\t(\S.*)")
_LOWEST = 1000
"""The highest rank that is read."""


class Click(NamedTuple):
    """A line of the log. rank: of the result, from 1; order: of the click among those of this query."""

    time: str
    user: str
    query: str
    rank: int
    url: str


@READERS.register
@Reader.of("sessions")
def sogou(path: str | Path | Sequence[str | Path], *, encoding: str = "gb18030", invalid: Invalid = "raise") -> WideLog:
    """Read SogouQ: which results were clicked, by whom, for which query and at which rank; plain or `.gz`.

    **The log holds clicked results only.** What was shown beside them is unknown. So no click model can be learnt from
    it, and no examination curve: all of them compare clicked documents with skipped ones (`only-clicks` says so). What
    it can give are clicks by query, document and rank, and queries and documents for a simulation.

    Lines of one user and one query that follow each other are an impression. Columns: slate (addresses at their
    ranks, the other ranks empty), clicks (all 1), `query` (without its brackets), `user`, `time` (of the first click).
    Repeated clicks on a rank count once (`click-repeated`), and so does a rank that shows another address later; ranks
    below 1,000 are left out (`click-below`).

    encoding: of the text, `gb18030` as published; `utf-8` of many copies. Letters that cannot be read are escaped.

    Raises:
        UsageError: the argument is not a path, or there is no such encoding.
        LogError: there is no file; while reading, a line is not in the format.
    """
    try:
        "".encode(encoding)
    except LookupError as error:
        raise UsageError(f"encoding is {encoding!r}", 'use "gb18030" or "utf-8"') from error
    table = TextTable(expand(path), _SCHEMA, partial(_impressions, encoding))
    return WideLog(table, {}, invalid, duplicates="first")


@sogou.recognised
def _recognised(beginning: Beginning) -> dict[str, Any] | None:
    text = beginning.text  # empty unless it is UTF-8
    first = [line.strip("\r") for line in (text or beginning.head.decode("latin-1")).split("\n")[:5] if line]
    if not (first and all(map(_CLICK.fullmatch, first))):
        return None
    return {} if text.isascii() else {"encoding": "utf-8"}


def _impressions(encoding: str, path: str) -> Iterator[Impression]:
    """Yield the impressions of a file."""
    left_out = Counter[str]()
    for (user, query), clicks in groupby(_clicks(encoding, path), lambda click: (click.user, click.query)):
        found, time = dict[int, str](), ""
        for click in clicks:
            time = time or click.time
            if not 1 <= click.rank <= _LOWEST:
                left_out["click-below"] += 1
            elif click.rank in found:
                left_out["click-repeated"] += 1
            else:
                found[click.rank] = click.url
        ranks = range(1, max(found, default=0) + 1)
        slate, clicked = [found.get(rank) for rank in ranks], [1.0 if rank in found else None for rank in ranks]
        if found:  # what was left out of others is counted with the next
            yield (slate, clicked, query, user, time), dict(left_out)
            left_out.clear()


def _clicks(encoding: str, path: str) -> Iterator[Click]:
    """Yield the clicks of a file."""
    for number, line in lines(path, encoding, "backslashreplace"):
        if not line.strip():
            continue
        match = _CLICK.fullmatch(line.rstrip("\r\n"))
        if match is None:
            expected = "'time TAB user TAB [query] TAB rank TAB order TAB url'"
            raise malformed(
                path, number, line, expected, "correct the line, or name the encoding: sogou(encoding='utf-8')"
            )
        time, user, query, rank, _, url = match.groups()
        yield Click(time, user, query.removeprefix("[").removesuffix("]"), int(rank), url)
