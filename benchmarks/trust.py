"""What is said of 18 healthy and 60 broken worlds, and whether that is right.

For each world and size of the log: how often the trust is *sound*, *with care* and *none*, which finding is
named first, and whether its interval holds the truth. Then the totals, held against what is promised.

    python benchmarks/trust.py [--logs 100] [--rows 1000 5000 20000] [--workers 2] [--only NAME]
        [--write docs/concepts/trust.md]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from _page import generated
from trust_worlds import WORLDS
from trust_worlds.measure import Outcome, most_frequent, outcome
from trust_worlds.tables import Found, table, totals, words


def judged(task: tuple[str, int, int]) -> tuple[str, int, list[Outcome]]:
    """All logs of one world and size."""
    name, rows, logs = task
    return name, rows, [outcome(WORLDS[name], rows, seed) for seed in range(logs)]


def measured(names: Iterable[str], sizes: list[int], logs: int, workers: int, kept: Path | None) -> Found:
    """Every world and size, printed as they come; what the file `kept` holds is not computed again."""
    found = dict(_kept(kept, logs))
    tasks = [(name, rows, logs) for name in names for rows in sizes if (name, rows) not in found]
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for name, rows, outcomes in pool.map(judged, tasks):
            found[name, rows] = outcomes
            print(f"{name:50} {rows:6} {words(outcomes)}  {most_frequent(outcomes)}", flush=True)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps([name, rows, [asdict(one) for one in outcomes]]) + "\n")
    return found


def _kept(path: Path | None, logs: int) -> Iterator[tuple[tuple[str, int], list[Outcome]]]:
    for line in path.read_text().splitlines() if path and path.exists() else ():
        name, rows, outcomes = json.loads(line)
        if len(outcomes) == logs:
            yield (name, rows), [Outcome(**one) for one in outcomes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 5000, 20000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="worlds whose name holds this")
    parser.add_argument("--kept", type=Path, help="a file of what was measured, to go on from")
    parser.add_argument("--write", type=Path, help="the page that includes the table, to write the tables to")
    arguments = parser.parse_args()
    names = [name for name in WORLDS if arguments.only in name]
    found = measured(names, arguments.rows, arguments.logs, arguments.workers, arguments.kept)
    lines = [f"{arguments.logs} logs of each world and size.", "", *totals(found), "", *table(found, arguments.rows)]
    print("", *lines, sep="\n")
    if arguments.write:
        generated(arguments.write, "trust", lines, "benchmarks/trust.py")


if __name__ == "__main__":
    main()
