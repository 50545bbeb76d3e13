"""Sessions of the Yandex relevance prediction challenge (WSCD 2012).

    query_region TAB d1,d2,...,d10 : clicked , clicked ;

Sessions end with `;` or at the end of the line; clicks are in chronological order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from ...errors import UsageError
from ..beginning import Beginning
from ..files import expand
from ..text import Impression, TextTable, lines, malformed
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

Repeats = Literal["once", "count"]

_SCHEMA = pa.schema({"slate": pa.list_(pa.int64()), "clicks": pa.list_(pa.float64()), "query": pa.string()})
_ID = "[0-9]{1,19}"  # as many digits as the largest number has
_SESSION = re.compile(rf"(\S+)\t({_ID}(?:,{_ID})*) ?:(?: *({_ID}(?: *, *{_ID})*))?")
_LARGEST = 2**63 - 1


@READERS.register
@Reader.of("sessions")
def yandex(
    path: str | Path | Sequence[str | Path], *, repeats: Repeats = "once", invalid: Invalid = "raise"
) -> WideLog:
    """Read search sessions with the documents shown and the clicks on them, plain or `.gz`.

    Columns: slate, clicks, `query` (the query and its region, as written). No propensities were
    logged: count them with `Counted(by="query")`.

    repeats: "once" makes a click 0 or 1, however often a document was clicked (one in ten sessions
    has repeats, which are counted as `click-repeated`); "count" is the number of clicks. Clicks on
    documents that are not in the list (query suggestions, other pages) are left out and counted as
    `click-outside-slate`.
    Memory is bounded by the longest line, that is, by the sessions of one query.

    Raises:
        UsageError: the argument is not a path, or there is no such choice of repeats.
        LogError: there is no file; while reading, a session is not in the format.
    """
    if repeats not in get_args(Repeats):
        raise UsageError(f"repeats is {repeats!r}", 'use "once" or "count"')
    return WideLog(TextTable(expand(path), _SCHEMA, partial(_impressions, repeats == "count")), {}, invalid)


@yandex.recognised
def _recognised(beginning: Beginning) -> dict[str, Any] | None:
    first = beginning.text.partition("\n")[0].partition(";")[0]
    return {} if _SESSION.fullmatch(first.strip()) else None


def _impressions(count: bool, path: str) -> Iterator[Impression]:
    """Yield the sessions of a file. count: whether clicks on a document are counted."""
    for number, line in lines(path):
        for session in line.split(";"):
            text = session.strip()
            if text:
                yield _impression(count, path, number, text)


def _impression(count: bool, path: str, number: int, text: str) -> Impression:
    match = _SESSION.fullmatch(text)
    slate = [int(document) for document in match[2].split(",")] if match else []
    if match is None or max(slate) > _LARGEST:
        raise malformed(
            path,
            number,
            text,
            "'query_region TAB document,document,... : clicked , clicked ;'",
            "correct the session; document ids are numbers of at most 63 bits",
        )
    query, _, clicked = match.groups()
    clicks, outside, again = dict.fromkeys(slate, 0.0), 0, 0
    for word in clicked.split(",") if clicked else ():
        document = int(word)
        if document not in clicks:
            outside += 1
        elif clicks[document] and not count:
            again += 1
        else:
            clicks[document] += 1
    skipped = {"click-outside-slate": outside, "click-repeated": again}
    left_out = {rule: times for rule, times in skipped.items() if times}
    return (slate, [clicks[document] for document in slate], query), left_out
