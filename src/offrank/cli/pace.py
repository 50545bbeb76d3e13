"""What a terminal shows of a long reading: how many rows were read, how fast, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from typing import Any

_SECONDS = 2.0
"""Nothing is said of the pace of shorter readings."""


@dataclass
class _Reading:
    """One reading of a log, begun at a time: rows, and parts done, of which the `kept` were in a checkpoint.

    A rate begins with the first rows, at the time `first`, before which files were opened and loops compiled. Those
    rows are `before`.
    """

    begun: float
    workers: int
    rows: int = 0
    kept: int = 0
    done: int = 0
    total: int = -1
    first: float | None = None
    before: int = 0

    def read(self, rows: int, now: float) -> None:
        """Count rows that were read."""
        self.rows += rows
        if self.first is None:
            self.first, self.before = now, rows

    def rate(self, now: float) -> str:
        """Rows, and rows a second."""
        rate = self._rows_a_second(now)
        if not rate:
            return ""
        if self.rows < 1e6:
            return f"{self.rows:,} rows, {rate:,.0f}/s"
        return f"{self.rows / 1e6:,.1f} million rows, {rate / 1e6:.2f} million/s"

    def left(self, now: float) -> str:
        """The time for what is still to be read, at the rate so far; the other parts being read are half done."""
        seconds = now - self.begun
        if self.done == self.total or seconds < _SECONDS:
            return ""
        done = self.done - self.kept + min(self.workers - 1, self.total - self.done) / 2
        still = (self.total - self.kept - done) / done
        if not self.rows:
            return f"{timedelta(seconds=round(seconds * still))} left"
        rate = self._rows_a_second(now)
        return f"{timedelta(seconds=round(self.rows * still / rate))} left" if rate else ""

    def _rows_a_second(self, now: float) -> float:
        """The rate; 0 as long as it is unknown."""
        seconds = 0.0 if self.first is None else now - self.first
        return 0.0 if seconds < _SECONDS else (self.rows - self.before) / seconds


class Pace:
    """The progress of a job that reads a log once or several times; see `RowProgress`.

    show: called with `completed` and `total` parts, and with the texts `rate` and `left`. now: a clock, in seconds.
    workers: how many parts are read at the same time.
    """

    def __init__(self, show: Callable[..., Any], now: Callable[[], float] = time.monotonic, workers: int = 1) -> None:
        self._show, self._now, self._lock, self._workers = show, now, Lock(), workers
        self._one, self._told = _Reading(now(), workers), now()

    def __call__(self, done: int, total: int) -> None:
        with self._lock:
            if done <= self._one.done:
                self._one = _Reading(self._told, self._workers)
            if not self._one.done:
                self._one.kept = done - 1
            self._one.done, self._one.total, self._told = done, total, self._now()
            texts = {"rate": self._one.rate(self._told), "left": self._one.left(self._told)}
            self._show(completed=done, total=total, **texts)

    def read(self, rows: int) -> None:
        """Count rows that were read; by any thread."""
        with self._lock:
            if self._one.done == self._one.total:
                self._one = _Reading(self._now(), self._workers)
            self._one.read(rows, self._now())
            self._show(rate=self._one.rate(self._now()))
