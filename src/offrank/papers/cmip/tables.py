"""Tables 1 and 2 beside the published ones, and what the paper says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...jobs.document import number
from ...log.batch import Floats
from ...report.sheet import Cell, Figures, Section
from ...selection.regret import average_regrets
from ...selection.strategies import BEST, STRATEGIES, Metric
from ..expectations import Facts
from .design import POLICIES
from .figures import PAPER, spearman
from .findings import Configuration, Findings, Measure, over_runs
from .regression import BASELINE, BETTER, COMBINATIONS, WORSE, Combination, Scores

Rows = Mapping[Configuration, Scores]
Regrets = Mapping[str, Floats]
JOINT = COMBINATIONS[-1]
SECOND = "top-4 cmip: ndcg"
PER = 1000.0
"""Regrets are shown times 1000, as in the paper."""
LOW = 0.8
"""Scores below are low, as the paper sees it."""
_WORDS: dict[Metric, str] = {"ppl": "ind PPL", "ndcg": "nDCG", "cmip": "CMIP"}


def words(combination: Combination) -> str:
    """As the header of Table 1 has it."""
    return "joint" if combination == JOINT else ", ".join(_WORDS[name] for name in combination)


HEADER = tuple(map(words, COMBINATIONS))


def table_1(rows: Rows, variants: Mapping[str, Rows], observed: int) -> Section:
    """The regressions, of so many observed rows. variants: the same by other measures, by what they are called."""
    averages = {name: _averages(one) for name, one in {"here": rows, **variants}.items()}
    averages |= {"here, models left out": _averages(rows, grouped=True)}
    averages |= {"published": dict(zip(HEADER, PAPER.row("table 1", "average"), strict=True))}
    found = {_named(row): [number(cell) for cell in _of(one, False).values()] for row, one in rows.items()}
    found["average"] = [number(cell) for cell in averages["here"].values()]
    marks = {title: [*(_marked(one, mark) for one in rows.values()), None] for title, mark in _MARKS.items()}
    honest = {_named(row): _of(one, True) for row, one in rows.items()}
    tables = (
        _figures("Table 1: average over configurations", "", averages),
        PAPER.table("table 1", found, marks),
        _figures("Table 1, models left out", "user: logging to test policy", honest),
    )
    return PAPER.section("table 1", {"observed": observed, **_facts_1(rows, averages["here"])}, tables=tables)


def _figures(caption: str, first: str, rows: Mapping[str, Mapping[str, float]]) -> Figures:
    cells: list[tuple[Cell, ...]] = [(name, *map(number, row.values())) for name, row in rows.items()]
    return Figures(caption, (first, *HEADER), tuple(cells))


def _of(scores: Scores, grouped: bool) -> dict[str, float]:
    """Mean scores by the header."""
    each = scores.grouped if grouped else scores.adjusted
    return {words(combination): float(each[combination].mean()) for combination in COMBINATIONS}


def _means(rows: Rows, grouped: bool = False) -> dict[str, Floats]:
    """[configurations] mean scores by the header."""
    each = [_of(one, grouped) for one in rows.values()]
    return {name: np.array([one[name] for one in each]) for name in HEADER}


def _averages(rows: Rows, grouped: bool = False) -> dict[str, float]:
    return {name: float(means.mean()) for name, means in _means(rows, grouped).items()}


def _named(row: Configuration) -> str:
    return f"{row.user}: {row.logging} to {row.test}"


_MARKS = {f"better than {words(BASELINE)}": BETTER, f"worse than {words(BASELINE)}": WORSE}


def _marked(one: Scores, mark: str) -> str | None:
    return "; ".join(words(combination) for combination in COMBINATIONS if one.mark(combination) == mark) or None


def _facts_1(rows: Rows, average: Mapping[str, float]) -> Facts:
    means, honest = _means(rows), _means(rows, grouped=True)
    compared = [words(BASELINE), "CMIP, ind PPL", "CMIP, nDCG", "joint"]
    published = [cells for row in rows if (cells := PAPER.row("table 1", _named(row)))]
    theirs = dict(zip(HEADER, np.array(published).reshape(-1, len(HEADER)).T, strict=True))
    low = {name: int((means[name] < LOW).sum()) for name in compared}
    marks = [one.mark(JOINT) for one in rows.values()]
    return {
        **average,
        "best alone": max(average[name] for name in _WORDS.values()),
        "configurations": len(rows),
        "an eighth of the configurations": len(rows) // 8,
        "low scores": [f"{name}: {count}" for name, count in low.items()],
        "published low scores": [int((theirs[name] < LOW).sum()) for name in compared],
        "low scores without": low[compared[0]],
        "most low scores with CMIP": max(low[name] for name in compared[1:]),
        "configurations better": marks.count(BETTER),
        "configurations worse": marks.count(WORSE),
        "more with CMIP": over_runs(means["joint"] - means[words(BASELINE)]),
        "rank correlation": spearman(np.array(list(average.values())), np.array(PAPER.row("table 1", "average"))),
        "left out": {f"{name}:": values.mean() for name, values in honest.items()},
        "positive": [int((values > 0).sum()) for values in honest.values()],
        "more left out": over_runs(honest["joint"] - honest[words(BASELINE)]),
    }


def regrets(findings: Findings, measure: Measure) -> Regrets:
    """Strategy -> [users, logging policies, runs] regret times 1000.

    Mean over the subsets of the models that lack at most two (29 of 7 models) and over the test policies.
    """
    design = findings.design
    shape = len(design.users), len(design.logging), design.runs
    found = {by: np.empty(shape) for by in STRATEGIES}
    for i, user in enumerate(design.users):
        for j, logging in enumerate(design.logging):
            metrics = findings.metrics(user, logging, measure)
            outcomes = [
                findings.perplexity(user, logging, test, measure.conditional) for test in POLICIES if test != logging
            ]
            for by in STRATEGIES:
                each = [average_regrets(metrics, one, by, _sizes(findings), design.preset) for one in outcomes]
                found[by][i, j] = PER * np.mean(each, axis=0)
    return found


def _sizes(findings: Findings) -> range:
    models = len(findings.design.names)
    return range(max(models - 2, 1), models + 1)


def of_runs(regret: Floats) -> Floats:
    """[runs] the mean over users and logging policies."""
    return np.asarray(regret.mean(axis=(0, 1)))


def table_2(findings: Findings, found: Regrets, variants: Mapping[str, Regrets]) -> Section:
    """The nine strategies. variants: the same by other measures, by what they are called."""
    design = findings.design
    rows = {by: [over_runs(of_runs(found[by]))] for by in STRATEGIES}
    more = {name: [float(of_runs(one[by]).mean()) for by in STRATEGIES] for name, one in variants.items()}
    header = tuple(f"{user}, {logging}" for user in design.users for logging in design.logging)
    cells = {by: regret.mean(axis=2).ravel().tolist() for by, regret in found.items()}
    whole = header == tuple(PAPER.content["tables"]["cells"]["columns"])
    each = PAPER.table("cells", cells) if whole else _cells(header, cells)
    return PAPER.section("table 2", _facts_2(found), tables=(PAPER.table("table 2", rows, more), each))


def _cells(header: tuple[str, ...], cells: Mapping[str, Sequence[float]]) -> Figures:
    """Of fewer users than the paper has."""
    rows: list[tuple[Cell, ...]] = [(by, *row) for by, row in cells.items()]
    return Figures("Table 2 by user and logging policy", ("strategy", *header), tuple(rows))


def _facts_2(found: Regrets) -> Facts:
    means = {by: float(of_runs(regret).mean()) for by, regret in found.items()}
    published = {by: cells[0][0] for by, cells in PAPER.content["tables"]["table 2"]["rows"].items()}
    order = sorted(means, key=lambda by: means[by])
    rival = next(by for by in order if by != BEST)
    (wins, pairs), (theirs, _) = _wins(means), _wins(published)
    cells = {by: regret.mean(axis=2).ravel() for by, regret in found.items()}
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
        "rank correlation": spearman(np.array([means[by] for by in published]), np.array(list(published.values()))),
        "largest share": _largest_share(cells),
        "largest published share": _largest_share(PAPER.content["tables"]["cells"]["rows"]),
    }


def _largest_share(cells: Mapping[str, Sequence[float] | Floats]) -> float:
    return max(float(max(row) / max(sum(row), 1e-12)) for row in cells.values())


def _wins(means: Mapping[str, float]) -> tuple[int, int]:
    """(pairs won by the strategy with CMIP, pairs)."""
    having, lacking = ([value for by, value in means.items() if ("cmip" in by) is asked] for asked in (True, False))
    return sum(one < other for one in having for other in lacking), len(having) * len(lacking)
