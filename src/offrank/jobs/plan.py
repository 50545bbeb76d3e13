"""What an evaluation asks of a log, ready to run on any source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..checks.log import LogFold
from ..checks.rows import TiesFold, sorts
from ..errors import AbilityError, ColumnError, NoOverlapError
from ..estimators.base import Estimator, Reference
from ..estimators.family import Family
from ..estimators.fold import Layout, needs
from ..estimators.logged import LoggedMean
from ..estimators.named import REFERENCES
from ..estimators.wrappers import SelfNormalised, bare, weighing
from ..findings import about
from ..findings.evidence import OfCurve
from ..folds.sums import Products
from ..inference.ratio import Controlled
from ..inference.spec import IntervalSpec
from ..log.source import Needs, Source
from ..policies.prepared import counts
from ..policies.propensities import AnyPolicy
from . import document
from .choice import Chosen, chosen
from .contradiction import compared
from .estimates import Estimates
from .judgement import Judgement, named
from .provenance import NOTHING, Provenance
from .summary import Summary


@dataclass(frozen=True)
class Plan:
    """An evaluation, ready to run on any source.

    estimators: what each spelling stands for. references: weightings that nobody asked for, which assume less.
    """

    targets: Mapping[str, AnyPolicy]
    logging: AnyPolicy
    estimators: Mapping[str, Family]
    doubt: IntervalSpec
    by: str | None = None
    trained: Provenance = NOTHING
    references: tuple[Reference, ...] = ()

    def referenced(self, source: Source) -> Plan:
        """With what assumes less than an estimator that was asked for, where the log and the policies tell it.

        Nothing more is read for it than the columns that a policy names: what was written of the shown slates may be
        wrong, and nobody asked for it.
        """
        found, needed = self, self.needs()
        for one in REFERENCES:
            if one in self.layout.estimators or not any(one.assumes < bare(e).assumes for e in self._asked):
                continue
            more = replace(found, references=(*found.references, one))
            try:
                wanted = more.needs()
                source.select(wanted)
            except (AbilityError, ColumnError):
                continue
            if (wanted.roles, wanted.written) == (needed.roles, needed.written):
                found = more
        return found

    @property
    def _asked(self) -> list[Estimator | SelfNormalised]:
        """The estimators that somebody asked for and that speak of the target."""
        every = (e for members in self.estimators.values() for e in members.values())
        return [one for one in every if not isinstance(bare(one), LoggedMean)]

    @property
    def only_target(self) -> AnyPolicy:
        """The first target."""
        return next(iter(self.targets.values()))

    @property
    def layout(self) -> Layout:
        """Every different weighting once: ips and snips share theirs."""
        named = [e for members in self.estimators.values() for e in members.values()]
        weighed, targets = dict.fromkeys(map(bare, named)), dict.fromkeys(self.targets.values())
        per_slot = dict.fromkeys(bare(e) for e in named if isinstance(e, SelfNormalised) and e.by_slot)
        return Layout(tuple(targets), (*weighed, *self.references), tuple(per_slot), self.references)

    @property
    def ties(self) -> TiesFold:
        """Counts the ties of the targets that sort."""
        return TiesFold(tuple(filter(sorts, self.layout.targets)))

    def log_fold(self, source: Source) -> LogFold:
        """What is looked at whatever the estimate; of the logging policy where any estimator asks for it."""
        asked = any(bare(estimator).asks_logging is not None for estimator in self._asked)
        return LogFold.of(source, self.logging if asked else None)

    @property
    def products(self) -> Products:
        """The products of columns that a bootstrap sums too: those from which it learns slopes anew."""
        if self.doubt.method != "bootstrap":
            return ()
        every = [e for members in self.estimators.values() for e in members.values()]
        controlled = {bare(e) for e in every if isinstance(e, SelfNormalised) and e.controlled}
        found = [
            pair
            for _, estimator, value, weight in self.layout.pairs()
            if estimator in controlled
            for pair in Controlled.products(value, weight, 0)
        ]
        return tuple(dict.fromkeys(found))

    def needs(self) -> Needs:
        """The columns that are read."""
        wanted = needs(self.layout, self.logging) | self.ties.needs() | self.doubt.needs()
        return wanted | Needs(labels=frozenset([self.by] if self.by else []))

    def parts(self) -> list[Any]:
        """Everything that may have been learnt."""
        return [*self.targets.values(), *(one for members in self.estimators.values() for one in members.values())]

    def summary(self, folded: Any, **known: Any) -> Summary:
        """What the folds found, ready to be asked. known: as in `Summary`."""
        return Summary(self.layout, self.doubt, folded, counts(self.logging), self.products, **known)

    def estimates(self, summary: Summary) -> Estimates:
        """Every estimator for every target."""
        return listed(self.judged(summary))

    def judged(self, summary: Summary, groups: int = 1) -> dict[str, Judgement]:
        """The estimates of every target, held against each other. groups: how many such summaries there are."""
        every = [*self._asked, *map(named, self.references)]
        pairs = compared(every, summary.rewards_are_clicks) * len(self.targets) * groups
        return {
            name: Judgement.of(summary, target, self._chosen(summary, target), pairs)
            for name, target in self.targets.items()
        }

    def _chosen(self, summary: Summary, target: AnyPolicy) -> dict[str, Chosen]:
        """What answers for each spelling."""
        return {key: _examined(chosen(summary, target, members)) for key, members in self.estimators.items()}

    def examination(self) -> list[float] | None:
        """The curve that an estimator rests on."""
        inner = (part for members in self.estimators.values() for one in members.values() for part in _parts(one))
        curves = (getattr(part, "examination", None) for part in inner)
        return next((list(curve) for curve in curves if curve), None)

    def histograms(self, summary: Summary) -> Iterator[dict[str, Any]]:
        """How the weights of each target and weighting are spread; ips and snips share theirs, under the first name."""
        for name, target in self.targets.items():
            named: dict[Estimator, str] = {}
            for key, one in self._chosen(summary, target).items():
                named.setdefault(bare(one.estimator), key)
            for estimator, key in named.items():
                if weighing(estimator) is None:
                    continue
                yield document.histogram_row(name, key, summary.histogram(target, estimator))


def _parts(estimator: Estimator | SelfNormalised) -> Iterator[Any]:
    """An estimator and what it wraps."""
    inner: Any = estimator
    while inner is not None:
        yield inner
        inner = getattr(inner, "base", None) or getattr(inner, "residual", None)


def _examined(found: Chosen) -> Chosen:
    """The estimate, with what there is to say of the examination curve that it rests on."""
    estimate = found.estimate
    if isinstance(estimate, NoOverlapError):
        return found
    # A window of one rank moves no click to another.
    parts = _parts(found.estimator)
    curves = [getattr(part, "examination", None) for part in parts if getattr(part, "window", None) != 0]
    said = [caution for curve in curves if curve for caution in about(OfCurve(curve=tuple(curve)))]
    return replace(found, estimate=replace(estimate, warnings=(*said, *estimate.warnings)))


def listed(judged: Mapping[str, Judgement]) -> Estimates:
    """The estimates of all targets."""
    return Estimates({(name, key): found for name, one in judged.items() for key, found in one.estimates.items()})
