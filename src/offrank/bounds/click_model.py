"""What a fitted click model tells: the tables of the items that it has seen; those of the others may be anything.

Expected clicks are linear in the attraction of an item, and in its satisfaction, so that both ends are reached where
these are 0 or 1. Users who read from the top: what an item does to clicks below it depends on no item above, so that
the best tables are found from the last rank upwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from ..clicks.base import Parameters, Role
from ..clicks.chain_models import CM, DCM, Satisfying
from ..clicks.documents import UNSEEN, SlateDocuments
from ..clicks.fitted import Fitted
from ..errors import UsageError
from ..log.batch import Contexts, Floats, Integers, LogBatch, Naturals
from ..log.source import Needs
from ..policies.base import Policy
from ..reward_models import slates as slates_of
from ..reward_models.click_model import posterior_draws, separable
from ..reward_models.slates import slate_laws
from .knowledge import Ends, Gap, Knowledge

_SHARED = 3
"""Items that a model has not seen, and two targets show: of more, each target's counts as another."""


@dataclass(frozen=True, eq=False)
class AsModelled(Knowledge):
    """Users click as a fitted model says, and an item that it has not seen may be any item.

    Raises:
        UsageError: a model of which the ends cannot be told.
    """

    fitted: Fitted
    is_draw: bool = False

    def __post_init__(self) -> None:
        roles = self.fitted.model.roles().values()
        simple = not {Role.DOCUMENT_AND_RANK, Role.QUERY, Role.EMBEDDING} & set(roles)
        chain = isinstance(self.fitted.model, CM | DCM | Satisfying)
        if not (chain or (simple and Role.DOCUMENT in roles and separable(self.fitted))):
            raise UsageError(
                f"bounds by {self.fitted!r} are not known", "fit pbm, trust, cascade, dcm, dbn or sdbn instead"
            )

    @property
    def says(self) -> str:  # type: ignore[override]
        """Return the assumption."""
        return f"users click as `{self.fitted!r}` says"

    @cached_property
    def drawn(self) -> tuple[Knowledge, ...]:  # type: ignore[override]
        """Return the same by draws from the posterior of the model."""
        return () if self.is_draw else tuple(AsModelled(one, True) for one in posterior_draws(self.fitted))

    def needs(self, target: Policy) -> Needs:
        """Return the columns to read.

        Raises:
            AbilityError: the target cannot tell, or draw, its slates.
        """
        return Needs(frozenset(["clicks"])) | self.fitted.needs() | slates_of.slate_needs(target)

    def ends(self, batch: LogBatch, context: Naturals, target: Policy) -> Ends:
        """Return both ends.

        Raises:
            AbilityError: the target has too many slates to enumerate.
        """
        found = np.zeros((4, len(batch)))
        for one in slate_laws(target.law("log_prob"), batch, None):
            documents = self._documents(batch.contexts.take(one.row), one.slates)
            known = documents.shown & (documents.document != UNSEEN)
            extremes = (self._extreme(documents, pick) for pick in (np.argmin, np.argmax))
            parts = (*extremes, known.sum(axis=1), documents.shown.sum(axis=1))
            found += [np.bincount(one.row, one.chance * part, len(batch)) for part in parts]
        return Ends(*found)

    def gap(self, batch: LogBatch, context: Naturals, target: Policy, against: Policy) -> Gap:
        """Return both ends of the difference. Sharp where both targets sort, and share few unseen items."""
        if target == against:
            return Gap(np.zeros(len(batch)), np.zeros(len(batch)))
        one, other = (self.ends(batch, context, policy) for policy in (target, against))
        lower, upper = one.lower - other.upper, one.upper - other.lower
        (sure, left), (also, right) = (policy.sure_slates(batch.contexts) for policy in (target, against))
        if len(rows := np.flatnonzero(sure & also)):
            contexts = batch.contexts.take(rows)
            lower[rows], upper[rows] = self._apart(
                contexts, left[rows, : contexts.slots], right[rows, : contexts.slots]
            )
        return Gap(lower, upper)

    def _apart(self, contexts: Contexts, one: Integers, other: Integers) -> tuple[Floats, Floats]:
        """Return the least and the largest difference of clicks on two slates, whose common items are one."""
        left, right = self._documents(contexts, one), self._documents(contexts, other)
        unseen = left.shown & (left.document == UNSEEN)
        row, here, there = np.nonzero((one[:, :, None] == other[:, None, :]) & unseen[:, :, None])
        nth = np.arange(len(row)) - np.searchsorted(row, row)
        row, here, there, nth = (each[nth < _SHARED] for each in (row, here, there, nth))
        lower, upper = np.full(len(one), np.inf), np.full(len(one), -np.inf)
        for corners in product(self._corners, repeat=int(nth.max(initial=-1)) + 1):
            each = np.array(corners, np.int64)[nth]
            for documents, place in ((left, here), (right, there)):
                documents.document[row, place] = each
            lower = np.minimum(lower, self._extreme(left, np.argmin) - self._extreme(right, np.argmax))
            upper = np.maximum(upper, self._extreme(left, np.argmax) - self._extreme(right, np.argmin))
        return lower, upper

    def _documents(self, contexts: Contexts, slates: Integers) -> SlateDocuments:
        found = self.fitted.documents.slots(contexts, slates)
        return replace(found, document=found.document.copy(), context=self.fitted.context_rows(contexts))

    def _extreme(self, documents: SlateDocuments, pick: Callable[..., Integers]) -> Floats:
        """Return the clicks [s] on slates whose unseen items are the least clicked, or the most, that there can be."""
        document, unseen = documents.document.copy(), documents.shown & (documents.document == UNSEEN)
        for rank in reversed(range(document.shape[1])):
            if len(rows := np.flatnonzero(unseen[:, rank])):
                every = np.stack([self._clicks(documents, document, rows, rank, corner) for corner in self._corners])
                document[rows, rank] = np.array(self._corners)[pick(every, axis=0)]
        return self._law(replace(documents, document=document))

    def _clicks(self, documents: SlateDocuments, document: Integers, rows: Integers, rank: int, corner: int) -> Floats:
        """Return the clicks on some of the slates with this document at this rank."""
        tried = document[rows].copy()
        tried[:, rank] = corner
        context = None if documents.context is None else documents.context[rows]
        return self._law(replace(documents, document=tried, shown=documents.shown[rows], query=None, context=context))

    def _law(self, documents: SlateDocuments) -> Floats:
        clicks = self.fitted.model.law(self._tables, documents).marginal()
        return np.asarray(np.where(documents.shown, clicks, 0.0).sum(axis=1))

    @cached_property
    def _corners(self) -> tuple[int, ...]:
        """The documents whose tables are 0 or 1 each."""
        seen = len(self.fitted.documents)
        return tuple(range(seen, seen + 2 ** len(self._by_document)))

    @cached_property
    def _tables(self) -> Parameters:
        """The model's tables, with `_corners` before the last entry."""
        tables, names = dict(self.fitted.learnt.parameters), self._by_document
        for name, column in zip(names, np.array(list(product((0.0, 1.0), repeat=len(names)))).T, strict=True):
            tables[name] = np.concatenate([tables[name][:-1], column, tables[name][-1:]])
        return tables

    @cached_property
    def _by_document(self) -> tuple[str, ...]:
        return tuple(name for name, role in self.fitted.model.roles().items() if role is Role.DOCUMENT)
