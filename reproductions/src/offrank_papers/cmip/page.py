"""CMIP (Deffayet, Hager, Renders and de Rijke): Figures 1 and 2, Tables 1 and 2, from new simulations.

Four users, two logging policies, two test policies for each: 16 configurations; seven click models, several runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from offrank.errors import MissingExtraError
from offrank.language import Say
from offrank.log.batch import Floats
from offrank.metrics.cmip_models import CMIP_DRAWS as DRAWN
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Document, Figures, Section
from offrank.selection.strategies import Preset
from offrank.sums.estimate import Interval

from ..expectations import Facts, Run, bars
from ..neural.training import libraries
from .design import LOGGING, ORACLE, PBM, POLICIES, UNIFORM, Study, StudyDesign, StudyQueries
from .estimators import estimators, sessions
from .findings import PAPER, Findings, Measure, over_runs, spearman
from .regressions import regressed, trees
from .resume import all_studies
from .study import DRAWS, ESTIMATORS, POINTS, PUBLISHED, Found
from .tables import regrets, table_1, table_2

_GIVEN = "points, perplexity given the clicks above"


def document(asked: Run, preset: Preset = "paper") -> Document:
    """Return the reproduction; see the module. Finished studies are saved, so that the same call resumes."""
    return made(StudyDesign.of(asked.scale, asked.seed, preset), asked.log, asked.folder, asked.say)


def made(design: StudyDesign, log: Any, folder: Path, say: Say) -> Document:
    """Return the reproduction at any size; without the neural models where JAX is not installed."""
    trees()
    if design.neural:
        try:
            libraries()
        except MissingExtraError as error:
            say(f"without {' and '.join(map(str, design.neural))}: {error}")
            design = design.classic
    say("1. The judged queries")
    queries = StudyQueries.of(design, log, say)
    say(f"2. {len(design.studies())} studies: simulated clicks, models that learn from them, perplexity, nDCG and CMIP")
    findings = Findings(design, all_studies(queries, folder, say))
    say("3. Regressions and regrets")
    title = "" if design.preset == "paper" else ", as in the published code"
    return PAPER.to_document(_sections(queries, findings, say), title)


def _sections(queries: StudyQueries, findings: Findings, say: Say) -> Iterator[Section]:
    yield _set_up(queries)
    yield _figure_1(findings)
    yield _figure_2(findings)
    measures = {name: Measure(cmip=name) for name in ESTIMATORS}
    rows = {name: regressed(findings, measure, say) for name, measure in measures.items()}
    found = {name: regrets(findings, measure) for name, measure in measures.items()}
    given = Measure(conditional=True)
    observed = findings.perplexity(findings.design.users[0], ORACLE, UNIFORM)
    yield table_1({**rows, _GIVEN: regressed(findings, given, say)}, int(np.isfinite(observed).sum()))
    yield table_2(findings.design, {**found, _GIVEN: regrets(findings, given)})
    yield estimators(findings, rows, found)
    yield sessions(findings, say)
    yield PAPER.section("measurements", tables=[_measurements(findings)])


def _set_up(queries: StudyQueries) -> Section:
    design, texts = queries.design, PAPER.content["texts"]
    rows: list[tuple[Cell, ...]] = []
    for documents, scored in queries.found.items():
        scores = scored.scores(design.preset, 0)
        values = [scored.ndcg(scores[name]) for name in LOGGING]
        rows.append((f"{documents}", len(scored.judged), scored.dropped, *values))
    header = ("documents per query", "queries", "dropped for having fewer", *(f"nDCG of {name}" for name in LOGGING))
    few = texts["few"].format(judged=design.judged) if design.trees < 100 else ""
    missing = "" if design.neural and design.neural_runs else texts["without neural models"]
    facts = {**asdict(design), "data": queries.data, "how": texts[design.preset], "few": few, "missing": missing}
    facts["queries"] = [f"{len(scored.judged)} of {documents} documents" for documents, scored in queries.found.items()]
    facts |= {"draws": DRAWN, "neural_runs": design.neural_runs if design.neural else 0}
    facts["all models"] = design.models + design.neural
    table = Figures("Judged queries and logging policies", header, tuple(rows))
    return PAPER.section("set-up", facts, tables=[table])


def _figure_1(findings: Findings) -> Section:
    """Plot the relevance by two models against that of the logging policy."""
    usual, hotter = findings.studies[Study(PBM, ORACLE, 0, findings.design.sessions)], findings.figure()
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
    tested, biased = (findings.tested(name, PBM, ORACLE) for name in (POINTS, DRAWS))
    more = over_runs(ndcg[:, dctr] - ndcg[:, pbm])
    p_value = warm["pbm"]["cmip"][POINTS]["p_value"]
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
        "p": tested[:, pbm].tolist(),
        "convicted": int(biased[:, pbm].sum()),
        "convictions of DCTR": int(biased[:, dctr].sum()),
        "warm p": p_value,
    }


def _warm(model: Found) -> Interval:
    found = model["cmip"][POINTS]
    return Interval(found["value"], found["low"], found["high"], float("nan"))


def _figure_2(findings: Findings) -> Section:
    """Plot four metrics of all models, for one configuration."""
    tables = {
        "in-distribution perplexity": findings.metric("ppl", PBM, ORACLE, Measure()),
        "out-of-distribution perplexity": findings.perplexity(PBM, ORACLE, UNIFORM),
        "nDCG": findings.metric("ndcg", PBM, ORACLE, Measure()),
        "CMIP": findings.metric("cmip", PBM, ORACLE, Measure()),
        "CMIP by draws": findings.metric("cmip", PBM, ORACLE, Measure(cmip=DRAWS)),
        "CMIP, published estimator": findings.metric("cmip", PBM, ORACLE, Measure(cmip=PUBLISHED)),
    }
    names = findings.design.names
    intervals = {title: [over_runs(column) for column in table.T] for title, table in tables.items()}
    charts = []
    for title, each in intervals.items():
        series = tuple(bars(name, [place], [one]) for place, (name, one) in enumerate(zip(names, each, strict=True), 1))
        charts.append(Chart(f"Figure 2: {title}", "model", title, series))
    caption = f"PBM user, noisy oracle to uniform; means over runs ({_runs(findings.design)}), 95 % intervals"
    rows = dict(zip(names, zip(*intervals.values(), strict=True), strict=True))
    facts = _facts_2(names, {title: np.nanmean(table, axis=0) for title, table in list(tables.items())[:4]})
    return PAPER.section("figure 2", facts, charts, [_with_halves(caption, "model", tuple(tables), rows)])


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


def _runs(design: StudyDesign) -> str:
    """Return the number of runs in words."""
    return f"{design.runs}, of neural models {design.whole_runs}" if design.neural else f"{design.runs}"


def _measurements(findings: Findings) -> Figures:
    """Tabulate the data of the tables, as means over the runs."""
    rows = {}
    for user in findings.design.users:
        for logging in findings.design.logging:
            columns = [findings.perplexity(user, logging, test, how) for how in (False, True) for test in POLICIES]
            columns.append(findings.metric("ndcg", user, logging, Measure()))
            columns += [findings.metric("cmip", user, logging, Measure(cmip=name)) for name in ESTIMATORS]
            for index, name in enumerate(findings.design.names):
                rows[f"{name}: {user}, {logging}"] = tuple(over_runs(column[:, index]) for column in columns)
    titles = [f"{kind} on {test}" for kind in ("perplexity", "perplexity given the clicks above") for test in POLICIES]
    titles += ["nDCG", *(f"CMIP: {name}" for name in ESTIMATORS)]
    caption = f"Means over runs ({_runs(findings.design)}) with 95 % intervals"
    return _with_halves(caption, "model: user, logging policy", tuple(titles), rows)


def _with_halves(caption: str, first: str, titles: tuple[str, ...], rows: dict[str, tuple[Interval, ...]]) -> Figures:
    """Tabulate intervals in two columns each: the value and the half-width."""
    cells: list[tuple[Cell, ...]] = [
        (name, *(number for one in row for number in (one.value, one.high - one.value))) for name, row in rows.items()
    ]
    return Figures(caption, (first, *(f"{title}{end}" for title in titles for end in ("", ", \u00b1"))), tuple(cells))
