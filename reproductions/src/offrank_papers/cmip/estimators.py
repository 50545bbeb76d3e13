"""CMIP of point estimates beside CMIP by posterior draws, and both with fewer sessions a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from offrank.language import Say
from offrank.language.formatting import finite
from offrank.log.batch import Floats
from offrank.report.document import Cell, Figures, Section
from offrank.selection.strategies import BEST
from offrank.sums.estimate import Interval

from ..expectations import times
from .design import ORACLE, PBM
from .findings import PAPER, Findings, Measure, over_runs, spearman
from .regressions import regressed
from .study import DRAWS, POINTS
from .tables import HEADER, Regrets, Rows, means, of_runs, regrets

SHOWN = ("ppl", "cmip", BEST)
"""The strategies whose regret is shown beside the regressions."""


def estimators(findings: Findings, rows: Mapping[str, Rows], found: Mapping[str, Regrets]) -> Section:
    """Return which estimator of CMIP is better, against perplexity elsewhere and by regret."""
    lines = [_line(name, findings, rows[name], found[name], Measure(cmip=name)) for name in rows]
    table = Figures("CMIP by estimator", _header("estimator", findings.design.names), tuple(lines))
    agree = {name: _agreement(findings, Measure(cmip=name)) for name in rows}
    alone, joint = (
        over_runs(means(rows[DRAWS])[:, place] - means(rows[POINTS])[:, place])
        for place in (HEADER.index("CMIP"), HEADER.index("joint"))
    )
    order = over_runs(agree[DRAWS] - agree[POINTS])
    regret = {by: over_runs(of_runs(found[DRAWS][by]) - of_runs(found[POINTS][by])) for by in SHOWN[1:]}
    facts: dict[str, Any] = {
        "better alone": _better(alone),
        "better jointly": _better(joint),
        "better order": _better(order),
        "better choices": {f"`{by}`:": _better(times(-1.0, more)) for by, more in regret.items()},
        "R^2 gained": alone,
        "R^2 gained jointly": joint,
        "agreement of points": over_runs(agree[POINTS]),
        "agreement of draws": over_runs(agree[DRAWS]),
        "agreement gained": order,
        "regret added": {f"`{by}`:": more for by, more in regret.items()},
        "ratio by points": _ratio(findings, POINTS),
        "ratio by draws": _ratio(findings, DRAWS),
    }
    return PAPER.section("estimators", facts, tables=[table])


def _better(gained: Interval) -> str:
    """Return in words which is better, given by how much draws are better."""
    return "draws" if min(gained.low, gained.high) > 0 else "points" if max(gained.low, gained.high) < 0 else "neither"


def sessions(findings: Findings, say: Say) -> Section:
    """Return the classic models' results by the number of sessions a query."""
    design, lines = findings.design, []
    facts: dict[str, Any] = {}
    for size in sorted({design.sessions, *design.fewer}):
        say(f"regressions for {size} sessions a query")
        fewer = findings.of_sessions(size)
        for name in (POINTS, DRAWS):
            measure = Measure(cmip=name)
            rows, found = regressed(fewer, measure, lambda _: None), regrets(fewer, measure)
            lines.append(_line(f"{size}, {name}", fewer, rows, found, measure))
            average = dict(zip(HEADER, means(rows).mean(axis=0), strict=True))
            kind = "fewest" if size == min(design.fewer, default=0) else "usual" if size == design.sessions else ""
            if kind:
                facts |= {f"{kind} {title}, {name}": value for title, value in average.items()}
                facts[f"{kind} CMIP of the PBM, {name}"] = over_runs(_of(fewer, "pbm", measure))
    facts |= {"least": min(design.fewer, default=0), "sessions": design.sessions, "classic": len(design.models)}
    table = Figures(
        "Classic models, by sessions a query and estimator of CMIP",
        _header("sessions", design.classic.names),
        tuple(lines),
    )
    return PAPER.section("sessions", facts, tables=[table] if design.fewer else [])


def _header(first: str, models: tuple[str, ...]) -> tuple[str, ...]:
    scores = (f"R^2 of {title}" for title in HEADER)
    return (
        first,
        *scores,
        "rank correlation",
        *(f"regret of {by}" for by in SHOWN),
        *(f"CMIP of {model}" for model in models),
    )


def _line(name: str, findings: Findings, rows: Rows, found: Regrets, measure: Measure) -> tuple[Cell, ...]:
    scores = means(rows).mean(axis=0).tolist()
    regret = [float(of_runs(found[by]).mean()) for by in SHOWN]
    each = [float(np.nanmean(_of(findings, model, measure))) for model in findings.design.names]
    return (name, *map(finite, [*scores, float(_agreement(findings, measure).mean()), *regret, *each]))


def _agreement(findings: Findings, measure: Measure) -> Floats:
    """Return the rank correlation of CMIP and perplexity elsewhere over the models of a run, by configuration."""
    return np.array([np.mean(list(_within_runs(findings, *row, measure))) for row in findings.configurations()])


def _within_runs(findings: Findings, user: str, logging: str, test: str, measure: Measure) -> Iterator[float]:
    cmip, outcome = findings.metric("cmip", user, logging, measure), findings.perplexity(user, logging, test)
    for one, other in zip(cmip, outcome, strict=True):
        learnt = np.isfinite(one)
        yield spearman(one[learnt], other[learnt])


def _of(findings: Findings, model: str, measure: Measure) -> Floats:
    """Return the CMIP of a model where the PBM user saw the oracle's rankings [runs]."""
    user = PBM if PBM in findings.design.users else findings.design.users[0]
    return findings.metric("cmip", user, ORACLE, measure)[:, findings.design.names.index(model)]


def _ratio(findings: Findings, name: str) -> float:
    """Return how many times DCTR's CMIP exceeds that of the PBM, whose user is one."""
    wrong, right = (_of(findings, model, Measure(cmip=name)).mean() for model in ("dctr", "pbm"))
    return float(wrong / max(right, 1e-3))
