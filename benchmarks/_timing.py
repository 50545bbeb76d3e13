"""Times and memory of one process, as tables of ratios."""

from __future__ import annotations

import multiprocessing
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _page import markdown_head, markdown_row


@dataclass(frozen=True)
class Times:
    """Seconds of several runs."""

    runs: Sequence[float]

    @property
    def best(self) -> float:
        return min(self.runs)

    @property
    def median(self) -> float:
        return statistics.median(self.runs)


def in_turn(
    jobs: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Times]:
    """Run every job once to warm up, then all of them in turn, so that a busy moment hits them alike."""
    for job in jobs.values():
        job()
    runs: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            runs[name].append(clock() - start)
    return {name: Times(found) for name, found in runs.items()}


def ratios(title: str, times: Mapping[str, Times], rows: int, against: str) -> Iterator[str]:
    """Seconds, rates, and ratios to the job `against`, as lines of a page."""
    yield f"{title}:\n"
    yield from markdown_head("job", "best s", "median s", "million rows/s", "times the reference, best", "median")
    reference = times[against]
    for name, found in times.items():
        ratios = (found.best / reference.best, found.median / reference.median)
        cells = (found.best, found.median, rows / found.best / 1e6, *ratios)
        yield markdown_row(name, *(f"{cell:.3g}" for cell in cells))
    yield ""


def alone(job: Callable[[], Any]) -> tuple[Any, float, float, float]:
    """What a job returns in a process of its own; seconds, CPU seconds and peak memory in MB of that process."""
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found, used, peak = pool.apply(_told, (job,))
    return found, time.perf_counter() - start, used, peak


def _told(job: Callable[[], Any]) -> tuple[Any, float, float]:
    return job(), time.process_time(), memory()


def memory(kind: str = "VmHWM") -> float:
    """MB of a kind of memory of this process, by default the most that it ever had.

    Not getrusage: its maximum survives exec, so it would be that of this process's parent.
    """
    found = re.search(rf"{kind}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")
