"""Intervals of click models, and of what is weighted by them: how often they hold the truth.

    python benchmarks/click_intervals.py dbn --logs 4 --write
    python benchmarks/click_intervals.py trust --logs 8 ...
    python benchmarks/click_intervals.py weights --logs 20 --users dbn ...
    python benchmarks/click_intervals.py direct [--models pbm dbn] [--scale .5]

`dbn` and `trust` are under sorted logging. A policy that knows relevance shows good documents high, and tells the less
of users the lower its temperature. Queries of 10 documents, 100 queries, users who follow the model that is fitted, and
three kinds of document:

- graded: grades in the proportions of MSLR, relevance .1 + .9 (2^g - 1) / 15, ranked by the grade and noise (sd .5).
- continuous: relevance from a Beta(1, 4) between .02 and .95, ranked by its logit and noise.
- apart: as continuous; satisfaction is drawn by itself, and the policy knows the product of both.

`silent` is the share of logs without the finding (`satisfaction-unknown`, `trust-unknown`), `covered` the share of true
values that 95 % intervals hold, over all logs and over the silent ones. `off`, of `hit`: the root mean square of the
errors of its logarithm below the first rank, each rank by its views; the mean over logs, and over the silent ones.
Of `trust` there are also shorter logs, with `hit` and `false` alone.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from _click_worlds import MODELS, RANKS, SHARES, WORLDS, Log
from _page import run
from _worlds import lists, table
from click_coverage import gathered
from numpy.typing import NDArray

import offrank
from offrank.clicks import Browsing, Cascading, ClickLaw, Fitted, Independent, click_model
from offrank.estimators import Direct, DoublyRobust, estimator

KINDS = ("graded", "continuous", "apart")
"""Of the tables on the page."""
QUERIES, SESSIONS = 100, 10_000
TABLES = {"dbn": ("satisfaction", "attraction", "continuation"), "trust": ("hit", "false", "attraction")}
FINDINGS = {"dbn": "satisfaction-unknown", "trust": "trust-unknown"}

Floats = NDArray[np.float64]


def sorted_log(
    model: str, kind: str, temperature: float, seed: int, sessions: int = SESSIONS, queries: int = QUERIES
) -> Log:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    shape = (queries, RANKS)
    grade = rng.choice(5, shape, p=SHARES)
    if kind == "graded":
        relevance, level = 0.1 + 0.9 * (2.0**grade - 1) / 15, grade.astype(float)
    else:
        relevance = np.clip(rng.beta(1, 4, shape), 0.02, 0.95)
        level = np.log(relevance / (1 - relevance))
    satisfaction = relevance / 2
    if kind == "apart":
        satisfaction = np.clip(rng.beta(2, 3, shape), 0.02, 0.95)
        level = np.log(relevance * satisfaction)
    score = level + 0.5 * rng.standard_normal(shape)
    query = rng.integers(0, queries, sessions)
    order = np.argsort(-(score[query] + temperature * rng.gumbel(size=(sessions, RANKS))), axis=1, kind="stable")
    seen, query = np.unique(query, return_inverse=True)
    document, worth = query[:, None] * RANKS + order, relevance[seen].ravel()
    law, truth = MODELS[model](worth, document)
    if kind == "apart" and model == "dbn":
        of_it = satisfaction[seen].ravel()
        gone = np.full(document.shape, 0.8)
        law, truth = Cascading(worth[document], gone * (1 - of_it[document]), gone), {**truth, "satisfaction": of_it}
    click = law.sample(rng).astype(np.uint8)
    return Log(document.astype(np.int32), query, click, truth, grade[seen].ravel(), score[seen].ravel())


def held(one: Log, fitted: Fitted, table: str) -> tuple[float, float, float]:
    """(mean error, share of the true values in their intervals, mean width)."""
    truth, (low, high) = one.truth[table], fitted.interval(table)
    known, size = np.isfinite(truth), len(truth)
    inside = (low[:size] <= truth) & (truth <= high[:size])
    error = fitted.learnt.parameters[table][:size] - truth
    return float(error[known].mean()), float(inside[known].mean()), float((high - low)[:size][known].mean())


def off(one: Log, fitted: Fitted, table: str) -> float:
    """Root mean square of the errors of the logarithm of `hit`, by views; NaN of other tables."""
    if table != "hit":
        return float("nan")
    truth, shown = one.truth[table][1:], (one.document[:, 1:] >= 0).sum(axis=0)
    error = np.log(fitted.learnt.parameters[table][1 : len(truth) + 1] / truth)
    return float(np.sqrt(error**2 @ shown / shown.sum()))


def sorted_logs(
    model: str, logs: int, kinds: tuple[str, ...], temperatures: tuple[float, ...], sizes: tuple[int, ...]
) -> Iterator[str]:
    size, more = (" sessions |", " off | off where silent |") if model == "trust" else ("", "")
    head = f"| model |{size} documents | temperature | silent | table | bias | width | covered | covered where silent |"
    yield head + more
    yield f"|---|{'--:|' * bool(size)}---|--:|--:|---|--:|--:|--:|--:|" + "--:|--:|" * bool(more)
    for sessions in sizes:
        for kind in kinds:
            for temperature in temperatures:
                yield from cell(model, sessions, kind, temperature, logs)


def cell(model: str, sessions: int, kind: str, temperature: float, logs: int) -> Iterator[str]:
    names = TABLES[model] if sessions == SESSIONS else TABLES[model][:2]
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in names}
    silent = []
    for seed in range(logs):
        one = sorted_log(model, kind, temperature, seed, sessions)
        fitted = click_model(model).of(gathered(one))
        silent.append(FINDINGS[model] not in {caution.code for caution in fitted.cautions})
        for name, rows in found.items():
            rows.append((*held(one, fitted, name), off(one, fitted, name)))
    for name, rows in found.items():
        each, quiet = np.array(rows), np.array(silent)
        where, far = (f"{each[quiet, place].mean():.2f}" if quiet.any() else "" for place in (1, 3))
        bias, covered, width, error = each.mean(axis=0)
        size = f" {sessions:,} |" if model == "trust" else ""
        head = f"| `{model}` |{size} {kind} | {temperature:g} | {quiet.mean():.2f}"
        more = f" {error:.2f} | {far} |".replace("nan", "") if model == "trust" else ""
        yield f"{head} | {name} | {bias:+.3f} | {width:.3f} | {covered:.2f} | {where} |" + more


ITEMS, ASKED_ABOUT = 6, 60
ASKED = ("pbm", "weights(pbm)", "weights(dbn)", "weights(ubm)")


@dataclass(frozen=True)
class World:
    """attraction, satisfaction, a, b: [queries, items] of each item, and the scores of both rankers."""

    users: str
    attraction: np.ndarray
    satisfaction: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, users: str, seed: int, likeness: float) -> World:
        rng = np.random.default_rng(seed)
        attraction = rng.beta(1.2, 3.0, (ASKED_ABOUT, ITEMS)) * 0.9 + 0.03
        satisfaction = np.clip(attraction + 0.2 * rng.standard_normal(attraction.shape), 0.05, 0.9)
        common = np.log(attraction) + rng.standard_normal(attraction.shape)
        a, b = (common + (1 - likeness) * rng.standard_normal(attraction.shape) for _ in range(2))
        return cls(users, attraction, satisfaction, a, b)

    def law(self, query: np.ndarray, slates: np.ndarray) -> ClickLaw:
        """How users click on slates [n, k] of items."""
        of, rank = self.attraction[query[:, None], slates], np.arange(ITEMS)
        if self.users == "pbm":
            return Independent(of / (1 + rank) ** 0.7)
        if self.users == "ubm":
            last = np.arange(ITEMS + 1)
            return Browsing(of, np.where(last <= rank[:, None], np.maximum(1.0 + rank[:, None] - last, 1) ** -0.6, 0.0))
        going = np.full(of.shape, 0.85)
        return Cascading(of, going * (1 - self.satisfaction[query[:, None], slates]), going)


def compared(world: World, sessions: int, seed: int) -> tuple[dict[str, tuple[float, float, float]], float]:
    """Estimator -> (error of B - A, its interval's low and high, both less the truth); and the truth."""
    rng = np.random.default_rng(seed)
    query = rng.integers(ASKED_ABOUT, size=sessions)
    arm = rng.integers(2, size=sessions)
    both = [np.argsort(-score, axis=1)[query] for score in (world.a, world.b)]
    truth = float(np.subtract(*(world.law(query, one).marginal().sum(axis=1).mean() for one in both[::-1])))
    slates = np.where(arm[:, None] == 1, both[1], both[0])
    clicks = world.law(query, slates).sample(rng)
    codes = query[:, None] * ITEMS + slates
    scores = {name: lists(score[query[:, None], slates]) for name, score in (("a", world.a), ("b", world.b))}
    log = table({"query": pa.array(query), "slate": lists(codes), "clicks": lists(clicks), **scores})
    means = [clicks[arm == one].sum(axis=1) for one in (0, 1)]
    away = float(means[1].mean() - means[0].mean()) - truth
    half = 1.96 * float(np.sqrt(sum(one.var(ddof=1) / len(one) for one in means)))
    found = {"difference of means": (away, away - half, away + half)}
    curve = offrank.clicks.PBM().fit(log).examination()
    assert curve is not None
    result = offrank.evaluate(
        log, {"b": "top(b)", "a": "top(a)"}, estimators=list(ASKED), examination=curve.tolist(), cluster=None
    )
    for name in ASKED:
        away = result.difference(("b", name), ("a", name))
        found[name] = away.value - truth, away.low - truth, away.high - truth
    return found, truth


def summary(found: list[dict[str, tuple[float, float, float]]], truth: float) -> list[str]:
    """A line per estimator."""
    lines = []
    means = np.array([one["difference of means"][0] for one in found])
    for name in found[0]:
        away, low, high = np.array([one[name] for one in found]).T
        saved = float((means**2).mean() / (away**2).mean())
        held = float(((low <= 0) & (high >= 0)).mean())
        lines.append(
            f"| `{name}` | {truth:+.4f} | {away.mean():+.4f} | {away.std(ddof=1):.4f} | {held:.2f} | {saved:.1f} |"
        )
    return lines


def rows(log: Log, sessions: np.ndarray, score: np.ndarray) -> pa.Table:
    """Some sessions of a log, each with the score of its items."""
    document = log.document[sessions]
    columns = {"slate": lists(document.astype(np.int64)), "clicks": lists(log.click[sessions])}
    scores = {"old": lists(log.score[document]), "new": lists(score[document])}
    return table({"query": pa.array(log.query[sessions]), **columns, **scores})


def estimates(log: Log, model: str, temperature: float, seed: int) -> Iterator[tuple[str, float, offrank.Estimate]]:
    """(name, error, estimate), with the doubt of the model and without it."""
    rng = np.random.default_rng(seed)
    score = log.grade + rng.standard_normal(len(log.grade))
    half = rng.permutation(len(log.click))
    learnt, judged = np.array_split(half, 2)
    fitted = click_model(model).fit(rows(log, learnt, score))
    bare = replace(fitted, learnt=replace(fitted.learnt, strength={}, loadings={}))
    best = np.argsort(-score.reshape(-1, RANKS), axis=1) + np.arange(0, len(score), RANKS)[:, None]
    law, _ = MODELS[users(model)](0.1 + 0.9 * (2.0**log.grade - 1) / 15, best)
    truth = float(law.marginal().sum(axis=1)[log.query[judged]].mean())
    logging = "uniform" if np.isinf(temperature) else f"plackett_luce(old, temperature={temperature:g}, log=True)"
    source = offrank.read_log(rows(log, judged, score))
    for kind, one in (("with", fitted), ("without", bare)):
        asked = every(one)
        found = offrank.evaluate(source, "top(new)", logging, list(asked.values()), cluster=None)
        for name, estimate in zip(asked, found.estimates.given.values(), strict=True):
            yield f"{name} {kind}", estimate.value - truth, estimate


def users(model: str) -> str:
    """The model of the users."""
    return model.partition("(")[0]


def every(model: Fitted) -> dict[str, Direct | DoublyRobust]:
    return {"direct": Direct(model), "dr(residual=ipm)": DoublyRobust(model, residual=estimator("ipm"))}


def dbn(*, logs: int = 20, temperatures: Sequence[float] = (1.0, 0.3, 0.1)) -> Iterator[str]:
    """Tables of `dbn` under sorted logging."""
    yield f"{logs} logs of each cell."
    yield ""
    yield from sorted_logs("dbn", logs, KINDS, tuple(temperatures), (SESSIONS,))


def trust(*, logs: int = 20, temperatures: Sequence[float] = (1.0, 0.3, 0.15, 0.1, 0.05)) -> Iterator[str]:
    """Tables of `trust` under sorted logging, of long and short logs."""
    yield f"{logs} logs of each cell."
    yield ""
    yield from sorted_logs("trust", logs, KINDS, tuple(temperatures), (SESSIONS, 2_000, 500))


def weights(
    *, logs: int = 40, sessions: int = 40_000, likeness: float = 0.5, users: Sequence[str] = ("dbn", "pbm", "ubm")
) -> Iterator[str]:
    """Clicks weighted by a click model, in A/B tests of two rankers that sort: error, coverage, sessions saved.

    Queries of a few items, each ranker an order by the grade with noise of its own, and half of the sessions each. What
    is asked is by how much B earns more than A: by the difference of means, by the curve (`pbm`, `weights(pbm)`) and by
    `weights(dbn)`, `weights(ubm)`, learnt from halves of the same log. Sessions saved: the squared error of the
    difference of means over that of the estimator.
    """
    heads = ("users", "estimator", "true B - A", "bias", "s.d.", "intervals that hold", "sessions saved")
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for name in users:
        world = World.of(name, 1, likeness)
        found = [compared(world, sessions, seed) for seed in range(logs)]
        truth = float(np.mean([one for _, one in found]))
        yield from (f"| {name} {line}" for line in summary([one for one, _ in found], truth))


def direct(
    *,
    logs: int = 50,
    models: Sequence[str] = ("pbm", "dbn", "pbm(attraction=linear, features=new)"),
    worlds: Sequence[str] = ("near-oracle", "sparse", "noisy", "uniform"),
    scale: float = 0.5,
) -> Iterator[str]:
    """Intervals of `direct` and `dr`, with and without the doubt of the click model.

    In the worlds of `_click_worlds` a model of the users' own kind is learnt from half of the sessions, `scale` times
    those of each world. From the other half follows what an order by another noisy score would have earned. Both halves
    have the same queries: `cluster=None`.
    """
    yield "| model | world | estimate | bias | sd | error, mean | covered with | without |"
    yield "|---|---|---|--:|--:|--:|--:|--:|"
    for model in models:
        for world in worlds:
            found: dict[str, list[tuple[float, float, bool]]] = {}
            for seed in range(logs):
                log = WORLDS[world].log(users(model), seed, scale)
                for name, error, one in estimates(log, model, WORLDS[world].temperature, seed):
                    truth = one.value - error
                    found.setdefault(name, []).append((error, one.standard_error, one.low <= truth <= one.high))
            for name in ("direct", "dr(residual=ipm)"):
                own, bare = (np.array(found[f"{name} {kind}"], float) for kind in ("with", "without"))
                numbers = [f"{own[:, 0].mean():+.4f}", f"{own[:, 0].std(ddof=1):.4f}", f"{own[:, 1].mean():.4f}"]
                numbers += [f"{one[:, 2].mean():.2f}" for one in (own, bare)]
                yield f"| `{model}` | {world} | `{name}` | {' | '.join(numbers)} |"


COMMANDS = {dbn: "sorted logging", trust: "sorted logging of trust", weights: "click weights", direct: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
