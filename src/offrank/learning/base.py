"""What a way of learning is: examples in, candidates for the best weights out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..log.batch import Floats
from ..log.errors import LogError, UsageError
from .examples import Data, Examples

Settings = Mapping[str, float]
"""Hyper-parameters by name."""


@dataclass(frozen=True)
class Candidate:
    """Weights [2^bits] that were learnt with these settings."""

    settings: Settings
    weights: Floats


class Learner(Protocol):
    """A frozen dataclass: its fields are the grid of hyper-parameters.

    greedy: whether it is meant to be used sorted (the reductions to supervised learning) or drawn from.
    one_slot: whether it knows no slates of several slots.
    """

    greedy: ClassVar[bool]
    one_slot: ClassVar[bool]

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        """Weights for every setting, also along the way; only `data.train` is learnt from."""


def check(learner: Learner, name: str, data: Data) -> None:
    """Refuse a log that a method cannot learn from.

    Raises:
        UsageError: slates of several slots for a method of one.
        LogError: a third without impressions, or without any reward.
    """
    if learner.one_slot and data.slots > 1:
        raise UsageError(
            f"{name} learns from slates of one slot, and the log has up to {data.slots}",
            "use regression, poem, snpoem or plackett-luce, or give the part of the log with one slot",
        )
    if not (data.train.rows and data.validate.rows):
        raise LogError("a third of the log is empty", "give a log of more impressions")
    if not any((examples.reward != 0).any() for examples in data.train):
        raise LogError("nothing to learn from: no impression of the training third has a reward", "give a longer log")


def chance_of_click(examples: Examples) -> Floats:
    """[n] rewards that logistic regression can take for clicks.

    Raises:
        UsageError: a reward outside [0, 1].
    """
    if not ((examples.reward >= 0) & (examples.reward <= 1)).all():
        raise UsageError(
            f"a reward is {examples.reward.max():g}, and this method predicts clicks, from 0 to 1",
            "use poem or snpoem, or scale the rewards",
        )
    return np.asarray(examples.reward)
