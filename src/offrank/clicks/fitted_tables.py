"""What a fitted click model says of the slates of a batch: probabilities of clicks, relevance, and clicks drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from .base import FitResult, Parameters
from .contexts import rows
from .covariates import needs_of
from .documents import Documents, session_needs
from .features import with_unseen
from .laws import ClickLaw
from .spec import ModelSpec


@dataclass(frozen=True, eq=False, repr=False)
class FittedTables:
    """A click model, the ids that its tables are of, and the tables: see `Fitted`."""

    model: ModelSpec
    documents: Documents
    learnt: FitResult

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        """The joint distribution of the clicks on these slates.

        Parameters:
            contexts: those of a batch.
            slates: [n, k] indices into each row's candidates, below 0 for none.

        Returns:
            The law, which can be summed and drawn from.

        Raises:
            UsageError: contexts are not those of a batch, but a log.

        Examples:
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model, batch = offrank.clicks.GCTR().fit(log), next(iter(log.batches(0)))
            >>> model.law(batch.contexts, batch.slates).marginal().tolist()
            [[0.5, 0.5]]
        """
        _check_contexts(contexts)
        found = self.documents.slots(contexts, slates)
        tables, document = self.tables(contexts, slates, found.document)
        return self.model.law(tables, replace(found, document=document, context=self.context_rows(contexts)))

    def context_rows(self, contexts: Contexts) -> Integers | None:
        """[n] the row of the tables by context for each context; None where the model has none.

        Parameters:
            contexts: those of a batch.

        Returns:
            The rows, or None.

        Examples:
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> offrank.clicks.GCTR().fit(log).context_rows(next(iter(log.batches(0))).contexts) is None
            True
        """
        return rows(self.learnt.parameters, contexts, self.model.context)

    def tables(self, contexts: Contexts, candidates: Integers, document: Integers) -> tuple[Parameters, Integers]:
        """The tables of parameters, and the index of each document there; those of features hold unseen ones too.

        Parameters:
            contexts: those of a batch.
            candidates: [n, k] indices into each row's candidates, below 0 for none.
            document: [n, k] as in `documents`.

        Returns:
            The tables by name, and [n, k] the rows in those by document.

        Examples:
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model, batch = offrank.clicks.GCTR().fit(log), next(iter(log.batches(0)))
            >>> model.tables(batch.contexts, batch.slates, batch.slates)[0]["rate"].tolist()
            [0.5]
        """
        return with_unseen(self.model, self.learnt, contexts, candidates, document)

    def click_probs(self, contexts: Contexts, slates: Integers | None = None) -> Floats:
        """[n, k] P(C_k = 1 | slate), the marginal click probabilities; 0 on pads.

        Parameters:
            contexts: those of a batch.
            slates: [n, k] indices into each row's candidates; by default those of the log.

        Returns:
            The probabilities.

        Raises:
            UsageError: contexts are not those of a batch, but a log, or there are no slates.

        Examples:
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model, batch = offrank.clicks.GCTR().fit(log), next(iter(log.batches(0)))
            >>> model.click_probs(batch.contexts, batch.slates).tolist()
            [[0.5, 0.5]]
        """
        _check_contexts(contexts)
        if slates is None:
            raise UsageError("there are no slates", "give the slates of a batch: batch.contexts, batch.slates")
        return self.law(contexts, slates).marginal()

    def conditional_click_probs(self, contexts: Contexts, slates: Integers, clicks: Floats) -> Floats:
        """[n, k] P(C_k = 1 | slate, clicks above rank k); clicks at k and below are ignored.

        Parameters:
            contexts: those of a batch.
            slates: [n, k] indices into each row's candidates, below 0 for none.
            clicks: [n, k] 0 or 1.

        Returns:
            The probabilities; 0 on pads.

        Examples:
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model, batch = offrank.clicks.GCTR().fit(log), next(iter(log.batches(0)))
            >>> model.conditional_click_probs(batch.contexts, batch.slates, batch.clicks).tolist()
            [[0.5, 0.5]]
        """
        return self.law(contexts, slates).conditional(clicks)

    def relevance(self, contexts: Contexts) -> Floats:
        """[n, m] the model's relevance of each candidate; NaN beyond a row's candidates.

        Parameters:
            contexts: those of a batch.

        Returns:
            The relevances.

        Raises:
            UsageError: contexts are not those of a batch, but a log.

        Examples:
            >>> log = offrank.read_log([{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model = offrank.clicks.DCTR(prior=(1, 1)).fit(log)
            >>> batch = next(iter(log.select(model.needs()).batches(0)))
            >>> model.relevance(batch.contexts).round(2).tolist()
            [[0.67, 0.33]]
        """
        _check_contexts(contexts)
        found = self.documents.candidates(contexts)
        candidates = np.where(found.shown, np.arange(found.shown.shape[1]), -1)
        tables, document = self.tables(contexts, candidates, found.document)
        relevance = self.model.relevance_on(tables, replace(found, document=document))
        return np.where(found.shown, relevance, np.nan)

    def sample(self, contexts: Contexts, slates: Integers, rng: np.random.Generator) -> Floats:
        """[n, k] clicks, 0 or 1.

        Parameters:
            contexts: those of a batch.
            slates: [n, k] indices into each row's candidates, below 0 for none.
            rng: what draws.

        Returns:
            The clicks.

        Examples:
            >>> import numpy as np
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> model, batch = offrank.clicks.GCTR().fit(log), next(iter(log.batches(0)))
            >>> model.sample(batch.contexts, batch.slates, np.random.default_rng(0)).shape
            (1, 2)
        """
        return self.law(contexts, slates).sample(rng)

    def needs(self) -> Needs:
        """The columns that identify documents, and those that tell what unseen ones are like.

        Returns:
            What to `select` of a log.

        Examples:
            >>> sorted(offrank.clicks.DCTR().fit([{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}]).needs().keys)
            ['query']
        """
        asked = frozenset() if self.model.context is None else frozenset([self.model.context])
        return Needs(keys=session_needs(self.documents.by).keys | asked) | needs_of(self.model.columns)


def _check_contexts(given: Any) -> None:
    if not isinstance(given, Contexts):
        raise UsageError(
            f"{type(given).__name__} is not the contexts of a batch",
            "for a log or a frame use predict(log), which returns a table of click probabilities and relevances",
        )
