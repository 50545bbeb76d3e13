"""The Criteo test-bed's text format: the compiled parser, one thread, against plain Python, and the same as Parquet.

The log is simulated and written to a temporary folder as text, as packed text, and by `offrank convert` as Parquet
and as Arrow. Plain Python splits lines and tokens and keeps them in lists; it checks nothing and hashes nothing. It
reads only the beginning of the log. Last, what a pass over the whole log takes of memory, in a process of its own.

    python benchmarks/criteo_parse.py [--impressions 50000] [--repeats 5] [--folder /tmp]
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

from _timing import Times, in_turn
from rich.console import Console
from rich.table import Table

import offrank
from offrank.log.source import Needs, Source
from offrank_papers.adverts import AdvertWorld

PLAIN_LINES = 100_000
LITTLE = Needs(frozenset(["clicks", "propensity", "inclusion"]))
FEATURES = LITTLE | Needs(frozenset(["candidates", "features"]))

PEAK = r"""
import re, sys, offrank
log = offrank.read_log(sys.argv[1], format=sys.argv[2])
if sys.argv[3] == "convert":
    offrank.convert(log, sys.argv[4])
else:
    offrank.check(log)
print(int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024)
"""  # the high-water mark of this process alone; getrusage would count that of the process that began it


def plain(path: Path) -> list[list[list[str]]]:
    """Lines and their features, by `split`."""
    with path.open(encoding="ascii") as file:
        return [[token.split(":") for token in line.split()] for line in islice(file, PLAIN_LINES)]


def inflate(path: Path) -> int:
    with gzip.open(path, "rb") as file:
        return sum(len(data) for data in iter(partial(file.read, 1 << 23), b""))


def read(log: Source, needed: Needs) -> int:
    """Every batch in one thread."""
    chosen = log.select(needed)
    return sum(len(batch) for part in range(chosen.parts()) for batch in chosen.batches(part))


def peak(*words: object) -> float:
    """MiB of a job in a process of its own."""
    done = subprocess.run([sys.executable, "-c", PEAK, *map(str, words)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def measure(folder: Path, impressions: int, repeats: int) -> None:
    text, packed, columns, mapped = (folder / f"log.{end}" for end in ("txt", "txt.gz", "parquet", "arrow"))
    AdvertWorld(impressions).write_text(text)
    with gzip.open(packed, "wb", compresslevel=6) as file:
        file.write(text.read_bytes())
    written = offrank.read_log(text, format="criteo_paper")
    offrank.convert(written, columns)
    offrank.convert(written, mapped)
    converted, zipped = offrank.read_log(columns), offrank.read_log(packed, format="criteo_paper")
    jobs = {
        "plain Python, the beginning": partial(plain, text),
        "text, no features": partial(read, written, LITTLE),
        "text": partial(read, written, FEATURES),
        "packed text": partial(read, zipped, FEATURES),
        "gzip alone": partial(inflate, packed),
        "Parquet, no features": partial(read, converted, LITTLE),
        "Parquet": partial(read, converted, FEATURES),
        "Arrow": partial(read, offrank.read_log(mapped), FEATURES),
    }
    with text.open("rb") as file:
        beginning = sum(map(len, islice(file, PLAIN_LINES)))
    sizes = dict.fromkeys(jobs, text.stat().st_size) | {"plain Python, the beginning": beginning}
    show(in_turn(jobs, repeats), sizes, impressions)
    console = Console(width=120)
    sized = {path.name: f"{path.stat().st_size / 1e6:,.0f} MB" for path in (text, packed, columns, mapped)}
    console.print(f"sizes: {sized}")
    for job in ("check", "convert"):
        console.print(f"peak memory of {job}: {peak(text, 'criteo_paper', job, folder / 'again.parquet'):,.0f} MiB")


def show(times: dict[str, Times], sizes: dict[str, int], impressions: int) -> None:
    table = Table(title=f"{impressions:,} impressions, one thread; MB of unpacked text", title_justify="left")
    table.add_column("job")
    for heading in ("best s", "median s", "MB/s, best", "median"):
        table.add_column(heading, justify="right")
    for name, found in times.items():
        rates = (sizes[name] / seconds / 1e6 for seconds in (found.best, found.median))
        table.add_row(name, f"{found.best:.3g}", f"{found.median:.3g}", *(f"{rate:,.0f}" for rate in rates))
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--impressions", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        measure(Path(folder), chosen.impressions, chosen.repeats)


if __name__ == "__main__":
    main()
