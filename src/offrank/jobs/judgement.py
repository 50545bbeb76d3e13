"""The estimates of one target, held against each other, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..errors import NoOverlapError
from ..estimators.base import Estimator, Reference
from ..estimators.logged import LoggedMean
from ..estimators.named import REFERENCES
from ..estimators.wrappers import SelfNormalised, bare
from ..findings.verdict import Candidate, Verdict, verdict
from ..folds.estimate import Caution, Estimate
from ..policies.propensities import AnyPolicy
from .choice import Chosen, Given
from .contradiction import contradicted
from .summary import Summary


def named(reference: Reference) -> Estimator | SelfNormalised:
    """The estimator that a reference is reported as: whole slates self-normalised, where clicks are frequent surer."""
    return SelfNormalised(reference) if reference == REFERENCES[0] else reference


@dataclass(frozen=True)
class Judgement:
    """What was estimated for one target. references: what nobody asked for, to hold the others against."""

    summary: Summary
    target: AnyPolicy
    found: Mapping[str, Chosen]
    references: Given
    estimates: Mapping[str, Estimate | NoOverlapError]

    @classmethod
    def of(cls, summary: Summary, target: AnyPolicy, found: Mapping[str, Chosen], pairs: int) -> Judgement:
        """Hold the estimates against each other. pairs: how many are compared in the whole run."""
        references: Given = {}
        for reference in summary.layout.references:
            estimator = named(reference)
            estimate = summary.estimate(target, estimator)
            if isinstance(estimate, Estimate):
                references[repr(estimator)] = estimator, estimate
        judged = contradicted(summary, target, found, references, pairs)
        kept = {name: (estimator, judged[name]) for name, (estimator, _) in references.items()}
        return cls(summary, target, found, kept, {key: judged.get(key, one.estimate) for key, one in found.items()})

    def verdict(self, name: str, about_log: Sequence[Caution]) -> Verdict | None:
        """The verdict on the target of this name; None where only what was logged was asked."""
        return verdict(name, list(self.candidates.values()), about_log, nonnegative=self.summary.nonnegative)

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        """What may answer, or was not asked for, by the estimator's spelling."""
        asked = [self._candidate(key, one.estimator, self.estimates[key]) for key, one in self.found.items()]
        more = [self._candidate(key, *given, asked=False) for key, given in self.references.items()]
        return {one.name: one for one in (*more, *asked) if one is not None}

    def _candidate(
        self, key: str, estimator: Estimator | SelfNormalised, found: Estimate | NoOverlapError, asked: bool = True
    ) -> Candidate | None:
        plain, summary = bare(estimator), self.summary
        if isinstance(plain, LoggedMean):
            return None
        given = found if isinstance(found, Estimate) else None
        refusal = None if given else Caution(found.code, "serious", found.message, found.remedy)  # type: ignore[union-attr]
        return Candidate(
            key,
            plain.assumes,
            given,
            None if given is None else summary.logged(plain),
            None if given is None else summary.relative(self.target, estimator),
            refusal,
            "clicks" if plain.earns == "clicks" and not summary.rewards_are_clicks else "reward",
            plain.asks_logging is not None,
            asked,
        )
