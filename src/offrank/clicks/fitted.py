"""A fitted click model."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from .. import formatting
from ..errors import UsageError
from ..folds.estimate import Caution
from ..folds.fingerprint import Fingerprint
from ..log.batch import Contexts, Floats, Integers
from ..log.source import Needs
from ..report import terminal
from ..report.document import Document, of_models
from . import draws, storage
from .documents import Documents, SlateDocuments, needs
from .laws import ClickLaw
from .learnt import Learnt
from .parameters import Parameters, Roles
from .sessions import Tally
from .summary import known, learnt_section


class ModelKind(Protocol):
    """The methods of a model's kind that a fitted model uses; see `ClickModel`."""

    def roles(self) -> Roles: ...

    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw: ...

    def relevance(self, parameters: Parameters, document: Integers) -> Floats: ...

    def examination(self, parameters: Parameters) -> Floats | None: ...


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A click model with its parameters: predicts clicks, estimates relevance, draws clicks.

    contexts and slates are those of a log's batches: n slates [n, k] of indices into m candidates, -1 for none.
    A fitted model equals only itself, and prints as its kind does. training: the sessions that it was learnt from;
    None if not recorded.
    """

    model: ModelKind
    documents: Documents
    learnt: Learnt
    tally: Tally
    source: str = "log"
    training: Fingerprint | None = None

    def __repr__(self) -> str:
        return repr(self.model)

    def __str__(self) -> str:
        return terminal.render_text(self.sheet()).rstrip()

    def sheet(self, confidence: float = 0.95) -> Document:
        """The training data, convergence, tables that do not belong to documents, and cautions."""
        sessions = formatting.plural(self.tally.impressions, "session", "sessions")
        documents = formatting.plural(len(self.documents), "document", "documents")
        what = "items" if self.documents.by is None else f"pairs of {self.documents.by} and item"
        title, ends = f"{self.model!r}, learnt from {self.source}", partial(self.interval, confidence=confidence)
        found = learnt_section(self.learnt, self.model.roles(), ends, confidence)
        about = known(of_models([("", self.cautions)]), self.tally)
        return Document(title, f"{sessions}, {documents} ({what})", (found, about))

    def law(self, contexts: Contexts, slates: Integers) -> ClickLaw:
        """The joint distribution of the clicks on these slates."""
        return self.model.law(self.learnt.parameters, self.documents.slots(contexts, slates))

    def click_probs(self, contexts: Contexts, slates: Integers) -> Floats:
        """[n, k] P(C_k = 1 | slate), the marginal click probabilities; 0 on pads."""
        return self.law(contexts, slates).marginal()

    def conditional_click_probs(self, contexts: Contexts, slates: Integers, clicks: Floats) -> Floats:
        """[n, k] P(C_k = 1 | slate, clicks above rank k); clicks at k and below are ignored."""
        return self.law(contexts, slates).conditional(clicks)

    def relevance(self, contexts: Contexts) -> Floats:
        """[n, m] the model's relevance of each candidate; NaN beyond a row's candidates."""
        found = self.model.relevance(self.learnt.parameters, self.documents.codes(contexts))
        inside = np.arange(found.shape[1]) < contexts.size[:, None]
        return np.where(inside, found, np.nan)

    def sample(self, contexts: Contexts, slates: Integers, rng: np.random.Generator) -> Floats:
        """[n, k] clicks, 0 or 1."""
        return self.law(contexts, slates).sample(rng)

    def examination(self) -> Floats | None:
        """[k] probability that each rank is examined, relative to the first; None where it depends on more.

        The estimators `pbm` and `interpol` take it as `examination`.
        """
        found = self.model.examination(self.learnt.parameters)
        return None if found is None else found / found[0]

    def interval(self, parameter: str, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """(low, high) of the credible interval of each entry of a table, by the quantiles of its posterior.

        An entry of 1 counts as `strength` observations without exception: its interval ends at 1.

        Raises:
            UsageError: no such table, or one without a posterior, as the tables of a mixture's components are.
        """
        known = {**self.learnt.strength, **self.learnt.loadings}
        if parameter not in known:
            there = parameter in self.learnt.parameters
            raise UsageError(
                f"{self!r} has no posterior of its table {parameter!r}"
                if there
                else f"{self!r} has no table {parameter!r}",
                f"ask for {' or '.join(known)}" if known else "none of its tables has a posterior",
            )
        return draws.interval(self.learnt, parameter, confidence)

    @property
    def has_posterior(self) -> bool:
        """Whether any of its tables has a posterior."""
        return bool(self.learnt.strength or self.learnt.loadings)

    def draw(self, rng: np.random.Generator) -> Fitted:
        """The same model with all of its tables drawn once from their joint posterior.

        Whatever is computed from several draws has the model's own doubt: a relevance, a click probability, CMIP.
        """
        return replace(self, learnt=Learnt(draws.draw(self.learnt, rng), cautions=self.learnt.cautions))

    def needs(self) -> Needs:
        """The columns that identify documents."""
        return Needs(keys=needs(self.documents.by).keys)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions about this model."""
        return self.learnt.cautions

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON, atomically; `offrank.clicks.load` reads it."""
        parts = (self.documents, self.learnt, self.tally, self.source, self.training)
        storage.write(path, repr(self.model), *parts)
