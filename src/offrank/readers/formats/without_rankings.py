"""Public data sets that tell of no ranking that was shown. Each is recognised, so that its error says what it lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from ...errors import LogError
from ...wording import ColumnNames, Wording
from .. import names
from ..description import Layout
from ..opening import Beginning
from .registry import READERS, Reader

_LOG = "log what was shown: an id for every list, and the position and click of each item"


def lacking(
    layout: Layout, why: str, known: Callable[[Beginning], bool], remedy: str = _LOG
) -> Callable[[Callable[..., Any]], Reader]:
    """Return a decorator that registers the reader of a data set, which refuses it.

    why, remedy: what it lacks, and what to do. known: whether a source is of that data set.
    """

    def made(described: Callable[..., Any]) -> Reader:
        @wraps(described)
        def refuse(source: Any, **_how: Any) -> NoReturn:
            raise LogError(f"{source}: {why}" if isinstance(source, str) else why, remedy)

        reader = READERS.register(Reader.of(layout)(refuse))
        reader.recognised(lambda beginning: {} if known(beginning) else None)
        return reader

    return made


_MIND = re.compile(r"\d+\t\S+\t\d+/\d+/\d{4} [\d:]+ [AP]M\t(N\d+( N\d+)*)?\t(N\d+-[01]( N\d+-[01])*)")


@lacking(
    "sessions",
    "MIND's impressions were shuffled before publication, so the order in which news were shown is unknown: no "
    "other ranking can be evaluated",
    lambda beginning: _of_lines(beginning, lambda line: _MIND.fullmatch(line.rstrip()) is not None),
    Wording(
        "use a log with positions; to read it in that order all the same, use {}",
        ColumnNames({"slate": "column_5.item", "clicks": "column_5.click"}),
    ),
)
def mind(source: Any, **_how: Any) -> Any:
    """Refuse MIND's `behaviors.tsv` (Wu et al. 2020), with what it lacks: its impressions were shuffled.

    It has what was shown and clicked, in an order that its publishers drew, not in that which was shown. So no
    ranking can be judged by it and no click model of ranks fitted: both need the places. `columns=` reads it all the
    same, by the names in the error, such as to count clicks by news.

    Raises:
        LogError: always.
    """


@lacking(
    "none",
    "RetailRocket's events are views and purchases of items, not lists that were shown",
    lambda beginning: {*beginning.names} == {"timestamp", "visitorid", "event", "itemid", "transactionid"},
)
def retailrocket(source: Any, **_how: Any) -> Any:
    """Refuse RetailRocket's `events.csv`, with what it lacks: it has views, carts and purchases, and no lists.

    Raises:
        LogError: always.
    """


@lacking(
    "none",
    "OTTO's sessions are clicks, carts and orders of items, not lists that were shown",
    lambda beginning: {name.removeprefix("events.") for name in beginning.names} == {"session", "aid", "ts", "type"},
)
def otto(source: Any, **_how: Any) -> Any:
    """Refuse OTTO's sessions (2022, `session` and its `events` of `aid`, `ts` and `type`): they have no lists.

    Raises:
        LogError: always.
    """


def _of_recbole(beginning: Beginning) -> bool:
    found = [_FIELD.fullmatch(name) for name in beginning.names]
    fields = [one[1] for one in found if one]
    typed = bool(fields) and len(fields) == len(found) and "user_id" in fields
    return typed and not any(names.closeness("position", field) >= 2 for field in fields)


@lacking("none", "RecBole's interactions are what users did, not lists that were shown", _of_recbole)
def recbole(source: Any, **_how: Any) -> Any:
    """Refuse RecBole's atomic files (`.inter`, typed names such as `user_id:token`), with what they lack.

    They hold interactions of users with items, and no lists that were shown. A file with positions is read by its
    columns, as any other table.

    Raises:
        LogError: always.
    """


_FIELD = re.compile(r"(\w+):(token|float|token_seq|float_seq)")


@lacking(
    "events",
    "these are Snowplow's enriched events: 131 columns without a header, with views of lists and clicks as "
    "JSON in the columns contexts and unstruct_event",
    lambda beginning: _of_lines(beginning, lambda line: _is_enriched(line.split("\t"))),
    "export them as JSON lines with one of Snowplow's analytics SDKs (one object per event, with the keys "
    "unstruct_event_com_snowplowanalytics_snowplow_ecommerce_snowplow_ecommerce_action_1 and "
    "contexts_com_snowplowanalytics_snowplow_ecommerce_product_1); these are read as `snowplow`",
)
def snowplow_tsv(source: Any, **_how: Any) -> Any:
    """Refuse Snowplow's enriched events as tab-separated text, with the export that `snowplow` reads.

    They have 131 columns without a header, and what was viewed and clicked is in JSON that two of them hold.

    Raises:
        LogError: always.
    """


def _of_lines(beginning: Beginning, fits: Callable[[str], bool]) -> bool:
    """Whether the first lines of a text all fit."""
    lines = beginning.text.splitlines()[:100]
    return bool(lines) and all(map(fits, lines))


def _is_enriched(fields: list[str]) -> bool:
    """Whether a line has the fields of an enriched event: a kind in the 6th place, a UUID in the 7th."""
    return len(fields) == _ENRICHED and fields[5] in _KINDS and _UUID.fullmatch(fields[6]) is not None


_ENRICHED = 131
_KINDS = {"page_view", "page_ping", "unstruct", "struct", "transaction", "transaction_item"}
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
