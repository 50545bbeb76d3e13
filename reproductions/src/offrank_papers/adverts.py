"""A world of banners like paper criteo-test-bed's log: sub-sampled, with a known truth."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from offrank.log.batch import Floats, Integers
from offrank.policies.base import Policy
from offrank.policies.plackett_luce import PlackettLuce
from offrank.readers.tables import Piece
from offrank.readers.wide import WideLog
from offrank.simulation.shared import expected_clicks, list_column

from .advert_pools import Pool, rank_examination
from .single_clicks import one_click

_PART_ROWS = 10_000
_UNCLICKED_KEPT = 0.1
_TRAFFIC = {1: 203.0, 2: 339.0, 3: 215.0, 4: 61.4, 5: 26.5, 6: 130.0}  # millions, Table 1 of the paper


@dataclass(frozen=True)
class AdvertWorld:
    """A log of `impressions` rows, drawn in pieces, so that it may be larger than the memory.

    - slots: number of products per banner, one number or several; their traffic has the paper's proportions.
    - Each banner has 5 to 10 candidates per slot, drawn by Plackett-Luce on `old_score` to the power `sharpness`.
    - P(click at rank j) = P(rank j is examined) relevance of the product there, and at most one click per banner.
    - Of the banners without a click 10 % are in the log (`inclusion`).
    - Relevance depends on the product's features, slightly on their interactions with the banner's, and on this user's
      willingness to click, which no feature reveals: users that click more are offered more of the products
      that are clicked less. So click rates by feature are confounded, and logged propensities are not.
    - contexts: the number of distinct contexts; each impression is one of them.

    Columns: slate, clicks, candidates, propensity, inclusion, old_score, features, feature_values, query (the
    context), slots and banner (its type: size and two more features).
    """

    impressions: int = 200_000
    seed: int = 7
    slots: int | tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    sharpness: float = 1.0
    contexts: int = 6_000
    bits: int = 20

    @property
    def kinds(self) -> tuple[int, ...]:
        """The numbers of slots that occur."""
        return (self.slots,) if isinstance(self.slots, int) else self.slots

    @property
    def logging(self) -> PlackettLuce:
        """The policy that draws the banners."""
        return PlackettLuce("old_score")

    def source(self) -> WideLog:
        """Return the log, to be read like a file; the same each time."""
        return WideLog(_AdvertTable(self), {})

    def truth(self, policy: Policy, impressions: int | None = None, slots: int | None = None) -> float:
        """Return expected clicks per impression, exactly, before any sub-sampling.

        The sum of P(product at rank j) P(rank j is examined) relevance, over all contexts, or over this number of
        contexts of each kind; slots: for banners of this kind only.
        """
        kinds = self.kinds if slots is None else (slots,)
        found = []
        for pool in (self.pools[kind] for kind in kinds):
            rows = np.arange(pool.size if impressions is None else min(impressions, pool.size))
            clicks = expected_clicks(policy, pool.contexts(rows), rank_examination(pool.slots), pool.relevance[rows])
            found.append(float(clicks.mean()))
        return float(np.average(found, weights=[_TRAFFIC[kind] for kind in kinds]))

    def table(self, rows: int, part: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Return `rows` impressions in the wide layout, or some columns; deterministic for each seed and part."""
        rng, pieces, found = np.random.default_rng([self.seed, 1, part]), [], 0
        while found < rows:
            pieces.append(self._draw(8 * (rows - found) + 100, rng, columns))
            found += pieces[-1].num_rows
        return pa.concat_tables(pieces).slice(0, rows)

    def tables(self) -> Iterator[pa.Table]:
        """Yield the whole log, part by part."""
        for part in range(-(-self.impressions // _PART_ROWS)):
            yield self.table(self.rows(part), part)

    def write_text(self, path: str | Path) -> None:
        """Write the log in the paper's own format; compressed if the name ends in `.gz`.

        The products shown come first, in order; columns outside the format (scores, contexts) are lost.
        """
        packed, number = str(path).endswith(".gz"), 0
        with gzip.open(path, "wt", compresslevel=1) if packed else Path(path).open("w", encoding="ascii") as file:
            for table in self.tables():
                for row in table.drop_columns(["features", "feature_values", "old_score"]).to_pylist():
                    file.write(_impression(number, row, self.pools[row["slots"]]))
                    number += 1

    def rows(self, part: int) -> int:
        """Return the number of impressions of this part."""
        return min(_PART_ROWS, self.impressions - part * _PART_ROWS)

    @cached_property
    def pools(self) -> dict[int, Pool]:
        """Return the contexts by their number of slots."""
        sizes = np.maximum(self._share * self.contexts, min(200, self.contexts)).astype(int)
        base = np.cumsum([0, *sizes])
        return {
            kind: Pool(kind, int(size), int(first), self.seed, self.sharpness, self.bits)
            for kind, size, first in zip(self.kinds, sizes, base, strict=False)
        }

    @property
    def _share(self) -> Floats:
        """Return each kind's share of the traffic [kinds]."""
        traffic = np.array([_TRAFFIC[kind] for kind in self.kinds])
        return traffic / traffic.sum()

    def _draw(self, shown: int, rng: np.random.Generator, columns: Sequence[str] | None) -> pa.Table:
        """Return the logged rows of `shown` banners."""
        kind = rng.choice(len(self.kinds), size=shown, p=self._share)
        place, pieces = [], []
        for index in np.unique(kind):
            rows = np.flatnonzero(kind == index)
            kept, table = self._draw_kind(self.pools[self.kinds[index]], len(rows), rng, columns)
            place.append(rows[kept])
            pieces.append(table)
        return pa.concat_tables(pieces).take(np.argsort(np.concatenate(place), kind="stable"))

    def _draw_kind(
        self, pool: Pool, shown: int, rng: np.random.Generator, wanted: Sequence[str] | None
    ) -> tuple[Integers, pa.Table]:
        """Return which of `shown` banners of one kind are logged, and their columns."""
        query = rng.integers(pool.size, size=shown)
        contexts = pool.contexts(query)
        slates = self.logging.sample(contexts, rng)
        relevance = np.take_along_axis(pool.relevance[query], slates, axis=1)
        clicks = one_click(relevance * rank_examination(pool.slots), rng)
        clicked = np.asarray(clicks.any(axis=1))
        kept = np.flatnonzero(clicked | (rng.random(shown) < _UNCLICKED_KEPT))
        slates, logged = slates[kept], contexts.take(kept)
        drawn = (
            list_column(np.take_along_axis(logged.candidates, slates, axis=1), nullable=True),
            list_column(clicks[kept].astype(np.int8), nullable=True),
            np.exp(self.logging.log_prob(logged, slates)),
            np.where(clicked[kept], 1.0, _UNCLICKED_KEPT),
        )
        columns: dict[str, Any] = dict(zip(_DRAWN, drawn, strict=True))
        known = pool.table.column_names if wanted is None else [name for name in wanted if name not in columns]
        of_context = pool.table.select(known).take(query[kept])
        table = pa.table(columns | dict(zip(known, of_context.columns, strict=True)))
        return kept, table if wanted is None else table.select(list(wanted))


_DRAWN = ("slate", "clicks", "propensity", "inclusion")
"""The columns that are drawn; the others belong to the contexts."""


@dataclass(frozen=True)
class _AdvertTable:
    """The log as a table of the readers, drawn while it is read."""

    world: AdvertWorld

    @property
    def names(self) -> tuple[str, ...]:
        pool = next(iter(self.world.pools.values()))  # all have equal length
        return (*_DRAWN, *pool.table.column_names)

    def parts(self) -> int:
        return -(-self.world.impressions // _PART_ROWS)

    def pieces(self, part: int, columns: tuple[str, ...]) -> Iterator[Piece]:
        table = self.world.table(self.world.rows(part), part, columns)
        rows = np.arange(table.num_rows) + part * _PART_ROWS
        (data,) = table.combine_chunks().to_batches() or [None]
        if data is not None:
            yield Piece(data, self.describe(), rows)

    def describe(self) -> str:
        return f"{self.world.impressions:,} simulated adverts"


def _impression(number: int, row: Mapping[str, Any], pool: Pool) -> str:
    context = row["query"] - pool.first
    heads, lines = pool.texts
    clicks = dict(zip(row["slate"], row["clicks"], strict=True))
    name = hashlib.sha256(str((pool.seed, number)).encode()).hexdigest()
    head = (int(any(row["clicks"])), f"{row['propensity']:.6e}", len(row["slate"]), len(row["candidates"]))
    items = (*row["slate"], *(item for item in row["candidates"] if item not in clicks))
    below = (f"{clicks.get(item, 0)} exid:{number} {lines[context][item % 100]}\n" for item in items)
    return f"example {number}: {name} {' '.join(map(str, head))} {heads[context]}\n" + "".join(below)
