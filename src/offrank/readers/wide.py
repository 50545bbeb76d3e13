"""The wide layout: record batches in, checked and padded log batches out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..log import _kernels, rules
from ..log.batch import Contexts, Floats, Integers, Labels, LogBatch, Shown, SparseFeatures
from ..log.rules import Faults
from ..log.schema import GROUPING, WRITTEN, Columns
from ..log.source import Needs
from . import arrow, written
from .arrow import Lists
from .features import sparse_features
from .holes import Ranks
from .tables import Piece, Table
from .told import told

Invalid = Literal["raise", "skip"]

_BY_ROW = {"inclusion": rules.BAD_INCLUSION, "reward": rules.BAD_REWARD}

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""Multiples of it are spread over all 64-bit codes, so that a row number is hardly ever the code of a value."""


@dataclass(frozen=True)
class WideLog:
    """A table with a row per impression, as a source of log batches."""

    table: Table
    renamed: Mapping[str, str]
    invalid: Invalid = "raise"
    needed: Needs = field(default_factory=Needs)

    def __repr__(self) -> str:
        return told("wide", self.table)

    def parts(self) -> int:
        return self.table.parts()

    def describe(self) -> str:
        return self.table.describe()

    def select(self, needed: Needs) -> WideLog:
        chosen = replace(self, needed=needed)
        chosen.columns()
        return chosen

    def batches(self, part: int) -> Iterator[LogBatch]:
        columns = self.columns()
        decoder = Decoder(columns, self.needed, self.invalid)
        for piece in self.table.pieces(part, tuple(dict.fromkeys(columns.values()))):
            yield from decoder.decode(piece)

    def columns(self) -> dict[str, str]:
        """What is read: role (or `score:name` and the like) -> column."""
        known = Columns(self.table.names, self.renamed, self.table.describe())
        chosen = {"slate": known.of("slate")}
        roles = set(self.needed.roles) | {role for role in ("clicks", "inclusion") if known.has(role)}
        if "reward" in roles and not known.has("reward"):
            roles = roles - {"reward"} | {"clicks"}
        if not known.has("candidates"):
            roles -= {"candidates"}
        if "features" in roles and known.has("feature_values"):
            roles |= {"feature_values"}
        chosen |= {role: known.of(role) for role in sorted(roles - set(WRITTEN))}
        chosen |= written.columns(roles, self.needed.written, known)
        for kind in ("scores", "rankings", "keys", "labels", "clusters"):
            for name in sorted(getattr(self.needed, kind)):
                column = known.of(name) if name in GROUPING else known.named(name)
                chosen[f"{kind}:{name}"] = column
        return chosen


@dataclass(frozen=True)
class Decoder:
    """Checks and pads the rows of a piece. columns: role -> column, as `WideLog` chose them."""

    columns: Mapping[str, str]
    needed: Needs
    invalid: Invalid

    def decode(self, piece: Piece) -> Iterator[LogBatch]:
        """Log batches of a piece; rows of very unlike size go to batches of their own.

        Raises:
            RowError: a row breaks a rule, unless invalid rows are to be skipped.
        """
        faults = Faults(len(piece.data))
        flat = _Flat(self, piece, faults)
        error = faults.first(piece.file, piece.rows, lambda column, row: _show(piece, column, row))
        if error is not None and self.invalid == "raise":
            raise error
        faulty = faults.counts()
        skipped = dict(Counter(faulty) + Counter(piece.skipped))
        for rows in _alike(np.maximum(flat.candidates.lengths, flat.length), faults.which == 0 if faulty else None):
            yield flat.batch(rows, skipped)
            skipped = {}


class _Flat:
    """The columns of a piece as flat lists, checked."""

    def __init__(self, decoder: Decoder, piece: Piece, faults: Faults) -> None:
        self.columns, self.needed = decoder.columns, decoder.needed
        self.piece, self.faults = piece, faults
        self.ranks = Ranks.of(self._column("slate"), self.columns["slate"]) if self.needed.holes else None
        self.slate = self._ids("slate") if self.ranks is None else self._checked("slate", self.ranks.items)
        faults.mark(self.slate.lengths == 0, rules.EMPTY_SLATE, self.columns["slate"])
        self.candidates = self._ids("candidates") if "candidates" in self.columns else self.slate
        located = self._locate(self.slate, "slate", rules.NOT_CANDIDATE)
        self.slots = located if self.ranks is None else self.ranks.spread(located)
        self.length = self.slate.lengths if self.ranks is None else self.ranks.lengths
        self.beside = {role: self._beside(role) for role in self.columns if self._is_beside(role)}
        self.rankings = {name: self._ranking(name) for name in self.needed.rankings}
        self.keys = {name: self._key(f"keys:{name}") for name in self.needed.keys}
        self.clusters = {name: self._cluster(f"clusters:{name}") for name in self.needed.clusters}
        self.by_row = {role: self._number(role) for role in _BY_ROW if role in self.columns}
        self.written = {name: self._written(name) for name in self.columns if name.partition(":")[0] in WRITTEN}
        self.features = self._features() if "features" in self.columns else None

    def batch(self, rows: Integers | None, skipped: Mapping[str, int]) -> LogBatch:
        """The log batch of these rows (all where None)."""
        pick: Any = slice(None) if rows is None else rows
        size, length = self.candidates.lengths[pick], self.length[pick]
        widest, slots = int(size.max(initial=0)), int(length.max(initial=0))
        contexts = Contexts(
            self.candidates.take(rows).padded(widest),
            np.ascontiguousarray(size),
            np.ascontiguousarray(length),
            scores={name: self._padded(f"scores:{name}", rows, widest) for name in self.needed.scores},
            rankings={name: self._picked(ranking, rows) for name, ranking in self.rankings.items()},
            keys={name: np.ascontiguousarray(key[pick]) for name, key in self.keys.items()},
            features=self.features if self.features is None or rows is None else self.features.take(rows),
        )
        return LogBatch(
            contexts,
            Shown(
                np.ascontiguousarray(self.slots[pick, :slots]),
                {name: np.ascontiguousarray(found.take(rows, slots)) for name, found in self.written.items()},
            ),
            self._padded("clicks", rows, slots) if "clicks" in self.columns else None,
            self._row_numbers("reward", pick),
            self._inclusion(pick, len(size)),
            (self.piece.rows[pick] + self.piece.base).astype(np.uint64),
            {name: self._labels(name, pick) for name in self.needed.labels},
            skipped,
            self.piece.file,
            self.piece.base,
            {name: np.ascontiguousarray(codes[pick]) for name, codes in self.clusters.items()},
        )

    def _column(self, role: str) -> Any:
        return self.piece.data.column(self.columns[role])

    def _is_beside(self, role: str) -> bool:
        return role == "clicks" or role.startswith("scores:")

    def _ids(self, role: str) -> Lists:
        return self._checked(role, arrow.id_lists(self._column(role), self.columns[role]))

    def _checked(self, role: str, found: Lists) -> Lists:
        if found.null is not None:
            self.faults.mark(found.null, rules.NULL, self.columns[role])
        twice = _kernels.duplicates(found.values, found.starts, found.lengths)
        self.faults.mark(twice, rules.DUPLICATE, self.columns[role])
        return found

    def _locate(self, items: Lists, role: str, rule: rules.Rule) -> Integers:
        """[n, width] candidate index of each item, -1 pads; items that are no candidates break `rule`."""
        width = int(items.lengths.max(initial=0))
        if items is self.candidates:
            places = np.arange(width)
            return np.where(places < items.lengths[:, None], places, -1)
        out = np.full((len(items.starts), width), -1)
        known = self.candidates
        _kernels.locate(items.values, items.starts, items.lengths, known.values, known.starts, known.lengths, out)
        if known is not self.slate:  # without a list of candidates nothing is known of other items
            self.faults.mark((out == -2).any(axis=1), rule, self.columns[role])
        return out

    def _ranking(self, name: str) -> Integers:
        role = f"rankings:{name}"
        return self._locate(self._ids(role), role, rules.RANKED_OUTSIDE)

    def _beside(self, role: str) -> Lists:
        """A list of numbers beside the slate or the candidates."""
        column = self.columns[role]
        found = arrow.number_lists(self._column(role), column)
        wanted = self.length if role == "clicks" else self.candidates.lengths
        if role == "clicks" and self.ranks is not None:
            found = self.ranks.beside(found)
            self.faults.mark(self.ranks.struck(found), rules.BAD_CLICKS, column)
        if found.null is not None:
            self.faults.mark(found.null, rules.NULL, column)
        self.faults.mark(found.lengths != wanted, rules.RAGGED, column)
        low, high = _extremes(found.values)
        if role == "clicks":
            if not (low >= 0 and high < np.inf):
                fine = (found.values >= 0) & (found.values < np.inf)
                self.faults.mark(found.rows_where(~fine), rules.BAD_CLICKS, column)
            return found
        if not (low > -np.inf and high < np.inf):
            self.faults.mark(found.rows_where(~np.isfinite(found.values)), rules.BAD_SCORE, column)
        if low < 0 and role.removeprefix("scores:") in self.needed.weights:
            self.faults.mark(found.rows_where(found.values < 0), rules.NEGATIVE_SCORE, column)
        return found

    def _key(self, role: str) -> Integers:
        """[n] code of the value that groups a row; null would group what has nothing in common."""
        column = self._column(role)
        if column.null_count:
            self.faults.mark(np.asarray(column.is_null()), rules.NULL, self.columns[role])
        return arrow.codes(column, self.columns[role])

    def _cluster(self, role: str) -> Integers:
        """[n] code of the value that dependent rows share; null is shared with no other row."""
        column, name = self._column(role), self.columns[role]
        if pa.types.is_floating(column.type):  # as integers become where some of them are missing
            codes = arrow.numbers(column, name).view(np.int64)
            null = np.isnan(codes.view(np.float64))
        else:
            codes, null = arrow.codes(column, name), np.asarray(column.is_null())
        if not null.any():
            return codes
        alone = (self.piece.rows + self.piece.base + 1).astype(np.uint64) * _ODD
        return np.where(null, alone.view(np.int64), codes)

    def _number(self, role: str) -> Floats:
        """A number per row, checked by its role's rule."""
        found = arrow.numbers(self._column(role), self.columns[role])
        fine = np.isfinite(found) if role == "reward" else (found > 0) & (found <= 1)
        if not fine.all():
            self.faults.mark(~fine, _BY_ROW[role], self.columns[role])
        if role != "reward" and len(found) and found.min() < rules.LEAST_PROBABILITY:
            self.faults.mark(found < rules.LEAST_PROBABILITY, rules.TINY_PROBABILITY, self.columns[role])
        return found

    def _written(self, name: str) -> written.WrittenColumn:
        return written.read(name, lambda: self._column(name), self.columns[name], self.slate.lengths, self.faults)

    def _features(self) -> SparseFeatures:
        columns = self.columns["features"], self.columns.get("feature_values")
        return sparse_features(columns, self.piece.data, self.candidates.lengths, self.faults)

    def _padded(self, role: str, rows: Integers | None, width: int) -> NDArray[Any]:
        return self.beside[role].take(rows).padded(width)

    def _picked(self, ranking: Integers, rows: Integers | None) -> Integers:
        return ranking if rows is None else np.ascontiguousarray(ranking[rows])

    def _row_numbers(self, role: str, pick: Any) -> Floats | None:
        return np.array(self.by_row[role][pick]) if role in self.by_row else None

    def _inclusion(self, pick: Any, n: int) -> Floats:
        found = self._row_numbers("inclusion", pick)
        return np.ones(n) if found is None else found

    def _labels(self, name: str, pick: Any) -> Labels:
        codes, names = arrow.labels(self._column(f"labels:{name}"), self.columns[f"labels:{name}"])
        return Labels(codes[pick], names)


def _extremes(values: Floats) -> tuple[float, float]:
    """Least and largest value; NaN where any value is."""
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _alike(sizes: Integers, keep: NDArray[np.bool_] | None) -> list[Integers | None]:
    """Rows in groups of about the same size, so that padding stays small; None for all rows at once."""
    rows = None if keep is None else np.flatnonzero(keep)
    chosen = sizes if rows is None else sizes[rows]
    if not len(chosen) or chosen.max() <= 2 * chosen.mean() + 8:
        return [rows]
    rows = np.arange(len(sizes)) if rows is None else rows
    octave = np.ceil(np.log2(np.maximum(chosen, 1)))
    return [rows[octave == o] for o in np.unique(octave)]


def _show(piece: Piece, column: str, row: int) -> str:
    """A value of the log for an error message, cut if long."""
    text = repr(piece.data.column(column)[row].as_py())
    return text if len(text) <= 80 else text[:77] + "..."
