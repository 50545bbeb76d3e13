"""What `cmip` answers: a number with its doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..folds.estimate import Caution
from ..log.batch import Floats


@dataclass(frozen=True)
class GradeShare:
    """One grade: how many documents have it, and the information within it, in nats, where the method says it."""

    grade: float
    documents: int
    value: float | None


@dataclass(frozen=True)
class Null:
    """The same statistic where logging relevance was permuted among the documents of each grade (and cluster).

    - p_value: (1 + how many are at least what was observed) / (1 + permutations).
    - observed: what was compared, the CMIP itself but for the classifier, which compares its mean log-odds.
    - mean, low, high: of the permuted, with the quantiles .025 and .975.
    """

    permutations: int
    observed: float
    mean: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Cmip:
    """Conditional mutual information with the logging policy, in nats, and how far to trust it.

    - value: as estimated; it may lie below 0, where the truth cannot.
    - low, high, standard_error: interval at level `confidence`, cut at 0 on neither side.
    - n: documents that took part. grades: those of each, also of grades left out (value None and a warning).
    - null: None where no permutations were asked for.
    """

    value: float
    low: float
    high: float
    standard_error: float
    n: int
    method: str
    confidence: float
    grades: tuple[GradeShare, ...]
    null: Null | None
    warnings: tuple[Caution, ...] = ()

    @property
    def p_value(self) -> float | None:
        """Of the hypothesis that the model is debiased."""
        return None if self.null is None else self.null.p_value

    def dependent(self, alpha: float = 0.05) -> bool | None:
        """Whether independence is refuted at level alpha; None where nothing tested it.

        False does not say that the model is debiased: perhaps there were too few documents to see.
        """
        return None if self.null is None else self.null.p_value <= alpha

    @property
    def trustworthy(self) -> bool:
        """No serious warning."""
        return all(caution.severity != "serious" for caution in self.warnings)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        level = f"{100 * self.confidence:g} %"
        yield (
            f"CMIP {self.value:.4f} nats ({level}: {self.low:.4f} to {self.high:.4f}), "
            f"{self.n:,} documents, method {self.method}"
        )
        yield f"  {self._verdict()}"
        held = ", ".join(f"{one.grade:g}: {one.documents:,}" for one in self.grades)
        yield f"  documents by grade: {held}"
        for caution in self.warnings:
            yield f"  [{caution.severity}] {caution}"

    def _verdict(self) -> str:
        if self.null is None:
            return "not tested against independence: ask for permutations"
        found = f"{self.null.permutations} permutations within grades: p = {self.null.p_value:.3g}"
        if self.dependent():
            return f"{found}: the model carries what the logging policy believed"
        return f"{found}: cannot be told from a debiased model"


def null_of(observed: float, values: Floats) -> Null | None:
    """Summed up; None where there are none."""
    if not len(values):
        return None
    ordered = sorted(values.tolist())
    last = len(ordered) - 1
    ends = [ordered[round(quantile * last)] for quantile in (0.025, 0.975)]
    # Permuted, a table of few values often repeats itself: rounding must not tell such values apart.
    reached = sum(value >= observed - 1e-12 for value in ordered)
    p_value = (1 + reached) / (1 + len(ordered))
    return Null(len(ordered), observed, float(values.mean()), ends[0], ends[1], p_value)
