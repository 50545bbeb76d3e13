"""Learning of policies: how fast, in what memory, what they truly earn, and whether their own log may judge them.

python benchmarks/learning.py speed [--rows 300000] [--repeats 5] [--stream 600000]
python benchmarks/learning.py earned [--logs 5]
python benchmarks/learning.py held-out [--logs 200] [--rows 3000]
python benchmarks/learning.py targets [--rows 200000] [--queries 1000] [--repeats 5]
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import alone, in_turn, ratios, run
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier

import offrank
from offrank.estimators.pseudoinverse import PI
from offrank.learning import regression
from offrank.learning.action_rewards import ActionSums
from offrank.learning.contexts import ContextSums
from offrank.learning.descent import WeightedObjective, quantile
from offrank.learning.examples import Data, Examples, Store
from offrank.learning.preparation import Preparation
from offrank.learning.reductions import passes
from offrank.learning.regression import Regression
from offrank.learning.search import Search
from offrank.log.batch import Contexts, LogBatch, Shown, SparseFeatures
from offrank.policies.boosted import best_slates
from offrank.policies.logged_probabilities import Logged
from offrank.policies.propensities import propensities
from offrank.policies.ranking import Ranking
from offrank.policies.uniform import Uniform
from offrank_papers.adverts import AdvertWorld

BITS = 20


def shown_only(examples: Examples) -> Examples:
    """The products shown as the only candidates, so that both learners read the same numbers."""
    lines = examples.shown
    spans = [np.arange(examples.offsets[line], examples.offsets[line + 1]) for line in lines]
    entries = np.concatenate(spans)
    return replace(
        examples,
        starts=np.arange(len(lines) + 1),
        offsets=np.concatenate([[0], np.cumsum([len(span) for span in spans])]),
        indices=examples.indices[entries],
        values=examples.values[entries],
        slates=np.zeros_like(examples.slates),
    )


def throughput(data: Data, repeats: int) -> Iterator[str]:
    """A pass of regression by both; and, on all candidates, of what the other methods do."""
    pieces = tuple(shown_only(examples) for examples in data.train)
    store = replace(data.train, pieces=pieces)
    size = 1 << BITS
    matrix, clicks, counts = compressed(store, size)

    def scikit() -> None:
        SGDClassifier(loss="log_loss", penalty=None, max_iter=1, tol=None, random_state=0).fit(
            matrix, clicks, sample_weight=counts
        )

    def own() -> None:
        list(passes(store, regression.of_rewards, 0.1, 1, size, 0))

    times = in_turn({"scikit-learn SGDClassifier": scikit, "offrank regression": own}, repeats)
    yield from ratios(
        f"One pass over {store.rows:,} impressions, the product shown", times, store.rows, "scikit-learn SGDClassifier"
    )
    terms, zeros = WeightedObjective.of(data.train, quantile(data.train, 0.97)), np.zeros(size)
    moved = replace(terms, baseline=0.01)
    jobs = {
        "regression, products shown": lambda: list(passes(data.train, regression.of_rewards, 0.1, 1, size, 0)),
        "poem, gradient": lambda: terms.sums(zeros, 1.0, 0.0, np.zeros(size)),
        "snpoem, gradient (every row counts)": lambda: moved.sums(zeros, 1.0, 0.0, np.zeros(size)),
    }
    found = in_turn(jobs, repeats)
    yield from ratios("One pass, candidates in memory", found, data.train.rows, "regression, products shown")


def compressed(store: Store, size: int) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """The same rows for scikit-learn: features, clicks and how often each row counts."""
    pieces = list(store)
    indices, values = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("indices", "values"))
    lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    matrix = csr_matrix((values, indices, offsets.astype(np.int32)), shape=(len(lengths), size))
    clicks, kept = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("reward", "inclusion"))
    return matrix, clicks.astype(int), 1 / kept


def streamed(path: Path) -> int:
    """Learn with the examples on disk; return the number of training rows."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        data, _ = Preparation(Logged(), Path(folder), memory=0).data(offrank.read_log(path), None, None)
        Search(Regression(rates=(0.1,), epochs=2), "regression").run(data)
    return data.train.rows


def earned(*, logs: int = 5, impressions: int = 6_000) -> Iterator[str]:
    """What policies learnt from small logs of `AdvertWorld` truly earn, in clicks per 10,000 impressions.

    Slates of one, three and six slots, whose logging policy is known.
    """
    methods = ("poem", "plackett-luce", "pl-rank")
    yield (f"{logs} logs of {impressions:,} impressions; drawn from / sorted by, mean and its standard error")
    for slots in (1, 3, 6):
        earned: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(logs):
            world = AdvertWorld(impressions, seed=seed, slots=slots, contexts=300)
            earned.setdefault("the log", []).append((world.truth(world.logging),))
            for method in methods:
                started = time.perf_counter()
                with tempfile.TemporaryDirectory() as folder:
                    how = {"logging": "plackett_luce(old_score)", "bits": 12, "test": False}
                    path = str(offrank.learn(world.source(), method, f"{folder}/p.npz", **how).policy.path)
                    seconds = time.perf_counter() - started
                    both = (world.truth(offrank.Linear(path, greedy=greedy)) for greedy in (False, True))
                    earned.setdefault(method, []).append((*both, seconds / 1e4))
        for method, found in earned.items():
            every = 1e4 * np.array(found)
            error = every.std(axis=0, ddof=1) / math.sqrt(logs)
            each = " / ".join(f"{a:.1f} +- {b:.1f}" for a, b in zip(every.mean(axis=0)[:2], error, strict=False))
            timed = f", {every.mean(axis=0)[2]:.1f} s" if every.shape[1] > 1 else ""
            yield f"{slots} slots, {method:15} {each}{timed}"


def write(world: AdvertWorld, path: Path) -> None:
    """The world's log as Parquet, a row group after the other."""
    pieces = world.tables()
    first = next(pieces)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for piece in pieces:
            writer.write_table(piece)


EARNS = np.array([0.1, 0.1, 0.1, 0.1, 0.13])
NOISE = 600


def noisy_log(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    items = len(EARNS)
    shown = rng.integers(0, items, rows)
    noise = rng.integers(items, items + NOISE, (rows, items, 4))
    own = np.tile(np.arange(items)[:, None], (rows, 1, 1))
    return pa.table(
        {
            "slate": shown[:, None].tolist(),
            "clicks": (rng.random(rows) < EARNS[shown]).astype(float)[:, None].tolist(),
            "candidates": np.tile(np.arange(items), (rows, 1)).tolist(),
            "features": np.concatenate([own, noise], axis=2).tolist(),
            "propensity": np.full(rows, 1 / items),
        }
    )


def truth(policy: offrank.Linear, fresh: Any) -> float:
    source = fresh.select(policy.reads("rank_probs"))
    chances = [policy.rank_probs(one.contexts, one.contexts.candidates)[:, :, 0] @ EARNS for one in source.batches(0)]
    return float(np.concatenate(chances).mean())


def judged(given: Any, policy: offrank.Linear, right: float, **options: Any) -> tuple[float, bool, bool]:
    """(estimate, whether its interval holds the truth, whether same-log is told)."""
    found = offrank.evaluate(given, policy, estimators="snips", **options)["snips"]
    told = any(one.code == "same-log" for one in found.warnings)
    return found.value, found.low <= right <= found.high, told


CANDIDATES, SLOTS = 100, 10


def uniform_log(rows: int, queries: int) -> LogBatch:
    """Uniform slates of these queries, in any order, with a feature per candidate; a ranking to be judged."""
    rng = np.random.default_rng(0)
    query, m = rng.integers(0, queries, rows), CANDIDATES
    slates = np.argpartition(rng.random((rows, m)), SLOTS, axis=1)[:, :SLOTS]
    wanted = best_slates(rng.random((queries, m, SLOTS)), np.full(queries, m), np.full(queries, SLOTS))
    lines = np.arange(queries * m + 1)
    contexts = Contexts(
        query[:, None] * m + np.arange(m),
        np.full(rows, m),
        np.full(rows, SLOTS),
        rankings={"wanted": wanted[query]},
        keys={"query": query},
        features=SparseFeatures(query * m, lines, lines[:-1] % 64, np.ones(queries * m)),
    )
    numbers = np.arange(rows, dtype=np.uint64)
    return LogBatch(contexts, Shown(slates), None, rng.random(rows), np.ones(rows), numbers)


def speed(*, rows: int = 300_000, repeats: int = 5, stream: int = 600_000) -> Iterator[str]:
    """A pass over the examples against scikit-learn's SGDClassifier on the same rows, and memory of streaming.

    Both make one pass of logistic regression over the products shown, features in memory as compressed rows, the same
    sample weights. scikit-learn has one weight per feature and a falling rate, offrank a rate per feature (Adagrad).
    Memory: a log in Parquet, written by the generator, learnt from in a process of its own with its examples on disk.
    """
    world = AdvertWorld(rows, slots=1)
    yield from throughput(Preparation(Logged(), Path(), memory=math.inf).data(world.source(), None, None)[0], repeats)
    with tempfile.TemporaryDirectory() as folder:
        for size in (stream // 4, stream):
            path = Path(folder) / f"{size}.parquet"
            write(AdvertWorld(size, slots=1), path)
            train, seconds, _, peak = alone(partial(streamed, path))
            yield f"{size:,} impressions, {train:,} of them to learn from: {seconds:.1f} s, peak memory {peak:,.0f} MB"


def held_out(*, logs: int = 200, rows: int = 3_000) -> Iterator[str]:
    """A policy judged by the log that it was learnt from, and by the third that was held out of it.

    Logs of a small world whose features are mostly noise: five products, one a little better, each with four features
    of 600 that say nothing. A policy is learnt from each log and judged by snips: by the whole log, by its held-out
    third (`held_out=`), and on fresh impressions, which is the truth. And `same-log` is counted: on the log itself, on
    a shuffled copy within a larger log, on the held-out third, and on another log of the same world.
    """
    fresh = offrank.read_log(noisy_log(10_000, 20_000))
    found: dict[str, list[tuple[float, bool, bool]]] = {}
    truths = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(logs):
            table, other, path = noisy_log(seed, rows), noisy_log(seed + 5_000, rows), Path(folder) / "policy.npz"
            offrank.learn(table, "ips", path, bits=10, test=False)
            policy = offrank.Linear(str(path), greedy=True)
            truths.append(truth(policy, fresh))
            shuffled = pa.concat_tables([other, table]).take(np.random.default_rng(seed).permutation(2 * rows))
            cases: dict[str, tuple[Any, dict[str, Any]]] = {
                "the log itself": (table, {}),
                "held-out third": (table, {"held_out": path}),
                "shuffled with another log": (shuffled, {}),
                "another log": (other, {}),
            }
            for name, (judge, options) in cases.items():
                found.setdefault(name, []).append(judged(judge, policy, truths[-1], **options))
    yield f"{logs} logs of {rows:,} rows; logged {EARNS.mean():.3f}, truth of the policies {np.mean(truths):.3f}"
    yield f"{'judged by':28}{'mean estimate':>15}{'95 % holds truth':>18}{'same-log':>10}"
    for name, each in found.items():
        value, holds, told = (float(np.mean([one[i] for one in each])) for i in range(3))
        yield f"{name:28}{value:15.3f}{holds:18.0%}{told:10.0%}"


def targets(*, rows: int = 200_000, queries: int = 1_000, repeats: int = 5) -> Iterator[str]:
    """How fast PI-OPT's targets, PI weights and greedy slates are, for uniform slates of 10 of 100.

    Targets: sums over impressions by query, then one closed form per query (paper slate-pseudoinverse, App. G).
    Weights: of each impression, for the slates that a learnt policy would show. Contexts: the same sums from batches of
    a log, where contexts must be found by what they hold.
    """
    batch = uniform_log(rows, queries)
    query, sizes = batch.contexts.keys["query"], np.full(queries, CANDIDATES)
    slots = np.full(queries, SLOTS)

    def by_query() -> None:
        sums = ActionSums.zeros(sizes, slots)
        sums.add(query, batch.slates, batch.reward)
        sums.uniform()

    def weights() -> None:
        fresh = replace(batch)
        uniform, wanted = propensities(Uniform(), fresh), propensities(Ranking("wanted"), fresh)
        PI().weigh(fresh, uniform, wanted)

    def contexts() -> None:
        for start in range(0, rows, 10_000):
            some = batch.take(np.arange(start, min(start + 10_000, rows)))
            bare = replace(some.contexts, rankings={})
            ContextSums.of(replace(some, contexts=bare), Uniform()).phi()

    jobs = {"targets, by query": by_query, "PI weights": weights, "targets, contexts found in a log": contexts}
    title = f"{rows:,} uniform slates of {SLOTS} of {CANDIDATES}, {queries:,} queries"
    yield from ratios(title, in_turn(jobs, repeats), rows, "targets, by query")
    scores = np.random.default_rng(1).random((queries, CANDIDATES, SLOTS))
    ways = {way: (lambda way=way: best_slates(scores, sizes, slots, way)) for way in ("greedy", "exact")}
    yield from ratios("Slates from scores", in_turn(ways, repeats), queries, "greedy")


COMMANDS = dict.fromkeys((speed, earned, held_out, targets), "")
if __name__ == "__main__":
    run(__file__, COMMANDS)
