"""What a pair of query and item costs a click model: bytes of memory while it is learnt, and of its files.

Each model is learnt by a process of its own from a log of 10 items for each query, of which 6 impressions show 5, in
random orders. "Resident" is the growth of the peak of its resident memory (VmHWM) since before, with that of reading,
"traced" the peak of what NumPy and Python have allocated by then, both divided by the pairs; "further" is what each
pair of the larger log costs beyond the smaller, resident.

    python benchmarks/click_memory.py [--pairs 1000000] [--more 3000000] [--write docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _page import generated

import offrank

MODELS = ("dctr", "pbm", "ubm", "dbn")
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


def peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def measured(model: str, log: Path, traced: bool) -> tuple[float, ...]:
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
    found = [pairs, peak() - before]
    for name in ("model.json", "model.npz"):
        fitted.save(log.parent / name, overwrite=True)
        found.append((log.parent / name).stat().st_size)
    return tuple(found)


def alone(model: str, log: Path, traced: bool) -> tuple[float, ...]:
    """What `measured` returns, of a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured, (model, log, traced))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--more", type=int, default=3_000_000)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    sizes = (options.pairs, options.more)
    lines = [f"| bytes of each pair | traced | resident | resident, of {sizes[1]:,} | further | JSON | `.npz` |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / f"{size}.parquet" for size in sizes]
        for log, size in zip(logs, sizes, strict=True):
            write_log(log, size)
        for model in MODELS:
            _, traced = alone(model, logs[0], True)
            (pairs, resident, *files), (more, larger, *_) = (alone(model, log, False) for log in logs)
            each = [one / pairs for one in (traced, resident, *files)]
            each[2:2] = [larger / more, (larger - resident) / (more - pairs)]
            lines.append(f"| `{model}` | {' | '.join(f'{one:,.0f}' for one in each)} |")
            print(lines[-1], flush=True)
    if options.write:
        generated(options.write, "click memory", lines, "benchmarks/click_memory.py")


if __name__ == "__main__":
    main()
