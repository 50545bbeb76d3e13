"""What a click model is: settings that learn from a log, and tables of parameters that say how slates are clicked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np

from ..findings import about
from ..findings.evidence_clicks import OfFit
from ..folds.base import Fold, Tee
from ..folds.fingerprint import Content, Fingerprint, FingerprintFold
from ..log.batch import Floats, Integers
from ..log.source import Source
from ..readers.log import read_log
from ..running.executors import Executor, Progress, run
from ..spelling import Spelled
from . import documents
from .counts import Counts, CountsFold, counted
from .documents import SlateDocuments
from .fit.priors import Prior, given
from .fitted import Fitted
from .laws import ClickLaw
from .learnt import Learnt
from .parameters import Parameters, Roles
from .sessions import Gathered, Sessions, SessionsFold

Say = Callable[[str], object]
"""Called with what is being done."""


def silent(what: str) -> None:
    """Say nothing."""


CLICK_MODELS: dict[str, Callable[..., Any]] = {}
"""Makers of the click models by name: every class of this package that has one."""


class ClickModel(Spelled, ABC):
    """A frozen dataclass: its fields are how it learns, its repr its spelling (`dbn`, `ubm(tolerance=1e-6)`).

    A class with a `name` of its own can be spelled by it.
    """

    name: ClassVar[str]
    mixable: ClassVar[bool] = True
    """Whether it can be part of a mixture: it learns by EM or by counts, from sessions of any weight."""

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):
            CLICK_MODELS[cls.name] = cls

    @final
    def fit(
        self,
        log: Any,
        *,
        by: str | None = "auto",
        executor: Executor | None = None,
        progress: Progress | None = None,
        say: Say = silent,
    ) -> Fitted:
        """Learn from a log: anything that `read_log` takes, with slates and clicks.

        Where rows were sampled (`inclusion`), a row counts by its weight, and all rows together for as many sessions
        as they tell of, (sum w)^2 / sum w^2: what is believed of a document is not firmer because the log was thinned.

        by: the column whose values are the queries; a document is then a pair of query and item. "auto" is the
        column `query` where there is one; None: items are known by themselves.

        Raises:
            UsageError: clicks that are no whole numbers.
            LogError: the log breaks a rule, or is empty.
        """
        opened: Source = log if hasattr(log, "batches") else read_log(log)
        source, column = documents.grouping(opened, by)
        folds = Tee({"gathered": self.gather(column), "training": FingerprintFold(Content(column))})
        found = run(source, folds, executor, progress)
        return self.of(found["gathered"], say=say, source=opened.describe(), training=found["training"])

    @final
    def of(
        self, gathered: Gathered, *, say: Say = silent, source: str = "log", training: Fingerprint | None = None
    ) -> Fitted:
        """Learn from what was gathered before: one pass over the log serves several models."""
        data = gathered.counted()
        if isinstance(data, Sessions):
            data = self.from_sessions(data)
        learnt = self.learn(data, say=say)
        learnt = replace(learnt, cautions=(*about(OfFit(clicked=_clicked(gathered.data))), *learnt.cautions))
        return Fitted(self, gathered.documents, learnt, gathered.tally, source, training)

    def gather(self, by: str | None) -> Fold[Any, Any, Gathered]:
        """What reduces a log to what this model learns from."""
        return SessionsFold(by)

    def from_sessions(self, sessions: Sessions) -> Any:
        """The same from sessions in memory, whose weights may be any numbers above 0: mixtures share sessions out."""
        return sessions

    @abstractmethod
    def learn(self, data: Any, *, start: Parameters | None = None, say: Say = silent) -> Learnt:
        """Parameters from what `gather` found.

        start: `Learnt.parameters` of nearly the same data, which may save time and changes nothing beyond `tolerance`.
        Mixtures learn so again and again; where a start is given, strengths need not be found.
        """

    @abstractmethod
    def roles(self) -> Roles:
        """What each of its tables is about, by name."""

    @abstractmethod
    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        """How slates are clicked; document -1 is one that was never seen, shown = False no document at all."""

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """The model's relevance of each document (any shape), as the field defines it; its attraction unless said."""
        return np.asarray(parameters["attraction"][document])

    def examination(self, parameters: Parameters) -> Floats | None:
        """[k] probability that each rank is looked at, whatever is shown; None where it depends on more."""
        return None


class Countable(ClickModel, ABC):
    """A click model for which it is enough to know how often each document was shown and clicked in each cell.

    What it costs to learn does not grow with the number of sessions, once they are counted.
    """

    browsing: ClassVar[bool] = False
    """Whether cells know the last click above as well as the rank."""

    def gather(self, by: str | None) -> Fold[Any, Any, Gathered]:
        """Counts, in one pass."""
        return CountsFold(by, self.browsing)

    def from_sessions(self, sessions: Sessions) -> Counts:
        """The counts of sessions in memory."""
        return counted(sessions, browsing=self.browsing)


@dataclass(frozen=True, repr=False)
class WithPrior(Countable, ABC):
    """Its documents have a prior Beta: "fit", by the likelihood of all documents, or given as (a, b)."""

    prior: Prior = "fit"

    def __post_init__(self) -> None:
        given(self.prior)


def _clicked(data: Any) -> bool:
    """Whether sessions, or counts, have any click."""
    return bool((data.click if isinstance(data, Sessions) else data.clicked).any())


def of_documents(table: Floats, slots: SlateDocuments) -> Floats:
    """[n, k] each document's entry of a table; 0 where nothing is shown."""
    return np.where(slots.shown, table[slots.document], 0.0)


def of_ranks(curve: Floats, ranks: int) -> Floats:
    """[ranks] a curve's entries; its last one goes on below the lowest rank that was learnt from."""
    return np.asarray(curve[np.minimum(np.arange(ranks), len(curve) - 1)])
