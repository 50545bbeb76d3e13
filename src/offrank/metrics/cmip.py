"""CMIP: how much of the logging policy a click model has kept, beyond true relevance (paper cmip-debiasedness)."""

from __future__ import annotations

from numbers import Real
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ..findings import about
from ..findings.evidence import OfCmip
from ..folds.estimate import Caution
from ..log.batch import Floats, Integers
from .cmip_methods import Binned, Classifier, CmiMethod, Paper
from .cmip_methods.base import Documents, Measured, Progress
from .cmip_result import Cmip, GradeShare, null_of

METHODS: dict[str, CmiMethod] = {"binned": Binned(), "classifier": Classifier(), "paper": Paper()}


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
    progress: Progress | None = None,
) -> Cmip:
    """Conditional mutual information I(relevance; logging | grade), in nats (equation 12 of the paper).

    0 for a model whose relevance of a document cannot be told from where the logging policy placed it, once its
    true grade is known. Increasing changes of either relevance change nothing.

    - relevance [d]: of each document by the model. logging [d]: by the logging policy; the paper takes the expected
      rank. grade [d]: by people. Grades are names: their order does not matter.
    - method: `binned` (quantile bins, needs nothing more), `classifier` (cross-fitted trees) or `paper` (as published;
      both need the extra `models`), or one of `offrank.metrics.cmip_methods` with other settings.
    - permutations: of logging relevance within grades (and clusters), for the p-value; by default what the method
      can afford (200, 40 and none). 0: no test.
    - cluster [d]: what makes documents depend on each other, such as their query. The interval draws whole clusters;
      the p-value permutes within them, which is exact where documents of one grade and cluster are exchangeable,
      however much clusters differ.

    Raises:
        UsageError: unlike lengths, a value that is not finite, an unknown method or other arguments that cannot work.
        MissingExtraError: the method needs LightGBM.
    """
    chosen = _method(method)
    _check(permutations, confidence, seed)
    documents = _documents(relevance, logging, grade, cluster)
    fit, left_out = _fit(documents, chosen.smallest)
    rng = np.random.default_rng(seed)
    wanted = chosen.permutations if permutations is None else int(permutations)
    constant = _constant(fit)
    if constant:
        nothing = np.zeros(len(fit.grades))
        measured = Measured(0.0, 0.0, nothing, np.zeros(wanted), 0.0)
    else:
        measured = chosen.measure(fit, rng, wanted, progress)
    found = OfCmip(
        value=measured.value,
        n=len(fit),
        method=chosen.name,
        least=chosen.least,
        permutations=wanted,
        grades=len(fit.grades),
        left_out=tuple(left_out.items()),
        permutable=1.0 if fit.cluster is None else fit.permutable,
        constant=constant,
        unpaired=measured.unpaired,
    )
    return _result(documents, fit, measured, chosen.name, confidence, about(found))


def _result(
    documents: Documents,
    fit: Documents,
    measured: Measured,
    method: str,
    confidence: float,
    cautions: tuple[Caution, ...],
) -> Cmip:
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * measured.standard_error
    values = dict.fromkeys(documents.grades.tolist())
    if measured.per_grade is not None:
        values |= dict(zip(fit.grades.tolist(), measured.per_grade.tolist(), strict=True))
    shares = tuple(
        GradeShare(one, len(own), values[one])
        for one, own in zip(documents.grades.tolist(), documents.members, strict=True)
    )
    value = measured.value
    null = null_of(measured.observed, measured.null)
    return Cmip(
        value, value - half, value + half, measured.standard_error, len(fit), method, confidence, shares, null, cautions
    )


def _method(method: str | CmiMethod) -> CmiMethod:
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        raise UsageError(f"method is {method!r}", "say " + ", ".join(METHODS))
    return METHODS[method]


def _check(permutations: int | None, confidence: float, seed: int) -> None:
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise UsageError(f"confidence is {confidence!r}", "give a level between 0 and 1, such as 0.95")
    if permutations is not None and (permutations < 0 or permutations != int(permutations)):
        raise UsageError(f"permutations is {permutations!r}", "give a whole number, such as 200; 0 for no test")
    if seed < 0:
        raise UsageError(f"seed is {seed!r}", "give a whole number from 0")


def _documents(relevance: ArrayLike, logging: ArrayLike, grade: ArrayLike, cluster: ArrayLike | None) -> Documents:
    """Checked, with clusters numbered."""
    given = {"relevance": relevance, "logging": logging, "grade": grade}
    columns = {name: _column(name, values) for name, values in given.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    numbered: Integers | None = None
    if cluster is not None:
        _, numbered = np.unique(np.asarray(cluster), return_inverse=True)
        lengths["cluster"] = len(numbered)
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise UsageError(f"the columns have unlike lengths: {told}", "give one value per document in each")
    if not lengths["grade"]:
        raise UsageError("there are no documents", "give some")
    return Documents.of(columns["relevance"], columns["logging"], columns["grade"], numbered)


def _column(name: str, values: ArrayLike) -> Floats:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{name} does not hold numbers", "give a list or an array of one number per document"
        ) from error
    if column.ndim != 1:
        raise UsageError(f"{name} has shape {column.shape}", "give one number per document")
    odd = np.flatnonzero(~np.isfinite(column))
    if len(odd):
        raise UsageError(
            f"{name} is {column[odd[0]]} at document {odd[0]} (the first is 0); {len(odd):,} are not finite",
            "leave documents out that the model or the policy has no relevance for, and say how many",
        )
    return column


def _fit(documents: Documents, smallest: int) -> tuple[Documents, dict[float, int]]:
    """The documents of grades that have enough of them, and how many the others have."""
    sizes = {grade: len(own) for grade, own in zip(documents.grades.tolist(), documents.members, strict=True)}
    left_out = {grade: size for grade, size in sizes.items() if size < smallest}
    if len(left_out) == len(sizes):
        raise UsageError(
            f"no grade has {smallest} documents, the least from which dependence can be told",
            f"judge more documents; there are {len(documents):,} in {len(sizes)} grades",
        )
    if not left_out:
        return documents, left_out
    rows = [own for own in documents.members if len(own) >= smallest]
    return documents.kept(np.concatenate(rows)), left_out


def _constant(documents: Documents) -> bool:
    """Whether one of both says nothing within any grade."""
    both = ((documents.relevance[own], documents.logging[own]) for own in documents.members)
    return all(min(np.ptp(relevance), np.ptp(logging)) == 0 for relevance, logging in both)
