"""An estimate that differs from one which assumes less of users, further than chance would have it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from ..folds.estimate import Interval
from .assumptions import in_words
from .registry import Said, finding

FALSE_ALARMS = 0.001
"""In so many runs on healthy logs any two estimates are said to disagree, however many are compared (Bonferroni)."""
VISIBLE = 0.25
"""Of the width of the estimate's interval: what differs by less changes no decision."""


@dataclass(frozen=True)
class OfPair:
    """Two estimates of one thing on the same rows.

    - other, other_assumes, other_sound: spelling of the estimator that assumes less, what it assumes, and whether
      nothing serious is known of its estimate.
    - further: what the judged one assumes beyond that.
    - difference: judged less other, paired.
    - luck: how many times more than in the sample the other's error may be (its design's over its own), 1 or more.
    - width: of the judged estimate's interval.
    - pairs: how many are compared in the run.
    """

    other: str
    difference: Interval
    width: float
    further: frozenset[str] = frozenset()
    other_assumes: frozenset[str] = frozenset()
    other_sound: bool = True
    luck: float = 1.0
    pairs: int = 1

    @property
    def decisive(self) -> bool:
        """Whether the other one is to be believed."""
        return self.other_sound and not self.other_assumes

    @property
    def deviations(self) -> float:
        """Standard errors of the difference between them, as a normal deviate."""
        return self.difference.deviation(0.0) / self.luck if self.difference.standard_error > 0 else 0.0

    @property
    def most(self) -> float:
        """Deviations that chance exceeds in one of `pairs` with probability FALSE_ALARMS, two-sided."""
        return -NormalDist().inv_cdf(FALSE_ALARMS / max(self.pairs, 1) / 2)


@finding("disagreement", title="Estimates that assume more and less")
def disagreement(pair: OfPair) -> Said | None:
    """Hausman's test (1978): where the further assumption holds, both estimate the same."""
    visible = abs(pair.difference.value) > VISIBLE * pair.width
    if not (visible and pair.deviations > pair.most):
        return None
    far = f"{pair.deviations:.1f}" if pair.deviations < 1000 else "over 1,000"
    return Said(
        "serious",
        f"It differs from `{pair.other}`, which assumes less of users, by {far} standard errors of their difference.",
        _remedy(pair),
    )


def _remedy(pair: OfPair) -> str:
    wrong = f"It assumes besides that {in_words(pair.further)}, which is wrong here"
    if pair.other_assumes:
        return (
            f"{wrong}, or the log is: `{pair.other}` assumes that {in_words(pair.other_assumes)}. Look whether clicks "
            "stand beside the items that were clicked, and compare with an estimator that assumes nothing."
        )
    if not pair.other_sound:
        return f"{wrong}. But `{pair.other}` cannot be trusted either: read its warnings first, or log more."
    return f"{wrong}: believe `{pair.other}`."
