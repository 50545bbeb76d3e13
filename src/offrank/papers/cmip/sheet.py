"""CMIP (Deffayet, Hager, Renders and de Rijke): Figures 1 and 2, Tables 1 and 2, simulated anew.

Four users, two logging policies, two test policies for each: 16 configurations; seven click models, several runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...clicks.neural.base import RecurrentModel
from ...clicks.neural.training import libraries
from ...report.sheet import Cell, Figures, Section, Sheet
from ...simulation.judged import Preset
from ..run import Run
from . import regression
from .design import POLICIES, Design
from .figures import PAPER, figure_1, figure_2, with_halves
from .findings import Findings, Measure, over_runs
from .ground import Grounds, Say
from .resume import all_studies
from .tables import regrets, table_1, table_2

_VARIANTS = {
    "published estimator of CMIP": Measure(method="paper"),
    "perplexity given the clicks above": Measure(conditional=True),
}


def sheet(asked: Run, preset: Preset = "paper") -> Sheet:
    """The reproduction; see the module. Its folder keeps what is done: interrupted, the same call goes on."""
    return made(Design.of(asked.scale, asked.seed, preset), asked.log, asked.folder, asked.say)


def made(design: Design, log: Any, folder: Path, say: Say) -> Sheet:
    """The reproduction at any size."""
    regression.trees()
    if any(isinstance(model, RecurrentModel) for model in design.made.values()):
        libraries()
    say("1. The judged queries")
    grounds = Grounds.of(design, log, say)
    say(f"2. {len(design.studies())} studies: simulated clicks, models that learn from them, perplexity, nDCG and CMIP")
    findings = Findings(design, all_studies(grounds, folder, say))
    say("3. Regression trees and regrets")
    return PAPER.sheet(
        _sections(grounds, findings, say), "" if design.preset == "paper" else ", as in the published code"
    )


def _sections(grounds: Grounds, findings: Findings, say: Say) -> Iterator[Section]:
    yield _set_up(grounds)
    yield figure_1(findings)
    yield figure_2(findings)
    rows = regression.table_1(findings, Measure(), say)
    others = {name: regression.table_1(findings, measure, say) for name, measure in _VARIANTS.items()}
    yield table_1(rows, others, findings.design.runs * len(findings.design.names))
    variants = {name: regrets(findings, measure) for name, measure in _VARIANTS.items()}
    yield table_2(findings, regrets(findings, Measure()), variants)
    yield PAPER.section("measurements", tables=[_measurements(findings)])


def _set_up(grounds: Grounds) -> Section:
    design, texts = grounds.design, PAPER.content["texts"]
    rows: list[tuple[Cell, ...]] = []
    for documents, ground in grounds.found.items():
        scores = ground.scores(design.preset, 0)
        strength = [ground.ndcg(scores[name]) for name in POLICIES[:2]]
        rows.append((f"{documents}", len(ground.judged), ground.dropped, *strength))
    strengths = (f"nDCG of {name}" for name in POLICIES[:2])
    header = ("documents per query", "queries", "dropped for having fewer", *strengths)
    few = texts["few"] if design.trees < 100 else ""
    facts = {**asdict(design), "data": grounds.data, "how": texts[design.preset], "few": few}
    table = Figures("Judged queries and logging policies", header, tuple(rows))
    return PAPER.section("set-up", facts, tables=[table])


def _measurements(findings: Findings) -> Figures:
    """Everything that the tables are made from, as means over the runs."""
    rows = {}
    for user in findings.design.users:
        for logging in findings.design.logging:
            columns = [findings.perplexity(user, logging, test) for test in POLICIES]
            columns += [findings.perplexity(user, logging, test, conditional=True) for test in POLICIES]
            columns.append(findings.metric("ndcg", user, logging, Measure()))
            columns += [findings.metric("cmip", user, logging, Measure(method=name)) for name in ("binned", "paper")]
            for index, name in enumerate(findings.design.names):
                rows[f"{name}: {user}, {logging}"] = [over_runs(column[:, index]) for column in columns]
    titles = [f"{kind} on {test}" for kind in ("perplexity", "perplexity given the clicks above") for test in POLICIES]
    titles += ["nDCG", "CMIP", "CMIP, published estimator"]
    caption = f"Means over {findings.design.runs} runs with 95 % intervals"
    return with_halves(caption, "model: user, logging policy", tuple(titles), rows)
