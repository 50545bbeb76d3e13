"""Table 2 as it is shown, beside the published one, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...log.batch import Floats
from ...report.sheet import Cell, Claim, Figures, Section
from ...selection.strategies import BEST, STRATEGIES
from . import published
from .choice import of_runs
from .figures import interval, spearman, status
from .findings import Findings, over_runs

SECOND = "top-4 cmip: ndcg"


def section(findings: Findings, found: Mapping[str, Floats], variants: Mapping[str, Mapping[str, Floats]]) -> Section:
    """The nine strategies. variants: the same by other measures, by what they are called."""
    means = {by: over_runs(of_runs(regret)) for by, regret in found.items()}
    rows: list[tuple[Cell, ...]] = []
    for by in STRATEGIES:
        value, half = published.TABLE_2[by]
        others = [float(of_runs(one[by]).mean()) for one in variants.values()]
        rows.append((by, means[by].value, means[by].high - means[by].value, value, half, *others))
    header = ("strategy", "here", "\u00b1", "published", "\u00b1, published", *variants)
    caption = f"Table 2: average regret times 1000; 95 % intervals over {findings.design.runs} runs"
    tables = (Figures(caption, header, tuple(rows)), *_cells(findings, found))
    return Section("What does choosing by CMIP cost? (Table 2)", claims=tuple(_claims_2(found)), tables=tables)


def _cells(findings: Findings, found: Mapping[str, Floats]) -> Iterator[Figures]:
    design = findings.design
    header = ("strategy", *(f"{user}, {logging}" for user in design.users for logging in design.logging))
    ours: list[tuple[Cell, ...]] = [(by, *regret.mean(axis=2).ravel().tolist()) for by, regret in found.items()]
    yield Figures("Table 2 by user and logging policy, here", header, tuple(ours))
    if len(header) == 1 + len(published.CELLS["ppl"]):
        theirs = tuple((by, *published.CELLS[by]) for by in STRATEGIES if by in published.CELLS)
        yield Figures("Table 2 by user and logging policy, published", header, theirs)


def _claims_2(found: Mapping[str, Floats]) -> Iterator[Claim]:
    means = {by: float(of_runs(regret).mean()) for by, regret in found.items()}
    order = sorted(means, key=lambda by: means[by])
    rival = next(by for by in order if by != BEST)
    behind = over_runs(of_runs(found[BEST]) - of_runs(found[rival]))
    yield Claim(
        f"`{BEST}` has the lowest average regret (.918).",
        status(order[0] == BEST, order.index(BEST) < 3 and behind.low <= 0),
        f"Here it is number {order.index(BEST) + 1} of {len(order)} with {means[BEST]:.3f}; the best of the others is "
        f"`{rival}` with {means[rival]:.3f}. The difference is {interval(behind, 3)} over runs.",
    )
    yield Claim(
        f"`{SECOND}` comes next (.949).",
        status(order.index(SECOND) == 1, order.index(SECOND) < 3),
        f"Here it is number {order.index(SECOND) + 1} with {means[SECOND]:.3f}.",
    )
    wins, pairs = _wins(means)
    theirs, _ = _wins({by: value for by, (value, _) in published.TABLE_2.items()})
    yield Claim(
        "Most strategies with CMIP do better than those without.",
        status(wins > 0.6 * pairs, wins > 0.5 * pairs),
        f"A strategy with CMIP is better than one without in {wins} of {pairs} pairs (published: {theirs}).",
    )
    values = [value for value, _ in published.TABLE_2.values()]
    agree = spearman(np.array([means[by] for by in published.TABLE_2]), np.array(values))
    yield Claim(
        "The nine strategies stand in the order of Table 2.",
        status(agree > 0.95, agree > 0.6),
        f"Rank correlation with the published averages: {agree:.2f}. Here, from the best: {', '.join(order)}.",
    )
    worst = {by: regret.mean(axis=2) for by, regret in found.items()}
    share = max(float(regret.max() / max(regret.sum(), 1e-12)) for regret in worst.values())
    yield Claim(
        "Which cells decide the averages is not said.",
        "new",
        f"A single cell of user and logging policy makes up to {share:.0%} of a strategy's average here, and up to "
        f"{max(max(cells) / sum(cells) for cells in published.CELLS.values()):.0%} in the published numbers.",
    )


def _wins(means: Mapping[str, float]) -> tuple[int, int]:
    """(pairs won by the strategy with CMIP, pairs)."""
    having, lacking = ([value for by, value in means.items() if ("cmip" in by) is asked] for asked in (True, False))
    return sum(one < other for one in having for other in lacking), len(having) * len(lacking)
