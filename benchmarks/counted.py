"""What an evaluation pays for: CPU seconds of each part of the pass, of `pi` and `auto` beside `ips`, of numbers alone.

Three logs in Parquet: the slates of 5 of `side_by_side.py` with logged probabilities; slates of 5 with the scores of
two Plackett-Luce policies in 32 bits, for four estimators; and slates of 4 out of 6 candidates in 5,000 distinct
contexts, drawn by Plackett-Luce; and 200 of these in memory. Each job runs once to warm up; then the best of several
runs counts.
The parts of a pass are measured in one thread, each without those that it contains.

    python benchmarks/counted.py [--rows 1000000] [--contexts 300000] [--repeats 3]
        [--table docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import generated
from _worlds import lists, narrow, reranked
from _worlds import table as table_of
from estimators import Here
from side_by_side import measured, pyarrow_alone
from side_by_side import write as write_slates

import offrank
from offrank.language.formatting import percent
from offrank.sums.base import Tee

MARK = "what is counted"
DISTINCT, ITEMS, SLOTS = 5_000, 6, 4
ESTIMATORS = ("ips", "pi", "auto")
FOUR = ("ips", "snips", "rips", "ipm")
FEW = 20
"""Times that a small log is asked, for one measurement."""
SMALL = 0.01
"""Parts below this share of the whole stand together."""


def write_contexts(path: Path, rows: int) -> Path:
    """Write slates of few distinct contexts, which occur again and again in every row group."""
    rng = np.random.default_rng(5)
    old, new = (rng.random((DISTINCT, ITEMS)) * 2 + 0.1 for _ in range(2))
    relevance = rng.random((DISTINCT, ITEMS)) / 2
    which = rng.integers(0, DISTINCT, rows)
    slates = np.argsort(-np.log(old[which]) - rng.gumbel(size=(rows, ITEMS)), axis=1)[:, :SLOTS]
    chance = np.take_along_axis(relevance[which], slates, axis=1) / np.arange(1, SLOTS + 1)
    columns = {
        "context": pa.array(which),
        "candidates": lists(np.tile(np.arange(ITEMS), (rows, 1))),
        "slate": lists(slates),
        "clicks": lists((rng.random((rows, SLOTS)) < chance).astype(np.uint8)),
        "old": lists(old[which]),
        "new": lists(new[which]),
    }
    pq.write_table(table_of(columns), path, compression="zstd", row_group_size=50_000)
    return path


def write_scores(path: Path, rows: int) -> Path:
    """Write slates of 5 beside the scores that drew them, and those of another policy."""
    pq.write_table(narrow(reranked(rows, 5)), path, compression="zstd", row_group_size=250_000)
    return path


def four(path: Path) -> None:
    offrank.evaluate(str(path), "plackett_luce(new_score)", "plackett_luce(old_score)", FOUR)


def alone(path: Path) -> None:
    offrank.estimate(str(path), "plackett_luce(new_score)", "plackett_luce(old_score)", FOUR)


def many_times(verb: Callable[..., Any], rows: pa.Table) -> None:
    for _ in range(FEW):
        verb(rows, "top(new)", "plackett_luce(old)", "snips")


def judged(path: Path, name: str) -> float:
    found = offrank.evaluate(str(path), "top(new)", "plackett_luce(old)", name)
    return found[name].value


def by_logged(path: Path, **keywords: Any) -> float:
    return offrank.evaluate(str(path), "written(slate=new_propensity)", "logged", "ips", **keywords)["ips"].value


class Parts:
    """The CPU seconds of each named fold of a run, without those of the folds inside it."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inside = [0.0]

    def add(self, tee: Tee, part: dict[str, Any] | None, batch: Any) -> dict[str, Any]:
        """As `Tee.add`."""
        known = part or {}
        return {name: self._timed(name, fold, known.get(name), batch) for name, fold in tee.folds.items()}

    def _timed(self, name: str, fold: Any, part: Any, batch: Any) -> Any:
        self._inside.append(0.0)
        started = time.process_time()
        found = fold.add(part, batch)
        whole = time.process_time() - started
        self.seconds[name] += whole - self._inside.pop()
        self._inside[-1] += whole
        return found


def parts(path: Path, repeats: int) -> tuple[float, dict[str, float]]:
    """Return the CPU seconds of `ips` in one thread, and of each part: the run that took least."""
    best: tuple[float, dict[str, float]] = (np.inf, {})
    plain = Tee.add
    for _ in range(repeats + 1):
        timed = Parts()
        Tee.add = lambda tee, part, batch, timed=timed: timed.add(tee, part, batch)  # type: ignore[method-assign]
        started = time.process_time()
        try:
            by_logged(path, executor=Here())
        finally:
            Tee.add = plain  # type: ignore[method-assign]
        best = min(best, (time.process_time() - started, dict(timed.seconds)), key=lambda one: one[0])
    return best


def table(slates: Path, scores: Path, contexts: Path, rows: int, repeats: int) -> Iterator[str]:
    jobs = {"pyarrow, reading alone": partial(pyarrow_alone, slates), "`ips`": partial(by_logged, slates)}
    yield f"{rows:,} slates of 5 with logged probabilities, as many with two scores for {', '.join(FOUR)}, then"
    yield f"{pq.read_metadata(contexts).num_rows:,} slates of {SLOTS} out of {ITEMS} candidates in {DISTINCT:,}"
    yield "contexts, by `plackett_luce(old)`; target `top(new)`."
    yield ""
    yield "| log | job | CPU s |"
    yield "|---|---|--:|"
    for name, (cpu, *_) in measured(jobs, repeats).items():
        yield f"| logged probabilities | {name} | {cpu:.2f} |"
    jobs = {
        "pyarrow, reading alone": partial(pq.read_table, scores),
        "four estimators": partial(four, scores),
        "their numbers alone, `estimate`": partial(alone, scores),
    }
    for name, (cpu, *_) in measured(jobs, repeats).items():
        yield f"| two scores | {name} | {cpu:.2f} |"
    for name, (cpu, *_) in measured({one: partial(judged, contexts, one) for one in ESTIMATORS}, repeats).items():
        yield f"| contexts | `{name}` | {cpu:.2f} |"
    rows_in_memory = pq.read_table(contexts).slice(0, 200)
    jobs = {
        f"`{verb.__name__}`": partial(many_times, verb, rows_in_memory) for verb in (offrank.evaluate, offrank.estimate)
    }
    for name, (cpu, *_) in measured(jobs, repeats).items():
        yield f"| 200 rows in memory | {name} with `snips` | {cpu / FEW:.4f} |"
    whole, each = parts(slates, repeats)
    each["(reading, rules of rows, and the result)"] = whole - sum(each.values())
    few = {name: seconds for name, seconds in each.items() if seconds >= SMALL * whole}
    few["(all others)"] = sum(each.values()) - sum(few.values())
    yield ""
    yield f"The parts of `ips` with logged probabilities, in one thread; {whole:.2f} CPU seconds in all:"
    yield ""
    yield "| part | CPU s | share |"
    yield "|---|--:|--:|"
    for name, seconds in sorted(few.items(), key=lambda one: -one[1]):
        yield f"| {name} | {seconds:.3f} | {percent(seconds / whole, 0)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--contexts", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--table", type=Path, help="the page that includes the table")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        slates = write_slates(Path(folder) / "slates.parquet", given.rows)
        scores = write_scores(Path(folder) / "scores.parquet", given.rows)
        contexts = write_contexts(Path(folder) / "contexts.parquet", given.contexts)
        lines = list(table(slates, scores, contexts, given.rows, given.repeats))
    print(*lines, sep="\n")
    if given.table:
        generated(given.table, MARK, lines, "benchmarks/counted.py")


if __name__ == "__main__":
    main()
