"""Tables 1 and 2 beside the published ones, with the paper's claims about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from offrank.language.formatting import finite
from offrank.log.batch import Floats
from offrank.report.document import Cell, Figures, Section
from offrank.selection.strategies import BEST, STRATEGIES

from ..expectations import Facts, half_of
from .design import POLICIES, StudyDesign
from .findings import (
    BETTER,
    COMBINATIONS,
    JOINT,
    PAPER,
    WORSE,
    Configuration,
    Findings,
    Measure,
    over_runs,
    spearman,
)
from .regressions import Scores
from .regret import average_regrets
from .study import DRAWS

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


def table_1(rows: Mapping[str, Rows], observed: int) -> Section:
    """Return the regressions, from this many observed rows; rows: by estimator of CMIP, that of the verdicts first."""
    ours, drawn = next(iter(rows.values())), rows[DRAWS]
    here = dict(zip(map(str, ours), means(ours), strict=True))
    averages: dict[str, Sequence[float]] = {f"CMIP: {name}": _average(means(one)) for name, one in rows.items()}
    for title, kind in _OTHERS.items():
        averages |= {f"CMIP: {name}; {title}": _average(means(rows[name], kind)) for name in (next(iter(rows)), DRAWS)}
    averages |= {"published": PAPER.row("table 1", "average")}
    found = {name: list(map(finite, cells)) for name, cells in [*here.items(), ("average", _average(means(ours)))]}
    more: dict[str, Sequence[Cell]] = {
        f"{which} than {BASELINE}": [*(_marked(one, mark) for one in ours.values()), None]
        for which, mark in (("better", BETTER), ("worse", WORSE))
    }
    by_draws = means(drawn)
    for place, title in enumerate(HEADER):
        if "CMIP" in title or title == "joint":
            column = by_draws[:, place]
            more[f"{title}, by draws"] = list(map(finite, [*column, column.mean()]))
    tables = (
        _figures("Table 1: average over configurations", "", averages),
        PAPER.table("table 1", found, more),
        _figures(
            "Table 1, each model predicted from the others, by trees",
            "user: logging to test policy",
            dict(zip(map(str, ours), means(ours, "left_out"), strict=True)),
        ),
    )
    return PAPER.section("table 1", {"observed": observed, **_facts_1(ours, drawn)}, tables=tables)


_OTHERS = {
    "linear regression": "lines",
    "each model from the others, trees": "left_out",
    "each model from the others, linear": "left_out_lines",
}


def _figures(caption: str, first: str, rows: Mapping[str, Sequence[float] | Floats]) -> Figures:
    return Figures(caption, (first, *HEADER), tuple((name, *map(finite, row)) for name, row in rows.items()))


def means(rows: Rows, kind: str = "trees") -> Floats:
    """Return the mean scores [configurations, combinations]; kind: a field of `Scores`."""
    each = [getattr(one, kind) for one in rows.values()]
    return np.array([[np.mean(scores[combination]) for combination in COMBINATIONS] for scores in each])


def _average(scores: Floats) -> list[float]:
    """Return means over the configurations [combinations]."""
    return [float(column.mean()) for column in scores.T]


def _marked(one: Scores, mark: str) -> str | None:
    marked = (name for name, combination in zip(HEADER, COMBINATIONS, strict=True) if one.mark(combination) == mark)
    return "; ".join(marked) or None


def _facts_1(rows: Rows, drawn: Rows) -> Facts:
    by_trees, draws, lines, left_out, left_out_lines = (
        dict(zip(HEADER, means(one, kind).T, strict=True))
        for one, kind in (
            (rows, "trees"),
            (drawn, "trees"),
            (rows, "lines"),
            (rows, "left_out"),
            (rows, "left_out_lines"),
        )
    )
    average = {name: float(column.mean()) for name, column in by_trees.items()}
    linear = [float(column.mean()) for column in lines.values()]
    published = np.array([cells for row in rows if (cells := PAPER.row("table 1", str(row)))]).reshape(-1, len(HEADER))
    several = HEADER[3:]  # combinations of at least two metrics
    low = {name: int((by_trees[name] < LOW).sum()) for name in several}
    marks = [one.mark(JOINT) for one in rows.values()]
    return {
        **average,
        "best alone": max(average[name] for name in HEADER[:3]),
        "configurations": len(rows),
        "an eighth of the configurations": len(rows) // 8,
        "low scores": [f"{name}: {count}" for name, count in low.items()],
        "published low scores": (published[:, 3:] < LOW).sum(axis=0).tolist(),
        "low scores without": low[BASELINE],
        "most low scores with CMIP": max(low[name] for name in several[1:]),
        "configurations better": marks.count(BETTER),
        "configurations worse": marks.count(WORSE),
        "more with CMIP": over_runs(by_trees["joint"] - by_trees[BASELINE]),
        "rank correlation": spearman(list(average.values()), PAPER.row("table 1", "average")),
        "linear": [f"{name} {value:.2f}" for name, value in zip(HEADER, linear, strict=True)],
        "linear more with CMIP": over_runs(lines["joint"] - lines[BASELINE]),
        "rank correlation of both": spearman(list(average.values()), linear),
        "left out": {f"{name}:": values.mean() for name, values in left_out.items()},
        "positive": [int((values > 0).sum()) for values in left_out.values()],
        "more left out": over_runs(left_out["joint"] - left_out[BASELINE]),
        "linear left out": {f"{name}:": values.mean() for name, values in left_out_lines.items()},
        "drawn CMIP": float(draws["CMIP"].mean()),
        "drawn jointly": float(draws["joint"].mean()),
    }


def regrets(findings: Findings, measure: Measure) -> Regrets:
    """Return strategy -> [users, logging policies, runs] regret times 1000.

    It is the mean over the subsets that lack at most two models (29 of 7 models) and over the test policies, of the
    runs in which all models learnt.
    """
    design, models, runs = findings.design, len(findings.design.names), findings.design.whole_runs
    sizes = range(max(models - 2, 1), models + 1)
    found = {by: np.empty((len(design.users), len(design.logging), runs)) for by in STRATEGIES}
    for i, user in enumerate(design.users):
        for j, logging in enumerate(design.logging):
            metrics = {name: one[:runs] for name, one in findings.metrics(user, logging, measure).items()}
            outcomes = [
                findings.perplexity(user, logging, test, measure.conditional)[:runs]
                for test in POLICIES
                if test != logging
            ]
            for by in STRATEGIES:
                each = [average_regrets(metrics, one, by, sizes, design.preset) for one in outcomes]
                found[by][i, j] = PER * np.mean(each, axis=0)
    return found


def of_runs(regret: Floats) -> Floats:
    """Return the mean over users and logging policies [runs]."""
    return np.asarray(regret.mean(axis=(0, 1)))


def table_2(design: StudyDesign, found: Mapping[str, Regrets]) -> Section:
    """Return the nine strategies; found: by estimator of CMIP, that of the verdicts first."""
    (_, ours), *others = found.items()
    rows = {by: [over_runs(of_runs(ours[by]))] for by in STRATEGIES}
    more: dict[str, Sequence[Cell]] = {}
    for name, one in others:
        each = [over_runs(of_runs(one[by])) for by in STRATEGIES]
        more |= {f"CMIP: {name}": [value.value for value in each], f"\u00b1 of {name}": list(map(half_of, each))}
    header = tuple(f"{user}, {logging}" for user in design.users for logging in design.logging)
    cells, drawn = ({by: _by_cell(one) for by, one in each.items()} for each in (ours, found[DRAWS]))
    if header == tuple(PAPER.content["tables"]["cells"]["columns"]):
        beside = PAPER.table("cells", {by: list(map(over_runs, _each_cell(one))) for by, one in ours.items()})
    else:  # for fewer users than in the paper
        beside = _cells("Table 2 by user and logging policy", header, cells)
    tables = (PAPER.table("table 2", rows, more), beside, _cells("The same with CMIP by draws", header, drawn))
    return PAPER.section("table 2", _facts_2(ours, found[DRAWS], cells), tables=tables)


def _each_cell(regret: Floats) -> Floats:
    """Return regrets [users times logging policies, runs]."""
    return regret.reshape(-1, regret.shape[2])


def _by_cell(regret: Floats) -> list[float]:
    return [float(value) for value in _each_cell(regret).mean(axis=1)]


def _cells(caption: str, header: tuple[str, ...], cells: Mapping[str, Sequence[float]]) -> Figures:
    return Figures(caption, ("strategy", *header), tuple((by, *row) for by, row in cells.items()))


def _facts_2(found: Regrets, drawn: Regrets, cells: Mapping[str, Sequence[float]]) -> Facts:
    average = {by: float(of_runs(regret).mean()) for by, regret in found.items()}
    published = {by: row[0][0] for by, row in PAPER.content["tables"]["table 2"]["rows"].items()}
    order = sorted(average, key=lambda by: average[by])
    rival = next(by for by in order if by != BEST)
    (wins, pairs), (theirs, _) = _wins(average), _wins(published)
    with_cmip = [by for by in average if "cmip" in by]
    less = {by: over_runs(of_runs(drawn[by]) - of_runs(found[by])) for by in with_cmip}
    return {
        "best": BEST,
        "second": SECOND,
        "rival": rival,
        "strategies": len(order),
        "order": order,
        "place of the best": order.index(BEST) + 1,
        "place of the second": order.index(SECOND) + 1,
        "regret of the best": average[BEST],
        "regret of the second": average[SECOND],
        "regret of the rival": average[rival],
        "behind": over_runs(of_runs(found[BEST]) - of_runs(found[rival])),
        "wins": wins,
        "pairs": pairs,
        "published wins": theirs,
        "share of pairs won": wins / pairs,
        "rank correlation": spearman([average[by] for by in published], list(published.values())),
        "largest share": _largest_share(cells),
        "largest published share": _largest_share(PAPER.content["tables"]["cells"]["rows"]),
        "less by draws": {f"{by}:": one for by, one in less.items()},
        "drawn regret of the best": float(of_runs(drawn[BEST]).mean()),
        "strategies with CMIP": len(with_cmip),
        "lower by draws": sum(one.value < 0 for one in less.values()),
    }


def _largest_share(cells: Mapping[str, Sequence[float]]) -> float:
    return max(float(max(row) / max(sum(row), 1e-12)) for row in cells.values())


def _wins(means: Mapping[str, float]) -> tuple[int, int]:
    """Return (pairs won by the strategy with CMIP, pairs)."""
    having, lacking = ([value for by, value in means.items() if ("cmip" in by) is asked] for asked in (True, False))
    return sum(one < other for one in having for other in lacking), len(having) * len(lacking)
