"""What is said of healthy and of broken logs, held against what is promised.

python benchmarks/trust.py worlds [--logs 100] [--rows 1000 5000 20000] [--only NAME] [--workers 2] [--kept FILE]
[--write]
python benchmarks/trust.py battery [--worlds 960] [--seed 1] [--only robots] [--workers 2] [--kept FILE]
[--before FILE] [--notes] [--write]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from _page import markdown_head, markdown_row, measured, restored, run
from trust_worlds import WORLDS
from trust_worlds.battery import NO_LOG_SHOWS, kinds, trial
from trust_worlds.judged import Said, alarms, by_fault, by_kind, note, promises, said_of
from trust_worlds.measure import Outcome, Share, most_frequent, outcome
from trust_worlds.tables import Found, table, totals, words

from offrank.language.formatting import percent

Key = tuple[int, int]
"""The seed and how many worlds there are."""
BEFORE = Path(__file__).parent / "trust_worlds" / "before.json"
"""Seed and worlds -> promise -> of how many logs it held, and of how many it could."""


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
    found: Found = {}
    tasks = [(name, size, logs) for name in WORLDS if only in name for size in rows]
    for (name, size, _), every in measured(outcomes, tasks, workers, kept):
        found[name, size] = [restored(Outcome, one) for one in every]
        said = f"{words(found[name, size])}  {most_frequent(found[name, size])}"
        print(f"{name:50} {size:6} {said}", file=sys.stderr, flush=True)
    yield from (f"{logs} logs of each world and size.", "", *totals(found), "", *table(found, rows))


def judged(task: tuple[int, int, int]) -> dict[str, Any]:
    """What is said of the log of a world: seed, how many worlds there are, number."""
    return said_of(trial(*task)).to_dict()


def earlier(before: Path | None, key: Key) -> Mapping[str, Share]:
    """What was found of these worlds before."""
    if before is not None:
        lines = map(json.loads, before.read_text(encoding="utf-8").splitlines())
        return promises([Said.of(said) for task, said in lines if tuple(task[:2]) == key])
    known = json.loads(BEFORE.read_text()).get(" ".join(map(str, key)), {})
    return {promised: Share(*found) for promised, found in known.items()}


def lines(now: Sequence[Said], before: Mapping[str, Share]) -> Iterator[str]:
    """The page."""
    faulty = sum(bool(one.fault) for one in now)
    yield f"{len(now)} worlds with a log each, {faulty} of them with a fault."
    yield ""
    yield from markdown_head("Promised", "before", "logs", "now", "logs")
    for promised, found in promises(now).items():
        yield markdown_row(promised, *_cells(before.get(promised, Share(0, 0))), *_cells(found))
    yield ""
    head = ["fault", "logs", "no answer", "a finding", "wrong", "of these *sound*", "a finding", "the assumption named"]
    head += ["change wrong", "wrong sign", "most often said"]
    yield from _table(head, by_fault(now))
    yield from ("", f"No log shows: {'; '.join(NO_LOG_SHOWS)}.", "")
    head = ["without a fault", "logs", "sound", "with care", "none", "value held", "difference held", "decided rightly",
            "wrong sign", "equal, called different"]  # fmt: skip
    yield from _table(head, by_kind(now))
    said = ", ".join(f"`{code}` {count}" for code, count in alarms(now).most_common())
    yield f"\nSaid of logs without a fault: {said or 'nothing'}."


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield from markdown_head(*head)
    yield from (markdown_row(*cells) for cells in rows)


def _cells(found: Share) -> tuple[object, object]:
    return (percent(found.count / found.of, 1), found.of) if found.of else ("", "")


def battery(
    *,
    worlds: int = 960,
    seed: int = 1,
    only: str = "",
    workers: int = 2,
    kept: Path | None = None,
    before: Path | None = None,
    notes: bool = False,
) -> Iterator[str]:
    """Never sound and wrong: worlds that are drawn, half of them with a fault, held against what is promised.

    Of each world one log is asked about as anyone would, by the default estimators; of an experiment both arms are
    compared. The truth is a sum over slates, or is counted where it is none. before: a file of `--kept` of other code,
    to show beside; without it, what commit edab7ebd said: `trust_worlds/before.json`. notes: name each log of which a
    number is wrong.
    """
    tasks = [(seed, worlds, number) for number, (kind, _) in enumerate(kinds(worlds)) if only in kind]
    found = [Said.of(said) for _, said in measured(judged, tasks, workers, kept)]
    yield from lines(found, earlier(before, (seed, worlds)))
    if notes:
        told_wrong = [one for one in found if one.wrong or one.astray or (not one.fault and one.warned)]
        print(*map(note, told_wrong), sep="\n")
    seconds = sum(one.seconds for one in found)
    print(f"{seconds:.0f} CPU seconds of asking, {seconds / max(len(found), 1):.2f} a log", file=sys.stderr)


COMMANDS = {worlds: "trust", battery: "battery"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
