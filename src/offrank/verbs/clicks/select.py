"""`select clicks`: which of several click models to use under another policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ...clicks.evaluation import Evaluations, evaluate_models
from ...clicks.fitted import Fitted
from ...clicks.summary import log_findings
from ...errors import AbilityError
from ...evaluation import arguments
from ...evaluation.reproducibility import Delivered, facts
from ...findings import cautions_for, convicting
from ...findings.measure import CmipEvidence
from ...frames import plain
from ...language.argument import seed_number
from ...log.source import Source
from ...metrics.cmip_models import Relevance, cmip_of_relevance, views
from ...metrics.conditional_information import Cmip
from ...policies.base import Policy
from ...policies.fit import fitted
from ...policies.registry import policy as named_policy
from ...report.document import Document, Section, worst
from ...report.facts import again
from ...running.executors import Executor, Progress
from ...selection.candidates import MeasuredModel
from ...selection.click_models import ModelChoice, Selection, select
from ...selection.strategies import strategy as read_strategy
from ...sums.estimate import Caution
from . import pages
from .base import Models, models, query_column
from .graded import Graded, GradedFold, GradesBy, Ranked


@dataclass(frozen=True)
class Selected(Delivered):
    """Measurements of each click model, and the choice of each strategy.

    here: likelihood and perplexity on the log. ranked: nDCG, in the order of the models. cmip: by model. about:
    warnings about each model.
    """

    selection: Selection
    here: Evaluations
    ranked: Ranked
    cmip: Mapping[str, Cmip]
    about: Mapping[str, tuple[Caution, ...]]

    @property
    def cautions(self) -> Mapping[str, tuple[Caution, ...]]:
        return self.about

    @property
    def choice(self) -> ModelChoice | None:
        """Return the choice of the only strategy, or of the one that the paper found best; None if there is none."""
        return self.selection.choice

    @property
    def severity(self) -> str:
        """Return the worst severity of the findings about the model that is chosen."""
        return "serious" if self.choice is None else worst(one.severity for one in self.about[self.choice.name])

    headings = Selection.headings

    def records(self) -> list[dict[str, Any]]:
        return self.selection.records()

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.facts,
            **self.here.to_dict(),
            "ndcg": self.ranked.to_dict(list(self.here)),
            "cmip": plain(self.cmip),
            **self.selection.to_dict(),
        }

    def to_document(self) -> Document:
        read = f"{self.facts['sessions']:,} sessions, {self.facts['queries']:,} queries"
        lead = f"{read}, {self.facts['documents']:,} graded documents; {100 * self.facts['confidence']:g} % intervals."
        answer, tally = self.selection.answer(self.severity), next(iter(self.here.values())).tally
        doubts = Section("Uncertainty of the choice", answers=(answer,), printed=False)
        parts = [pages.measured(self.here, self.ranked, self.cmip), doubts, self.selection.chosen()]
        parts.append(log_findings(self.findings_by_code(), tally, note=self.facts.get("grades")))
        parts += (replace(one, folded=True, printed=False) for one in pages.quantities(self.here, None, "Perplexity"))
        parts.append(again(self.facts, "log", "labels", "logging", "method", "relevance", "cluster", "seed"))
        return self._page(lead, parts, answer)


def select_clicks(
    log: Any,
    model: Models,
    labels: str,
    logging: str | Policy = "logged",
    *,
    columns: Mapping[str, str] | None = None,
    strategy: str | None = None,
    method: str = "binned",
    relevance: Relevance = "draws",
    by: str | None = None,
    grades_by: GradesBy = "error",
    confidence: float = 0.95,
    cluster: str | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Selected:
    """Choose among click models by perplexity, nDCG and CMIP: off-policy selection of paper cmip-debiasedness.

    Parameters:
        log: from `read_log`, or anything that it takes; best one not of their rows.
        model: fitted models or files of such, in a list or by name.
        labels: a column of grades beside the candidates (or the slate).
        logging: the policy that drew the training log. CMIP uses its expected ranks; if it has none, the logged
            ranks.
        columns: as there.
        strategy: such as `top-4 cmip, top-4 ppl: ndcg`, which chooses among all models, as published. By default
            all nine of the paper, which choose among the models that no finding convicts (`carries-policy`,
            `no-information`, `impossible-clicks`); where each is convicted, the choice is None.
        method: of CMIP.
        relevance: CMIP of `draws` from each model's posterior, less what a right model would show (`Cmip.excess`),
            or of its `means`, as in the paper; see `offrank.metrics.cmip_of`.
        by: the column of the queries.
        grades_by: of several grades of a document the lower `median`, or the `majority`; by default they are an
            error.
        confidence: level of the intervals, between 0 and 1.
        cluster: a column whose equal values mark dependent sessions.
        seed: of CMIP.
        executor: what reads the log: any `concurrent.futures.Executor`; by default threads, one per core.
        progress: called with (parts done, all parts) of the log, as they are read.

    Returns:
        The choice of each strategy, with the metrics of all models: `choice` is None where no model may be chosen.

    Raises:
        UsageError: arguments that cannot work. LogError: the log breaks a rule, or lacks a column.
        SupportError: a model has learnt what users look at, and the lists are sorted by their clicks.

    Examples:
        >>> simulated = offrank.simulate("log.parquet", sessions=2000, queries=50)
        >>> models = [offrank.fit_clicks("log.parquet", name, f"{name}.json").fitted for name in ("pbm", "dctr")]
        >>> list(offrank.select_clicks("log.parquet", models, "grade").cmip)
        ['pbm', 'dctr']
    """
    seed, found, source = seed_number(seed), models(model), arguments.source(log, columns)
    if strategy is not None:
        read_strategy(strategy)  # raises before anything is read
    policy, column = _ranking(named_policy(logging), source, executor), query_column(found, by)
    seen = {name: views(one, relevance, seed) for name, one in found.items()}
    drawn = [*chain(*seen.values())]
    read: dict[str, Any] = {"executor": executor, "progress": progress}
    graded = GradedFold(found, labels, column, policy, grades_by, drawn).read(source, **read)
    here = evaluate_models(found, source, confidence=confidence, cluster=cluster, ordered=True, **read)
    how: dict[str, Any] = {"relevance": relevance, "seed": seed, "confidence": confidence}
    debiased = _debiased(graded, found, seen, method, **how)
    ranked, counted = graded.ndcg(confidence), cautions_for(CmipEvidence(counted=policy is None))
    cautions = {
        name: (*one.cautions, *counted, *here[name].cautions, *debiased[name].warnings) for name, one in found.items()
    }
    asked = {**how, "method": method, "labels": labels, "logging": str(logging)}
    title, sessions = f"Which click model is best on {source.describe()}?", next(iter(here.values())).sessions
    made = facts("click-selection", title, source, **graded.counted(grades_by), sessions=sessions, **asked)
    points = [name for name, some in seen.items() if len(some) == 1]
    measured = _measured(here, ranked, debiased, points, cautions)
    return Selected(select(measured, strategy), here, ranked, debiased, cautions, facts=made)


def _debiased(
    graded: Graded, found: Mapping[str, Fitted], seen: Mapping[str, list[Fitted]], method: str, **how: Any
) -> dict[str, Cmip]:
    """Return the CMIP of each model, by its own columns of the draws."""
    ends = np.cumsum([len(some) for some in seen.values()])
    drawn, code = np.split(graded.drawn, ends[:-1], axis=1), graded.code.T
    return {
        name: cmip_of_relevance(one, own, place, graded.rank, graded.grade, method, cluster=graded.query, **how)
        for (name, one), own, place in zip(found.items(), drawn, code, strict=True)
    }


def _measured(
    here: Evaluations,
    ranked: Ranked,
    debiased: Mapping[str, Cmip],
    points: list[str],
    cautions: Mapping[str, Sequence[Caution]],
) -> list[MeasuredModel]:
    """Return the three quantities that strategies choose by, for each model; points: judged by point estimates.

    CMIP is what is above the floor, where there is one: each model has its own.
    """
    return [
        MeasuredModel(
            name,
            here[name].perplexity,
            ranked.of(at),
            pages.above(one),
            points=name in points,
            convicted=convicting(cautions[name]),
        )
        for at, (name, one) in enumerate(debiased.items())
    ]


def _ranking(policy: Policy, source: Source, executor: Executor | None) -> Policy | None:
    """Return the fitted policy if it can rank every candidate, otherwise None."""
    try:
        policy.law("rank_probs").reads("rank_probs")
        return fitted(policy, source, executor).law("rank_probs")
    except AbilityError:
        return None
