"""Sums whose columns are called by their numbers, for tests of arithmetic."""

from __future__ import annotations

from offrank.folds.moments import Moments
from offrank.sums import Columns, Sums


def numbered(moments: Moments) -> Sums:
    """The sums of these moments; the columns are 0, 1, 2 and so on."""
    return Sums(Columns(tuple(range(len(moments.mean)))), moments)
