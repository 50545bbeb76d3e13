"""CMIP (Deffayet, Hager, Renders and de Rijke): Figures 1 and 2, Tables 1 and 2, simulated anew.

Four users, two logging policies, two test policies for each: 16 configurations; seven click models, several runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...clicks.neural.base import RecurrentModel
from ...clicks.neural.training import libraries
from ...report.sheet import Cell, Figures, Section, Sheet
from ...simulation.judged import Preset
from . import choice, prose, regression, table_1, table_2
from .design import POLICIES, Design
from .figures import figure_1, figure_2
from .findings import Findings, Measure, over_runs
from .ground import Grounds, Say
from .resume import all_studies

_VARIANTS = {
    "published estimator of CMIP": Measure(method="paper"),
    "perplexity given the clicks above": Measure(conditional=True),
}


def sheet(*, log: Any, folder: Path, scale: float, seed: int, say: Say, preset: Preset = "paper") -> Sheet:
    """The reproduction; see the module. log: an MSLR fold folder, an SVMlight file, or None for generated queries.

    folder: where what is done is kept, so that the same call goes on where it was interrupted.
    """
    return made(Design.of(scale, seed, preset), log, folder, say)


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
    title = "Debiasedness of click models" + ("" if design.preset == "paper" else ", as in the published code")
    return Sheet(title, prose.LEAD, tuple(_sections(grounds, findings, say)))


def _sections(grounds: Grounds, findings: Findings, say: Say) -> Iterator[Section]:
    yield _set_up(grounds)
    yield figure_1(findings)
    yield figure_2(findings)
    rows = regression.table_1(findings, Measure(), say)
    others = {name: regression.table_1(findings, measure, say) for name, measure in _VARIANTS.items()}
    yield table_1.section(rows, others, findings.design.runs * len(findings.design.names))
    regrets = {name: choice.table_2(findings, measure) for name, measure in _VARIANTS.items()}
    yield table_2.section(findings, choice.table_2(findings, Measure()), regrets)
    yield Section("All measurements", tables=(_measurements(findings),))


def _set_up(grounds: Grounds) -> Section:
    design = grounds.design
    rows: list[tuple[Cell, ...]] = []
    for documents, ground in grounds.found.items():
        scores = ground.scores(design.preset, 0)
        strength = [ground.ndcg(scores[name]) for name in POLICIES[:2]]
        rows.append((f"{documents}", len(ground.judged), ground.dropped, *strength))
    header = (
        "documents per query",
        "queries",
        "dropped for having fewer",
        *(f"nDCG of {name}" for name in POLICIES[:2]),
    )
    return Section(
        "Set-up", prose.set_up(grounds), tables=(Figures("Judged queries and logging policies", header, tuple(rows)),)
    )


def _measurements(findings: Findings) -> Figures:
    """Everything that the tables are made from, as means over the runs."""
    rows: list[tuple[Cell, ...]] = []
    for user in findings.design.users:
        for logging in findings.design.logging:
            columns = [findings.perplexity(user, logging, test) for test in POLICIES]
            columns += [findings.perplexity(user, logging, test, conditional=True) for test in POLICIES]
            columns.append(findings.metric("ndcg", user, logging, Measure()))
            columns += [findings.metric("cmip", user, logging, Measure(method=name)) for name in ("binned", "paper")]
            for index, name in enumerate(findings.design.names):
                each = [over_runs(column[:, index]) for column in columns]
                numbers = [number for one in each for number in (one.value, one.high - one.value)]
                rows.append((f"{name}: {user}, {logging}", *numbers))
    titles = [f"{kind} on {test}" for kind in ("perplexity", "perplexity given the clicks above") for test in POLICIES]
    titles += ["nDCG", "CMIP", "CMIP, published estimator"]
    header = ("model: user, logging policy", *(f"{title}{end}" for title in titles for end in ("", ", \u00b1")))
    caption = f"Means over {findings.design.runs} runs with 95 % intervals"
    return Figures(caption, header, tuple(rows))
