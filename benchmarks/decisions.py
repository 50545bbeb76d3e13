"""Decisions: how often is a difference found where there is none, by logs and by judgements?

python benchmarks/decisions.py decisions [--logs 2000] [--rows 1000 3000] [--workers 2] [--write]
python benchmarks/decisions.py users [--logs 2000] [--workers 2] [--write]
python benchmarks/decisions.py forms [--logs 2000] [--write]
python benchmarks/decisions.py runs [--draws 2000] [--write]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, measured, run

import offrank
from offrank.language.formatting import percent
from offrank.sums.estimate import Interval
from offrank_lab.run_scores import RunPair, means, measure_named
from offrank_lab.runs import interval_of

ASKED: dict[str, list[str] | str] = {
    "two": ["ips", "snips"],
    "six": ["ips", "snips", "rips", "snrips", "ipm", "snipm"],
    "auto": "auto",
}
QUERIES, ITEMS, SLOTS = 30, 6, 3
CURVE = np.array([1, 0.5, 0.33])
SHARPNESS = {"near": 0.5, "far": 1.0}
"""How unlike the target is to the log: the scale of its scores."""


def table(rows: int, sharpness: float, seed: int) -> pa.Table:
    """A log in which nothing can be better than anything else."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng([seed, rows])
    relevance = fixed.uniform(0.1, 0.5, size=QUERIES)
    old, new = (np.exp(scale * fixed.normal(size=(QUERIES, ITEMS))) for scale in (0.5, sharpness))
    return drawn(rng.integers(QUERIES, size=rows), np.tile(relevance[:, None], ITEMS), old, new, rng)


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


def decided(task: tuple[int, str, int]) -> dict[str, str]:
    """What is decided of one log, by what was asked."""
    rows, distance, seed = task
    log, found = table(rows, SHARPNESS[distance], seed), {}
    for name, asked in ASKED.items():
        question = ("plackett_luce(new_score)", "plackett_luce(old_score)", asked)
        found[name] = offrank.evaluate(log, *question).verdict.decision
    return found


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


def of_users(task: tuple[str, bool, int]) -> dict[str, tuple[str, str, bool, bool]]:
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
        return {}
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
    return found


def decisions(*, logs: int = 2000, rows: tuple[int, ...] = (1000, 3000), workers: int = 2) -> Iterator[str]:
    """How often a target that earns exactly what the log does is called better or worse: at most 5.5 % are promised.

    Every item of a query is as relevant as the others, so that all rankings earn the same. Each log is asked with two
    estimators, with six, and with `auto`: asking for more must not find more differences where there are none.
    """
    found = Counter[tuple[Any, ...]]()
    tasks = product(rows, SHARPNESS, range(logs))
    for (size, distance, _), each in measured(decided, tasks, workers):
        found.update((size, distance, name, decision) for name, decision in each.items())
    yield f"{logs:,} logs of each kind."
    yield ""
    yield "| rows | target | asked | declared different | worse | better |"
    yield "|--:|---|---|--:|--:|--:|"
    for size, distance, asked in dict.fromkeys(key[:3] for key in sorted(found)):
        worse, better = (found[size, distance, asked, decision] / logs for decision in ("worse", "better"))
        shares = (percent(one, 1) for one in (worse + better, worse, better))
        yield markdown_row(f"{size:,}", distance, asked, *shares)


def users(*, logs: int = 2000, workers: int = 2) -> Iterator[str]:
    """The same of users unlike any model, and of targets unlike the log.

    Users read to the first click, compare items, click on the best one only, or read upwards; the target earns more,
    less, or by construction exactly what the log does: every slate is enumerated.
    """
    found = Counter[tuple[Any, ...]]()
    for (who, null, _), each in measured(of_users, product(USERS, (False, True), range(logs)), workers):
        found.update((who, null, name, *said) for name, said in each.items())
    yield f"{logs:,} logs of each kind."
    yield ""
    yield "| users | asked | sound | decided | wrong sign | value held | difference held | equal, sound | declared |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for kind, asked in product([*USERS, "all"], ("snips", "six")):

        def rows(null: bool, who: str = kind, by: str = asked) -> list[tuple[Any, ...]]:
            keys = [key for key in found.elements() if key[0] in (who, *(USERS if who == "all" else ()))]
            return [key[3:] for key in keys if key[1] == null and key[2] == by and key[4] == "sound"]

        unlike, equal = rows(False), rows(True)
        n, m = max(len(unlike), 1), max(len(equal), 1)
        declared = ("better", "worse", "wrong")
        shares = [sum(key[0] in declared for key in unlike) / n, sum(key[0] == "wrong" for key in unlike) / n]
        shares += [sum(key[place] for key in unlike) / n for place in (2, 3)]
        more = percent(sum(key[0] in declared for key in equal) / m, 1)
        yield markdown_row(kind, asked, len(unlike), *(percent(one, 1) for one in shares), len(equal), more)


def forms(*, logs: int = 2000) -> Iterator[str]:
    """The difference to the log by `ips`, `snips` and `controlled(ips)`: one slot, each log by its counts."""
    yield f"{logs:,} logs of each of 72 worlds."
    yield ""
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
        yield markdown_row(size, name, f"{np.median(z):+.2f}", holds, f"{2 * 1.96 * error.mean():.2f}")


POPULATION, RANKED, SHOWN = 5_000, 30, 20
METRICS, SAMPLES = ("nDCG@10", "RR", "AP"), (20, 50, 200)
JUDGED, GRADERS, LEANINGS = 50, (3, 5), (0.0, 0.1, 0.2)


def population(rng: np.random.Generator) -> list[RunPair]:
    """Return queries whose items have grades of which many are 0, and two runs that see them through noise."""
    found = []
    for number in range(POPULATION):
        grade = np.maximum(rng.poisson(rng.gamma(0.5, 1.0), RANKED), 0).clip(max=3)
        runs = (np.argsort(-grade - noise * rng.normal(size=RANKED))[:SHOWN].tolist() for noise in (2.0, 1.7))
        a, b = ([[str(item)] for item in run] for run in runs)
        found.append(RunPair(str(number), a, b, [{str(item): one for item, one in enumerate(grade.tolist())}]))
    return found


def holds(found: Interval, truth: float) -> bool:
    return found.low <= truth <= found.high


def of_queries(draws: int, rng: np.random.Generator) -> Iterator[str]:
    pairs = population(rng)
    yield from markdown_head("metric", "queries", "95 % intervals that hold", "by the normal quantile")
    for name in METRICS:
        by_run, _ = means(measure_named(name), pairs, 1, 1, 0)
        change = by_run[1, 0] - by_run[0, 0]
        for size in SAMPLES:
            held = np.zeros(2)
            for _ in range(draws):
                sample = rng.choice(change, size)
                half = 1.96 * sample.std(ddof=1) / np.sqrt(size)
                held += (
                    holds(interval_of(sample[None], 0.95), change.mean()),
                    abs(sample.mean() - change.mean()) <= half,
                )
            yield markdown_row(name, size, *(percent(one, 1) for one in held / draws))


def of_graders(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Precision at 5 of runs that share no item; an item is relevant to a grader with a probability of its own."""
    yield "| graders | lean by up to | 95 % intervals that hold | over queries alone | length |"
    yield "|--:|--:|--:|--:|--:|"
    for graders in GRADERS:
        for leaning in LEANINGS:
            held, length = np.zeros(2), np.zeros(2)
            for _ in range(draws):
                a, b = rng.uniform(0.3, 0.6, (JUDGED, 5)), rng.uniform(0.3, 0.7, (JUDGED, 5))
                lean = rng.uniform(-leaning, leaning, (graders, 1, 1))
                change = (rng.random((graders, JUDGED, 5)) < b + lean).mean(axis=2)
                change -= (rng.random((graders, JUDGED, 5)) < a).mean(axis=2)
                both = interval_of(change, 0.95), interval_of(change.mean(axis=0)[None], 0.95)
                held += [holds(one, 0.5 - 0.45) for one in both]
                length += [one.high - one.low for one in both]
            shares = (percent(one, 1) for one in held / draws)
            yield markdown_row(graders, f"{leaning:g}", *shares, f"{length[0] / length[1]:.2f} x")


def runs(*, draws: int = 2_000) -> Iterator[str]:
    """Two runs by judgements: how often do the intervals of `measure_runs` hold, for few queries and several graders?

    Queries are drawn from 5,000, whose mean difference is the truth; graders from those who lean to run B by up to so
    much, each his way, so that on average they do not. Then the truth is a sum over the probabilities of grades.
    """
    rng = np.random.default_rng(1)
    yield from of_queries(draws, rng)
    yield ""
    yield from of_graders(draws, rng)
    yield ""
    yield f"{draws:,} draws each; of {JUDGED} queries judged by graders. Length: of the interval over both."


COMMANDS = {decisions: "decisions", users: "decisions by users", forms: "decisions by form", runs: "runs"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
