"""Ranks in words."""

from __future__ import annotations

from collections.abc import Sequence


def named(which: Sequence[bool]) -> str:
    """Those of the ranks [k] that are meant: `rank 2`, `ranks 2, 5`."""
    ranks = [str(rank) for rank, meant in enumerate(which, start=1) if meant]
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {', '.join(ranks)}"
