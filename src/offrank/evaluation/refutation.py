"""What refutes the logging policy of a log, gathered from all estimates of a run, asked for or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..checks.log_problems import Totals, about_log
from ..estimators.layout import ROWS
from ..findings import cautions_for
from ..findings.log import LogEvidence
from ..findings.mean_weight import GroupEvidence
from ..findings.odd_mean import LawEvidence
from ..inference.betting import chance_above
from ..policies.base import Policy
from ..sums.estimate import Caution
from ..sums.mean import Name
from ..sums.named_sums import Sums
from .counts import Counts


def judged_log(
    log: LogEvidence, summaries: Iterable[Counts], totals: Totals | None = None, of: Policy | None = None
) -> tuple[Caution, ...]:
    """Return the problems of a log, those that the weights of some estimates show included.

    They bind every estimate of the run that depends on the logging policy: what asks for it alone, or beside others,
    gets the same answer. summaries: of the whole log. totals: as in `evaluate`. of: the only target whose
    weights count, by default all.
    """
    weights, targets = [], set()
    for summary in summaries:
        for target, estimator, *_ in summary.layout.pairs:
            if of in (None, target) and (found := summary.weight_of(target, estimator)) is not None:
                weights.append((f"`{estimator!r}` for {target!r}", found))
                targets.add(target)
    return about_log(log, LawEvidence(weights=tuple(weights), targets=len(targets)), totals)


def judged_group(group: Counts, copies: float = 0.0) -> Counts:
    """Return the counts of a group with what refutes the logging policy there.

    Nothing is added where the whole log has a serious fault already. copies: a lower bound of the share of rows that
    are copies of others, which are no further evidence.
    """
    if any(one.severity == "serious" for one in group.about_log):
        return group
    weights, targets = [], set()
    for pair in group.layout.pairs:
        target, estimator, *_ = pair
        found = group.weight_of(target, estimator)
        if found is None or found.mean_weight is None or group.sums.least[pair.weight] < 0:
            continue
        targets.add(target)
        chance = _chance(group.sums, pair.weight, copies)
        weights.append((f"`{estimator!r}` for {target!r}", found.mean_weight, chance))
    if not weights:
        return group
    return replace(
        group, of_group=cautions_for(GroupEvidence(weights=tuple(weights), tested=group.group * len(targets)))
    )


def _chance(sums: Sums, weight: Name, copies: float) -> float:
    """Return a bound of the probability of so high a mean weight, given the column of weights."""
    most = float(sums.largest[ROWS])
    total, squares = sums.combined({weight: 1.0, ROWS: -1.0})
    return chance_above((1 - copies) * total / most, (1 - copies) * squares / most**2)
