"""What a way of learning is: examples in, candidates for the best weights out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..errors import LogError, UsageError
from ..log.batch import Floats
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
    per_item: whether of slates of several slots it learns from the click on each item, not from the slate's reward.
    """

    greedy: ClassVar[bool]
    one_slot: ClassVar[bool]
    per_item: ClassVar[bool]

    def candidates(self, data: Data, seed: int) -> Iterator[Candidate]:
        """Weights for every setting, also along the way; only `data.train` is learnt from."""


def check(learner: Learner, name: str, data: Data) -> None:
    """Refuse a log that a method cannot learn from.

    Raises:
        UsageError: slates of several slots for a method of one; only their rewards for a method that learns by item.
        LogError: a third without impressions, or impressions that all earned the same.
    """
    if learner.one_slot and data.slots > 1:
        raise UsageError(
            f"{name} learns from slates of one slot, and the log has up to {data.slots}",
            "use regression, poem, snpoem or plackett-luce, or give the part of the log with one slot",
        )
    if not (data.train.rows and data.validate.rows):
        raise LogError("a third of the log is empty", "give a log of more impressions")
    by_item = learner.per_item and data.slots > 1
    outcomes = [_clicks(examples, name) if by_item else examples.reward for examples in data.train]
    low, high = min(float(each.min()) for each in outcomes), max(float(each.max()) for each in outcomes)
    if low == high:
        what = "every item shown in" if by_item else "every impression of"
        unit = "clicks" if by_item else "the reward"
        raise LogError(f"nothing to learn from: {what} the training third has {unit} {low:g}", "give a longer log")


def _clicks(examples: Examples, name: str) -> Floats:
    """[items shown] the click on each."""
    clicks = examples.clicks[examples.slates >= 0]
    if np.isnan(clicks).any():
        raise UsageError(
            f"{name} learns from the click on each item, and the log has only the reward of a whole slate",
            "give a log with `clicks`, or use poem, snpoem or plackett-luce, which learn from the reward",
        )
    return clicks
