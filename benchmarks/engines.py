"""What crosses the wire: bytes of the state that one part of a log is reduced to, per job.

Prints the table of docs/how-to/engines.md. A log of 20,000 slates of 5 of 20 items, 2,000 queries; one part.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import offrank
from offrank.readers.tables import MemoryTable
from offrank.readers.wide import WideLog
from offrank.running.states import dumps
from offrank.simulation import SearchWorld

ROWS = 20_000


@dataclass(frozen=True)
class Measuring(MemoryTable):
    """A table as one part, whose states are weighed: an engine on this machine."""

    part_rows: int = ROWS
    sizes: list[int] = field(default_factory=list, compare=False)

    def engine(self) -> Measuring:
        return self

    def each(self, task: Callable[[int], Any], progress: object = None) -> Iterator[Any]:
        state = task(0)
        self.sizes.append(len(dumps(state)))
        yield state


def jobs(folder: Path) -> dict[str, Callable[[Any], object]]:
    one = "plackett_luce(new_score)"
    two = {"new": one, "best": "top(new_score)"}
    five = ["ips", "snips", "clip(ips, 10)", "clip(snips, 10)", "clip(ips, 100)"]
    return {
        "`evaluate`, one policy by `ips`": lambda log: offrank.evaluate(log, one, estimators="ips"),
        "`evaluate`, two policies by five estimators": lambda log: offrank.evaluate(log, two, estimators=five),
        "the same, `by` 2 devices": lambda log: offrank.evaluate(log, two, estimators=five, by="device"),
        "the same, bootstrap of 200 replicates": lambda log: offrank.evaluate(
            log, two, estimators=five, interval="bootstrap"
        ),
        "`check`": offrank.check,
        "`harvest_clicks`": offrank.harvest_clicks,
        "`fit_clicks`, pbm": lambda log: offrank.fit_clicks(log, "pbm", folder / "pbm.json"),
        "`fit_clicks`, dbn": lambda log: offrank.fit_clicks(log, "dbn", folder / "dbn.json"),
    }


def main() -> None:
    world = SearchWorld(impressions=ROWS, queries=2_000, candidates=20, slots=5, seed=1)
    rows: pa.Table = world.table(ROWS, 0)
    print("| job | states of a part, bytes |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs(Path(folder)).items():
            table = Measuring(rows)
            job(WideLog(table, {}))
            print(f"| {name} | {' + '.join(f'{size:,}' for size in table.sizes)} |")
    print(f"\nThe log itself takes {rows.nbytes / 2**20:.0f} MiB.")


if __name__ == "__main__":
    main()
