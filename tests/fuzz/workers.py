"""Cases on every core, each worker a process: if one ends, the case that it was at has failed, and another goes on."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from .judging import SECONDS, CaseOutcome, draw_case, judge_case, smallest

_HANGS = 20 * SECONDS
"""After so long without a word a worker is ended: the machine may be busy."""
_SHOWN = 3
"""Failures of one kind whose seeds are shown."""


@dataclass
class FuzzTally:
    """How cases ended. seconds: of all workers together; failures: kind -> seeds and the smallest case."""

    outcomes: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    failures: dict[str, list[str]] = field(default_factory=dict)
    slowest: float = 0.0
    largest: int = 0

    def add(self, seed: str, question: str, found: CaseOutcome, small: str) -> None:
        """Count a case."""
        self.outcomes[found.outcome] += 1
        self.asked[question] += 1
        if found.outcome == "failed":
            self.failures.setdefault(found.kind, []).append(f"{seed}\n{found.why}\n{found.where}\n{small}")


@dataclass
class _Worker:
    """A process, its end of a pipe, and the numbers that it has left."""

    process: Any
    pipe: Connection
    left: range
    heard: float


def run_cases(cases: range, seed: str, workers: int, say: Callable[[str], None]) -> FuzzTally:
    """Judge cases, by their numbers, in this many processes."""
    tally = FuzzTally()
    busy = [_started(cases[place::workers], seed) for place in range(workers)]
    while busy:
        wait([worker.pipe for worker in busy], timeout=1.0)
        for worker in list(busy):
            ended = _heard(worker, seed, tally, say)
            if ended:
                busy.remove(worker)
                worker.process.kill()
                worker.process.join()
                if worker.left:
                    busy.append(_started(worker.left, seed))
    return tally


def _heard(worker: _Worker, seed: str, tally: FuzzTally, say: Callable[[str], None]) -> bool:
    """Count what a worker has said. Returns whether it has ended, or must."""
    try:
        while worker.pipe.poll():
            question, found, small, taken = worker.pipe.recv()
            tally.slowest, tally.largest = max(tally.slowest, taken), max(tally.largest, found.memory)
            _count(worker, seed, tally, say, question, found, small)
        return not worker.left or _hangs(worker, seed, tally, say)
    except EOFError:
        if worker.left:
            worker.process.join()
            lost = CaseOutcome("failed", f"the process ended with {worker.process.exitcode}")
            _count(worker, seed, tally, say, "", lost, "")
        return True


def _hangs(worker: _Worker, seed: str, tally: FuzzTally, say: Callable[[str], None]) -> bool:
    if time.monotonic() - worker.heard < _HANGS:
        return False
    _count(worker, seed, tally, say, "", CaseOutcome("failed", f"slow: more than {_HANGS:.0f} seconds"), "")
    return True


def _count(
    worker: _Worker,
    seed: str,
    tally: FuzzTally,
    say: Callable[[str], None],
    question: str,
    found: CaseOutcome,
    small: str,
) -> None:
    name = f"{seed} {worker.left[0]}"
    tally.add(name, question or draw_case(name).question, found, small)
    worker.left, worker.heard = worker.left[1:], time.monotonic()
    done = tally.outcomes.total()
    if found.outcome == "failed" and len(tally.failures[found.kind]) <= _SHOWN:
        say(f"FAILED seed {name!r}: {found.kind}\n{found.why[:600]}\n{found.where}\n  smallest: {small}")
    elif done % 10_000 == 0:
        say(f"{done:,} cases: {dict(tally.outcomes)}")


def _started(numbers: range, seed: str) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, numbers, seed), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, numbers, time.monotonic())


def _work(pipe: Connection, numbers: range, seed: str) -> None:
    """Judge cases, and tell of each; the first failure of each kind is shrunk."""
    known: set[str] = set()
    for number in numbers:
        case, begun = draw_case(f"{seed} {number}"), time.process_time()
        found, small = judge_case(case), ""
        taken = time.process_time() - begun
        if found.outcome == "failed" and found.kind not in known and not found.kind.startswith(("slow", "large")):
            known.add(found.kind)
            small = repr(smallest(case, found))[:3000]
        pipe.send((case.question, found, small, taken))
        if found.kind.startswith("large"):
            return  # the next one is judged by a process that is small again
