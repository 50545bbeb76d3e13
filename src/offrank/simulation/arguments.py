"""What `simulate` is asked for, as objects: the user, the judged queries, the rankers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..clicks.model import load
from ..errors import UsageError
from ..log.judged import Judged
from ..readers.svmlight import read_svmlight
from ..running.executors import Progress
from .judged import Preset, mslr_like
from .rankers import NoisyOracle, Ranker, ranker
from .users import CarouselUser, User, user

GENERATED = "generated"
ALWAYS = ("noisy_oracle", "uniform")
"""Rankers whose scores every simulated log has."""
_QUERIES = 1000


def user_of(given: str | os.PathLike[str] | User, preset: Preset) -> User:
    """Return the user of a spelling, or of the file of a fitted click model."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith(".json")):
        return load(given)
    # A spelling that names its own preset keeps it.
    return user(given) if "preset" in str(given) else user(given, preset=preset)


def documents_for(who: User) -> int:
    """Return how many documents a query has by default."""
    return 25 if isinstance(who, CarouselUser) else 10


def queries_of(
    data: str | os.PathLike[str] | Judged, queries: int | None, seed: int, progress: Progress | None
) -> Judged:
    """Return judged queries: of SVMlight files, given, or generated.

    Raises:
        UsageError: fewer than one. LogError: the files cannot be read.
    """
    if queries is not None and queries < 1:
        raise UsageError(f"queries is {queries!r}", "give at least 1")
    if data == GENERATED:
        return mslr_like(queries or _QUERIES, seed=seed)
    found = data if isinstance(data, Judged) else read_svmlight(Path(data), progress=progress)
    return found if queries is None else found.take(np.arange(min(queries, len(found))))


def rankers_of(spellings: Sequence[str], preset: Preset) -> dict[str, Ranker]:
    """Return the rankers under the names of their columns, in order."""
    found: dict[str, Ranker] = {}
    for spelling in [*spellings, *ALWAYS]:
        as_published = preset == "published-code" and spelling == "noisy_oracle"
        one = NoisyOracle(variance=0.25) if as_published else ranker(spelling)
        found.setdefault(spelling.partition("(")[0].strip(), one)
    return found
