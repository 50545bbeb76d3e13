"""Table 1 of paper slate-pseudoinverse (section 4.2): NDCG@3 and ERR@3 of learnt rankers, over five folds.

`learning(design, judged, folder, say)` is its section, for the page of `offrank reproduce slates`; its expectations are
in `expected/slates-tables.json`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from offrank.errors import UsageError
from offrank.language import Say
from offrank.log.batch import Floats
from offrank.log.graded_queries import Judged
from offrank.report.document import Figures, Section
from offrank.simulation.judged_queries import mslr_like
from offrank.sums.estimate import Interval

from ..cmip.findings import over_runs
from ..expectations import Expectations
from ..resume import Found, own_folder, resumed
from .design import FLAT, MSLR_FEATURES, REWARDS, seed_of
from .learning import (
    CODE,
    ERR,
    EXACT,
    FOLDS,
    LAMBDAMART,
    NDCG,
    PI_OPT,
    SLOTS,
    SUP,
    SUP_RAW,
    TEXT,
    WORKERS,
    Experiment,
    LearningDesign,
    LearningFold,
)
from .rankers import parts
from .uniform_log import Pages, uniform_log

TABLES = Expectations.of("slates-tables")
RANDOM = "uniformly random"
VERSION = 1
"""To be increased whenever the results of a fold change: results of two versions are never mixed."""

_PUBLISHED = 10_000  # queries of MSLR-WEB10K

Results = Mapping[str, Mapping[str, Mapping[str, Floats]]]
"""Setting -> method -> reward -> values of the slates of all queries, each tested once [q]."""


def learning(design: LearningDesign, judged: Judged | None, folder: Path, say: Say) -> Section:
    """Return Table 1; finished folds are saved in the folder, so that the same call resumes.

    judged: the user's queries, of which at most `design.queries` are used; None to generate them.

    Raises:
        UsageError: fewer than 5 queries, or no grade above 0.
        MissingExtraError: LightGBM is not installed.
    """
    given, whole = judged is not None, _published(judged)
    judged = _queries(design, judged)
    pages = Pages.of(judged, SLOTS, max(float(judged.grade.max(initial=0.0)), 1.0))
    say(f"{design.slates * len(judged):,} uniformly random slates of {len(judged):,} queries")
    log = uniform_log(pages, design.slates * len(judged), seed_of(design.seed, "uniform") % 2**63, say)
    experiment = Experiment(pages, log, design)
    settings = {"version": VERSION, "learning": asdict(design), "digest": _digest(judged)}
    own = own_folder(folder, settings)
    found = resumed(FOLDS, own, experiment.run, say, WORKERS, lambda missing: say(experiment.price(missing)))
    results = _joined(experiment, found)
    facts = {
        **asdict(design),
        **_facts(results, log.means),
        "rows": judged.rows,
        "used": len(judged),
        "unseen": log.unseen,
        "short": int((judged.sizes < SLOTS).sum()),
        "slates in a fold": int(design.slates * len(experiment.trained(FOLDS[0]))),
        "signal": signal_share(experiment),
        "data": TABLES.content["texts"]["given" if given else "generated"],
    }
    return TABLES.section("learning", facts, tables=_tables(results, log.means, whole and len(judged) == _PUBLISHED))


def _published(judged: Judged | None) -> bool:
    """Whether the given queries can be the published collection, by its size and its features."""
    return judged is not None and len(judged) == _PUBLISHED and judged.features.shape[1] == MSLR_FEATURES


def _queries(design: LearningDesign, judged: Judged | None) -> Judged:
    if judged is None:
        return mslr_like(design.generated, design.documents, seed=design.seed)
    if len(judged) < len(FOLDS):
        raise UsageError(f"{len(judged)} queries cannot be divided into {len(FOLDS)} folds", "give more queries")
    if not judged.grade.max() > 0:
        raise UsageError("no document has a grade above 0, so that every page earns nothing", "give judged documents")
    if len(judged) <= design.queries:
        return judged
    chosen = parts(judged, len(judged), "queries", design.seed) < design.queries
    return judged.take(np.flatnonzero(chosen))


def _digest(judged: Judged) -> str:
    made = hashlib.sha256()
    for table in (judged.query, judged.first, judged.grade, judged.features):
        made.update(np.ascontiguousarray(table).reshape(-1).view(np.uint8).data)
    return made.hexdigest()[:16]


def _joined(experiment: Experiment, found: Mapping[LearningFold, Found]) -> Results:
    """Return the results of all folds, by query."""
    order = np.argsort(np.concatenate([experiment.tested(fold) for fold in FOLDS]), kind="stable")
    first = found[FOLDS[0]]
    return {
        setting: {
            method: {
                reward: np.concatenate([found[fold][setting][method][reward] for fold in FOLDS])[order]
                for reward in rewards
            }
            for method, rewards in methods.items()
        }
        for setting, methods in first.items()
    }


def signal_share(experiment: Experiment) -> float:
    """Return the share of signal in the variance of pi-opt's targets for NDCG: that of the exact phi.

    NDCG is a sum over slots, so that phi is known: gain x discount over the ideal DCG, up to constants per slot.
    """
    judged = experiment.pages.judged
    phi = np.zeros((judged.rows, SLOTS))
    documents = np.arange(judged.rows) - judged.first[judged.owner]
    for slot in range(SLOTS):
        alone = np.full((judged.rows, SLOTS), -1)
        alone[:, slot] = documents
        phi[:, slot] = experiment.pages.rewards(judged.owner, alone)[:, NDCG]
    by_slot = np.add.reduceat(phi, judged.first[:-1]) / judged.sizes[:, None]
    phi += (by_slot.mean(axis=1, keepdims=True) - by_slot)[judged.owner]
    long = (judged.sizes > SLOTS)[judged.owner]
    return float(phi[long].var() / experiment.action_rewards[NDCG][long].var())


def _facts(results: Results, uniform: Floats) -> dict[str, object]:
    """Return what the claims are about; gaps are of the same queries."""
    text, code = results[TEXT.name], results[CODE.name]

    def gap(one: str, other: str, reward: str) -> Interval:
        return over_runs(text[one][reward] - text[other][reward])

    ndcg, err = REWARDS[NDCG], REWARDS[ERR]
    random = {ndcg: float(uniform[:, NDCG].mean()), err: float(uniform[:, ERR].mean())}
    gained = {one: float(text[one][ndcg].mean()) - random[ndcg] for one in (PI_OPT, SUP)}
    return {
        "NDCG of PI-OPT less SUP": gap(PI_OPT, SUP, ndcg),
        "ERR of PI-OPT less SUP": gap(PI_OPT, SUP, err),
        "share of SUP's gain": gained[PI_OPT] / gained[SUP] if gained[SUP] > 0 else math.nan,
        "NDCG of gains less raw relevance": gap(SUP, SUP_RAW, ndcg),
        "ERR of gains less raw relevance": gap(SUP, SUP_RAW, err),
        "NDCG of LambdaMART less SUP": gap(LAMBDAMART, SUP, ndcg),
        "NDCG of LambdaMART less PI-OPT": gap(LAMBDAMART, PI_OPT, ndcg),
        "NDCG of exact less greedy": gap(EXACT, PI_OPT, ndcg),
        "ERR of exact less greedy": gap(EXACT, PI_OPT, err),
        "NDCG as in the code": over_runs(code[PI_OPT][FLAT] - code[SUP][FLAT]),
        "ERR as in the code": over_runs(code[PI_OPT][err] - code[SUP][err]),
        "random NDCG": random[ndcg],
    }


def _tables(results: Results, uniform: Floats, compared: bool) -> list[Figures]:
    """Return Table 1, and the same as in the published code."""
    text, code = ({**results[setting.name]} for setting in (TEXT, CODE))
    code = {LAMBDAMART: text[LAMBDAMART], **code}
    found = []
    for setting, methods in ((TEXT, text), (CODE, code)):
        random = {REWARDS[kind]: uniform[:, kind] for kind in setting.kinds}
        rows = {LAMBDAMART: methods[LAMBDAMART], RANDOM: random, **methods}
        cells = {name: [over_runs(each[REWARDS[kind]]) for kind in setting.kinds] for name, each in rows.items()}
        found.append(TABLES.table(f"learning, {setting.name}", cells, compared=compared))
    return found
