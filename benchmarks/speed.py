"""How fast laws and weights are computed, beside what NumPy does instead, in one process and one thread.

python benchmarks/speed.py laws [--table docs/reference/benchmarks.md]
python benchmarks/speed.py plackett-luce [--repeats 5]
python benchmarks/speed.py pseudoinverse [--rows 100000] [--repeats 5]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from _commands import run
from _timing import in_turn, show
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from offrank.estimators import PI
from offrank.estimators.pseudoinverse.gamma import pseudoinverse as inverted
from offrank.log.batch import Contexts, Floats, LogBatch, RunCache, Shown
from offrank.policies import EpsilonUniform, PlackettLuce, Policy, Top, Uniform, policy, propensities
from offrank.policies.base import all_items
from offrank.policies.plackett_luce import order_given_set, pair_probs, rank_probs, sample, sample_order_given_set
from offrank.propensities import draw

SIZES = ((5, 1, 2000), (5, 5, 1000), (20, 10, 100))
LAWS = (
    "uniform",
    "plackett_luce(alpha)",
    "thompson(alpha, beta)",
    "thompson(mean=score, sd=alpha)",
    "noisy(score, sd=0.5)",
    "noisy(score, sd=0.5, noise=gumbel)",
    "shuffled(top(score), 2, method=fair_pairs)",
)
SERVED = ("plackett_luce(alpha)", "thompson(alpha, beta)", "noisy(score, sd=0.5)", "shuffled(top(score))")


def columns(rows: int, items: int) -> dict[str, Any]:
    """Counts of bandits that have learnt something, and scores."""
    rng = np.random.default_rng(1)
    pulls, rate = rng.integers(5, 5000, (rows, items)), rng.beta(2, 20, (rows, items))
    good = rng.binomial(pulls, rate)
    return {"alpha": good + 1.0, "beta": pulls - good + 1.0, "score": rng.normal(size=(rows, items))}


def cost(job: Callable[[Any], Any], spelling: str, repeats: int = 5) -> float:
    """The least CPU seconds of several runs, each of a policy that has kept nothing."""
    job(policy(spelling))
    found = []
    for _ in range(repeats):
        law = policy(spelling)
        start = time.process_time()
        job(law)
        found.append(time.process_time() - start)
    return min(found)


def of_law(spelling: str, items: int, slots: int, rows: int) -> str:
    """The cells of a law on a batch."""
    size, length = np.full(rows, items), np.full(rows, slots)
    contexts = Contexts(np.tile(np.arange(items), (rows, 1)), size, length, scores=columns(rows, items))
    law: Any = policy(spelling)
    slates, every = law.sample(contexts, np.random.default_rng(2)), all_items(contexts)
    jobs = (lambda one: one.log_prob(contexts, slates), lambda one: one.rank_probs(contexts, every))
    return " | ".join(f"{cost(job, spelling) / rows * 1e6:.3g}" for job in jobs)


def serving(spelling: str, slots: int, *, kept: bool) -> str:
    """Median and 99th percentile of the CPU time of one list of 5 candidates. kept: with the numbers of the last."""
    rng, rows = np.random.default_rng(3), columns(1000, 5)
    found = []
    for row in range(1000):
        given = {name: values[0 if kept else row] for name, values in rows.items()}
        start = time.thread_time()
        draw(spelling, slots, rng, **given)
        found.append(time.thread_time() - start)
    return " | ".join(f"{np.quantile(found, share) * 1e6:.3g}" for share in (0.5, 0.99))


Job = Callable[[], Any]
RNG = np.random.default_rng(0)
SCORES = RNG.lognormal(size=(200, 100))
LEVELS = 2.0 ** -np.floor(np.log2(1 + np.arange(100)))
SHOWN = RNG.lognormal(size=(200, 16))
POLICY = PlackettLuce("score")
CONTEXTS = Contexts(
    np.zeros((50_000, 100), np.int64),
    np.full(50_000, 100),
    np.full(50_000, 10),
    scores={"score": RNG.lognormal(size=(50_000, 100))},
)


def drawn(scores: Floats, length: int, n: int) -> NDArray[np.int64]:
    """Gumbel noise, the largest `length`, sorted."""
    keys = np.log(scores) + RNG.gumbel(size=(n, len(scores)))
    top = np.argpartition(-keys, length, axis=1)[:, :length]
    order = np.argsort(-np.take_along_axis(keys, top, axis=1), axis=1)
    return np.take_along_axis(top, order, axis=1)


def counted_ranks(scores: Floats, length: int, n: int) -> Floats:
    slates = drawn(scores, length, n)
    return np.stack([np.bincount(slates[:, rank], minlength=len(scores)) for rank in range(length)], axis=1) / n


def counted_pairs(scores: Floats, length: int, n: int) -> Floats:
    places = drawn(scores, length, n) * length + np.arange(length)
    size = len(scores) * length
    pairs = places[:, :, None] * size + places[:, None, :]
    return np.bincount(pairs.ravel(), minlength=size * size) / n


def literal_recursion(shown: Floats, rest: float) -> Floats:
    """Lemmas 1 and 2 of paper non-shuffled-traffic as they stand, with a cache."""
    size, total = len(shown), shown.sum() + rest
    mass = cache(lambda left: sum(shown[i] for i in range(size) if left >> i & 1))

    def step(left: int, item: int) -> float:
        return float(shown[item] / (total - mass(left ^ (1 << item))))

    @cache
    def at(left: int, item: int, rank: int) -> float:
        if left.bit_count() == rank:
            return first(left ^ (1 << item)) * step(left, item)
        others = (i for i in range(size) if left >> i & 1 and i != item)
        return sum(at(left ^ (1 << i), item, rank) * step(left, i) for i in others)

    @cache
    def first(left: int) -> float:
        return sum(first(left ^ (1 << i)) * step(left, i) for i in range(size) if left >> i & 1) if left else 1.0

    full = (1 << size) - 1
    return np.array([[at(full, item, rank + 1) for rank in range(size)] for item in range(size)]) / first(full)


@dataclass(frozen=True)
class Side:
    """What one side runs: a name, how many units one run does, and the job."""

    name: str
    units: float
    job: Job


def ours(name: str, job: Job, units: float = 1, aim: float | None = None) -> tuple[Side, float | None]:
    return Side(name, units, job), aim


COUNTED = "100,000 draws (error .0016)"
ORDERED = "10,000 exact draws (error .005)"
ROWS = [
    (
        ours("rank_probs, 10 of 100", lambda: rank_probs(SCORES, 10), 200, 1e-3),
        Side("10,000 draws (error .004)", 1, lambda: counted_ranks(SCORES[0], 10, 10_000)),
    ),
    (
        ours("rank_probs, 100 of 1,000", lambda: rank_probs(SCORES[:10].ravel(), 100)),
        Side("1,000 draws (error .01)", 1, lambda: counted_ranks(SCORES[:10].ravel(), 100, 1_000)),
    ),
    (
        ours("order_given_set, 10", lambda: order_given_set(SHOWN[:, :10], np.ones(200)), 200, 60e-6),
        Side("the paper's recursion", 1, lambda: literal_recursion(SHOWN[0, :10], 1.0)),
    ),
    (
        ours("order_given_set, 16", lambda: order_given_set(SHOWN[:20], np.ones(20)), 20, 15e-3),
        Side(ORDERED, 1, lambda: sample_order_given_set(SHOWN[0], 1.0, 10_000, RNG)),
    ),
    (
        ours("order_given_set, 50", lambda: order_given_set(SCORES[0, :50], 10.0)),
        Side(ORDERED, 1, lambda: sample_order_given_set(SCORES[0, :50], 10.0, 10_000, RNG)),
    ),
    (
        ours("sample, 1,000,000 of 10 from 100", lambda: sample(SCORES[0], 10, 1_000_000, RNG), 1, 1.5),
        Side("Gumbel noise, argpartition", 0.05, lambda: drawn(SCORES[0], 10, 50_000)),
    ),
    (
        ours("the same, a context each", lambda: POLICY.sample(CONTEXTS, RNG), 0.05, 1.5),
        Side("Gumbel noise, argpartition", 0.05, lambda: drawn(SCORES[0], 10, 50_000)),
    ),
    (
        ours("pair_probs, 10 of 100, 7 levels", lambda: pair_probs(LEVELS, 10), 1, 0.25),
        Side(COUNTED, 1, lambda: counted_pairs(LEVELS, 10, 100_000)),
    ),
    (
        ours("pair_probs, 5 of 50, no ties", lambda: pair_probs(SCORES[0, :50], 5)),
        Side(COUNTED, 1, lambda: counted_pairs(SCORES[0, :50], 5, 100_000)),
    ),
    (
        ours("pair_probs, 10 of 100, no ties", lambda: pair_probs(SCORES[0], 10)),
        Side(COUNTED, 1, lambda: counted_pairs(SCORES[0], 10, 100_000)),
    ),
]


SPACES = ((10, 5), (100, 10))


def slates_of(rows: int, items: int, slots: int, seed: int) -> LogBatch:
    """Slates of a Plackett-Luce policy whose weights follow from the rank, in a random order of candidates."""
    rng = np.random.default_rng(seed)
    rank = rng.permuted(np.tile(np.arange(items), (rows, 1)), axis=1)
    old = 2.0 ** -np.floor(np.log2(rank + 1))
    contexts = Contexts(
        np.tile(np.arange(items), (rows, 1)),
        np.full(rows, items),
        np.full(rows, slots),
        {"old": old, "new": rng.random((rows, items))},
    )
    slates = PlackettLuce("old").sample(contexts, rng)
    return LogBatch(contexts, Shown(slates), None, np.ones(rows), np.ones(rows), np.arange(rows, dtype=np.uint64))


def weigh(batch: LogBatch, logging: Policy, target: Policy) -> Floats:
    return PI().weigh(batch, propensities(logging, batch), propensities(target, batch)).weight


def by_pinv(batch: LogBatch, inverse: Floats) -> Floats:
    """As plain NumPy does it: indicator vectors and a matrix product, in rank coordinates."""
    size, slots = batch.contexts.candidates.shape[1], batch.slates.shape[1]
    order = np.argsort(-batch.contexts.scores["old"], axis=1, kind="stable")
    place = np.argsort(order, axis=1)
    target = Top("new").rank_probs(batch.contexts, all_items(batch.contexts))
    wanted = np.take_along_axis(target, order[:, :, None], axis=1).reshape(len(batch), -1)
    shown = np.zeros((len(batch), size, slots))
    shown[np.arange(len(batch))[:, None], np.take_along_axis(place, batch.slates, axis=1), np.arange(slots)] = 1
    return np.einsum("ij,ij->i", wanted @ inverse, shown.reshape(len(batch), -1))


def first(batch: LogBatch) -> Contexts:
    """One context, its candidates by their scores."""
    old = -np.sort(-batch.contexts.scores["old"][:1], axis=1)
    one = batch.contexts
    return Contexts(one.candidates[:1], one.size[:1], one.length[:1], {"old": old})


def weighed(items: int, slots: int, rows: int, repeats: int) -> None:
    batch = slates_of(rows, items, slots, seed=1)
    one = first(batch)
    gamma = PlackettLuce("old").pair_probs(one)[0]
    flat = gamma.reshape(items * slots, -1)
    inverse = np.linalg.pinv(flat)
    few = min(rows, 2000)
    part = slates_of(few, items, slots, seed=2)
    error = np.abs(weigh(part, PlackettLuce("old"), Top("new")) - by_pinv(part, inverse)).max()
    print(f"\n{items} candidates, {slots} slots: both agree to {error:.1e}")
    inverting = {
        "np.linalg.pinv": lambda: np.linalg.pinv(flat),
        "np.linalg.pinv, hermitian": lambda: np.linalg.pinv(flat, hermitian=True),
        "Cholesky, null space known": lambda: inverted(gamma),
        "Gamma of Plackett-Luce itself": lambda: PlackettLuce("old").pair_probs(one),
        "Gamma of uniform itself": lambda: Uniform().pair_probs(one),
    }
    show("One Gamma, inverted", in_turn(inverting, repeats), 1, "np.linalg.pinv")
    weighing = {
        "NumPy, Gamma^+ known": lambda: by_pinv(part, inverse),
        "uniform logging, closed form": lambda: weigh(part, Uniform(), Top("new")),
        "plackett_luce(old), Gamma^+ known": lambda: weigh(part, PlackettLuce("old"), Top("new")),
        "plackett_luce(old), stochastic target": lambda: weigh(
            part, PlackettLuce("old"), EpsilonUniform(Top("new"), 0.1)
        ),
    }
    show(f"{few:,} weights", in_turn(weighing, repeats), few, "NumPy, Gamma^+ known")
    whole = {
        "uniform logging, closed form": lambda: weigh(batch, Uniform(), Top("new")),
        "plackett_luce(old), from nothing": lambda: weigh(
            replace(batch, run=RunCache()), PlackettLuce("old"), Top("new")
        ),
    }
    show(f"{rows:,} weights", in_turn(whole, max(repeats // 2, 2)), rows, "uniform logging, closed form")


def laws() -> Iterator[str]:
    """What each law costs: microseconds of CPU for a row of a batch, and of single lists drawn while serving."""
    heads = [f"{items} items, {slots} slots: {what}" for items, slots, _ in SIZES for what in ("slate", "all ranks")]
    yield "| law | " + " | ".join(heads) + " |"
    yield "|---|" + "--:|" * len(heads)
    for law in LAWS:
        yield f"| `{law}` | " + " | ".join(of_law(law, *size) for size in SIZES) + " |"
    yield ""
    yield "| `offrank.propensities.draw`, 5 candidates | slots | new: median | 99th percentile | kept: median | 99th |"
    yield "|---|--:|--:|--:|--:|--:|"
    for law in SERVED:
        for slots in (1, 3):
            yield (
                f"| `{law}` | {slots} | " + " | ".join(serving(law, slots, kept=kept) for kept in (False, True)) + " |"
            )


def plackett_luce(*, repeats: int = 5) -> None:
    """Exact Plackett-Luce laws and draws, against what NumPy does instead.

    Where no exact NumPy code is practical the reference is counting in drawn slates, whose error is given.
    """
    table = Table(title="Seconds for one, in one thread", title_justify="left")
    for heading in ("offrank", "best", "median", "aim", "reference", "best", "median", "reference / offrank"):
        table.add_column(heading, justify="left" if heading in ("offrank", "reference") else "right")
    for (our, aim), their in ROWS:
        found = in_turn({"ours": our.job, "theirs": their.job}, repeats)
        mine, other = (
            [found[name].best / side.units, found[name].median / side.units]
            for name, side in (("ours", our), ("theirs", their))
        )
        words = ["" if cell is None else f"{cell:.3g}" for cell in (*mine, aim, *other)]
        table.add_row(our.name, *words[:3], their.name, *words[3:], f"{other[0] / mine[0]:.3g}")
    Console(width=150).print(table)


def pseudoinverse(*, rows: int = 100_000, repeats: int = 5) -> None:
    """Weights of the pseudoinverse estimator: inverting Gamma, and weighing a log, against np.linalg.pinv."""
    for items, slots in SPACES:
        weighed(items, slots, rows, repeats)


if __name__ == "__main__":
    run(__file__, {laws: "laws", plackett_luce: "", pseudoinverse: ""})
