"""Figures 1 and 2, and what the paper reads off them."""

from __future__ import annotations

import numpy as np

from ...folds.estimate import Interval
from ...log.batch import Floats
from ...report.charts import Chart, Series
from ...report.sheet import Cell, Figures, Section
from ..expectations import Expectations, Facts, bars
from .design import ORACLE, PBM, UNIFORM, Study
from .findings import Findings, Measure, over_runs
from .study import Found

PAPER = Expectations.of("cmip")


def figure_1(findings: Findings) -> Section:
    """Relevance by two models against what the logging policy believes."""
    usual, hotter = findings.studies[Study(PBM, ORACLE, 0)], findings.figure()
    shown = {".1, as in the text": usual, "1, as in the code": hotter}
    charts = [_scatter(found, name, title) for title, found in shown.items() for name in ("pbm", "dctr")]
    return PAPER.section("figure 1", _facts_1(findings, hotter["models"]), charts)


def _scatter(found: Found, name: str, temperature: str) -> Chart:
    grade, logging, relevance = (np.array(found["documents"][column]) for column in ("grade", "logging", name))
    series = [
        Series(f"grade {one:g}", logging[grade == one].tolist(), relevance[grade == one].tolist())
        for one in np.unique(grade)
    ]
    return Chart(f"{name}, temperature {temperature}", "logging relevance", "relevance by the model", tuple(series))


def _facts_1(findings: Findings, warm: Found) -> Facts:
    dctr, pbm = (findings.design.names.index(name) for name in ("dctr", "pbm"))
    ndcg, cmip = (findings.metric(metric, PBM, ORACLE, Measure()) for metric in ("ndcg", "cmip"))
    tested, more = findings.p_values(PBM, ORACLE)[:, pbm].tolist(), over_runs(ndcg[:, dctr] - ndcg[:, pbm])
    p_value = warm["pbm"]["cmip"]["binned"]["p_value"]
    return {
        "runs": findings.design.runs,
        "more nDCG": more,
        "most nDCG more": max(more.value, warm["dctr"]["ndcg"] - warm["pbm"]["ndcg"]),
        "warm nDCG of DCTR": warm["dctr"]["ndcg"],
        "warm nDCG of the PBM": warm["pbm"]["ndcg"],
        "more CMIP": over_runs(cmip[:, dctr] - cmip[:, pbm]),
        "CMIP of the PBM": over_runs(cmip[:, pbm]),
        "warm CMIP of DCTR": _warm(warm["dctr"]),
        "warm CMIP of the PBM": _warm(warm["pbm"]),
        "p": tested,
        "warm p": p_value,
        "least p": min(*tested, p_value),
        "largest p": max(*tested, p_value),
    }


def _warm(model: Found) -> Interval:
    found = model["cmip"]["binned"]
    return Interval(found["value"], found["low"], found["high"], float("nan"))


def figure_2(findings: Findings) -> Section:
    """Four metrics of all models, for one configuration."""
    tables = {
        "in-distribution perplexity": findings.metric("ppl", PBM, ORACLE, Measure()),
        "out-of-distribution perplexity": findings.perplexity(PBM, ORACLE, UNIFORM),
        "nDCG": findings.metric("ndcg", PBM, ORACLE, Measure()),
        "CMIP": findings.metric("cmip", PBM, ORACLE, Measure()),
        "CMIP, published estimator": findings.metric("cmip", PBM, ORACLE, Measure(method="paper")),
    }
    names = findings.design.names
    intervals = {title: [over_runs(column) for column in table.T] for title, table in tables.items()}
    charts = [_by_model(names, title, each) for title, each in intervals.items()]
    caption = f"PBM user, noisy oracle to uniform; means over {findings.design.runs} runs, 95 % intervals"
    rows = {name: [each[index] for each in intervals.values()] for index, name in enumerate(names)}
    facts = _facts_2(names, {title: table.mean(axis=0) for title, table in list(tables.items())[:4]})
    return PAPER.section("figure 2", facts, charts, [with_halves(caption, "model", tuple(tables), rows)])


def with_halves(caption: str, first: str, titles: tuple[str, ...], rows: dict[str, list[Interval]]) -> Figures:
    """Intervals by two columns each: the value and half of it."""
    cells: list[tuple[Cell, ...]] = [
        (name, *(number for one in row for number in (one.value, one.high - one.value))) for name, row in rows.items()
    ]
    return Figures(caption, (first, *(f"{title}{end}" for title in titles for end in ("", ", \u00b1"))), tuple(cells))


def _by_model(names: tuple[str, ...], title: str, each: list[Interval]) -> Chart:
    series = tuple(bars(name, [place], [one]) for place, (name, one) in enumerate(zip(names, each, strict=True), 1))
    return Chart(f"Figure 2: {title}", "model", title, series)


def _facts_2(names: tuple[str, ...], means: dict[str, Floats]) -> Facts:
    costs = {title: -mean if title == "nDCG" else mean for title, mean in means.items()}
    agree = {title: spearman(cost, means["out-of-distribution perplexity"]) for title, cost in costs.items()}
    facts: dict[str, object] = {f"rank correlation of {title}": value for title, value in agree.items()}
    for name in {"dctr", "ncm"} & set(names):
        places = {title: 1 + int((cost < cost[names.index(name)]).sum()) for title, cost in costs.items()}
        facts |= {f"{name} by {title}": place for title, place in places.items()}
        facts[name] = [f"{place} by {title}" for title, place in places.items()]
    return facts | {
        "least rank correlation of both": min(agree["in-distribution perplexity"], agree["nDCG"]),
        "models": len(names),
        "middle": (len(names) + 1) // 2,
        "last but one": len(names) - 1,
    }


def spearman(one: Floats, other: Floats) -> float:
    """Correlation of the ranks; nan where all are equal."""
    from scipy.stats import spearmanr  # scipy is slow to import

    return float(spearmanr(one, other).statistic)
