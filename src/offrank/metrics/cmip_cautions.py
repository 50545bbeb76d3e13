"""Why a CMIP should be doubted."""

from __future__ import annotations

from collections.abc import Iterator

from ..folds.estimate import Caution
from .cmip_methods.base import CmiMethod, Documents, Measured

NO_INFORMATION = Caution(
    "no-information",
    "serious",
    "Within every grade, the model or the logging policy finds all documents equally relevant: CMIP is 0.",
    "This does not commend the model. Take the expected rank where logging relevance is constant, and look at nDCG.",
)


_PERMUTABLE = 0.5
"""Share of the documents that the test should rest on."""


def about_size(n: int, method: CmiMethod) -> Iterator[Caution]:
    """Fewer documents than the benchmark of the method asks for."""
    if n < method.least:
        yield Caution(
            "few-documents",
            "warning",
            f"{n:,} documents are fewer than the {method.least:,} below which `{method.name}` is a poor measure.",
            "Judge more documents; read the interval and the p-value, not the value.",
        )


def about_left_out(left_out: dict[float, int]) -> Iterator[Caution]:
    """Documents of grades that are too small, by grade."""
    if left_out:
        told = ", ".join(f"{grade:g} ({size})" for grade, size in left_out.items())
        yield Caution(
            "small-grade",
            "note",
            f"{sum(left_out.values()):,} documents of grades with too few of them were left out: {told}.",
            "Judge more documents of these grades.",
        )


def about_grades(documents: Documents) -> Iterator[Caution]:
    """What one grade alone cannot tell."""
    if len(documents.grades) == 1:
        yield Caution(
            "one-grade",
            "warning",
            "All documents have one grade: agreement that true relevance explains is not told apart from bias.",
            "Give the grades of several levels.",
        )


def about_permutations(documents: Documents, permutations: int) -> Iterator[Caution]:
    """Documents that have no other one of their grade and cluster, which no permutation moves."""
    share = documents.permutable
    if permutations and documents.cluster is not None and share < _PERMUTABLE:
        yield Caution(
            "few-exchanges",
            "warning",
            f"Only {share:.0%} of the documents share their grade and cluster with another one: the p-value rests on "
            "those alone.",
            "A large p-value says little here; read the interval, or judge more documents of each query.",
        )


def about_sign(measured: Measured) -> Iterator[Caution]:
    """An estimate where the truth cannot be."""
    if measured.value < 0:
        yield Caution(
            "negative",
            "note",
            f"The estimate is below 0 ({measured.value:.4f}), where the truth cannot be.",
            "Read the interval and the p-value; it is no proof of a debiased model.",
        )
