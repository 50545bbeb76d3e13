"""Public logs of search sessions, in texts of their own: Yandex, SogouQ and TianGong-ST."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args
from xml.etree import ElementTree as ET

import pyarrow as pa

from ...errors import LogError, UsageError
from ..files import expand
from ..opening import Beginning
from ..text import Impression, TextTable, lines, malformed, open_bytes
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

Repeats = Literal["once", "count"]

_ID = "[0-9]{1,19}"  # as many digits as the largest number has
_SESSION = re.compile(rf"(\S+)\t({_ID}(?:,{_ID})*) ?:(?: *({_ID}(?: *, *{_ID})*))?")
_LINE = re.compile(rf"(\d+)\t\d+\t(?:Q\t(\d+)\t(\d+)((?:\t{_ID})+)|C\t({_ID}))")
_LARGEST = 2**63 - 1
_LOWEST = 1000
"""The highest rank that is read."""


def _schema(items: pa.DataType, *beside: str) -> pa.Schema:
    """Return the columns of lists: the slate, the clicks, and texts beside them."""
    lists = [("slate", pa.list_(items)), ("clicks", pa.list_(pa.float64()))]
    return pa.schema([*lists, *((name, pa.string()) for name in beside)])


@READERS.register
@Reader.of("sessions")
def yandex(
    path: str | Path | Sequence[str | Path], *, repeats: Repeats = "once", invalid: Invalid = "raise"
) -> WideLog:
    """Read sessions of the Yandex relevance prediction challenge (WSCD 2012), plain or `.gz`.

    They are lines of queries and of clicks as published, `session TAB time TAB Q TAB query TAB region TAB url ...` and
    `session TAB time TAB C TAB url`, where a click is on the last list of its session that holds it; or a line for each
    query, `query_region TAB url,url,... : clicked , clicked ;`, with clicks in the order of time.

    Columns: slate, clicks, `query` (the query and its region), and of published lines `session`. No propensities were
    logged: count them with `Counted(by="query")`.

    repeats: "once" makes a click 0 or 1, however often a document was clicked (one in ten sessions
    has repeats, which are counted as `click-repeated`); "count" is the number of clicks. Clicks on
    documents that are not in the list (query suggestions, other pages) are left out and counted as
    `click-outside-slate`.
    Memory is bounded by the longest line, or session.

    Raises:
        UsageError: the argument is not a path, or there is no such choice of repeats.
        LogError: there is no file; while reading, a session is not in the format.
    """
    if repeats not in get_args(Repeats):
        raise UsageError(f"repeats is {repeats!r}", 'use "once" or "count"')
    paths = expand(path)
    published = _LINE.fullmatch(next(lines(paths[0]), (1, ""))[1].strip()) is not None
    schema = _schema(pa.int64(), "query", *(["session"] if published else []))
    read = _published if published else _by_query
    return WideLog(TextTable(paths, schema, partial(read, repeats == "count")), {}, invalid)


@yandex.recognised
def _is_yandex(beginning: Beginning) -> dict[str, Any] | None:
    found = [line.strip() for line in beginning.text.split("\n")[:20] if line.strip()]
    known = found and (all(map(_LINE.fullmatch, found)) or _SESSION.fullmatch(found[0].partition(";")[0].strip()))
    return {} if known else None


def _by_query(count: bool, path: str) -> Iterator[Impression]:
    """Yield the sessions of a file with a line for each query. count: whether clicks on a document are counted."""
    for number, line in lines(path):
        for session in line.split(";"):
            text = session.strip()
            if text:
                match = _SESSION.fullmatch(text)
                slate = [int(document) for document in match[2].split(",")] if match else []
                if match is None or max(slate) > _LARGEST:
                    expected = "'query_region TAB document,document,... : clicked , clicked ;'"
                    remedy = "correct the session; document ids are numbers of at most 63 bits"
                    raise malformed(path, number, text, expected, remedy)
                yield _clicked(count, slate, map(int, match[3].split(",") if match[3] else ()), match[1])


def _published(count: bool, path: str) -> Iterator[Impression]:
    """Yield the lists of a file with lines of queries and of clicks. count: see `_by_query`."""
    expected = "'session TAB time TAB Q TAB query TAB region TAB url ...' or 'session TAB time TAB C TAB url'"
    remedy = "correct the line; ids are numbers of at most 63 bits"
    each = _matches(path, _LINE, lambda one: max(map(int, (one[4] or one[5]).split())) <= _LARGEST, expected, remedy)
    for session, found in groupby(each, lambda match: match[1]):
        shown: list[tuple[str, list[int], list[int]]] = []
        for match in found:
            if match[5] is None:
                shown.append((f"{match[2]}_{match[3]}", [int(url) for url in match[4].split()], []))
            elif shown:
                url = int(match[5])
                next((one for one in reversed(shown) if url in one[1]), shown[-1])[2].append(url)
        for query, slate, clicks in shown:
            yield _clicked(count, slate, clicks, query, session)


def _matches(
    path: str, pattern: re.Pattern[str], fits: Callable[[re.Match[str]], bool], expected: str, remedy: str, *how: str
) -> Iterator[re.Match[str]]:
    """Yield the lines of a file that are not empty. how: as `lines` takes it.

    Raises:
        LogError: a line does not match the pattern, or its match does not fit.
    """
    for number, line in lines(path, *how):
        match = pattern.fullmatch(line.rstrip("\r\n"))
        if match is not None and fits(match):
            yield match
        elif line.strip():
            raise malformed(path, number, line, expected, remedy)


def _clicked(count: bool, slate: list[int], clicked: Iterable[int], *beside: str) -> Impression:
    """Return a list with its clicks, and those that are left out."""
    clicks, outside, again = dict.fromkeys(slate, 0.0), 0, 0
    for document in clicked:
        if document not in clicks:
            outside += 1
        elif clicks[document] and not count:
            again += 1
        else:
            clicks[document] += 1
    left_out = Counter({"click-outside-slate": outside, "click-repeated": again})
    return (slate, [clicks[document] for document in slate], *beside), dict(+left_out)


_CLICK = re.compile(r"(?P<time>[^\t]*)\t([^\t]+)\t([^\t]*)\t(?P<rank>\d{1,18})[\t ]\d+\t(?P<url>\S[^\t]*)")


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
    table = TextTable(expand(path), _schema(pa.string(), "query", "user", "time"), partial(_of_sogou, encoding))
    return WideLog(table, {}, invalid, duplicates="first")


@sogou.recognised
def _is_sogou(beginning: Beginning) -> dict[str, Any] | None:
    text = beginning.text  # empty unless it is UTF-8
    first = [line.strip("\r") for line in (text or beginning.head.decode("latin-1")).split("\n")[:5] if line]
    if not (first and all(map(_CLICK.fullmatch, first))):
        return None
    return {} if text.isascii() else {"encoding": "utf-8"}


def _of_sogou(encoding: str, path: str) -> Iterator[Impression]:
    """Yield the impressions of a file."""
    left_out, expected = Counter[str](), "'time TAB user TAB [query] TAB rank TAB order TAB url'"
    how = "correct the line, or name the encoding: sogou(encoding='utf-8')", encoding, "backslashreplace"
    for (user, asked), clicks in groupby(
        _matches(path, _CLICK, bool, expected, *how), lambda click: click.groups()[1:3]
    ):
        found, time, query = dict[int, str](), "", asked.removeprefix("[").removesuffix("]")
        for click in clicks:
            time, rank = time or click["time"], int(click["rank"])
            if not 1 <= rank <= _LOWEST:
                left_out["click-below"] += 1
            elif rank in found:
                left_out["click-repeated"] += 1
            else:
                found[rank] = click["url"]
        ranks = range(1, max(found, default=0) + 1)
        slate, clicked = [found.get(rank) for rank in ranks], [1.0 if rank in found else None for rank in ranks]
        if found:  # what was left out of others is counted with the next
            yield (slate, clicked, query, user, time), dict(left_out)
            left_out.clear()


@READERS.register
@Reader.of("sessions", begins="(?s).*<session num=.*<interaction num=")
def tiangong(path: str | Path | Sequence[str | Path], *, invalid: Invalid = "raise") -> WideLog:
    """Read the result lists of TianGong-ST's XML file (`sogousessiontrack2020.xml`), plain or `.gz`.

    An impression is an interaction: a query with its results and the clicks on them. Columns: slate (ids of
    documents), clicks, `query` (its id), `session`. Ranks that are missing are empty. Some three in a hundred lists
    hold a document twice: click models count its first place, unless `read_log(..., duplicates="each")` says
    otherwise. A rank that was clicked several times counts once (`click-repeated`); clicks at ranks without a
    result are left out (`click-outside-slate`). No propensities were logged. Files of other layouts, such as the tables
    of human labels, are not read.

    Memory is bounded by the longest session.

    Raises:
        UsageError: the argument is not a path.
        LogError: there is no file; while reading, it is not in the format.
    """
    return WideLog(
        TextTable(expand(path), _schema(pa.string(), "query", "session"), _of_tiangong), {}, invalid, duplicates="first"
    )


def _of_tiangong(path: str) -> Iterator[Impression]:
    """Yield the interactions of a file."""
    with open_bytes(path) as file:
        try:
            for _, element in ET.iterparse(file, events=("end",)):  # noqa: S314  expat bounds entities itself
                if element.tag == "session":
                    session = str(element.get("num"))
                    for interaction in element.iter("interaction"):
                        yield _interaction(path, session, interaction)
                    element.clear()
        except ET.ParseError as error:
            raise LogError(f"{path} is not valid XML: {error}", "use the XML file of TianGong-ST") from error


def _interaction(path: str, session: str, interaction: ET.Element) -> Impression:
    """Return the values of an interaction.

    Raises:
        LogError: something is missing, or a rank is none.
    """
    query = interaction.findtext("query_id")
    results: dict[int, str | None] = {}
    try:
        for result in interaction.iterfind("results/result"):
            results[_rank(result.get("rank"))] = result.findtext("docid")
        clicked = [_rank(click.findtext("rank")) for click in interaction.iterfind("clicked/click")]
    except (TypeError, ValueError):
        results = {}
        clicked = []
    if query is None or not results or None in results.values():
        where = f"{path}, session {session}, interaction {interaction.get('num')}"
        raise LogError(f"{where}: expected query_id, and results with rank and docid", "correct it, or remove it")
    ranks = range(1, max(results) + 1)
    slate = [results.get(rank) for rank in ranks]
    clicks = [float(rank in clicked) if rank in results else None for rank in ranks]
    outside = sum(rank not in results for rank in clicked)
    again = len(clicked) - outside - len(set(clicked) & set(results))
    left_out = Counter({"click-outside-slate": outside, "click-repeated": again})
    return (slate, clicks, query, session), dict(+left_out)


def _rank(text: str | None) -> int:
    rank = int(text or "")
    if not 1 <= rank <= _LOWEST:
        raise ValueError(text)
    return rank
