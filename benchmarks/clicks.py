"""Click models: what their examination curve is worth, what they lose on sparse logs, and what they take of memory.

python benchmarks/clicks.py curve [--logs 20] [--models pbm ubm] [--write]
python benchmarks/clicks.py sparse [--logs 10] [--sessions 500 60] ...
python benchmarks/clicks.py memory ...
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _click_worlds import RANKS, SHARES, WORLDS, Log
from _page import alone, markdown_head, markdown_row, measured, run
from _page import memory as peak
from numpy.typing import NDArray

import offrank
from offrank.clicks import Fitted, click_model
from offrank.clicks.click_counts import ClickCounts
from offrank.clicks.documents import Documents, SlateDocuments
from offrank.clicks.examined import initial_prior, mean_attraction, prior_of
from offrank.clicks.fit.posterior import Chances, Fixed, fit_attractions
from offrank.clicks.sessions import Sessions, Tally, TrainingData, collapsed
from offrank.language import silent

NAMES = ("near-oracle", "sparse", "noisy", "uniform")
WAYS = ("curve", "EM", "EM, then prior")
ROUNDS, SEEN = 200, 100
COLUMNS = ("examination", "log bias", "covered", "attraction", "CPU s")


def joint(data: ClickCounts) -> tuple[np.ndarray, np.ndarray]:
    """(attraction [documents], examination [cells]) by EM."""
    shown, clicked, documents, cells = data.shown, data.clicked, data.documents, data.cells
    a, e = np.full(documents, 0.2), np.full(cells, 0.5)
    views, (seen, _) = data.by_document()[0], data.by_cell()
    for _ in range(ROUNDS):
        at, of = a[data.document], e[data.cell]
        left = (shown - clicked) / (1 - at * of)
        attracted = np.bincount(data.document, clicked + left * at * (1 - of), documents)
        looked = np.bincount(data.cell, clicked + left * of * (1 - at), cells)
        a = (attracted + 1) / (views + 2)
        e = np.clip(looked / np.maximum(seen, 1e-9), 1e-6, 1 - 1e-6)
    return a, e


def learnt_by(task: tuple[str, str, int]) -> dict[str, Any]:
    """Errors of each way: world, model and seed of the log."""
    name, model, seed = task
    log = WORLDS[name].log(model, seed)
    made = click_model(model)
    size = len(log.truth["attraction"])
    sessions = Sessions(log.document, log.click, np.ones(len(log.click)), size)
    data = made.from_sessions(collapsed(sessions))
    found: dict[str, Any] = {"task": [name, model, seed]}
    begin = time.process_time()
    learnt = made.learn(data)
    seconds = time.process_time() - begin
    low, high = Fitted(made, Documents(np.arange(size)), learnt, Tally()).interval("examination")
    value = learnt.parameters["examination"]
    found["curve"] = [*errors(log, data, value, learnt.parameters["attraction"][:-1], (low, high)), seconds]
    begin = time.process_time()
    attraction, examination = joint(data)
    seconds = time.process_time() - begin
    scale = examination[0]
    found["EM"] = [*errors(log, data, examination / scale, attraction * scale), seconds]
    begin = time.process_time()
    relative = np.minimum(examination / scale, 1.0)
    prior = prior_of("fit", data)
    initial = initial_prior(prior, mean_attraction(data, relative))
    fixed = Fixed(Chances(relative, np.zeros(len(relative))))
    after = fit_attractions(data, fixed, prior, initial, tolerance=1e-5, say=silent)
    seconds += time.process_time() - begin
    found["EM, then prior"] = [*errors(log, data, relative, after.mean[:-1]), seconds]
    return found


def errors(
    log: Log,
    data: ClickCounts,
    curve: np.ndarray,
    attraction: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[float]:
    true, cells = log.truth["examination"], (data.by_cell()[0] >= SEEN) & np.isfinite(log.truth["examination"])
    away = np.abs(curve - true)[cells].mean()
    bias = np.log(np.maximum(curve[cells], 1e-6) / true[cells]).mean()
    covered = np.nan if ends is None else ((ends[0] <= true) & (true <= ends[1]))[cells].mean()
    return [float(away), float(bias), float(covered), float(np.abs(attraction - log.truth["attraction"]).mean())]


def curves(found: list[dict[str, Any]]) -> Iterator[str]:
    yield markdown_row("model", "world", "logs", "learnt by", *COLUMNS)
    yield "|---|---|--:|---|" + "--:|" * len(COLUMNS)
    for model in sorted({one["task"][1] for one in found}):
        for name in NAMES:
            mine = [one for one in found if one["task"][:2] == [name, model]]
            for way in WAYS if mine else ():
                each = np.array([one[way] for one in mine])
                mean, error = each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(len(each))
                covered = "" if np.isnan(mean[2]) else f"{mean[2]:.2f}"
                cells = [f"{mean[0]:.4f} ± {error[0]:.4f}", f"{mean[1]:+.3f}", covered]
                cells += [f"{mean[3]:.4f} ± {error[3]:.4f}", f"{mean[4]:.2f}"]
                yield markdown_row(f"`{model}`", name, len(mine), way, *cells)


SPARSE_SIZES = ((2_000, 2_000), (500, 500), (100, 300), (30, 60))
"""Queries and sessions."""
TEMPERATURES = (0.1, 1.0, np.inf)
KINDS = ("graded", "continuous", "alike")
HELD_OUT = 10_000
CURVE = 1.0 / np.arange(1, RANKS + 1)

Floats = NDArray[np.float64]


class SparseWorld:
    def __init__(self, kind: str, queries: int, temperature: float, seed: int) -> None:
        self.rng, self.temperature = np.random.default_rng([seed, KINDS.index(kind), queries]), temperature
        shape = (queries, RANKS)
        self.relevance = {
            "graded": 0.1 + 0.9 * (2.0 ** self.rng.choice(5, shape, p=SHARES) - 1) / 15,
            "continuous": np.clip(self.rng.beta(1, 4, shape), 0.02, 0.95),
            "alike": self.rng.beta(30, 120, shape),
        }[kind]
        logits = np.log(self.relevance / (1 - self.relevance)) if kind != "graded" else self.relevance * 4
        self.score = logits + 0.5 * self.rng.standard_normal(shape)

    def draw(self, sessions: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """([n, 10] documents, clicks)."""
        query = self.rng.integers(0, len(self.score), sessions)
        noise = self.rng.gumbel(size=(sessions, RANKS))
        score = noise if np.isinf(self.temperature) else self.score[query] + self.temperature * noise
        document = query[:, None] * RANKS + np.argsort(-score, axis=1, kind="stable")
        return document, self.rng.random(document.shape) < self.relevance.ravel()[document] * CURVE


def likelihood(
    fitted: Fitted, seen: NDArray[np.int64], document: NDArray[np.int64], click: NDArray[np.bool_]
) -> Floats:
    """[2] nats a session, of documents that were seen, and of others, which are unknown."""
    at = np.minimum(np.searchsorted(seen, document), len(seen) - 1)
    place = np.where(seen[at] == document, at, -1)
    chance = fitted.model.law(fitted.learnt.parameters, SlateDocuments(place, place >= -1)).conditional(click * 1.0)
    nats = np.log(np.where(click, chance, 1 - chance))
    return np.array([nats[place >= 0].sum(), nats[place < 0].sum()]) / len(click)


def lost(kind: str, size: tuple[int, int], temperature: float, models: list[str], seed: int) -> list[Floats]:
    """What each model loses to `rctr`: [2] on documents that were seen, and on others."""
    queries, sessions = size
    world = SparseWorld(kind, queries, temperature, seed)
    (shown, click), new = world.draw(sessions), world.draw(HELD_OUT)
    seen, document = np.unique(shown, return_inverse=True)
    document = document.reshape(shown.shape).astype(np.int32)
    whole = Sessions(document, click.astype(np.uint8), np.ones(sessions), len(seen), seen // RANKS)
    data = TrainingData(Documents(np.arange(len(seen))), collapsed(whole), Tally(sessions, ranks=RANKS))
    found = [likelihood(click_model(name).of(data), seen, *new) for name in ("rctr", *models)]
    return [found[0] - one for one in found[1:]]


def _sparse(models: list[str], logs: int, sizes: list[tuple[int, int]]) -> Iterator[str]:
    """The lines of a Markdown table: of each model the mean, then the most, then the mean on new documents."""
    yield markdown_row(
        "documents", "queries", "sessions", "temperature", *(f"`{one}` lost | at most | new" for one in models)
    )
    yield "|---|--:|--:|--:|" + "--:|--:|--:|" * len(models)
    for kind in KINDS:
        for size in sizes:
            for temperature in TEMPERATURES:
                each = np.array([lost(kind, size, temperature, models, seed) for seed in range(logs)])
                cells = [
                    f"{known.mean():+.4f} | {known.max():+.4f} | {new.mean():+.4f}"
                    for known, new in each.transpose(1, 2, 0)
                ]
                how = "random" if np.isinf(temperature) else f"{temperature:g}"
                yield markdown_row(kind, f"{size[0]:,}", f"{size[1]:,}", how, *cells)


REMEMBERED = ("dctr", "pbm", "ubm", "dbn")
ITEMS, SHOWN, VIEWS = 10, 5, 6


def write_log(path: Path, pairs: int) -> None:
    rng, queries = np.random.default_rng(0), pairs // ITEMS
    query = rng.integers(queries, size=queries * VIEWS)
    slates = query[:, None] * ITEMS + rng.random((len(query), ITEMS)).argsort(axis=1)[:, :SHOWN]
    attraction, examination = rng.beta(1, 3, pairs), 1 / np.arange(1, SHOWN + 1)
    clicks = (rng.random(slates.shape) < attraction[slates] * examination).astype(np.int8)
    ends = pa.array(np.arange(0, slates.size + 1, SHOWN, dtype=np.int32))
    named = (("slate", slates), ("clicks", clicks))
    columns = {name: pa.ListArray.from_arrays(ends, pa.array(one.ravel())) for name, one in named}
    pq.write_table(pa.table({"query": query, **columns}), path, row_group_size=50_000)


def remembered(model: str, log: Path, traced: bool) -> tuple[float, ...]:
    """The pairs, and bytes: the peak of memory, and of the files."""
    kind = offrank.clicks.click_model(model)
    few = [{"query": n % 3, "slate": [n % 4, 4, 5], "clicks": [n % 2, 0, 1]} for n in range(120)]
    kind.fit(few)  # what is compiled and imported is there
    before = peak()
    if traced:
        tracemalloc.start()
    fitted = kind.fit(log)
    pairs = len(fitted.documents)
    if traced:
        return pairs, tracemalloc.get_traced_memory()[1]
    found = [pairs, 2**20 * (peak() - before)]
    for name in ("model.json", "model.npz"):
        fitted.save(log.parent / name, overwrite=True)
        found.append((log.parent / name).stat().st_size)
    return tuple(found)


def curve(
    *, logs: int = 20, models: Sequence[str] = ("pbm", "ubm"), workers: int = 1, kept: Path | None = None
) -> Iterator[str]:
    """What the examination curve of `pbm` and `ubm` is worth beside plain EM.

    Logs of `_click_worlds`, whose users follow the model. `curve`: as the model learns (`fit_curve`, then the
    attractions under their fitted prior). `EM`: 200 rounds of joint EM of examination and attractions, each attraction
    under the prior Beta(1, 1). `EM, then prior`: the examination by that EM, then the attractions as the model learns
    them. Examination is relative to its first cell, over the cells with at least 100 impressions; `log bias` is the
    mean error of its logarithm, `covered` the share of 95 % intervals with the truth, which EM does not have.
    """
    tasks = [(name, model, seed) for seed in range(logs) for model in models for name in NAMES]
    found = [one for _, one in measured(learnt_by, tasks, workers, kept)]
    yield from curves(found)


def sparse(
    *, logs: int = 10, models: Sequence[str] = ("pbm", "ubm", "trust"), sessions: Sequence[int] = (2000, 500, 300, 60)
) -> Iterator[str]:
    """What position-based models lose to click rates by rank on sparse logs: held-out log-likelihood, nats a session.

    Of a few views a document, the worth of documents can be learnt only together; a model that believes single clicks,
    or takes them for examination, predicts new sessions worse than `rctr`, which knows no document. Queries of 10
    documents; users of a position-based model with relevance from grades, continuous, or nearly equal everywhere;
    policies by Plackett-Luce on the logit of relevance and noise. 10,000 new sessions of the policy. `lost` is what a
    model loses to `rctr` on documents that the log has shown: the mean over logs, and the most; below 0 it predicts
    better. `new` is the mean of what it loses on the others, in the same sessions.
    """
    yield f"{logs} logs of each."
    yield ""
    yield from _sparse(list(models), logs, [size for size in SPARSE_SIZES if size[1] in sessions])


def memory(*, pairs: int = 1_000_000, more: int = 3_000_000) -> Iterator[str]:
    """What a pair of query and item costs a click model: bytes of memory while it is learnt, and of its files.

    Each model is learnt by a process of its own from a log of 10 items for each query, of which 6 impressions show 5,
    in random orders. "Resident" is the growth of the peak of its resident memory (VmHWM) since before, with that of
    reading, "traced" the peak of what NumPy and Python have allocated by then, both divided by the pairs; "further" is
    what each pair of the larger log costs beyond the smaller, resident.
    """
    heads = ("traced", "resident", f"resident, of {more:,}", "further", "JSON", "`.npz`")
    yield from markdown_head("bytes of each pair", *heads)
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / f"{size}.parquet" for size in (pairs, more)]
        for log, size in zip(logs, (pairs, more), strict=True):
            write_log(log, size)
        for model in REMEMBERED:
            _, traced = alone(partial(remembered, model, logs[0], True))[0]
            (few, resident, *files), (many, larger, *_) = (
                alone(partial(remembered, model, log, False))[0] for log in logs
            )
            each = [one / few for one in (traced, resident, *files)]
            each[2:2] = [larger / many, (larger - resident) / (many - few)]
            yield markdown_row(f"`{model}`", *(f"{one:,.0f}" for one in each))


COMMANDS = {curve: "examination curves", sparse: "sparse logs", memory: "click memory"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
