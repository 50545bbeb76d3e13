"""What is said of healthy and of broken logs, held against what is promised.

python benchmarks/trust.py worlds [--logs 100] [--rows 1000 5000 20000] [--only NAME] [--workers 2] [--kept FILE]
[--write]
python benchmarks/trust.py battery [--worlds 960] [--seed 1] [--only robots] [--workers 2] [--kept FILE] [--write]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from _page import markdown_head, markdown_row, measured, restored, run
from trust_worlds.battery import NO_LOG_SHOWS, kinds, trial
from trust_worlds.judged import Found, Said, Share, alarms, by_fault, by_kind, by_world, promises, said_of, totals
from trust_worlds.world import WORLDS, Outcome, outcome

from offrank.language.formatting import percent

BEFORE = Path(__file__).parent / "trust_worlds" / "before.json"
"""Seed and worlds -> promise -> of how many logs commit edab7ebd held it, and of how many it could."""


def outcomes(task: tuple[str, int, int]) -> list[Outcome]:
    """All logs of one world and size: its name, rows and logs."""
    name, rows, logs = task
    return [outcome(WORLDS[name], rows, seed) for seed in range(logs)]


def worlds(
    *,
    logs: int = 100,
    rows: tuple[int, ...] = (1000, 5000, 20000),
    only: str = "",
    workers: int = 2,
    kept: Path | None = None,
) -> Iterator[str]:
    """What is said of 18 healthy and 60 broken worlds, and whether that is right.

    For each world and size of the log: how often the trust is *sound*, *with care* and *none*, which finding is named
    first, and whether its interval holds the truth. Then the totals, held against what is promised.
    """
    tasks = [(name, size, logs) for name in WORLDS if only in name for size in rows]
    found: Found = {
        (name, size): [restored(Outcome, one) for one in every]
        for (name, size, _), every in measured(outcomes, tasks, workers, kept)
    }
    yield from (f"{logs} logs of each world and size.", "")
    yield from markdown_head("Promised", "Measured", "Logs")
    for promised, share in totals(found).items():
        yield markdown_row(promised, f"{100 * share.count / max(share.of, 1):.1f} %", f"{share.of:,}")
    yield ""
    sizes = [f"{size:,} rows" for size in rows]
    yield markdown_row("World", *sizes, "named first", "right", "holds", "off", "decides", "astray")
    yield "|---|" + "--:|" * len(sizes) + "---|--:|--:|--:|--:|--:|"
    yield from (markdown_row(*cells) for cells in by_world(found, rows))


def judged(task: tuple[int, int, int]) -> Said:
    """What is said of the log of a world: seed, how many worlds there are, number."""
    return said_of(trial(*task))


def battery(
    *, worlds: int = 960, seed: int = 1, only: str = "", workers: int = 2, kept: Path | None = None
) -> Iterator[str]:
    """Never sound and wrong: worlds that are drawn, half of them with a fault, held against what is promised.

    Of each world one log is asked about as anyone would, by the default estimators; of an experiment both arms are
    compared. The truth is a sum over slates, or is counted where it is none.
    """
    tasks = [(seed, worlds, number) for number, (kind, _) in enumerate(kinds(worlds)) if only in kind]
    now = [Said.of(said) for _, said in measured(judged, tasks, workers, kept)]
    before = json.loads(BEFORE.read_text()).get(f"{seed} {worlds}", {})
    yield from (f"{len(now)} worlds with a log each, {sum(bool(one.fault) for one in now)} of them with a fault.", "")
    yield from markdown_head("Promised", "before", "logs", "now", "logs")
    for promised, found in promises(now).items():
        yield markdown_row(promised, *_cells(Share(*before.get(promised, (0, 0)))), *_cells(found))
    yield ""
    head = ["fault", "logs", "no answer", "a finding", "wrong", "of these *sound*", "a finding", "the assumption named"]
    head += ["change wrong", "wrong sign", "most often said"]
    yield from _table(head, by_fault(now))
    yield from ("", f"No log shows: {'; '.join(NO_LOG_SHOWS)}.", "")
    head = ["without a fault", "logs", "sound", "with care", "none", "value held", "difference held", "decided rightly"]
    yield from _table([*head, "wrong sign", "equal, called different"], by_kind(now))
    said = ", ".join(f"`{code}` {count}" for code, count in alarms(now).most_common())
    yield f"\nSaid of logs without a fault: {said or 'nothing'}."


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield from markdown_head(*head)
    yield from (markdown_row(*cells) for cells in rows)


def _cells(found: Share) -> tuple[object, object]:
    return (percent(found.count / found.of, 1), found.of) if found.of else ("", "")


COMMANDS = {worlds: "trust", battery: "battery"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
