"""Public data sets that tell of no ranking that was shown. Each is recognised, so that its error says what it lacks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

from ...errors import LogError
from ...wording import ColumnNames, Wording
from .. import names
from ..description import Layout
from ..opening import Beginning
from .registry import READERS, Declaration


@dataclass(frozen=True)
class Lacking(Declaration):
    """What a data set lacks, and what to do.

    lines, columns: how it is known, by a pattern of all of its first lines, or by one of these sets of columns.
    read_as: role -> column, by which it is read all the same.
    """

    of_tables: ClassVar[bool] = False

    layout: Layout
    lacks: str
    remedy: str = "log what was shown: an id for every list, and the position and click of each item"
    lines: str = ""
    columns: tuple[list[str], ...] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)

    def open(self, source: Any, **_how: Any) -> NoReturn:
        remedy = Wording(self.remedy, ColumnNames(self.read_as)) if self.read_as else self.remedy
        raise LogError(f"{source}: {self.lacks}" if isinstance(source, str) else self.lacks, remedy)

    def recognised(self, beginning: Beginning) -> dict[str, Any] | None:
        lines = beginning.text.splitlines()[:100] if self.lines else []
        fits = bool(lines) and all(re.fullmatch(self.lines, line) for line in lines)
        return {} if fits or {*beginning.names} in map(set, self.columns) else None


@READERS.register
@Lacking.reader
def mind(source: Any, **_how: Any) -> Any:
    """Refuse MIND's `behaviors.tsv` (Wu et al. 2020), with what it lacks: its impressions were shuffled.

    It has what was shown and clicked, in an order that its publishers drew, not in that which was shown. So no
    ranking can be judged by it and no click model of ranks fitted: both need the places. `columns=` reads it all the
    same, by the names in the error, such as to count clicks by news.

    Raises:
        LogError: always.
    """


@READERS.register
@Lacking.reader
def retailrocket(source: Any, **_how: Any) -> Any:
    """Refuse RetailRocket's `events.csv`, with what it lacks: it has views, carts and purchases, and no lists.

    Raises:
        LogError: always.
    """


@READERS.register
@Lacking.reader
def otto(source: Any, **_how: Any) -> Any:
    """Refuse OTTO's sessions (2022, `session` and its `events` of `aid`, `ts` and `type`): they have no lists.

    Raises:
        LogError: always.
    """


@READERS.register
@Lacking.reader
def recbole(source: Any, **_how: Any) -> Any:
    """Refuse RecBole's atomic files (`.inter`, typed names such as `user_id:token`), with what they lack.

    They hold interactions of users with items, and no lists that were shown. A file with positions is read by its
    columns, as any other table.

    Raises:
        LogError: always.
    """


@recbole.recognised
def _is_recbole(beginning: Beginning) -> dict[str, Any] | None:
    found = [_FIELD.fullmatch(name) for name in beginning.names]
    fields = [one[1] for one in found if one]
    typed = len(fields) == len(found) and "user_id" in fields
    return {} if typed and not any(names.closeness("position", field) >= 2 for field in fields) else None


_FIELD = re.compile(r"(\w+):(token|float|token_seq|float_seq)")


@READERS.register
@Lacking.reader
def snowplow_tsv(source: Any, **_how: Any) -> Any:
    """Refuse Snowplow's enriched events as tab-separated text, with the export that `snowplow` reads.

    They have 131 columns without a header, and what was viewed and clicked is in JSON that two of them hold.

    Raises:
        LogError: always.
    """
