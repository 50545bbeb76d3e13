"""The base of click models: settings that learn from a log, and tables of parameters that predict clicks on slates."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, Self, final

import numpy as np

from ..errors import SpellingError, UsageError
from ..findings import cautions_for
from ..findings.clicks import FitEvidence
from ..language import Say, silent
from ..language.registry import Registry
from ..language.spelling import Spelled, parse, spell
from ..log.batch import Floats
from ..readers.log import opened
from ..running.executors import Executor, Progress, reduced
from ..running.memory import given_back, large_given_back
from ..sums.base import Fold, Tee
from ..sums.fingerprint import Content, Fingerprint, FingerprintFold
from ..sums.outcome_shape import OutcomeShapeFold
from . import contexts, documents, features, storage
from .base import FitResult, check_tables, refuse_sorted
from .click_counts import ClickCounts, CountsFold, count_clicks
from .covariates import FEATURE_VECTORS, CovariatesFold, FeatureColumns, Regression, needs_of
from .documents import SlateDocuments
from .features import checked
from .fit.priors import Prior, given
from .fitted import Fitted
from .sessions import Sessions, SessionsFold, TrainingData
from .spec import ModelSpec

_NEURAL = (
    "the recurrent click models ncm and cacm are in the package offrank-papers",
    "use ubm or dbn; or `import offrank_papers.neural`, in Python, with the extra `neural`",
)
_MIXTURE = (
    "there is no mixture of click models any more: it decided nothing that one model does not decide as well",
    "use ubm or dbn; pbm or trust to judge documents; rdctr where users differ and the log is long",
)
CLICK_MODELS: Registry[Callable[..., Any]] = Registry(
    "offrank.clicks", "click model", gone={"ncm": _NEURAL, "cacm": _NEURAL, "mixture": _MIXTURE}
)
"""The click models by name: every class that has one, of this package or another."""


@dataclass(frozen=True)
class ClickModel(Spelled, ModelSpec):
    """A kind of click model, a frozen dataclass of settings whose repr is its spelling (`dbn`, `ubm(tolerance=1e-6)`).

    A class that defines a `name` can be spelled by it. Models of one's own extend `CountModel` or `SessionModel`.
    """

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            CLICK_MODELS.add(cls.name, cls, cls)

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

        Where rows were sampled (`inclusion`), a row counts by its weight, and all rows together as many sessions as the
        effective sample size (sum w)^2 / sum w^2: posteriors are not narrower because the log was thinned.

        by: the column whose values are the queries; a document is then a pair of query and item. "auto" is the
        column `query` where there is one; None: a document is an item.

        Raises:
            UsageError: clicks that are not whole numbers.
            LogError: the log breaks a rule, or is empty.
            SupportError: the lists are sorted by their clicks.
        """
        source = opened(log)
        _, column = documents.grouping(source, by)
        folds: dict[str, Fold] = {
            "gathered": self.collect(column),
            "training": FingerprintFold(Content(column)),
            "texts": documents.TextsFold(),
            "shape": OutcomeShapeFold(),
        }
        if self.columns is not None:
            folds["covariates"] = CovariatesFold(self.columns, column)
        needed = documents.session_needs(column) | needs_of(self.columns) | contexts.context_needs(self.context)
        fold = Tee(folds)
        found = given_back(fold.result(given_back(reduced(source.select(needed), fold, executor, progress))))
        if self.learns_examination:
            refuse_sorted(found["shape"])
        gathered = [replace(found.pop("gathered"), covariates=found.get("covariates"))]
        with large_given_back():
            fitted = self.of(gathered.pop(), say=say, source=source.describe(), training=found["training"])
        return replace(fitted, documents=fitted.documents.named(found["texts"]))

    @final
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name, as scikit-learn asks for them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @final
    def set_params(self, **settings: Any) -> Self:
        """A model of the same kind with other settings; this one stays as it is.

        Raises:
            UsageError: no such setting.

        Examples:
            >>> offrank.clicks.PBM().set_params(prior=(1, 9))
            pbm([1, 9])
        """
        known = self.get_params()
        if unknown := sorted(set(settings) - set(known)):
            raise UsageError(f"{self.name} has no setting {unknown[0]!r}", f"it has {', '.join(known) or 'none'}")
        made = object.__new__(type(self))
        made.__dict__.update({**known, **settings})
        getattr(made, "__post_init__", lambda: None)()
        return made

    @final
    def __sklearn_clone__(self) -> Self:
        """An unfitted copy, for scikit-learn: itself, since settings never change and learning changes nothing."""
        return self

    @final
    def of(
        self,
        gathered: TrainingData,
        *,
        say: Say = silent,
        source: str = "log",
        training: Fingerprint | None = None,
    ) -> Fitted:
        """Learn from data gathered before, so that one pass over the log serves several models."""
        data, known, documents, tally = gathered.counted(), gathered.covariates, gathered.documents, gathered.tally
        evidence, rates = _evidence(gathered.data), rank_rates(data)
        each = [self.from_sessions(data) if isinstance(data, Sessions) else data]
        del gathered, data  # a model may let go of what it learns from: there is less in memory
        if known is None:
            learnt = self.learn(each.pop(), say=say)
        else:
            learnt = features.learn_with_features(self, partial(self.learn, say=say), each.pop(), known, say)
        _check_learnt(self, learnt, len(documents))
        ended = FitEvidence(settled=learnt.converged, rounds=learnt.rounds)
        learnt = replace(learnt, cautions=(*cautions_for(evidence, ended), *learnt.cautions))
        return Fitted(self, documents, learnt, tally, source, training, rates)

    @abstractmethod
    def collect(self, by: str | None) -> Fold:
        """The fold that reduces a log to the training data of this model."""

    @abstractmethod
    def from_sessions(self, sessions: Sessions) -> Any:
        """The training data from sessions in memory, whose weights may be any positive numbers."""

    @abstractmethod
    def learn(self, data: Any, *, say: Say = silent) -> FitResult:
        """Learn the parameters from the data that `collect` found."""


class SessionModel(ClickModel, ABC):
    """A click model that learns from sessions."""

    def collect(self, by: str | None) -> Fold:
        """The fold that keeps each distinct session once."""
        return SessionsFold(by)

    def from_sessions(self, sessions: Sessions) -> Sessions:
        """The sessions themselves."""
        return sessions

    @abstractmethod
    def learn(self, data: Sessions, *, say: Say = silent) -> FitResult: ...


class CountModel(ClickModel, ABC):
    """A click model that only needs to know how often each document was shown and clicked in each cell.

    Once sessions are counted, the cost of learning does not grow with their number.
    """

    browsing: ClassVar[bool] = False
    """Whether a cell is a rank and the last click above it, instead of a rank."""

    @abstractmethod
    def learn(self, data: ClickCounts, *, say: Say = silent) -> FitResult: ...

    def collect(self, by: str | None) -> Fold:
        """The fold that counts in one pass."""
        return CountsFold(by, self.browsing, self.context)

    def from_sessions(self, sessions: Sessions) -> ClickCounts:
        """The counts of sessions in memory."""
        return count_clicks(sessions, browsing=self.browsing)


@dataclass(frozen=True, repr=False)
class WithPrior(CountModel, ABC):
    """A click model with a Beta prior of documents: "fit", by the likelihood of all documents, or given as (a, b)."""

    prior: Prior = "fit"

    def __post_init__(self) -> None:
        given(self.prior)


@dataclass(frozen=True, repr=False, kw_only=True)
class FromFeatures(ClickModel, ABC):
    """A click model whose documents may be judged by features where they have few clicks, see `features`.

    attraction: "table", by clicks alone; or also by a "linear" regression, "boosted" trees or a small "network".
    features: the columns beside the candidates that it reads: `features`, the log's vectors, or names of scores.
    """

    attraction: Regression = "table"
    features: str | tuple[str, ...] = (FEATURE_VECTORS,)

    def __post_init__(self) -> None:
        names = (self.features,) if isinstance(self.features, str) else tuple(self.features)
        object.__setattr__(self, "features", names)
        for name in self._regressed():
            checked(name, getattr(self, name))
        if self.columns is None and names != (FEATURE_VECTORS,):
            raise UsageError(f"{self!r} does not use features", f"set also {self._regressed()[0]}=linear, or boosted")
        prior = getattr(self, "prior", "fit")
        if self.columns is not None and prior != "fit":
            raise UsageError(f"prior={spell(prior)} leaves nothing for features to explain", "omit prior=")

    def _regressed(self) -> tuple[str, ...]:
        """The settings that name a regression, each called as its table."""
        return ("attraction",)

    @property
    def regressions(self) -> Mapping[str, Regression]:
        """The regression on features of each table that has one."""
        return {name: kind for name in self._regressed() if (kind := getattr(self, name)) != "table"}

    @property
    def columns(self) -> FeatureColumns | None:
        """The columns of the features; None where no table depends on any."""
        return FeatureColumns(tuple(self.features)) if self.regressions else None


def _check_learnt(model: ClickModel, learnt: FitResult, documents: int) -> None:
    """Check that a model's tables are those of its roles, and that these say what relevance is.

    Raises:
        UsageError: they are not, or do not.
    """
    try:
        check_tables(learnt.parameters, model.roles(), documents)
    except ValueError as error:
        raise UsageError(
            f"{model!r} did not learn the tables of its roles: {error}", "correct learn or roles"
        ) from error
    if numbers := [name for name in learnt.strength if not model.roles()[name].is_probability]:
        raise UsageError(
            f"{model!r}: {numbers[0]} has a strength, as only probabilities have", "correct learn or roles"
        )
    model.relevance(learnt.parameters, np.array([-1]))


def _evidence(data: Sessions | ClickCounts) -> FitEvidence:
    """Whether sessions or counts have any click, and any document that was not clicked."""
    if isinstance(data, Sessions):
        return FitEvidence(clicked=bool(data.click.any()), skipped=bool((data.click < (data.document >= 0)).any()))
    return FitEvidence(clicked=bool(data.clicked.any()), skipped=bool((data.clicked < data.shown).any()))


def of_documents(table: Floats, slots: SlateDocuments) -> Floats:
    """[n, k] each document's entry of a table; 0 where nothing is shown.

    Parameters:
        table: [d + 1] or [d + 1, k] a number per document, the last of an unseen one.
        slots: the documents of slates.

    Returns:
        [n, k] the numbers, 0 where nothing is shown.

    Examples:
        >>> import numpy as np
        >>> slots = offrank.clicks.SlateDocuments(np.array([[0, 1]]), np.array([[True, True]]))
        >>> offrank.clicks.of_documents(np.array([0.2, 0.4]), slots).tolist()
        [[0.2, 0.4]]
    """
    return np.where(slots.shown, table[slots.document], 0.0)


def rank_rates(data: Sessions | ClickCounts) -> Floats:
    """[ranks] the click rate of each rank: the posterior mean under a uniform prior, as `rctr` predicts."""
    shown, clicked = data.by_position()
    return np.asarray((clicked + 1) / (shown + 2))


def of_ranks(curve: Floats, ranks: int) -> Floats:
    """[..., ranks] the entries of curves [..., k], whose last is repeated below the lowest rank learnt from.

    Parameters:
        curve: [..., k] a number per rank.
        ranks: how many ranks to return.

    Returns:
        [..., ranks] the numbers.

    Examples:
        >>> import numpy as np
        >>> offrank.clicks.of_ranks(np.array([1.0, 0.5]), 3).tolist()
        [1.0, 0.5, 0.5]
    """
    return np.asarray(curve[..., np.minimum(np.arange(ranks), curve.shape[-1] - 1)])


def click_model(spelling: str | ClickModel) -> ClickModel:
    """The click model with this spelling: `dbn`, `ubm(tolerance=1e-6)`; or a click model as it is.

    Parameters:
        spelling: a text such as `dbn`, or a click model.

    Returns:
        The click model.

    Raises:
        SpellingError: not a click model's spelling. UsageError: not a click model.

    Examples:
        >>> offrank.clicks.click_model("dctr(prior=[1, 1])")
        dctr([1, 1])
    """
    found = parse(spelling, CLICK_MODELS, "click model") if isinstance(spelling, str) else spelling
    if not isinstance(found, ClickModel):
        raise UsageError(f"{spelling!r} is not a click model", "give one such as 'dbn' or offrank.clicks.DBN()")
    return found


def load(path: str | os.PathLike[str]) -> Fitted:
    """Read a model that `Fitted.save` wrote, exactly as it was. Nothing in the file is executed.

    Parameters:
        path: the file.

    Returns:
        The fitted model.

    Raises:
        UsageError: no such file, not a click model, a damaged one, or one of a later format.

    Examples:
        >>> offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}]).save("model.json")
        >>> offrank.clicks.load("model.json").model
        gctr
    """
    spelling, about = storage.read_model(path)
    try:
        with storage.damage_told(path):
            fitted = Fitted(click_model(spelling), **about)
            _try(fitted)
    except SpellingError as error:
        told = spelling.partition("(")[0] in CLICK_MODELS.gone
        raise UsageError(
            f"{str(path)!r} contains a model that this offrank does not know: {error.message}",
            error.remedy if told else "import the module that defines it, update offrank, or fit the model again",
        ) from error
    return fitted


def _try(fitted: Fitted) -> None:
    """Predict a slate of the first, the last and an unseen document, so that tables that do not fit are found now.

    Invalid numbers are found anywhere in a table.
    """
    parameters, model = fitted.learnt.parameters, fitted.model
    check_tables(parameters, model.roles(), len(fitted.documents))
    document = np.array([[0, len(fitted.documents) - 1, -1]])
    relevance = model.relevance(parameters, document)
    click = model.law(parameters, SlateDocuments(document, np.ones(document.shape, np.bool_))).marginal()
    if not (np.isfinite(relevance).all() and ((click >= 0) & (click <= 1)).all()):
        raise ValueError("its probabilities are invalid")
