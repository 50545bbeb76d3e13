"""Never sound and wrong: a battery of worlds that are drawn, half of them with a fault, held against what is promised.

Of each world one log is asked about as anyone would, by the default estimators; of an experiment both arms are
compared. The truth is a sum over slates, or is counted where it is none.

    python benchmarks/battery.py [--worlds 960] [--seed 1] [--workers 2] [--only robots] [--kept FILE]
        [--before FILE] [--notes] [--write docs/concepts/trust.md]

In the file of `--kept` stands what each log said, so that a run goes on where another ended; `--before` is such a file
of other code, shown beside. Without it, what commit edab7ebd said is shown: `trust_worlds/before.json`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _page import generated
from trust_worlds.battery import NO_LOG_SHOWS, kinds, trial
from trust_worlds.judged import Said, alarms, by_fault, by_kind, note, promises, said_of
from trust_worlds.measure import Share

from offrank.language.formatting import percent

Key = tuple[int, int]
"""The seed and how many worlds there are."""
BEFORE = Path(__file__).parent / "trust_worlds" / "before.json"
"""Seed and worlds -> promise -> of how many logs it held, and of how many it could."""


def measured(key: Key, only: str, workers: int, kept: Path | None) -> list[Said]:
    """What is said of each log; what the file `kept` holds is not asked again."""
    found = {one.number: one for one in read(kept, key)}
    asked = [number for number, (kind, _) in enumerate(kinds(key[1])) if only in kind]
    left = [(*key, number) for number in asked if number not in found]
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for one in pool.map(judged, left):
            found[one.number] = one
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps([*key, one.to_dict()]) + "\n")
    return [found[number] for number in asked]


def judged(task: tuple[int, int, int]) -> Said:
    """What is said of the log of a world: seed, how many worlds there are, number."""
    return said_of(trial(*task))


def read(kept: Path | None, key: Key) -> Iterator[Said]:
    """What a file of `--kept` says of these worlds."""
    for line in kept.read_text().splitlines() if kept and kept.exists() else ():
        seed, count, said = json.loads(line)
        if (seed, count) == key:
            yield Said.of(said)


def earlier(before: Path | None, key: Key) -> Mapping[str, Share]:
    """What was found of these worlds before."""
    if before is not None:
        return promises(list(read(before, key)))
    known = json.loads(BEFORE.read_text()).get(" ".join(map(str, key)), {})
    return {promised: Share(*found) for promised, found in known.items()}


def lines(now: Sequence[Said], before: Mapping[str, Share]) -> Iterator[str]:
    """The page."""
    faulty = sum(bool(one.fault) for one in now)
    yield f"{len(now)} worlds with a log each, {faulty} of them with a fault."
    yield from ("", "| Promised | before | logs | now | logs |", "|---|--:|--:|--:|--:|")
    for promised, found in promises(now).items():
        yield f"| {promised} | {_cells(before.get(promised, Share(0, 0)))} | {_cells(found)} |"
    yield ""
    head = ["fault", "logs", "no answer", "a finding", "wrong", "of these *sound*", "a finding", "the assumption named"]
    head += ["change wrong", "wrong sign", "most often said"]
    yield from _table(head, by_fault(now))
    yield f"\nNo log shows: {'; '.join(NO_LOG_SHOWS)}.\n"
    head = ["without a fault", "logs", "sound", "with care", "none", "value held", "difference held", "decided rightly",
            "wrong sign", "equal, called different"]  # fmt: skip
    yield from _table(head, by_kind(now))
    said = ", ".join(f"`{code}` {count}" for code, count in alarms(now).most_common())
    yield f"\nSaid of logs without a fault: {said or 'nothing'}."


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---|" + "--:|" * (len(head) - 1)
    yield from (f"| {' | '.join(cells)} |" for cells in rows)


def _cells(found: Share) -> str:
    return f"{percent(found.count / found.of, 1)} | {found.of}" if found.of else " | "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=960)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="worlds whose kind or fault holds this")
    parser.add_argument("--kept", type=Path, help="a file of what was said, to go on from")
    parser.add_argument("--before", type=Path, help="such a file of other code, to show beside")
    parser.add_argument("--notes", action="store_true", help="name each log of which a number is wrong")
    parser.add_argument("--write", type=Path, help="the page that includes the tables")
    asked = parser.parse_args()
    key = (asked.seed, asked.worlds)
    found = measured(key, asked.only, asked.workers, asked.kept)
    told = list(lines(found, earlier(asked.before, key)))
    print(*told, sep="\n")
    if asked.notes:
        told_wrong = [one for one in found if one.wrong or one.astray or (not one.fault and one.warned)]
        print("", *map(note, told_wrong), sep="\n")
    seconds = sum(one.seconds for one in found)
    print(f"\n{seconds:.0f} CPU seconds of asking, {seconds / max(len(found), 1):.2f} a log")
    if asked.write:
        generated(asked.write, "battery", told, "benchmarks/battery.py")


if __name__ == "__main__":
    main()
