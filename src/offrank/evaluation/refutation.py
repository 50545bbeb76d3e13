"""What refutes the logging policy of a log, gathered from all estimates of a run, asked for or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..checks.log import Totals, about_log
from ..findings.evidence import OfEstimate, OfLaw, OfLog
from ..folds.estimate import Caution
from ..policies.propensities import AnyPolicy
from .counts import Counts


def judged_log(
    log: OfLog, summaries: Iterable[Counts], totals: Totals | None = None, of: AnyPolicy | None = None
) -> tuple[Caution, ...]:
    """Return the problems of a log, those that the weights of some estimates show included.

    They bind every estimate of the run that depends on the logging policy: what asks for it alone, or beside others,
    gets the same answer. summaries: of the whole log. totals: as in `evaluate`. of: the only target whose
    weights count, by default all.
    """
    found = [one for summary in summaries for one in _weights(summary) if of in (None, one[0])]
    targets = len({target for target, _, _ in found})
    return about_log(log, OfLaw(weights=tuple((name, one) for _, name, one in found), targets=targets), totals)


def _weights(summary: Counts) -> Iterator[tuple[AnyPolicy, str, OfEstimate]]:
    for target, estimator, _, _ in summary.layout.pairs():
        found = summary.weight_of(target, estimator)
        if found is not None:
            yield target, f"`{estimator!r}` for {target!r}", found
