"""Bias of every table of every click model, and how often its 95 % intervals hold the truth, over logs of known users.

Six worlds (see `_click_worlds`): a policy that nearly knows the grades, with many sessions of each query
(`near-oracle`: 20,000 of 100 queries) and few (`sparse`: 6,000 of 300); 10,000 sessions of 100 queries with a `noisy`
policy (T = 1), `uniform` orders, one `fixed` ranking of each query, and `cascading` users (T = .3). Entries that
convention fixes are left out. Documents are split by thirds of their mean logged rank (top, middle, bottom), and in
halves by their sessions (few, many). `harvest` is the examination curve of `harvest_clicks`, of users of `pbm`. What
is measured is appended to the file `--kept`, from which a later run goes on: begin it afresh when the code has changed.

    python benchmarks/click_coverage.py [--logs 200] [--worlds noisy fixed] [--models dbn pbm] [--scale 1] [--cmip]
        [--workers 2] [--kept FILE] [--write]
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offrank.language.formatting import percent

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa
from _click_worlds import MODELS, RANKS, WORLDS, Log
from _page import markdown_row, measured, run
from _worlds import lists
from _worlds import table as table_of

import offrank
from offrank.clicks import Fitted, click_model
from offrank.clicks.chain_uncertainty import moving
from offrank.clicks.documents import Documents
from offrank.clicks.sessions import Sessions, Tally, TrainingData, collapsed
from offrank.errors import SupportError
from offrank.metrics.cmip_models import cmip_of_relevance, views
from offrank.sums.estimate import Caution

GROUPS = ("all", "top", "middle", "bottom", "few", "many")
Task = tuple[str, str, int, float, bool]
"""World, model, seed, scale, and whether to measure CMIP."""
Measured = dict[str, Any]
"""One log: world, model, seed, scale, seconds, codes of the cautions, and `tables`: name -> group -> (number of entries
with a known truth, mean error, mean absolute error, share covered, mean width)."""


def gathered(log: Log) -> TrainingData:
    """The log as a pass over it would have gathered it."""
    documents = len(log.grade)
    whole = Sessions(log.document, log.click, np.ones(len(log.click)), documents, np.arange(documents) // RANKS)
    sessions = collapsed(whole)
    return TrainingData(Documents(np.arange(documents)), sessions, Tally(len(log.click), ranks=RANKS))


def groups(log: Log) -> dict[str, np.ndarray]:
    """[d] which documents are in each group but "all"."""
    shown = np.bincount(log.document.ravel())
    rank = np.bincount(log.document.ravel(), np.tile(np.arange(RANKS), len(log.document))) / shown
    places = np.argsort(np.argsort(rank, kind="stable")) * 3 // len(rank)
    many = shown > np.median(shown)
    return {name: places == place for place, name in enumerate(GROUPS[1:4])} | {"few": ~many, "many": many}


def summary(truth: np.ndarray, value: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[float]:
    known = np.isfinite(truth)
    if not known.any():
        return [0, 0.0, 0.0, 0.0, 0.0]
    error = (value - truth)[known]
    covered = ((low <= truth) & (truth <= high))[known]
    means = (part.mean() for part in (error, np.abs(error), covered, (high - low)[known]))
    return [int(known.sum()), *(round(float(mean), 6) for mean in means)]


def measure(log: Log, fitted: Fitted) -> dict[str, dict[str, list[float]]]:
    """The groups of each table that has an interval and a truth."""
    found, split = {}, groups(log)
    for name in {**fitted.learnt.strength, **fitted.learnt.loadings}:
        if name not in log.truth:
            continue
        truth, (low, high), size = log.truth[name], fitted.interval(name), len(log.truth[name])
        parts = [truth, *(table[:size] for table in (fitted.learnt.parameters[name], low, high))]
        found[name] = {"all": summary(*parts)}
        if size == len(log.grade):
            found[name] |= {group: summary(*(part[which] for part in parts)) for group, which in split.items()}
    return found


def above_floor(log: Log, fitted: Fitted, seed: int) -> tuple[list[float], list[str]]:
    """CMIP of a right model above its floor, whose truth is 0; `convicted` where it is found biased nevertheless."""
    documents = np.arange(len(log.grade))
    seen = [one.model.relevance(one.learnt.parameters, documents) for one in views(fitted, "draws", seed)]
    columns = (np.stack(seen, axis=1), documents, log.score, log.grade.astype(float))
    found = cmip_of_relevance(fitted, *columns, seed=seed, permutations=None, cluster=documents // RANKS)
    excess = found.excess
    if excess is None:
        return [0, 0.0, 0.0, 0.0, 0.0], []
    ends = (np.array([end]) for end in (0.0, excess.value, excess.low, excess.high))
    return summary(*ends), ["convicted"] * bool(found.biased)


def harvested(log: Log) -> tuple[dict[str, dict[str, list[float]]], list[str]]:
    """The examination curve by intervention harvesting."""
    columns = {"query": pa.array(log.query), "slate": lists(log.document), "clicks": lists(log.click)}
    try:
        found = offrank.harvest_clicks(table_of(columns)).found
    except SupportError:  # as it should, where rankings do not vary
        return {}, ["refused"]
    linked = np.isfinite(found.curve) & np.isfinite(found.high)
    truth = np.where(linked, log.truth["examination"], np.nan)
    return {"examination": {"all": summary(truth, found.curve, found.low, found.high)}}, codes(found.cautions)


def codes(cautions: Iterable[Caution]) -> list[str]:
    return sorted({caution.code for caution in cautions})


def fitted_to(task: Task) -> Measured:
    """What is measured of one log."""
    world, model, seed, scale, cmip = task
    log = WORLDS[world].log(model, seed, scale)
    about = {"world": world, "model": model, "seed": seed, "scale": scale, "cmip": cmip}
    data, start = gathered(log), time.process_time()
    if model == "harvest":
        tables, said = harvested(log)
        return {**about, "seconds": time.process_time() - start, "cautions": said, "tables": tables}
    fitted = click_model(model).of(data)
    seconds, said = time.process_time() - start, codes(fitted.cautions)
    tables = measure(log, fitted)
    if cmip and model not in ("gctr", "rctr"):
        tables["CMIP above its floor"] = {}
        tables["CMIP above its floor"]["all"], convicted = above_floor(log, fitted, seed)
        said = [*said, *convicted]
    return {**about, "seconds": round(seconds, 3), "cautions": said, "tables": tables}


@dataclass(frozen=True)
class Row:
    """One table of one model in one world, over several logs."""

    logs: Sequence[Measured]
    table: str

    def mean(self, group: str, place: int) -> float:
        """The mean over logs, each by its number of entries; place: 1 error, 2 absolute, 3 covered, 4 width."""
        found = np.array([log["tables"][self.table][group] for log in self.logs if self.table in log["tables"]])
        return float(np.average(found[:, place], weights=found[:, 0])) if found[:, 0].any() else np.nan

    def cells(self) -> list[str]:
        """Bias by rank, absolute error, width, coverage by group, and how often each caution came."""
        of_documents = "top" in self.logs[0]["tables"][self.table]
        each = [group if of_documents or group == "all" else "" for group in GROUPS]
        codes = [code for log in self.logs for code in log["cautions"]]
        said = ", ".join(f"{code} {percent(codes.count(code) / len(self.logs), 0)}" for code in sorted(set(codes)))
        spread = [f"{self.mean('all', place):.3f}" for place in (2, 4)]
        return [*self.by(each[:4], 1, "+.3f"), *spread, *self.by(each, 3, ".2f"), said]

    def by(self, each: Sequence[str], place: int, form: str) -> list[str]:
        return [f"{self.mean(group, place):{form}}".replace("nan", "") if group else "" for group in each]


def table(found: Sequence[Measured]) -> Iterator[str]:
    """The lines of a Markdown table."""
    heads = ["model", "table", "world", "bias", "top", "middle", "bottom", "error", "width", "covered", "top", "middle"]
    yield markdown_row(*heads, "bottom", "few", "many", "cautions")
    yield "|---|---|---|" + "--:|" * 12 + "---|"
    for model in MODELS:
        mine = [one for one in found if one["model"] == model]
        for name in dict.fromkeys(name for one in mine for name in one["tables"]):
            for world in WORLDS:
                logs = [one for one in mine if one["world"] == world and name in one["tables"]]
                if logs:
                    yield markdown_row(f"`{model}`", name, world, *Row(logs, name).cells())


def shares(worlds: Iterable[str]) -> Iterator[str]:
    """How much documents change places in the first log of each world, by which `satisfaction-unknown` goes."""
    each = (f"`{name}` {moving(gathered(WORLDS[name].log('pbm', 0)).data):.2f}" for name in worlds)
    yield f"Share of the variance of ranks that is within documents, in the first log of each: {', '.join(each)}."


def coverage(
    *,
    logs: int = 200,
    worlds: tuple[str, ...] = tuple(WORLDS),
    models: tuple[str, ...] = tuple(MODELS),
    scale: float = 1.0,
    cmip: bool = False,
    workers: int = 1,
    kept: Path | None = None,
) -> Iterator[str]:
    """A line for each table of each model in each world.

    scale: of the sessions of each world. cmip: CMIP too, which a right model should not exceed.
    """
    tasks = [(world, model, seed, scale, cmip) for seed in range(logs) for model in models for world in worlds]
    found = [one for _, one in measured(fitted_to, tasks, workers, kept)]
    yield f"{logs} logs of each world, {scale:g} times its sessions."
    yield from shares(worlds)
    yield ""
    yield from table(found)


COMMANDS = {coverage: "click coverage"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
