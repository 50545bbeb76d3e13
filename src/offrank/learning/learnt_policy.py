"""The result of `learn`: a policy, how it was chosen, and whether it may replace the logged one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..evaluation.result import Result
from ..findings.release import Release
from ..findings.verdict import Verdict
from ..frames import Plain
from ..language.formatting import number, quote
from ..policies.learnt import Learnt
from ..report.document import Answer, Cell, Document, Figures, Section
from ..report.facts import eyebrow, period
from ..report.printable import Printed
from .search import Criterion, Trial
from .training import ESTIMATED, TrainedPolicy, interval_text, settings


@dataclass(frozen=True)
class LearntPolicy(Printed, Plain):
    """A learnt policy with its training results.

    - policy: read from the file that was written; `greedy` says how its method means it to be used.
    - tried: every setting with its estimates on the validation third, best first.
    - tested: on the test third, the policy drawn from (`drawn`) and sorted by (`sorted`), or of scores by slot the
      greedy slate (`sorted`) and the best one (`exact`); None if not requested.
    - ignored: number of features that are equal for all candidates of every impression, so that a linear scorer
      without interactions cannot use them; `features` is the number of features that occur.
    - largest: the largest reward of the whole log, over inclusion. period: its first and last day, if known.
    """

    policy: Learnt
    method: str
    criterion: Criterion
    tried: tuple[Trial, ...]
    tested: Result | None
    features: int
    ignored: int
    crossed: bool
    largest: float = -math.inf
    period: Mapping[str, str] | None = None

    @property
    def greedy(self) -> bool:
        """Whether the method's policy is meant to be sorted by rather than drawn from."""
        return self.policy.sorts

    @property
    def _used(self) -> str:
        return "sorted" if self.greedy else "drawn"

    @property
    def release(self) -> Release | Any:
        """Whether the policy, used as its method means it, may replace the logged one; None if not requested."""
        if self.tested is None:
            return None
        return self.tested.release(self._used, self.tested.facts["confidence"], self.largest)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the policy on the test third, used as its method means it; None if not requested."""
        return None if self.tested is None else self.tested.verdicts[self._used]

    @property
    def better(self) -> bool | None:
        """Whether the policy may replace the logging policy, see `release`; None if not requested."""
        return None if self.release is None else self.release.released

    @property
    def usable(self) -> bool:
        """Whether the policy is released, or was not judged."""
        return self.better is not False

    @property
    def headline(self) -> str:
        """Whether to ship the policy, in one sentence."""
        return "Not evaluated: the held-out last third was not read." if self.release is None else self.release.headline

    def to_dict(self) -> dict[str, Any]:
        """Return the decision, the settings tried and the test as plain values."""
        tried = [
            {
                "settings": dict(one.candidate.settings),
                **{name: getattr(one, name).to_dict() for name in ESTIMATED if getattr(one, name) is not None},
                "mean_weight": one.mean_weight,
            }
            for one in self.tried
        ]
        return {
            "kind": "learn",
            "policy": repr(self.policy),
            "method": self.method,
            "release": None if self.release is None else self.release.to_dict(),
            "criterion": self.criterion,
            "tried": tried,
            "tested": None if self.tested is None else self.tested.to_dict(),
        }

    def to_document(self) -> Document:
        """Return the page: whether the policy is better, how it was tested, and which settings were tried."""
        found = Document("", "", ()) if self.tested is None else self.tested.to_document()
        made_with = {} if self.tested is None else self.tested.facts
        severity = next((one.severity for one in found.answers if one.about == quote(self._used)), "note")
        names = tuple(name for name in ESTIMATED if getattr(self.tried[0], name) is not None)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (settings(one), *(interval_text(getattr(one, name)) for name in names), number(one.mean_weight, 3))
            for one in self.tried
        )
        table = Figures("", ("settings", *names, "mean weight"), rows)
        use = "crossed with the candidates'" if self.crossed else "without effect: --interactions crosses them"
        same = (
            f"{self.ignored:,} of {self.features:,} features have the same value for all candidates of every impression"
        )
        prose = (
            f"The best of {len(self.tried)} by {self.criterion} comes first: its value is too high, as it was chosen.",
            same + (f", {use}." if self.ignored else "."),
        )
        tried = Section("Candidates on the validation third", prose, tables=(table,), folded=len(rows) > 10)
        lead = f"{quote(repr(self.policy))}, learnt by {self.method}."
        answer, made = Answer(self.headline, severity=severity), eyebrow({**made_with, "kind": "learn"})
        dated = () if self.period is None else (("Period", period(self.period)),)
        facts = (*found.facts[:2], *dated, *found.facts[2:])  # behind the log and its impressions
        return Document("A learnt policy", lead, (tried, *found.sections), (answer,), found.forests, made, facts)


def learnt_policy(trained: TrainedPolicy, tested: Result | None) -> LearntPolicy:
    """Return what was learnt with its test, if one was requested."""
    search, survey = trained.search, trained.survey
    more = int(survey.seen.sum()), int(survey.context.sum()), trained.crossed, survey.most, trained.period
    return LearntPolicy(trained.policy, search.name, search.criterion, trained.tried, tested, *more)
