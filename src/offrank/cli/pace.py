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
    """One reading of a log, begun at a time: rows, and parts done, of which the `kept` were in a checkpoint."""

    begun: float
    rows: int = 0
    kept: int = 0
    done: int = 0
    total: int = -1

    def rate(self, now: float) -> str:
        """Rows, and rows a second."""
        seconds = now - self.begun
        if not self.rows or seconds < _SECONDS:
            return ""
        rate = self.rows / seconds
        if self.rows < 1e6:
            return f"{self.rows:,} rows, {rate:,.0f}/s"
        return f"{self.rows / 1e6:,.1f} million rows, {rate / 1e6:.2f} million/s"

    def left(self, now: float) -> str:
        """The time for the parts to come, if they take as long as those before."""
        seconds = now - self.begun
        if self.done == self.total or seconds < _SECONDS:
            return ""
        left = seconds * (self.total - self.done) / (self.done - self.kept)
        return f"{timedelta(seconds=round(left))} left"


class Pace:
    """The progress of a job that reads a log once or several times; see `RowProgress`.

    show: called with `completed` and `total` parts, and with the texts `rate` and `left`. now: a clock, in seconds.
    """

    def __init__(self, show: Callable[..., Any], now: Callable[[], float] = time.monotonic) -> None:
        self._show, self._now, self._lock = show, now, Lock()
        self._one, self._told = _Reading(now()), now()

    def __call__(self, done: int, total: int) -> None:
        with self._lock:
            if done <= self._one.done:
                self._one = _Reading(self._told)
            if not self._one.done:
                self._one.kept = done - 1
            self._one.done, self._one.total, self._told = done, total, self._now()
            texts = {"rate": self._one.rate(self._told), "left": self._one.left(self._told)}
            self._show(completed=done, total=total, **texts)

    def read(self, rows: int) -> None:
        """Count rows that were read; by any thread."""
        with self._lock:
            if self._one.done == self._one.total:
                self._one = _Reading(self._now())
            self._one.rows += rows
            self._show(rate=self._one.rate(self._now()))
