"""Sums whose columns are called by their numbers, for tests of arithmetic."""

from __future__ import annotations

from offrank.sums import NamedColumns, Sums
from offrank.sums.moments import Moments


def numbered(moments: Moments) -> Sums:
    """The sums of these moments; the columns are 0, 1, 2 and so on."""
    return Sums(NamedColumns(tuple(range(len(moments.mean)))), moments)
