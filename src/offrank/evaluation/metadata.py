"""What a result reports beside its estimates: the question, the log, its checks, and diagnostics of the estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from ..checks.propensities import SlotsRow
from ..checks.rows import RankRow
from ..findings.row import JudgedEvidence, ModelEvidence
from ..frames import FLAT
from ..log.source import Source
from ..readers.log import period_of
from ..running import reproducibility
from ..sums.estimate import Caution, Interval, Severity
from ..sums.histogram import Histogram
from .ab_test import ABTest

if TYPE_CHECKING:
    from ..checks.credit import Credit

R = TypeVar("R")
Status = Severity | Literal["ok", "skipped"]


@dataclass(frozen=True)
class LogRead:
    """The log that was read: rows, their number before sub-sampling, and rule -> rows left out.

    learnt_from: rows that were left out because a policy had learnt from them. period: its first and last day, and the
    column that tells them; None where no column does.
    """

    source: str
    impressions: int
    estimated_impressions: float
    skipped: Mapping[str, int]
    learnt_from: int | None = None
    period: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Check:
    """A check of the log, with what it measured. expected: the value that a sound log would have."""

    code: str
    title: str
    status: Status
    message: str
    remedy: str
    value: float | None
    low: float | None
    high: float | None
    expected: float | None

    @property
    def caution(self) -> Caution | None:
        """Return the check as a caution; None if it found nothing."""
        if self.status in ("ok", "skipped"):
            return None
        return Caution(self.code, cast(Severity, self.status), self.message, self.remedy)


@dataclass(frozen=True)
class WeightsOf:
    """The histogram of an estimator's weights."""

    target: str
    estimator: str
    histogram: Histogram = field(metadata=FLAT, compare=False)  # its arrays do not compare


@dataclass(frozen=True)
class Path(Generic[R]):
    """An estimate under several choices, or the rows behind it."""

    target: str
    estimator: str
    rows: tuple[R, ...]


@dataclass(frozen=True)
class Clipped:
    """An estimate with no weight beyond `clip` (None: as it is). clipped: share of the rows that have one."""

    clip: float | None
    clipped: float
    estimate: Interval = field(metadata=FLAT)


@dataclass(frozen=True)
class Windowed:
    """An estimate by one of the windows that the data choose from."""

    estimator: str
    window: int | None
    chosen: bool
    estimate: Interval = field(metadata=FLAT)


@dataclass(frozen=True)
class Heavy:
    """A row of large weight, by its number in the log. share: of the sum of all weighted rewards."""

    row: int
    weight: float
    reward: float
    share: float | None


@dataclass(frozen=True)
class RankOverlap:
    """The mean probability of the displayed item at its rank."""

    target: str
    rank: int
    target_probability: float
    logging_probability: float | None


@dataclass(frozen=True)
class TopOverlap:
    """The share of the first `depth` displayed items that the target ranks as high."""

    depth: int
    share: float


@dataclass(frozen=True)
class RankingsCompared:
    """A target's rankings beside the displayed ones, in a sample of rows. changed: share of unlike slates."""

    target: str
    rows: int
    changed: float | None
    overlap: tuple[TopOverlap, ...]


@dataclass(frozen=True)
class ModelOf:
    """The reward model of an estimator: how it was learnt, and how well it predicts."""

    estimator: str
    learnt: ModelEvidence

    def to_dict(self) -> dict[str, Any]:
        """Return all fields in one row; what is not known is None."""
        return {"estimator": self.estimator, **asdict(self.learnt), "settings": list(self.learnt.settings)}


@dataclass(frozen=True)
class JudgedOf:
    """What an estimate owes to grades."""

    target: str
    estimator: str
    known: JudgedEvidence = field(metadata=FLAT)


@dataclass(frozen=True)
class Diagnoses:
    """Diagnostics of the estimates behind the verdicts; see `Result.to_dict`."""

    clip_path: tuple[Path[Clipped], ...] = ()
    window_path: tuple[Path[Windowed], ...] = ()
    heaviest: tuple[Path[Heavy], ...] = ()
    overlap: tuple[RankOverlap, ...] = ()
    rankings: tuple[RankingsCompared, ...] = ()
    models: tuple[ModelOf, ...] = ()
    judged: tuple[JudgedOf, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ResultMetadata:
    """What a result reports beside its estimates; `Result.facts` is the same as plain values.

    - kind: the verb. targets: name -> spelling. logged: the logged mean, if there is one unit. by, cluster: columns.
    - weights, ranks: weights by estimator, and clicks by rank. checks, slots: of the log. diagnoses: none for a check.
    - unit, worth: what is earned, and how much of it one unit of the log is. command: repeats the job.
    - baseline, simultaneous: of comparisons, what is compared with, and the level of each interval.
    - ab_test: of comparisons of the rankers of an A/B test, the difference of means and what sharpens it.
    - credit: of comparisons by a log of merged rankings, whose items were clicked more often. left_out: why no model of
      their clicks was learnt.
    """

    schema: int = 2
    kind: str
    title: str
    log: LogRead
    logging: str
    targets: Mapping[str, str]
    confidence: float
    interval: str
    cluster: str | None
    by: str | None
    examination: Sequence[float] | None
    logged: Interval | None
    weights: tuple[WeightsOf, ...]
    ranks: tuple[RankRow, ...]
    checks: tuple[Check, ...] = ()
    slots: tuple[SlotsRow, ...] = ()
    versions: Mapping[str, str]
    created: str
    diagnoses: Diagnoses | None = field(default=None, metadata=FLAT)
    unit: str | None = None
    worth: float | None = None
    command: str | None = None
    baseline: str | None = None
    simultaneous: float | None = None
    ab_test: ABTest | Any = None
    credit: Credit | None = None
    left_out: str | None = None

    @property
    def anytime(self) -> bool:
        """Whether the intervals hold at every look."""
        return self.interval == "anytime"


def facts(kind: str, title: str, log: Source | str, **more: Any) -> dict[str, Any]:
    """Return what `to_dict` holds besides the numbers."""
    made = {"versions": reproducibility.versions(), "created": reproducibility.now()}
    where = log if isinstance(log, str) else log.describe()
    days = None if isinstance(log, str) else period_of(log)
    return {
        "schema": 1,
        "kind": kind,
        "title": title,
        "log": where,
        **({"period": days} if days else {}),
        **more,
        **made,
    }
