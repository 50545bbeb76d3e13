"""Preparation of a log for learning: a survey of its features, and encoding of two of its thirds."""

from __future__ import annotations

import math
import tempfile
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from ..errors import AbilityError, ColumnError
from ..estimators.base import refuse_impossible
from ..log.batch import Booleans, Floats, LogBatch
from ..log.hashing import hashed
from ..log.source import Needs, Source, refuse_once, refuse_placed
from ..policies.base import Policy
from ..policies.linear import Encoding
from ..policies.propensities import propensities
from ..policies.splits import By, LearntRowsFold, Part, rows_of_part
from ..running.executors import Executor, Progress, run
from ..sums.base import Fold, Tee
from .contexts import ContextsFold, ContextSums
from .examples import Data, Examples, Store

EXAMPLES_IN_MEMORY = 1 << 30
"""Bytes of encoded examples that are kept in memory; larger logs use a temporary folder."""

Pieces = tuple[Examples | Path, ...]


@dataclass(frozen=True)
class Survey:
    """Survey of a whole log. seen, differs: [2^bits] features that occur, and that differ between candidates of a row.

    largest: [2^bits] largest absolute values. rows, lines, entries: numbers of impressions, candidates, their features.
    slots: of the longest slate. most: the largest reward, over inclusion.
    """

    seen: Booleans
    differs: Booleans
    largest: Floats
    rows: int = 0
    lines: int = 0
    entries: int = 0
    slots: int = 0
    most: float = -math.inf

    def __add__(self, other: Survey) -> Survey:
        counts = (self.rows + other.rows, self.lines + other.lines, self.entries + other.entries)
        seen, differs = self.seen | other.seen, self.differs | other.differs
        most = (max(self.slots, other.slots), max(self.most, other.most))
        return Survey(seen, differs, np.maximum(self.largest, other.largest), *counts, *most)

    @property
    def context(self) -> Booleans:
        """Return the features that cannot matter to a linear scorer without interactions [2^bits]."""
        return self.seen & ~self.differs

    def encoding(self, bits: int, cross: bool) -> Encoding:
        """Return the encoding that scales each feature to a largest value of 1, but those that are all but 0."""
        scale = np.ones(len(self.largest))
        np.divide(1.0, self.largest, out=scale, where=self.largest >= np.finfo(np.float64).tiny)
        return Encoding(bits, self.context if cross else np.zeros_like(self.seen), scale, cross)

    def bytes(self, cross: bool) -> float:
        """Return the approximate memory size of the encoded log: of its entries, candidates and rows."""
        crossed = max(self.entries / max(self.lines, 1) / 4, 1.0) if cross else 1.0
        return 12.0 * self.entries * crossed + 16.0 * self.lines + (40.0 + 24.0 * self.slots) * self.rows


@dataclass(frozen=True)
class SurveyFold(Fold):
    """Visits every candidate of a log once."""

    bits: int

    def of(self, batch: LogBatch) -> Survey:
        lines, largest = Encoding.plain(self.bits).lines(batch.contexts), np.zeros(1 << self.bits)
        seen, differs = np.zeros((2, 1 << self.bits), np.bool_)
        lines.survey(seen, differs, largest)
        counts = (len(batch), int(lines.starts[-1]), len(lines.indices))
        slots = int((batch.slates >= 0).sum(axis=1).max(initial=0))
        most = float((batch.reward / batch.inclusion).max(initial=-math.inf))
        return Survey(seen, differs, largest, *counts, slots, most)


@dataclass(frozen=True)
class Packing(Fold):
    """Encodes one third of the log. folder: where pieces are stored, or None for memory."""

    encoding: Encoding
    logging: Policy
    part: Part
    by: By
    folder: Path | None = None
    ranks: bool = False

    def of(self, batch: LogBatch) -> Pieces:
        rows = rows_of_part(batch, self.part, self.by)
        return (self._kept(self._packed(batch.take(rows))),) if len(rows) else ()

    def result(self, state: Pieces) -> Store:
        totals = [(len(one), float((1 / one.inclusion).sum()), one.slates.shape[1]) for one in Store(state, 0, 0.0, 0)]
        rows, impressions, slots = zip(*totals, strict=True) if totals else ((), (), ())
        return Store(state, sum(rows), sum(impressions), max(slots, default=0))

    def _packed(self, batch: LogBatch) -> Examples:
        shown = propensities(self.logging, batch)
        refuse_impossible(batch, np.isneginf(shown.log_prob), shown)
        lines = self.encoding.lines(batch.contexts)
        clicks = np.full(batch.slates.shape, np.nan) if batch.clicks is None else batch.clicks
        logged = (shown.log_prob, batch.reward, batch.inclusion)
        contexts, rank_q = batch.contexts, np.full(batch.slates.shape, np.nan)
        inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
        keys = hashed(hashed(batch.row)[:, None] ^ contexts.candidates.view(np.uint64))[inside]
        if self.ranks:
            with suppress(AbilityError):  # a log whose propensities are of whole slates
                law = shown.rank_law.written_out(contexts.length)
                np.copyto(rank_q, np.diagonal(law, axis1=1, axis2=2), where=batch.slates >= 0)
        encoded = (lines.starts, lines.offsets, lines.indices, lines.values)
        return Examples(*encoded, batch.slates, clicks, *logged, keys, rank_q)

    def _kept(self, found: Examples) -> Examples | Path:
        if self.folder is None:
            return found
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".npz", delete=False) as file:
            np.savez(file, **{one.name: getattr(found, one.name) for one in fields(found)})
        return Path(file.name)


@dataclass(frozen=True)
class Preparation:
    """The preparation of a log.

    folder: temporary, for pieces of large logs. ranks: whether to find the probability of each item at its rank.
    contexts: the thirds whose distinct contexts are found too. labels: the column of their grades, or None.
    """

    logging: Policy
    folder: Path
    by: By = "turn"
    bits: int = 20
    interactions: bool = False
    memory: float = EXAMPLES_IN_MEMORY
    contexts: frozenset[Part] = frozenset()
    labels: str | None = None
    ranks: bool = False

    def data(self, source: Source, executor: Executor | None, progress: Progress | None) -> tuple[Data, Survey]:
        """Return both thirds used in learning, after three passes over the log, and one for each third of contexts."""
        features = Needs(frozenset(["candidates", "features", "reward"]))
        refuse_once(source, "learning reads it several times")
        needed = self.logging.reads("log_prob") | features
        of_ranks = self._of_ranks(source)
        chosen = source.select(needed if of_ranks is None else needed | of_ranks)
        folds = Tee({"survey": SurveyFold(self.bits), "training": LearntRowsFold(self.by)})
        found = run(chosen, folds, executor, progress)
        survey: Survey = found["survey"]
        encoding = survey.encoding(self.bits, self.interactions)
        folder = self.folder if survey.bytes(self.interactions) > self.memory else None
        if folder is not None:
            refuse_placed(source, f"encoded rows need more than {self.memory / 2**30:g} GiB of memory")

        def pack(part: Part) -> Store:
            packing = Packing(encoding, self.logging, part, self.by, folder, of_ranks is not None)
            return run(chosen, packing, executor, progress)

        def gathered(part: Part) -> ContextSums | None:
            fold = ContextsFold(self.logging, part, self.by, self.labels)
            return run(source.select(fold.reads(source)), fold, executor, progress) if part in self.contexts else None

        packed = Data(pack("train"), pack("validate"), encoding, found["training"], longest=survey.slots)
        return replace(packed, contexts=gathered("train"), validate_contexts=gathered("validate")), survey

    def _of_ranks(self, source: Source) -> Needs | None:
        """Return the columns with the probability of an item at its rank; None if they are not needed, or not there."""
        try:
            wanted = self.logging.reads("rank_law") if self.ranks else None
            if wanted is not None:
                source.select(wanted)
        except (AbilityError, ColumnError):
            return None
        return wanted
