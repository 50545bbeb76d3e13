"""How fast logs and judged documents are read, beside pyarrow, plain Python and scikit-learn, and in what memory.

python benchmarks/reading.py parquet [--rows 5000000] [--repeats 5]
python benchmarks/reading.py criteo [--impressions 50000] [--repeats 5]
python benchmarks/reading.py svmlight [--queries 600] [--repeats 5]
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from _commands import run
from _timing import Times, alone, in_turn, show
from _worlds import swapped
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file

import offrank
from offrank.log.checksums import verify
from offrank.log.graded_queries import Judged
from offrank.log.source import Needs, Source
from offrank.readers.svmlight import read_svmlight, write_svmlight
from offrank.simulation.judged_queries import mslr_like
from offrank_papers.adverts import AdvertWorld

SLOTS = 10
EXAMINATION = [1 / rank for rank in range(1, SLOTS + 1)]
ESTIMATORS = ["ipm", "snipm", "pbm", "interpol(window=2)", 'interpol(window=2, form="windowed")']
GROUP = 262_144


@dataclass(frozen=True)
class Variant:
    """Columns and policies of a job."""

    name: str
    target: str
    logging: str
    columns: tuple[str, ...]
    matrices: bool = False


VARIANTS = (
    Variant("rankings", "ranking(new)", "swaps(ranking(base), 0.9)", ("slate", "clicks", "base", "new")),
    Variant(
        "scores",
        "top(new_score)",
        "swaps(top(base_score), 0.9)",
        ("slate", "clicks", "base_score", "new_score"),
    ),
    Variant("matrices", "ranking(new)", "logged", ("slate", "clicks", "new", "rank_propensity"), True),
)


def write(path: Path, rows: int, matrices: bool, group: int = GROUP) -> Path:
    """A simulated log."""
    rng, writer = np.random.default_rng(1), None
    step = max(group, GROUP)
    for first in range(0, rows, step):
        piece = swapped(min(step, rows - first), SLOTS, rng, matrices=matrices)
        if writer is None:
            writer = pq.ParquetWriter(path, piece.schema, compression="zstd", use_dictionary=["clicks.list.element"])
        writer.write_table(piece, row_group_size=group)
    if writer is not None:
        writer.close()
    return path


def by_pyarrow(path: Path, variant: Variant) -> object:
    return pq.read_table(path, columns=list(variant.columns))


def evaluate(path: Path, variant: Variant) -> object:
    log = offrank.read_log(str(path))
    return offrank.evaluate(
        log, target=variant.target, logging=variant.logging, estimators=ESTIMATORS, examination=EXAMINATION
    )


def peak(job: Callable[[Path, Variant], object], path: Path, variant: Variant) -> float:
    """Peak memory in MB of a process of its own that does one job."""
    return alone(partial(_silent, job, path, variant))[-1]


def _silent(job: Callable[[Path, Variant], object], path: Path, variant: Variant) -> None:
    job(path, variant)


def compare(variant: Variant, folder: Path, rows: int, repeats: int) -> None:
    """Time and memory of one variant. Logs of the same kind are written once."""
    path = folder / f"matrices-{variant.matrices}.parquet"
    if not path.exists():
        write(path, rows, variant.matrices)
    jobs = {"pyarrow alone": partial(by_pyarrow, path, variant), "offrank": partial(evaluate, path, variant)}
    title = f"{variant.name}: {rows:,} slates of {SLOTS}, logging {variant.logging}, target {variant.target}"
    show(title, in_turn(jobs, repeats), rows, "pyarrow alone")
    memory = (peak(by_pyarrow, path, variant), peak(evaluate, path, variant))
    Console(width=120).print("peak memory: pyarrow's whole table {:,.0f} MB, offrank {:,.0f} MB".format(*memory))


def compare_groups(variant: Variant, folder: Path, rows: int, repeats: int) -> None:
    """What the size of the row groups changes."""
    table = Table(title=f"{variant.name}, {rows:,} rows: row groups", title_justify="left")
    for heading in ("rows per group", "pyarrow s", "offrank s", "offrank MB"):
        table.add_column(heading, justify="right")
    for group in (16_384, 65_536, GROUP, 1_048_576):
        path = write(folder / f"groups-{group}.parquet", rows, variant.matrices, group)
        jobs = {"read": partial(by_pyarrow, path, variant), "evaluate": partial(evaluate, path, variant)}
        times = in_turn(jobs, repeats)
        seconds = (times["read"].best, times["evaluate"].best)
        table.add_row(f"{group:,}", *(f"{s:.3g}" for s in seconds), f"{peak(evaluate, path, variant):,.0f}")
    Console(width=120).print(table)


def compare_validation(variant: Variant, folder: Path, rows: int, repeats: int) -> None:
    """What validating an Arrow file costs: of the offsets and texts of all columns, and of their checksums."""
    path = folder / "validated.arrow"
    offrank.convert(str(write(folder / "validated.parquet", rows, variant.matrices)), path)

    def each(check: Callable[[pa.RecordBatch, object], object]) -> None:
        with pa.ipc.open_file(pa.memory_map(str(path))) as file:
            for number in range(file.num_record_batches):
                data, metadata = file.get_batch_with_custom_metadata(number)
                check(data.select(variant.columns), metadata)

    jobs = {
        "evaluate": partial(evaluate, path, variant),
        "validation alone": lambda: each(lambda data, _: data.validate(full=True)),
        "checksums alone": lambda: each(lambda data, metadata: verify(data, metadata, str(path))),
    }
    title = f"{variant.name}: {rows:,} slates of {SLOTS}, {path.stat().st_size / 1e6:,.0f} MB of Arrow, CPU seconds"
    show(title, in_turn(jobs, repeats, time.process_time), rows, "evaluate")


PLAIN_LINES = 100_000
LITTLE = Needs(frozenset(["clicks", "propensity", "inclusion"]))
FEATURES = LITTLE | Needs(frozenset(["candidates", "features"]))

PASS = r"""
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


def each_batch(log: Source, needed: Needs) -> int:
    """Every batch in one thread."""
    chosen = log.select(needed)
    return sum(len(batch) for part in range(chosen.parts()) for batch in chosen.batches(part))


def peak_of(*words: object) -> float:
    """MiB of a job in a process of its own."""
    done = subprocess.run([sys.executable, "-c", PASS, *map(str, words)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def parsed(folder: Path, impressions: int, repeats: int) -> None:
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
        "text, no features": partial(each_batch, written, LITTLE),
        "text": partial(each_batch, written, FEATURES),
        "packed text": partial(each_batch, zipped, FEATURES),
        "gzip alone": partial(inflate, packed),
        "Parquet, no features": partial(each_batch, converted, LITTLE),
        "Parquet": partial(each_batch, converted, FEATURES),
        "Arrow": partial(each_batch, offrank.read_log(mapped), FEATURES),
    }
    with text.open("rb") as file:
        beginning = sum(map(len, islice(file, PLAIN_LINES)))
    sizes = dict.fromkeys(jobs, text.stat().st_size) | {"plain Python, the beginning": beginning}
    in_megabytes(in_turn(jobs, repeats), sizes, impressions)
    console = Console(width=120)
    sized = {path.name: f"{path.stat().st_size / 1e6:,.0f} MB" for path in (text, packed, columns, mapped)}
    console.print(f"sizes: {sized}")
    for job in ("check", "convert"):
        console.print(f"peak memory of {job}: {peak_of(text, 'criteo_paper', job, folder / 'again.parquet'):,.0f} MiB")


def in_megabytes(times: dict[str, Times], sizes: dict[str, int], impressions: int) -> None:
    table = Table(title=f"{impressions:,} impressions, one thread; MB of unpacked text", title_justify="left")
    table.add_column("job")
    for heading in ("best s", "median s", "MB/s, best", "median"):
        table.add_column(heading, justify="right")
    for name, found in times.items():
        rates = (sizes[name] / seconds / 1e6 for seconds in (found.best, found.median))
        table.add_row(name, f"{found.best:.3g}", f"{found.median:.3g}", *(f"{rate:,.0f}" for rate in rates))
    Console(width=120).print(table)


SMALL = 25
REFERENCE = "scikit-learn, a piece"

READING = r"""
import re, sys
from offrank.readers.svmlight import read_svmlight
high = lambda: int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
read_svmlight(sys.argv[1])
before = high()
judged = read_svmlight(sys.argv[2])
print(high() - before, judged.features.nbytes / 2**20)
"""  # the small set first, so that the libraries are not counted


def digits(judged: Judged) -> Judged:
    """The same set with features of 15 to 17 digits."""
    features = np.random.default_rng(0).normal(size=judged.features.shape)
    return Judged(judged.query, judged.first, judged.grade, features, judged.document)


def loaded(folder: Path, queries: int, repeats: int) -> None:
    judged = mslr_like(queries)
    piece = judged.take(np.arange(min(SMALL, queries)))
    sets = {"text": judged, "piece": piece, "digits": digits(piece)}
    paths = {name: folder / f"{name}.txt" for name in sets}
    for name, each in sets.items():
        write_svmlight(each, paths[name])
    packed = folder / "packed.txt.gz"
    packed.write_bytes(gzip.compress(paths["text"].read_bytes(), compresslevel=6))
    assert read_svmlight(paths["text"]).features.tobytes() == judged.features.tobytes()
    jobs = {
        REFERENCE: partial(load_svmlight_file, str(paths["piece"]), query_id=True),
        "offrank, the same piece": partial(read_svmlight, paths["piece"]),
        "offrank": partial(read_svmlight, paths["text"]),
        "offrank, packed": partial(read_svmlight, packed),
        "offrank, 17 digits": partial(read_svmlight, paths["digits"]),
    }
    read = [paths["piece"], paths["piece"], paths["text"], paths["text"], paths["digits"]]
    sizes = {name: path.stat().st_size for name, path in zip(jobs, read, strict=True)}
    beside_scikit(in_turn(jobs, repeats), sizes, judged.rows)
    done = subprocess.run(
        [sys.executable, "-c", READING, paths["piece"], paths["text"]], check=True, capture_output=True, text=True
    )
    peak, result = map(float, done.stdout.split())
    Console(width=120).print(f"peak memory of reading: {peak:,.0f} MiB; the features alone have {result:,.0f} MiB")


def beside_scikit(times: dict[str, Times], sizes: dict[str, int], rows: int) -> None:
    rate = {name: sizes[name] / found.best / 1e6 for name, found in times.items()}
    table = Table(title=f"{rows:,} documents, one thread; MB of unpacked text", title_justify="left")
    table.add_column("job")
    for heading in ("MB", "best s", "median s", "MB/s, best", "times scikit-learn"):
        table.add_column(heading, justify="right")
    for name, found in times.items():
        cells = (sizes[name] / 1e6, found.best, found.median, rate[name], rate[name] / rate[REFERENCE])
        table.add_row(name, *(f"{cell:,.3g}" for cell in cells))
    Console(width=120).print(table)


def parquet(*, rows: int = 5_000_000, repeats: int = 5) -> None:
    """A log in Parquet: all item-level estimators, against what pyarrow alone takes to read the same columns.

    pyarrow reads whole tables with all its threads and does nothing with them. The log is written to a temporary
    folder: list columns that cannot be null, zstd. Three variants of the logging policy: a ranking in the log or a
    score, with random swaps (few columns, so reading is quick), and probabilities of each displayed item at each rank,
    written in the log (10 x 10 numbers a row).
    """
    with tempfile.TemporaryDirectory() as folder:
        for variant in VARIANTS:
            compare(variant, Path(folder), rows, repeats)
        compare_groups(VARIANTS[0], Path(folder), min(rows, 1_000_000), repeats)
        compare_validation(VARIANTS[0], Path(folder), min(rows, 1_000_000), repeats)


def criteo(*, impressions: int = 50_000, repeats: int = 5) -> None:
    """The Criteo test-bed's text format: the compiled parser, one thread, against plain Python and Parquet.

    The log is simulated and written to a temporary folder as text, as packed text, and by `offrank convert` as Parquet
    and as Arrow. Plain Python splits lines and tokens and keeps them in lists; it checks nothing and hashes nothing. It
    reads only the beginning of the log. Last, what a pass over the whole log takes of memory, in a process of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        parsed(Path(folder), impressions, repeats)


def svmlight(*, queries: int = 600, repeats: int = 5) -> None:
    """Judged documents in SVMlight's format, read by one thread, against scikit-learn's loader.

    The sets are simulated (`mslr_like`: 136 features with six decimals, written out) and, beside them, numbers with as
    many digits as a double has. scikit-learn reads a smaller piece and is compared by rate. Last, what reading takes of
    memory beyond the result, in a process of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        loaded(Path(folder), queries, repeats)


if __name__ == "__main__":
    run(__file__, dict.fromkeys((parquet, criteo, svmlight), ""))
