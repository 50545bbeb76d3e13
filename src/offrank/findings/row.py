"""What one estimator says of one target: the row from which findings, verdict and result follow.

What that estimator is, its kind, stands here too: findings and verdicts read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import NoOverlapError
from ..language.formatting import nine_digits
from ..log.source import Ability
from ..sums.estimate import Caution, Estimate, Interval, cautions
from ..sums.fingerprint import Fingerprint

Outcome = Literal["reward", "clicks"]
Weighs = Literal["slates", "items", "model", "logged"]
"""What is weighted: whole slates or their first slots, or items at their ranks. Nothing where a model alone predicts,
and all rows alike for the mean of the log."""
Normalisation = Literal["mean", "slot", "control"]
"""How a mean weight is used: it divides, that of each slot divides its clicks, or it is a control variate."""
Follows = Literal["ratios", "every rank"]
"""The distribution of weights under the logging policy: they are ratios of the probabilities of what the target shows,
or they move clicks between ranks, so that every item has to be tried at every rank."""


@dataclass(frozen=True, kw_only=True)
class ModelEvidence:
    """A reward model, and how well it predicts what it has not seen."""

    name: str = "a click model"  # in words
    settings: tuple[str, ...] = ()  # those chosen by cross-validation, the most frequent first
    rows: int = 0  # of the log that it was learnt from; 0 if it was learnt elsewhere
    read: int = 0  # all rows
    folds: int = 0  # parts of the log, each predicted by what was learnt from the others
    explained: float | None = None  # R squared of its predictions for the logged slates; None if unknown
    posterior: bool = False  # whether intervals have the doubt of its numbers
    features: bool = False  # whether it tells documents that it has not seen by their features


@dataclass(frozen=True)
class Bound:
    """How weights are bounded: in a word, the name of the parameter, and the weight above which nothing is left.

    free: the weighting without any bound.
    """

    done: str
    parameter: str
    drops: float | None
    free: Any


@dataclass(frozen=True, kw_only=True)
class EstimatorKind:
    """What an estimator is, which others ask it for. A wrapper changes that of its base with `replace`.

    - outcome: what it estimates. logging, target: the ability that it requires of each policy; None: none.
    - assumes: about users, as in `offrank.language.assumptions`; empty for ips. A subset assumes less.
    - weighs: what it weights.
    - each_slot: whether the weights of each slot have expectation 1 by themselves, not only their mean over slots.
      normalisation: how the mean weight is used; None: not at all.
    - follows: how the distribution of its weights follows from the policies; None: it is not computed.
    - bound: how its weights are bounded; None: they are not.
    - curve, window: the examination curve that it has, and the window of ranks that the data may choose.
    - predicts: whether a reward model predicts, alone or corrected by weights. model: how its model was learnt and how
      well it predicts. learnt: the rows that it was learnt from, where they are known. predictions: the columns beside
      the candidates whose numbers are the predictions.
    - preselected: whether it stands for the estimator that a reading of the log selects before any is estimated.
    """

    outcome: Outcome = "clicks"
    logging: Ability | None = None
    target: Ability | None = None
    assumes: frozenset[str] = frozenset()
    weighs: Weighs = "slates"
    each_slot: bool = False
    normalisation: Normalisation | None = None
    follows: Follows | None = None
    bound: Bound | None = None
    curve: tuple[float, ...] | None = None
    window: int | None = None
    predicts: bool = False
    model: ModelEvidence | None = None
    learnt: Fingerprint | None = None
    predictions: tuple[str, ...] = ()
    preselected: bool = False


@dataclass(frozen=True)
class GradeRow:
    """What items of a grade earn each time that the target shows them. grade: None if they were not judged.

    logged, never: how often it shows them in an impression, where the logging policy may, and where it never does.
    """

    grade: float | None
    rate: float
    logged: float
    never: float


@dataclass(frozen=True, kw_only=True)
class JudgedEvidence:
    """What an estimate owes to grades of items that were never logged."""

    share: float = 0.0  # of what the target shows that the logging policy never shows there
    ungraded: float = 0.0  # of what it shows, those of them that nobody judged
    alike: bool = False  # whether these are taken to earn like logged ones
    part: float = 0.0  # of the value, what the others are taken to earn
    differs: int = 0  # whether it earns more than was logged (1), less (-1), or nobody knows (0)
    less: float | None = None  # the share by which they may earn less until it does not differ; below 0: more
    rare: Interval | None = None  # clicks of rarely logged items over what their grades say
    grades: tuple[GradeRow, ...] = ()
    judged: int = 0  # pairs of a query and an item
    unseen: int = 0  # of them, items that no ranking of their query has among its candidates
    elsewhere: int = 0  # of them, those of queries that the log does not have
    several: int = 0  # of them, those with several graders
    unlike: int = 0  # of these, those whose grades differ


WHOLE_SLATES = EstimatorKind()
NO_NUMBER = Estimate(math.nan, math.nan, math.nan, math.nan, 0)


@dataclass(frozen=True)
class Row:
    """What one estimator says of one target, in a log or in one of its groups; of a wrong law, its weights alone."""

    name: str = ""  # the spelling that was asked for
    estimator: Any = None  # it, or the one selected for it
    kind: EstimatorKind = WHOLE_SLATES
    estimate: Estimate = NO_NUMBER  # the number, with its interval and the findings about it
    logged: Interval | None = None  # mean
    relative: Interval | None = None  # difference to it
    refusal: NoOverlapError | None = None  # why the log cannot give it; then the estimate has no numbers
    outcome: str = "reward"  # or `clicks` where rewards differ from them; only estimates of one are compared
    asked: bool = True  # by the user; others are references
    anchor: Row | None = None  # if the data chose the estimator, the row that its interval contains
    considered: Mapping[str, Row] = field(default_factory=dict)  # all that it was selected from, by spelling
    tested: bool = False  # whether it was combined from what assumes less and more, as far as their differences allow
    base: Any = None  # the estimator without self-normalisation
    most: float = math.inf  # the largest outcome of a logged impression
    # What findings read besides:
    groups: int = 0  # of the log, one of which it is of, or 0
    slots: int = 0  # ranks with clicks, 0 without any
    method: str = "normal"  # of the interval
    normalised: bool = True  # whether the weights have expectation 1
    with_bound: Callable[[], Any] = field(default=lambda: "clip(ips, 100)", compare=False)  # which remedies name
    control: float = 1.0  # mean weight after clipping, or share of the target's items logged, or known to the model
    sampling_factor: float = 1.0  # sum of squared 1 / inclusion over its sum: a mean weight if corrected for twice
    ess_ratio: float = 1.0  # effective number of weights expected in such logs over that of this log, at most 1
    hidden: float | None = None  # share of the target at weights with fewer than 5 expected rows; None if unknown
    unsupported: float = 0.0  # as in `Design`
    visible: float = math.inf  # as in `Design`
    effective_rewards: float = math.inf  # effective number of rewarded impressions
    reward_index: float | None = None  # Pareto index that the largest weighted rewards allow; None if not heavy
    reward_skewness: float = 0.0  # of their mean with such a tail
    ties: float = 0.0  # share of the impressions in which equal scores leave the target's order open
    counted: bool = False  # whether the logging probabilities that it uses were counted in the log
    judged: JudgedEvidence | None = None  # where grades stand for what was never logged

    @property
    def found(self) -> Estimate | NoOverlapError:
        """The estimate, or the refusal."""
        return self.refusal or self.estimate

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions against it; a refusal is serious."""
        return cautions(self.found)

    @property
    def sound(self) -> bool:
        """Whether it is a number with an interval and without a serious finding."""
        e = self.estimate
        return self.refusal is None and e.trustworthy and math.isfinite(e.low) and math.isfinite(e.high)

    @property
    def warned(self) -> bool:
        """Whether it has any warning."""
        return any(one.severity != "note" for one in self.cautions)

    @property
    def anchored(self) -> Row:
        """The row whose assumptions make its interval hold: its anchor, if that is another one and has no warning."""
        anchor = self.anchor
        return self if anchor is None or anchor.warned or anchor.estimator == self.estimator else anchor

    @property
    def alternatives(self) -> tuple[Any, Any]:
        """The estimator, and that of its anchor; the same one twice if the data chose none."""
        return self.estimator, (self.anchor or self).estimator

    @property
    def half_width(self) -> float:
        """Half the width of its interval of the difference to the log."""
        if self.refusal is not None:
            return math.inf
        found = self.estimate.difference or self.estimate
        return nine_digits((found.high - found.low) / 2)

    @property
    def mean_weight(self) -> Interval | None:
        """The mean weight with its interval; None where it has no expectation of 1."""
        return self.estimate.mean_weight_interval
