"""Tables 1 and 2 beside the published ones, with the paper's claims about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...formatting import finite
from ...log.batch import Floats
from ...report.document import Figures, Section
from ...selection.regret import average_regrets
from ...selection.strategies import BEST, STRATEGIES
from ..expectations import Facts
from .design import POLICIES
from .findings import (
    BETTER,
    COMBINATIONS,
    JOINT,
    PAPER,
    WORSE,
    Configuration,
    Findings,
    Measure,
    Scores,
    over_runs,
    spearman,
)

Rows = Mapping[Configuration, Scores]
Regrets = Mapping[str, Floats]
HEADER = tuple(PAPER.content["tables"]["table 1"]["columns"])
"""The combinations as written in the header of Table 1."""
BASELINE = HEADER[3]
SECOND = "top-4 cmip: ndcg"
PER = 1000.0
"""Regrets are shown times 1000, as in the paper."""
LOW = 0.8
"""Scores below this count as low in the paper."""


def table_1(rows: Rows, variants: Mapping[str, Rows], observed: int) -> Section:
    """Return the regressions, from this many observed rows. variants: the same by other measures, by name."""
    here = dict(zip(map(str, rows), _means(rows), strict=True))
    honest = dict(zip(map(str, rows), _means(rows, grouped=True), strict=True))
    averages: dict[str, Sequence[float] | Floats] = {"here": _average(_means(rows))}
    averages |= {name: _average(_means(one)) for name, one in variants.items()}
    averages |= {"here, models left out": _average(_means(rows, grouped=True))}
    averages |= {"published": PAPER.row("table 1", "average")}
    found = {name: list(map(finite, cells)) for name, cells in [*here.items(), ("average", averages["here"])]}
    marks = {
        f"{which} than {BASELINE}": [*(_marked(one, mark) for one in rows.values()), None]
        for which, mark in (("better", BETTER), ("worse", WORSE))
    }
    tables = (
        _figures("Table 1: average over configurations", "", averages),
        PAPER.table("table 1", found, marks),
        _figures("Table 1, models left out", "user: logging to test policy", honest),
    )
    return PAPER.section("table 1", {"observed": observed, **_facts_1(rows, _average(_means(rows)))}, tables=tables)


def _figures(caption: str, first: str, rows: Mapping[str, Sequence[float] | Floats]) -> Figures:
    return Figures(caption, (first, *HEADER), tuple((name, *map(finite, row)) for name, row in rows.items()))


def _means(rows: Rows, grouped: bool = False) -> Floats:
    """Return the mean scores [configurations, combinations]."""
    each = [one.grouped if grouped else one.adjusted for one in rows.values()]
    return np.array([[scores[combination].mean() for combination in COMBINATIONS] for scores in each])


def _average(means: Floats) -> list[float]:
    """Return means over the configurations [combinations]."""
    return [float(column.mean()) for column in means.T]


def _marked(one: Scores, mark: str) -> str | None:
    marked = (name for name, combination in zip(HEADER, COMBINATIONS, strict=True) if one.mark(combination) == mark)
    return "; ".join(marked) or None


def _facts_1(rows: Rows, average: Sequence[float]) -> Facts:
    means, honest = (dict(zip(HEADER, _means(rows, grouped).T, strict=True)) for grouped in (False, True))
    published = np.array([cells for row in rows if (cells := PAPER.row("table 1", str(row)))]).reshape(-1, len(HEADER))
    several = HEADER[3:]  # combinations of at least two metrics
    low = {name: int((means[name] < LOW).sum()) for name in several}
    marks = [one.mark(JOINT) for one in rows.values()]
    return {
        **dict(zip(HEADER, average, strict=True)),
        "best alone": max(average[:3]),
        "configurations": len(rows),
        "an eighth of the configurations": len(rows) // 8,
        "low scores": [f"{name}: {count}" for name, count in low.items()],
        "published low scores": (published[:, 3:] < LOW).sum(axis=0).tolist(),
        "low scores without": low[BASELINE],
        "most low scores with CMIP": max(low[name] for name in several[1:]),
        "configurations better": marks.count(BETTER),
        "configurations worse": marks.count(WORSE),
        "more with CMIP": over_runs(means["joint"] - means[BASELINE]),
        "rank correlation": spearman(average, PAPER.row("table 1", "average")),
        "left out": {f"{name}:": values.mean() for name, values in honest.items()},
        "positive": [int((values > 0).sum()) for values in honest.values()],
        "more left out": over_runs(honest["joint"] - honest[BASELINE]),
    }


def regrets(findings: Findings, measure: Measure) -> Regrets:
    """Return strategy -> [users, logging policies, runs] regret times 1000.

    It is the mean over the subsets that lack at most two models (29 of 7 models) and over the test policies.
    """
    design, models = findings.design, len(findings.design.names)
    sizes = range(max(models - 2, 1), models + 1)
    found = {by: np.empty((len(design.users), len(design.logging), design.runs)) for by in STRATEGIES}
    for i, user in enumerate(design.users):
        for j, logging in enumerate(design.logging):
            metrics = findings.metrics(user, logging, measure)
            outcomes = [
                findings.perplexity(user, logging, test, measure.conditional) for test in POLICIES if test != logging
            ]
            for by in STRATEGIES:
                each = [average_regrets(metrics, one, by, sizes, design.preset) for one in outcomes]
                found[by][i, j] = PER * np.mean(each, axis=0)
    return found


def of_runs(regret: Floats) -> Floats:
    """Return the mean over users and logging policies [runs]."""
    return np.asarray(regret.mean(axis=(0, 1)))


def table_2(findings: Findings, found: Regrets, variants: Mapping[str, Regrets]) -> Section:
    """Return the nine strategies. variants: the same by other measures, by name."""
    design = findings.design
    rows = {by: [over_runs(of_runs(found[by]))] for by in STRATEGIES}
    more = {name: [float(of_runs(one[by]).mean()) for by in STRATEGIES] for name, one in variants.items()}
    header = tuple(f"{user}, {logging}" for user in design.users for logging in design.logging)
    cells = {by: regret.mean(axis=2).ravel().tolist() for by, regret in found.items()}
    if header == tuple(PAPER.content["tables"]["cells"]["columns"]):
        each = PAPER.table("cells", cells)
    else:  # for fewer users than in the paper
        lines = tuple((by, *row) for by, row in cells.items())
        each = Figures("Table 2 by user and logging policy", ("strategy", *header), lines)
    return PAPER.section("table 2", _facts_2(found, cells), tables=(PAPER.table("table 2", rows, more), each))


def _facts_2(found: Regrets, cells: Mapping[str, Sequence[float]]) -> Facts:
    means = {by: float(of_runs(regret).mean()) for by, regret in found.items()}
    published = {by: row[0][0] for by, row in PAPER.content["tables"]["table 2"]["rows"].items()}
    order = sorted(means, key=lambda by: means[by])
    rival = next(by for by in order if by != BEST)
    (wins, pairs), (theirs, _) = _wins(means), _wins(published)
    return {
        "best": BEST,
        "second": SECOND,
        "rival": rival,
        "strategies": len(order),
        "order": order,
        "place of the best": order.index(BEST) + 1,
        "place of the second": order.index(SECOND) + 1,
        "regret of the best": means[BEST],
        "regret of the second": means[SECOND],
        "regret of the rival": means[rival],
        "behind": over_runs(of_runs(found[BEST]) - of_runs(found[rival])),
        "wins": wins,
        "pairs": pairs,
        "published wins": theirs,
        "share of pairs won": wins / pairs,
        "rank correlation": spearman([means[by] for by in published], list(published.values())),
        "largest share": _largest_share(cells),
        "largest published share": _largest_share(PAPER.content["tables"]["cells"]["rows"]),
    }


def _largest_share(cells: Mapping[str, Sequence[float]]) -> float:
    return max(float(max(row) / max(sum(row), 1e-12)) for row in cells.values())


def _wins(means: Mapping[str, float]) -> tuple[int, int]:
    """Return (pairs won by the strategy with CMIP, pairs)."""
    having, lacking = ([value for by, value in means.items() if ("cmip" in by) is asked] for asked in (True, False))
    return sum(one < other for one in having for other in lacking), len(having) * len(lacking)
