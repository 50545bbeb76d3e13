"""Paper slate-pseudoinverse, section 4.1 and appendix F: errors of estimators against the size of the log.

Two metrics, two spaces of slates and ten pairs of logging and target policies: 40 conditions, Figures 2 to 12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from offrank.errors import optional
from offrank.estimators.pseudoinverse.gamma import pseudoinverse
from offrank.language import Say
from offrank.log.graded_queries import Judged
from offrank.policies.plackett_luce import pair_probs
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Document, Figures, Section
from offrank.sums.estimate import Interval

from ..expectations import Expectations, Run, bars, by_columns
from .data import SlatesData
from .design import (
    BEYOND,
    CONTROLLED,
    DR_LASSO,
    ESTIMATORS,
    METRICS,
    MSLR_FEATURES,
    PUBLISHED,
    TARGETS,
    UNIFORM,
    Condition,
    Logging,
    SlatesDesign,
    Space,
    loggings,
)
from .findings import COMPARED, SlateFindings, by_both_ways, claims
from .learning import LearningDesign
from .overlap import overlap
from .resume import all_studies
from .table_1 import learning
from .worlds import by_rank

PAPER = Expectations.of("slates")
_DRAWN = (*PUBLISHED, CONTROLLED, DR_LASSO)
_WHOLE = 31_000  # queries of MSLR-WEB30K


def document(asked: Run) -> Document:
    """Return the reproduction; see the module. Finished studies are saved, so that the same call resumes."""
    table_1 = LearningDesign.of(asked.scale, asked.seed)
    return made(SlatesDesign.of(asked.scale, asked.seed), asked.log, asked.folder, asked.say, table_1)


def made(design: SlatesDesign, log: Any, folder: Path, say: Say, table_1: LearningDesign | None = None) -> Document:
    """Return the reproduction at any size, with Table 1 if it has a design."""
    optional("sklearn.tree", "the base rankers and the direct method need scikit-learn", "models")
    say("1. The judged queries")
    data = SlatesData.of(design, log, say)
    say(f"2. {len(design.studies())} simulated logs, each for 2 targets and 2 metrics")
    findings = SlateFindings(design, all_studies(data, folder, say))
    sections = list(_sections(data, findings, say))
    if table_1 is not None:
        say("4. Table 1: rankers learnt from rewards of whole slates")
        sections.append(learning(table_1, data.given, folder, say))
    return PAPER.to_document(sections)


def _sections(data: SlatesData, findings: SlateFindings, say: Say) -> Iterator[Section]:
    design = findings.design
    yield _set_up(data, findings)
    tables = [_summary(findings, PUBLISHED), _summary(findings, BEYOND)]
    facts = claims(findings)
    yield PAPER.section("claims", facts, tables=tables)
    yield PAPER.section("beyond", facts)
    charts = [_cdf(findings, space, metric, n) for n in findings.sizes[::-1] for space, metric in _kinds(design)]
    yield PAPER.section("cdf", charts=charts)
    figure = 3
    for space in design.spaces:  # Figures 3 and 4 are of uniform logging, the others follow space by space
        yield _panels(findings, space, UNIFORM, figure)
        figure += 1
    for space in design.spaces:
        for logging in loggings(space)[1:]:
            yield _panels(findings, space, logging, figure)
            figure += 1
    sets = data.sets[design.spaces[-1]]
    yield overlap(sets, _published(data.given))
    say("3. The published code and the text, side by side")
    yield _both_ways(findings)


def _published(judged: Judged | None) -> bool:
    """Whether the given queries can be the published collection, by its size and its features."""
    return judged is not None and len(judged) > _WHOLE and judged.features.shape[1] == MSLR_FEATURES


def _kinds(design: SlatesDesign) -> Iterator[tuple[Space, str]]:
    yield from ((space, metric) for space in design.spaces for metric in METRICS)


def _set_up(data: SlatesData, findings: SlateFindings) -> Section:
    design, texts = findings.design, PAPER.content["texts"]
    rows: list[tuple[Cell, ...]] = []
    for space, sets in data.sets.items():
        truths = [findings.truth(Condition(space, UNIFORM, target, metric)) for metric in METRICS for target in TARGETS]
        rows.append((str(space), len(sets.judged), float(sets.judged.sizes.mean()), *truths))
    titles = [f"{metric} of {target}" for metric in METRICS for target in TARGETS]
    table = Figures("Queries, and the true values", ("(m, l)", "queries", "mean candidates", *titles), tuple(rows))
    facts = {**asdict(design), "data": data.data, "source": texts["generated" if data.given is None else "given"]}
    facts |= {"last model": design.models[-1], "rows": data.rows}
    return PAPER.section("set-up", facts, tables=[table])


def _summary(findings: SlateFindings, names: tuple[str, ...]) -> Figures:
    """Tabulate the errors of some estimators at the largest size."""
    n, every = findings.design.grid[-1], findings.conditions
    columns: dict[str, list[Cell]] = {"condition": [str(one) for one in every]}
    for name in names:
        found = [findings.at(one, name, n) for one in every]
        columns |= {name: [one.value for one in found], f"{name}, \u00b1": [_half(one) for one in found]}
    if names == PUBLISHED:
        columns["lowest"] = [findings.best(one, n) for one in every]
        biases = [findings.bias(one) for one in every]
        columns |= {"bias of wPI": [one.value for one in biases], "its \u00b1": [_half(one) for one in biases]}
        columns["truth"] = [findings.truth(one) for one in every]
    return by_columns(f"RMSE at {n:,} logs, {findings.design.runs} runs, half of the 95 % interval", columns)


def _half(one: Interval) -> float | None:
    half = (one.high - one.low) / 2
    return half if math.isfinite(half) else None


def _panels(findings: SlateFindings, space: Space, logging: Logging, figure: int) -> Section:
    """Return one of Figures 3 to 12: both targets, both metrics."""
    some = [Condition(space, logging, target, metric) for target in TARGETS for metric in METRICS]
    facts = {"figure": figure, "logging": str(logging), "space": str(space)}
    return PAPER.section("panels", facts, [_chart(findings, one) for one in some], [_errors(findings, some)])


def _chart(findings: SlateFindings, one: Condition) -> Chart:
    series = []
    for name in _DRAWN:
        found = findings.rmse_at[one, name]
        known = [place for place, each in enumerate(found) if math.isfinite(each.value) and each.value > 0]
        sizes = [float(findings.design.grid[place]) for place in known]
        if sizes and all(math.isfinite(found[place].low) and found[place].low > 0 for place in known):
            series.append(_lined(bars(name, sizes, [found[place] for place in known])))
        elif sizes:
            series.append(Series(name, sizes, [found[place].value for place in known], line=True))
    return Chart(f"{one.metric}, target {one.target}", "logs", "RMSE", tuple(series), log_x=True, log_y=True)


def _lined(series: Series) -> Series:
    return Series(series.name, series.x, series.y, series.low, series.high, line=True)


def _errors(findings: SlateFindings, some: list[Condition]) -> Figures:
    """Tabulate all errors of some conditions, with the ends of their intervals."""
    rows: list[tuple[Cell, ...]] = []
    for one in some:
        for name in ESTIMATORS:
            for n, found in zip(findings.design.grid, findings.rmse_at[one, name], strict=True):
                if math.isfinite(found.value):
                    ends = (end if math.isfinite(end) else None for end in (found.low, found.high))
                    rows.append((name, one.target, one.metric, n, found.value, *ends))
    header = ("estimator", "target", "metric", "logs", "RMSE", "low", "high")
    return Figures("RMSE with 95 % intervals over the runs", header, tuple(rows), folded=True)


def _cdf(findings: SlateFindings, space: Space, metric: str, n: int) -> Chart:
    """Plot the share of conditions with at most some normalised error."""
    some = [one for one in findings.conditions if one.space == space and one.metric == metric]
    series = []
    for name in COMPARED:
        values = sorted(findings.normalised(one, n)[name] for one in some)
        x = [0.001, *(value for value in values for _ in range(2)), 1.0]
        y = [0.0, *(share / len(some) for place in range(len(some)) for share in (place, place + 1)), 1.0]
        series.append(Series(name, x, y, line=True))
    title = f"{metric}, {space}, {n:,} logs"
    return Chart(title, "normalised RMSE", "share of conditions", tuple(series), log_x=True, zero_y=True)


def _both_ways(findings: SlateFindings) -> Section:
    """Compare the published code with the text: discounts, wIPS without a match, the pseudoinverse."""
    titles = (
        "logging to target",
        "NDCG, text",
        "NDCG, code",
        "RMSE of wPI, text",
        "RMSE of wPI, code",
        "runs without a match",
        "RMSE of wIPS, 0 without a match (code)",
        "RMSE of wIPS, runs with a match",
    )
    tables = []
    for space in findings.design.spaces:
        rows = tuple((name, *numbers) for name, numbers in by_both_ways(findings, space))
        tables.append(Figures(f"{space}, {findings.design.grid[-1]:,} logs", titles, rows))
    return PAPER.section("both ways", {"runs": findings.design.runs}, tables=[*tables, _inverses(findings.design)])


def _inverses(design: SlatesDesign) -> Figures:
    """Compare weights by the pseudoinverse of SciPy before 1.7, used by the published code, with the exact ones."""
    titles, rows = ("(m, l)", "alpha", "largest difference", "largest weight"), list[tuple[Cell, ...]]()
    rng = np.random.default_rng(design.seed)
    for space in design.spaces:
        for alpha in (0.0, *space.alphas):
            gamma = pair_probs(by_rank(space.m, alpha), space.l)
            size = space.m * space.l
            slates = rng.permuted(np.tile(np.arange(space.m), (1_000, 1)), axis=1)[:, : space.l]
            shown = slates * space.l + np.arange(space.l)
            wanted = np.eye(size)[:, shown[0]]
            old = np.linalg.lstsq(gamma.reshape(size, size), wanted, rcond=np.finfo(float).eps)[0].sum(axis=1)
            exact = (pseudoinverse(gamma).matrix @ wanted).sum(axis=1)[shown].sum(axis=1)
            theirs = old[shown].sum(axis=1)
            rows.append((f"{space}", alpha, float(np.abs(theirs - exact).max()), float(np.abs(exact).max())))
    caption = "Weights of 1,000 slates, for one random target, by the published code's pseudoinverse"
    return Figures(caption, titles, tuple(rows))
