"""Public data sets, as they are declared: tables with plain columns, and what tells of no ranking that was shown.

Each of the latter is recognised, so that its error says what it lacks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import LogError, UsageError
from ...log.arrays import array_names, read_arrays
from ...log.rules import NOT_DRAWN
from ...wording import ColumnNames, Option, Wording
from .. import flat
from ..computed_columns import Computed, DerivedTable, always, one_each
from ..conversions import whole_column
from ..description import Layout
from ..files import is_paths
from ..long import LongLog
from ..names import closeness
from ..opening import Beginning, open_table
from ..tables import MemoryTable, all_pieces, refuse_lacking
from ..wide import Gaps, Invalid, WideLog
from .registry import READERS, Declaration, Declared, Reader


@READERS.register
@Declared.reader
def trivago2019(source: Any, *, invalid: Invalid = "raise") -> Any:
    """Read Trivago's `train.csv`: each click on a hotel with the list that it was in.

    An impression is a row with the action `clickout item`. Columns: slate (`impressions`, top first), clicks (1 for
    `reference`), `user`, `session`, and as they are `prices`, `platform`, `city`, `device` and the others. A list whose
    `reference` is not among its hotels has no click, which is counted as `click-outside-slate`; so has one without a
    reference, as in the challenge's test data.

    **Only lists with a click are there**: no click rate and no other ranking can be judged by them, since lists that
    nobody clicked are missing. Click models can learn where users look, given that they click.

    Raises:
        ColumnError: a column of `train.csv` is missing.
    """


Searches = Literal["random", "sorted", "all"]

_NONE = "no search of {} was sorted at random (random_bool is never 1), so no other ranking can be evaluated"
_READ_ALL = Wording("for click models read all: {}", Option("format", "expedia(searches=all)"))
_SORTED = "a ranker sorted these searches or some of them, so no other ranking can be evaluated"
_EXPEDIA = Declared.of("expedia")
_SEARCHES = {
    "random": replace(
        _EXPEDIA, kept=("random_bool", "1"), others=NOT_DRAWN.code, without=(_NONE, _READ_ALL), logging="uniform"
    ),
    "sorted": replace(_EXPEDIA, kept=("random_bool", "0"), lacks=_SORTED),
    "all": replace(_EXPEDIA, lacks=_SORTED),
}


@READERS.register
@Reader.of("long", of_tables=True)
def expedia(source: Any, *, searches: Searches = "random", gaps: Gaps = "close", invalid: Invalid = "raise") -> LongLog:
    """Read Expedia's `train.csv`, or a table of its columns: the hotels of each search and the clicks on them.

    - searches: "random" keeps those with `random_bool` 1, whose hotels were sorted at random: other rankings of the
      hotels that were shown can be judged by them, with `logging="uniform"`. The rest are counted as `not-drawn`.
      "sorted" keeps the others, which a ranker sorted: nothing was drawn, so that they can judge none. "all" keeps
      both, for click models: so is a table read of which no search is random.
    - gaps: positions of offers that are not in the file are missing; "close" makes the others ranks 1, 2, 3 ...;
      "raise" leaves them as they are, which click models read and all other jobs refuse.

    Bookings (`booking_bool`, `gross_bookings_usd`) stay columns of the hotels. Hotels that were not shown are unknown,
    and `test.csv` has no positions and no clicks.

    Raises:
        UsageError: there is no such choice of searches. ColumnError: a column of `train.csv` is missing. LogError: no
            search is random.
    """
    if searches not in get_args(Searches):
        raise UsageError(f"searches is {searches!r}", 'use "random", "sorted" or "all"')
    return replace(_SEARCHES[searches], gaps=gaps).long_log(source, invalid)


@expedia.recognised
def _is_expedia(beginning: Beginning) -> Mapping[str, Any] | None:
    if _EXPEDIA.recognised(beginning) is None:
        return None
    rows = beginning.rows
    none = rows is not None and not pc.any(pc.equal(rows.column("random_bool").cast(pa.string()), "1")).as_py()
    return {"searches": "all" if none else "random"}


@READERS.register
@Declared.reader
def avito(source: Any, *, gaps: Gaps = "close", invalid: Invalid = "raise") -> Any:
    """Read Avito's `trainSearchStream.tsv`: the contextual ads of each search and the clicks on them.

    Rows of other ads (`ObjectType` 1 and 2) have no `IsClick`; they are left out, and counted as `place-not-recorded`.
    `HistCTR` is what Avito expected before. Nothing was drawn: click models can be fitted, no other ranking be judged.

    gaps: the positions between those of contextual ads are missing; "close" makes them ranks 1, 2, 3 ...; "raise"
    leaves them as they are, which click models read and all other jobs refuse.

    Raises:
        ColumnError: a column is missing.
    """


_DIGINETICA_FILES = "train-queries.csv", "train-clicks.csv"
_DIGINETICA = Declared.of("diginetica")


@READERS.register
@Reader.of("events")
def diginetica(path: str | Path, *, invalid: Invalid = "raise") -> WideLog:
    """Read the folder of Diginetica's files, or its `train-queries.csv` with `train-clicks.csv` beside it.

    An impression is a query: `items` in the order of the shop's default ranking, top first. Columns: slate, clicks,
    `session`, `user` where it is known, and as they are `queryId`, `categoryId`, `searchstring.tokens`, `eventdate`
    and the others. Queries of the challenge's test (`is.test`) have no clicks and are left out. Clicks are joined
    on `queryId` and `itemId`; those on other items and repeats are counted.

    One ranker sorted the items, and no propensities were logged: other rankings cannot be judged unless like queries
    were answered differently. Click models can be fitted.

    Raises:
        LogError: the files are not there, or no click is on what was returned. ColumnError: a column is missing.
    """
    queries, clicks = _diginetica_files(Path(path))
    return _DIGINETICA.log(queries, invalid, open_table(clicks))


@diginetica.recognised
def _is_diginetica(beginning: Beginning) -> Mapping[str, Any] | None:
    names = {Path(path).name for path in beginning.paths}
    try:
        _diginetica_files(Path(beginning.source))
    except (LogError, TypeError):
        return None
    known = _DIGINETICA_FILES[1] in names or _DIGINETICA.recognised(beginning) is not None
    return {} if _DIGINETICA_FILES[0] in names and known else None


def _diginetica_files(path: Path) -> tuple[str, str]:
    """Return the files of the queries and of the clicks."""
    folder = path if path.is_dir() else path.parent
    found = [str(folder / name) for name in _DIGINETICA_FILES]
    for one in found:
        if not Path(one).is_file():
            raise LogError(f"there is no {one}", f"give the folder that contains {' and '.join(_DIGINETICA_FILES)}")
    return found[0], found[1]


_RANDOM_LOGS = "give log_random_*.csv, or the folder that contains it"
_KUAIRAND = Declared.of("kuairand")
_UNSEEN = 0.5
"""Videos of the pool that no row may have shown, as many as are expected, up to which the pool is taken for known."""


@READERS.register
@Reader
def kuairand(source: Any, *, clicks: str = "is_click", invalid: Invalid = "raise") -> WideLog:
    """Read the random interventions of KuaiRand: `log_random_*.csv`, or the folder that holds it.

    An impression is a row with `is_rand` 1: one video, drawn uniformly from a pool. Columns: slate (the video),
    candidates (the pool: all videos that were inserted so, which one pass over the log finds), clicks, propensity
    (1 / the size of the pool), `user`, and the file's others to group by. A part of the file may show a part of the
    pool: it is refused where draws from as many videos as it shows would have left some of them unseen.

    clicks: the column of the feedback, such as `long_view` or `is_like`.

    Rows of `log_standard_*.csv` were recommended, with unknown probabilities, and are counted as `not-drawn`.
    Which videos came before and after in the feed was not published, so that nothing longer than one slot can be
    judged.

    Raises:
        ColumnError: a column of KuaiRand is missing. LogError: no row is random, or too few to tell the pool.
    """
    rows = _KUAIRAND.rows(_random_logs(source))
    refuse_lacking(rows, (clicks,), _RANDOM_LOGS)
    pieces = [*all_pieces(rows, ("video_id",))]
    videos = np.unique(np.concatenate([np.asarray(piece.data.column(0)) for piece in pieces]))
    draws = sum(len(piece.rows) for piece in pieces)
    recommended = sum(piece.skipped.get(NOT_DRAWN.code, 0) for piece in pieces)
    if (unseen := len(videos) * (1 - 1 / len(videos)) ** draws) > _UNSEEN:
        raise LogError(
            f"{rows.describe()} has {draws:,} rows that were shown at random, too few to tell the pool that their "
            f"videos were drawn from: so many draws from the {len(videos):,} videos that they show would leave about "
            f"{max(unseen, 1):,.0f} unseen. The other {recommended:,} rows were not drawn",
            _RANDOM_LOGS,
        )
    computed: dict[str, Computed] = {"slate": one_each("video_id"), "clicks": one_each(clicks)}
    computed["candidates"] = always(pa.array(videos), "video_id")
    computed["propensity"] = ("video_id",), partial(_uniform, 1 / len(videos))
    kept = {name: name for name in rows.names if name not in ("video_id", "is_rand", clicks)}
    return WideLog(DerivedTable(rows, kept, computed, width=len(videos)), {"user": "user_id"}, invalid)


@kuairand.recognised
def _is_kuairand(beginning: Beginning) -> Mapping[str, Any] | None:
    named = any(Path(path).name.startswith("log_random_") for path in beginning.paths)
    return _KUAIRAND.recognised(beginning) if not named or len(beginning.paths) < 2 else {}


def _random_logs(source: Any) -> Any:
    """Return the random logs of a folder; anything else as it is."""
    if is_paths(source) and isinstance(source, str | Path) and Path(source).is_dir():
        found = [str(path) for path in sorted(Path(source).glob("log_random_*.csv*"))]
        if not found:
            raise LogError(f"there is no log_random_*.csv in {str(source)!r}", _RANDOM_LOGS)
        return found
    return source


def _uniform(propensity: float, rows: pa.RecordBatch) -> pa.Array:
    return pa.array(np.full(len(rows), propensity))


_FINN = ("userId", "slate", "click", "slate_lengths")
_NO_ARRAYS = "use data.npz of the Finn.no slates"
_FINN_SLATES = Declared.of("finn_slates")
_NO_CLICK = _FINN_SLATES.nothing[-1]


@READERS.register
@Reader
def finn_slates(path: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read the Finn.no slates: search results and recommendations with at most one click each.

    They are `data.npz`, or a table with a row per slate: `userId`, `slate`, `click` (the item), and others.

    Columns: slate (without the padding 0 and the item 1, which stands for no click), clicks, `user`,
    `interaction_type` (1 search, 2 recommendations) to group by. Item 2 stands for all that are rare; where it comes
    twice, click models count its first place. Items that were ranked lower than what was shown are unknown, and no
    propensities were logged: other rankings cannot be judged, and click models can be fitted. Arrays are held in
    memory. A click on what is not in its slate is counted as `click-outside-slate`.

    Raises:
        LogError: it cannot be read, or an array is missing. ColumnError: a column of the table is missing.
    """
    named = fspath(path) if isinstance(path, str | PathLike) else ""
    arrays = named.endswith(".npz") or array_names([named], b"PK")
    return _FINN_SLATES.log(_of_arrays(named) if arrays else path, invalid)


@finn_slates.recognised
def _is_finn(beginning: Beginning) -> Mapping[str, Any] | None:
    if {*_FINN} <= array_names(beginning.paths, beginning.head):
        return {}
    rows = beginning.rows
    if rows is None or _FINN_SLATES.recognised(beginning) is None:
        return None
    slate, click = (whole_column(rows.column(name)) for name in ("slate", "click"))
    if not (isinstance(slate.type, flat.LISTS) and all(map(pa.types.is_integer, (slate.type.value_type, click.type)))):
        return None
    with_none = pc.list_parent_indices(slate).filter(pc.equal(slate.flatten(), _NO_CLICK))
    return {} if len(with_none.unique()) == len(rows) and pc.any(pc.equal(click, _NO_CLICK)).as_py() else None


def _of_arrays(where: str) -> MemoryTable:
    """Return a row per slate that was shown.

    Raises:
        LogError: the file cannot be read, or an array is missing.
    """
    arrays: Mapping[str, Any] = read_arrays(where, _FINN, _NO_ARRAYS)
    if missing := [name for name in _FINN if name not in arrays]:
        raise LogError(f"{where} has no array {missing[0]!r}", _NO_ARRAYS)
    try:
        _, times, places = arrays["slate"].shape  # of the times that a user does not have all lists are padding
        slate = pa.FixedSizeListArray.from_arrays(pa.array(arrays["slate"].ravel()), places)
        columns = {"userId": np.repeat(arrays["userId"], times), "slate": slate}
        columns |= {name: arrays[name].ravel() for name in ("click", "interaction_type") if name in arrays}
        return MemoryTable(pa.table(columns), where)
    except (ValueError, pa.ArrowException) as error:
        raise LogError(f"the arrays of {where} have inconsistent shapes: {error}", _NO_ARRAYS) from error


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
    return {} if typed and not any(closeness("position", field) >= 2 for field in fields) else None


_FIELD = re.compile(r"(\w+):(token|float|token_seq|float_seq)")


@READERS.register
@Lacking.reader
def snowplow_tsv(source: Any, **_how: Any) -> Any:
    """Refuse Snowplow's enriched events as tab-separated text, with the export that `snowplow` reads.

    They have 131 columns without a header, and what was viewed and clicked is in JSON that two of them hold.

    Raises:
        LogError: always.
    """
