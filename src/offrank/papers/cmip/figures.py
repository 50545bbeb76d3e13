"""Figures 1 and 2, and what the paper reads off them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...folds.estimate import Interval
from ...log.batch import Floats
from ...report.charts import Chart, Series
from ...report.sheet import Cell, Claim, Figures, Section, Status
from ...selection.strategies import Metric
from .design import ORACLE, PBM, UNIFORM, Study
from .findings import Configuration, Findings, Measure, over_runs
from .study import Found

SHOWN = Configuration(PBM, ORACLE, UNIFORM)
"""What both figures are about."""

_FIGURE_1 = (
    "A document's relevance by two models against what the logging policy believes of it, by grade: a model without "
    "bias shows no slope within a grade. The text samples rankings at a temperature of .1 throughout; the published "
    "code made its Figure 1 at a temperature of 1. Both are shown, of the first run."
)
_FIGURE_2 = (
    "In the published figure the axes run from 1.195 to 1.21 (in-distribution perplexity), 1.18 to 1.24 "
    "(out-of-distribution), .4 to 1 (nDCG) and -.03 to .2 (CMIP)."
)


def figure_1(findings: Findings) -> Section:
    """Relevance by two models against what the logging policy believes."""
    usual, hotter = findings.studies[Study(PBM, ORACLE, 0)], findings.figure()
    charts = [_scatter(usual, name, ".1, as in the text") for name in ("pbm", "dctr")]
    charts += [_scatter(hotter, name, "1, as in the code") for name in ("pbm", "dctr")]
    claims = tuple(_figure_1_claims(findings, hotter))
    return Section(
        "Two models against the logging policy (Figure 1)", (_FIGURE_1,), claims=claims, charts=tuple(charts)
    )


def _scatter(found: Found, name: str, temperature: str) -> Chart:
    grade, logging, relevance = (np.array(found["documents"][column]) for column in ("grade", "logging", name))
    series = [
        Series(f"grade {one:g}", logging[grade == one].tolist(), relevance[grade == one].tolist())
        for one in np.unique(grade)
    ]
    return Chart(f"{name}, temperature {temperature}", "logging relevance", "relevance by the model", tuple(series))


def _figure_1_claims(findings: Findings, hotter: Found) -> Iterator[Claim]:
    ndcg, cmip = _difference(findings, "ndcg", "dctr", "pbm"), _difference(findings, "cmip", "dctr", "pbm")
    of = {name: hotter["models"][name] for name in ("dctr", "pbm")}
    warm = {name: (one["ndcg"], one["cmip"]["binned"]) for name, one in of.items()}
    yield Claim(
        "DCTR achieves a higher nDCG than the PBM.",
        status(ndcg.low > 0, ndcg.value > 0 or warm["dctr"][0] > warm["pbm"][0]),
        f"By {interval(ndcg)} over {findings.design.runs} runs at temperature .1; {warm['dctr'][0]:.4f} against "
        f"{warm['pbm'][0]:.4f} at temperature 1, one run.",
    )
    yield Claim(
        "DCTR correlates notably with the logging policy: its CMIP is high, that of the PBM is not.",
        status(cmip.low > 0 and warm["dctr"][1]["low"] > warm["pbm"][1]["high"], cmip.value > 0),
        f"The CMIP of DCTR is larger by {interval(cmip)} nats at temperature .1; at temperature 1 it is "
        f"{_ends(warm['dctr'][1])} against {_ends(warm['pbm'][1])}.",
    )
    value = over_runs(_of(findings, "cmip", "pbm"))
    tested = findings.p_values(PBM, ORACLE)[:, findings.design.names.index("pbm")]
    p_value = warm["pbm"][1]["p_value"]
    yield Claim(
        "The PBM is unbiased in this set-up, since its user is one.",
        status(min(*tested, p_value) > 0.05, max(*tested, p_value) > 0.05),
        f"Its CMIP is {interval(value)} at temperature .1 (permutation tests: p = "
        f"{', '.join(f'{one:.3g}' for one in tested)}), and {_ends(warm['pbm'][1])} at temperature 1 (p = "
        f"{p_value:.3g}). A model of the right kind that has seen a document seldom, or only far down, falls back on "
        "what it expects of any: that is bias too, and goes away with more sessions.",
    )


def figure_2(findings: Findings) -> Section:
    """Four metrics of all models, for one configuration."""
    tables = {
        "in-distribution perplexity": findings.metric("ppl", PBM, ORACLE, Measure()),
        "out-of-distribution perplexity": findings.perplexity(*SHOWN),
        "nDCG": findings.metric("ndcg", PBM, ORACLE, Measure()),
        "CMIP": findings.metric("cmip", PBM, ORACLE, Measure()),
        "CMIP, published estimator": findings.metric("cmip", PBM, ORACLE, Measure(method="paper")),
    }
    intervals = {title: [over_runs(column) for column in table.T] for title, table in tables.items()}
    charts = tuple(_by_model(findings, title, each) for title, each in intervals.items())
    header = ("model", *(f"{title}{end}" for title in tables for end in ("", ", \u00b1")))
    rows: list[tuple[Cell, ...]] = []
    for index, name in enumerate(findings.design.names):
        ends = [(each[index].value, each[index].high - each[index].value) for each in intervals.values()]
        rows.append((name, *(number for pair in ends for number in pair)))
    caption = f"PBM user, noisy oracle to uniform; means over {findings.design.runs} runs, 95 % intervals"
    claims = tuple(_figure_2_claims(findings, {title: table.mean(axis=0) for title, table in tables.items()}))
    table = Figures(caption, header, tuple(rows))
    return Section(
        "Seven models under one shift of policy (Figure 2)",
        (_FIGURE_2,),
        claims=claims,
        charts=charts,
        tables=(table,),
    )


def _by_model(findings: Findings, title: str, each: list[Interval]) -> Chart:
    series = [
        Series(name, [place], [one.value], [one.low], [one.high])
        for place, (name, one) in enumerate(zip(findings.design.names, each, strict=True), 1)
    ]
    return Chart(f"Figure 2: {title}", "model", title, tuple(series))


def _figure_2_claims(findings: Findings, means: dict[str, Floats]) -> Iterator[Claim]:
    names = findings.design.names
    outside, inside = means["out-of-distribution perplexity"], means["in-distribution perplexity"]
    agree = {
        "in-distribution perplexity": spearman(inside, outside),
        "nDCG": spearman(-means["nDCG"], outside),
        "CMIP": spearman(means["CMIP"], outside),
    }
    yield Claim(
        "Neither in-distribution perplexity nor nDCG is enough to predict perplexity out of distribution.",
        status(max(agree["in-distribution perplexity"], agree["nDCG"]) < 0.8, min(list(agree.values())[:2]) < 0.8),
        "Rank correlation over the models with out-of-distribution perplexity (1: it tells their order): "
        + ", ".join(f"{name} {value:.2f}" for name, value in agree.items())
        + ".",
    )
    yield Claim(
        "CMIP helps to predict perplexity out of distribution.",
        status(agree["CMIP"] > max(agree["nDCG"], agree["in-distribution perplexity"]), agree["CMIP"] > agree["nDCG"]),
        f"Its rank correlation is {agree['CMIP']:.2f} here, in this one configuration; see the next section for all.",
    )
    ranks = {title: _place(names, means[title], "dctr", title == "nDCG") for title in list(means)[:4]}
    competitive = ranks["nDCG"] <= (len(names) + 1) // 2
    poor = ranks["out-of-distribution perplexity"] > len(names) - 2
    biased = ranks["CMIP"] > len(names) - 2
    yield Claim(
        "DCTR's nDCG is competitive and its generalisation poor, which its high CMIP tells.",
        status(competitive and poor and biased, poor and biased),
        f"Among {len(names)} models DCTR is {_placed(ranks)}; 1 is best.",
    )
    if "ncm" in names:
        ranks = {title: _place(names, means[title], "ncm", title == "nDCG") for title in list(means)[:4]}
        low = ranks["nDCG"] > len(names) // 2
        good = ranks["out-of-distribution perplexity"] <= len(names) // 2
        fair = ranks["CMIP"] <= len(names) // 2
        yield Claim(
            "NCM has a low nDCG and is good out of distribution, which its low CMIP tells.",
            status(low and good and fair, fair and (low or good)),
            f"NCM is {_placed(ranks)}.",
        )


def _placed(ranks: dict[str, int]) -> str:
    return ", ".join(f"number {rank} by {title}" for title, rank in ranks.items())


def _place(names: tuple[str, ...], values: Floats, name: str, high_is_good: bool) -> int:
    cost = -values if high_is_good else values
    return 1 + int((cost < cost[names.index(name)]).sum())


def _of(findings: Findings, metric: Metric, name: str) -> Floats:
    return findings.metric(metric, PBM, ORACLE, Measure())[:, findings.design.names.index(name)]


def _difference(findings: Findings, metric: Metric, left: str, right: str) -> Interval:
    return over_runs(_of(findings, metric, left) - _of(findings, metric, right))


def spearman(one: Floats, other: Floats) -> float:
    """Correlation of the ranks; nan where all are equal."""
    from scipy.stats import spearmanr  # scipy is slow to import

    return float(spearmanr(one, other).statistic)


def status(found: bool, partly: bool = False) -> Status:
    """How a claim came out."""
    return "reproduced" if found else "in part" if partly else "not reproduced"


def interval(found: Interval, digits: int = 4) -> str:
    """A value with half of its interval."""
    return f"{found.value:.{digits}f} (\u00b1 {found.high - found.value:.{digits}f})"


def _ends(found: Found) -> str:
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"
