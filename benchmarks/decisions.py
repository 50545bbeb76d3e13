"""How often a target that earns exactly what the log does is called better or worse: at most 5.5 % are promised.

Every item of a query is as relevant as the others, so that all rankings earn the same. Each log is asked with two
estimators, with six, and with `auto`: asking for more must not find more differences where there are none.

With `--clusters` every log has queries of its own, of 5 to 500 rows, whose items are as relevant as chance has it: no
query earns the same by both rankings, all queries together do. Each log is asked with `cluster="query"`.

With `--users` the users of a log read to the first click, compare items, click on the best one only, or read upwards;
the target earns more, less, or by construction exactly what the log does: every slate is enumerated. With `--forms` one
slot is simulated by its sufficient sums: the difference to the log by `ips`, `snips` and `controlled(ips)`.

    python benchmarks/decisions.py [--logs 2000] [--rows 1000 3000] [--clusters | --users | --forms] [--workers 2]
        [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from _page import generated

import offrank
from offrank.language.formatting import percent

ASKED: dict[str, list[str] | str] = {
    "two": ["ips", "snips"],
    "six": ["ips", "snips", "rips", "snrips", "ipm", "snipm"],
    "auto": "auto",
}
QUERIES, ITEMS, SLOTS = 30, 6, 3
CURVE = np.array([1, 0.5, 0.33])
SIZES = (5, 500)
"""Of the smallest and the largest cluster, in rows."""
SHARPNESS = {"near": 0.5, "far": 1.0}
"""How unlike the target is to the log: the scale of its scores."""


def table(rows: int, sharpness: float, seed: int) -> pa.Table:
    """A log in which nothing can be better than anything else."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng([seed, rows])
    relevance = fixed.uniform(0.1, 0.5, size=QUERIES)
    old, new = (np.exp(scale * fixed.normal(size=(QUERIES, ITEMS))) for scale in (0.5, sharpness))
    return drawn(rng.integers(QUERIES, size=rows), np.tile(relevance[:, None], ITEMS), old, new, rng)


def clustered(rows: int, sharpness: float, seed: int) -> pa.Table:
    """A log of new queries, of unlike sizes: scores know nothing of what is relevant."""
    rng = np.random.default_rng([seed, rows, 1])
    sizes = np.exp(rng.uniform(*np.log(SIZES), size=rows)).round().astype(int)
    query = np.repeat(np.arange(rows), sizes)[:rows]
    queries = int(query[-1]) + 1
    relevance = rng.uniform(0.05, 0.6, size=(queries, ITEMS))
    old, new = (np.exp(scale * rng.normal(size=(queries, ITEMS))) for scale in (0.5, sharpness))
    return drawn(query, relevance, old, new, rng).append_column("query", pa.array(query))


def drawn(
    query: np.ndarray, relevance: np.ndarray, old: np.ndarray, new: np.ndarray, rng: np.random.Generator
) -> pa.Table:
    """A log of position-based users, by the Plackett-Luce policy of the old scores [query, item]."""
    rows = len(query)
    slate = (rng.exponential(size=(rows, ITEMS)) / old[query]).argsort(axis=1, kind="stable")[:, :SLOTS]
    clicks = rng.random((rows, SLOTS)) < CURVE * np.take_along_axis(relevance[query], slate, axis=1)
    return columns(query, slate, clicks.astype(float), old, new)


def columns(query: np.ndarray, slate: np.ndarray, clicks: np.ndarray, old: np.ndarray, new: np.ndarray) -> pa.Table:
    """A log of these slates, clicks and scores."""
    candidates = np.broadcast_to(np.arange(ITEMS), (len(query), ITEMS))
    made: dict[str, Any] = {"slate": slate, "candidates": candidates, "clicks": clicks}
    made |= {"old_score": old[query], "new_score": new[query]}
    return pa.table({name: list(values) for name, values in made.items()})


def decisions(task: tuple[int, str, int], clusters: bool) -> tuple[int, str, dict[str, str]]:
    """What is decided of one log, by what was asked."""
    rows, distance, seed = task
    log = (clustered if clusters else table)(rows, SHARPNESS[distance], seed)
    options, found = {"cluster": "query"} if clusters else {}, {}
    for name, asked in ASKED.items():
        question = ("plackett_luce(new_score)", "plackett_luce(old_score)", asked)
        found[name] = offrank.evaluate(log, *question, **options).verdict.decision
    return rows, distance, found


ARRANGED = np.array(list(permutations(range(ITEMS), SLOTS)))
"""All slates."""
USERS = {
    "position": (0.0, 1.0),
    "to the first click": (1.0, 1.0),
    "upwards": (0.7, 0.8),
    "comparing": None,
    "best": None,
}
"""Of those who read in order: how likely a click is the last, and how likely they go on."""


def clicked(users: str, relevance: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
    """Clicks [..., k] of users on slates of these relevances; without a generator, the expected number of all."""
    chance = np.random.default_rng(0) if rng is None else rng
    drawn = chance.random((3, *relevance.shape))
    below = np.concatenate([relevance[..., 1:], np.zeros((*relevance.shape[:-1], 1))], axis=-1)
    best = relevance == relevance.max(axis=-1, keepdims=True)
    alone = {"position": CURVE * relevance, "comparing": CURVE * relevance * (1 - 0.8 * below)}
    alone["best"] = np.where(best, relevance * np.array([1, 0.8, 0.65]), 0.0)
    if users in alone:
        return alone[users].sum(axis=-1) if rng is None else drawn[0] < alone[users]
    last, on = USERS[users] or (0.0, 1.0)
    looking, found = np.ones(relevance.shape[:-1]), np.zeros(relevance.shape)
    for k in range(SLOTS)[:: -1 if users == "upwards" else 1]:
        if rng is None:
            found[..., k] = looking * relevance[..., k]
            looking = looking * (1 - last * relevance[..., k]) * on
        else:
            found[..., k] = (looking > 0) & (drawn[0, ..., k] < relevance[..., k])
            looking = looking * ~((found[..., k] > 0) & (drawn[1, ..., k] < last)) * (drawn[2, ..., k] < on)
    return found.sum(axis=-1) if rng is None else found


def laws(weights: np.ndarray) -> np.ndarray:
    """The probability [query, slate] of each slate by Plackett-Luce weights [query, item]."""
    found, used = np.ones((len(weights), len(ARRANGED))), np.zeros((len(weights), len(ARRANGED)))
    for k in range(SLOTS):
        own = weights[:, ARRANGED[:, k]]
        found, used = found * own / (weights.sum(axis=1, keepdims=True) - used), used + own
    return found


def of_users(task: tuple[str, bool, int]) -> tuple[str, bool, dict[str, tuple[str, str, bool, bool]]] | None:
    """What is decided of one log, the trust, whether the intervals of value and difference hold; by what was asked."""
    users, null, seed = task
    rng = np.random.default_rng([seed, list(USERS).index(users), null])
    queries, rows = int(rng.choice([20, 60, 200])), int(rng.choice([2000, 5000, 12000]))
    relevance = np.clip(rng.choice([0.2, 0.5, 1.0]) * rng.beta(1, 3, size=(queries, ITEMS)), 0.002, 0.95)
    known = np.log(relevance) - np.log(relevance).mean(axis=1, keepdims=True)
    known, (one, two) = known / known.std(), rng.normal(size=(2, queries, ITEMS))
    earned, scale = clicked(users, relevance[:, ARRANGED]), rng.choice([0.7, 1.2, 2.0])
    old = np.exp(rng.choice([0.3, 0.7, 1.2]) * (0.4 * known + one))

    def new(share: float) -> np.ndarray:
        return np.exp(scale * (share * known + np.sqrt(1 - share**2) * (0.5 * one + 0.87 * two)))

    def value(weights: np.ndarray) -> float:
        return float((laws(weights) * earned).sum(axis=1).mean())

    low, high, share = -1.0, 1.0, rng.uniform(-0.5, 0.9)
    if null and not value(new(low)) < value(old) < value(new(high)):
        return None
    while null and high - low > 1e-9:
        share = (low + high) / 2
        low, high = (share, high) if value(new(share)) < value(old) else (low, share)
    target, query = new(share), rng.integers(queries, size=rows)
    slate = (rng.exponential(size=(rows, ITEMS)) / old[query]).argsort(axis=1, kind="stable")[:, :SLOTS]
    clicks = clicked(users, np.take_along_axis(relevance[query], slate, axis=1), rng).astype(float)
    log = columns(query, slate, clicks, old, target).append_column("query", pa.array(query))
    truth, found = (value(target), value(target) - value(old)), {}
    for name, asked in {"snips": ["snips"], "six": ASKED["six"]}.items():
        said = offrank.evaluate(log, "plackett_luce(new_score)", "plackett_luce(old_score)", asked).verdict
        both = zip((said.value, said.difference), truth, strict=True)
        ends = [one is not None and one.low <= true <= one.high for one, true in both]
        wrong = {"better": truth[1] <= 0, "worse": truth[1] >= 0}.get(said.decision, False) and not null
        found[name] = ("wrong" if wrong else said.decision, said.trust, *ends)
    return users, null, found


def lines_of_users(found: Counter[tuple[Any, ...]]) -> Iterator[str]:
    yield "| users | asked | sound | decided | wrong sign | value held | difference held | equal, sound | declared |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for users, asked in product([*USERS, "all"], ("snips", "six")):

        def rows(null: bool, who: str = users, by: str = asked) -> list[tuple[Any, ...]]:
            keys = [key for key in found.elements() if key[0] in (who, *(USERS if who == "all" else ()))]
            return [key[3:] for key in keys if key[1] == null and key[2] == by and key[4] == "sound"]

        unlike, equal = rows(False), rows(True)
        n, m = max(len(unlike), 1), max(len(equal), 1)
        declared = ("better", "worse", "wrong")
        shares = [sum(key[0] in declared for key in unlike) / n, sum(key[0] == "wrong" for key in unlike) / n]
        shares += [sum(key[place] for key in unlike) / n for place in (2, 3)]
        text = " | ".join(percent(one, 1) for one in shares)
        more = percent(sum(key[0] in declared for key in equal) / m, 1)
        yield f"| {users} | {asked} | {len(unlike)} | {text} | {len(equal)} | {more} |"


def forms(logs: int) -> Iterator[str]:
    """Compare the forms of one weighting: one slot of 40 items, of which every log is drawn by its counts."""
    rng, kept = np.random.default_rng(5), {}
    for rows, scale, rate, _ in product((500, 2000, 10000), (0.8, 1.5, 2.2), (0.05, 0.3), range(4)):
        rates = np.clip(3 * rate * rng.beta(1, 2, 40), 0, 0.95)
        shown, wanted = (one / one.sum() for one in np.exp(np.array([0.8, scale])[:, None] * rng.normal(size=(2, 40))))
        weight, truth = wanted / shown, float((wanted - shown) @ rates)
        drawn = rng.multinomial(rows, shown, size=logs)
        clicks = rng.binomial(drawn, rates)
        w, ww = (drawn @ weight**power / rows for power in (1, 2))
        y, wy, wwy = (clicks @ weight**power / rows for power in (0, 1, 2))
        made = {"`ips`": (np.ones(logs), np.zeros(logs)), "`snips`": (1 / w, -wy / w**2)}
        made["`controlled(ips)`"] = (np.ones(logs), -(wwy - wy * w) / np.maximum(ww - w**2, 1e-300))
        values = {"`ips`": wy, "`snips`": wy / w}
        values["`controlled(ips)`"] = wy + made["`controlled(ips)`"][1] * (w - 1)
        found = {}
        for name, (a, b) in made.items():  # the error of a w y + b w - y
            mean = a * wy + b * w - y
            square = a * a * wwy + b * b * ww + y + 2 * a * b * wwy - 2 * a * wy - 2 * b * wy
            found[name] = values[name] - y - truth, np.sqrt(np.maximum(square - mean**2, 1e-18) / rows)
        less = found["`ips`"][1] < found["`snips`"][1]
        both = zip(found["`ips`"], found["`snips`"], strict=True)
        found["the smaller error"] = tuple(np.where(less, one, other) for one, other in both)
        size = rows / float(weight @ wanted)
        for name, (off, error) in found.items():
            kept.setdefault((size >= 150, size >= 600, name), []).append((off / error, error / rate))
    yield "| effective size | form | off, in standard errors | interval holds | width, of the rate |"
    yield "|---|---|--:|--:|--:|"
    for (some, many, name), each in sorted(kept.items(), key=lambda one: one[0][:2]):
        z, error = (np.concatenate([pair[place] for pair in each]) for place in (0, 1))
        size = "600 and more" if many else "150 to 600" if some else "below 150"
        holds = percent(float((abs(z) < 1.96).mean()), 1)
        yield f"| {size} | {name} | {np.median(z):+.2f} | {holds} | {2 * 1.96 * error.mean():.2f} |"


def lines(found: Counter[tuple[Any, ...]], logs: int) -> Iterator[str]:
    yield "| rows | target | asked | declared different | worse | better |"
    yield "|--:|---|---|--:|--:|--:|"
    for rows, distance, asked in dict.fromkeys(key[:3] for key in sorted(found)):
        worse, better = (found[rows, distance, asked, decision] / logs for decision in ("worse", "better"))
        shares = " | ".join(percent(one, 1) for one in (worse + better, worse, better))
        yield f"| {rows:,} | {distance} | {asked} | {shares} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=2000)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--clusters", action="store_true", help="queries of unlike sizes instead")
    parser.add_argument("--users", action="store_true", help="users unlike any model, and targets unlike the log")
    parser.add_argument("--forms", action="store_true", help="ips, snips and controlled(ips), without any log")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    asked = parser.parse_args()
    mark, found, told = "decisions", Counter[tuple[Any, ...]](), []
    if asked.forms:
        mark, told = "decisions by form", [f"{asked.logs:,} logs of each of 72 worlds.", "", *forms(asked.logs)]
    with ProcessPoolExecutor(asked.workers, multiprocessing.get_context("spawn")) as pool:
        if asked.users:
            tasks = product(USERS, (False, True), range(asked.logs))
            for one in filter(None, pool.map(of_users, tasks, chunksize=5)):
                found.update((one[0], one[1], name, *said) for name, said in one[2].items())
            mark, told = "decisions by users", [f"{asked.logs:,} logs of each kind.", "", *lines_of_users(found)]
        elif not asked.forms:
            mark = "decisions of clusters" if asked.clusters else mark
            each_log = product(asked.rows, SHARPNESS, range(asked.logs))
            for rows, distance, each in pool.map(partial(decisions, clusters=asked.clusters), each_log, chunksize=20):
                found.update((rows, distance, name, decision) for name, decision in each.items())
            told = [f"{asked.logs:,} logs of each kind.", "", *lines(found, asked.logs)]
    print(*told, sep="\n")
    if asked.write:
        generated(asked.write, mark, told, "benchmarks/decisions.py")


if __name__ == "__main__":
    main()
