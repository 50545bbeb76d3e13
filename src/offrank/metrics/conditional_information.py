"""CMIP: how much a click model depends on the logging policy beyond true relevance (paper cmip-debiasedness)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ..findings import cautions_for
from ..findings.measure import CmipEvidence
from ..frames import plain, plain_fields
from ..language.argument import interval_level
from ..language.formatting import Span
from ..log.batch import Floats
from ..sums.estimate import Caution, Interval, Known
from .cmip_methods import CmiMethod
from .cmip_methods.base import GradedDocuments, Information, Progress
from .cmip_methods.binned import cmi_method
from .cmip_methods.direction import correlations, direction


@dataclass(frozen=True)
class GradeShare:
    """One grade: its number of documents, and the information within it, in nats, if the method estimates it."""

    grade: float
    documents: int
    value: float | None


@dataclass(frozen=True)
class Null:
    """The statistic's distribution with logging relevance permuted among the documents of each grade (and cluster).

    - p_value: (1 + number of permutations with at least the observed value) / (1 + permutations).
    - observed: the observed statistic: with `binned` the CMIP itself.
    - mean, low, high: of the permuted values, with the quantiles .025 and .975.
    """

    permutations: int
    observed: float
    mean: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Floor:
    """What a model that is right would show on the same log: relevance depends on the grade, and has its doubt.

    value: of CMIP, and direction, each with the interval of one more such log. worlds: how many were drawn.
    """

    value: Interval
    direction: Interval
    worlds: int


@dataclass(frozen=True)
class Cmip:
    """Conditional mutual information with the logging policy, in nats, and how far to trust it.

    Parameters:
        value: the estimate, which may be below 0 although the true value cannot.
        low: lower end of the interval at level `confidence`, not cut at 0.
        high: upper end.
        standard_error: of the value, in nats.
        n: documents used.
        method: how it was estimated.
        confidence: level of the intervals, between 0 and 1.
        grades: those of each, also of grades left out (value None and a warning).
        null: None if no permutations were requested.
        warnings: reasons to doubt it.
        draws: of the relevance, whose values are averaged; 1 also for a relevance that is a number.
        direction: rank correlation (Spearman) of relevance with the policy within grades, + where the model finds
            relevant what the policy shows high. None if nothing was measured.
        floor: what a model that is right would show; None if not asked for.

    Examples:
        >>> import numpy as np
        >>> grade, noise = np.arange(2000) % 5, np.random.default_rng(0).random((2, 2000))
        >>> offrank.metrics.cmip(noise[0], noise[0], grade, permutations=20).dependent()
        True
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
    draws: int = 1
    direction: Known = None
    floor: Floor | None = None

    @property
    def excess(self) -> Known:
        """What CMIP is above the floor, with the doubt of both: about 0 for a right model; None without a floor.

        The number to read, and to compare models by: each has a floor of its own.
        """
        if self.floor is None:
            return None
        value, error = (
            self.value - self.floor.value.value,
            math.hypot(self.standard_error, self.floor.value.standard_error),
        )
        half = NormalDist().inv_cdf(0.5 + self.confidence / 2) * error
        return Interval(value, value - half, value + half, error)

    @property
    def biased(self) -> bool | None:
        """Whether the model carries the policy beyond doubt: CMIP and direction are both off the floor.

        None without a floor. False does not show that it is debiased: there may be too few documents or clicks.
        """
        return None if self.floor is None else any(caution.code == "carries-policy" for caution in self.warnings)

    @property
    def p_value(self) -> float | Any:
        """The p-value of the hypothesis that the model is debiased."""
        return None if self.null is None else self.null.p_value

    def dependent(self, alpha: float = 0.05) -> bool | None:
        """Whether independence is rejected at level alpha; None if it was not tested.

        True does not show that the model is biased: the noise of a relevance that was learnt from clicks depends on how
        often the policy let users see a document (see `biased`). False does not show that it is debiased: there may be
        too few documents.
        """
        return None if self.null is None else self.null.p_value <= alpha

    @property
    def trustworthy(self) -> bool:
        """Whether there is no serious warning."""
        return all(caution.severity != "serious" for caution in self.warnings)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and, where there is a floor, the excess."""
        return {**plain_fields(self), "excess": plain(self.excess)}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        level = f"{100 * self.confidence:g} %"
        averaged = f", mean of {self.draws} draws" if self.draws > 1 else ""
        said, of = Span.of(self), f"{self.n:,} documents"
        own = f"{said.number()} nats ({level}: {said.interval()})"
        if (excess := self.excess) is None or self.floor is None:
            yield f"CMIP {own}, {of}, method {self.method}{averaged}"
        else:
            above = f"{Span.of(excess).number(signed=True)} nats ({level}: {Span.of(excess).interval(signed=True)})"
            yield f"CMIP above an unbiased model's: {above}, {of}, method {self.method}{averaged}"
            yield f"  CMIP {own}"
            yield f"  of an unbiased model on this log: {Span.of(self.floor.value).text()}"
        if self.direction is not None:
            floor = "" if self.floor is None else Span.of(self.floor.direction).interval(signed=True)
            beside = floor and f"; of an unbiased model {floor}"
            yield f"  direction {Span.of(self.direction).text(signed=True)}{beside}"
        yield f"  {self._verdict()}"
        held = ", ".join(f"{one.grade:g}: {one.documents:,}" for one in self.grades)
        yield f"  documents by grade: {held}"
        for caution in self.warnings:
            yield f"  [{caution.severity}] {caution}"

    def _verdict(self) -> str:
        if self.floor is not None:
            return "the model carries the policy" if self.biased else "indistinguishable from an unbiased model"
        if self.null is None:
            return "not tested against independence: set permutations"
        found = f"{self.null.permutations} permutations within grades: p = {self.null.p_value:.3g}"
        if self.dependent():
            return f"{found}: relevance or its noise depends on the policy"
        return f"{found}: no evidence of dependence on the policy"


def cmip(
    relevance: ArrayLike,
    logging: ArrayLike,
    grade: ArrayLike,
    method: str | CmiMethod = "binned",
    *,
    seed: int = 0,
    permutations: int | None = None,
    confidence: float = 0.95,
    cluster: ArrayLike | None = None,
    floor: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Cmip:
    """Conditional mutual information I(relevance; logging | grade), in nats (equation 12 of the paper).

    0 for a model whose relevance of a document is independent of where the logging policy placed it, given its
    true grade. Increasing transformations of either relevance change nothing.

    Parameters:
        relevance: [d] or [d, draws] of each document by the model, by one number or by draws from its posterior,
            over which CMIP is averaged; of a fitted click model see `cmip_of`.
        logging: [d] by the logging policy; the paper takes the expected rank, small where it shows a document high.
            The direction expects that: of a score give the negative.
        grade: [d] by people. Grades are names without order.
        method: `binned` (quantile bins), or an estimator: `offrank.metrics.cmip_methods.Binned` with other settings,
            or another such as the published one, `offrank_papers.cmip_methods.Paper()`.
        seed: seed of what is random: the same seed gives the same result.
        permutations: of logging relevance within grades (and clusters), for the p-value; by default as many as the
            method can afford (200). 0: no test.
        confidence: level of the intervals, between 0 and 1.
        cluster: [d] groups of dependent documents, such as those of a query. The interval draws whole clusters; the
            p-value permutes within them, which is exact where documents of one grade and cluster are exchangeable,
            however much clusters differ.
        floor: [d, worlds] relevance by a right model in other logs like this one; CMIP and direction are judged by
            those of each.
        progress: called with (parts done, all parts) of the log, as they are read.

    Returns:
        The CMIP in nats, with its interval, p-value and direction.

    Raises:
        UsageError: unlike lengths, a value that is not finite, an unknown method or other arguments that cannot work.

    Examples:
        >>> import numpy as np
        >>> grade, noise = np.arange(2000) % 5, np.random.default_rng(0).random((2, 2000))
        >>> offrank.metrics.cmip(noise[0], noise[1], grade, permutations=20).dependent()
        False
    """
    chosen = cmi_method(method)
    _check(permutations, confidence, seed)
    documents = _documents(relevance, logging, grade, cluster)
    fit, left_out = _fit(documents, chosen.smallest)
    wanted = chosen.permutations if permutations is None else int(permutations)
    others = None if floor is None else _worlds(floor, logging, grade, cluster, chosen.smallest)
    alike = [(_constant(fit.relevance[own]), _constant(fit.logging[own])) for own in fit.members]
    if constant := all(map(any, alike)):
        found, towards, least = Information(0.0, 0.0, np.zeros(len(fit.grades)), np.zeros(wanted), 0.0), None, None
    else:
        rng = np.random.default_rng(seed)
        found, towards = chosen.measure(fit, rng, wanted, progress), direction(fit, confidence)
        least = None if others is None else _floor(others, chosen, rng, confidence)
    level = all(policy for _, policy in alike) and not all(model for model, _ in alike)
    evidence = _evidence(fit, found, chosen, wanted, left_out, towards, least)
    cautions = cautions_for(replace(evidence, constant=constant, level=level))
    result = _result(documents, fit, found, chosen.name, confidence, cautions)
    return replace(result, draws=fit.relevance.shape[1], direction=towards, floor=least)


def _evidence(
    fit: GradedDocuments,
    found: Information,
    method: CmiMethod,
    permutations: int,
    left_out: dict[float, int],
    towards: Interval | None,
    least: Floor | None,
) -> CmipEvidence:
    return CmipEvidence(
        value=found.value,
        n=len(fit),
        method=method.name,
        bias=method.bias,
        least=method.least,
        permutations=permutations,
        grades=len(fit.grades),
        left_out=tuple(left_out.items()),
        permutable=1.0 if fit.cluster is None else fit.permutable,
        unpaired=found.unpaired,
        direction=towards,
        floor=None if least is None else (least.value, least.direction),
    )


def _constant(values: Floats) -> bool:
    """Whether all documents [n] or [n, draws] have the same."""
    return not np.ptp(values, axis=0).any()


def _floor(others: GradedDocuments, method: CmiMethod, rng: np.random.Generator, confidence: float) -> Floor:
    """Mean over worlds, each with the interval of one more world: its own spread, and that of the mean."""
    each = np.array([method.value(one, rng) for one in others.each()])
    factor = NormalDist().inv_cdf(0.5 + confidence / 2) * np.sqrt(1 + 1 / len(each))
    found = []
    for values in (each, correlations(others)):
        mean, error = float(values.mean()), float(values.std(ddof=1))
        found.append(Interval(mean, mean - factor * error, mean + factor * error, error))
    return Floor(found[0], found[1], len(each))


def _result(
    documents: GradedDocuments,
    fit: GradedDocuments,
    found: Information,
    method: str,
    confidence: float,
    cautions: tuple[Caution, ...],
) -> Cmip:
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * found.standard_error
    values = dict.fromkeys(documents.grades.tolist())
    if found.per_grade is not None:
        values |= dict(zip(fit.grades.tolist(), found.per_grade.tolist(), strict=True))
    grades = tuple(GradeShare(one, size, values[one]) for one, size in documents.sizes.items())
    interval = found.value, found.value - half, found.value + half, found.standard_error
    return Cmip(*interval, len(fit), method, confidence, grades, _null(found.observed, found.null), cautions)


def _check(permutations: int | None, confidence: float, seed: int) -> None:
    interval_level(confidence)
    if permutations is not None and (permutations < 0 or permutations != int(permutations)):
        raise UsageError(f"permutations is {permutations!r}", "give a whole number, such as 200; 0 for no test")
    if seed < 0:
        raise UsageError(f"seed is {seed!r}", "give a whole number from 0")


def _documents(
    relevance: ArrayLike, logging: ArrayLike, grade: ArrayLike, cluster: ArrayLike | None
) -> GradedDocuments:
    """The checked documents, with numbered clusters."""
    given = {"relevance": relevance, "logging": logging, "grade": grade}
    columns = {name: _column(name, values, 2 if name == "relevance" else 1) for name, values in given.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    numbered = None
    if cluster is not None:
        _, numbered = np.unique(np.asarray(cluster), return_inverse=True)
        lengths["cluster"] = len(numbered)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise UsageError(f"the columns have different lengths: {told}", "give one value per document in each")
    if not lengths["grade"]:
        raise UsageError("there are no documents", "give some")
    return GradedDocuments.of(**columns, cluster=numbered)


def _column(name: str, values: ArrayLike, most: int) -> Floats:
    """The numbers of the documents, with one dimension or, at most, `most`."""
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{name} does not hold numbers", "give a list or an array of one number per document"
        ) from error
    if not 1 <= column.ndim <= most or 0 in column.shape[1:]:
        raise UsageError(f"{name} has shape {column.shape}", "give one number per document")
    finite = np.isfinite(column)
    odd = np.flatnonzero(~(finite if column.ndim == 1 else finite.all(axis=1)))
    if len(odd):
        raise UsageError(
            f"{name} is {column[~finite][0]} at document {odd[0]} (the first is 0); {len(odd):,} are not finite",
            "remove the documents without a relevance or expected rank, and report how many",
        )
    return column


def _worlds(
    floor: ArrayLike, logging: ArrayLike, grade: ArrayLike, cluster: ArrayLike | None, smallest: int
) -> GradedDocuments:
    """The documents with their relevance in each world of the floor."""
    column = _column("floor", floor, 2)
    if column.ndim != 2 or column.shape[1] < 2:
        raise UsageError(f"floor has shape {column.shape}", "give [d, worlds] of two worlds or more")
    return _fit(_documents(column, logging, grade, cluster), smallest)[0]


def _fit(documents: GradedDocuments, smallest: int) -> tuple[GradedDocuments, dict[float, int]]:
    """The documents of grades with enough documents, and the number of documents of the other grades."""
    left_out = {grade: size for grade, size in documents.sizes.items() if size < smallest}
    if len(left_out) == len(documents.grades):
        raise UsageError(
            f"no grade has {smallest} documents, the minimum for measuring dependence",
            f"judge more documents: there are {len(documents):,} in {len(documents.grades)} grades",
        )
    if not left_out:
        return documents, left_out
    rows = [own for own in documents.members if len(own) >= smallest]
    return documents.kept(np.concatenate(rows)), left_out


def _null(observed: float, values: Floats) -> Null | None:
    """Summary of the permutations; None if there are none."""
    if not len(values):
        return None
    ordered = sorted(values.tolist())
    last = len(ordered) - 1
    ends = [ordered[round(quantile * last)] for quantile in (0.025, 0.975)]
    # Permutations of few values often repeat: rounding errors must not separate equal results.
    reached = sum(value >= observed - 1e-12 for value in ordered)
    p_value = (1 + reached) / (1 + len(ordered))
    return Null(len(ordered), observed, float(values.mean()), ends[0], ends[1], p_value)
