"""`double-subsampling`: propensities that already contain the sub-sampling."""

from .evidence import EstimateEvidence, LawEvidence, LogEvidence
from .odd_mean import deviation, refuted, rise
from .registry import Statement, finding

FACTOR = 1.5
"""Smallest sub-sampling factor of the rows at which it can be distinguished from other faults."""
LEAST, MOST = 0.7, 1.3
"""Bounds of the mean weight divided by that factor."""


def counted_twice(found: EstimateEvidence | LogEvidence) -> bool:
    """Whether the sub-sampling factor explains a mean weight that is not 1."""
    mean, factor = found.mean_weight, found.sampling_factor
    return mean is not None and factor > FACTOR and LEAST < mean.value / factor < MOST


@finding("double-subsampling", "Mean weight", counted_twice, cause="mean weight", explains="mean weight")
def double_subsampling(found: EstimateEvidence) -> Statement | None:
    return None if deviation(found) is None else _said("The mean weight", found)


@finding(
    "double-subsampling",
    "Mean importance weight of uniform",
    counted_twice,
    cause="mean weight",
    explains="mean weight",
)
def double_subsampling_of_uniform(log: LogEvidence) -> Statement | None:
    return None if rise(log) is None else _said("The mean weight of the uniform policy", log)


@finding("double-subsampling", "Mean weights", cause="mean weight", explains="mean weight")
def double_subsampling_of_law(law: LawEvidence) -> Statement | None:
    worst = refuted(law)
    return _said(f"The mean weight of {worst[0]}", worst[1]) if worst and counted_twice(worst[1]) else None


def _said(what: str, found: EstimateEvidence | LogEvidence) -> Statement:
    assert found.mean_weight is not None
    return Statement(
        "serious",
        f"{what} is {found.mean_weight.value:.3g}, and sub-sampling weights the rows by a factor of "
        f"{found.sampling_factor:.3g}: the propensities already contain that factor.",
        "Correct for the sub-sampling only once: remove the factor from the propensities, or do not give `inclusion`.",
    )
