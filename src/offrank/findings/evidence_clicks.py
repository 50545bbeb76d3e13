"""The evidence for findings about click models and examination curves; defaults lead to no finding."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OfHarvest:
    """A harvested examination curve [k].

    linked: whether a rank can be compared with the first. clicks: on documents also shown at other ranks.
    high: the upper ends of the interval.
    """

    linked: tuple[bool, ...] = ()
    clicks: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OfFit:
    """The evidence about the training data of a click model.

    - clicked: whether there are any clicks. beyond: share of the clicks that the model rules out and leaves out.
    - hidden: share of the impressions in cells whose examination the log does not identify.
    - error, restlessness: of models that read from the top: the standard error of a continuation, on the logit scale,
      and the variance of a document's rank.
    - steeper: how much faster click rates fall with rank than those of one and the same document, as a logarithm.
    """

    clicked: bool = True
    beyond: float = 0.0
    hidden: float = 0.0
    error: float = 0.0
    restlessness: float = math.inf
    steeper: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OfPrediction:
    """The evaluation of a click model on a log.

    sessions: of the log. unseen: share of the shown documents not in the training log. learnt, slots: ranks of the
    training log, and of this one. impossible: sessions to which it gives probability 0.
    """

    sessions: int = 0
    unseen: float = 0.0
    learnt: int = 0
    slots: int = 0
    impossible: int = 0


@dataclass(frozen=True, kw_only=True)
class OfSelection:
    """The criterion for choosing click models. counted: whether the mean rank in the log replaces the expected one."""

    counted: bool = False
