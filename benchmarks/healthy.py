"""What is said of logs that nothing is wrong with, and intervals of rows that depend on each other.

python benchmarks/healthy.py clusters [--logs 1000]
python benchmarks/healthy.py counted [--logs 40]
python benchmarks/healthy.py repeats [--logs 40]
python benchmarks/healthy.py weights [--logs 60]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, run
from _worlds import TARGETS, World, lists, world

import offrank
from offrank.findings.odd_mean import refuting
from offrank.inference import Inference, tail_index
from offrank.inference.pareto import odd_weights, unseen
from offrank.simulation import SearchWorld
from offrank.sums import BootstrapFold, Interval, Moments, NamedColumns, Sample, Sums, ratio
from offrank.sums.clusters import Clusters

PER_QUERY = 30
QUERIES = (20, 50, 100, 300)
PER_CONTEXT = (10, 20, 40, 80, 160)
DOCUMENTS = ((6, 4), (10, 5))
ESTIMATES = {"ips": ratio(1, 0), "snips": ratio(1, 2)}
SIGMA = 1.0
"""Of the log weights."""
NAMES = ("ipm", "snipm", "interpol(window=1)")


def sizes(kind: str, queries: int) -> np.ndarray:
    """Impressions of each query, some 30 on average."""
    share = np.ones(queries) if kind == "equal" else 1 / np.arange(1, queries + 1)
    return np.maximum(1, np.round(PER_QUERY * queries * share / share.sum())).astype(int)


def rise(weight: np.ndarray) -> np.ndarray:
    """How clicks rise with the weight: the target shows what is clicked more."""
    return 0.5 + weight / (1 + weight)


def clustered_rows(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[n, 3] one, weighted click and weight of each impression."""
    rate = np.repeat(rng.beta(1.5, 4.0, size=len(rows)), rows)
    weight = np.exp(SIGMA * rng.normal(size=rows.sum()) - SIGMA**2 / 2)
    click = rng.random(len(weight)) < rate * rise(weight)
    return np.stack([np.ones(len(weight)), weight * click, weight], axis=1)


def truth() -> float:
    """The mean click rate times E[weight rise(weight)], by quadrature."""
    z, share = np.polynomial.hermite_e.hermegauss(80)
    weight = np.exp(SIGMA * z - SIGMA**2 / 2)
    return 1.5 / 5.5 * float((share * weight * rise(weight)).sum()) / math.sqrt(2 * math.pi)


def spreads(values: np.ndarray, rows: np.ndarray) -> dict[str, Inference]:
    """What the three kinds of intervals are made from."""
    extremes = values.min(axis=0), values.max(axis=0)
    moments = Moments(len(values), values.mean(axis=0), (len(values) - 1) * np.cov(values.T), *extremes)
    sums_of_log = Sums(NamedColumns((0, 1, 2)), moments)
    sums = np.add.reduceat(values, np.cumsum(rows) - rows)
    fold = BootstrapFold()
    drawn = fold.of(Sample.of(sums, np.arange(len(rows), dtype=np.uint64)))
    clusters = Clusters("query", sums, rows.astype(float), len(rows), drawn)
    return {
        "rows alone": Inference(sums_of_log, "normal", 0.95),
        "normal": Inference(sums_of_log, "normal", 0.95, (clusters,)),
        "studentised": Inference(sums_of_log, "studentised", 0.95, (clusters,)),
        "bootstrap": Inference(sums_of_log, "bootstrap", 0.95, (clusters,)),
    }


def clusters(*, logs: int = 1000) -> Iterator[str]:
    """How often 95 % intervals hold the truth where rows depend on each other.

    Queries differ in their click rate, and have 30 impressions each, or sizes 1, 1/2, 1/3, ... of it (Zipf). The
    importance weights are heavy (log-normal; 100 impressions are worth 37) and clicks rise with them. The truth is the
    mean over queries of this kind.
    """
    yield f"Coverage of 95 % intervals of clusters, {logs:,} logs" + "\n"
    yield from markdown_head(
        "sizes", "queries", "effective", "design effect", *(f"{e}: {i}" for e in ESTIMATES for i in _KINDS)
    )
    wanted, least = truth(), 1.0
    for kind in ("equal", "zipf"):
        for queries in QUERIES:
            rows, held = sizes(kind, queries), np.zeros((len(ESTIMATES), len(_KINDS)))
            effective, effect = [], []
            for seed in range(logs):
                made = spreads(clustered_rows(rows, np.random.default_rng([seed, queries])), rows)
                for place, mean in enumerate(ESTIMATES.values()):
                    found = [one.interval(mean) for one in made.values()]
                    held[place] += [one.low <= wanted <= one.high for one in found]
                effective.append(1 + made["normal"].clusters[0].freedom([0]))
                effect.append(made["normal"].design_effect(ESTIMATES["snips"], made["normal"].clusters[0]))
            cells = [f"{share / logs:.3f}" for share in held.ravel()]
            least = min(least, *(held[:, 1:] / logs).ravel())
            yield markdown_row(kind, str(queries), f"{np.mean(effective):.0f}", f"{np.mean(effect):.1f}", *cells)
    yield "\n" + f"least of those by clusters: {least:.3f}"


_KINDS = ("rows alone", "normal", "studentised", "bootstrap")


def counted(*, logs: int = 40) -> Iterator[str]:
    """How often 95 % intervals hold the truth where propensities are counted, by impressions per query.

    A Plackett-Luce ranker shows 4 of 6, or 5 of 10, documents for 200 queries that the log knows; the target sorts by
    another score. The truth is that of these queries.
    """
    yield f"Coverage of 95 % intervals with counted propensities, {logs:,} logs of 200 queries" + "\n"
    yield from markdown_head("documents", "rows a query", *NAMES, "mean weight of ipm")
    for documents, slots in DOCUMENTS:
        for rows in PER_CONTEXT:
            held, weight = np.zeros(len(NAMES)), 0.0
            for seed in range(logs):
                world = SearchWorld(200 * rows, queries=200, candidates=documents, slots=slots, seed=seed)
                wanted, log = world.truth(offrank.Top("new_score")), world.table(200 * rows, 0)
                found = offrank.evaluate(
                    log,
                    "top(new_score)",
                    offrank.Counted(by="query"),
                    NAMES,
                    examination=list(world.examination),
                    cluster=None,
                )
                held += [found[name].low <= wanted <= found[name].high for name in NAMES]
                weight += found["ipm"].mean_weight / logs
            cells = [f"{share / logs:.2f}" for share in held]
            yield markdown_row(f"{slots} of {documents}", str(rows), *cells, f"{weight:.3f}")


ITEMS, SLOTS = 6, 3
HEALTHY = ("uniform", "scores", "sharp", "personal", "retries")
FAULTY = ("fixed", "hidden", "fifth", "two rankers", "user")
ROWS = (200, 2_000, 10_000)


def repeated(kind: str, rows: int, tail: bool, seed: int) -> tuple[pa.Table, str]:
    """Return a log, and the policy that is said to have drawn it."""
    rng = np.random.default_rng([seed, rows, tail])
    query = rng.zipf(1.6, rows) % 100_000 if tail else rng.integers(0, 40, rows)
    _, query = np.unique(query, return_inverse=True)
    merit = rng.normal(size=(query.max() + 1, ITEMS))
    score = np.exp(0.7 * merit + 0.5 * rng.normal(size=merit.shape))
    noise, user = rng.gumbel(size=(rows, ITEMS)), rng.integers(0, max(rows // 5, 1), rows)
    own = rng.normal(size=(user.max() + 1, 50, ITEMS))[user, query % 50]
    log_weights = {"uniform": 0 * merit, "scores": np.log(score), "sharp": 4 * np.log(score), "retries": 0 * merit}
    weights = np.log(score)[query] + 2 * own if kind == "personal" else log_weights.get(kind, 0 * merit)[query]
    order = np.argsort(-weights - noise, axis=1)
    drawn = {
        "fixed": merit[query],
        "hidden": merit[query] + 0.7 * noise,
        "fifth": np.where(rng.random((rows, 1)) < 0.2, merit[query], noise),
        "two rankers": np.where(rng.random((rows, 1)) < 0.5, merit[query], score[query]),
        "user": own,
    }
    slate = np.argsort(-drawn[kind], axis=1)[:, :SLOTS] if kind in drawn else order[:, :SLOTS]
    clicks = rng.random(slate.shape) < np.take_along_axis(merit[query] > 0, slate, axis=1) / np.arange(2, SLOTS + 2)
    shown = np.take_along_axis(np.exp(weights - weights.max(axis=1, keepdims=True)), order, axis=1)
    chance = (shown / shown[:, ::-1].cumsum(axis=1)[:, ::-1])[:, :SLOTS].prod(axis=1)
    items = query[:, None] * ITEMS + np.arange(ITEMS)
    made = {"slate": lists(np.take_along_axis(items, slate, axis=1)), "candidates": lists(items)}
    made |= {"clicks": lists(clicks.astype(np.int64)), "query": pa.array(query), "score": lists(score[query])}
    made |= {"user": pa.array(user)} if kind in ("user", "personal") else {}
    table = pa.table({**made, "propensity": pa.array(chance)})
    if kind == "retries":
        again = rng.choice(rows, rows // 20, replace=False)
        table = table.take(pa.array(np.sort(np.concatenate([np.arange(rows), again]))))
    logging = {
        "scores": "plackett_luce(score)",
        "sharp": "plackett_luce(score, temperature=0.25)",
        "personal": "logged",
    }
    return table, logging.get(kind, "uniform")


def said(kind: str, rows: int, tail: bool, seed: int) -> bool:
    """Whether `not-random` is said of a log, at any severity."""
    table, logging = repeated(kind, rows, tail, seed)
    kept = table if logging == "logged" else table.drop_columns(["propensity"])
    found = offrank.evaluate(
        kept, "plackett_luce(score, temperature=2)", logging, "snipm" if logging != "logged" else "snips"
    )
    return any(one.code == "not-random" for one in found.about_log)


SHOWN, SCALES, LENGTHS = (1, 2, 3, 5), (0.0, 0.6, 1.3), (1_000, 5_000, 20_000)
ODD, APART, FEW = 3.3, 4.0, 100
COLUMNS = ("errors", "studentised", "tail", "design", "refuted")
COLUMNS += ("ipm to ips, errors", "ipm to ips, studentised", "ipm to ips, design")


def interval(values: np.ndarray) -> Interval:
    """Mean, standard error and skewness."""
    mean, n = float(values.mean()), len(values)
    away = values - mean
    squares = float(away @ away)
    skewness = float((away**3).sum()) / squares**1.5 if squares else 0.0
    return Interval(mean, -np.inf, np.inf, (squares / n / (n - 1)) ** 0.5, skewness=skewness)


def alarms(here: World, rows: int, hidden: float, rng: np.random.Generator) -> list[bool]:
    """What is said of one log, by column."""
    drawn, clicks = here.draw(rows, rng)
    weight = here.slate[drawn]
    if not weight.any():
        return [False] * len(COLUMNS)
    found = interval(weight)
    kept = min(1024, rows)
    top = -np.sort(-np.partition(weight, rows - kept)[rows - kept :])
    tail = unseen(float(weight.max() / weight.sum()), tail_index(top, rows))
    apart = interval((here.item[drawn] * clicks).sum(axis=1) - weight * clicks.sum(axis=1))
    errors = [abs(one.value - null) / (one.standard_error or np.inf) for one, null in ((found, 1.0), (apart, 0.0))]
    said = [errors[0], found.deviation(1.0), odd_weights(found, tail), odd_weights(found, hidden)]
    known = weight.sum() ** 2 >= FEW * float(weight @ weight)
    lacks = min(max(hidden * float((here.item[drawn] * clicks).sum(axis=1).mean()), 0.0), max(apart.value, 0.0))
    beyond = apart.deviation(lacks) if apart.value != lacks else 0.0
    every = [away > ODD for away in said] + [said[-1] > refuting()]
    return every + [known and away > APART for away in (errors[1], apart.deviation(0.0), beyond)]


def repeats(*, logs: int = 40) -> Iterator[str]:
    """How often healthy logs are said to repeat themselves, and how often fixed, hidden and cached ones are.

    Six documents of each query, three slots, clicks of a position-based user; few queries, or a long tail of them.
    Healthy logs are uniform or drawn by scores, also with hidden personal scores and written propensities, and with
    retries. A false alarm is `not-random` in `offrank.evaluate`; at most one healthy log in a thousand may have it.
    """
    yield f"Logs of {logs} that are said to be not random" + "\n"
    yield from markdown_head("world", "queries", *(f"{rows:,} rows" for rows in ROWS))
    false = 0
    for kind in (*HEALTHY, *FAULTY):
        for tail in (False, True):
            counts = [sum(said(kind, rows, tail, seed) for seed in range(logs)) for rows in ROWS]
            false += sum(counts) if kind in HEALTHY else 0
            yield markdown_row(kind, "long tail" if tail else "40", *map(str, counts))
    yield "\n" + f"False alarms: {false} of {len(HEALTHY) * 2 * len(ROWS) * logs:,} healthy logs."


def weights(*, logs: int = 60) -> Iterator[str]:
    """How often healthy logs are said to have an odd mean weight, or estimators that disagree, beside the stated rate.

    Plackett-Luce and uniform loggers show 1 to 5 of 6 items to users of the position-based model, so that ips, rips and
    ipm are all right. `mean-weight` at 3.3 is to be said of one log in a thousand, `disagreement` at 4 of one in
    16,000. "errors" counts standard errors; "studentised" is `Interval.deviation`; "design" knows what share of the
    target a log of this size hides, which ips lacks of its mean and of its value; "tail" is told what the largest
    weights say of it. As in `offrank.evaluate`, ips contradicts nobody where its weights are worth less than 100
    impressions.
    """
    yield f"False alarms in healthy logs, {logs} of each target and length, in percent" + "\n"
    yield from markdown_head("slots", "logging", "logs", *COLUMNS)
    total, count = np.zeros(len(COLUMNS)), 0
    for slots, scale in product(SHOWN, SCALES):
        found = [
            alarms(here, rows, hidden, np.random.default_rng([seed, slots, rows]))
            for target in TARGETS[scale == 0 :]
            for here in [world(slots, scale, target)]
            for rows in LENGTHS
            for hidden in [here.hidden(rows)]
            for seed in range(logs)
        ]
        total, count = total + np.sum(found, axis=0), count + len(found)
        name = f"plackett-luce, {scale}" if scale else "uniform"
        yield markdown_row(str(slots), name, f"{len(found):,}", *(f"{100 * one:.2f}" for one in np.mean(found, axis=0)))
    yield markdown_row("all", "", f"{count:,}", *(f"{100 * one / count:.2f}" for one in total))
    yield markdown_row("stated", "", "", *["0.10"] * 4, "0.00", *["0.01"] * 3)


COMMANDS = dict.fromkeys((clusters, counted, repeats, weights), "")
if __name__ == "__main__":
    run(__file__, COMMANDS)
