"""The policies of a file that `offrank learn` wrote, whatever it holds."""

from __future__ import annotations

import os

from .boosted import Boosted
from .linear import Linear, PolicyFile

Learnt = Boosted | Linear
"""A policy by its file."""


def policies_of(path: str | os.PathLike[str]) -> dict[str, Learnt]:
    """The policies that a file defines, by how its scores are used.

    With a score per candidate: `drawn` by Plackett-Luce, and `sorted`. With one per candidate and slot: `sorted`,
    which takes the highest pair first, and `exact`, which maximises the sum of the scores.

    Raises:
        UsageError: no such file, or not a saved model.
    """
    file = os.fspath(path)
    arrays = PolicyFile.load(file, lambda found: found.arrays)
    if "trees" not in arrays:
        return {"drawn": Linear(file), "sorted": Linear(file, greedy=True)}
    if int(arrays["slots"]):
        return {"sorted": Boosted(file), "exact": Boosted(file, assignment="exact")}
    return {"drawn": Boosted(file), "sorted": Boosted(file, greedy=True)}
