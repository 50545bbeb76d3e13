"""A fitted click model."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import UsageError
from ..language import formatting
from ..language.from_text import GRADES
from ..language.outputs import refuse_output
from ..log.batch import Floats, LogBatch
from ..log.source import Needs, refuse_placed
from ..log.texts import Texts
from ..readers.log import opened
from ..report import terminal
from ..report.document import Document, of_models
from ..running.executors import Progress, run
from ..sums.base import Fold
from ..sums.estimate import Caution
from ..sums.fingerprint import Fingerprint
from . import draws, storage
from .base import FitResult
from .fitted_tables import FittedTables
from .judgements import Judgements, judge_documents
from .laws import log_probs
from .sessions import Tally, no_impressions, whole_clicks
from .summary import learnt_section, log_findings


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(FittedTables):
    """A click model with its parameters: predicts clicks, estimates relevance, draws clicks.

    contexts and slates are those of a log's batches: n slates [n, k] of indices into m candidates, -1 for none. A
    fitted model equals only itself, and prints as its kind does.

    Parameters:
        model: the settings.
        documents: the ids that its tables are of.
        learnt: the tables, and how they were found.
        tally: what was left out of the log, counted.
        source: the log that it was learnt from, in words.
        training: the sessions that it was learnt from; None if not recorded.
        rank_rates: [k] click rates by rank of these sessions, which is all that `rctr` would have learnt from them;
            None likewise.

    Examples:
        >>> model = offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
        >>> model.learnt.parameters["rate"].tolist()
        [0.5]
    """

    tally: Tally
    source: str = "log"
    training: Fingerprint | None = None
    rank_rates: Floats | None = None

    def __repr__(self) -> str:
        return repr(self.model)

    def __str__(self) -> str:
        return terminal.render_text(self.to_document()).rstrip()

    def to_document(self, confidence: float = 0.95) -> Document:
        """The training data, convergence, tables that do not belong to documents, and cautions.

        Parameters:
            confidence: level of the intervals.

        Returns:
            The document for terminal and page.

        Examples:
            >>> offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}]).to_document().title
            'gctr, fitted to list in memory'
        """
        sessions = formatting.plural(self.tally.impressions, "session", "sessions")
        documents = formatting.plural(len(self.documents), "document", "documents")
        what = "items" if self.documents.by is None else f"pairs of {self.documents.by} and item"
        title, ends = f"{self.model!r}, fitted to {self.source}", partial(self.interval, confidence=confidence)
        found = learnt_section(self.learnt, self.model.roles(), ends, confidence)
        about = log_findings(of_models([("", self.cautions)]), self.tally)
        return Document(title, f"{sessions}, {documents} ({what})", (found, about))

    def judgements(
        self, confidence: float = 0.95, grades: int | Sequence[float] = GRADES, *, samples: int = 400, seed: int = 0
    ) -> Judgements:
        """The model's opinion of each document of its log: query, item, relevance with its interval, and a grade.

        Intervals are exact where relevance is one table, and otherwise quantiles of draws of all tables together.

        Parameters:
            confidence: level of the intervals.
            grades: how many; nDCG by them is close to nDCG by the relevance (`cuts_of`). Or the relevances from which
                on grades 1, 2 ... are given.
            samples: the number of the draws.
            seed: the seed of the draws.

        Returns:
            A row per document.

        Raises:
            UsageError: a level outside (0, 1), no such grades, or a model without ids, as those of earlier releases.

        Examples:
            >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}, {"query": "q", "slate": ["b", "a"],
            ...          "clicks": [0, 1]}]
            >>> found = offrank.clicks.DCTR(prior=(1, 1)).fit(rows).judgements()
            >>> [(row["item"], row["relevance"], row["sessions"]) for row in found.records()]
            [('a', 0.75, 2.0), ('b', 0.25, 2.0)]
        """
        return judge_documents(self.documents, self.learnt, self.model, confidence, grades, samples, seed)

    def predict(self, log: Any) -> Any:
        """A table with a row per slot of a log: row, query, item, rank, click_probability, relevance.

        row: number of the impression in the log, from 0. rank: from 1. Documents that the model has not seen have its
        expectation for such. Memory grows with the log; `predictions` gives the same by batches.

        Parameters:
            log: the log. Clicks need not be there; where they are, they are not read.

        Returns:
            A pandas or Polars data frame if the log is one, otherwise an Arrow table; sorted as the log.

        Examples:
            >>> model = offrank.clicks.DCTR(prior=(1, 1)).fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model.predict([{"slate": ["b"]}]).to_pylist()
            [{'row': 0, 'item': 'b', 'rank': 1, 'click_probability': 0.333..., 'relevance': 0.333...}]
        """
        batches = list(self.predictions(log))
        # Ids are text in the table if they are in any batch.
        wide = {one.name: one for batch in batches for one in batch.schema if pa.types.is_large_string(one.type)}
        schema = pa.schema([wide.get(one.name, one) for one in batches[0].schema])
        table = pa.Table.from_batches([batch.cast(schema) for batch in batches])
        return _like(log, table.take(pa.array(np.argsort(table.column("row").to_numpy(), kind="stable"))))

    def predictions(self, log: Any, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of `predict` in batches of bounded size, for logs larger than the memory.

        Parameters:
            log: the log.
            progress: called with (parts done, total parts).

        Returns:
            Arrow record batches, in the order of the log.

        Raises:
            EmptyLogError: there are no impressions.

        Examples:
            >>> model = offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> [batch.num_rows for batch in model.predictions([{"slate": ["a", "b"]}])]
            [2]
        """
        source, empty = opened(log).select(Needs(holes=True, texts=True) | self.needs()), True
        refuse_placed(source, "clicks are predicted")
        for part in range(source.parts()):
            for batch in source.batches(part):
                if len(batch):
                    empty = False
                    yield self._slots(batch)
            if progress is not None:
                progress(part + 1, source.parts())
        if empty:
            raise no_impressions()

    def _slots(self, batch: LogBatch) -> pa.RecordBatch:
        """The rows of `predict` for a batch."""
        contexts, slates = batch.contexts, batch.slates
        row, rank = np.nonzero(slates >= 0)
        at, texts = slates[row, rank], batch.texts or Texts.none()
        columns: dict[str, Any] = {"row": batch.row[row].astype(np.int64)}
        if self.documents.by is not None:
            columns["query"] = texts.ids(contexts.keys[self.documents.by][row])
        columns |= {"item": texts.ids(contexts.candidates[row, at]), "rank": rank + 1}
        columns["click_probability"] = self.law(contexts, slates).marginal()[row, rank]
        columns["relevance"] = self.relevance(contexts)[row, at]
        return pa.record_batch(columns)

    def score(self, log: Any) -> float:
        """The mean log-likelihood of the clicks of a session (natural logarithm; the higher, the better).

        It is the sum over ranks of the log-probabilities of what was done there given the clicks above.

        Parameters:
            log: the log, with clicks.

        Returns:
            The mean over sessions.

        Raises:
            EmptyLogError: there are no impressions.

        Examples:
            >>> model = offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> round(model.score([{"slate": ["a", "b"], "clicks": [1, 0]}]), 3)  # 2 log 0.5
            -1.386
        """
        source = opened(log).select(Needs(frozenset(["clicks"]), holes=True) | self.needs())
        total, weight = run(source, _ScoreFold(self))
        if not weight:
            raise no_impressions()
        return float(total / weight)

    def examination(self) -> Floats | Any:
        """[k] probability that each rank is examined, relative to the first; None where it depends on more.

        Returns:
            What the estimators `pbm` and `interpol` take as `examination`.

        Examples:
            >>> rows = [{"slate": ["a", "b"], "clicks": [1, 0]}, {"slate": ["b", "a"], "clicks": [1, 1]}]
            >>> float(offrank.clicks.PBM().fit(rows).examination()[0])
            1.0
        """
        found = self.model.examination(self.learnt.parameters)
        return None if found is None else found / found[0]

    def interval(self, parameter: str, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """(low, high) of the credible interval of each entry of a table, by the quantiles of its posterior.

        An entry of 1 counts as `strength` observations without exception: its interval ends at 1.

        Parameters:
            parameter: the name of the table.
            confidence: level of the interval.

        Returns:
            The lower and the upper ends.

        Raises:
            UsageError: a level outside (0, 1), no such table, or one without a posterior.

        Examples:
            >>> model = offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> low, high = model.interval("rate", 0.5)
            >>> bool(low[0] < 0.5 < high[0])
            True
        """
        known = {**self.learnt.strength, **self.learnt.loadings}
        if parameter not in known:
            what = "posterior of its table" if parameter in self.learnt.parameters else "table"
            raise UsageError(
                f"{self!r} has no {what} {parameter!r}",
                f"use {' or '.join(known)}" if known else "none of its tables has a posterior",
            )
        return draws.credible_interval(self.learnt, parameter, confidence)

    @property
    def has_posterior(self) -> bool:
        """Whether any of its tables has a posterior."""
        return bool(self.learnt.strength or self.learnt.loadings)

    def draw(self, rng: np.random.Generator) -> Fitted:
        """The same model with all of its tables drawn once from their joint posterior.

        Whatever is computed from several draws has the model's own doubt: a relevance, a click probability, CMIP.

        Parameters:
            rng: what draws.

        Returns:
            Another fitted model.

        Examples:
            >>> import numpy as np
            >>> model = offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model.draw(np.random.default_rng(0)).model
            gctr
        """
        found = FitResult(
            draws.draw_tables(self.learnt, rng), cautions=self.learnt.cautions, features=self.learnt.features
        )
        return replace(self, learnt=found)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions about this model."""
        return self.learnt.cautions

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the model, with a checksum, atomically; `offrank.clicks.load` reads it.

        Parameters:
            path: the file to write: in JSON, or packed arrays, half as long, by a name that ends in `.npz`.
            overwrite: replace a file that is there, also one that offrank did not write.

        Raises:
            UsageError: `path` is the log, or a file of others.

        Examples:
            >>> offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}]).save("model.json")
            >>> offrank.clicks.load("model.json").model
            gctr
        """
        refuse_output(path, [self.source], overwrite)
        storage.write_model(path, self)


@dataclass(frozen=True)
class _ScoreFold(Fold):
    """Reduces a log to the sums of log-likelihoods and of one, over inclusion."""

    model: Fitted

    def of(self, batch: LogBatch) -> Floats:
        found = log_probs(self.model.law(batch.contexts, batch.slates), np.minimum(whole_clicks(batch), 1.0))
        return np.array([found, np.ones(len(batch))]) @ (1 / batch.inclusion)


def _like(log: Any, table: pa.Table) -> Any:
    """The table as a frame of the library that the log is of."""
    library = type(log).__module__.partition(".")[0]
    if library == "pandas":
        return table.to_pandas()
    return importlib.import_module("polars").from_arrow(table) if library == "polars" else table
