"""A log in Parquet: all item-level estimators, against what pyarrow alone takes to read the same columns.

pyarrow reads whole tables with all its threads and does nothing with them. The log is written to a
temporary folder: list columns that cannot be null, zstd. Three variants of the logging policy: a
ranking in the log or a score, with random swaps (few columns, so reading is quick), and probabilities
of each displayed item at each rank, written in the log (10 x 10 numbers a row).

    python benchmarks/parquet.py [--rows 5000000] [--repeats 5] [--folder /tmp]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
from _timing import alone, in_turn, show
from _worlds import swapped
from rich.console import Console
from rich.table import Table

import offrank
from offrank.log.checksums import verify

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


def read(path: Path, variant: Variant) -> object:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the logs are written, by default a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for variant in VARIANTS:
            compare(variant, Path(folder), arguments.rows, arguments.repeats)
        compare_groups(VARIANTS[0], Path(folder), min(arguments.rows, 1_000_000), arguments.repeats)
        compare_validation(VARIANTS[0], Path(folder), min(arguments.rows, 1_000_000), arguments.repeats)


def compare(variant: Variant, folder: Path, rows: int, repeats: int) -> None:
    """Time and memory of one variant. Logs of the same kind are written once."""
    path = folder / f"matrices-{variant.matrices}.parquet"
    if not path.exists():
        write(path, rows, variant.matrices)
    jobs = {"pyarrow alone": partial(read, path, variant), "offrank": partial(evaluate, path, variant)}
    title = f"{variant.name}: {rows:,} slates of {SLOTS}, logging {variant.logging}, target {variant.target}"
    show(title, in_turn(jobs, repeats), rows, "pyarrow alone")
    memory = (peak(read, path, variant), peak(evaluate, path, variant))
    Console(width=120).print("peak memory: pyarrow's whole table {:,.0f} MB, offrank {:,.0f} MB".format(*memory))


def compare_groups(variant: Variant, folder: Path, rows: int, repeats: int) -> None:
    """What the size of the row groups changes."""
    table = Table(title=f"{variant.name}, {rows:,} rows: row groups", title_justify="left")
    for heading in ("rows per group", "pyarrow s", "offrank s", "offrank MB"):
        table.add_column(heading, justify="right")
    for group in (16_384, 65_536, GROUP, 1_048_576):
        path = write(folder / f"groups-{group}.parquet", rows, variant.matrices, group)
        jobs = {"read": partial(read, path, variant), "evaluate": partial(evaluate, path, variant)}
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


if __name__ == "__main__":
    main()
