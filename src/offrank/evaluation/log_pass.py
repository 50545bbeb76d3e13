"""One pass over a log: what is read and counted for a question, and the counts, from which every number follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

from ..checks.log_problems import log_quantities
from ..checks.rows import ImpressionsFold, TiesFold
from ..checks.written_propensities import taken_as_written
from ..errors import AbilityError, ColumnError, UsageError
from ..estimators.base import Estimator, Reference
from ..estimators.design import design_fold
from ..estimators.effective_size import SumsFold
from ..estimators.family import Family
from ..estimators.fold import TermsFold
from ..estimators.layout import ROWS, Layout
from ..estimators.named import REFERENCES
from ..findings import cautions_for
from ..findings.assumptions import CurveEvidence
from ..findings.log import LogEvidence
from ..findings.reasons import AS_DRAWN, ONE_LOOK, ROWS_KEPT, Assumption
from ..findings.row import Row
from ..inference.clusters_and_level import IntervalSpec
from ..language.from_text import TOTAL_NAMES
from ..language.registry import Later
from ..log.batch import RunCache
from ..log.source import Needs, Source
from ..policies.base import Policy
from ..running.quantities import Quantities, Quantity
from ..sums.base import Tee
from ..sums.clusters import BUCKETS, BUCKETS_OF_A_GROUP
from ..sums.group_by import GroupBy, Grouping, by_column
from ..sums.histogram import Histogram, HistogramFold
from ..sums.largest import MOST_LARGEST, LargestFold
from ..sums.mean import Products, controlled_products
from .candidates import Pick, Rows, compared, contradicted, of_references, references, requested, selected
from .counts import Counts
from .diagnostics import Diagnostics
from .estimates import Estimates
from .metadata import ModelOf, WeightsOf
from .provenance import NOTHING, Provenance

if TYPE_CHECKING:
    from ..checks import credit
    from ..estimators import outcomes
    from ..estimators.history import ArmsHistory
    from ..estimators.outcomes import Outcome, Scorecard
else:  # needed where something is asked beside the reward, or rankings were merged
    outcomes = Later("..estimators.outcomes", __package__)
    credit = Later("..checks.credit", __package__)

Picks = Mapping[str, Mapping[str, Pick]]


@dataclass(frozen=True)
class Pass:
    """One pass over a log for a question: what is read and counted, and what follows from it.

    estimators: by their spelling. references: less assuming weightings that the user did not request. picks: by
    spelling and target, what was chosen before. totals: true numbers of impressions, by which rows are tested.
    control: a column that was known before the impression. history: what was learnt of the clicks of an experiment;
    no_history: why nothing was. compares: whether targets are compared with each other. scorecard: other
    outcomes, and guardrails; outcome: the one that this pass is for, in its place.
    """

    targets: Mapping[str, Policy]
    logging: Policy
    estimators: Mapping[str, Family]
    spec: IntervalSpec
    by: str | None = None
    trained: Provenance = NOTHING
    references: tuple[Reference, ...] = ()
    picks: Picks = field(default_factory=dict)
    totals: Mapping[str, float] | None = None
    control: str | None = None
    history: ArmsHistory | None = None
    no_history: str | None = None
    compares: bool = False
    scorecard: Scorecard | None = None
    outcome: Outcome | None = None

    def for_outcome(self, outcome: Outcome) -> Pass:
        """Return the same pass for an outcome beside the reward, by the estimators that weigh it.

        Raises:
            UsageError: none does.
        """
        ratio = outcome.per is not None
        found = dict[str, Family]()
        for name, members in self.estimators.items():
            some = {key: one for key, one in members.items() if outcome.weighed_by(one)}
            found |= {name: some} if some and name not in self.picks else {}
        if not any(one.kind.weighs != "logged" for some in found.values() for one in some.values()):
            raise UsageError(
                f"no estimator that is asked for weighs the outcome `{outcome}`",
                "add one of whole slates that divides by its weights: snips",
            )
        return replace(
            self,
            estimators=found,
            references=() if ratio else tuple(filter(outcome.weighed_by, self.references)),
            picks={},
            control=None if ratio else self.control,
            history=None,
            scorecard=None,
            outcome=outcome,
        )

    def referenced(self, source: Source) -> Pass:
        """Add less assuming estimators than those requested, if the log and the policies support them.

        They read nothing more than the columns that a policy names: logged probabilities of the shown slates may be
        wrong, and the user did not request them.
        """
        needed, more = self.needs(), []
        for one in REFERENCES:
            if one in self.layout.estimators or not any(one.kind.assumes < e.kind.assumes for e in self._of_targets):
                continue
            try:
                wanted = needed | replace(self.layout, estimators=(one,), per_slot=()).needs(self.logging)
                source.select(wanted)
            except (AbilityError, ColumnError):
                continue
            if (wanted.roles, wanted.written) == (needed.roles, needed.written):
                more.append(one)
        return replace(self, references=tuple(more)) if more else self

    @property
    def members(self) -> list[Estimator]:
        """Return the estimators of all spellings."""
        return [one for family in self.estimators.values() for one in family.values()]

    @property
    def _of_targets(self) -> list[Estimator]:
        """Return the estimators that depend on the target."""
        return [one for one in self.members if one.kind.weighs != "logged"]

    @cached_property
    def layout(self) -> Layout:
        """Return each distinct weighting once: ips and snips share one."""
        weighed, per_slot = dict[Estimator, None](), dict[Estimator, None]()
        for family in self.estimators.values():
            for one in family.values():
                weighed[plain := one.unnormalised] = None
                if one.kind.normalisation == "slot":
                    per_slot[plain] = None
        targets, every = dict.fromkeys(self.targets.values()), (*weighed, *self.references)
        known = self.references, self.logging.rankers, self.control
        ratio = self.outcome is not None and self.outcome.per is not None
        return Layout(tuple(targets), every, tuple(per_slot), *known, self.history, ratio)

    @property
    def checked_logging(self) -> Policy | None:
        """Return the logging policy if any estimator requires it, so that the log is held against it."""
        asked = any(estimator.kind.logging is not None for estimator in self._of_targets)
        return self.logging if asked else None

    @property
    def products(self) -> Products:
        """Return the products of columns that a bootstrap also sums, to refit slopes in each replicate."""
        controlled = {e.unnormalised for e in self.members if e.kind.normalisation == "control"}
        found = [
            pair
            for one in self.layout.pairs
            if one.estimator in controlled
            for pair in controlled_products(one.value, one.weight, ROWS)
        ]
        return tuple(dict.fromkeys(found))

    def needs(self) -> Needs:
        """Return the columns to read."""
        labels = frozenset([] if self.by is None else [self.by])
        columns = Needs(clusters=frozenset(self.spec.columns), labels=labels)
        wanted = self.layout.needs(self.logging) | columns | self.spec.told
        if self.scorecard is not None:
            wanted |= self.scorecard.needs
        if all(one.kind.target is None for one in self.layout.estimators):
            for one in self.layout.targets:
                if one.sorts:  # one whose column is missing is refused in any case
                    wanted |= one.reads("rank_probs")
        return wanted

    def terms(self, by: Grouping | None = None, *, page: bool = True) -> TermsFold:
        """Return the fold of the sums of all estimates. by: the group of each row. page: whether a page wants them."""
        spec, layout = self.spec, self.layout
        products = self.products if spec.method == "bootstrap" else ()
        whole = sums_fold(spec, layout, products)
        if page:
            weights = layout.columns.numbers(one.weight for one in layout.pairs)
            whole = Tee({**whole.folds, "histogram": HistogramFold(tuple(weights))})
        every: dict[str, Any] = {"whole": whole}
        if by is not None:
            every["groups"] = GroupBy(sums_fold(spec, layout, products, BUCKETS_OF_A_GROUP, keep=256))
        return TermsFold(layout, self.logging, Tee(every), spec.columns, by, spec.told if spec.draws_rows else None)

    def number_folds(self, source: Source, needed: Needs, cache: RunCache, *, page: bool = False) -> dict[str, Any]:
        """Return what numbers follow from. needed: the columns that are read anyway. page: as in `terms`."""
        return {
            "terms": self.terms(None if self.by is None else by_column(self.by), page=page),
            "impressions": ImpressionsFold(),
            "design": design_fold(self.layout, self.logging, source, needed, cache),
        }

    def quantities(self, source: Source, cache: RunCache | None = None) -> Quantities:
        """Return all that is counted; of the source only the columns matter. cache: of batches."""
        parts = *self.targets.values(), *self.members
        learnt = list(self.trained.of(*parts))
        asked = Quantities(source, reduce(Needs.__or__, (one.content.needs() for one in learnt), self.needs()), cache)
        folds = self.number_folds(source, asked.needs, asked.cache, page=True)
        asked.add(*(Quantity(name, fold) for name, fold in folds.items()))
        for one in self.scorecard.outcomes if self.scorecard else ():
            fold = self.for_outcome(one).terms(None if self.by is None else by_column(self.by), page=False)
            asked.add(Quantity(one.sums, outcomes.OutcomeFold(**vars(fold), outcome=one)))
        asked.add(*log_quantities(source, self.checked_logging, self.spec.columns, compared=self.compares))
        if self.compares and (self.history or self.no_history) and self.logging.confirmed.merges:
            asked.add(
                Quantity("credit", credit.CreditFold.of_units(self.logging.confirmed, self.spec.columns), None, True)
            )
        asked.add(Quantity("ties", TiesFold(tuple(one for one in self.layout.targets if one.sorts))))
        asked.add(*self.trained.quantities(parts, learnt, asked.needs.scores))
        asked.add(*Diagnostics.of(self.targets, self.logging, self.estimators.values(), asked.needs).quantities())
        return asked

    def counts(self, folded: Any, **known: Any) -> Counts:
        """Return the counts of the log or of a group, from the folds' results. known: as in `Counts`."""
        products = self.products if self.spec.method == "bootstrap" else ()
        return Counts(self.layout, self.spec, folded, self.logging, products, **known)

    def tested(self, log: LogEvidence) -> frozenset[Assumption]:
        """Return the assumptions that a log could test; if they are wrong, that is said of the log."""
        drawn = [] if taken_as_written(self.logging, log) else [AS_DRAWN]
        kept = [ROWS_KEPT] if self.totals is not None and len(self.totals) == len(TOTAL_NAMES) else []
        looks = [ONE_LOOK] if self.spec.level > self.spec.confidence else []
        return frozenset([*drawn, *kept, *looks])

    def estimates(self, summary: Counts) -> Estimates:
        """Return every estimator for every target."""
        return requested_estimates(self.rows(summary))

    def rows(self, summary: Counts, groups: int = 1) -> dict[str, Rows]:
        """Return what the estimators say of every target, compared with each other. groups: number of such counts."""
        every = dict.fromkeys([*self._of_targets, *(known := references(self.layout))])
        pairs = compared(every, summary.rewards_are_clicks) * len(self.targets) * groups if len(every) > 1 else 0
        found: dict[str, Rows] = {}
        for name, target in self.targets.items():
            asked = {
                key: _examined(selected(summary, target, key, members, self.picks.get(key, {}).get(name)))
                for key, members in self.estimators.items()
            }
            unasked = [one for one in known if repr(one) not in asked]
            rows = {**asked, **of_references(summary, target, unasked)} if unasked else asked
            alone = len(rows) == 1 and not any(one.considered for one in rows.values())
            found[name] = rows if alone else contradicted(summary, target, rows, pairs)
        return found

    def examination(self) -> list[float] | None:
        """Return the examination curve that an estimator uses."""
        curves = (one.kind.curve for one in self.members)
        return next((list(curve) for curve in curves if curve), None)

    def models(self) -> Iterator[ModelOf]:
        """Return how the reward model of each estimator was learnt, and how well it predicts."""
        for key, members in self.estimators.items():
            models = (one.kind.model for one in members.values())
            yield from dict.fromkeys(ModelOf(key, one) for one in models if one is not None)

    def histograms(self, summary: Counts, rows: Mapping[str, Rows]) -> Iterator[WeightsOf]:
        """Return the weight histograms by target and weighting; ips and snips share one, under the first name."""
        for name, target in self.targets.items():
            named: dict[Estimator, str] = {}
            for one in requested(rows[name]):
                named.setdefault(one.estimator.unnormalised, one.name)
            for estimator, key in named.items():
                if (at := summary.columns(target, estimator)).weighted is not None:
                    yield WeightsOf(name, key, Histogram.of(summary.folded["histogram"][at.number]))


def _examined(row: Row) -> Row:
    """Add the warnings about the estimate's examination curve to the estimate.

    Remedies spell the estimator as the user did: `clip(pbm, 100)`, without the curve given separately.
    """
    if row.refusal is not None:
        return row
    estimate, kind = row.estimate, row.estimator.kind
    # With a window of one rank, no click moves to another rank.
    curve = None if kind.window == 0 else kind.curve
    if not curve and row.name == repr(row.estimator):
        return row
    said = cautions_for(CurveEvidence(curve=curve)) if curve else ()
    spelled = row.name if estimate.chosen is None else repr(row.estimator)
    own = (replace(one, remedy=one.remedy.replace(repr(row.estimator), spelled)) for one in estimate.warnings)
    return replace(row, estimate=replace(estimate, warnings=(*said, *own)))


def requested_estimates(rows: Mapping[str, Rows]) -> Estimates:
    """Return the estimates of all targets that were asked for."""
    return Estimates({(target, one.name): one.found for target, some in rows.items() for one in requested(some)})


def sums_fold(
    spec: IntervalSpec, layout: Layout, products: Products = (), buckets: int = BUCKETS, keep: int = MOST_LARGEST
) -> Tee:
    """Return the fold of the sums of the estimates. buckets: of clusters. keep: how many of the largest rows."""
    columns, pairs = layout.columns, layout.pairs
    return Tee(
        {
            **spec.folds(columns, products, buckets, tuple(layout.blocks)),
            "worth": SumsFold(),
            "largest": LargestFold(tuple(columns.numbers(one.weight for one in pairs)), keep),
            "earned": LargestFold(tuple(columns.numbers(layout.rewards)), keep, absolute=True),
        }
    )
