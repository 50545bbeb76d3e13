"""What findings about click models and examination curves look at; defaults speak against nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OfHarvest:
    """A harvested examination curve [k].

    linked: whether a rank can be compared with the first. clicks: on documents that were shown at other ranks too.
    high: the upper ends of the interval.
    """

    linked: tuple[bool, ...] = ()
    clicks: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OfFit:
    """What a click model was learnt from.

    - clicked: whether anything was. beyond: share of the clicks that the model rules out, and leaves out.
    - hidden: share of the views in places whose examination the log does not tell.
    - error, restlessness: of models that read from the top: the standard error of a continuation, on the logit scale,
      and the variance of a document's rank.
    - steeper: how much faster clicks fall from rank to rank than for one and the same document, as a logarithm.
    """

    clicked: bool = True
    beyond: float = 0.0
    hidden: float = 0.0
    error: float = 0.0
    restlessness: float = math.inf
    steeper: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OfPrediction:
    """A click model judged by a log.

    sessions: of the log. unseen: share of the shown documents that it has not learnt of. learnt, slots: ranks of the
    log that it learnt from, and of this one. impossible: sessions that it gives probability 0.
    """

    sessions: int = 0
    unseen: float = 0.0
    learnt: int = 0
    slots: int = 0
    impossible: int = 0


@dataclass(frozen=True, kw_only=True)
class OfSelection:
    """What click models are chosen by. counted: whether the mean rank in the log stands for the expected one."""

    counted: bool = False
