"""Learning: a pass over the examples against scikit-learn's SGDClassifier on the same rows, and memory of streaming.

Both make one pass of logistic regression over the products shown, features in memory as compressed rows, the same
sample weights. scikit-learn has one weight per feature and a falling rate, offrank a rate per feature (Adagrad).
Memory: a log in Parquet, written by the generator, learnt from in a process of its own with its examples on disk.
Slates: what policies learnt from small logs of `AdvertWorld` truly earn, in clicks per 10,000 impressions.

    python benchmarks/learning.py [--rows 300000] [--repeats 5] [--stream 600000] [--folder /tmp] [--slates 5]
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from _timing import in_turn, show
from rich.console import Console
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier

import offrank
from offrank.learning import regression
from offrank.learning.descent import WeightedObjective, quantile
from offrank.learning.examples import Data, Examples, Store
from offrank.learning.preparation import Preparation
from offrank.learning.reductions import passes
from offrank.learning.regression import Regression
from offrank.learning.search import Search
from offrank.policies.logged_probabilities import Logged
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


def throughput(data: Data, repeats: int) -> None:
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
    show(
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
    show("One pass, candidates in memory", found, data.train.rows, "regression, products shown")


def compressed(store: Store, size: int) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """The same rows for scikit-learn: features, clicks and how often each row counts."""
    pieces = list(store)
    indices, values = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("indices", "values"))
    lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    matrix = csr_matrix((values, indices, offsets.astype(np.int32)), shape=(len(lengths), size))
    clicks, kept = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("reward", "inclusion"))
    return matrix, clicks.astype(int), 1 / kept


def stream(path: Path) -> tuple[float, float, int]:
    """Seconds, peak memory in MB and training rows of learning with the examples on disk."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        data, _ = Preparation(Logged(), Path(folder), memory=0).data(offrank.read_log(path), None, None)
        Search(Regression(rates=(0.1,), epochs=2), "regression").run(data)
    # Not getrusage: its maximum survives exec, so it would be that of this process's parent.
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return time.perf_counter() - started, int(found[1]) / 1024 if found else float("nan"), data.train.rows


def slates(worlds: int, impressions: int = 6_000) -> None:
    """The truth of policies learnt from slates of one, three and six slots, whose logging policy is known."""
    methods, shown = ("poem", "plackett-luce", "pl-rank"), Console(width=120)
    shown.print(f"{worlds} logs of {impressions:,} impressions; drawn from / sorted by, mean and its standard error")
    for slots in (1, 3, 6):
        earned: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(worlds):
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
            error = every.std(axis=0, ddof=1) / math.sqrt(worlds)
            each = " / ".join(f"{a:.1f} +- {b:.1f}" for a, b in zip(every.mean(axis=0)[:2], error, strict=False))
            timed = f", {every.mean(axis=0)[2]:.1f} s" if every.shape[1] > 1 else ""
            shown.print(f"{slots} slots, {method:15} {each}{timed}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300_000, help="0: only the slates")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--stream", type=int, default=600_000)
    parser.add_argument("--folder", type=Path, help="where the log is written, by default a temporary folder")
    parser.add_argument("--slates", type=int, default=5, help="worlds of each number of slots; 0: leave out")
    arguments = parser.parse_args()
    if arguments.slates:
        slates(arguments.slates)
    if not arguments.rows:
        return
    world = AdvertWorld(arguments.rows, slots=1)
    throughput(Preparation(Logged(), Path(), memory=math.inf).data(world.source(), None, None)[0], arguments.repeats)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for rows in (arguments.stream // 4, arguments.stream):
            path = Path(folder) / f"{rows}.parquet"
            write(AdvertWorld(rows, slots=1), path)
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                seconds, peak, train = pool.apply(stream, (path,))
            text = f"{rows:,} impressions, {train:,} of them to learn from: {seconds:.1f} s, peak memory {peak:,.0f} MB"
            Console(width=120).print(text)


def write(world: AdvertWorld, path: Path) -> None:
    """The world's log as Parquet, a row group after the other."""
    pieces = world.tables()
    first = next(pieces)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for piece in pieces:
            writer.write_table(piece)


if __name__ == "__main__":
    main()
