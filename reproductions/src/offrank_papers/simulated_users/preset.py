"""Where paper cmip-debiasedness and its published code differ: users, and how documents are sampled."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from offrank.errors import UsageError
from offrank.log.batch import Integers
from offrank.log.graded_queries import Judged
from offrank.selection.strategies import Preset
from offrank.simulation.judged_queries import stratified
from offrank.simulation.users import GradeReader, check_settings


@dataclass(frozen=True, repr=False)
class PresetUser(GradeReader, ABC):
    """A user of the paper, or of its code."""

    preset: Preset = field(default="paper", kw_only=True)

    def check(self, **chances: float) -> None:
        """Raise for settings that cannot be.

        Raises:
            UsageError: an unknown preset, a highest grade that is not above 0, a probability outside [0, 1].
        """
        if self.preset not in get_args(Preset):
            raise UsageError(f"there is no preset {self.preset!r}", f"presets are {', '.join(get_args(Preset))}")
        check_settings(self.highest, **chances)


def sampled_by_grade(judged: Judged, documents: int, seed: int, preset: Preset) -> tuple[Judged, int]:
    """Sample documents as `stratified` does, or as the published code does; return the number of dropped queries too.

    There a grade gets its share rounded to a whole number; if the sum is too large, documents of the lowest grades are
    left out, and if it is too small, the query is dropped.
    """
    return stratified(judged, documents, seed, places=None if preset == "paper" else rounded)


def rounded(counts: Integers, sizes: Integers, documents: int) -> Integers:
    """Round each share, halves to even; an excess is taken from the lowest grades [q, grades]."""
    places = np.round(documents / np.maximum(sizes, 1) * counts).astype(np.int64)
    from_the_top = np.minimum(np.cumsum(places[:, ::-1], axis=1), documents)
    return np.diff(from_the_top, axis=1, prepend=0)[:, ::-1]
