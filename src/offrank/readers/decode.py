"""Decoding of a piece in the wide layout: its columns as flat lists, checked, and padded to log batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import ColumnError
from ..log import rules
from ..log.batch import Contexts, Floats, Integers, Labels, LogBatch, Shown
from ..log.hashing import alone
from ..log.rules import Faults
from ..log.schema import WRITTEN
from ..log.source import Needs
from ..log.texts import Texts
from . import conversions, flat
from .computed_columns import in_lists
from .description import ClicksAs
from .features import sparse_features, square_lists
from .flat import Lists
from .tables import Piece

Duplicates = Literal["raise", "first", "each"]
_LARGEST, _ABOVE_0 = float(np.finfo(np.float64).max), float(np.nextafter(0, 1))
_NOT_LARGE = (rules.TOO_LARGE_VALUE, -rules.MOST_VALUE, rules.MOST_VALUE)
_NOT_TINY = (rules.TINY_PROBABILITY, rules.LEAST_PROBABILITY, 1.0)
_OF_ANOTHER_POLICY = (rules.BAD_PROBABILITY, 0.0, 1.0)
_WEIGHT, _POSITIVE = (rules.NEGATIVE_SCORE, 0.0, _LARGEST), (rules.NOT_POSITIVE, _ABOVE_0, _LARGEST)
_BOUNDS = {
    "clicks": [(rules.BAD_CLICKS, 0.0, _LARGEST), (rules.TOO_LARGE_VALUE, 0.0, rules.MOST_VALUE)],
    "reward": [(rules.BAD_REWARD, -_LARGEST, _LARGEST), _NOT_LARGE],
    "numbers": [(rules.BAD_NUMBER, -_LARGEST, _LARGEST), _NOT_LARGE],
    "item_numbers": [(rules.BAD_NUMBER, -_LARGEST, _LARGEST), _NOT_LARGE],
    "inclusion": [(rules.BAD_INCLUSION, _ABOVE_0, 1.0), (rules.TINY_INCLUSION, rules.LEAST_INCLUSION, 1.0)],
    "propensity": [(rules.BAD_PROPENSITY, _ABOVE_0, 1.0), _NOT_TINY],
    "slot_propensity": [(rules.BAD_SLOT_PROPENSITY, _ABOVE_0, 1.0), _NOT_TINY],
    "scores": [(rules.BAD_SCORE, -_LARGEST, _LARGEST), _NOT_LARGE],
}
"""The allowed numbers of each role: (rule, least, largest). A slate that was drawn has positive probability."""


class Decoded:
    """The columns of a piece as flat lists, checked; rows that break a rule are marked in `faults`.

    columns: role -> column, as `WideLog` chose them. top_k: how many slots of each slate are kept. duplicates: see
    `read_log`; it concerns jobs that support empty ranks. clicks_as: how clicks are written.

    Raises:
        ColumnError: a column has the wrong type.
        BadCell: a text is not the required list.
    """

    def __init__(
        self,
        piece: Piece,
        columns: Mapping[str, str],
        needed: Needs,
        top_k: int | None,
        duplicates: Duplicates = "raise",
        clicks_as: ClicksAs = "numbers",
    ) -> None:
        self.piece, self.columns, self.needed, self.clicks_as = piece, columns, needed, clicks_as
        self.faults = Faults(np.zeros(len(piece.data), np.int16))
        slate, listed = columns["slate"], columns.get("candidates")
        shown = piece.data.column(slate)
        self.ranks = Ranks(flat.plain_column(shown), slate, duplicates) if needed.holes else None
        self.slate = flat.id_lists(shown, slate) if self.ranks is None else self.ranks.items
        self.candidates = self.slate if listed is None else flat.id_lists(piece.data.column(listed), listed)
        distinct = self.ranks is None or duplicates != "each"
        located = self._places(self.slate, "slate", rules.NOT_CANDIDATE, distinct=distinct)
        self.slots = located if self.ranks is None else self.ranks.spread(located)
        self.length = self.slate.lengths if self.ranks is None else self.ranks.lengths
        role_of = {name: name.partition(":")[0] for name in columns}
        self.beside = {
            name: self._beside(name) for name, role in role_of.items() if role in ("clicks", "scores", "item_numbers")
        }
        self.written = {name: self._written(name) for name, role in role_of.items() if role in WRITTEN}
        self.rankings = {name: self._ranking(f"rankings:{name}") for name in needed.rankings}
        self.keys = {name: self._key(f"keys:{name}") for name in needed.keys}
        self.clusters = {}
        for name in needed.clusters:
            cluster = piece.data.column(columns[f"clusters:{name}"])
            is_code = pa.types.is_signed_integer(cluster.type) and not cluster.null_count  # as most are
            self.clusters[name] = flat.id_codes(cluster, name) if is_code else self._cluster(f"clusters:{name}")
        self.texts = self._texts() if needed.texts else None
        if top_k is not None:
            self._cut(top_k)
        by_row = [name for name, role in role_of.items() if role in ("inclusion", "reward", "numbers")]
        self.by_row = {name: self._by_row(name) for name in by_row}
        self.features = None
        if "features" in columns:
            found = columns["features"], columns.get("feature_values")
            self.features = sparse_features(found, piece.data, self.candidates.lengths, self.faults)

    def batch(self, rows: Integers | None, skipped: Mapping[str, int], dropped: Floats) -> LogBatch:
        """Return the log batch of these rows (all if None)."""
        pick: Any = slice(None) if rows is None else rows
        size, length = self.candidates.lengths[pick], self.length[pick]
        widest, slots = int(size.max(initial=0)), int(length.max(initial=0))
        contexts = Contexts(
            self.candidates.padded(widest, rows=rows),
            np.ascontiguousarray(size),
            np.ascontiguousarray(length),
            scores={
                name: self.beside[f"scores:{name}"].padded(widest, 0, np.float64, rows) for name in self.needed.scores
            },
            rankings={name: np.ascontiguousarray(ranking[pick]) for name, ranking in self.rankings.items()},
            keys={name: np.ascontiguousarray(key[pick]) for name, key in self.keys.items()},
            features=self.features if self.features is None or rows is None else self.features.take(rows),
        )
        numbers = {name: np.array(self.by_row[f"numbers:{name}"][pick]) for name in self.needed.numbers}
        for name in self.needed.item_numbers:
            numbers[name] = self.beside[f"item_numbers:{name}"].padded(slots, 0, np.float64, rows)
        return LogBatch(
            contexts,
            Shown(
                np.ascontiguousarray(self.slots[pick, :slots]),
                {name: _of_slots(found, rows, slots) for name, found in self.written.items()},
            ),
            self.beside["clicks"].padded(slots, 0, np.float64, rows) if "clicks" in self.beside else None,
            np.array(self.by_row["reward"][pick]) if "reward" in self.by_row else None,
            np.array(self.by_row["inclusion"][pick]) if "inclusion" in self.by_row else np.ones(len(size)),
            (self.piece.rows[pick] + self.piece.base).view(np.uint64),
            {name: self._labels(f"labels:{name}", pick) for name in self.needed.labels},
            skipped,
            dropped,
            self.piece.file,
            self.piece.base,
            {name: np.ascontiguousarray(codes[pick]) for name, codes in self.clusters.items()},
            numbers,
            {name: flat.seconds(self._column(f"times:{name}"))[pick] for name in self.needed.times},
            texts=self.texts,
            listed="candidates" in self.columns,
        )

    def _texts(self) -> Texts:
        """Return the texts of all items and keys of the piece."""
        found = [flat.texts(self.candidates.raw, self.columns["slate"])]
        found += [flat.texts(self._column(f"keys:{name}"), name) for name in self.needed.keys]
        return sum(found, Texts.none())

    def _cut(self, slots: int) -> None:
        """Keep the first slots of each slate and the values beside them; all candidates stay."""
        self.length = np.minimum(self.length, slots)
        self.slots = self.slots[:, :slots]
        for name in self.beside:
            if not name.startswith("scores:"):
                self.beside[name] = self.beside[name].head(slots)
        self.written = {
            name: found.head(slots) if isinstance(found, Lists) else found for name, found in self.written.items()
        }

    def _column(self, name: str) -> Any:
        return flat.plain_column(self.piece.data.column(self.columns[name]))

    def _refuse_other_kind(self, found: Lists, name: str) -> None:
        """Refuse ids that are not of the kind of those of the slate."""
        kind, of_slate = flat.id_kind(found.raw.type), flat.id_kind(self.slate.raw.type)
        if kind and of_slate and kind != of_slate:
            raise ColumnError(
                f"ids are {kind} in {self.columns[name]!r}, but {of_slate} in {self.columns['slate']!r}",
                "use the same type for item ids in all columns",
            )

    def dropped(self) -> Floats:
        """Return what is known of the outcome of rows that break a rule."""
        clicks, earned = self.beside.get("clicks"), np.full(len(self.length), np.nan)
        if "reward" in self.by_row:
            earned = self.by_row["reward"]
        elif clicks is not None:
            with np.errstate(over="ignore"):  # of clicks too large to be read
                sums = clicks.padded(int(clicks.lengths.max(initial=0)), 0, np.float64).sum(axis=1)
            earned = np.where(clicks.null | (clicks.lengths != self.length), np.nan, sums)
        outcome = [self.columns[role] for role in ("clicks", "reward") if role in self.columns]
        return self.faults.dropped(outcome, earned)

    def repeated(self) -> dict[str, int]:
        """Return the places of valid rows that show an item of the same slate again, and their clicks, by rule."""
        if self.ranks is None:
            return {}
        fine = self.faults.which == 0
        return {rule: int(count) for rule, each in self.ranks.repeated.items() if (count := each[fine].sum())}

    def _places(self, items: Lists, name: str, rule: rules.Rule, *, distinct: bool = True) -> Integers:
        """Return the candidate index of each item [n, width], -1 pads; items that are not candidates break `rule`."""
        other, beside = (self.candidates, "candidates") if items is self.slate else (items, name)
        if other.raw.type != self.slate.raw.type:
            self._refuse_other_kind(other, beside)
        found, column, mark = self.candidates.places(items), self.columns[name], self.faults.mark
        mark(items.null, rules.NULL, column)
        if distinct:
            mark(found.again, rules.DUPLICATE, column)
        if items is self.slate:
            mark(items.lengths == 0, rules.EMPTY_SLATE, column)
        if self.candidates is self.slate:  # without candidates, other items are unknown
            return found.found
        if items is self.slate:
            mark(self.candidates.null, rules.NULL, self.columns["candidates"])
            mark(found.twice, rules.DUPLICATE, self.columns["candidates"])
        mark(found.outside, rule, column)
        return found.found

    def _ranking(self, name: str) -> Integers:
        """Return the candidate index of each ranked item [n, width], -1 pads."""
        column = self._column(name)
        single = not (pa.types.is_nested(column.type) or conversions.is_json(column))  # of one slot
        items = flat.id_lists(in_lists(column, 1) if single else column, self.columns[name])
        return self._places(items, name, rules.RANKED_OUTSIDE)

    def _beside(self, name: str) -> Lists:
        """Read a list of numbers beside the slate or the candidates."""
        role, _, of = name.partition(":")
        column = self.columns[name]
        as_numbers = role != "clicks" or self.clicks_as == "numbers"
        found = flat.lists(self.piece.data.column(column), column, pa.float64()) if as_numbers else self._clicks()
        if as_numbers:
            kind, held = found.values.type, found.values
            as_stored = (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and not held.null_count
            if kind in flat.TEXTS:
                found = replace(found, values=self._of_texts(held, column, found))
            else:
                found = replace(found, values=np.from_dlpack(held) if as_stored else flat.numbers(held, column))
        if role == "clicks" and self.ranks is not None:
            found, struck = self.ranks.beside(found)
            self.faults.mark(struck, rules.BAD_CLICKS, column)
        self.faults.mark(found.null, rules.NULL, column)
        wanted = {"clicks": self.length, "scores": self.candidates.lengths}.get(role, self.slate.lengths)
        self.faults.mark(found.lengths != wanted, rules.RAGGED, column)
        bounds = [_OF_ANOTHER_POLICY] if of and role in WRITTEN else _BOUNDS[role]
        if role == "scores":
            bounds = [*bounds, *[_WEIGHT] * (of in self.needed.weights), *[_POSITIVE] * (of in self.needed.positive)]
        self._bounded(found.values, found, column, bounds)
        return found

    def _clicks(self) -> Lists:
        """Read clicks that are not written as numbers beside the slate."""
        column, name = self.piece.data.column(self.columns["clicks"]), self.columns["clicks"]
        if self.clicks_as == "items":
            found, other = conversions.clicks_from_ids(column, name, self._column("slate"), self.columns["slate"])
            self.faults.mark(other, rules.CLICKED_OUTSIDE, name)
            return found
        found = conversions.click_lists(column, name)
        return replace(found, values=np.nan_to_num(found.values)) if self.clicks_as == "filled" else found

    def _by_row(self, name: str) -> Floats:
        """Read a number per row."""
        role, _, of = name.partition(":")
        column = conversions.yes_or_no(self._column(name)) if name == "reward" else self._column(name)
        found = (self._of_texts if column.type in flat.TEXTS else flat.numbers)(column, self.columns[name])
        bounds = [_OF_ANOTHER_POLICY] if of and role in WRITTEN else _BOUNDS[role]
        self._bounded(found, None, self.columns[name], bounds)
        return found

    def _of_texts(self, texts: pa.Array, column: str, of: Lists | None = None) -> Floats:
        """Read numbers in texts; mark the rows with a text that is none. of: as `_bounded` takes it."""
        other = conversions.other_texts(texts, 1.0 if self.piece.line_of is None else 2.0)  # `007` makes texts of all
        if other is not None:
            wrong = np.asarray(other)
            self.faults.mark(wrong if of is None else of.rows_where(wrong), rules.NOT_A_NUMBER, column)
            texts = pc.if_else(other, pa.scalar(None, texts.type), texts).cast(pa.large_string())
            texts = pc.utf8_ltrim(pc.utf8_trim_whitespace(texts), "+").cast(pa.float64())
        return flat.numbers(texts, column)

    def _bounded(
        self, values: NDArray[Any], of: Lists | None, column: str, bounds: list[tuple[rules.Rule, float, float]]
    ) -> None:
        """Mark the rows with numbers outside bounds. of: the lists that hold them; None where each row has one."""
        if not len(values):
            return
        low, high = float(values.min()), float(values.max())  # NaN if any value is
        for rule, least, largest in bounds:
            if not (low >= least and high <= largest):
                exact = values.astype(np.float64, copy=False)
                outside = ~((exact >= least) & (exact <= largest))
                self.faults.mark(outside if of is None else of.rows_where(outside), rule, column)

    def _written(self, name: str) -> Lists | Floats:
        """Read logged probabilities: a number per row, lists beside the slate, or [n, k, k] matrices."""
        role, _, of = name.partition(":")
        if role != "rank_propensity":
            return self._by_row(name) if role == "propensity" else self._beside(name)
        column = self.columns[name]
        squares, wrong = square_lists(self._column(name), column)
        self.faults.mark(wrong | (squares.lengths != self.slate.lengths), rules.RAGGED, column)
        found = squares.squares()
        bad = ((found < 0).any(axis=2) | ~(found.sum(axis=2) <= 1.001)).any(axis=1)  # a NaN shows in the total
        if not of:
            inside = np.arange(found.shape[1]) < squares.lengths[:, None]
            drawn = np.diagonal(found, axis1=1, axis2=2) >= rules.LEAST_PROBABILITY
            bad |= (inside & ~drawn).any(axis=1)
        self.faults.mark(bad, rules.BAD_RANK_PROBABILITY if of else rules.BAD_RANK_PROPENSITY, column)
        return found

    def _key(self, name: str) -> Integers:
        """Return the code of each row's grouping value [n]; null is refused, since it would group unrelated rows."""
        column = self._column(name)
        self.faults.mark(flat.nulls(column), rules.NULL, self.columns[name])
        return flat.id_codes(column, self.columns[name])

    def _cluster(self, name: str) -> Integers:
        """Return the code of each row's cluster [n]; each null is a cluster of its own."""
        column = self._column(name)
        if pa.types.is_floating(column.type):  # integers become floats if some of them are missing
            codes = flat.numbers(column, self.columns[name]).view(np.int64)
            null = np.isnan(codes.view(np.float64))
        else:
            codes, null = flat.id_codes(column, self.columns[name]), flat.nulls(column)
        if not null.any():
            return codes
        own = alone((self.piece.rows + self.piece.base).astype(np.uint64))
        return np.where(null, own.view(np.int64), codes)

    def _labels(self, name: str, pick: Any) -> Labels:
        codes, names = flat.labels(self._column(name), self.columns[name])
        return Labels(codes[pick], names)


def _of_slots(found: Lists | Floats, rows: Integers | None, slots: int) -> Floats:
    """Return numbers [n], [n, k] or [n, k, k] of these rows, all if None; for slates of this many slots."""
    if isinstance(found, Lists):
        return found.padded(slots, 1.0, np.float64, rows)
    pick = found if rows is None else found[rows]
    return np.ascontiguousarray(pick[(slice(None), *[slice(slots)] * (found.ndim - 1))])


def comes_again(row: Integers, codes: Integers, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the places [p], in order, whose code stands in the same row before."""
    found, at = np.zeros_like(there), np.flatnonzero(there)
    order = at[np.lexsort((at, codes[at], row[at]))]
    same = (row[order][1:] == row[order][:-1]) & (codes[order][1:] == codes[order][:-1])
    found[order[1:][same]] = True
    return found


class Ranks:
    """Positions of the items of slates with gaps (ranks where nothing was shown), for jobs that request them.

    items: the slates without their gaps. lengths: [n] ranks of each, gaps included. row, rank: of each gap.
    repeated: rule -> [n] places that show an item of the slate again, and clicks there.
    """

    def __init__(self, column: pa.Array, name: str, duplicates: Duplicates = "raise") -> None:
        """Build from a column of lists in which a null id is a gap; a null list stays a fault.

        duplicates: "first" makes gaps of the places that show an item again; "each" leaves them as they are.
        """
        found = flat.lists(column, name)
        row, rank = found.row, found.place
        place = found.starts[row] + rank
        hole = flat.nulls(found.values)[place]
        codes, again = flat.id_codes(found.values, name)[place], np.zeros_like(hole)
        self.repeated: dict[str, Integers] = {}
        if duplicates != "raise":
            again = comes_again(row, codes, ~hole)
            rule = "place-repeated" if duplicates == "first" else rules.COUNTED_AGAIN
            self.repeated[rule] = np.bincount(row[again], minlength=len(found.starts))
        if duplicates == "first":
            hole = hole | again
        shown, kept = np.bincount(row[~hole], minlength=len(found.starts)), codes[~hole]
        self.items = Lists(kept, np.cumsum(shown) - shown, shown, found.null, found.values)
        self.lengths, self.row, self.rank, self.again = found.lengths, row[hole], rank[hole], again[hole]

    def spread(self, located: Integers) -> Integers:
        """Return [n, ranks] slates with their gaps, from the items' candidate indices [n, items]."""
        width = int(self.lengths.max(initial=0))
        shown = np.arange(width) < self.lengths[:, None]
        shown[self.row, self.rank] = False
        out = np.full((len(self.lengths), width), -1)
        out[shown] = located[np.arange(located.shape[1]) < self.items.lengths[:, None]]
        return out

    def beside(self, numbers: Lists) -> tuple[Lists, NDArray[np.bool_]]:
        """Return (numbers beside the ranks, with null as 0 at a gap; [n] rows with another number at a gap).

        Rows of another length are unchanged. Numbers at places that show an item again are dropped.
        """
        fits = (numbers.lengths == self.lengths)[self.row]
        row = self.row[fits]
        place, values = numbers.starts[row] + self.rank[fits], numbers.values.astype(np.float64)
        dropped = self.again[fits]
        if dropped.any():
            clicked = row[dropped & (values[place] != 0)]
            self.repeated["click-on-repeat"] = np.bincount(clicked, minlength=len(self.lengths))
        values[place] = np.where(np.isnan(values[place]) | dropped, 0.0, values[place])
        struck = np.bincount(row, values[place] != 0, len(self.lengths)) > 0
        return replace(numbers, values=values), struck
