"""What findings about ranking metrics and CMIP look at; defaults speak against nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OfComparison:
    """A metric of a model.

    ess: clicked impressions that the comparisons are worth. rejected: share of the clicks that have nothing to be
    compared with. pairwise: whether the metric compares what was shown together. shuffled: whether the slates were
    drawn uniformly. counted: whether the logging probabilities were counted in the log.
    """

    ess: float = math.inf
    rejected: float = 0.0
    pairwise: bool = False
    shuffled: bool = True
    counted: bool = False


@dataclass(frozen=True, kw_only=True)
class OfCmip:
    """A CMIP.

    - value: in nats. n: documents. method, least: by which, and how many documents it needs. permutations: of its test.
    - grades: how many there are. left_out: documents of grades that are too small, by grade.
    - permutable: share of the documents that share grade and cluster with another, 1 without clusters.
    - constant: whether model or logging policy find all documents of every grade alike, so that nothing was measured.
    - unpaired: documents whose grade the other half lacked.
    """

    value: float = 0.0
    n: int = 0
    method: str = "binned"
    least: int = 0
    permutations: int = 0
    grades: int = 2
    left_out: tuple[tuple[float, int], ...] = ()
    permutable: float = 1.0
    constant: bool = False
    unpaired: int = 0
