"""Sessions of TianGong-ST (Chen et al. 2019), in the published XML form.

<session num="1"> <interaction num="1"> <query_id>q1</query_id>
    <results> <result rank="1"> <docid>d1</docid> ... </result> ... </results>
    <clicked> <click num="1"> <rank>1</rank> ... </click> ... </clicked> </interaction> ... </session>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa

from ...errors import LogError
from ..beginning import Beginning
from ..files import expand
from ..text import Impression, TextTable, open_bytes
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

_SCHEMA = pa.schema(
    {"slate": pa.list_(pa.string()), "clicks": pa.list_(pa.float64()), "query": pa.string(), "session": pa.string()}
)
_LOWEST = 1000
"""The highest rank that is read."""


@READERS.register
@Reader.of("sessions")
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
    return WideLog(TextTable(expand(path), _SCHEMA, _impressions), {}, invalid, duplicates="first")


@tiangong.recognised
def _recognised(beginning: Beginning) -> dict[str, Any] | None:
    return {} if re.search(r"<session num=.*<interaction num=", beginning.text, re.DOTALL) else None


def _impressions(path: str) -> Iterator[Impression]:
    """Yield the interactions of a file."""
    with open_bytes(path) as file:
        try:
            for _, element in ET.iterparse(file, events=("end",)):  # noqa: S314  expat bounds entities itself
                if element.tag == "session":
                    session = str(element.get("num"))
                    for interaction in element.iter("interaction"):
                        yield _impression(path, session, interaction)
                    element.clear()
        except ET.ParseError as error:
            raise LogError(f"{path} is not valid XML: {error}", "use the XML file of TianGong-ST") from error


def _impression(path: str, session: str, interaction: ET.Element) -> Impression:
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
    left_out = {"click-outside-slate": outside, "click-repeated": again}
    values: tuple[Any, ...] = (slate, clicks, query, session)
    return values, {rule: times for rule, times in left_out.items() if times}


def _rank(text: str | None) -> int:
    rank = int(text or "")
    if not 1 <= rank <= _LOWEST:
        raise ValueError(text)
    return rank
